#include "point_runner.hpp"

#include "../process/exit_code.hpp"
#include "../process/line_workers.hpp"
#include "machine_memory.hpp"
#include "point_key.hpp"
#include "result_json.hpp"
#include "run_details.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/choice/slow_methods.hpp>
#include <astrolabe/experiment/results/jobs_results.hpp>
#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string size_text(double bytes) {
    return readable(Bytes(static_cast<std::int64_t>(bytes)));
}

/// Of several jobs, in a worker.
Json run_jobs_point(const std::string& key, const experiment::Experiment& experiment,
                    const std::vector<std::string>& kinds) {
    if (!kinds.empty()) {
        return result_json(failed_result(
            key, fmt::format("'{}' of report is of one job, and this point has several", kinds.front())));
    }
    const experiment::JobsRun run = experiment::run_jobs(experiment, {});
    if (!run.finished) {
        return result_json(failed_result(
            key, fmt::format("stalled after {} simulated\n{}", readable(run.total), run.stall)));
    }
    StoredResult result;
    result.key = key;
    result.status = PointStatus::kDone;
    result.fingerprint = run.fingerprint;
    result.summary = experiment::jobs_summary_json(experiment, run);
    result.summary.erase("engine");
    result.resolved = to_yaml(experiment.resolved);
    result.peak_rss_bytes = run.engine.peak_rss_bytes;
    return result_json(result);
}

/// What a worker reports of its point: its result, or that it has changed.
Json run_point(const Study& study, const PlannedPoint& planned, const experiment::Components& components) {
    const auto failed = [&](std::string error) {
        return result_json(failed_result(planned.resolution.key, std::move(error)));
    };
    try {
        const Result<experiment::Experiment> experiment = experiment_of(study, *planned.point, components);
        if (!experiment || PointKeys().of_experiment(*experiment) != planned.resolution.key) {
            return {{"changed", true}};
        }
        const std::vector<std::string> kinds = wanted_details(study.report);
        if (experiment->jobs != nullptr) {
            return run_jobs_point(planned.resolution.key, *experiment, kinds);
        }
        std::optional<SpanRecorder> spans;
        if (std::find(kinds.begin(), kinds.end(), "gantt") != kinds.end()) {
            spans.emplace(*experiment);
        }
        experiment::Run run =
            experiment::run_experiment(*experiment, {}, {.execution = spans ? &*spans : nullptr});
        if (!run.execution.finished) {
            return failed(fmt::format("stalled after {} simulated\n{}", readable(run.execution.total),
                                      run.execution.stall));
        }
        run.slow = experiment::slow_methods(*experiment, components, experiment::SlowMethodsCost::kTenths);
        StoredResult result;
        result.key = planned.resolution.key;
        result.status = PointStatus::kDone;
        result.fingerprint = run.fingerprint;
        result.summary = experiment::summary_json(*experiment, run);
        result.summary.erase("engine");
        result.resolved = to_yaml(experiment->resolved);
        result.peak_rss_bytes = run.engine.peak_rss_bytes;
        result.details = details_of(kinds, *experiment, run, spans ? &*spans : nullptr);
        Json told = result_json(result);
        told["slow_methods"] = experiment::write_slow_methods(components);
        return told;
    } catch (const std::bad_alloc&) {
        return failed("out of memory");
    } catch (const std::exception& defect) {
        return failed(fmt::format("a defect of the program, please report it: {}", defect.what()));
    }
}

/// A point that runs.
struct Started {
    Clock::time_point start = Clock::now();
    Json told;
    bool is_out_of_time = false;
};

class Runner {
public:
    Runner(const Study& study, const experiment::Components& components, std::vector<PlannedPoint> points,
           PointSink& sink, const SweepOptions& options, SweepOutcome outcome)
        : study_(study),
          components_(components),
          points_(std::move(points)),
          sink_(sink),
          options_(options),
          workers_([this](std::size_t i, std::string_view line) { started_.at(i).told = Json::parse(line); }),
          outcome_(outcome) {
        for (std::size_t i = 0; i < points_.size(); ++i) {
            pending_.push_back(i);
        }
        std::stable_sort(pending_.begin(), pending_.end(),
                         [this](std::size_t a, std::size_t b) { return wall_of(a) > wall_of(b); });
    }

