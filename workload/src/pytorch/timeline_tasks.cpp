#include "timeline_tasks.hpp"

#include "../rank_graphs/trace_file.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::workload::pytorch {
namespace {

/// A thread that calls nothing for so long has nothing to do.
constexpr Nanoseconds kIdle = 1'000'000;
/// A thread may still clean up when the one that waited for it has gone on.
constexpr Nanoseconds kTail = 100'000;

/// "at::native::reduce_kernel" of "void at::native::reduce_kernel<512, …>(…)".
std::string short_name(std::string_view kernel) {
    constexpr std::string_view kVoid = "void ";
    if (kernel.starts_with(kVoid)) {
        kernel.remove_prefix(kVoid.size());
    }
    constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    std::string name;
    while (!kernel.empty()) {
        if (kernel.starts_with(kAnonymous)) {
            kernel.remove_prefix(kAnonymous.size());
            continue;
        }
        if ((kernel.front() == '<' || kernel.front() == '(') && !name.empty()) {
            break;
        }
        name += kernel.front();
        kernel.remove_prefix(1);
    }
    return name;
}

/// Host events of one thread as a forest of calls.
struct ThreadCalls {
    std::vector<HostEvent> calls;                                // cpu_op and marks, by start
    std::vector<std::int32_t> outer;                             // by call: the one around it, or -1
    std::vector<HostEvent> comms;                                // record_param_comms, by start
    std::vector<std::pair<Nanoseconds, Nanoseconds>> busy;       // all calls, those of CUDA too; merged later
    std::vector<Nanoseconds> boundaries;                         // starts and ends of all, ascending
    std::vector<std::pair<Nanoseconds, std::int64_t>> launches;  // (start, stream), not of collectives

    void find_outer() {
        std::vector<std::int32_t> open;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            while (!open.empty() && calls[static_cast<std::size_t>(open.back())].end <= calls[i].start) {
                open.pop_back();
            }
            outer.push_back(open.empty() ? -1 : open.back());
            open.push_back(static_cast<std::int32_t>(i));
        }
    }
    /// The innermost call around a time; null: none.
    [[nodiscard]] const HostEvent* innermost(Nanoseconds time) const {
        const auto after =
            std::upper_bound(calls.begin(), calls.end(), time,
                             [](Nanoseconds value, const HostEvent& event) { return value < event.start; });
        auto at = static_cast<std::int32_t>(after - calls.begin()) - 1;
        while (at >= 0 && calls[static_cast<std::size_t>(at)].end < time) {
            at = outer[static_cast<std::size_t>(at)];
        }
        return at < 0 ? nullptr : &calls[static_cast<std::size_t>(at)];
    }
    /// The place in `comms` of the record_param_comms around a time; -1: none.
    [[nodiscard]] std::int32_t comm_around(Nanoseconds time) const {
        const auto after =
            std::upper_bound(comms.begin(), comms.end(), time,
                             [](Nanoseconds value, const HostEvent& event) { return value < event.start; });
        const auto at = static_cast<std::int32_t>(after - comms.begin()) - 1;
        return at >= 0 && comms[static_cast<std::size_t>(at)].end >= time ? at : -1;
    }
    /// Whether a record_param_comms that is no wait lies around a time.
    [[nodiscard]] bool issues_at(Nanoseconds time, const KinetoTimeline& timeline) const {
        const std::int32_t at = comm_around(time);
        return at >= 0 && !is_wait(comms[static_cast<std::size_t>(at)], timeline);
    }
    [[nodiscard]] static bool is_wait(const HostEvent& comm, const KinetoTimeline& timeline) {
        return comm.call >= 0 && timeline.calls[static_cast<std::size_t>(comm.call)].is_wait();
    }
};

enum class ItemKind : std::uint8_t {
    kBurstBegin,
    kLaunch,
    kSynchronise,
    kStreamWait,
    kCall,  // a call of c10d without a kernel
    kWait,  // one of c10d
    kResume,
    kBurstEnd
};

struct Item {
    ItemKind kind = ItemKind::kLaunch;
    std::int64_t thread = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::size_t event = 0;        // of a launch, synchronisation or stream wait: into KinetoTimeline::runtime
    std::int32_t call = -1;       // of a call or wait: into KinetoTimeline::calls
    bool is_handed_over = false;  // of a burst
};

