#include "plan_writing.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/file/config_path.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/results/run_files.hpp>
#include <astrolabe/study/search/optimization.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::kSimulated:
            return "simulated";
        case Outcome::kRemembered:
            return "remembered";
        case Outcome::kRejectedByBound:
            return "rejected_by_bound";
        case Outcome::kGivenUp:
            return "given_up";
        case Outcome::kInfeasible:
            return "infeasible";
    }
    invariant_failed("outcome", "every outcome has a name");
}

Json to_json(const ConfigNode& node) {
    if (node.is_scalar()) {
        return node.text;
    }
    Json json = node.is_sequence() ? Json::array() : Json::object();
    for (const ConfigNode& item : node.items) {
        json.push_back(to_json(item));
    }
    for (const ConfigEntry& entry : node.entries) {
        json[entry.key] = to_json(entry.value);
    }
    return json;
}

/// What the best plan sets, as paths and values.
std::vector<std::pair<std::string, ConfigNode>> values_of(const SearchStudy& study, const Plan& plan) {
    ConfigNode root = ConfigNode::mapping();
    std::vector<std::string> paths;
    if (study.space.moves()) {
        write_tables(root, plan.tables, *study.space.moves(), paths);
    }
    std::vector<std::pair<std::string, ConfigNode>> values;
    for (const std::string& path : paths) {
        values.emplace_back(path, *root.find_path(path));
    }
    for (std::size_t i = 0; i < study.space.choices().size(); ++i) {
        const Choice& choice = study.space.choices()[i];
        values.emplace_back(choice.path, choice.alternatives[plan.choices[i]]);
    }
    return values;
}

Json seconds_json(double seconds) {
    return std::isfinite(seconds) && seconds > 0 ? Json(seconds) : Json();
}

std::string trace_csv(const Optimization& found) {
    std::string text = "chain,evaluation,move,outcome,time_s,bound_s,accepted,best_s\n";
    const auto seconds = [](double value) {
        return std::isfinite(value) && value > 0 ? fmt::format("{}", value) : std::string();
    };
    for (const SearchStep& step : found.steps) {
        text += fmt::format("{},{},{},{},{},{},{},{}\n", step.chain, step.evaluation,
                            experiment::csv_field(step.move), name_of(step.result.outcome),
                            seconds(step.result.seconds), seconds(step.result.bound), step.accepted ? 1 : 0,
                            seconds(step.best));
    }
    return text;
}

/// One line, or the number of lines.
std::string brief(const ConfigNode& value) {
    constexpr std::size_t kMost = 100;
    const std::string text = value.is_scalar() ? value.text : to_json(value).dump();
    return text.size() <= kMost ? text : text.substr(0, kMost) + "…";
}

Json json_of_plan(const SearchStudy& study, const Plan& plan) {
    Json json = Json::object();
    for (const auto& [path, value] : values_of(study, plan)) {
        json[path] = to_json(value);
    }
    return json;
}

/// What the network is, as paths and values.
std::vector<std::pair<std::string, ConfigNode>> values_of_network(const SearchStudy& study,
                                                                  const NetworkChoice& network) {
    std::vector<std::pair<std::string, ConfigNode>> values;
    const std::vector<std::size_t> choices = network_choices(study.space);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const Choice& choice = study.space.choices()[choices[i]];
        values.emplace_back(choice.path, choice.alternatives[network[i]]);
    }
    return values;
}

Json networks_json(const SearchStudy& study, const Optimization& found) {
    Json networks = Json::array();
    for (const NetworkAnswer& answer : found.networks) {
        Json network = Json::object();
        for (const auto& [path, value] : values_of_network(study, answer.network)) {
            network[path] = to_json(value);
        }
        Json json{{"network", std::move(network)},
                  {"best_time_s", seconds_json(answer.best_seconds)},
                  {"baseline_time_s", seconds_json(answer.baseline_seconds)},
                  {"baseline_over_best", std::isfinite(answer.baseline_seconds)
                                             ? Json(answer.baseline_seconds / answer.best_seconds)
                                             : Json()},
                  {"cost_usd", answer.dollars ? Json(*answer.dollars) : Json()},
                  {"on_front", answer.is_on_front},
                  {"evaluations", answer.evaluations},
                  {"infeasible", answer.infeasible},
                  {"best", answer.plan ? json_of_plan(study, *answer.plan) : Json()}};
        if (!answer.unpriced.empty()) {
            json["unpriced"] = answer.unpriced;
        }
        networks.push_back(std::move(json));
    }
    return networks;
}

