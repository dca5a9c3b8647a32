/// The ties of collective_engine.hpp (tie_watch.hpp lists the cases). Does nothing where the watch is off.
#pragma once

#include "collective_state.hpp"
#include "tie_watch.hpp"

#include <memory>
#include <vector>

namespace astrolabe::system::detail {

class CollectiveTies {
public:
    using Instances = std::vector<std::unique_ptr<Instance>>;

    CollectiveTies(TieWatch& watch, const network::NetworkBackend& backend, std::size_t representatives)
        : watch_(watch),
          backend_(backend),
          group_issues_(representatives) {}

    /// A further group, with so many representatives.
    void add_channel(Position representatives) {
        channels_.push_back({std::vector<Window>(representatives), {}});
    }

    /// A rank was the first of its group to issue a collective that moves something, and so has a priority.
    void first_issue(ChannelIndex channel) { watch_.happens(channels_[channel].first_issue); }
    [[nodiscard]] bool is_on() const { return watch_.is_on(); }
    void next_notification() { watch_.next_notification(); }
    /// The whole group has issued `instance`, which waited for that. Whether, in the whole run, another rank
    /// than here may be the last to issue it: one that did so at this instant, too. At the beginning of the
    /// run all ranks issue in the order of the program, in one go. O(representatives of the group), once for
    /// each instance.
    [[nodiscard]] bool last_may_be_another(const Channel& channel, const Instance& instance) const;
    /// The whole group has issued a collective that waited for that.
    void group_issued(const Channel& channel);
    /// A rank made room in its window, or issued a collective for it; `has_entered`: a chunk entered.
    void window_changed(ChannelIndex channel, Position position, bool has_entered);
    /// The rank at `position` follows the order to `next`. If another rank extended the order by `next` at
    /// this very instant, the two might have come in the other order; then this rank would have chosen. That
    /// is no tie if both have issued the same collectives before this instant, and the same at it.
    void follows_order(const Channel& channel, const ChunkRun& next, Position position,
                       const Instances& instances);

private:
    struct Window {
        TieWatch::Event changed;
        Time changed_twice = kNever;  // by two notifications of one instant
        Time entered = kNever;
    };
    struct ChannelWatch {
        std::vector<Window> windows;  // by representative
        TieWatch::Event first_issue;  // the last of a collective in the group
    };

    TieWatch& watch_;
    const network::NetworkBackend& backend_;
    std::vector<ChannelWatch> channels_;
    std::vector<TieWatch::Event>
        group_issues_;  // by representative: the last that its whole group had issued
};

}  // namespace astrolabe::system::detail