class TimelineWriter {
public:
    TimelineWriter(const KinetoTimeline& timeline, const GroupNames& names, bool is_lenient, CallBook& book,
                   RankGraphs& graphs, Diagnostics& errors)
        : timeline_(timeline),
          names_(names),
          is_lenient_(is_lenient),
          book_(book),
          graphs_(graphs),
          errors_(errors) {
        made_.graph.source = timeline.file;
    }

    TimelineTasks write(const std::vector<TimelineStep>& steps) {
        prepare();
        for (std::size_t i = 0; i < steps.size() && errors_.empty(); ++i) {
            iteration_ = static_cast<std::int32_t>(i);
            write_step(steps[i]);
        }
        add_notes();
        return std::move(made_);
    }

private:
    struct Thread {
        Nanoseconds cursor = 0;  // until when its time is accounted for
        std::optional<std::uint32_t> last;
        std::vector<std::uint32_t> pending;  // what its next task waits for
        std::optional<std::int64_t> stream;  // of its last launch
        std::uint16_t place = 0;             // in RankGraphs::streams
    };
    struct Issued {
        std::uint32_t task = 0;
        std::int32_t call = -1;
        std::int64_t thread = 0;
        bool is_waited = false;
    };
    struct StreamTask {
        Nanoseconds launched = 0;
        std::uint32_t task = 0;
    };

    // What the whole trace says.

    void prepare() {
        for (std::size_t i = 0; i < timeline_.device.size(); ++i) {
            by_correlation_[timeline_.device[i].correlation].push_back(i);
        }
        for (const HostEvent& event : timeline_.host) {
            ThreadCalls& thread = threads_[event.thread];
            thread.calls.push_back(event);
            if (timeline_.names[event.name] == kCommEvent) {
                thread.comms.push_back(event);
            }
            add_times(thread, event);
        }
        for (const HostEvent& event : timeline_.runtime) {
            ThreadCalls& thread = threads_[event.thread];
            add_times(thread, event);
            runtime_start_.try_emplace(event.correlation, event.start);
            const auto devices = by_correlation_.find(event.correlation);
            if (devices != by_correlation_.end()) {
                for (const std::size_t device : devices->second) {
                    is_launched_.insert(device);
                    if (!timeline_.device[device].is_collective) {
                        thread.launches.emplace_back(event.start, timeline_.device[device].stream);
                    }
                }
            }
        }
        for (auto& [number, thread] : threads_) {
            thread.find_outer();
            std::sort(thread.boundaries.begin(), thread.boundaries.end());
            std::sort(thread.busy.begin(), thread.busy.end());
        }
        for (const ResolvedSync& sync : timeline_.syncs) {
            syncs_.emplace(sync.correlation, sync);
        }
        choose_main_thread();
        name_streams();
        find_waited_calls();
    }

    static void add_times(ThreadCalls& thread, const HostEvent& event) {
        thread.busy.emplace_back(event.start, event.end);
        thread.boundaries.push_back(event.start);
        thread.boundaries.push_back(event.end);
    }

    void choose_main_thread() {
        std::size_t most = 0;
        bool has_marks = false;
        for (const auto& [number, thread] : threads_) {
            const bool marks = std::any_of(thread.calls.begin(), thread.calls.end(), [&](const auto& call) {
                return timeline_.names[call.name].starts_with(kStepMark);
            });
            if ((marks && !has_marks) || (marks == has_marks && thread.calls.size() > most)) {
                main_ = number;
                most = thread.calls.size();
                has_marks = has_marks || marks;
            }
        }
    }

    std::uint16_t place_of_stream(const std::string& name) {
        const auto found = std::find_if(graphs_.streams.begin(), graphs_.streams.end(),
                                        [&](const StreamName& stream) { return stream.name == name; });
        const auto place = static_cast<std::uint16_t>(found - graphs_.streams.begin());
        if (found == graphs_.streams.end()) {
            graphs_.streams.push_back({name, true});
        }
        return place;
    }

