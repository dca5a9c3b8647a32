#include "steady_iterations.hpp"

#include <algorithm>
#include <set>

#include <astrolabe/experiment/results/figures.hpp>

namespace astrolabe::experiment {
namespace {

constexpr std::int64_t kSpreadDivisor = 50;  // 2 %
constexpr std::size_t kFewestSteady = 2;
constexpr std::size_t kSteadyShareDivisor = 3;

/// Those of `iteration_times` but for the last, which ends with the computation instead of the drain.
std::vector<Time> computation_intervals(const Run& run) {
    std::vector<Time> intervals = run.iteration_times;
    Time end;
    for (const system::RankRecord& rank : run.execution.ranks) {
        if (rank.iteration_ends.size() == intervals.size()) {
            end = std::max(end, rank.iteration_ends.back());
        }
    }
    intervals.back() = end - (run.execution.total - intervals.back());
    const bool all_compute = std::ranges::all_of(intervals, [](Time time) { return time > Time(0); });
    return all_compute ? intervals : std::vector<Time>{};
}

}  // namespace

SteadyIterations steady_iterations(const Run& run) {
    SteadyIterations steady{.intervals = computation_intervals(run)};
    std::multiset<Time> stretch;
    std::size_t first = 0;
    for (const Time interval : steady.intervals) {
        stretch.insert(interval);
        while (*stretch.rbegin() - *stretch.begin() > Time(stretch.begin()->count() / kSpreadDivisor)) {
            stretch.erase(stretch.find(steady.intervals[first]));
            ++first;
        }
        if (stretch.size() >= steady.count) {
            steady.first = first;
            steady.count = stretch.size();
        }
    }
    if (steady.count < kFewestSteady || steady.count * kSteadyShareDivisor < steady.intervals.size()) {
        steady.first = 0;
        steady.count = 0;
        return steady;
    }
    const auto begin = steady.intervals.begin() + static_cast<std::ptrdiff_t>(steady.first);
    const auto end = begin + static_cast<std::ptrdiff_t>(steady.count);
    MeanTime sum;
    std::for_each(begin, end, [&sum](Time interval) { sum.add(interval); });
    steady.seconds = sum.seconds(steady.count);
    const auto [least, most] = std::minmax_element(begin, end);
    steady.spread = to_seconds(*most - *least) / to_seconds(*least);
    return steady;
}

}  // namespace astrolabe::experiment
