#include "campaign.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::testing {
namespace {

constexpr int kShrinkTries = 150;

void note_figures(Campaign& campaign, std::uint64_t seed, const std::map<std::string, double>& figures) {
    for (const auto& [name, value] : figures) {
        FigureRange& range = campaign.figures[name];
        if (range.count++ == 0 || value < range.least) {
            range.least = value;
            range.least_seed = seed;
        }
        if (range.count == 1 || value > range.most) {
            range.most = value;
            range.most_seed = seed;
        }
    }
}

/// file:line:column, or an assignment's place.
bool has_place(const std::string& refusal) {
    return refusal.find("drawn.yaml:") != std::string::npos;
}

}  // namespace

Campaign run_campaign(std::uint64_t first, std::uint64_t last) {
    const experiment::Components components = experiment::builtin_components();
    // For who looks into figures: a line of JSON for each experiment.
    const char* const log = std::getenv("ASTROLABE_PROPERTY_LOG");
    std::FILE* const file = log == nullptr ? nullptr : std::fopen(log, "a");
    Campaign campaign;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        const Tree experiment = random_experiment(seed);
        const Checked checked = check_isolated(components, experiment, seed);
        if (!checked.refusal.empty()) {
            ++campaign.refused;
            if (!has_place(checked.refusal)) {
                campaign.unplaced.push_back(
                    fmt::format("seed {}: {}\n{}", seed, checked.refusal, to_yaml_text(experiment)));
            }
        } else {
            ++campaign.ran;
        }
        for (const std::string& invariant : checked.tried) {
            ++campaign.tried[invariant];
        }
        note_figures(campaign, seed, checked.figures);
        for (const Violation& violation : checked.violations) {
            std::string text = fmt::format("seed {}: {}: {}\n{}", seed, violation.invariant, violation.what,
                                           to_yaml_text(experiment));
            if (campaign.violated[violation.invariant]++ == 0) {
                text += fmt::format("shrunk:\n{}", to_yaml_text(shrunk(components, experiment, seed,
                                                                       violation.invariant, kShrinkTries)));
            }
            campaign.failures.push_back(std::move(text));
        }
        if (file != nullptr) {
            Tree line{{"seed", seed}, {"refusal", checked.refusal}, {"figures", checked.figures}};
            for (const Violation& violation : checked.violations) {
                line["violations"].push_back({violation.invariant, violation.what});
            }
            line["experiment"] = experiment;
            std::fputs((line.dump(-1, ' ', false, Tree::error_handler_t::replace) + "\n").c_str(), file);
            std::fflush(file);
        }
    }
    if (file != nullptr) {
        std::fclose(file);
    }
    return campaign;
}

std::string campaign_problems(const Campaign& campaign) {
    std::string problems;
    for (const std::vector<std::string>* found : {&campaign.failures, &campaign.unplaced}) {
        for (const std::string& problem : *found) {
            problems += problem + "\n";
        }
    }
    if (campaign.refused > campaign.ran + 1) {  // a single draw may be refused
        problems += fmt::format("{} draws were refused, and {} ran\n", campaign.refused, campaign.ran);
    }
    return problems;
}

std::string campaign_text(const Campaign& campaign) {
    std::string text = fmt::format("{} experiments ran, {} were refused\n", campaign.ran, campaign.refused);
    for (const auto& [invariant, count] : campaign.tried) {
        const auto violated = campaign.violated.find(invariant);
        text += fmt::format("{:<45} {:>6} tried {:>4} violated\n", invariant, count,
                            violated == campaign.violated.end() ? 0 : violated->second);
    }
    for (const auto& [name, range] : campaign.figures) {
        text += fmt::format("{:<25} {:>6} of them, {:.4g} (seed {}) to {:.4g} (seed {})\n", name, range.count,
                            range.least, range.least_seed, range.most, range.most_seed);
    }
    return text;
}

}  // namespace astrolabe::testing
