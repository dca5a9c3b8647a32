/// Max-min fair rates kept by link: what one link limits has one level, so that a change costs the links and
/// connections whose level changes and nothing else.
///
/// Model. That of max_min_solver.hpp with equal weights and no caps: active flow f puts a_fl·x_f on link l,
/// loads are at most C_l, and every flow has a bottleneck b(f), a full link on its route where no flow has a
/// larger rate. All flows with bottleneck l therefore have the same rate, the *level* λ_l of the link:
///
///     x_f = λ_b(f),      λ_l = (C_l - Σ_{f on l, b(f) ≠ l} a_fl · λ_b(f)) / Σ_{b(f) = l} a_fl.
///
/// A flow stores its bottleneck and no rate. A change of λ_l changes the rates of all it limits at once; only
/// a change of bottleneck is an event of a flow.
///
/// Update, in ascending order of levels. What happens at level κ concerns no flow with a smaller rate, as in
/// water-filling. A link is in the queue
///
///   - at the level at which its own and its free flows fill it, if that is below its present level or it has
///     no level: popped, it gets that level, and takes over whoever has more than it;
///   - at its present level, if it could have a higher one or somebody on it has more. Popped, it is
///     *raised*: it gets the level that fills it, and takes over whoever has more still. That may be too
///     high: another link is then given more than it has, and is queued, maybe below κ, to take over in turn.
///     So in one update a link is raised once, and not while flows on it are free. Otherwise it is
///     *released*: its own flows go to another full link of the same level where they cross one, and else
///     become free.
///
/// A flow that becomes free, gets a level or another one changes what is left on the other links of its
/// route, and these are queued anew: a little earlier than their key, which is computed again when it is
/// their turn. So of 50 changes on the way there one or two are heard of, and to all others a link costs an
/// addition and a comparison with what they may sum up to. When the queue is empty, every flow has a
/// bottleneck, and rates with bottlenecks are the max-min fair ones, in whatever order they were found. That
/// it gets empty: between two raises levels are given in ascending order from the lowest that is queued, so
/// that a link that is released could not rise again but for rounding, and is not released again before some
/// link is raised. (Of N flows on two equal links rounding alone is N·10^-16 of a level, more than 10^-12
/// where N is 10^4.)
///
/// A link knows a bound of what those have that others limit on it, and looks at them one by one only where
/// that is above its own level.
///
/// Arithmetic: doubles. Levels within 10^-12 of each other are one level; a link whose level would change by
/// no more keeps it. What a link's flows weigh and what others take of it are sums of two doubles, from which
/// a term is taken away nearly as exactly as it was added (exact_sum.hpp), so that a level hardly depends on
/// the history of its link.
///
/// Slack. With `slack` ε > 0 a link gives a level that fills it but for the part ε/2, and keeps it until it
/// would be given more than it has or could give each the part ε more. Every link that limits a flow is then
/// full to the part 1 - ε at least: the rates are the max-min fair ones of a network in which the rate of
/// each link lies between (1 - ε)·C_l and C_l. A level may then be given that is ε/2 below κ; the queue gets
/// empty all the same, as without raises and releases, whose number is bounded as above, rates only fall, and
/// a link that fell does not fall again before others take ε/2 more of it.
///
/// A link that limits many flows sums up what they weigh on each other link (own_loads.hpp), where these are
/// at most half as many as the legs: a change of level is one addition for each link then, not for each leg.
///
/// Complexity of an update: O(legs) for flows that are alone; else, for each link that gets another level,
/// the legs of the flows that it limits or the links that these lie on, and O(log links) for each link there
/// that is queued. A link on which somebody has more, as far as it knows, also looks at all that others limit
/// there. Memory: 12 bytes per flow, 28 per leg, 241 per link, and 32 to 64 for each pair of a link that
/// limits many and another on their way.
#pragma once

#include "exact_sum.hpp"
#include "max_min_solver.hpp"
#include "minimum_tree.hpp"
#include "own_loads.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

class LinkLevels {
public:
    static constexpr std::uint32_t kNone = 0xffffffffU;  ///< no bottleneck
    struct Moved {
        std::uint32_t flow;
        std::uint32_t from;  ///< its bottleneck before the update; kNone: it started
    };

    explicit LinkLevels(std::vector<double> capacities, double slack = 0.0);

