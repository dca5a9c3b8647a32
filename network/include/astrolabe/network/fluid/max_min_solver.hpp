/// Max-min fair rates of flows that share links, kept up to date as flows start and stop.
///
/// Model. Active flow f uses a_fl of link l per unit of its rate (a_fl = 1 on a single path, its share where
/// it is sprayed). Rates x are feasible if on every link Σ_f a_fl·x_f ≤ C_l, and max-min fair if no rate can
/// grow without another, not larger, shrinking. There is exactly one such x, and it is known by this
/// criterion (Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2):
///
///     (B) every flow has a *bottleneck*: a saturated link on its route where no flow has a larger rate.
///
/// Water-filling finds it: the rates of all free flows rise together; the link that runs full first, at the
/// level residual capacity / Σ a of its free flows, fixes the flows on it; repeat with the rest.
///
/// Local update. When flows start or stop, only rates near them need to change. `update` frees the flows that
/// started and those bottlenecked on a touched link, water-fills the freed ones with all others held, then
/// checks (B) on every link the freed flows use, which are the only links whose load changed. A held flow is
/// freed if its bottleneck is on such a link and is no longer one, or if it has a larger rate than a freed
/// flow on that flow's bottleneck. It repeats until (B) holds; by uniqueness the result is that of a whole
/// solution. Once more than an eighth of the active flows are free, it solves the whole network.
///
/// Arithmetic: doubles. Two levels within 10^-12 of each other count as equal, so that symmetric flows get
/// the same rate bit for bit; a new rate within 10^-12 of the old one leaves the old one in place. Saturation
/// and order in (B) are tested to 10^-11: sums over up to 10^4 flows err by about 10^-12.
///
/// Complexity of an update: the crossings of the links that freed flows use, plus rounds·(links) for up to
/// kScanLimit links or a heap with lazy keys beyond (levels only rise while filling). No allocation once the
/// buffers have grown. A flow on a link of capacity 0 gets rate 0.
#pragma once

#include <cstdint>
#include <span>
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

    struct Counters {
        std::uint64_t updates = 0;        ///< calls of `update` that found something to do
        std::uint64_t whole_network = 0;  ///< of these, how many freed every active flow
        std::uint64_t fillings = 0;       ///< water-fillings, >= updates
        std::uint64_t freed = 0;          ///< flows freed, over all updates
    };

    explicit MaxMinSolver(std::vector<double> capacities, Strategy strategy = Strategy::kLocal);

    /// A flow that is not active yet. Its route must not be empty; each link occurs once in it.
    FlowId add_flow(std::span<const ClassLeg> route);

    /// Changes take effect at the next `update`; a stopped flow has rate 0 at once. A flow may start again.
    void start(FlowId flow);
    void stop(FlowId flow);
    void set_capacity(std::uint32_t link, double capacity);

    /// Makes the rates max-min fair and returns the flows whose rate changed, valid until the next call.
    std::span<const FlowId> update();

    [[nodiscard]] double rate(FlowId flow) const { return flows_[flow.index()].rate; }
    [[nodiscard]] std::size_t active_count() const { return active_.size(); }
    /// Σ a·x of the active flows on the link. O(flows on the link).
    [[nodiscard]] double load(std::uint32_t link) const;
    [[nodiscard]] const Counters& counters() const { return counters_; }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::size_t kScanLimit = 24;

    struct Flow {
        double rate = 0.0;
        double rate_before = 0.0;           ///< when it was freed
        std::uint32_t bottleneck = kNone;   ///< link
        std::uint32_t active_slot = kNone;  ///< in active_
        std::uint32_t first_leg = 0;
        std::uint32_t leg_count = 0;
        std::uint64_t freed_in = 0;  ///< the update that freed it last
        std::uint64_t fixed_in = 0;  ///< the filling that fixed it last
    };
    struct Leg {
        double share;
        std::uint32_t link;
        std::uint32_t slot;  ///< in crossings of the link, while active
    };
    struct Crossing {
        double share;
        std::uint32_t flow;
        std::uint32_t leg;  ///< in legs_
    };
    struct LinkState {
        double capacity = 0.0;
        double residual = 0.0;         ///< what is left for its free flows, while filling
        double free_share = 0.0;       ///< Σ a of its free flows, while filling
        std::uint32_t free_count = 0;  ///< how many they are
        bool dirty = false;
        bool capacity_changed = false;
        std::uint64_t listed_in = 0;  ///< the filling that listed it last
        std::vector<Crossing> crossings;
    };
    struct Level {
        double level;
        std::uint32_t link;
    };

    void touch(std::uint32_t link);
    void free(std::uint32_t flow);
    void free_what_changed();
    void fill();
    void fill_by_scan();
    void fill_by_heap();
    /// Fixes the free flows of a link that runs full at `level`.
    void fix(std::uint32_t link, double level);
    /// Frees the flows that (B) does not hold for; false if it holds for all.
    bool enlarge();
    void collect_changes();

    Strategy strategy_;
    std::vector<Flow> flows_;
    std::vector<Leg> legs_;
    std::vector<LinkState> links_;
    std::vector<std::uint32_t> active_;
    std::vector<std::uint32_t> started_;
    std::vector<std::uint32_t> dirty_;
    std::vector<std::uint32_t> freed_;
    std::vector<std::uint32_t> listed_;   // links of the freed flows
    std::vector<std::uint32_t> filling_;  // of these, those that still have free flows
    std::vector<Level> heap_;
    std::vector<FlowId> changed_;
    std::uint64_t update_ = 0;
    std::uint64_t filling_number_ = 0;
    Counters counters_;
};

}  // namespace astrolabe::network
