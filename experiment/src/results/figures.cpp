#include <astrolabe/experiment/results/figures.hpp>

namespace astrolabe::experiment {

MeanBreakdown mean_breakdown(const system::ExecutionReport& report) {
    MeanTime compute;
    MeanTime drain;
    std::map<std::string, MeanTime> exposed;
    for (const system::RankRecord& rank : report.ranks) {
        compute.add(rank.compute);
        drain.add(rank.drain);
        for (const auto& [cause, time] : rank.exposed) {
            exposed[cause].add(time);
        }
    }
    const std::size_t ranks = report.ranks.size();
    MeanBreakdown means{compute.seconds(ranks), drain.seconds(ranks), {}};
    for (const auto& [cause, time] : exposed) {
        means.exposed[cause] = time.seconds(ranks);
    }
    return means;
}

double mean_iteration_seconds(const Run& run) {
    return to_seconds(run.execution.total) / static_cast<double>(run.iteration_times.size());
}

Bytes total_traffic(const Run& run) {
    Bytes sum;
    for (const Bytes bytes : run.traffic) {
        sum += bytes;
    }
    return sum;
}

double share_of(Bytes part, Bytes whole) {
    return whole > Bytes(0) ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0.0;
}

std::string readable_seconds(double seconds) {
    return readable(Time(static_cast<std::int64_t>(seconds * 1e12)));
}

}  // namespace astrolabe::experiment
