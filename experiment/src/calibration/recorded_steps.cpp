/// Analysis of recorded_steps.hpp.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/calibration/recorded_steps.hpp>

namespace astrolabe::experiment {
namespace {

using system::CollectiveKind;

struct PhaseName {
    std::string_view annotation;
    std::string_view readable;
};
/// By StepPhase.
constexpr std::array<PhaseName, kStepPhases> kPhaseNames{{{"## zero_grad ##", "zero_grad"},
                                                          {"## copy_batch_to_gpu ##", "next batch"},
                                                          {"## wait_for_batch ##", "wait for batch"},
                                                          {"## forward ##", "forward"},
                                                          {"## sparse_data_dist ##", "sparse data dist"},
                                                          {"## backward ##", "backward"},
                                                          {"## optimizer ##", "optimizer"}}};

Diagnostic trace_error(const std::string& file, std::string message, std::string hint) {
    return {"calibrate.trace",
            {std::make_shared<const SourceText>(SourceText{file, {}}), 0, 0},
            std::move(message),
            std::move(hint),
            {}};
}

bool is_nccl(std::string_view name) {
    return name.starts_with("nccl") || name.find("ncclKernel") != std::string_view::npos ||
           name.find("ncclDevKernel") != std::string_view::npos;
}

/// "ncclKernel_AllReduce_RING_LL_Sum_float(…)", "ncclDevKernel_SendRecv(…)".
struct NcclName {
    CollectiveKind kind;
    std::string protocol;
};

std::optional<NcclName> parse_nccl_name(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6> kKinds{
        {{"AllReduce", CollectiveKind::kAllReduce},
         {"ReduceScatter", CollectiveKind::kReduceScatter},
         {"AllGather", CollectiveKind::kAllGather},
         {"SendRecv", CollectiveKind::kAllToAll},
         {"Broadcast", CollectiveKind::kBroadcast},
         {"Reduce", CollectiveKind::kReduce}}};
    const std::size_t from = name.find("Kernel_");
    if (from == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view rest = name.substr(from + std::string_view("Kernel_").size());
    rest = rest.substr(0, rest.find('('));
    for (const auto& [word, kind] : kKinds) {
        if (!rest.starts_with(word)) {
            continue;
        }
        std::string protocol;
        for (const std::string_view part : {"RING_LL128", "RING_LL", "RING_SIMPLE", "TREE_LL128", "TREE_LL",
                                            "TREE_SIMPLE", "NVLS", "COLLNET"}) {
            if (protocol.empty() && rest.find(part) != std::string_view::npos) {
                protocol = part;
            }
        }
        return NcclName{kind, protocol};
    }
    return std::nullopt;
}

bool is_waiting(std::string_view call) {
    return call.find("Synchronize") != std::string_view::npos || call.starts_with("cudaMemcpy") ||
           call.starts_with("cuMemcpy");
}

bool is_launch(std::string_view call) {
    return call.starts_with("cudaLaunch") || call.starts_with("cuLaunch") ||
           call.starts_with("cudaGraphLaunch");
}

bool is_sort(std::string_view kernel) {
    return kernel.find("RadixSort") != std::string_view::npos;
}

bool is_scan(std::string_view kernel) {
    return kernel.find("DeviceScan") != std::string_view::npos ||
           kernel.find("DeviceCompactInit") != std::string_view::npos ||
           kernel.find("DeviceReduceByKey") != std::string_view::npos;
}

/// "adagrad" of "void split_embedding_backward_codegen_adagrad_unweighted_kernel_…"; empty for other kernels.
std::string updating_optimizer(std::string_view kernel) {
    constexpr std::string_view kMark = "split_embedding_backward_codegen_";
    const std::size_t at = kernel.find(kMark);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = kernel.substr(at + kMark.size());
    std::size_t end = rest.find("_unweighted");
    if (end == std::string_view::npos) {
        end = rest.find("_weighted");
    }
    return std::string(rest.substr(0, std::min(end, rest.find("_kernel"))));
}

class StepRecorder {
public:
    explicit StepRecorder(const KinetoTrace& trace)
        : trace_(trace) {
        for (std::size_t i = 0; i < trace.calls.size(); ++i) {
            calls_.emplace(trace.calls[i].correlation, i);
            const std::string& name = trace.name_of(trace.calls[i].name);
            waited_.push_back(waited_.back() + (is_waiting(name) ? trace.calls[i].duration : 0));
            launches_.push_back(launches_.back() + (is_launch(name) ? 1 : 0));
        }
    }

    Result<TraceRecord> record() {
        TraceRecord record{.file = trace_.file,
                           .fingerprint = trace_.fingerprint,
                           .device = trace_.device,
                           .rank = trace_.rank.value_or(0),
                           .steps = {}};
        if (!trace_.rank) {
            return trace_error(trace_.file, "the trace does not say which rank it is of",
                               "record it with torch.distributed initialised");
        }
        for (const HostInterval& interval : trace_.annotations) {
            const std::string& name = trace_.name_of(interval.name);
            if (!name.starts_with("ProfilerStep#")) {
                continue;
            }
            if (!record.steps.empty() &&
                interval.start < record.steps.back().start + record.steps.back().duration) {
                return trace_error(
                    trace_.file, fmt::format("'{}' begins before '{}' ends", name, record.steps.back().name),
                    "record one profiler at a time");
            }
            StepRecord step;
            step.rank = record.rank;
            step.name = name;
            step.start = interval.start;
            step.duration = interval.duration;
            record.steps.push_back(std::move(step));
        }
        if (record.steps.empty()) {
            return trace_error(trace_.file, "no step is in it: no annotation 'ProfilerStep#…'",
                               "call prof.step() after each iteration");
        }
        for (StepRecord& step : record.steps) {
            if (std::optional<Diagnostic> error = record_phases(step)) {
                return *error;
            }
        }
        if (std::optional<Diagnostic> error = record_kernels(record)) {
            return *error;
        }
        for (StepRecord& step : record.steps) {
            record_updates(step);
        }
        return record;
    }

private:
    /// Indices of `events` that start in an interval; they are sorted by start.
    template <class Event>
    static std::pair<std::size_t, std::size_t> within(const std::vector<Event>& events, Nanoseconds from,
                                                      Nanoseconds to) {
        const auto before = [](const Event& event, Nanoseconds time) { return event.start < time; };
        const auto first = std::lower_bound(events.begin(), events.end(), from, before);
        const auto end = std::lower_bound(first, events.end(), to, before);
        return {static_cast<std::size_t>(first - events.begin()),
                static_cast<std::size_t>(end - events.begin())};
    }

    /// Phases that overlap count a call more than once.
    [[nodiscard]] std::optional<Diagnostic> too_long(const StepRecord& step, const PhaseRecord& phase) const {
        if (phase.blocked <= kMostTraceTime && phase.collective_calls <= kMostTraceTime) {
            return std::nullopt;
        }
        return trace_error(
            trace_.file,
            fmt::format("calls in '{}' of '{}' take more than a day",
                        to_string(static_cast<StepPhase>(&phase - step.phases.data())), step.name),
            "its annotations overlap: record one pipeline at a time");
    }

    /// Calls record(interval, phase) for the annotations in a step that are of a phase, until one is too
    /// long.
    template <class Record>
    std::optional<Diagnostic> for_each_phase(StepRecord& step, const Record& record) const {
        const auto [first, end] = within(trace_.annotations, step.start, step.start + step.duration);
        for (std::size_t i = first; i < end; ++i) {
            const HostInterval& interval = trace_.annotations[i];
            const auto known =
                std::ranges::find(kPhaseNames, trace_.name_of(interval.name), &PhaseName::annotation);
            if (known == kPhaseNames.end()) {
                continue;
            }
            PhaseRecord& phase = step.phases[static_cast<std::size_t>(known - kPhaseNames.begin())];
            record(interval, phase);
            if (std::optional<Diagnostic> error = too_long(step, phase)) {
                return error;
            }
        }
        return std::nullopt;
    }

    std::optional<Diagnostic> record_phases(StepRecord& step) const {
        record_calls(step);
        return for_each_phase(step, [this](const HostInterval& interval, PhaseRecord& phase) {
            const auto [first, end] =
                within(trace_.calls, interval.start, interval.start + interval.duration);
            const Nanoseconds waited = waited_[end] - waited_[first];
            phase.is_there = true;
            phase.host += interval.duration - waited;
            phase.blocked += waited;
            phase.launches += launches_[end] - launches_[first];
        });
    }

    void record_calls(StepRecord& step) const {
        const auto [first, end] = within(trace_.calls, step.start, step.start + step.duration);
        std::vector<Nanoseconds> launches;
        std::vector<Nanoseconds> waits;
        std::vector<Nanoseconds> copies;
        std::vector<Nanoseconds> synchronisations;
        for (std::size_t i = first; i < end; ++i) {
            const std::string& name = trace_.name_of(trace_.calls[i].name);
            const Nanoseconds duration = trace_.calls[i].duration;
            if (is_launch(name)) {
                launches.push_back(duration);
            } else if (name == "cudaStreamWaitEvent") {
                waits.push_back(duration);
            } else if (is_waiting(name)) {
                (name.find("Memcpy") == std::string::npos ? synchronisations : copies).push_back(duration);
            }
        }
        step.launch = mean_of(launches);
        step.stream_wait = mean_of(waits);
        step.copy = median_of(copies);
        step.synchronise = median_of(synchronisations);
    }

    static Nanoseconds mean_of(const std::vector<Nanoseconds>& times) {
        const Nanoseconds sum = std::accumulate(times.begin(), times.end(), Nanoseconds{0});
        return times.empty() ? 0 : sum / static_cast<Nanoseconds>(times.size());
    }
    static Nanoseconds median_of(std::vector<Nanoseconds> times) {
        std::ranges::sort(times);
        return times.empty() ? 0 : times[times.size() / 2];
    }

    /// The step in which a host's instant lies.
    static StepRecord* step_at(std::vector<StepRecord>& steps, Nanoseconds time) {
        const auto after = std::ranges::upper_bound(steps, time, {}, &StepRecord::start);
        if (after == steps.begin() || time >= std::prev(after)->start + std::prev(after)->duration) {
            return nullptr;
        }
        return &*std::prev(after);
    }

    std::optional<Diagnostic> record_kernels(TraceRecord& record) {
        kernels_.assign(record.steps.size(), {});
        std::vector<std::vector<Issue>> issued(record.steps.size());
        for (const DeviceEvent& kernel : trace_.device_events) {
            if (!kernel.is_kernel) {
                continue;
            }
            const std::string& name = trace_.name_of(kernel.name);
            const auto call = calls_.find(kernel.correlation);
            if (call == calls_.end()) {
                ++record.kernels_of_step_before;
                record.compute_of_step_before += is_nccl(name) ? 0 : kernel.duration;
                continue;
            }
            StepRecord* step = step_at(record.steps, trace_.calls[call->second].start);
            if (step == nullptr) {
                continue;  // between steps
            }
            const auto place = static_cast<std::size_t>(step - record.steps.data());
            ++step->kernels;
            if (!is_nccl(name)) {
                step->compute += kernel.duration;
                kernels_[place].push_back(&kernel);
                if (name.find("split_embedding_codegen_forward") != std::string::npos) {
                    step->lookup_forward += kernel.duration;
                }
                continue;
            }
            const std::optional<NcclName> nccl = parse_nccl_name(name);
            if (!nccl) {
                return trace_error(trace_.file, fmt::format("a kernel '{}' of NCCL is not known", name),
                                   "known are AllReduce, ReduceScatter, AllGather, SendRecv, Broadcast and "
                                   "Reduce");
            }
            step->collectives.push_back(collective(kernel, *nccl, trace_.calls[call->second]));
            issued[place].push_back({trace_.calls[call->second].start, step->collectives.back().call});
        }
        for (std::size_t place = 0; place < record.steps.size(); ++place) {
            std::ranges::stable_sort(record.steps[place].collectives, {}, &CollectiveRecord::start);
            if (std::optional<Diagnostic> error =
                    count_collectives(record.steps[place], std::move(issued[place]))) {
                return error;
            }
        }
        return std::nullopt;
    }

    /// How long the host took to issue a collective, and when it began to launch it.
    struct Issue {
        Nanoseconds start;
        Nanoseconds call;
    };

    /// Counts the calls of collectives in the phases in which they were issued.
    std::optional<Diagnostic> count_collectives(StepRecord& step, std::vector<Issue> issued) const {
        std::ranges::sort(issued, {}, &Issue::start);
        // A call counts once for each of its kernels, of which there may be so many that no time holds the
        // sum.
        std::vector<detail::Int128> calls{0};  // of those before
        for (const Issue& issue : issued) {
            calls.push_back(calls.back() + issue.call);
        }
        return for_each_phase(step, [&](const HostInterval& interval, PhaseRecord& phase) {
            const auto [first, end] = within(issued, interval.start, interval.start + interval.duration);
            phase.collectives += end - first;
            phase.collective_calls += static_cast<Nanoseconds>(
                std::min<detail::Int128>(calls[end] - calls[first], kMostTraceTime + 1));
        });
    }

    /// The innermost interval of a thread that holds an instant.
    static const HostInterval* around(const std::vector<HostInterval>& intervals, const HostCall& call,
                                      const KinetoTrace& trace, std::string_view prefix) {
        const HostInterval* inner = nullptr;
        auto end = std::upper_bound(
            intervals.begin(), intervals.end(), call.start,
            [](Nanoseconds time, const HostInterval& interval) { return time < interval.start; });
        // Calls of collectives are short: the innermost is among those that began last.
        for (std::size_t back = 0; end != intervals.begin() && back < 64 && inner == nullptr; ++back) {
            --end;
            if (end->thread == call.thread && call.start < end->start + end->duration &&
                trace.name_of(end->name).starts_with(prefix)) {
                inner = &*end;
            }
        }
        return inner;
    }

    CollectiveRecord collective(const DeviceEvent& kernel, const NcclName& nccl,
                                const HostCall& launch) const {
        CollectiveRecord record{.kind = nccl.kind,
                                .protocol = nccl.protocol,
                                .sent = kernel.sent,
                                .received = kernel.received,
                                .start = kernel.start,
                                .end = kernel.start + kernel.duration};
        if (const HostInterval* call = around(trace_.collectives, launch, trace_, "c10d::")) {
            record.call = call->duration;
            if (!record.sent && call->tensors.size() == 2) {  // received, sent
                record.received = call->tensors[0];
                record.sent = call->tensors[1];
            }
        }
        if (!record.sent) {
            if (const HostInterval* named = around(trace_.annotations, launch, trace_, "nccl:")) {
                if (!named->tensors.empty()) {
                    record.sent = named->tensors.front();
                    record.received = named->tensors.front();
                }
            }
        }
        return record;
    }

    /// From the kernel that linearises indices to the last of the update, sorts and scans between them
    /// included.
    void record_updates(StepRecord& step) {
        TableUpdateRecord open;
        TableUpdateRecord pending;  // behind the last kernel that is certainly of the update
        const auto close = [&] {
            if (!open.optimizer.empty()) {
                step.updates.push_back(open);
            }
            open = {};
            pending = {};
        };
        for (const DeviceEvent* kernel : kernels_[step_index_]) {
            const std::string& name = trace_.name_of(kernel->name);
            const bool begins = name.find("linearize_index") != std::string::npos;
            const std::string optimizer = updating_optimizer(name);
            if (begins) {
                close();
            }
            if (begins || !optimizer.empty() || is_sort(name) || is_scan(name)) {
                pending.time += kernel->duration;
                pending.sort += is_sort(name) ? kernel->duration : 0;
            }
            if (!optimizer.empty()) {
                open.optimizer = optimizer;
                open.time += std::exchange(pending.time, 0);
                open.sort += std::exchange(pending.sort, 0);
            }
        }
        close();
        ++step_index_;
    }

    const KinetoTrace& trace_;
    std::unordered_map<std::int64_t, std::size_t> calls_;
    std::vector<Nanoseconds> waited_{0};                    // for the device, in the calls before
    std::vector<std::size_t> launches_{0};                  // likewise
    std::vector<std::vector<const DeviceEvent*>> kernels_;  // of each step, that compute
    std::size_t step_index_ = 0;
};

}  // namespace

std::string_view to_string(StepPhase phase) {
    return kPhaseNames[static_cast<std::size_t>(phase)].readable;
}

Nanoseconds StepRecord::host() const {
    Nanoseconds sum = 0;
    for (const PhaseRecord& one : phases) {
        sum += one.host;
    }
    return sum;
}

Result<TraceRecord> record_steps(const KinetoTrace& trace) {
    return StepRecorder(trace).record();
}

Result<std::vector<RecordedCollective>> match_collectives(const std::vector<TraceRecord>& ranks) {
    ASTROLABE_ASSERT(!ranks.empty(), "there is a trace");
    std::set<std::size_t> seen;
    for (const TraceRecord& record : ranks) {
        if (!seen.insert(record.rank).second) {
            return trace_error(record.file, fmt::format("rank {} is there twice", record.rank),
                               "give one trace of each rank");
        }
        if (record.steps.size() != ranks.front().steps.size()) {
            return trace_error(record.file,
                               fmt::format("it has {} steps, and '{}' has {}", record.steps.size(),
                                           ranks.front().file, ranks.front().steps.size()),
                               "give traces of one run");
        }
    }
    std::vector<RecordedCollective> collectives;
    for (std::size_t step = 0; step < ranks.front().steps.size(); ++step) {
        Nanoseconds origin = std::numeric_limits<Nanoseconds>::max();
        for (const TraceRecord& record : ranks) {
            origin = std::min(origin, record.steps[step].start);
        }
        const std::vector<CollectiveRecord>& first = ranks.front().steps[step].collectives;
        for (std::size_t order = 0; order < first.size(); ++order) {
            RecordedCollective matched{
                .kind = first[order].kind, .protocol = first[order].protocol, .step = step, .order = order};
            Nanoseconds first_start = std::numeric_limits<Nanoseconds>::max();
            Nanoseconds last_start = std::numeric_limits<Nanoseconds>::min();
            Nanoseconds first_end = std::numeric_limits<Nanoseconds>::max();
            Nanoseconds last_end = std::numeric_limits<Nanoseconds>::min();
            for (const TraceRecord& record : ranks) {
                const std::vector<CollectiveRecord>& own = record.steps[step].collectives;
                if (own.size() != first.size() || own[order].kind != first[order].kind) {
                    return trace_error(
                        record.file,
                        fmt::format("collective {} of '{}' is {}, and in '{}' {}", order + 1,
                                    record.steps[step].name,
                                    order < own.size() ? system::to_string(own[order].kind) : "missing",
                                    ranks.front().file, system::to_string(first[order].kind)),
                        "give traces of one run, of ranks that issue the same collectives");
                }
                const CollectiveRecord& one = own[order];
                first_start = std::min(first_start, one.start);
                last_start = std::max(last_start, one.start);
                first_end = std::min(first_end, one.end);
                last_end = std::max(last_end, one.end);
                if (one.sent) {
                    matched.sent = std::max(matched.sent.value_or(Bytes(0)), *one.sent);
                }
                if (one.received) {
                    matched.received = std::max(matched.received.value_or(Bytes(0)), *one.received);
                    matched.least_received =
                        std::min(matched.least_received.value_or(*one.received), *one.received);
                }
            }
            matched.first_start = first_start - origin;
            matched.last_start = last_start - origin;
            matched.least_pure = first_end - last_start;
            matched.most_pure = last_end - last_start;
            matched.waits_for_stragglers = last_start - first_start > kStragglers;
            matched.clocks_disagree = last_end - first_end > kClockAgreement || matched.least_pure < 0;
            collectives.push_back(std::move(matched));
        }
    }
    return collectives;
}

}  // namespace astrolabe::experiment