    Result<SweepOutcome> run() {
        while (!pending_.empty() || workers_.count() > 0) {
            go_on();
            const std::vector<Workers::Ended> ended = workers_.wait();
            // Others start in their place before their results are put, which takes the disk's time.
            go_on();
            for (const Workers::Ended& one : ended) {
                finish(one);
            }
            end_late_ones();
            tell();
        }
        if (failure_) {
            return *std::move(failure_);
        }
        return outcome_;
    }

private:
    [[nodiscard]] const std::string& key_of(std::size_t i) const { return points_[i].resolution.key; }
    [[nodiscard]] double wall_of(std::size_t i) const {
        return points_[i].resolution.predicted_wall_seconds.value_or(0);
    }
    [[nodiscard]] double memory_of(std::size_t i) const {
        return points_[i].resolution.predicted_memory_bytes.value_or(0);
    }

    void go_on() {
        if (!failure_ && !outcome_.interrupted) {
            outcome_.interrupted = options_.stop();
            if (!outcome_.interrupted) {
                start_what_fits();
            }
        }
        if (failure_ || outcome_.interrupted) {
            pending_.clear();
            workers_.signal_all(SIGTERM);
        }
    }

    void start_what_fits() {
        bool is_waiting = false;  // for another sweep, or for the result of the same experiment
        double left = pending_.empty() ? 0 : room();
        for (std::size_t at = 0; at < pending_.size() && workers_.count() < options_.jobs;) {
            const std::size_t i = pending_[at];
            if (runs_already(key_of(i))) {
                is_waiting = true;
                ++at;
                continue;
            }
            if (memory_of(i) > left) {
                ++at;
                continue;
            }
            if (!sink_.take(key_of(i))) {
                is_waiting = true;
                ++at;
                continue;
            }
            pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
            // Another sweep may have had it since.
            const PointStatus status = sink_.status(key_of(i));
            if (!is_to_be_run(status, options_)) {
                sink_.release(key_of(i));
                count(outcome_, status);
                continue;
            }
            left -= memory_of(i);
            start(i);
        }
        if (workers_.count() == 0 && !is_waiting && !pending_.empty()) {
            const std::size_t i = pending_.front();
            pending_.erase(pending_.begin());
            put_failure(i, fmt::format("needs {} of memory as predicted, and {} is free",
                                       size_text(memory_of(i)), size_text(room())));
        }
    }

    /// As another point that is the same experiment.
    [[nodiscard]] bool runs_already(const std::string& key) const {
        return std::any_of(started_.begin(), started_.end(),
                           [&](const auto& started) { return key_of(started.first) == key; });
    }

    /// Memory for another point.
    [[nodiscard]] double room() const {
        double promised = 0;
        double taken = 0;
        for (const Workers::Running& worker : workers_.running()) {
            const double resident = resident_memory(worker.process);
            promised += std::max(0.0, memory_of(worker.place) - resident);
            taken += resident;
        }
        return options_.memory_bytes ? *options_.memory_bytes - taken - promised
                                     : available_memory() - promised;
    }

    void start(std::size_t i) {
        started_.insert_or_assign(i, Started{});
        const bool is_there = workers_.start(i, [this, i](const SendLine& send) {
            send(run_point(study_, points_[i], components_)
                     .dump(-1, ' ', false, Json::error_handler_t::replace));
        });
        if (!is_there) {
            finish({i, kNotStarted});
        }
    }

    void end_late_ones() {
        if (!options_.time_limit) {
            return;
        }
        for (const Workers::Running& worker : workers_.running()) {
            Started& started = started_.at(worker.place);
            if (seconds_since(started.start) > to_seconds(*options_.time_limit)) {
                started.is_out_of_time = true;
                workers_.signal(worker.place, SIGKILL);
            }
        }
    }

