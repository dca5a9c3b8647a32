#include <astrolabe/experiment/results/figures.hpp>

namespace astrolabe::experiment {
namespace {

/// `stream_of` gives the record of the stream that is meant.
template <class StreamOf>
MeanStream mean_of(const system::ExecutionReport& report, const StreamOf& stream_of) {
    MeanTime compute;
    MeanTime drain;
    MeanTime slowed;
    std::map<std::string, MeanTime> exposed;
    for (const system::RankRecord& rank : report.ranks) {
        const system::StreamRecord& stream = stream_of(rank);
        compute.add(stream.compute);
        drain.add(stream.drain);
        slowed.add(stream.slowed);
        for (const auto& [cause, time] : stream.exposed) {
            exposed[cause].add(time);
        }
    }
    const std::size_t ranks = report.ranks.size();
    MeanStream means{compute.seconds(ranks), drain.seconds(ranks), {}, slowed.seconds(ranks)};
    for (const auto& [cause, time] : exposed) {
        means.exposed[cause] = time.seconds(ranks);
    }
    return means;
}

}  // namespace

MeanBreakdown mean_breakdown(const system::ExecutionReport& report) {
    using system::RankRecord;
    using system::StreamRecord;
    MeanBreakdown means{mean_of(report, [](const RankRecord& rank) -> const StreamRecord& { return rank; }),
                        {}};
    for (std::size_t i = 0; i < report.ranks.front().other_streams.size(); ++i) {
        means.other_streams.push_back(mean_of(
            report, [i](const RankRecord& rank) -> const StreamRecord& { return rank.other_streams[i]; }));
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
