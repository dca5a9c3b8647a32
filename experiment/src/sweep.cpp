#include "exit_code.hpp"
#include "line_workers.hpp"
#include "machine_memory.hpp"
#include "point_claims.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/results.hpp>
#include <astrolabe/experiment/sweep.hpp>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string size_text(double bytes) {
    return readable(Bytes(static_cast<std::int64_t>(bytes)));
}

/// What a worker tells of its point, in one line.
Json run_point(const Study& study, const StudyPoint& point, const Components& components) {
    try {
        const Result<Experiment> experiment = experiment_of(study, point, components);
        if (!experiment) {
            return {{"error", render(experiment.error())}};
        }
        const Run run = run_experiment(*experiment, {});
        if (!run.execution.finished) {
            return {{"error", fmt::format("stalled after {} simulated\n{}", readable(run.execution.total),
                                          run.execution.stall)}};
        }
        Json summary = summary_json(*experiment, run);
        summary.erase("engine");
        return {{"fingerprint", run.fingerprint},
                {"summary", std::move(summary)},
                {"resolved", to_yaml(experiment->resolved)},
                {"peak_rss_bytes", run.engine.peak_rss_bytes}};
    } catch (const std::bad_alloc&) {
        return {{"error", "out of memory"}};
    } catch (const std::exception& defect) {
        return {{"error", fmt::format("a defect of the program, please report it: {}", defect.what())}};
    }
}

/// A point that runs.
struct Started {
    Clock::time_point start = Clock::now();
    Json told;
    bool is_out_of_time = false;
};

class Sweep {
public:
    Sweep(const Study& study, const Components& components, ResultStore& store,
          const std::filesystem::path& folder, const SweepOptions& options)
        : study_(study),
          components_(components),
          store_(store),
          options_(options),
          claims_(folder / "results.lock"),
          workers_(
              [this](std::size_t i, std::string_view line) { started_.at(i).told = Json::parse(line); }) {}

    Result<SweepOutcome> run() {
        Result<StudyPlan> plan =
            plan_study(study_, components_, &store_,
                       {.jobs = options_.jobs,
                        .wants_cost = [this](const StudyPoint& point) { return is_ours(point); },
                        .stop = options_.stop,
                        .observer = options_.plan_observer});
        if (!plan) {
            return plan.error();
        }
        plan_ = std::move(plan->points);
        crashes_ = std::move(plan->crashes);
        outcome_.interrupted = plan->interrupted;
        if (!outcome_.interrupted) {
            if (std::optional<Diagnostic> error = put_study()) {
                return *std::move(error);
            }
            gather();
            run_points();
        }
        if (failure_) {
            return *std::move(failure_);
        }
        return outcome_;
    }

private:
    [[nodiscard]] bool is_ours(const StudyPoint& point) const {
        return point.number % options_.shards == options_.shard % options_.shards;
    }
    [[nodiscard]] double wall_of(std::size_t i) const { return plan_[i].predicted_wall_seconds.value_or(0); }
    [[nodiscard]] double memory_of(std::size_t i) const {
        return plan_[i].predicted_memory_bytes.value_or(0);
    }

    [[nodiscard]] std::optional<Diagnostic> put_study() {
        StudyRecord record{study_.name, study_.report, {}};
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            record.points.push_back({study_.points[i].number, study_.points[i].parameters, plan_[i].key,
                                     plan_[i].predicted_wall_seconds, plan_[i].predicted_memory_bytes});
        }
        return store_.put(record);
    }

    /// What there is to do, longest first.
    void gather() {
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            if (!is_ours(study_.points[i])) {
                continue;
            }
            ++outcome_.points;
            if (const auto crash = crashes_.find(i); crash != crashes_.end()) {
                put_failure(i, crash->second);
                continue;
            }
            const PointStatus status = store_.status(plan_[i].key);
            if (status == PointStatus::kMissing ||
                (status == PointStatus::kFailed && options_.tries_failed_again)) {
                pending_.push_back(i);
            } else {
                count(status);
            }
        }
        std::stable_sort(pending_.begin(), pending_.end(),
                         [this](std::size_t a, std::size_t b) { return wall_of(a) > wall_of(b); });
    }

    void count(PointStatus status) { ++(status == PointStatus::kDone ? outcome_.done : outcome_.failed); }

    void run_points() {
        while (!pending_.empty() || workers_.count() > 0) {
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
            for (const Workers::Ended& ended : workers_.wait()) {
                finish(ended);
            }
            end_late_ones();
            tell();
        }
    }

    void start_what_fits() {
        bool is_waiting = false;  // for another sweep
        double left = pending_.empty() ? 0 : room();
        for (std::size_t at = 0; at < pending_.size() && workers_.count() < options_.jobs;) {
            const std::size_t i = pending_[at];
            if (memory_of(i) > left) {
                ++at;
                continue;
            }
            if (!claims_.take(plan_[i].key)) {
                is_waiting = true;
                ++at;
                continue;
            }
            pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
            // Another sweep may have had it since.
            const PointStatus status = store_.status(plan_[i].key);
            if (status == PointStatus::kDone ||
                (status == PointStatus::kFailed && !options_.tries_failed_again)) {
                claims_.release(plan_[i].key);
                count(status);
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
            send(run_point(study_, study_.points[i], components_)
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
        if (told.contains("summary")) {
            StoredResult result;
            result.key = plan_[i].key;
            result.status = PointStatus::kDone;
            result.fingerprint = told["fingerprint"];
            result.summary = told["summary"];
            result.resolved = told["resolved"];
            result.wall_seconds = wall;
            result.peak_rss_bytes = told["peak_rss_bytes"];
            actual_ += wall;
            foreseen_ += wall_of(i);
            put(std::move(result));
        } else if (told.contains("error")) {
            put_failure(i, told["error"]);
        } else if (started.is_out_of_time) {
            put_failure(i, fmt::format("took longer than the limit of {}", to_string(*options_.time_limit)));
        } else if (!outcome_.interrupted && !failure_) {
            put_failure(i, "its process " + end_text(ended.exit_code));
        }
        claims_.release(plan_[i].key);
        started_.erase(i);
    }

    void put_failure(std::size_t i, std::string error) {
        StoredResult result;
        result.key = plan_[i].key;
        result.status = PointStatus::kFailed;
        result.error = std::move(error);
        put(std::move(result));
    }

    void put(StoredResult result) {
        if (failure_) {
            return;
        }
        failure_ = store_.put(result);
        if (!failure_) {
            count(result.status);
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
    const Components& components_;
    ResultStore& store_;
    const SweepOptions& options_;
    PointClaims claims_;
    Workers workers_;
    std::vector<Resolution> plan_;                ///< by point
    std::map<std::size_t, std::string> crashes_;  ///< of points that could not be read
    std::vector<std::size_t> pending_;            ///< points to start, in this order
    std::map<std::size_t, Started> started_;
    SweepOutcome outcome_;
    std::optional<Diagnostic> failure_;  ///< of the store
    double actual_ = 0;                  ///< seconds of points that finished, and what was predicted for them
    double foreseen_ = 0;
    Clock::time_point start_ = Clock::now();
};

}  // namespace

Result<SweepOutcome> run_sweep(const Study& study, const Components& components, ResultStore& store,
                               const std::filesystem::path& folder, const SweepOptions& options) {
    return Sweep(study, components, store, folder, options).run();
}

}  // namespace astrolabe::experiment
