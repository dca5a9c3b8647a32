/// Max-min fair rates where circuits move with the demand (reconfiguration.hpp), and when they move.
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

#include "max_min_solver.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/link_classes.hpp>
#include <astrolabe/network/reconfiguration.hpp>

namespace astrolabe::network {

class RewiredRates {
public:
    /// Payload that a flow has sent since the start.
    using Sent = std::function<Bytes(std::uint32_t flow)>;

    /// Of a fabric with a reconfiguration.
    explicit RewiredRates(std::shared_ptr<const LinkClasses> first);

    /// A flow that is not active yet; flows are numbered 0, 1, ….
    void add_flow(HostId source, HostId destination);
    /// Finds the flow's route in the present wiring. To be called before anything is sent on an idle flow.
    void find_route(std::uint32_t flow, Time now, const Sent& sent);
    [[nodiscard]] bool has_route(std::uint32_t flow) const { return flows_[flow].has_route; }
    /// Of the present route, or of the last one where there is none.
    [[nodiscard]] Time latency(std::uint32_t flow) const { return flows_[flow].latency; }
    /// From now, when a message was served, to its delivery.
    [[nodiscard]] Time deliver(std::uint32_t flow, Time now);

    /// Changes take effect at the next `update`; a flow may start again.
    void start(std::uint32_t flow);
    void stop(std::uint32_t flow);
    [[nodiscard]] std::span<const std::uint32_t> active() const { return active_; }
    /// Makes the rates max-min fair; the flows whose rate or latency may have changed, valid until the next
    /// call.
    std::span<const std::uint32_t> update();
    [[nodiscard]] double rate(std::uint32_t flow) const;

    /// When circuits come up or the controller is asked, >= now; Time::max(): as things are, never again.
    [[nodiscard]] Time next_instant(Time now) const;
    /// What falls due at `now` = next_instant(now), after all else of this instant. `waiting` is asked for
    /// what waits where the controller is.
    void act(Time now, const std::function<std::vector<WaitingPair>()>& waiting, const Sent& sent);
    /// The last look moved nothing, and no flow has started or stopped since.
    [[nodiscard]] bool is_settled() const { return is_settled_ && !next_; }

    /// Writes what links carried, by link of the first fabric, and what circuits did.
    void report(NetworkStatistics& statistics, Time now, const Sent& sent) const;

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Flow {
        HostId source;
        HostId destination;
        std::uint32_t local = kNone;        ///< its number in solver_; none: not active in this wiring yet
        std::uint32_t active_slot = kNone;  ///< in active_
        bool has_route = false;
        Time latency;
        Time last_delivery;
        Bytes counted;  ///< sent in earlier wirings
    };
    struct Carried {
        std::vector<Bytes> whole;
        std::vector<double> shares;
    };

    void switch_to(const WiredFabric& wiring, const Sent& sent);
    void enter(std::uint32_t flow);
    /// Adds what flows sent in the present wiring to what ports carried.
    void count(Carried& carried, const Sent& sent) const;

    std::shared_ptr<const Reconfiguration> controller_;
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
    ReconfigurationStatistics statistics_;
};

}  // namespace astrolabe::network
