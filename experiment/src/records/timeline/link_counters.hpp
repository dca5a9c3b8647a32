/// What links carry over time, from what the network says that they have carried so far.
///
/// With C(t) the bytes of a track (link_tracks.hpp) that the backend has counted up to t, samples at
/// t_0 = 0 < t_1 < … < t_n, the end of the run, and R its rate, the counter says of [t_i, t_{i+1})
///
///     u_i = min(1, (b_i + C(t_{i+1}) - C(t_i)) / (R·(t_{i+1} - t_i))),
///
/// b_i the bytes that did not fit before: an engine that moves packets, or slots, counts them when they begin
/// to leave. What is left at the end follows it. So 0 ≤ u ≤ 1, and Σ u_i·R·(t_{i+1} - t_i) is what the link
/// carried. On an engine that shares no links, or beats bounds for another reason (BackendMaker), nothing is
/// held back, and u may be above 1.
///
/// Queues are means over the same intervals, from the mean over all time that the network knows. What it
/// takes back, when it finds out late that packets have left, is taken off what was before.
///
/// Sampling. The network is asked when something is notified, at the first such instant that lies an interval
/// behind the last. When there are too many samples every other one is dropped and the interval doubles; so
/// memory is bounded, and no sample is wrong: of two intervals that become one u is the mean. How often
/// it may be asked follows the messages, so that it costs a bounded share of the run.
///
/// Memory: at most 32 MiB, or 33 samples where tracks are so many.
#pragma once

#include "link_tracks.hpp"
#include "trace_writer.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/backend.hpp>

namespace astrolabe::experiment {

/// What was written of the counters, and what was not.
struct CounterCoverage {
    std::size_t busy = 0;    ///< tracks that carried anything
    std::size_t shown = 0;   ///< of these, the busiest
    std::size_t merged = 1;  ///< samples taken for one, to save room
};

class LinkCounters {
public:
    /// Both must outlive it.
    LinkCounters(const Experiment& experiment, const LinkTracks& tracks);

    /// Something is notified: takes a sample if it is time.
    void look(const network::NetworkBackend& backend);
    /// The last sample; `end` is not before any other.
    void end(const network::NetworkStatistics& statistics, Time end);

    /// At most `bytes` of counters: of `most` tracks, and the longer the intervals the less room there is.
    CounterCoverage write(TraceWriter& writer, TraceProcess process, std::uint64_t bytes,
                          std::size_t most) const;

private:
    struct Sample {
        Time at;
        std::vector<std::int64_t> carried;  ///< by track
        std::vector<double> waited;         ///< by track: byte·ps; empty where there are no queues
    };

    void take(const network::NetworkStatistics& statistics, Time at);
    void drop_every_other();
    [[nodiscard]] std::vector<std::uint32_t> busiest() const;
    /// Every `step`-th sample, and the last.
    [[nodiscard]] std::vector<const Sample*> every(std::size_t step) const;
    /// How many of the tracks, from the first on, take at most `bytes`.
    [[nodiscard]] std::size_t fitting(const std::vector<std::uint32_t>& tracks,
                                      const std::vector<const Sample*>& samples, TraceProcess process,
                                      std::uint64_t bytes) const;
    void write_track(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                     const std::vector<const Sample*>& samples) const;
    void write_utilization(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                           const std::vector<const Sample*>& samples) const;
    void write_queue(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                     const std::vector<const Sample*>& samples) const;

    const LinkTracks& tracks_;
    bool shares_links_;
    bool has_queues_;
    std::size_t most_samples_;
    std::uint64_t pairs_;  ///< of hosts
    std::vector<Sample> samples_;
    Time interval_;
    Time next_;
    std::uint64_t looks_ = 0;
    std::uint64_t allowance_;  ///< links and connections that may yet be looked at
};

}  // namespace astrolabe::experiment
