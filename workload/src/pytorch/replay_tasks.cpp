#include "replay_tasks.hpp"

namespace astrolabe::workload::pytorch {

namespace {

/// The stream of computations that stand for starts of a trace.
constexpr std::string_view kClockStream = "clock";

}  // namespace

void ReplayTasks::begin_step(std::int32_t iteration) {
    iteration_ = iteration;
}

std::uint32_t ReplayTasks::call(RankTask task, bool is_awaited, std::optional<Time> not_before) {
    std::vector<std::uint32_t> dependencies;
    if (last_compute_) {
        dependencies.push_back(*last_compute_);
    }
    // A message has a stream of its own for each peer, as a communicator of two.
    const std::pair<TaskKind, std::uint32_t> stream{
        task.kind, task.kind == TaskKind::kCollective ? task.group : task.peer};
    const auto last = last_of_group_.find(stream);
    if (last != last_of_group_.end()) {
        dependencies.push_back(last->second);
    }
    if (not_before && *not_before > clock_) {
        if (graphs_.streams.size() == 1) {
            graphs_.streams.push_back({std::string(kClockStream), true});
        }
        RankTask tick;
        tick.name = graphs_.name(kClockStream);
        tick.stream = 1;
        tick.iteration = iteration_;
        tick.duration = *not_before - clock_;
        clock_ = *not_before;
        last_tick_ = static_cast<std::uint32_t>(graph_.tasks.size());
        graph_.add(tick, {});
    }
    if (not_before && last_tick_) {
        dependencies.push_back(*last_tick_);
    }
    task.iteration = iteration_;
    const auto place = static_cast<std::uint32_t>(graph_.tasks.size());
    graph_.add(task, dependencies);
    last_of_group_[stream] = place;
    const bool is_asynchronous = overlap_ == Overlap::kAll || (overlap_ == Overlap::kWaited && is_awaited);
    pending_.insert(place);
    if (!is_asynchronous) {
        wait(place);
    }
    return place;
}

void ReplayTasks::wait(std::uint32_t task) {
    if (pending_.erase(task) == 0) {
        return;
    }
    add_compute(graphs_.name(graphs_.names[graph_.tasks[task].name] + ".wait"), Time(0), {task});
}

std::uint32_t ReplayTasks::compute(std::string_view name, Time duration) {
    add_compute(graphs_.name(name), duration, {});
    return *last_compute_;
}

void ReplayTasks::end_step() {
    add_compute(graphs_.name("step.end"), Time(0), {pending_.begin(), pending_.end()});
    pending_.clear();
}

void ReplayTasks::add_compute(std::uint32_t name, Time duration,
                              const std::vector<std::uint32_t>& dependencies) {
    RankTask task;
    task.name = name;
    task.iteration = iteration_;
    task.duration = duration;
    last_compute_ = static_cast<std::uint32_t>(graph_.tasks.size());
    graph_.add(task, dependencies);
}

}  // namespace astrolabe::workload::pytorch