    /// A flow that is not active yet; flows are numbered 0, 1, …. Each link occurs at most once in a route.
    /// One without links never starts.
    void add_flow(std::span<const ClassLeg> route);

    /// Makes room for this many flows and legs; what is not used is not touched.
    void reserve(std::size_t flows, std::size_t legs);

    /// Changes take effect at the next `update`; a stopped flow has rate 0 at once. A flow may start again.
    void start(std::uint32_t flow);
    void stop(std::uint32_t flow);

    /// Makes the rates max-min fair.
    void update();
    /// Of the last update: links that limit a flow and whose level changed, or that limited none before.
    [[nodiscard]] std::span<const std::uint32_t> changed() const { return changed_; }
    /// Of the last update: active flows that have another bottleneck than before, each once.
    [[nodiscard]] std::span<const Moved> moved() const { return moved_; }

    [[nodiscard]] double level(std::uint32_t link) const { return levels_[link]; }
    /// The link that limits an active flow, after `update`; else kNone.
    [[nodiscard]] std::uint32_t bottleneck(std::uint32_t flow) const { return bottlenecks_[flow]; }
    [[nodiscard]] double rate(std::uint32_t flow) const {
        return bottlenecks_[flow] == kNone ? 0.0 : levels_[bottlenecks_[flow]];
    }
    /// How many flows a link limits.
    [[nodiscard]] std::uint32_t limited(std::uint32_t link) const { return links_[link].own_count; }
    [[nodiscard]] std::size_t active_count() const { return active_; }
    /// Of a flow with no other on its links: the link that limits it, and its level then.
    struct Limit {
        std::uint32_t link;
        double level;
    };
    [[nodiscard]] Limit limit_alone(std::uint32_t flow) const;
    /// Σ a·x of the active flows on the link. O(flows on the link).
    [[nodiscard]] double load(std::uint32_t link) const;
    /// `freed` counts flows whose rate was looked for, `fillings` links that got a level.
    [[nodiscard]] const MaxMinSolver::Counters& counters() const { return counters_; }
    /// Calls visit(link, load per unit of rate) along the route.
    template <class Visitor>
    void for_each_leg(std::uint32_t flow, Visitor&& visit) const {
        for (std::uint32_t leg = first_legs_[flow]; leg < first_legs_[flow + 1]; ++leg) {
            visit(legs_[leg].link, legs_[leg].load);
        }
    }

private:
    /// With so many own flows it is tried whether to sum up what they weigh on others.
    static constexpr std::uint32_t kManyOwn = 32;

    struct alignas(64) Link {
        double capacity = 0.0;
        ExactSum own;   ///< Σ a of the flows that it limits
        ExactSum free;  ///< Σ a of its flows that have no bottleneck, within an update
        double queued = std::numeric_limits<double>::infinity();  ///< its key in the queue
        std::uint32_t own_count = 0;
        std::uint32_t free_count = 0;
        bool is_touched = false;
        bool has_parts = false;                ///< some flow has a load other than 1
        bool was_empty = true;                 ///< limited nobody before the update
        double level_before = 0.0;             ///< the update
        std::uint32_t noted_in = 0;            ///< the update that has noted `level_before`
        std::uint32_t summed_from = kManyOwn;  ///< with so many it is tried again
        std::uint64_t released_at = 0;         ///< by clock_: when it last let go of those it limited
        std::uint64_t raised_at = 0;           ///< by clock_: when it last got a higher level at once

        /// Σ a of those whose rate it may choose.
        [[nodiscard]] double weight() const { return own.value() + free.value(); }
    };
    /// Those of a link that others limit. Of the links around, a change of a level reads and writes no more.
    struct alignas(32) Others {
        ExactSum held;           ///< Σ a·x
        double most_held = 0.0;  ///< no one has more, as a bound
        /// As long as they take no more, the link is in the queue early enough, or need not be in it.
        double unheard_to = -std::numeric_limits<double>::infinity();

        /// Another flow is held by another link, at `rate`.
        void hold(double load, double rate) {
            held.add_product(load, rate);
            most_held = std::max(most_held, rate);
        }
    };
    /// With slack, of a link that keeps its level: it need not be looked at either, as long as …
    struct Kept {
        double held_from;  ///< … they take no less, …
        double rate_to;    ///< … and no one has more
    };
    struct Leg {
        double load;
        std::uint32_t link;
        std::uint32_t place;  ///< in crossings_; kNone: not active
    };
    struct Crossing {
        std::uint32_t flow;
        std::uint32_t leg;
        /// kNone: the flow has no bottleneck. Else of a route over two links, each with load 1, the other
        /// one, so that legs need not be read; of any other route the bottleneck, so that `bottlenecks_` need
        /// not.
        std::uint32_t link;
    };
    /// Of one that another link limits, at this level.
    struct Held {
        double level;
        std::uint32_t leg;
    };

