#include "link_counters.hpp"
#include "link_tracks.hpp"
#include "network_tracks.hpp"
#include "rank_tracks.hpp"
#include "run_tracks.hpp"
#include "trace_writer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/records/timeline/timeline.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::experiment {

using system::OperationId;
using system::RankId;

namespace {

/// More counters than this nobody looks through.
constexpr std::size_t kMostLinks = 256;
/// Of what is left out, all there is to say.
constexpr std::size_t kMostNotes = 7;
constexpr std::size_t kLongestNote = 120;

/// Of the whole file ranks may take three quarters.
constexpr std::uint64_t share_of_ranks(std::uint64_t most) {
    return most / 4 * 3;
}

struct Processes {
    TraceProcess run;
    TraceThread iterations;
    TraceThread path;
    TraceProcess links;
    std::optional<TraceProcess> network;   // where it does something of itself
    std::optional<TraceProcess> failures;  // where something fails
};

Processes add_processes(const Experiment& experiment, TraceWriter& writer) {
    Processes processes;
    processes.run = writer.add_process("run");
    processes.iterations = writer.add_thread(processes.run, "iterations");
    processes.path = writer.add_thread(processes.run, "critical path");
    if (const auto activity = experiment.fabric->family().activity()) {
        processes.network = writer.add_process(activity->name);
    }
    processes.links = writer.add_process("links");
    if (!experiment.failures.empty()) {
        processes.failures = writer.add_process("failures");
    }
    return processes;
}

std::string facts(const Experiment& experiment, const std::string& fingerprint, std::size_t ranks,
                  const std::vector<std::string>& left_out) {
    std::vector<std::string> notes;
    for (const std::string& note : left_out) {
        notes.push_back(quoted_json(note));
    }
    return fmt::format(
        R"({{"version":{},"experiment":{},"fingerprint":"{}","ranks":{},"ranks_shown":{},"left_out":[{}]}})",
        quoted_json(ASTROLABE_VERSION), quoted_json(experiment.name), fingerprint, experiment.cluster.ranks,
        ranks, fmt::join(notes, ","));
}

/// The end of the file at its longest.
std::uint64_t most_bytes_of_end(const Experiment& experiment) {
    const std::vector<std::string> notes(kMostNotes, std::string(kLongestNote, 'x'));
    return TraceWriter::size_of_end(facts(experiment, std::string(16, 'f'), experiment.cluster.ranks, notes));
}

/// What is there in any trace, but for ranks.
std::uint64_t most_bytes_of_frame(const Experiment& experiment) {
    TraceWriter counting;
    add_processes(experiment, counting);
    const auto activity = experiment.fabric->family().activity();
    return counting.written() + (activity ? most_bytes_of_marks(*activity) : 0) +
           most_bytes_of_iterations(experiment) + most_bytes_of_collectives(experiment) +
           most_bytes_of_failures(experiment) + most_bytes_of_end(experiment);
}

/// As many as have room, at least one, evenly spaced.
std::vector<RankId> shown_ranks(const Experiment& experiment, const LinkTracks& links, std::uint64_t most) {
    const std::uint64_t frame = most_bytes_of_frame(experiment);
    const std::uint64_t room = std::max(share_of_ranks(most), frame) - frame;
    const std::size_t ranks = experiment.cluster.ranks;
    const std::size_t shown =
        std::clamp<std::size_t>(room / RankTracks::most_bytes(experiment, links), 1, ranks);
    std::vector<RankId> chosen;
    for (std::size_t i = 0; i < shown; ++i) {
        chosen.emplace_back(i * ranks / shown);
    }
    return chosen;
}

}  // namespace

class Timeline::Implementation {
public:
    Implementation(const Experiment& experiment, Bytes most, OutputFile file)
        : experiment_(experiment),
          most_(static_cast<std::uint64_t>(most.count())),
          end_(most_bytes_of_end(experiment)),
          links_(link_tracks(*experiment.fabric)),
          writer_(std::move(file)),
          activity_(experiment.fabric->family().activity()),
          processes_(add_processes(experiment, writer_)),
          shown_(shown_ranks(experiment, links_, most_)),
          ranks_(experiment, links_, shown_, writer_, processes_.links),
          counters_(experiment, links_) {}

    void begin(system::Executor& executor, const network::NetworkBackend& backend) {
        ASTROLABE_ASSERT(backend_ == nullptr, "a timeline is of one run");
        backend_ = &backend;
        executor.operation_issued.connect([this](OperationId operation, RankId rank, Time now) {
            counters_.look(*backend_);
            ranks_.issued(operation, rank, now);
        });
        executor.operation_finished.connect([this](OperationId operation, RankId rank, Time now) {
            counters_.look(*backend_);
            ranks_.finished(operation, rank, now);
        });
    }