/// "fat_tree", the stem of a file, or "network.degree 4" where only a key of the network is a choice.
std::string network_label(const SearchStudy& study, const NetworkAnswer& answer) {
    std::string label;
    for (const auto& [path, value] : values_of_network(study, answer.network)) {
        const ConfigNode* kind = value.find("kind");
        label += label.empty() ? "" : ", ";
        if (kind != nullptr) {
            label += kind->text;
        } else if (path == "network" && value.is_scalar()) {
            label += std::filesystem::path(value.text).stem().string();
        } else {
            label += fmt::format("{} {}", path, brief(value));
        }
    }
    return label;
}

std::string networks_text(const SearchStudy& study, const Optimization& found) {
    std::string text = fmt::format("  {:<24} {:>13} {:>13} {:>10} {:>12}\n", "best of each network",
                                   "iteration", "base's plan", "over best", "network $");
    for (const NetworkAnswer& answer : found.networks) {
        const auto time = [](double seconds) {
            return std::isfinite(seconds) ? experiment::readable_seconds(seconds) : std::string("-");
        };
        text += fmt::format("    {:<22} {:>13} {:>13} {:>10} {:>12}{}\n", network_label(study, answer),
                            time(answer.best_seconds), time(answer.baseline_seconds),
                            std::isfinite(answer.baseline_seconds)
                                ? fmt::format("{:.4g}", answer.baseline_seconds / answer.best_seconds)
                                : "-",
                            answer.dollars ? fmt::format("{:.0f}", *answer.dollars) : "-",
                            answer.is_on_front ? "  on the front of time and cost" : "");
        for (const auto& [path, value] : answer.plan ? values_of(study, *answer.plan)
                                                     : std::vector<std::pair<std::string, ConfigNode>>()) {
            if (!experiment::is_within(path, "network")) {
                text += fmt::format("      {}: {}\n", path, brief(value));
            }
        }
    }
    return text;
}

/// By which part of it a plan's time differs most from the one that it was compared by.
double largest_difference(const Optimization& found) {
    double most = 0;
    for (const ConfirmedPlan& one : found.confirmed) {
        if (std::isfinite(one.seconds)) {
            most = std::max(most, std::abs(one.coarse_seconds / one.seconds - 1));
        }
    }
    return most;
}

Json coarse_json(const SearchStudy& study, const Optimization& found) {
    Json values = Json::object();
    for (const CoarseValue& coarse : study.options.coarse) {
        values[coarse.path] = to_json(coarse.value);
    }
    Json confirmed = Json::array();
    for (const ConfirmedPlan& one : found.confirmed) {
        confirmed.push_back({{"coarse_time_s", one.coarse_seconds}, {"time_s", seconds_json(one.seconds)}});
    }
    return {{"values", std::move(values)},
            {"base_time_s", *found.coarse_base_seconds},
            {"confirmed", std::move(confirmed)}};
}

std::string coarse_text(const SearchStudy& study, const Optimization& found) {
    std::string text;
    for (const CoarseValue& coarse : study.options.coarse) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", coarse.path, brief(coarse.value));
    }
    return found.confirmed.empty()
               ? text + "; no plan was simulated as it is"
               : fmt::format("{}; {} of the best simulated as they are, at most {:.2g} % from that", text,
                             found.confirmed.size(), 100 * largest_difference(found));
}

double gap(const Optimization& found) {
    return found.best_seconds / found.bound_seconds - 1;
}

}  // namespace

