/// Max-min fair rates of flows that share links, kept up to date as flows start and stop.
///
/// Model. Active flow f puts a_fl on link l per unit of its rate (a_fl = 1 on a single path, less where it is
/// sprayed; a link may stand for a class of links, link_classes.hpp). It has a *weight* w_f > 0 and a *cap*
/// u_f, infinite unless said. Rates x are feasible if
///
///     Σ_f a_fl · x_f ≤ C_l  on every link l,      x_f ≤ u_f  for every flow f,
///
/// and weighted max-min fair if no *level* λ_f = x_f / w_f can grow without another, not larger, shrinking.
/// There is exactly one such x, and it is known by this criterion (Bertsekas and Gallager, Data Networks, 2nd
/// edition, section 6.5.2; weights and caps as in its problems):
///
///     (B) every flow is at its cap or has a *bottleneck*: a full link on its route where no flow has a
///         larger level.
///
/// Water-filling finds it: the levels of all free flows rise together; the link that runs full first, at the
/// level residual capacity / Σ a·w of its free flows, fixes the flows on it, and a flow that meets its cap
/// before is fixed there; repeat with the rest.
///
/// Local update. When flows start or stop, only rates near them need to change.
///   - A flow alone on all its links takes what they give, and nobody else changes.
///   - Where flows stopped, those bottlenecked there look for another bottleneck among their links; those
///     that find none are freed.
///   - Where flows started, those bottlenecked there are freed, and so are the ones that started.
/// The freed are water-filled with all others held; then (B) is checked on every link they use, which are the
/// only links whose load changed. A held flow is freed if its bottleneck is on such a link and is no longer
/// one, or if it has a larger level than a freed flow on that flow's bottleneck. It repeats until (B) holds;
/// by uniqueness the result is that of a whole solution. Once more than an eighth of the active flows are
/// free, it solves the whole network.
///
/// Arithmetic: doubles. Two levels within 10^-12 of each other count as equal, so that symmetric flows get
/// the same rate bit for bit; a new rate within 10^-12 of the old one leaves the old one in place. Fullness
/// and order in (B) are tested to 10^-11: sums over up to 10^4 flows err by about 10^-12.
///
/// Complexity of an update: O(legs) for flows that are alone; for freed ones their legs, the flows on the
/// links that become a bottleneck or stop being one, and rounds·(links) for up to kScanLimit links or a heap
/// with lazy keys beyond (levels only rise while filling). What held flows put on a link is known without
/// looking at them: a link keeps its load, to which it adds every change. That decides which links can run
/// full; the level of one that does is summed up flow by flow, always in the same order, so that no rate
/// depends on the history of a load. A load is summed anew after as many changes as there are flows, or
/// kAdditions where these are more, so that it errs no more than a sum does. No allocation once the buffers
/// have grown. Memory: 64 bytes per flow and 12 to 24 per leg. A flow on a link of capacity 0 gets rate 0.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

class MaxMinSolver {
public:
    using FlowId = Id<struct FlowTag>;

    enum class Strategy : std::uint8_t {
        kLocal,        ///< as above
        kWholeNetwork  ///< every update solves everything: the same rates, for comparison
    };

    struct Terms {
        double weight = 1.0;                                   ///< > 0
        double cap = std::numeric_limits<double>::infinity();  ///< >= 0, of the rate

        friend bool operator==(const Terms&, const Terms&) = default;
    };

    struct Counters {
        std::uint64_t updates = 0;        ///< calls of `update` that found something to do
        std::uint64_t alone = 0;          ///< flows that started with all their links to themselves
        std::uint64_t whole_network = 0;  ///< of the updates, how many freed every active flow
        std::uint64_t fillings = 0;       ///< water-fillings
        std::uint64_t freed = 0;          ///< flows freed, over all updates
    };

    explicit MaxMinSolver(std::vector<double> capacities, Strategy strategy = Strategy::kLocal);

    /// A flow that is not active yet; flows are numbered 0, 1, …. Each link occurs at most once in a route.
    /// One without links never starts.
    FlowId add_flow(std::span<const ClassLeg> route) { return add_flow(route, Terms()); }
    FlowId add_flow(std::span<const ClassLeg> route, const Terms& terms);

    /// Makes room for this many flows and legs; what is not used is not touched.
    void reserve(std::size_t flows, std::size_t legs);

