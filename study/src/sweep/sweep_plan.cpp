#include "../process/exit_code.hpp"
#include "../process/line_workers.hpp"
#include "point_key.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostErrors = 20;
constexpr std::size_t kMostNetworks = std::size_t{256} << 20;  // bytes, of a worker (job_networks.hpp)

std::vector<std::string> paths_of(const Study& study, const StudyPoint& point) {
    std::vector<std::string> paths = study.set;
    for (const auto& [path, value] : point.settings) {
        paths.push_back(path);
    }
    return paths;
}

std::optional<double> number_in(const Json& json, const char* key) {
    return json.contains(key) ? std::optional(json[key].get<double>()) : std::nullopt;
}

class Planner {
public:
    Planner(const Study& study, const experiment::Components& components, ResultStore* store,
            const PlanOptions& options)
        : study_(study),
          components_(components),
          store_(store),
          options_(options) {}

    Result<StudyPlan> plan() {
        look_up();
        read_all(batches());
        // A crash takes the rest of its batch along: those are read again, each by itself.
        std::vector<Batch> again;
        for (const std::size_t i : open_) {
            if (!is_heard_[i] && !failure_ && !plan_.interrupted) {
                again.push_back({i});
            }
        }
        const std::vector<WorkerEnd> ends = read_all(again);
        remember();
        if (failure_) {
            return *std::move(failure_);
        }
        if (plan_.interrupted) {
            return std::move(plan_);
        }
        add_errors_of_invalid_points();
        for (std::size_t place = 0; place < ends.size(); ++place) {
            const std::size_t i = again[place].front();
            if (ends[place].exit_code != 0 && plan_.points[i].key.empty()) {
                plan_.points[i].key = "unread " + written_[i];
                plan_.crashes.emplace(i, "cannot be read: its process " + end_text(ends[place].exit_code));
            }
        }
        if (errors_.empty()) {
            check_keys();
        }
        return errors_.empty() ? Result<StudyPlan>(std::move(plan_)) : Result<StudyPlan>(std::move(errors_));
    }

private:
    using Batch = std::vector<std::size_t>;  ///< places in the study's points

    /// Open points that one worker reads, one after another: neighbours, which have most in common. Four
    /// for each worker, so that none waits long for the last, and of 64 points at most.
    [[nodiscard]] std::vector<Batch> batches() const {
        constexpr std::size_t kBatchesOfAWorker = 4;
        constexpr std::size_t kMostPoints = 64;
        const std::size_t size =
            std::clamp<std::size_t>(open_.size() / (kBatchesOfAWorker * options_.jobs), 1, kMostPoints);
        std::vector<Batch> made;
        for (std::size_t first = 0; first < open_.size(); first += size) {
            const auto begin = open_.begin() + static_cast<std::ptrdiff_t>(first);
            made.emplace_back(begin,
                              begin + static_cast<std::ptrdiff_t>(std::min(size, open_.size() - first)));
        }
        return made;
    }

    std::vector<WorkerEnd> read_all(const std::vector<Batch>& batches) {
        return run_workers(
            batches.size(), options_.jobs,
            [this, &batches](std::size_t place, const SendLine& send) {
                components_.job_networks->keep_at_most(kMostNetworks);
                for (const std::size_t i : batches[place]) {
                    const std::uint64_t before = components_.job_networks->built();
                    Json found = read(study_.points[i]);
                    found["point"] = i;
                    found["networks_built"] = components_.job_networks->built() - before;
                    send(found.dump());
                }
            },
            [this](std::size_t, std::string_view line) {
                const Json found = Json::parse(line);
                plan_.networks_built += found["networks_built"].get<std::uint64_t>();
                hear(found["point"].get<std::size_t>(), found);
            },
            [this] { return failure_ || (plan_.interrupted = plan_.interrupted || options_.stop()); });
    }

    void look_up() {
        PointKeys keys;
        is_heard_.assign(study_.points.size(), false);
        for (std::size_t i = 0; i < study_.points.size(); ++i) {
            const StudyPoint& point = study_.points[i];
            written_.push_back(keys.of_written(tree_of(study_, point), paths_of(study_, point)));
            const auto known = store_ != nullptr ? store_->resolution(written_.back()) : std::nullopt;
            plan_.points.push_back(known.value_or(Resolution{}));
            if (!known || (!known->predicted_wall_seconds && options_.wants_cost(point))) {
                open_.push_back(i);
            }
        }
    }

    /// In a worker.
    [[nodiscard]] Json read(const StudyPoint& point) const {
        const Result<experiment::Experiment> experiment = experiment_of(study_, point, components_);
        if (!experiment) {
            return Json{{"invalid", true}};
        }
        Json found{{"key", PointKeys().of_experiment(*experiment)}};
        if (!experiment->choices.empty()) {
            found["choices"] = experiment::write_choices(experiment->choices);
        }
        for (const auto* choice : {&experiment->job_choices.network, &experiment->job_choices.window}) {
            if (*choice) {
                found["job_choices"].push_back(experiment::write_job_choice(**choice));
            }
        }
        if (options_.wants_cost(point)) {
            const experiment::Prediction cost = experiment::predict(*experiment);
            found["wall_s"] = cost.wall_seconds;
            found["memory_bytes"] = cost.maximum_memory_bytes;  // what decides how many run at a time
        }
        return found;
    }