    void name_streams() {
        std::map<std::int64_t, std::size_t> kernels;
        for (const DeviceEvent& event : timeline_.device) {
            kernels[event.stream] += event.is_collective ? 0 : 1;
        }
        const auto most =
            std::max_element(kernels.begin(), kernels.end(),
                             [](const auto& one, const auto& other) { return one.second < other.second; });
        compute_ = most == kernels.end() ? 0 : most->first;
        Thread& main = state_[main_];
        main.place = place_of_stream("host");
        std::size_t number = 1;
        for (const auto& [thread, calls] : threads_) {
            if (thread != main_) {
                state_[thread].place = place_of_stream(fmt::format("host {}", ++number));
            }
        }
        for (const auto& [stream, count] : kernels) {
            if (count > 0) {
                stream_places_[stream] =
                    stream == compute_ ? std::uint16_t{0} : place_of_stream(fmt::format("stream {}", stream));
            }
        }
    }

    /// Which calls some wait of c10d is for, and which call each wait is for.
    void find_waited_calls() {
        struct Comm {
            Nanoseconds start;
            std::int32_t call;
            std::int64_t thread;
        };
        std::vector<Comm> comms;
        for (const auto& [number, thread] : threads_) {
            for (const HostEvent& event : thread.comms) {
                if (event.call >= 0) {
                    comms.push_back({event.start, event.call, number});
                }
            }
        }
        std::stable_sort(comms.begin(), comms.end(),
                         [](const Comm& one, const Comm& other) { return one.start < other.start; });
        std::vector<Comm> open;
        for (const Comm& comm : comms) {
            const CommCall& call = timeline_.calls[static_cast<std::size_t>(comm.call)];
            if (!call.is_wait()) {
                open.push_back(comm);
                continue;
            }
            // The latest of its number; without numbers the first of its thread.
            auto found = open.end();
            for (auto at = open.begin(); at != open.end(); ++at) {
                const CommCall& other = timeline_.calls[static_cast<std::size_t>(at->call)];
                if (call.sequence && other.sequence) {
                    found = *call.sequence == *other.sequence ? at : found;
                } else if (at->thread == comm.thread) {
                    found = at;
                    break;
                }
            }
            if (found == open.end()) {
                ++waits_before_;
                continue;
            }
            waited_[comm.call] = found->call;
            has_wait_.insert(found->call);
            open.erase(found);
        }
    }

    // A step.

    void write_step(const TimelineStep& step) {
        std::vector<Item> items;
        for (std::size_t i = 0; i < timeline_.runtime.size(); ++i) {
            const HostEvent& event = timeline_.runtime[i];
            if (event.start < step.start || event.start >= step.end) {
                continue;
            }
            const std::string& name = timeline_.names[event.name];
            const bool launches = by_correlation_.contains(event.correlation);
            const bool waits = name.find("Synchronize") != std::string::npos;
            const bool stream_waits = name.find("StreamWaitEvent") != std::string::npos;
            if (launches || waits || stream_waits) {
                items.push_back({launches ? ItemKind::kLaunch
                                 : waits  ? ItemKind::kSynchronise
                                          : ItemKind::kStreamWait,
                                 event.thread, event.start, event.end, i, -1, false});
            }
        }
        add_calls_without_kernels(step, items);
        add_bursts(step, items);
        std::stable_sort(items.begin(), items.end(), [](const Item& one, const Item& other) {
            return std::pair(one.start, one.kind) < std::pair(other.start, other.kind);
        });
        Thread& main = state_[main_];
        main.cursor = step.start;
        for (const Item& item : items) {
            write_item(item);
        }
        busy_until(main_, step.end, "step.end");
    }

    void add_calls_without_kernels(const TimelineStep& step, std::vector<Item>& items) {
        std::map<std::int64_t, std::set<std::int32_t>> with_kernel;  // by thread: places in comms
        for (const Item& item : items) {
            if (item.kind != ItemKind::kLaunch) {
                continue;
            }
            const std::vector<std::size_t>& devices =
                by_correlation_.at(timeline_.runtime[item.event].correlation);
            const bool is_collective = std::any_of(devices.begin(), devices.end(), [&](std::size_t device) {
                return timeline_.device[device].is_collective;
            });
            if (is_collective) {
                with_kernel[item.thread].insert(threads_.at(item.thread).comm_around(item.start));
            }
        }
        for (const auto& [number, thread] : threads_) {
            for (std::size_t i = 0; i < thread.comms.size(); ++i) {
                const HostEvent& event = thread.comms[i];
                if (event.start < step.start || event.start >= step.end || event.call < 0) {
                    continue;
                }
                if (ThreadCalls::is_wait(event, timeline_)) {
                    items.push_back({ItemKind::kWait, number, event.start, event.end, 0, event.call, false});
                } else if (!with_kernel[number].contains(static_cast<std::int32_t>(i))) {
                    items.push_back({ItemKind::kCall, number, event.end, event.end, 0, event.call, false});
                }
            }
        }
    }

