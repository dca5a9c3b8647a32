/// Max-min fair rates where links fail (failures/failure_timeline.hpp), and when they change.
///
/// Model. Between two changes the network is static: flows have the routes that are known, and share the
/// rates that links have then max-min fairly (max_min_solver.hpp). A flow with a link that is down on its
/// route stands still, a sprayed one too, for its bytes need all their paths; what others leave goes to them.
/// When routes change every active flow takes its new one and keeps what it has sent. Nothing is lost: bytes
/// that left their source arrive. A message arrives the latency of its last route after its last bit, and
/// those of a pair keep their order where the later one has the shorter way.
///
/// A pair that no links connect keeps its route and goes on when its links are up: a cable that is down from
/// t1 to t2 on the only way adds t2 - t1 to a message in service, whatever the time of detection.
///
/// Complexity of a change: O(links, and legs of the active flows and of those that were active since the last
/// change), with a route for each active flow besides. Memory: 40 bytes per pair that ever communicates,
/// beside the solver. Without terms (transport_terms.hpp).
#pragma once

#include "flow_rates.hpp"
#include "max_min_solver.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/failures/links_over_time.hpp>

namespace astrolabe::network {

class FailingRates final : public FlowRates {
public:
    /// Of a static fabric with failures, which outlives it.
    FailingRates(const Fabric& fabric, std::vector<Connection>& connections, const ConnectionBytes& bytes);

    void add_connection() override { flows_.emplace_back(); }
    void before_send(std::uint32_t connection, Time now) override;
    void start(std::uint32_t connection) override;
    void stop(std::uint32_t connection) override;
    std::span<const std::uint32_t> update(Time now) override;
    [[nodiscard]] bool keeps_latency() const override { return false; }
    [[nodiscard]] Time delivery_delay(std::uint32_t connection, Time now) override;
    [[nodiscard]] Time act(Time now, Time next_event) override;
    [[nodiscard]] std::optional<LinkId> bottleneck(std::uint32_t connection) const override;
    void for_each_link(std::uint32_t connection, const LinkVisitor& visit) const override;
    void report(NetworkStatistics& statistics, Time now) const override;
    [[nodiscard]] std::string explain(const std::vector<OutstandingMessage>& messages) const override {
        return links_.name_cut_pairs(messages);
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Flow {
        std::uint32_t local = kNone;        ///< its number in solver_; none: not active since the change
        std::uint32_t active_slot = kNone;  ///< in active_
        bool has_route = false;
        bool is_open = false;  ///< and its links are up
        Time last_delivery;
        Bytes counted;  ///< sent before the last change
    };
    struct Carried {
        std::vector<Bytes> whole;
        std::vector<double> shares;
    };

    void change(Time now);
    /// Finds the route of a connection as links are now.
    void enter(std::uint32_t connection);
    [[nodiscard]] std::unique_ptr<MaxMinSolver> make_solver() const;
    /// Adds what flows sent since the last change to what links carried.
    void count(Carried& carried) const;

    const Fabric& fabric_;
    LinksOverTime links_;
    std::unique_ptr<MaxMinSolver> solver_;
    std::vector<std::uint32_t> flow_of_;  ///< by number in solver_
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> active_;
    std::vector<std::uint32_t> changed_;
    bool has_changed_ = false;  ///< since the last update
    Carried carried_;           ///< by link, before the last change
};

}  // namespace astrolabe::network
