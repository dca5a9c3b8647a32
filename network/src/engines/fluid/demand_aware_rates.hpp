/// Max-min fair rates where circuits move with the demand (demand_aware_circuits.hpp), and when they move.
///
/// Model. Between two changes of the wiring the network is static: flows have the routes of the present
/// wiring and share its links max-min fairly (max_min_solver.hpp). At a change every active flow gets its
/// route in the new wiring, and rate 0 if it has none there; the bytes it has sent stay sent. So a message
/// may take several routes one after another, and arrives the latency of its last one after its last bit.
/// Messages of a pair keep their order where the later one has the shorter way.
///
/// A change that finds the network idle, circuits that come up when nobody waits, is made up for when
/// something is sent. The controller is asked at multiples of `every` at which something is active, after all
/// else that happens at that instant; so an idle network has no events.
///
/// Statistics count what leaves a port, whatever the port led to.
///
/// Complexity of a change: O(links, and legs of the active flows and of those that were active since the last
/// change), with a route for each active flow besides. Nothing depends on time between looks. Memory: 48
/// bytes per pair that ever communicates, beside the solver of the present wiring.
#pragma once

#include "../../demand_aware_circuits.hpp"
#include "flow_rates.hpp"
#include "max_min_solver.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

class DemandAwareRates final : public FlowRates {
public:
    /// Of a fabric with a reconfiguration.
    DemandAwareRates(std::shared_ptr<const LinkClasses> first, std::vector<Connection>& connections,
                     const ConnectionBytes& bytes);

    void add_connection() override { flows_.emplace_back(); }
    void before_send(std::uint32_t connection, Time now) override;
    void start(std::uint32_t connection) override;
    void stop(std::uint32_t connection) override;
    std::span<const std::uint32_t> update(Time now) override;
    /// Messages of a pair keep their order where the later one has the shorter way.
    [[nodiscard]] bool keeps_latency() const override { return false; }
    [[nodiscard]] Time delivery_delay(std::uint32_t connection, Time now) override;
    [[nodiscard]] Time act(Time now, Time next_event) override;
    [[nodiscard]] Time circuit_wait(std::uint32_t connection, Time from, bool has_begun) const override;
    [[nodiscard]] std::optional<LinkId> bottleneck(std::uint32_t connection) const override;
    /// Every port, classes of links aside.
    void for_each_link(std::uint32_t connection, const LinkVisitor& visit) const override;
    void report(NetworkStatistics& statistics, Time now) const override;

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Flow {
        std::uint32_t local = kNone;        ///< its number in solver_; none: not active in this wiring yet
        std::uint32_t active_slot = kNone;  ///< in active_
        bool has_route = false;
        Time last_delivery;
        Bytes counted;  ///< sent in earlier wirings
    };
    struct Carried {
        std::vector<Bytes> whole;
        std::vector<double> shares;
    };

    /// When circuits come up or the controller is asked, >= now; Time::max(): as things are, never again.
    [[nodiscard]] Time next_instant(Time now) const;
    void change_wiring(Time now);
    [[nodiscard]] std::vector<WaitingPair> waiting_pairs() const;
    void switch_to(const WiredFabric& wiring);
    /// Finds the route of a connection in the present wiring.
    void enter(std::uint32_t connection);
    /// Adds what flows sent in the present wiring to what ports carried.
    void count(Carried& carried) const;

    std::shared_ptr<const DemandAwareCircuits> controller_;
    std::shared_ptr<const Fabric> whole_;  ///< the last wiring without dark circuits
    std::shared_ptr<const LinkClasses> classes_;
    std::vector<LinkId> ports_;  ///< by link of the present wiring
    std::unique_ptr<MaxMinSolver> solver_;
    std::vector<std::uint32_t> flow_of_;  ///< by number in solver_
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> active_;
    std::vector<std::uint32_t> changed_;
    std::optional<WiredFabric> next_;  ///< comes up at next_at_
    Time next_at_;
    std::size_t dark_links_ = 0;  ///< that come up then
    detail::Int128 dark_ = 0;     ///< picoseconds, summed over links
    Time last_look_;
    bool is_rewired_ = false;  ///< since the last update
    bool is_settled_ = false;
    ClassRoute route_;
    Carried carried_;  ///< by port, in earlier wirings
    DemandAwareStatistics statistics_;
};

}  // namespace astrolabe::network