Json optimization_json(const SearchStudy& study, const Optimization& found) {
    Json plan = found.plan ? json_of_plan(study, *found.plan) : Json();
    const bool is_enumeration = study.options.method == SearchMethod::kEnumeration;
    Json json{{"schema", experiment::kSchemaName},
              {"name", study.name},
              {"version", experiment::program_version()},
              {"seed", study.options.seed},
              {"method", is_enumeration ? "enumeration" : "annealing"},
              {"chains", study.options.chains},
              {"temperature", is_enumeration ? Json() : Json(found.temperature)},
              {"base_time_s", found.base_seconds},
              {"best_time_s", found.best_seconds},
              {"speed_up", found.base_seconds / found.best_seconds},
              {"lower_bound_s", seconds_json(found.bound_seconds)},
              {"gap", found.bound_seconds > 0 ? Json(gap(found)) : Json()},
              {"optimum", found.is_optimum},
              {"plans", study.space.is_countable() ? Json(study.space.size()) : Json()},
              {"evaluations", found.steps.size()},
              {"simulated", found.count(Outcome::kSimulated)},
              {"remembered", found.count(Outcome::kRemembered)},
              {"rejected_by_bound", found.count(Outcome::kRejectedByBound)},
              {"given_up", found.count(Outcome::kGivenUp)},
              {"infeasible", found.count(Outcome::kInfeasible)},
              {"interrupted", found.interrupted},
              {"best", std::move(plan)}};
    if (found.coarse_base_seconds) {
        json["coarse"] = coarse_json(study, found);
    }
    if (!found.networks.empty()) {
        json["networks"] = networks_json(study, found);
    }
    if (!found.omission.empty()) {
        json["omission"] = found.omission;
    }
    json["engine"] = {{"wall_s", found.wall_seconds}};
    return json;
}

std::string optimization_text(const SearchStudy& study, const Optimization& found) {
    std::string text =
        fmt::format("{}: {} an iteration, {:.4g} times as fast as the base with {}\n", study.name,
                    experiment::readable_seconds(found.best_seconds), found.base_seconds / found.best_seconds,
                    experiment::readable_seconds(found.base_seconds));
    const auto line = [&text](const char* name, const std::string& value) {
        text += fmt::format("  {:<13}{}\n", name, value);
    };
    line("plans",
         study.space.is_countable() ? fmt::format("{}", study.space.size()) : "more than 64 bits can count");
    if (found.is_optimum) {
        line("optimum", "of all plans");
    } else if (found.bound_seconds > 0) {
        line("lower bound",
             fmt::format("{}, {:.2f} % below", experiment::readable_seconds(found.bound_seconds),
                         100 * (1 - found.bound_seconds / found.best_seconds)));
    } else {
        line("lower bound", "not known: " + found.omission);
    }
    line("evaluations",
         fmt::format(
             "{} by {}: {} simulated, {} remembered, {} rejected by their bound, {} given up, {} infeasible; "
             "{:.1f} s",
             found.steps.size(),
             study.options.method == SearchMethod::kEnumeration ? "enumeration" : "annealing",
             found.count(Outcome::kSimulated), found.count(Outcome::kRemembered),
             found.count(Outcome::kRejectedByBound), found.count(Outcome::kGivenUp),
             found.count(Outcome::kInfeasible), found.wall_seconds));
    if (found.coarse_base_seconds) {
        line("compared by", coarse_text(study, found));
    }
    if (!found.plan) {
        line("best plan", "the base: nothing that was looked at is faster");
    } else {
        text += "  best plan\n";
        for (const auto& [path, value] : values_of(study, *found.plan)) {
            text += fmt::format("    {}: {}\n", path, brief(value));
        }
    }
    return found.networks.empty() ? text : text + networks_text(study, found);
}

Diagnostics write_optimization(const experiment::OutputFolder& folder, const SearchStudy& study,
                               const Optimization& found) {
    const experiment::Experiment& best = found.best ? *found.best : study.reference;
    const std::string experiment =
        fmt::format("# the best plan of '{}', found by astrolabe {}: {} an iteration\n{}", study.name,
                    experiment::program_version(), experiment::readable_seconds(found.best_seconds),
                    to_yaml(best.resolved));
    Diagnostics errors;
    for (const auto& [name, content] :
         {std::pair<const char*, std::string>{"best.yaml", experiment}, {"trace.csv", trace_csv(found)}}) {
        if (std::optional<Diagnostic> error = folder.write(name, content)) {
            errors.push_back(std::move(*error));
        }
    }
    if (errors.empty()) {
        if (std::optional<Diagnostic> error =
                experiment::write_summary(folder, optimization_json(study, found))) {
            errors.push_back(std::move(*error));
        }
    }
    return errors;
}

}  // namespace astrolabe::study
