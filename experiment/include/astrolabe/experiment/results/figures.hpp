/// What several of the writers of results derive from a run.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

/// Sums over ranks in picoseconds fit 128 bits; the mean is taken once, at the end.
class MeanTime {
public:
    void add(Time time) { sum_ += time.count(); }
    [[nodiscard]] double seconds(std::size_t ranks) const {
        return static_cast<double>(sum_) / static_cast<double>(ranks) /
               static_cast<double>(kPicosecondsPerSecond);
    }

private:
    detail::Int128 sum_ = 0;
};

/// Of a stream, seconds, over ranks.
struct MeanStream {
    double compute = 0;
    double drain = 0;
    std::map<std::string, double> exposed;
    double slowed = 0;
};
/// Of stream 0, and of the others of the program.
struct MeanBreakdown : MeanStream {
    std::vector<MeanStream> other_streams;
};

[[nodiscard]] MeanBreakdown mean_breakdown(const system::ExecutionReport& report);

/// Mean of an iteration: the run over the number of iterations.
[[nodiscard]] double mean_iteration_seconds(const Run& run);

[[nodiscard]] Bytes total_traffic(const Run& run);

/// 0 of nothing.
[[nodiscard]] double share_of(Bytes part, Bytes whole);

/// Largest over mean; 1 where there is nothing to share.
template <class Quantity>
double max_over_mean(const std::vector<Quantity>& values) {
    double sum = 0;
    double most = 0;
    for (const Quantity value : values) {
        sum += static_cast<double>(value.count());
        most = std::max(most, static_cast<double>(value.count()));
    }
    return sum > 0 ? most * static_cast<double>(values.size()) / sum : 1.0;
}

/// Those of the times of messages that are reported, by name.
inline constexpr std::array<std::pair<const char*, double>, 9> kMessageQuantiles{{{"p1", 0.01},
                                                                                  {"p5", 0.05},
                                                                                  {"p10", 0.1},
                                                                                  {"p25", 0.25},
                                                                                  {"p50", 0.5},
                                                                                  {"p75", 0.75},
                                                                                  {"p90", 0.9},
                                                                                  {"p99", 0.99},
                                                                                  {"p99.9", 0.999}}};

[[nodiscard]] std::string readable_seconds(double seconds);

}  // namespace astrolabe::experiment
