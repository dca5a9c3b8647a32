#include "space_bound.hpp"

#include "plan_evaluator.hpp"
#include "plan_writing.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/lower_bound.hpp>
#include <astrolabe/experiment/file/config_path.hpp>

namespace astrolabe::study {
namespace {

using workload::TableSharding;

/// How the tables of a space lie in the experiment that no placement beats.
enum class Relaxation : std::uint8_t { kNone, kRoundRobin, kBalanced, kWithoutEmbeddings };

Relaxation relaxation_of(const SearchSpace& space) {
    if (!space.moves()) {
        return Relaxation::kNone;
    }
    if (std::holds_alternative<workload::CountedTables>(space.start().tables)) {
        // Tables that stay may be on the fullest node; that round_robin has no more on it still holds.
        return Relaxation::kRoundRobin;
    }
    const auto splits_columns = [](TableSharding kind) {
        return kind == TableSharding::kTableWise || kind == TableSharding::kColumnWise ||
               kind == TableSharding::kTableColumnWise;
    };
    const auto& kinds = space.moves()->kinds;
    const auto& places = std::get<workload::PlacedTables>(space.start().tables).places;
    const bool columns_only =
        std::all_of(kinds.begin(), kinds.end(), splits_columns) &&
        std::all_of(places.begin(), places.end(),
                    [&](const workload::TablePlace& place) { return splits_columns(place.sharding); });
    return columns_only ? Relaxation::kBalanced : Relaxation::kWithoutEmbeddings;
}

void put(ConfigNode& root, const char* path, const char* value) {
    const std::string_view nowhere = experiment::set_at(root, path, ConfigNode::scalar(value));
    ASTROLABE_ASSERT(nowhere.empty(), "a workload with tables has these keys");
}

void drop(ConfigNode& root, const char* section, std::string_view key) {
    if (ConfigNode* node = experiment::node_at(root, section)) {
        std::erase_if(node->entries, [&](const ConfigEntry& entry) { return entry.key == key; });
    }
}

void relax(ConfigNode& root, Relaxation relaxation) {
    if (relaxation == Relaxation::kRoundRobin) {
        drop(root, "workload", "tables_per_node");
        put(root, "workload.placement", "round_robin");
    } else if (relaxation != Relaxation::kNone) {
        drop(root, "workload", "sharding");
        put(root, "workload.sharding.plan", "balanced");
    }
}

double relaxed_bound(experiment::Experiment& experiment, Relaxation relaxation) {
    std::int64_t rounded = 0;
    if (relaxation == Relaxation::kWithoutEmbeddings) {
        for (system::Operation& operation : experiment.program.operations) {
            if (operation.layer.starts_with("Embedding")) {
                operation.work = system::ComputeOperation{};
            }
        }
    } else if (relaxation == Relaxation::kBalanced) {
        rounded = static_cast<std::int64_t>(experiment.program.operations.size());
    }
    experiment::Bound bound = experiment::lower_bound(experiment.program, experiment.cluster.options,
                                                      *experiment.fabric, experiment.placement);
    if (experiment.network_is_built_for_job && relaxation != Relaxation::kNone) {
        bound.communication = Time(0);
    }
    return std::max(iteration_seconds(experiment, bound.value()) - to_seconds(Time(rounded)), 0.0);
}

/// Whether a combination is refused for what it is without its tables.
bool is_refused_for_all_tables(const Diagnostics& errors) {
    constexpr std::array<std::string_view, 5> kCodes{"config.ranks", "config.traffic-class",
                                                     "config.circuits", "config.rings", "config.backend"};
    return std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& error) {
        return std::find(kCodes.begin(), kCodes.end(), error.code) != kCodes.end();
    });
}

}  // namespace

SpaceBound bound_of_space(const SearchStudy& study, const experiment::Components& components,
                          const std::function<bool()>& stop) {
    const SearchSpace& space = study.space;
    if (space.combinations() > kMostBoundedCombinations) {
        return {0, fmt::format("more than {} combinations of choices", kMostBoundedCombinations)};
    }
    const Relaxation relaxation = relaxation_of(space);
    const SearchSpace choices(space.choices(), std::nullopt, space.start());
    std::optional<double> least;
    for (std::uint64_t number = 0; number < choices.size(); ++number) {
        if (stop()) {
            return {0, "interrupted"};
        }
        ConfigNode root = study.base;
        std::vector<std::string> paths = study.set;
        relax(root, relaxation);
        write_choices(root, space.choices(), choices.at(number), paths);
        Result<experiment::Experiment> experiment =
            experiment::read_experiment(std::move(root), paths, study.name, {}, components);
        if (experiment) {
            const double bound = relaxed_bound(*experiment, relaxation);
            least = std::min(least.value_or(bound), bound);
        } else if (relaxation != Relaxation::kNone && !is_refused_for_all_tables(experiment.error())) {
            return {0, "tables that are spread evenly are refused"};
        }
    }
    if (!least) {
        return {0, "every combination of choices is refused"};
    }
    // The base is the answer where nothing is faster, and need not be a plan of the space.
    return {std::min(*least, bound_seconds(study.reference)), ""};
}

}  // namespace astrolabe::study
