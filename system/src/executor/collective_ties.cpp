#include "collective_ties.hpp"

#include <algorithm>

namespace astrolabe::system::detail {

bool CollectiveTies::last_may_be_another(const Channel& channel, const Instance& instance) const {
    return watch_.is_on() && !watch_.is_first_notification() &&
           (channel.ranks.size() > channel.representatives ||
            std::ranges::count(instance.issued_at, backend_.now()) > 1);
}

void CollectiveTies::group_issued(const Channel& channel) {
    // A group of one has no others to wait for.
    for (Position position = 0; channel.ranks.size() > 1 && position < channel.representatives; ++position) {
        watch_.happens_alone(group_issues_[channel.ranks[position].index()]);
    }
}

void CollectiveTies::window_changed(ChannelIndex channel, Position position, bool has_entered) {
    if (!watch_.is_on()) {
        return;
    }
    Window& window = channels_[channel].windows[position];
    const Time now = backend_.now();
    if (watch_.repeats(window.changed)) {
        window.changed_twice = now;
    }
    if (has_entered) {
        window.entered = now;
    }
    if (window.changed_twice == now && window.entered == now) {
        watch_.report();
    }
}

void CollectiveTies::follows_order(const Channel& channel, const ChunkRun& next, Position position,
                                   const Instances& instances) {
    const Time now = backend_.now();
    if (!watch_.is_on() || next.ordered_at != now || next.ordered_by == position) {
        return;
    }
    const auto differs = [&](InstanceIndex index) {
        const std::vector<Time>& issued_at = instances[index]->issued_at;
        const Time one = issued_at[next.ordered_by];
        const Time other = issued_at[position];
        return (one < now) != (other < now) || (one == kNever) != (other == kNever);
    };
    if (differs(next.instance) || std::ranges::any_of(channel.waiting, differs)) {
        watch_.report();
    }
}

}  // namespace astrolabe::system::detail