    void add_bursts(const TimelineStep& step, std::vector<Item>& items) {
        const ThreadCalls* main = threads_.contains(main_) ? &threads_.at(main_) : nullptr;
        for (const auto& [number, thread] : threads_) {
            if (number == main_) {
                continue;
            }
            std::vector<std::pair<Nanoseconds, Nanoseconds>> bursts;
            for (const auto& [start, end] : thread.busy) {
                if (start < step.start || start >= step.end) {
                    continue;
                }
                if (bursts.empty() || start - bursts.back().second >= kIdle) {
                    bursts.emplace_back(start, end);
                } else {
                    bursts.back().second = std::max(bursts.back().second, end);
                }
            }
            for (const auto& [start, end] : bursts) {
                Nanoseconds stretch_end = step.end;
                if (main != nullptr) {
                    const auto next =
                        std::upper_bound(main->boundaries.begin(), main->boundaries.end(), start);
                    stretch_end = next == main->boundaries.end() ? step.end : std::min(*next, step.end);
                }
                const bool is_inside = stretch_end >= end - std::min(kTail, (end - start) / 10);
                items.push_back({ItemKind::kBurstBegin, number, start, end, 0, -1, is_inside});
                if (is_inside) {
                    const Nanoseconds resumed = std::min(end, stretch_end);
                    items.push_back({ItemKind::kResume, number, resumed, resumed, 0, -1, true});
                }
                items.push_back({ItemKind::kBurstEnd, number, end, end, 0, -1, is_inside});
            }
        }
    }

    void write_item(const Item& item) {
        switch (item.kind) {
            case ItemKind::kBurstBegin:
                begin_burst(item);
                break;
            case ItemKind::kLaunch:
                write_launch(item);
                break;
            case ItemKind::kSynchronise:
                write_synchronisation(item);
                break;
            case ItemKind::kStreamWait:
                write_stream_wait(item);
                break;
            case ItemKind::kCall:
                issue(item.thread, item.call, busy_until(item.thread, item.end, "c10d"), nullptr, item.end);
                break;
            case ItemKind::kWait:
                write_wait(item);
                break;
            case ItemKind::kResume: {
                const std::uint32_t last = busy_until(item.thread, item.start, "host");
                Thread& main = state_[main_];
                main.pending.push_back(last);
                main.cursor = std::max(main.cursor, item.start);
                break;
            }
            case ItemKind::kBurstEnd:
                busy_until(item.thread, item.end, "host");
                break;
        }
    }

    // Tasks.

    std::uint32_t add(RankTask task, const std::vector<std::uint32_t>& dependencies,
                      Nanoseconds recorded_end) {
        task.iteration = iteration_;
        task.id = made_.graph.tasks.size();
        std::vector<std::uint32_t> unique = dependencies;
        std::sort(unique.begin(), unique.end());
        unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
        made_.graph.add(task, unique);
        ends_.push_back(recorded_end);
        return static_cast<std::uint32_t>(made_.graph.tasks.size() - 1);
    }

    std::uint32_t add_computation(std::uint16_t stream, const std::string& name, Nanoseconds duration,
                                  const std::vector<std::uint32_t>& dependencies, Nanoseconds recorded_end) {
        RankTask task;
        task.stream = stream;
        task.name = graphs_.name(name);
        constexpr std::int64_t kPicoseconds = 1000;
        task.duration = Time(std::max<Nanoseconds>(duration, 0) * kPicoseconds);
        return add(task, dependencies, recorded_end);
    }

    /// The thread computes until then; its last task, which is the one before where no time passed.
    std::uint32_t busy_until(std::int64_t number, Nanoseconds until, const std::string& fallback) {
        Thread& thread = state_[number];
        const Nanoseconds duration = until - thread.cursor;
        if (duration <= 0 && thread.pending.empty() && thread.last) {
            return *thread.last;
        }
        const auto calls = threads_.find(number);
        const HostEvent* call = calls == threads_.end() ? nullptr : calls->second.innermost(until);
        const std::string& name = call == nullptr ? fallback : timeline_.names[call->name];
        thread.last = add_computation(thread.place, name, duration, std::exchange(thread.pending, {}), until);
        thread.cursor = std::max(thread.cursor, until);
        return *thread.last;
    }

