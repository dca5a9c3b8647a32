/// queues.csv: what waits in front of links over time, sampled.
///
/// A sample of time k·interval, k = 1, 2, …, has a row for every link in whose queue something waited since
/// the sample before: what waits at that time, what happens at the instant itself included, and the most that
/// waited in between. What comes and goes at one instant did not wait. After the last row of a link its queue
/// is empty until the next.
///
/// Memory: 32 bytes for every link of the fabric. Time: a constant for every event and every row.
#pragma once

#include <optional>
#include <vector>

#include <astrolabe/experiment/records/packet_sequencer.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::experiment {

class QueueSeries final : public PacketSink {
public:
    /// interval > 0
    QueueSeries(const network::Fabric& fabric, Time interval, OutputFile file);

    [[nodiscard]] bool wants(const network::PacketEvent& event) const override;
    void take(const network::PacketEvent& event) override;

    /// Writes the samples up to `end`, of the run, and gives the file its name; nothing, or why it could not
    /// be written.
    [[nodiscard]] std::optional<Diagnostic> finish(Time end);

private:
    struct Queue {
        Time since;  ///< when it came to be as it is
        Bytes waiting;
        Bytes peak;  ///< since the last sample
        bool is_active = false;
    };

    /// Writes the samples before `time`.
    void sample_until(Time time);
    void write_sample();

    const network::Fabric& fabric_;
    Time interval_;
    OutputFile file_;
    Time next_;
    std::vector<Queue> queues_;            ///< by link
    std::vector<network::LinkId> active_;  ///< with something to write at the next sample
};

}  // namespace astrolabe::experiment
