/// What a run records beside its results, on request: every message, every packet, every queue, and
/// when what happened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <astrolabe/experiment/records/flow_table.hpp>
#include <astrolabe/experiment/records/packet_capture.hpp>
#include <astrolabe/experiment/records/packet_sequencer.hpp>
#include <astrolabe/experiment/records/queue_series.hpp>
#include <astrolabe/experiment/records/throughput_series.hpp>
#include <astrolabe/experiment/records/timeline/timeline.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

struct RecorderOptions {
    bool flows = false;        ///< flows.csv in the folder
    std::string packet_trace;  ///< path of a capture file; empty: none
    /// Of the packet trace: links whose names, "host 3 -> leaf 0", a part of which this regular expression
    /// (ECMAScript) matches; empty: all.
    std::string trace_links;
    std::string queue_series;     ///< an interval, "10us": queues.csv in the folder; empty: none
    std::string throughput{};     ///< an interval: throughput.csv and carried.csv in the folder; empty: none
    bool timeline = false;        ///< timeline.json.gz in the folder
    bool plain_timeline = false;  ///< timeline.json in its place, which is not packed
    std::string timeline_size = "200MB";  ///< that it does not exceed before it is packed

    [[nodiscard]] std::string timeline_file() const {
        return plain_timeline ? "timeline.json" : "timeline.json.gz";
    }
};

class Recorder final : private network::MessageObserver, private network::LinkObserver {
public:
    /// Opens the files. Reports an interval, a size or an expression that is none, an expression that matches
    /// no link, a size that is too small, a backend that does not report packets, and files that cannot be
    /// written. The experiment must outlive the recorder; `folder` may be null if nothing goes there.
    [[nodiscard]] static Result<std::unique_ptr<Recorder>> open(const RecorderOptions& options,
                                                                const Experiment& experiment,
                                                                const OutputFolder* folder);

    [[nodiscard]] RunObservers observers();

    /// After the run: adds to it what was summed up.
    void sum_up(Run& run) const;
    /// Of a finished run: gives the files their names; why some could not be written. A timeline takes the
    /// place of an earlier one, packed or not.
    [[nodiscard]] Diagnostics finish(const Run& run);
    /// Packet events that stand in the files where they came, not where they belong.
    [[nodiscard]] std::uint64_t late_events() const { return sequencer_ ? sequencer_->late() : 0; }
    /// What the timeline has no room for; after `finish`.
    [[nodiscard]] std::vector<std::string> left_out() const;
    /// How long the intervals of throughput.csv are, if longer than asked for; after `finish`.
    [[nodiscard]] std::optional<Time> longer_throughput_intervals() const {
        return throughput_ ? throughput_->longer_intervals() : std::nullopt;
    }

private:
    Recorder() = default;
    void message(const network::MessageRecord& record) override;
    void links_are_alike(std::span<const std::uint32_t> class_of) override;
    [[nodiscard]] Time interval(Time end) override;
    void carried(network::LinkId link, Time from, Time to, const network::PieceBytes& bytes) override;
    void delivered(network::HostId destination, Time from, Time to, double payload) override;

    std::optional<FlowTable> flows_;
    std::optional<ThroughputSeries> throughput_;
    std::optional<PacketCapture> capture_;
    std::optional<QueueSeries> queues_;
    std::optional<PacketSequencer> sequencer_;
    std::optional<Timeline> timeline_;
    std::filesystem::path other_timeline_;          ///< of the other form: an earlier run's
    std::vector<network::LinkObserver*> of_links_;  ///< those of them that observe links
};

}  // namespace astrolabe::experiment
