/// flows.csv: one row for every message, written as messages arrive, in order of delivery.
///
/// slowdown = time / ideal, the ideal being the least that the message takes on a network on which nothing
/// else is (ideal_time.hpp). On packet engines it is above 1 on an empty network too: headers go beside the
/// payload, and switches wait for whole packets.
///
/// Memory: 64 KiB of text, 57 KiB of histogram, and that of ideal times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/containers/time_histogram.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/records/ideal_time.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/network/message_observer.hpp>

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
    IdealTimes ideal_;
    OutputFile file_;
    std::vector<std::string> operations_;  ///< "iteration,name", by label
    TimeHistogram times_;
    fmt::memory_buffer row_;
};

}  // namespace astrolabe::experiment