    void begin_burst(const Item& item) {
        Thread& thread = state_[item.thread];
        thread.cursor = item.start;
        if (item.is_handed_over) {
            thread.pending.push_back(busy_until(main_, item.start, "host"));
        } else if (state_[main_].last) {
            thread.pending.push_back(*state_[main_].last);
        }
    }

    /// What the next task of a stream waits for beside its launch, in `dependencies`.
    void wait_for_stream(std::int64_t stream, std::vector<std::uint32_t>& dependencies) {
        if (const auto last = stream_last_.find(stream); last != stream_last_.end()) {
            dependencies.push_back(last->second);
        }
        if (const auto pending = pending_on_stream_.find(stream); pending != pending_on_stream_.end()) {
            dependencies.insert(dependencies.end(), pending->second.begin(), pending->second.end());
        }
    }

    void follow_on_stream(std::int64_t stream, std::uint32_t task, Nanoseconds launched) {
        stream_last_[stream] = task;
        pending_on_stream_.erase(stream);
        history_[stream].push_back({launched, task});
    }

    void write_launch(const Item& item) {
        const HostEvent& event = timeline_.runtime[item.event];
        for (const std::size_t place : by_correlation_.at(event.correlation)) {
            const DeviceEvent& device = timeline_.device[place];
            if (device.is_collective) {
                launch_collective(item, device);
                continue;
            }
            std::vector<std::uint32_t> dependencies;
            wait_for_stream(device.stream, dependencies);
            const bool blocks =
                timeline_.names[event.name].find("Memcpy") != std::string::npos && device.end <= item.end;
            Nanoseconds launched = item.end;
            if (blocks) {
                Nanoseconds ready = 0;
                for (const std::uint32_t dependency : dependencies) {
                    ready = std::max(ready, ends_[dependency]);
                }
                launched = ready <= item.start ? std::max(device.start, item.start) : item.start;
            }
            dependencies.push_back(busy_until(item.thread, launched, timeline_.names[event.name]));
            const std::uint32_t task =
                add_computation(stream_places_.at(device.stream), short_name(timeline_.names[device.name]),
                                device.end - device.start, dependencies, device.end);
            follow_on_stream(device.stream, task, item.start);
            state_[item.thread].stream = device.stream;
            if (blocks) {
                wait_on_host(item, {task});
            }
        }
    }

    /// The host waits for tasks, then needs what is left of the call.
    void wait_on_host(const Item& item, std::vector<std::uint32_t> awaited) {
        Thread& thread = state_[item.thread];
        Nanoseconds from = item.start;
        for (const std::uint32_t task : awaited) {
            from = std::max(from, ends_[task]);
        }
        awaited.insert(awaited.end(), thread.pending.begin(), thread.pending.end());
        thread.pending.clear();
        thread.last =
            add_computation(thread.place, timeline_.names[timeline_.runtime[item.event].name] + ".wait",
                            item.end - from, awaited, item.end);
        thread.cursor = std::max(thread.cursor, item.end);
    }

    void write_synchronisation(const Item& item) {
        busy_until(item.thread, item.start, "host");
        wait_on_host(item, awaited_by(item));
    }

    [[nodiscard]] std::vector<std::uint32_t> awaited_by(const Item& item) {
        const HostEvent& event = timeline_.runtime[item.event];
        const std::string& name = timeline_.names[event.name];
        const auto resolved = syncs_.find(event.correlation);
        std::vector<std::uint32_t> awaited;
        if (name.find("Stream") != std::string::npos) {
            const Thread& thread = state_[item.thread];
            const std::int64_t stream = resolved != syncs_.end() && resolved->second.stream >= 0
                                            ? resolved->second.stream
                                            : thread.stream.value_or(compute_);
            wait_for_stream(stream, awaited);
        } else if (name.find("Event") != std::string::npos) {
            if (resolved != syncs_.end()) {
                if (const auto task = recorded_event(resolved->second)) {
                    awaited.push_back(*task);
                }
            } else if (const auto task = last_ended(item.end)) {
                awaited.push_back(*task);
            }
        } else {
            for (const auto& [stream, last] : stream_last_) {
                awaited.push_back(last);
            }
        }
        return awaited;
    }

