/// What links carry over time, from the record of it (carried_record.hpp), and what waits in front of them.
///
/// With W_i the wire bytes that a track (link_tracks.hpp) carried in [t_i, t_{i+1}), intervals of one length
/// from 0 to the end T of the run, the last one shorter, and R its rate, the counter says
///
///     u_i = 8 W_i / (R · (t_{i+1} - t_i)),        0 ≤ u ≤ 1.
///
/// What was being sent when the run ended, or is of a slot that it ended in, follows at the full rate behind
/// T. So Σ u_i·R·(t_{i+1} - t_i) is what the link carried.
///
/// Queues are means between samples, from the mean over all time that the network knows. What it takes back,
/// when it finds out late that packets have left, is taken off what was before. The network is asked when
/// something is notified, at the first such instant that lies an interval behind the last. When there are too
/// many samples every other one is dropped and the interval doubles. How often it may be asked follows the
/// messages, so that it costs a bounded share of the run.
///
/// Memory: at most 32 MiB each for the record and for samples, or 33 intervals where tracks are so many.
#pragma once

#include "link_tracks.hpp"
#include "trace_writer.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/records/carried_record.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/backend.hpp>

namespace astrolabe::experiment {

/// What was written of the counters, and what was not.
struct CounterCoverage {
    std::size_t busy = 0;    ///< tracks that carried anything
    std::size_t shown = 0;   ///< of these, the busiest
    std::size_t merged = 1;  ///< intervals taken for one, to save room
};

class LinkCounters {
public:
    /// Both must outlive it.
    LinkCounters(const Experiment& experiment, const LinkTracks& tracks);

    /// Who is told what links carry.
    [[nodiscard]] network::LinkObserver& links() { return record_; }
    /// Something is notified: takes a sample of the queues if it is time.
    void look(const network::NetworkBackend& backend);
    /// The run has ended.
    void end(const Run& run);

    /// At most `bytes` of counters: of `most` tracks, and the longer the intervals the less room there is.
    CounterCoverage write(TraceWriter& writer, TraceProcess process, std::uint64_t bytes,
                          std::size_t most) const;

private:
    struct Sample {
        Time at;
        std::vector<double> waited;  ///< by track: byte·ps
    };

    void take(const network::NetworkStatistics& statistics, Time at);
    void drop_every_other();
    [[nodiscard]] std::vector<std::uint32_t> busiest() const;
    /// Every `step`-th sample, and the last.
    [[nodiscard]] std::vector<const Sample*> every(std::size_t step) const;
    /// How many of the tracks, from the first on, take at most `bytes` with so many intervals made one.
    [[nodiscard]] std::size_t fitting(const std::vector<std::uint32_t>& tracks, std::size_t merged,
                                      TraceProcess process, std::uint64_t bytes) const;
    void write_track(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                     std::size_t merged) const;
    void write_utilization(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                           std::size_t merged) const;
    void write_queue(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                     const std::vector<const Sample*>& samples) const;

    const LinkTracks& tracks_;
    bool has_queues_;
    std::size_t most_intervals_;
    std::size_t most_samples_;
    Time first_interval_;
    CarriedRecord record_;
    network::LinkReports reports_ = network::LinkReports::kNothing;
    Time end_;
    std::uint64_t pairs_;  ///< of hosts
    std::vector<Sample> samples_;
    Time interval_;
    Time next_;
    std::uint64_t looks_ = 0;
    std::uint64_t allowance_;  ///< links and connections that may yet be looked at
};

}  // namespace astrolabe::experiment