    void finish(const Workers::Ended& ended) {
        const std::size_t i = ended.place;
        const Started& started = started_.at(i);
        const Json& told = started.told;
        const double wall = seconds_since(started.start);
        if (told.contains("slow_methods")) {
            // For points that start after this one, which are children of this process.
            experiment::read_slow_methods(told["slow_methods"], components_);
        }
        std::variant<StoredResult, std::string> read = result_in(told);
        if (auto* result = std::get_if<StoredResult>(&read)) {
            if (result->status == PointStatus::kDone) {
                result->wall_seconds = wall;
                actual_ += wall;
                foreseen_ += wall_of(i);
            }
            put(*result);
        } else if (told.contains("changed")) {
            refuse(i);
        } else if (started.is_out_of_time) {
            put_failure(i, fmt::format("took longer than the limit of {}", to_string(*options_.time_limit)));
        } else if (!outcome_.interrupted && !failure_) {
            put_failure(i, "its process " + end_text(ended.exit_code));
        }
        sink_.release(key_of(i));
        started_.erase(i);
    }

    /// Its result would stand under the key of the experiment that was planned.
    void refuse(std::size_t i) {
        if (!failure_) {
            failure_ = {
                "config.study",
                study_.where,
                fmt::format("point {} is another experiment than the one that was planned: the study "
                            "or a file that it reads has changed",
                            points_[i].point->number),
                "what was finished stays; sweep again, into another folder if the program was built anew",
                {}};
        }
    }

    void put_failure(std::size_t i, std::string error) { put(failed_result(key_of(i), std::move(error))); }

    void put(const StoredResult& result) {
        if (failure_) {
            return;
        }
        failure_ = sink_.put(result);
        if (!failure_) {
            count(outcome_, result.status);
            ++outcome_.computed;
        }
    }

    void tell() const {
        if (!options_.observer) {
            return;
        }
        // Predictions are off by much the same factor on one machine.
        const double scale = foreseen_ > 0 ? actual_ / foreseen_ : 1;
        double work = 0;
        double longest = 0;
        const auto add = [&](double seconds) {
            work += std::max(0.0, seconds);
            longest = std::max(longest, seconds);
        };
        for (const std::size_t i : pending_) {
            add(scale * wall_of(i));
        }
        for (const auto& [i, started] : started_) {
            add(scale * wall_of(i) - seconds_since(started.start));
        }
        options_.observer({outcome_.points, outcome_.done, outcome_.failed, workers_.count(),
                           std::max(longest, work / static_cast<double>(options_.jobs)),
                           seconds_since(start_)});
    }

    const Study& study_;
    const experiment::Components& components_;
    const std::vector<PlannedPoint> points_;
    PointSink& sink_;
    const SweepOptions& options_;
    Workers workers_;
    std::vector<std::size_t> pending_;  ///< points to start, in this order
    std::map<std::size_t, Started> started_;
    SweepOutcome outcome_;
    std::optional<Diagnostic> failure_;  ///< that ends the sweep
    double actual_ = 0;                  ///< seconds of points that finished, and what was predicted for them
    double foreseen_ = 0;
    Clock::time_point start_ = Clock::now();
};

}  // namespace

bool is_to_be_run(PointStatus status, const SweepOptions& options) {
    return status == PointStatus::kMissing || (status == PointStatus::kFailed && options.tries_failed_again);
}

void count(SweepOutcome& outcome, PointStatus status) {
    ++(status == PointStatus::kDone ? outcome.done : outcome.failed);
}

StoredResult failed_result(std::string key, std::string error) {
    StoredResult result;
    result.key = std::move(key);
    result.status = PointStatus::kFailed;
    result.error = std::move(error);
    return result;
}

Result<SweepOutcome> run_points(const Study& study, const experiment::Components& components,
                                std::vector<PlannedPoint> points, PointSink& sink,
                                const SweepOptions& options, SweepOutcome outcome) {
    return Runner(study, components, std::move(points), sink, options, outcome).run();
}

}  // namespace astrolabe::study
