/// flows.csv: one row for every message, written as messages arrive, in order of delivery.
///
/// A message of S bytes from a to b takes at least
///     ideal = l + 8·S / r,
/// l the latency of the path from a to b that takes longest, r the most that the path lets through: the rate
/// of its slowest link, and where it is split, the least of rate over share. slowdown = time / ideal. On
/// packet engines it is above 1 on an empty network too: headers go beside the payload, and switches wait for
/// whole packets. Where circuits move, the path is that at first, or a circuit for a pair without; later ones
/// may be shorter.
///
/// Memory: 64 KiB of text, 57 KiB of histogram, and up to 56 bytes for every pair of hosts that sends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/containers/time_histogram.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/network/message_observer.hpp>
#include <astrolabe/network/pair_index.hpp>

namespace astrolabe::experiment {

class FlowTable final : public network::MessageObserver {
public:
    /// The experiment, whose operations are the labels of messages, must outlive the table.
    FlowTable(const Experiment& experiment, OutputFile file);

    void message(const network::MessageRecord& record) override;

    /// Gives the file its name; nothing, or why it could not be written.
    [[nodiscard]] std::optional<Diagnostic> finish() { return file_.finish(); }

    /// Of all messages so far, from sending to delivery.
    [[nodiscard]] const TimeHistogram& times() const { return times_; }

private:
    struct Path {
        Time latency;
        Bandwidth rate;
    };

    [[nodiscard]] Time ideal_time(const network::MessageRecord& record);

    const network::Fabric& fabric_;
    OutputFile file_;
    std::vector<std::string> operations_;  ///< "iteration,name", by label
    network::PairIndex pairs_;
    std::vector<Path> paths_;
    TimeHistogram times_;
    fmt::memory_buffer row_;
};

}  // namespace astrolabe::experiment
