#include "../process/exit_code.hpp"
#include "../process/line_workers.hpp"
#include "plan_evaluator.hpp"
#include "space_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/experiment/file/config_path.hpp>
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
            json["places"].push_back({static_cast<int>(place.sharding), place.ranks, place.hosts});
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
            placed->places[table] = {.sharding = static_cast<workload::TableSharding>(place[0].get<int>()),
                                     .ranks = place[1].get<std::vector<std::int64_t>>(),
                                     .hosts = place[2].get<std::vector<std::int64_t>>()};
        }
    }
    return start;
}

/// What a worker reports of a step; infinite times are left out, as JSON has none.
std::string step_line(const SearchStep& step, const Plan& plan, const NetworkChoice& network,
                      bool is_candidate) {
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
        json["is_best"] = true;
    }
    if (step.is_best_of_network) {
        json["is_best_of_network"] = true;
    }
    if (is_candidate) {
        json["is_candidate"] = true;
    }
    if (step.is_best || step.is_best_of_network || is_candidate) {
        json["plan"] = plan_to_json(plan);
    }
    json["network"] = network;
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
            .is_best = json.contains("is_best"),
            .is_best_of_network = json.contains("is_best_of_network")};
}

/// The best different plans so far, at most `most`, best first.
class BestPlans {
public:
    /// Time, evaluation and chain.
    using Rank = std::tuple<double, std::uint64_t, std::size_t>;
    struct Ranked {
        Rank rank;
        Plan plan;
    };

    explicit BestPlans(std::size_t most)
        : most_(most) {}

    /// Whether it is one of them, and was not before.
    bool add(const Rank& rank, const Plan& plan) {
        if (!std::isfinite(std::get<double>(rank)) ||
            (plans_.size() == most_ && (most_ == 0 || plans_.back().rank <= rank))) {
            return false;
        }
        const std::string key = plan.key();
        const auto same =
            std::ranges::find_if(plans_, [&](const Ranked& one) { return one.plan.key() == key; });
        if (same != plans_.end()) {
            return false;
        }
        const auto place = std::ranges::upper_bound(plans_, rank, {}, &Ranked::rank);
        plans_.insert(place, {rank, plan});
        plans_.resize(std::min(plans_.size(), most_));
        return true;
    }
    [[nodiscard]] const std::vector<Ranked>& plans() const { return plans_; }

private:
    std::size_t most_;
    std::vector<Ranked> plans_;
};

/// Costs no more, is no slower, and is better in one of the two.
bool beats(const NetworkAnswer& a, const NetworkAnswer& b) {
    return a.dollars && b.dollars && *a.dollars <= *b.dollars && a.best_seconds <= b.best_seconds &&
           (*a.dollars < *b.dollars || a.best_seconds < b.best_seconds);
}

/// One search: its chains and what they report.
class Search {
public:
    Search(const SearchStudy& study, const experiment::Components& components, const OptimizeOptions& options)
        : study_(study),
          options_(options),
          evaluator_(study, components, Fidelity::kExact),
          coarse_evaluator_(study, components, Fidelity::kCoarse),
          components_(components),
          chains_(static_cast<std::size_t>(study.options.chains)),
          network_choices_(network_choices(study.space)),
          candidates_(most_confirmed()) {}

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
        Evaluation compared = base;
        if (is_coarse()) {
            const Result<experiment::Experiment> coarse = base_of(study_, components_, Fidelity::kCoarse);
            ASTROLABE_ASSERT(coarse, "coarse values were read in the base");
            compared = coarse_evaluator_.evaluate(*coarse, std::numeric_limits<double>::infinity());
            if (compared.outcome != Outcome::kSimulated) {
                return Diagnostic{"search.base",
                                  study_.base.where,
                                  fmt::format("the base '{}' does not finish with the values of 'coarse'",
                                              study_.reference.name),
                                  "see why with: astrolabe run, and those values set",
                                  {}};
            }
            found_.coarse_base_seconds = compared.seconds;
        }
        compared_base_seconds_ = compared.seconds;
        found_.best_seconds = compared.seconds;
        const double above = (compared.seconds - compared.bound) / compared.seconds;
        found_.temperature = study_.options.temperature.value_or(std::max(above / 5, kLeastTemperature));
        options_.begun();
        find_bound();
        run_chains();
        confirm();
        finish();
        answer_by_network();
        found_.wall_seconds = seconds_since(start_);
        return std::move(found_);
    }

