#include "../process/exit_code.hpp"
#include "../process/line_workers.hpp"
#include "plan_evaluator.hpp"
#include "space_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/study/search/optimization.hpp>

namespace astrolabe::study {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr double kLeastTemperature = 1e-4;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

Json plan_to_json(const Plan& plan) {
    Json json{{"choices", plan.choices}};
    if (const auto* counted = std::get_if<workload::CountedTables>(&plan.tables)) {
        json["counts"] = counted->tables;
    } else if (const auto* placed = std::get_if<workload::PlacedTables>(&plan.tables)) {
        for (const workload::TablePlace& place : placed->places) {
            json["places"].push_back(
                {static_cast<int>(place.sharding), place.ranks, place.host.value_or(-1)});
        }
    }
    return json;
}

/// `start` has all that plans of a space have in common.
Plan plan_from_json(const Json& json, Plan start) {
    start.choices = json["choices"].get<std::vector<std::uint32_t>>();
    if (auto* counted = std::get_if<workload::CountedTables>(&start.tables)) {
        counted->tables = json["counts"].get<std::vector<std::int64_t>>();
    } else if (auto* placed = std::get_if<workload::PlacedTables>(&start.tables)) {
        for (std::size_t table = 0; table < placed->places.size(); ++table) {
            const Json& place = json["places"][table];
            const auto host = place[2].get<std::int64_t>();
            placed->places[table] = {.sharding = static_cast<workload::TableSharding>(place[0].get<int>()),
                                     .ranks = place[1].get<std::vector<std::int64_t>>(),
                                     .host = host < 0 ? std::nullopt : std::optional(host)};
        }
    }
    return start;
}

/// What a worker reports of a step; infinite times are left out, as JSON has none.
std::string step_line(const SearchStep& step, const Plan& plan) {
    Json json{{"evaluation", step.evaluation},
              {"move", step.move},
              {"outcome", static_cast<int>(step.result.outcome)},
              {"bound", step.result.bound},
              {"accepted", step.accepted}};
    if (std::isfinite(step.result.seconds)) {
        json["seconds"] = step.result.seconds;
    }
    if (std::isfinite(step.best)) {
        json["best"] = step.best;
    }
    if (step.is_best) {
        json["plan"] = plan_to_json(plan);
    }
    return json.dump();
}

SearchStep step_from(const Json& json, std::size_t chain) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {.chain = chain,
            .evaluation = json["evaluation"].get<std::uint64_t>(),
            .move = json["move"].get<std::string>(),
            .result = {.outcome = static_cast<Outcome>(json["outcome"].get<int>()),
                       .seconds = json.value("seconds", kInfinity),
                       .bound = json["bound"].get<double>()},
            .accepted = json["accepted"].get<bool>(),
            .best = json.value("best", kInfinity),
            .is_best = json.contains("plan")};
}

/// One search: its chains and what they report.
class Search {
public:
    Search(const SearchStudy& study, const experiment::Components& components, const OptimizeOptions& options)
        : study_(study),
          options_(options),
          evaluator_(study, components),
          components_(components),
          chains_(static_cast<std::size_t>(study.options.chains)) {}

    [[nodiscard]] Result<Optimization> run() && {
        const Evaluation base =
            evaluator_.evaluate(study_.reference, std::numeric_limits<double>::infinity());
        if (base.outcome != Outcome::kSimulated) {
            return Diagnostic{"search.base",
                              study_.base.where,
                              fmt::format("the base '{}' does not finish", study_.reference.name),
                              "see why with: astrolabe run",
                              {}};
        }
        found_.base_seconds = base.seconds;
        found_.best_seconds = base.seconds;
        const double above = (base.seconds - base.bound) / base.seconds;
        found_.temperature = study_.options.temperature.value_or(std::max(above / 5, kLeastTemperature));
        options_.begun();
        find_bound();
        run_chains();
        finish();
        return std::move(found_);
    }

private:
    [[nodiscard]] bool is_enumeration() const { return study_.options.method == SearchMethod::kEnumeration; }

    [[nodiscard]] std::uint64_t evaluations_of(std::size_t chain) const {
        const std::uint64_t all = is_enumeration()
                                      ? study_.space.size()
                                      : static_cast<std::uint64_t>(study_.options.budget.evaluations);
        return all / chains_ + (chain < all % chains_ ? 1 : 0);
    }

