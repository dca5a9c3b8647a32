/// Max-min fair rates over links that come and go: solved for every interval, not at every boundary.
///
/// Model. While the same flows are active, rates depend on nothing but the interval of the circuit schedule.
/// So every interval has rates of its own (max_min_solver.hpp), those of the links that exist in it, and a
/// flow has a rate that repeats with the period (periodic_rate.hpp). A flow over a circuit that an interval
/// lacks has rate 0 there and takes nothing from others. Flows start and stop; boundaries of intervals are no
/// events at all.
///
/// Cost. An interval in which no active flow uses a circuit looks like all others of this kind; they share
/// one solver. An active flow over circuits costs one update in each interval where all its circuits exist,
/// other flows one in each interval that some circuit flow uses, and a change of rate in any interval a
/// rewriting of the flow's segments. Nothing depends on the length of the run. Memory: a solver of the static
/// link classes and the circuits of its interval for each interval in use.
#pragma once

#include "max_min_solver.hpp"
#include "periodic_rate.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/network/circuit_schedule.hpp>
#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

class CircuitRates {
public:
    using FlowId = Id<struct PeriodicFlowTag>;

    /// `classes` must outlive it. The fabric is not static.
    explicit CircuitRates(const LinkClasses& classes);

    /// A flow that is not active yet; flows are numbered 0, 1, …. One without links never starts.
    FlowId add_flow(std::span<const ClassLeg> route, const MaxMinSolver::Terms& terms);

    /// Changes take effect at the next `update`; a flow may start again.
    void start(FlowId flow);
    void stop(FlowId flow);

    struct Change {
        FlowId flow;
        PeriodicRate before;
    };
    /// Makes the rates of all intervals max-min fair and returns the active flows whose rate changed in any
    /// of them, valid until the next call.
    std::span<const Change> update();

    /// Of an active flow, after `update`.
    [[nodiscard]] const PeriodicRate& rate(FlowId flow) const { return flows_[flow].rate; }
    /// The link that limits it in the first interval in which it is served; nothing: its cap does.
    [[nodiscard]] std::optional<LinkId> bottleneck(FlowId flow) const;
    [[nodiscard]] std::size_t active_count() const { return active_; }
    /// Calls visit(link class, load per unit of rate) along the route.
    template <class Visitor>
    void for_each_leg(FlowId flow, Visitor&& visit) const {
        for (const ClassLeg& leg : flows_[flow].route) {
            visit(leg.link_class, leg.load);
        }
    }

private:
    struct Flow {
        std::vector<ClassLeg> route;
        MaxMinSolver::Terms terms;
        std::vector<std::uint32_t> intervals;  ///< where all its circuits exist
        bool uses_circuits = false;
        bool is_active = false;
        bool is_touched = false;        ///< since the last update
        std::uint32_t static_slot = 0;  ///< in static_active_, while active
        PeriodicRate rate;
    };
    /// The rates of one interval, or of all intervals in which no active flow uses a circuit.
    struct Interval {
        explicit Interval(std::vector<double> capacities)
            : solver(std::move(capacities)) {}

        MaxMinSolver solver;
        std::unordered_map<std::uint32_t, MaxMinSolver::FlowId> local;  ///< by flow
        std::vector<FlowId> flows;                                      ///< by local number
        std::size_t circuit_flows = 0;                                  ///< active
        bool is_dirty = false;
    };

    [[nodiscard]] std::unique_ptr<Interval> make_interval(std::span<const LinkId> circuits) const;
    /// The solver of interval `index`, with all active flows that use no circuit.
    Interval& open(std::uint32_t index);
    /// The number of a link class in the solver of interval `index`, which has it.
    [[nodiscard]] std::uint32_t number_in(std::uint32_t link_class, std::uint32_t index) const;
    void start_in(Interval& interval, FlowId flow, std::uint32_t index);
    void stop_in(Interval& interval, FlowId flow);
    void touch(FlowId flow);
    void collect(Interval& interval);
    [[nodiscard]] PeriodicRate rate_over_all_intervals(FlowId flow) const;

    static constexpr std::uint32_t kCircuit = 0xffffffffU;
    static constexpr std::uint32_t kShared = 0xffffffffU;  ///< number of the shared interval

    const LinkClasses& classes_;
    const CircuitSchedule& circuits_;
    std::vector<std::uint32_t> static_number_;  ///< by class, kCircuit where it comes and goes
    std::vector<double> static_capacities_;
    IndexedVector<FlowId, Flow> flows_;
    std::vector<FlowId> static_active_;  ///< active flows that use no circuit
    std::unique_ptr<Interval> shared_;
    std::vector<std::unique_ptr<Interval>> intervals_;  ///< null: the shared one serves
    std::vector<std::uint32_t> dirty_;                  ///< intervals with something to update
    std::vector<FlowId> touched_;
    std::vector<Change> changed_;
    std::size_t active_ = 0;
};

}  // namespace astrolabe::network