    [[nodiscard]] std::span<Leg> legs_of(std::uint32_t flow) {
        return {&legs_[first_legs_[flow]], first_legs_[flow + 1] - first_legs_[flow]};
    }
    [[nodiscard]] std::span<const Leg> legs_of(std::uint32_t flow) const {
        return {&legs_[first_legs_[flow]], first_legs_[flow + 1] - first_legs_[flow]};
    }
    [[nodiscard]] bool is_of_update(std::uint64_t at) const { return at >= began_at_; }
    void touch(std::uint32_t link);
    void note(std::uint32_t link);
    void note_move(std::uint32_t flow);
    [[nodiscard]] bool is_alone(std::uint32_t flow) const;
    void serve_alone(std::uint32_t flow);
    void swap_places(std::uint32_t link, std::uint32_t one, std::uint32_t other);
    void set_own(std::uint32_t link, std::uint32_t flow, const Leg& leg);
    void drop_own(std::uint32_t link, std::uint32_t flow, const Leg& leg);
    void set_bottleneck(std::uint32_t flow, std::uint32_t link);
    [[nodiscard]] bool is_pair(std::uint32_t flow) const {
        const std::span<const Leg> legs = legs_of(flow);
        return legs.size() == 2 && legs[0].load == 1.0 && legs[1].load == 1.0;
    }
    /// Sums up what its own flows weigh on other links, if these are few.
    void sum_up_own(std::uint32_t link);
    void set_free(std::uint32_t link, double load);
    void drop_free(std::uint32_t link, double load);
    /// Where a link is to be queued; infinite: not at all.
    [[nodiscard]] double key_of(std::uint32_t link) const;
    /// What those that others limit leave of it.
    [[nodiscard]] double left_of(std::uint32_t link) const;
    [[nodiscard]] double filled_at(std::uint32_t link) const;
    /// Notes what need not be heard of the others of a link; `keeps`: it is not to be queued.
    void hear_of(std::uint32_t link, bool keeps);
    [[nodiscard]] bool is_unheard(std::uint32_t link, double rate) const {
        const Others& others = others_[link];
        return others.held.most <= others.unheard_to &&
               (slack_ == 0.0 || (others.held.most >= kept_[link].held_from && rate <= kept_[link].rate_to));
    }
    void queue_touched();
    void push(std::uint32_t link, double key);
    void settle(std::uint32_t link, double key);
    /// The level at which a link is full if nobody on it has more. O(flows that others limit).
    [[nodiscard]] double fair_level(std::uint32_t link);
    void give_level(std::uint32_t link, double level);
    void change_own(std::uint32_t link, double level);
    void release(std::uint32_t link);
    void collect();

    double slack_;
    std::vector<Link> links_;
    std::vector<double> levels_;                    // by link
    std::vector<Others> others_;                    // by link
    std::vector<Kept> kept_;                        // by link; with slack only
    std::vector<std::vector<Crossing>> crossings_;  // by link; those that it limits first
    std::vector<OwnLoads> own_loads_;               // by link; of those with many flows
    std::vector<std::uint32_t> bottlenecks_;        // by flow
    std::vector<std::uint32_t> first_legs_{0};      // by flow
    std::vector<std::uint32_t> moved_in_;           // by flow: the update that has noted a move
    std::vector<Leg> legs_;                         // of flows, one after another
    std::size_t active_ = 0;
    std::vector<std::uint32_t> started_;
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> noted_;
    MinimumTree<double> queue_;  // of links
    double last_level_ = 0.0;
    std::vector<Held> above_;
    std::vector<std::uint32_t> changed_;
    std::vector<Moved> moved_;
    std::uint32_t update_ = 0;
    // Counts beginnings of updates, raises and releases.
    std::uint64_t clock_ = 0;
    std::uint64_t began_at_ = 0;   // the update
    std::uint64_t raised_at_ = 0;  // some link, or the update began
    MaxMinSolver::Counters counters_;
};

}  // namespace astrolabe::network