private:
    [[nodiscard]] bool is_coarse() const { return !study_.options.coarse.empty(); }

    [[nodiscard]] std::size_t most_confirmed() const {
        return is_coarse() ? static_cast<std::size_t>(study_.options.confirmed) : 0;
    }

    [[nodiscard]] bool is_enumeration() const { return study_.options.method == SearchMethod::kEnumeration; }

    [[nodiscard]] std::uint64_t evaluations_of(std::size_t chain) const {
        const std::uint64_t all = is_enumeration()
                                      ? study_.space.size()
                                      : static_cast<std::uint64_t>(study_.options.budget.evaluations);
        return all / chains_ + (chain < all % chains_ ? 1 : 0);
    }

    [[nodiscard]] NetworkChoice network_of(const Plan& plan) const {
        NetworkChoice network;
        for (const std::size_t choice : network_choices_) {
            network.push_back(plan.choices[choice]);
        }
        return network;
    }

    void work(std::size_t chain, const SendLine& send) {
        ChainOptions options{.chain = chain,
                             .chains = chains_,
                             .evaluations = evaluations_of(chain),
                             .restarts = static_cast<std::uint64_t>(study_.options.restarts),
                             .temperature = found_.temperature,
                             .seed = study_.options.seed,
                             .known = compared_base_seconds_};
        if (const std::optional<Time> time = study_.options.budget.time) {
            const double part =
                static_cast<double>(std::min(options_.jobs, chains_)) / static_cast<double>(chains_);
            const Clock::time_point start = Clock::now();
            options.is_over = [start, most = to_seconds(*time) * part] {
                return seconds_since(start) >= most;
            };
        }
        const Evaluate evaluate = [this](const Plan& plan, double most) {
            return (is_coarse() ? coarse_evaluator_ : evaluator_).evaluate(plan, most);
        };
        if (!network_choices_.empty()) {
            options.network_of = [this](const Plan& plan) { return network_of(plan); };
        }
        BestPlans candidates(most_confirmed());
        const StepObserver observe = [&send, &candidates, this](const SearchStep& step, const Plan& plan) {
            const bool is_candidate =
                candidates.add({step.result.seconds, step.evaluation, step.chain}, plan);
            send(step_line(step, plan, network_of(plan), is_candidate));
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
        if (json.contains("is_candidate")) {
            candidates_.add(rank, plan_from_json(json["plan"], study_.space.start()));
        }
        if (step.is_best && (!found_.plan || rank < best_)) {
            best_ = rank;
            found_.best_seconds = step.result.seconds;
            found_.plan = plan_from_json(json["plan"], study_.space.start());
        }
        if (!network_choices_.empty()) {
            read_for_network(json, step, rank);
        }
        found_.steps.push_back(std::move(step));
        if (options_.observer) {
            const std::uint64_t all = is_enumeration()
                                          ? study_.space.size()
                                          : static_cast<std::uint64_t>(study_.options.budget.evaluations);
            options_.observer({found_.steps.size(), all, found_.best_seconds, compared_base_seconds_,
                               seconds_since(start_)});
        }
    }

    void read_for_network(const Json& json, const SearchStep& step,
                          const std::tuple<double, std::uint64_t, std::size_t>& rank) {
        const auto network = json["network"].get<NetworkChoice>();
        auto& [answer, best] = networks_[network];
        answer.network = network;
        ++answer.evaluations;
        answer.infeasible += step.result.outcome == Outcome::kInfeasible ? 1 : 0;
        if (step.is_best_of_network && (!answer.plan || rank < best)) {
            best = rank;
            answer.best_seconds = step.result.seconds;
            answer.plan = plan_from_json(json["plan"], study_.space.start());
        }
    }

    /// Simulates as they are the plans that are best by coarse values, those of each network too.
    void confirm() {
        if (!is_coarse()) {
            return;
        }
        std::vector<BestPlans::Ranked> plans = candidates_.plans();
        for (const auto& network_and_known : networks_) {
            const NetworkChoice& network = network_and_known.first;
            const auto& [answer, rank] = network_and_known.second;
            const auto is_its = [&](const BestPlans::Ranked& one) { return network_of(one.plan) == network; };
            if (answer.plan && std::ranges::none_of(plans, is_its)) {
                plans.push_back({rank, *answer.plan});
            }
        }
        for (const BestPlans::Ranked& one : plans) {
            if (stop()) {
                break;
            }
            const double seconds =
                evaluator_.evaluate(one.plan, std::numeric_limits<double>::infinity()).seconds;
            found_.confirmed.push_back({one.plan, std::get<double>(one.rank), seconds});
        }
        if (found_.confirmed.empty() && found_.plan) {
            return;
        }
        found_.plan.reset();
        found_.best_seconds = found_.base_seconds;
        for (auto& [network, known] : networks_) {
            known.first.best_seconds = std::numeric_limits<double>::infinity();
            known.first.plan.reset();
        }
        for (const ConfirmedPlan& one : found_.confirmed) {
            if (one.seconds < found_.best_seconds) {
                found_.best_seconds = one.seconds;
                found_.plan = one.plan;
            }
            const auto place = networks_.find(network_of(one.plan));
            if (place != networks_.end() && one.seconds < place->second.first.best_seconds) {
                place->second.first.best_seconds = one.seconds;
                place->second.first.plan = one.plan;
            }
        }
    }

    /// Completes what is known of each network by what the base takes there and by its price.
    void answer_by_network() {
        const experiment::PriceFile prices = experiment::default_prices();
        for (auto& [network, known] : networks_) {
            NetworkAnswer& answer = known.first;
            if (answer.plan && !found_.interrupted) {
                Plan baseline = study_.space.start();
                for (std::size_t i = 0; i < network_choices_.size(); ++i) {
                    baseline.choices[network_choices_[i]] = network[i];
                }
                answer.baseline_seconds =
                    evaluator_.evaluate(baseline, std::numeric_limits<double>::infinity()).seconds;
            }
            if (answer.plan) {
                const Result<experiment::Experiment> best = experiment_of(study_, *answer.plan, components_);
                ASTROLABE_ASSERT(best, "a plan that was run is an experiment");
                const Result<network::NetworkCost> cost = experiment::network_cost(*best, prices);
                answer.dollars = cost ? std::optional(cost->total()) : std::nullopt;
                answer.unpriced = cost ? std::string() : cost.error().front().message;
            }
            found_.networks.push_back(std::move(answer));
        }
        for (NetworkAnswer& one : found_.networks) {
            one.is_on_front =
                one.dollars && std::none_of(found_.networks.begin(), found_.networks.end(),
                                            [&](const NetworkAnswer& other) { return beats(other, one); });
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
        found_.is_optimum = is_enumeration() && !is_coarse() && found_.steps.size() == study_.space.size();
        if (found_.is_optimum) {
            found_.bound_seconds = found_.best_seconds;
            found_.omission.clear();
        }
    }

    const SearchStudy& study_;
    const OptimizeOptions& options_;
    PlanEvaluator evaluator_;
    PlanEvaluator coarse_evaluator_;  // unused where plans are compared as they are
    const experiment::Components& components_;
    std::size_t chains_;
    Clock::time_point start_ = Clock::now();
    Optimization found_;
    std::vector<std::size_t> network_choices_;
    double compared_base_seconds_ = 0;                     // of the base, as plans are compared
    BestPlans candidates_;                                 // to be confirmed
    std::tuple<double, std::uint64_t, std::size_t> best_;  // time, evaluation and chain of the best plan
    /// The same of each network, in the order of the study.
    std::map<NetworkChoice, std::pair<NetworkAnswer, std::tuple<double, std::uint64_t, std::size_t>>>
        networks_;
};

}  // namespace

std::vector<std::size_t> network_choices(const SearchSpace& space) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < space.choices().size(); ++i) {
        if (experiment::is_within(space.choices()[i].path, "network")) {
            places.push_back(i);
        }
    }
    return places;
}

std::uint64_t Optimization::count(Outcome outcome) const {
    return static_cast<std::uint64_t>(std::count_if(
        steps.begin(), steps.end(), [&](const SearchStep& step) { return step.result.outcome == outcome; }));
}

Result<Optimization> optimize(const SearchStudy& study, const experiment::Components& components,
                              const OptimizeOptions& options) {
    return Search(study, components, options).run();
}

}  // namespace astrolabe::study