    /// What a stream had been given when the event was recorded.
    [[nodiscard]] std::optional<std::uint32_t> recorded_event(const ResolvedSync& sync) const {
        const auto time = runtime_start_.find(sync.record_correlation);
        const auto history = history_.find(sync.awaited_stream);
        if (time == runtime_start_.end() || history == history_.end()) {
            return std::nullopt;
        }
        const auto after =
            std::upper_bound(history->second.begin(), history->second.end(), time->second,
                             [](Nanoseconds value, const StreamTask& task) { return value < task.launched; });
        return after == history->second.begin() ? std::nullopt : std::optional(std::prev(after)->task);
    }

    /// Of what had ended by then the last.
    [[nodiscard]] std::optional<std::uint32_t> last_ended(Nanoseconds time) const {
        std::optional<std::uint32_t> found;
        for (const auto& [stream, tasks] : history_) {
            const auto last = std::find_if(tasks.rbegin(), tasks.rend(),
                                           [&](const StreamTask& task) { return ends_[task.task] <= time; });
            if (last != tasks.rend() && (!found || ends_[last->task] > ends_[*found])) {
                found = last->task;
            }
        }
        return found;
    }

    // Collectives.

    void launch_collective(const Item& item, const DeviceEvent& device) {
        const ThreadCalls& thread = threads_.at(item.thread);
        const std::int32_t comm = thread.comm_around(item.start);
        std::int32_t call = comm < 0 ? -1 : thread.comms[static_cast<std::size_t>(comm)].call;
        if (call >= 0 && !issued_calls_.insert(call).second) {
            ++further_kernels_;
            return;
        }
        call = call < 0 ? device.call : call;
        const std::uint32_t host = busy_until(item.thread, item.end, "c10d");
        if (call < 0) {
            if (is_lenient_ || !errors_.empty()) {
                ++unknown_collectives_;
                return;
            }
            errors_.push_back(trace_error(
                "pytorch.size", timeline_.file,
                fmt::format("nothing says how many bytes kernel '{}' of correlation {} moves",
                            short_name(timeline_.names[device.name]), device.correlation),
                "give the execution traces too, or traces of PyTorch 2.4 or later; lenient: true leaves such "
                "kernels out"));
            return;
        }
        issue(item.thread, call, host, &device, item.start);
    }

    /// `device` may be null: the call has no kernel.
    void issue(std::int64_t number, std::int32_t call, std::uint32_t host, const DeviceEvent* device,
               Nanoseconds launched) {
        const CommCall& made = timeline_.calls[static_cast<std::size_t>(call)];
        const std::optional<RankTask> task = book_.task_of(made, names_, made_.graph, errors_);
        if (!task) {
            return;
        }
        // A call without a kernel follows others of its group, on a stream of its own.
        const std::int64_t stream = device == nullptr ? -1 - std::int64_t{task->group} : device->stream;
        const Thread& thread = state_[number];
        std::vector<std::uint32_t> dependencies{host};
        wait_for_stream(stream, dependencies);
        wait_for_stream(thread.stream.value_or(compute_), dependencies);
        const std::uint32_t place = add(*task, dependencies, device == nullptr ? launched : device->end);
        book_.placed(made, graphs_.ranks.size(), names_.rank, place);
        follow_on_stream(stream, place, launched);
        issued_.push_back({place, call, number, false});
    }

    /// The stream that a wait of the thread is of.
    [[nodiscard]] std::int64_t waiting_stream(std::int64_t number, Nanoseconds time) {
        const ThreadCalls& thread = threads_.at(number);
        const auto next =
            std::upper_bound(thread.launches.begin(), thread.launches.end(), time,
                             [](Nanoseconds value, const auto& launch) { return value < launch.first; });
        if (next != thread.launches.end() && next->first - time < kIdle) {
            return next->second;
        }
        return state_[number].stream.value_or(compute_);
    }

    void write_wait(const Item& item) {
        const auto target = waited_.find(item.call);
        if (target == waited_.end()) {
            return;
        }
        for (Issued& issued : issued_) {
            if (issued.call == target->second) {
                issued.is_waited = true;
                pending_on_stream_[waiting_stream(item.thread, item.start)].push_back(issued.task);
            }
        }
    }

