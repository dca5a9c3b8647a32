#include <algorithm>
#include <cmath>
#include <set>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor/compute_speeds.hpp>

namespace astrolabe::system {

namespace {

constexpr std::int64_t kWhole = 1'000'000'000;  ///< a speed of 1, in billionths

}  // namespace

ComputeSpeeds::ComputeSpeeds(const std::vector<SlowRank>& slow) {
    std::map<RankId, std::set<Time>> edges;
    for (const SlowRank& each : slow) {
        ASTROLABE_ASSERT(each.from >= Time(0) && each.from < each.until, "a rank is slow for a time");
        ASTROLABE_ASSERT(each.speed >= 0 && each.speed <= 1, "a slow rank has a part of its speed");
        edges[each.rank].insert(each.from);
        if (each.until < Time::max()) {
            edges[each.rank].insert(each.until);
        }
    }
    for (const auto& [rank, times] : edges) {
        for (const Time at : times) {
            std::int64_t billionths = kWhole;
            for (const SlowRank& each : slow) {
                if (each.rank == rank && each.from <= at && at < each.until) {
                    billionths =
                        std::min<std::int64_t>(billionths, std::llround(each.speed * double{kWhole}));
                }
            }
            changes_[rank].push_back({at, billionths});
        }
    }
}

Time ComputeSpeeds::duration(RankId rank, Time start, Time duration) const {
    const auto found = changes_.find(rank);
    if (found == changes_.end()) {
        return duration;
    }
    const std::vector<Change>& changes = found->second;
    auto next = std::ranges::upper_bound(changes, start, {}, &Change::at);
    std::int64_t speed = next == changes.begin() ? kWhole : std::prev(next)->billionths;
    astrolabe::detail::Int128 left = astrolabe::detail::Int128{duration.count()} * kWhole;
    Time at = start;
    for (; next != changes.end(); ++next) {
        const astrolabe::detail::Int128 done = astrolabe::detail::Int128{(next->at - at).count()} * speed;
        if (done >= left) {
            break;
        }
        left -= done;
        at = next->at;
        speed = next->billionths;
    }
    if (left == 0) {
        return at - start;
    }
    if (speed == 0) {
        return Time::max();
    }
    const astrolabe::detail::Int128 rest = (left + speed - 1) / speed;
    return rest < astrolabe::detail::Int128{(Time::max() - at).count()}
               ? at - start + Time(static_cast<std::int64_t>(rest))
               : Time::max();
}

}  // namespace astrolabe::system