    /// Changes take effect at the next `update`; a stopped flow has rate 0 at once. A flow may start again.
    void start(FlowId flow);
    void stop(FlowId flow);

    /// Makes the rates max-min fair and returns the flows whose rate changed, valid until the next call.
    std::span<const FlowId> update();

    [[nodiscard]] double rate(FlowId flow) const { return flows_[flow.index()].rate; }
    /// The link that limits an active flow, after `update`: full, and no flow on it has a larger level.
    /// Nothing: its cap does.
    [[nodiscard]] std::optional<std::uint32_t> bottleneck(FlowId flow) const {
        const std::uint32_t link = flows_[flow.index()].bottleneck;
        return link < kAtCap ? std::optional(link) : std::nullopt;
    }
    [[nodiscard]] std::size_t active_count() const { return active_.size(); }
    /// Σ a·x of the active flows on the link. O(flows on the link).
    [[nodiscard]] double load(std::uint32_t link) const;
    [[nodiscard]] const Counters& counters() const { return counters_; }
    /// Calls visit(link, load per unit of rate) along the route.
    template <class Visitor>
    void for_each_leg(FlowId flow, Visitor&& visit) const {
        for (const std::uint32_t lane : lanes_of(flows_[flow.index()])) {
            visit(lanes_[lane].link, lanes_[lane].load);
        }
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::uint32_t kAtCap = 0xfffffffeU;
    static constexpr std::size_t kScanLimit = 24;

    struct Flow {
        double rate = 0.0;
        std::uint32_t bottleneck = kNone;   ///< link, or kAtCap
        std::uint32_t active_slot = kNone;  ///< in active_
        std::uint32_t first_leg = 0;
        std::uint32_t leg_count = 0;
        std::uint32_t terms = 0;
        std::uint32_t starts = 0;    ///< so often has it stopped: what lanes noted before is stale
        std::uint32_t freed_in = 0;  ///< the update that freed it last
        std::uint32_t fixed_as = 0;  ///< its place in the order in which the last filling fixed flows
    };
    struct Crossing {
        std::uint32_t flow;
        std::uint32_t starts;
    };
    /// The flows that put the same load on a link, per unit of their rate. Those that stopped are struck off
    /// when they are the greater part and someone looks, or room is short.
    struct Lane {
        double load = 1.0;
        std::uint32_t link = 0;
        std::uint32_t next = kNone;  ///< of the same link
        std::vector<Crossing> crossings;
        std::size_t stale = 0;
    };
    /// Of a link and a load.
    struct LegHash {
        std::size_t operator()(const ClassLeg& leg) const {
            return std::hash<double>()(leg.load) * 0x9e3779b97f4a7c15U + leg.link_class * 0xbf58476d1ce4e5b9U;
        }
    };
    struct SameLeg {
        bool operator()(const ClassLeg& a, const ClassLeg& b) const {
            return a.link_class == b.link_class && a.load == b.load;
        }
    };
    struct LinkState {
        double capacity = 0.0;
        double load = 0.0;     ///< Σ a·x, changed with every rate
        double largest = 0.0;  ///< no flow on it has a larger level
        double lowest = 0.0;   ///< no flow that it is the bottleneck of has a smaller level
        // While filling.
        double residual = 0.0;       ///< what is left for its free flows
        double free_load = 0.0;      ///< Σ a·x of its free flows, before
        double free_share = 0.0;     ///< Σ a·w of its free flows
        double smallest_held = 0.0;  ///< no held flow that it is the bottleneck of has a smaller level
        double fill_level = 0.0;     ///< at which it ran full; infinite before
        std::uint32_t free_count = 0;
        std::uint32_t additions = 0;  ///< to `load`, since it was summed up
        std::uint64_t listed_in = 0;  ///< the filling that listed it last

        std::uint32_t active = 0;        ///< flows on it
        std::uint32_t bottlenecked = 0;  ///< of these, how many it is the bottleneck of
        std::uint32_t first_lane = kNone;
        bool is_dirty = false;
        bool gains = false;      ///< a flow started on it
        bool is_summed = false;  ///< `residual` is added up flow by flow
        bool is_loose = false;   ///< perhaps all flows on it have smaller levels than `largest`
    };
    struct Freed {
        std::uint32_t flow;
        double rate_before;
    };
    /// What the filling has put on a link.
    struct Fixed {
        std::uint32_t order;
        double load;
    };
    /// A link runs full, or a flow meets its cap.
    struct Level {
        double level;
        std::uint32_t index;
    };

    [[nodiscard]] std::span<const std::uint32_t> lanes_of(const Flow& flow) const {
        return {legs_.data() + flow.first_leg, flow.leg_count};
    }
    [[nodiscard]] double weight_of(const Flow& flow) const { return terms_[flow.terms].weight; }
    [[nodiscard]] bool is_full(const LinkState& link) const;
    [[nodiscard]] std::uint32_t lane_of(const ClassLeg& leg);
    [[nodiscard]] std::uint32_t number_of(const Terms& terms);
    /// Calls visit(flow number, flow, load) for the active flows on a link.
    template <class Visitor>
    void for_each_crossing(std::uint32_t link, Visitor&& visit) const;

    void touch(std::uint32_t link);
    /// Where they are the greater part.
    void strike_off_stopped(Lane& lane);
    /// Before looking at the flows on a link.
    void tidy(std::uint32_t link);
    void set_bottleneck(Flow& flow, std::uint32_t bottleneck);
    /// Whether an active flow that keeps its rate may have the link as its bottleneck.
    [[nodiscard]] bool limits(std::uint32_t link, const Flow& flow);
    /// Makes `largest`, `lowest` and `smallest_held` those of the flows on the link. O(flows on the link).
    void measure_levels(std::uint32_t link);
    void free(std::uint32_t flow);
    void free_all();
    [[nodiscard]] bool is_alone(const Flow& flow) const;
    /// Mostly flows that started with others.
    [[nodiscard]] bool starts_anew() const;
    void free_what_changed();
    void find_other_bottlenecks(std::uint32_t link);
    void admit_started();
    void serve_alone(std::uint32_t flow);
    void clear_marks();

    void fill();
    void list_links();
    /// What its held flows leave of a link.
    void hold(std::uint32_t link);
    /// The level at which its free flows fill a link, or a lower bound where that is not summed up.
    [[nodiscard]] double filled_at(std::uint32_t link) const;
    /// Adds the residual of a link up flow by flow. O(flows on the link).
    void sum_up(std::uint32_t link);
    void fill_by_scan();
    void fill_by_heap();
    /// Fixes the flow that meets its cap first, if that is not above `level`; false if there is none.
    bool fix_at_cap(double level);
    /// Fixes the free flows of a link that runs full at `level`.
    void fix_on_link(std::uint32_t link, double level);
    void fix(Flow& flow, double level, double rate, std::uint32_t bottleneck);
    /// Frees the flows that (B) does not hold for; false if it holds for all.
    bool enlarge();
    void collect_changes();

    Strategy strategy_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> legs_;  // lanes
    std::unordered_map<ClassLeg, std::uint32_t, LegHash, SameLeg> lane_index_;
    std::vector<Lane> lanes_;
    std::vector<Terms> terms_;
    std::vector<LinkState> links_;
    std::vector<std::uint32_t> active_;
    std::vector<std::uint32_t> started_;
    std::vector<std::uint32_t> dirty_;
    std::vector<Freed> freed_;
    std::vector<std::uint32_t> listed_;   // links of the freed flows
    std::vector<std::uint32_t> filling_;  // of these, those that still have free flows
    std::vector<Level> heap_;
    std::vector<Level> caps_;  // of the freed flows, in ascending order
    std::size_t next_cap_ = 0;
    std::vector<Fixed> fixed_;  // on one link
    std::uint32_t fixed_count_ = 0;
    std::vector<FlowId> changed_;
    std::uint32_t update_ = 0;
    std::uint64_t filling_number_ = 0;
    Counters counters_;
};

template <class Visitor>
void MaxMinSolver::for_each_crossing(std::uint32_t link, Visitor&& visit) const {
    for (std::uint32_t lane = links_[link].first_lane; lane != kNone; lane = lanes_[lane].next) {
        for (const Crossing& crossing : lanes_[lane].crossings) {
            const Flow& flow = flows_[crossing.flow];
            if (flow.starts == crossing.starts) {
                visit(crossing.flow, flow, lanes_[lane].load);
            }
        }
    }
}

}  // namespace astrolabe::network