    void hear(std::size_t i, const Json& found) {
        ++read_;
        is_heard_[i] = true;
        if (options_.observer) {
            options_.observer(
                {open_.size(), read_, std::chrono::duration<double>(Clock::now() - start_).count()});
        }
        if (!found.contains("key")) {
            invalid_.insert(i);
            return;
        }
        if (found.contains("choices")) {
            // Points that are read after this one, and those that run, are children of this process.
            for (const experiment::MethodChoice& choice : experiment::read_choices(found["choices"])) {
                components_.choices->add(choice);
            }
        }
        for (const Json& choice : found.value("job_choices", Json::array())) {
            components_.choices->add_for_job(experiment::read_job_choice(choice));
        }
        plan_.points[i] = {found["key"], number_in(found, "wall_s"), number_in(found, "memory_bytes")};
        learnt_.emplace_back(written_[i], plan_.points[i]);
        constexpr std::chrono::milliseconds kInterval{200};
        if (Clock::now() - last_ > kInterval) {
            remember();
        }
    }

    /// Now and then, so that a process that is killed has not read all for nothing.
    void remember() {
        last_ = Clock::now();
        if (store_ != nullptr && !failure_ && !learnt_.empty()) {
            failure_ = store_->remember(learnt_);
            learnt_.clear();
        }
    }

    /// In the order of points, however workers came by them. The diagnostics themselves, with their places,
    /// come from here.
    void add_errors_of_invalid_points() {
        for (const std::size_t i : invalid_) {
            if (errors_.size() == kMostErrors) {
                return;
            }
            const Result<experiment::Experiment> again = experiment_of(study_, study_.points[i], components_);
            for (const Diagnostic& error : again ? Diagnostics{} : again.error()) {
                add_error(error);
            }
        }
    }

    /// Each once, whatever the points.
    void add_error(const Diagnostic& error) {
        Diagnostic bare = error;
        bare.notes.clear();
        if (errors_.size() < kMostErrors && seen_.insert(bare.render()).second) {
            errors_.push_back(error);
        }
    }

    [[nodiscard]] Json without_seed(std::size_t i) const {
        Json parameters = study_.points[i].parameters;
        parameters.erase("seed");
        return parameters;
    }

    void check_keys() {
        std::map<std::string, std::size_t> points;  // by key
        for (std::size_t i = 0; i < plan_.points.size(); ++i) {
            const auto [same, is_new] = points.emplace(plan_.points[i].key, i);
            // Where nothing is drawn, seeds repeat one experiment, which is run once.
            if (!is_new && without_seed(same->second) == without_seed(i) &&
                study_.points[same->second].parameters != study_.points[i].parameters) {
                continue;
            }
            if (!is_new) {
                add_error({"config.study",
                           study_.where,
                           fmt::format("two points are the same experiment, in other words: {} and {}",
                                       parameter_text(study_.points[same->second].parameters),
                                       parameter_text(study_.points[i].parameters)),
                           "keep one of them",
                           {}});
            }
        }
    }

    const Study& study_;
    const experiment::Components& components_;
    ResultStore* store_;
    const PlanOptions& options_;
    Clock::time_point start_ = Clock::now();
    std::size_t read_ = 0;
    StudyPlan plan_;
    std::vector<std::string> written_;                        ///< by point: hash of the experiment as written
    std::vector<std::size_t> open_;                           ///< points to be read
    std::vector<bool> is_heard_;                              ///< by point: what its worker read of it
    std::set<std::size_t> invalid_;                           ///< points that are no experiments
    std::vector<std::pair<std::string, Resolution>> learnt_;  ///< and not remembered
    Clock::time_point last_ = start_;                         ///< that something was
    std::optional<Diagnostic> failure_;                       ///< of the store
    Diagnostics errors_;
    std::set<std::string> seen_;
};

}  // namespace

Result<StudyPlan> plan_study(const Study& study, const experiment::Components& components, ResultStore* store,
                             const PlanOptions& options) {
    return Planner(study, components, store, options).plan();
}

std::vector<StudyRow> sweep_status(const Study& study, const ResultStore* store) {
    PointKeys keys;
    std::vector<StudyRow> rows;
    for (const StudyPoint& point : study.points) {
        StudyRow row;
        row.point.number = point.number;
        row.point.parameters = point.parameters;
        const auto known =
            store != nullptr
                ? store->resolution(keys.of_written(tree_of(study, point), paths_of(study, point)))
                : std::nullopt;
        if (known) {
            row.point.key = known->key;
            row.point.predicted_wall_seconds = known->predicted_wall_seconds;
            row.point.predicted_memory_bytes = known->predicted_memory_bytes;
            row.result = store->result(known->key).value_or(StoredResult{});
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace astrolabe::study
