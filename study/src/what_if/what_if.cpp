#include "../process/exit_code.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/study/process/processes.hpp>
#include <astrolabe/study/what_if/what_if.hpp>

namespace astrolabe::study {
namespace {

constexpr int kRefusedCode = 3;  // of a file that cannot be run (docs/results.md, "Exit codes")

/// Of the whole run: of a base that took no time everything is carried through.
std::optional<Time> longest_of(const nlohmann::json& base, const Change& change) {
    const double seconds = kMostTimes * change.samples * base.at("total_time_s").get<double>();
    const double picoseconds = seconds * static_cast<double>(kPicosecondsPerSecond);
    return picoseconds >= 1 && picoseconds < static_cast<double>(Time::max().count())
               ? std::optional(Time(static_cast<std::int64_t>(picoseconds)))
               : std::nullopt;
}

std::vector<std::string> run_words(const WhatIfRequest& request, const std::vector<std::string>& more,
                                   const std::optional<Time>& longest) {
    std::vector<std::string> words{"run", request.file.string(), "--json", "--progress=none"};
    if (longest) {
        words.push_back("--within=" + to_string(*longest));
    }
    for (const auto* overrides : {&request.load.overrides, &more}) {
        for (const std::string& assignment : *overrides) {
            words.push_back("--set=" + assignment);
        }
    }
    if (request.load.seed) {
        words.push_back(fmt::format("--seed={}", *request.load.seed));
    }
    return words;
}

/// What the first error says, else the first line.
std::string first_error(std::string_view text) {
    constexpr std::string_view kMark = "error[";
    std::size_t from = text.find(kMark);
    if (from != std::string_view::npos) {
        const std::size_t end = text.find("]: ", from);
        from = end == std::string_view::npos ? from : end + 3;
    } else {
        constexpr std::string_view kProgram = "astrolabe: ";
        from = text.starts_with(kProgram) ? kProgram.size() : 0;
    }
    return std::string(text.substr(from, text.find('\n', from) - from));
}

std::optional<double> price_of(const experiment::Experiment& experiment,
                               const experiment::PriceFile& prices) {
    const Result<network::NetworkCost> cost = experiment::network_cost(experiment, prices);
    return cost ? std::optional(cost->total()) : std::nullopt;
}

/// Of the network with a change, over that of the base.
std::optional<double> extra_price(const WhatIfRequest& request, const Change& change, double base,
                                  const experiment::Components& components) {
    experiment::LoadOptions load = request.load;
    load.overrides.insert(load.overrides.end(), change.overrides.begin(), change.overrides.end());
    const Result<experiment::Experiment> changed =
        experiment::load_experiment(request.file, load, components);
    const std::optional<double> price = changed ? price_of(*changed, request.prices) : std::nullopt;
    return price ? std::optional(*price - base) : std::nullopt;
}

void read_outcome(ChangedRun& run, const ProcessOutcome& outcome) {
    run.exit_code = outcome.exit_code;
    if (outcome.exit_code != 0) {
        run.reason = first_error(outcome.err);
        if (run.reason.empty()) {
            run.reason = "the run " + end_text(outcome.exit_code);
        }
        return;
    }
    const auto summary = nlohmann::json::parse(outcome.out);
    run.is_slower = summary.contains("at_least_s");
    if (run.is_slower) {
        return;
    }
    run.seconds = summary.at("mean_iteration_time_s").get<double>();
    run.fingerprint = summary.at("fingerprint").get<std::string>();
}

/// With how it ended where it did not say so itself, as one that was killed.
FailedBase failed_base(const ProcessOutcome& outcome) {
    std::string error = outcome.err;
    if (error.empty() || outcome.exit_code > kKilledBySignal) {
        error += fmt::format("astrolabe: the run as it is {}\n", end_text(outcome.exit_code));
    }
    return {outcome.exit_code, std::move(error)};
}

}  // namespace

bool ChangedRun::is_unsupported() const {
    return !change.unsupported.empty() || exit_code == kRefusedCode;
}

double WhatIf::saved(const ChangedRun& run) const {
    return seconds > 0 ? 1 - run.seconds / run.change.samples / seconds : 0;
}

std::optional<double> WhatIf::elasticity(const ChangedRun& run) const {
    if (run.change.factor <= 0 || run.seconds <= 0 || seconds <= 0) {
        return std::nullopt;
    }
    return std::log(run.seconds / seconds) / std::log(run.change.factor);
}

std::optional<double> WhatIf::dollars_per_percent(const ChangedRun& run) const {
    const double percent = 100 * saved(run);
    // Less than a tenth of a percent is not bought.
    return run.extra_dollars && *run.extra_dollars > 0 && percent >= 0.1
               ? std::optional(*run.extra_dollars / percent)
               : std::nullopt;
}

std::variant<WhatIf, FailedBase> what_if(const WhatIfRequest& request, const experiment::Experiment& base,
                                         const experiment::Components& components) {
    WhatIf result;
    result.name = base.name;
    result.dollars = price_of(base, request.prices);
    const auto runs = 1 + static_cast<std::size_t>(
                              std::count_if(request.changes.begin(), request.changes.end(),
                                            [](const Change& change) { return change.unsupported.empty(); }));
    const auto report = [&](std::size_t ended, const std::string& name) {
        if (request.observer) {
            request.observer(ended, runs, name);
        }
    };
    const std::vector<std::vector<std::string>> first{run_words(request, {}, std::nullopt)};
    const ProcessOutcome as_it_is = run_own_processes(first, 1).front();
    if (as_it_is.exit_code != 0) {
        return failed_base(as_it_is);
    }
    report(1, "as it is");
    const auto summary = nlohmann::json::parse(as_it_is.out);
    result.seconds = summary.at("mean_iteration_time_s").get<double>();
    result.fingerprint = summary.at("fingerprint").get<std::string>();

    std::vector<std::vector<std::string>> words;
    std::vector<std::size_t> place;  // in result.runs
    for (const Change& change : request.changes) {
        ChangedRun& run = result.runs.emplace_back();
        run.change = change;
        run.reason = change.unsupported;
        if (change.unsupported.empty()) {
            place.push_back(result.runs.size() - 1);
            words.push_back(run_words(request, change.overrides, longest_of(summary, change)));
        }
    }
    std::size_t ended = 1;
    const std::vector<ProcessOutcome> outcomes = run_own_processes(
        words, request.jobs,
        [&](std::size_t at, const ProcessOutcome&) { report(++ended, result.runs[place[at]].change.name); });
    for (std::size_t i = 0; i < place.size(); ++i) {
        ChangedRun& run = result.runs[place[i]];
        read_outcome(run, outcomes[i]);
        if (run.finished() && run.change.has_price && result.dollars) {
            run.extra_dollars = extra_price(request, run.change, *result.dollars, components);
        }
    }
    const auto rank = [](const ChangedRun& run) { return run.finished() ? 0 : run.is_slower ? 1 : 2; };
    std::stable_sort(result.runs.begin(), result.runs.end(), [&](const ChangedRun& a, const ChangedRun& b) {
        return rank(a) == 0 && rank(b) == 0 ? result.saved(a) > result.saved(b) : rank(a) < rank(b);
    });
    return result;
}

}  // namespace astrolabe::study
