/// The ties of collective_engine.hpp: what of one instant would come out otherwise in another order of
/// notifications (tie_watch.hpp lists the cases). Does nothing where the watch is off.
#pragma once

#include "collective_state.hpp"
#include "tie_watch.hpp"

#include <memory>
#include <vector>

namespace astrolabe::system::detail {

class CollectiveTies {
public:
    using Instances = std::vector<std::unique_ptr<Instance>>;

    CollectiveTies(TieWatch& watch, const network::NetworkBackend& backend, std::size_t kept_ranks)
        : watch_(watch),
          backend_(backend),
          group_issues_(kept_ranks) {}

    /// A further group, with so many kept positions.
    void add_channel(Position kept) { channels_.push_back({std::vector<Window>(kept), {}}); }

    /// A rank issued a collective first in its group.
    void first_issue(ChannelIndex channel) { watch_.happens(channels_[channel].first_issue); }
    /// The whole group has issued a collective that waited for that.
    void group_issued(const Channel& channel);
    /// A rank made room in its window, or issued something for it; did a chunk enter?
    void window_changed(ChannelIndex channel, Position position, bool has_entered);
    /// `next` is the chunk that the rank at `position` finds in the order. Had it come to the end of the
    /// order before the rank that extended it at this instant, it would have chosen the same if it had issued
    /// the same before now, and the same now.
    void follows_order(const Channel& channel, const ChunkRun& next, Position position,
                       const Instances& instances);

private:
    struct Window {
        TieWatch::Event changed;
        Time changed_twice = kNever;  // by two notifications of one instant
        Time entered = kNever;
    };
    struct ChannelWatch {
        std::vector<Window> windows;  // by kept position
        TieWatch::Event first_issue;  // the last of a collective in the group
    };

    TieWatch& watch_;
    const network::NetworkBackend& backend_;
    std::vector<ChannelWatch> channels_;
    std::vector<TieWatch::Event> group_issues_;  // by kept rank: the last that its whole group had issued
};

}  // namespace astrolabe::system::detail