    void write_stream_wait(const Item& item) {
        const auto resolved = syncs_.find(timeline_.runtime[item.event].correlation);
        if (resolved != syncs_.end() && resolved->second.stream >= 0 &&
            resolved->second.record_correlation >= 0) {
            if (const auto task = recorded_event(resolved->second)) {
                pending_on_stream_[resolved->second.stream].push_back(*task);
            }
            return;
        }
        const std::int32_t comm = threads_.at(item.thread).comm_around(item.start);
        if (comm >= 0) {
            return;  // what c10d asks for is known
        }
        const std::int64_t stream = waiting_stream(item.thread, item.start);
        for (Issued& issued : issued_) {
            if (issued.thread == item.thread && !issued.is_waited && !has_wait_.contains(issued.call) &&
                !began_before(stream, item.start, ends_[issued.task])) {
                issued.is_waited = true;
                pending_on_stream_[stream].push_back(issued.task);
                return;
            }
        }
        ++unknown_waits_;
    }

    /// Whether what a stream was given next after `time` had begun before `end`.
    [[nodiscard]] bool began_before(std::int64_t stream, Nanoseconds time, Nanoseconds end) const {
        for (const DeviceEvent& device : timeline_.device) {
            if (device.stream == stream && device.start >= time) {
                const auto launched = runtime_start_.find(device.correlation);
                if (launched != runtime_start_.end() && launched->second >= time) {
                    return device.start < end;
                }
            }
        }
        return false;
    }

    void add_notes() {
        const auto note = [&](std::size_t count, const char* text) {
            if (count > 0) {
                made_.notes.push_back(fmt::format("{} {}", count, text));
            }
        };
        note(waits_before_, "waits are for requests from before the trace");
        note(unknown_waits_, "waits of streams for events that the profiler does not name are left out");
        note(unknown_collectives_, "kernels of NCCL whose bytes nothing says are left out");
        note(further_kernels_, "further kernels of calls that have one already are left out");
        note(timeline_.device.size() - is_launched_.size(),
             "kernels and copies were launched before the trace and are left out");
        const auto open = static_cast<std::size_t>(std::count_if(
            issued_.begin(), issued_.end(), [](const Issued& issued) { return !issued.is_waited; }));
        note(open, "calls are waited for by nothing in the trace");
    }

    const KinetoTimeline& timeline_;
    const GroupNames& names_;
    bool is_lenient_;
    CallBook& book_;
    RankGraphs& graphs_;
    Diagnostics& errors_;
    TimelineTasks made_;
    std::int32_t iteration_ = 0;

    std::map<std::int64_t, ThreadCalls> threads_;
    std::unordered_map<std::int64_t, std::vector<std::size_t>> by_correlation_;  // device events
    std::unordered_map<std::int64_t, Nanoseconds> runtime_start_;                // by correlation
    std::unordered_map<std::int64_t, ResolvedSync> syncs_;                       // by correlation
    std::set<std::size_t> is_launched_;                                          // device events
    std::map<std::int32_t, std::int32_t> waited_;  // by wait: the call that it is for
    std::set<std::int32_t> has_wait_;              // calls
    std::int64_t main_ = 0;
    std::int64_t compute_ = 0;
    std::map<std::int64_t, std::uint16_t> stream_places_;

    std::map<std::int64_t, Thread> state_;
    std::vector<Nanoseconds> ends_;  // by task, as recorded
    std::map<std::int64_t, std::uint32_t> stream_last_;
    std::map<std::int64_t, std::vector<std::uint32_t>> pending_on_stream_;
    std::map<std::int64_t, std::vector<StreamTask>> history_;
    std::vector<Issued> issued_;
    std::set<std::int32_t> issued_calls_;
    std::size_t waits_before_ = 0;
    std::size_t unknown_waits_ = 0;
    std::size_t unknown_collectives_ = 0;
    std::size_t further_kernels_ = 0;
};

}  // namespace

TimelineTasks timeline_tasks(const KinetoTimeline& timeline, const std::vector<TimelineStep>& steps,
                             const GroupNames& names, bool is_lenient, CallBook& book, RankGraphs& graphs,
                             Diagnostics& errors) {
    return TimelineWriter(timeline, names, is_lenient, book, graphs, errors).write(steps);
}

}  // namespace astrolabe::workload::pytorch
