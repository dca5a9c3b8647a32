#include "job_trials.hpp"

#include "../explain/schedule_loads.hpp"
#include "../run/engine.hpp"
#include "alone.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <astrolabe/experiment/choice/slow_methods.hpp>
#include <astrolabe/system/program/characterisation.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::experiment {
namespace {

constexpr int kTriedIterations = 2;
constexpr double kMostJobWork = 1 << 27;
constexpr double kMostWindowWork = 1 << 24;
constexpr double kSlowWindow = 1.25;

/// Without the iterations behind the first ones, where these come before all others.
system::Program first_iterations(const system::Program& program) {
    const auto is_tried = [](const system::Operation& operation) {
        return operation.iteration < kTriedIterations;
    };
    const auto& operations = program.operations;
    const auto end = std::find_if_not(operations.begin(), operations.end(), is_tried);
    const bool is_kept_whole = !system::Participants(program).is_spmd();  // a send may be received later on
    if (is_kept_whole || std::any_of(end, operations.end(), is_tried)) {
        return program;
    }
    system::Program first = program;
    first.iterations = std::min(program.iterations, kTriedIterations);
    first.operations.resize(static_cast<std::size_t>(end - operations.begin()));
    return first;
}

double work_of_job(const Experiment& job) {
    const system::SystemOptions& options = job.cluster.options;
    const system::ProgramTraffic traffic(job.program, options);
    const ScheduleLoads loads(job.program, options, *job.fabric, job.placement);
    const auto ranks = static_cast<double>(job.program.ranks);
    double work = 0;
    for (std::size_t i = 0; i < job.program.operations.size(); ++i) {
        const system::OperationId id(i);
        if (job.program.operations[id].is_collective()) {
            const auto messages = static_cast<double>(traffic.of(id).messages());
            const auto steps = static_cast<double>(loads.chain(id, Time(1), 0, 0).count());
            work += messages * std::min(messages / std::max(steps, 1.0), ranks * (ranks - 1));
        }
    }
    if (work > kMostJobWork && job.backend.folds()) {
        const auto alike =
            static_cast<double>(make_engine(job, place_ranks(job), false).folding.class_size());
        work /= alike * alike;
    }
    return work;
}

/// The first iterations on the engine of trials.
Experiment trial_of(const Experiment& job, const Components& components) {
    Experiment trial = job;
    trial.backend = trial_engine(job, components);
    trial.program = first_iterations(job.program);
    return trial;
}

/// Of the first iteration, of a rank.
std::uint32_t chunks_of(const Experiment& experiment) {
    const system::SystemOptions& options = experiment.cluster.options;
    std::uint32_t chunks = 0;
    for (const system::Operation& operation : experiment.program.operations) {
        if (operation.is_collective() && operation.iteration == 0) {
            chunks += system::chunk_count(operation.collective(), options);
        }
    }
    return chunks;
}

class JobTrials {
public:
    explicit JobTrials(const Components& components)
        : components_(components) {}

    void add(std::uint64_t alternative, const std::optional<Experiment>& job) {
        Trial trial{alternative, std::nullopt};
        if (job && !is_too_large_) {
            const Experiment tried = trial_of(*job, components_);
            is_too_large_ = work_of_job(tried) > kMostJobWork;
            if (!is_too_large_) {
                const bool has_limit = best_ && *best_ < Time::max() / 2;
                trial.time = time_of(tried, has_limit ? *best_ * 2 : Time::max());
            }
        }
        if (trial.time && (!best_ || *trial.time < *best_)) {
            best_ = trial.time;
        }
        trials_.push_back(trial);
    }

    [[nodiscard]] JobChoice choice(const std::string& key) const {
        std::vector<Trial> sorted = trials_;
        std::ranges::stable_sort(sorted, {},
                                 [](const Trial& trial) { return trial.time.value_or(Time::max()); });
        JobChoice choice;
        choice.key = key;
        choice.taken = sorted.front().alternative;
        choice.time = sorted.front().time;
        if (sorted.size() > 1) {
            choice.runner_up = sorted[1].alternative;
            choice.runner_up_time = sorted[1].time;
        }
        return choice;
    }

private:
    struct Trial {
        std::uint64_t alternative = 0;
        std::optional<Time> time;
    };

    const Components& components_;
    std::vector<Trial> trials_;
    std::optional<Time> best_;
    bool is_too_large_ = false;
};

}  // namespace

JobChoice choose_for_job(const std::string& key, const std::optional<JobChoice>& recorded,
                         const std::vector<std::uint64_t>& alternatives, const JobWith& job_with,
                         const Components& components) {
    std::optional<JobChoice> known = components.choices->find_for_job(key);
    if (!known && recorded && recorded->key == key &&
        std::ranges::find(alternatives, recorded->taken) != alternatives.end()) {
        known = recorded;
    }
    if (!known) {
        JobTrials trials(components);
        for (const std::uint64_t alternative : alternatives) {
            trials.add(alternative, job_with(alternative));
        }
        known = trials.choice(key);
    }
    components.choices->add_for_job(*known);
    return *std::move(known);
}

std::optional<SlowWindow> slow_window(const Experiment& experiment, Time total,
                                      const Components& components) {
    const std::uint32_t named = experiment.cluster.options.active_chunks;
    const std::uint32_t all = chunks_of(experiment);
    if (experiment.job_choices.window || all <= named) {
        return std::nullopt;
    }
    Experiment trial = trial_of(experiment, components);
    if (work_of_job(trial) > kMostWindowWork) {
        return std::nullopt;
    }
    const bool was_run = experiment.backend.packet_payload == Bytes(0) &&
                         experiment.program.iterations == trial.program.iterations;
    const std::optional<Time> time = was_run ? total : time_of(trial, Time::max());
    trial.cluster.options.active_chunks = all;
    const std::optional<Time> wide =
        time ? time_of(trial,
                       Time(static_cast<std::int64_t>(static_cast<double>(time->count()) / kSlowWindow)))
             : std::nullopt;
    if (!wide || *wide == Time(0)) {
        return std::nullopt;
    }
    return SlowWindow{.named = named, .time = *time, .better = all, .better_time = *wide};
}

}  // namespace astrolabe::experiment