    [[nodiscard]] network::LinkObserver& links() { return counters_.links(); }

    void message(const network::MessageRecord& record) {
        counters_.look(*backend_);
        ranks_.message(record);
    }

    [[nodiscard]] std::optional<Diagnostic> finish(const Run& run) {
        ASTROLABE_ASSERT(run.execution.finished, "a timeline is of a run that has ended");
        ranks_.drain(run.execution.total);
        if (shown_.size() < experiment_.cluster.ranks) {
            leave_out("{} of {} ranks", experiment_.cluster.ranks - shown_.size(), experiment_.cluster.ranks);
        }
        write_iterations(run, processes_.iterations, writer_);
        write_collectives(experiment_, run, processes_.run, writer_);
        if (activity_) {
            write_marks(*activity_, run.execution.total, *processes_.network, writer_);
        }
        if (processes_.failures) {
            const std::size_t more =
                write_failures(experiment_, run.execution.total, *processes_.failures, writer_);
            if (more > 0) {
                leave_out("the last {} failures", more);
            }
        }
        if (most_bytes_of_phases(experiment_, run) <= room() / 2) {
            write_phases(experiment_, run, processes_.run, writer_);
        } else {
            leave_out("phases of collectives");
        }
        if (most_bytes_of_critical_path(experiment_, run) <= room() / 2) {
            write_critical_path(experiment_, run, processes_.path, writer_);
        } else {
            leave_out("the critical path");
        }
        write_network(run);
        write_links(run);
        const std::uint64_t written = writer_.written() + end_;
        ASTROLABE_ASSERT(written <= most_, "a trace keeps to its size");
        std::optional<Diagnostic> error =
            writer_.finish(facts(experiment_, run.fingerprint, shown_.size(), left_out_));
        if (error) {
            left_out_.clear();
        }
        return error;
    }

    [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

private:
    [[nodiscard]] std::uint64_t room() const { return most_ - std::min(most_, writer_.written() + end_); }

    template <class... Arguments>
    void leave_out(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        left_out_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
    }

    void write_network(const Run& run) {
        if (!activity_) {
            return;
        }
        const ActivityCoverage coverage =
            write_activity(*activity_, run.execution.total, room() / 2, *processes_.network, writer_);
        if (coverage.shown < coverage.cycles) {
            leave_out("the last {} of {} cycles of the {}", coverage.cycles - coverage.shown, coverage.cycles,
                      activity_->name);
        }
    }

    void write_links(const Run& run) {
        if (run.link_reports == network::LinkReports::kDeliveries) {
            leave_out("what links carry over time, for on this engine they carry anything at any time");
            return;
        }
        counters_.end(run);
        const CounterCoverage coverage = counters_.write(writer_, processes_.links, room(), kMostLinks);
        if (coverage.shown < coverage.busy) {
            leave_out("{} of {} links that carried something, the least busy", coverage.busy - coverage.shown,
                      coverage.busy);
        }
        if (coverage.merged > 1) {
            leave_out("{} of {} intervals of links", coverage.merged - 1, coverage.merged);
        }
    }

    const Experiment& experiment_;
    std::uint64_t most_;
    std::uint64_t end_;  ///< that the end of the file takes at most
    LinkTracks links_;
    TraceWriter writer_;
    std::optional<network::Activity> activity_;
    Processes processes_;
    std::vector<RankId> shown_;
    RankTracks ranks_;
    LinkCounters counters_;
    const network::NetworkBackend* backend_ = nullptr;
    std::vector<std::string> left_out_;
};

Bytes Timeline::least_size(const Experiment& experiment) {
    return Bytes(
        static_cast<std::int64_t>(most_bytes_of_frame(experiment) +
                                  RankTracks::most_bytes(experiment, link_tracks(*experiment.fabric))));
}

Timeline::Timeline(const Experiment& experiment, Bytes most, OutputFile file)
    : implementation_(std::make_unique<Implementation>(experiment, most, std::move(file))) {}

Timeline::~Timeline() = default;

void Timeline::begin(system::Executor& executor, const network::NetworkBackend& backend) {
    implementation_->begin(executor, backend);
}

network::LinkObserver& Timeline::links() {
    return implementation_->links();
}

void Timeline::message(const network::MessageRecord& record) {
    implementation_->message(record);
}

std::optional<Diagnostic> Timeline::finish(const Run& run) {
    return implementation_->finish(run);
}

const std::vector<std::string>& Timeline::left_out() const {
    return implementation_->left_out();
}

}  // namespace astrolabe::experiment