    void work(std::size_t chain, const SendLine& send) {
        ChainOptions options{.chain = chain,
                             .chains = chains_,
                             .evaluations = evaluations_of(chain),
                             .restarts = static_cast<std::uint64_t>(study_.options.restarts),
                             .temperature = found_.temperature,
                             .seed = study_.options.seed,
                             .known = found_.base_seconds};
        if (const std::optional<Time> time = study_.options.budget.time) {
            const double part =
                static_cast<double>(std::min(options_.jobs, chains_)) / static_cast<double>(chains_);
            const Clock::time_point start = Clock::now();
            options.is_over = [start, most = to_seconds(*time) * part] {
                return seconds_since(start) >= most;
            };
        }
        const Evaluate evaluate = [this](const Plan& plan, double most) {
            return evaluator_.evaluate(plan, most);
        };
        const StepObserver observe = [&send](const SearchStep& step, const Plan& plan) {
            send(step_line(step, plan));
        };
        if (is_enumeration()) {
            enumerate(study_.space, options, evaluate, observe);
        } else {
            anneal(study_.space, options, evaluate, observe);
        }
    }

    void read(std::size_t chain, std::string_view line) {
        const Json json = Json::parse(line);
        SearchStep step = step_from(json, chain);
        const auto rank = std::tuple(step.result.seconds, step.evaluation, chain);
        if (step.is_best && (!found_.plan || rank < best_)) {
            best_ = rank;
            found_.best_seconds = step.result.seconds;
            found_.plan = plan_from_json(json["plan"], study_.space.start());
        }
        found_.steps.push_back(std::move(step));
        if (options_.observer) {
            const std::uint64_t all = is_enumeration()
                                          ? study_.space.size()
                                          : static_cast<std::uint64_t>(study_.options.budget.evaluations);
            options_.observer(
                {found_.steps.size(), all, found_.best_seconds, found_.base_seconds, seconds_since(start_)});
        }
    }

    [[nodiscard]] bool stop() {
        found_.interrupted = found_.interrupted || options_.stop();
        return found_.interrupted;
    }

    void find_bound() {
        const SpaceBound bound = bound_of_space(study_, components_, [this] { return stop(); });
        found_.bound_seconds = bound.seconds;
        found_.omission = bound.omission;
    }

    void run_chains() {
        const std::vector<WorkerEnd> ends = run_workers(
            chains_, options_.jobs, [this](std::size_t chain, const SendLine& send) { work(chain, send); },
            [this](std::size_t chain, std::string_view line) { read(chain, line); },
            [this] { return stop(); });
        for (std::size_t chain = 0; chain < ends.size(); ++chain) {
            if (!found_.interrupted && ends[chain].exit_code != 0) {
                found_.failures.push_back(fmt::format("chain {} {}", chain, end_text(ends[chain].exit_code)));
            }
        }
        std::stable_sort(found_.steps.begin(), found_.steps.end(),
                         [](const SearchStep& a, const SearchStep& b) { return a.chain < b.chain; });
    }

    void finish() {
        if (found_.plan) {
            Result<experiment::Experiment> best = experiment_of(study_, *found_.plan, components_);
            ASTROLABE_ASSERT(best, "a plan that was run is an experiment");
            found_.best = *std::move(best);
        }
        found_.is_optimum = is_enumeration() && found_.steps.size() == study_.space.size();
        if (found_.is_optimum) {
            found_.bound_seconds = found_.best_seconds;
            found_.omission.clear();
        }
        found_.wall_seconds = seconds_since(start_);
    }

    const SearchStudy& study_;
    const OptimizeOptions& options_;
    PlanEvaluator evaluator_;
    const experiment::Components& components_;
    std::size_t chains_;
    Clock::time_point start_ = Clock::now();
    Optimization found_;
    std::tuple<double, std::uint64_t, std::size_t> best_;  // time, evaluation and chain of the best plan
};

}  // namespace

std::uint64_t Optimization::count(Outcome outcome) const {
    return static_cast<std::uint64_t>(std::count_if(
        steps.begin(), steps.end(), [&](const SearchStep& step) { return step.result.outcome == outcome; }));
}

Result<Optimization> optimize(const SearchStudy& study, const experiment::Components& components,
                              const OptimizeOptions& options) {
    return Search(study, components, options).run();
}

}  // namespace astrolabe::study
