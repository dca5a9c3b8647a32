#include "../file/study_file.hpp"
#include "../file/study_keys.hpp"
#include "plan_writing.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/file/config_path.hpp>
#include <astrolabe/study/search/search_study.hpp>

namespace astrolabe::study {
namespace {

using workload::TableSharding;

/// Codes of what one experiment refuses and another may take.
bool depends_on_the_rest(const Diagnostic& error) {
    constexpr std::array<std::string_view, 9> kCodes{
        "config.inconsistent", "config.ranks",    "config.traffic-class",
        "config.algorithm",    "config.circuits", "config.rings",
        "config.backend",      "config.traffic",  "config.time"};
    return std::find(kCodes.begin(), kCodes.end(), error.code) != kCodes.end();
}

/// In the order of the first of each, which plans are numbered by.
std::vector<TableSharding> each_once(const std::vector<TableSharding>& kinds) {
    std::vector<TableSharding> once;
    for (const TableSharding kind : kinds) {
        if (std::find(once.begin(), once.end(), kind) == once.end()) {
            once.push_back(kind);
        }
    }
    return once;
}

/// Reads the parts of a study, from the file to a space.
class StudyReader {
public:
    StudyReader(const experiment::Components& components, ReadContext& context)
        : components_(components),
          context_(context) {}

    [[nodiscard]] bool check_choices(const std::vector<GivenChoice>& choices, const ConfigNode& base,
                                     const std::vector<std::string>& set) {
        const std::size_t before = context_.error_count();
        for (std::size_t i = 0; i < choices.size(); ++i) {
            for (std::size_t j = 0; j < choices.size(); ++j) {
                if (i != j && experiment::is_within(choices[i].choice.path, choices[j].choice.path)) {
                    context_.error("config.choice", choices[i].where,
                                   fmt::format("'{}' is part of '{}', which is a choice too",
                                               choices[i].choice.path, choices[j].choice.path),
                                   "put it into the alternatives of the larger part");
                }
            }
            check_alternatives(choices[i], base, set);
        }
        return context_.error_count() == before;
    }

    [[nodiscard]] std::optional<TableMoves> moves(const TableKeys& keys, const ConfigNode& node,
                                                  const workload::MovableTables& tables, std::size_t ranks) {
        TableMoves moves{.shards = keys.shards, .ranks = keys.ranks, .ranks_per_host = keys.ranks_per_host};
        if (!keys.kinds.empty()) {
            moves.kinds = each_once(keys.kinds);
        }
        const std::size_t before = context_.error_count();
        if (moves.ranks.empty()) {
            moves.ranks.resize(ranks);
            std::iota(moves.ranks.begin(), moves.ranks.end(), std::int64_t{0});
        }
        for (auto* list : {&moves.shards, &moves.ranks}) {
            std::sort(list->begin(), list->end());
            list->erase(std::unique(list->begin(), list->end()), list->end());
        }
        if (moves.ranks.back() >= static_cast<std::int64_t>(ranks)) {
            problem(node, "ranks",
                    fmt::format("there are {} ranks, numbered from 0, and no {}", ranks, moves.ranks.back()),
                    "");
        }
        if (std::holds_alternative<workload::CountedTables>(tables)) {
            if (!keys.kinds.empty() || !keys.shards.empty() || keys.ranks_per_host) {
                problem(node, "", "tables of this workload are placed whole: only 'ranks' can be given",
                        "leave the others out");
            }
        } else {
            check_kinds(moves, node, std::get<workload::PlacedTables>(tables), ranks);
        }
        return context_.error_count() == before ? std::optional(moves) : std::nullopt;
    }

private:
    void problem(const ConfigNode& node, const std::string& key, std::string message, std::string hint) {
        report_validation_errors(node, {{key, std::move(message), std::move(hint)}}, context_);
    }

    /// Each alternative by itself in the base.
    void check_alternatives(const GivenChoice& given, const ConfigNode& base,
                            const std::vector<std::string>& set) {
        for (const ConfigNode& alternative : given.choice.alternatives) {
            ConfigNode root = base;
            const std::string_view nowhere = experiment::set_at(root, given.choice.path, alternative);
            if (!nowhere.empty()) {
                report_nowhere(given.choice.path, nowhere, given.where, context_);
                return;
            }
            std::vector<std::string> paths = set;
            paths.push_back(given.choice.path);
            const Result<experiment::Experiment> alone =
                experiment::read_experiment(std::move(root), paths, "", {}, components_);
            for (const Diagnostic& error : alone ? Diagnostics{} : alone.error()) {
                if (!depends_on_the_rest(error)) {
                    context_.error(error);
                }
            }
        }
    }

    void check_kinds(TableMoves& moves, const ConfigNode& node, const workload::PlacedTables& tables,
                     std::size_t ranks) {
        const auto allows = [&](TableSharding kind) {
            return std::find(moves.kinds.begin(), moves.kinds.end(), kind) != moves.kinds.end();
        };
        if (allows(TableSharding::kGrid)) {
            problem(node, "kinds", "the search does not move the shards of a grid",
                    "leave grid out; the planner of workload.sharding chooses among grids as well");
            return;
        }
        const bool on_hosts = allows(TableSharding::kTableColumnWise) || allows(TableSharding::kTableRowWise);
        if (allows(TableSharding::kColumnWise) == moves.shards.empty()) {
            problem(
                node, moves.shards.empty() ? "kinds" : "shards",
                moves.shards.empty() ? "column_wise needs numbers of shards" : "only column_wise has shards",
                moves.shards.empty() ? "give shards: [2, 4]" : "allow column_wise, or leave shards out");
        }
        if (moves.ranks_per_host.has_value() != on_hosts) {
            problem(node, on_hosts ? "kinds" : "ranks_per_host",
                    on_hosts ? "sharding within a host needs its size" : "no kind is on hosts",
                    on_hosts ? "give ranks_per_host" : "leave it out");
            return;
        }
        if (on_hosts && static_cast<std::int64_t>(ranks) % *moves.ranks_per_host != 0) {
            problem(node, "ranks_per_host",
                    fmt::format("{} ranks cannot be divided in hosts of {}", ranks, *moves.ranks_per_host),
                    "choose a divisor of the number of ranks");
            return;
        }
        moves.hosts = on_hosts ? static_cast<std::int64_t>(ranks) / *moves.ranks_per_host : 0;
        for (std::size_t table = 0; table < tables.dimensions.size(); ++table) {
            if (!has_place(moves, tables.dimensions[table])) {
                problem(node, "kinds",
                        fmt::format("none of the kinds takes table {}, of {} columns", table,
                                    tables.dimensions[table]),
                        "allow table_wise");
                return;
            }
        }
    }

    [[nodiscard]] static bool has_place(const TableMoves& moves, std::int64_t dimension) {
        return std::any_of(moves.kinds.begin(), moves.kinds.end(), [&](TableSharding kind) {
            if (kind == TableSharding::kColumnWise) {
                return !moves.shards.empty() && moves.shards.front() <= dimension &&
                       moves.shards.front() <= static_cast<std::int64_t>(moves.ranks.size());
            }
            return kind != TableSharding::kTableColumnWise || *moves.ranks_per_host <= dimension;
        });
    }

    const experiment::Components& components_;
    ReadContext& context_;
};

/// What tables lie where decides itself: a choice of it and moves of tables would contradict each other.
void check_overlap(const OptimizeKeys& keys, ReadContext& context) {
    for (const GivenChoice& given : keys.choices) {
        for (const char* part :
             {"workload.kind", "workload.model", "workload.parallelism", "workload.sharding",
              "workload.placement", "workload.tables_per_node", "cluster.ranks"}) {
            if (keys.tables && (experiment::is_within(given.choice.path, part) ||
                                experiment::is_within(part, given.choice.path))) {
                context.error(
                    "config.choice", given.where,
                    fmt::format("'{}' cannot be a choice where 'tables' are moved", given.choice.path),
                    "leave out the one or the other");
            }
        }
    }
}

/// Decides the method, and reports a budget that cannot do with it what the study asks for.
void check_budget(const SearchSpace& space, SearchOptions& search, const ConfigNode& optimize,
                  ReadContext& context) {
    constexpr std::uint64_t kMostEnumerated = 4096;
    const auto budget = static_cast<std::uint64_t>(search.budget.evaluations);
    if (search.method == SearchMethod::kAuto) {
        search.method = space.size() <= std::min(budget, kMostEnumerated) ? SearchMethod::kEnumeration
                                                                          : SearchMethod::kAnnealing;
    }
    const auto report = [&](const char* key, std::string message, std::string hint) {
        const ConfigNode* given = optimize.find(key);
        context.error("config.search", (given != nullptr ? *given : optimize).where, std::move(message),
                      std::move(hint));
    };
    // The first evaluation of a chain is of where it starts.
    const std::int64_t moves = search.budget.evaluations / search.chains - 1;
    if (space.size() < 2) {
        report("", "there is only one plan, nothing to choose from",
               "give a choice two alternatives, or 'tables' more than one place");
    } else if (search.method == SearchMethod::kEnumeration) {
        if (space.size() > budget) {
            report("method",
                   fmt::format("{} are more than the budget of {} evaluations",
                               space.is_countable() ? fmt::format("{} plans", space.size())
                                                    : "plans that 64 bits cannot count",
                               budget),
                   "raise budget.evaluations, or choose method: annealing");
        }
    } else if (moves < 1) {
        report(search.chains > 1 ? "chains" : "budget",
               fmt::format("of {} evaluations a chain has {}, and needs one for where it starts", budget,
                           moves + 1),
               "raise budget.evaluations, or take fewer chains");
    } else if (search.restarts >= moves) {
        report("restarts",
               fmt::format("{} restarts cut a chain of {} moves into {} parts", search.restarts, moves,
                           search.restarts + 1),
               "raise budget.evaluations, or take fewer restarts");
    }
}

std::uint32_t nearest_alternative(const Choice& choice, const ConfigNode& base, const ConfigNode& resolved) {
    for (const ConfigNode* tree : {&base, &resolved}) {
        const ConfigNode* value = tree->find_path(choice.path);
        for (std::size_t i = 0; value != nullptr && i < choice.alternatives.size(); ++i) {
            if (to_yaml(choice.alternatives[i]) == to_yaml(*value)) {
                return static_cast<std::uint32_t>(i);
            }
        }
    }
    return 0;
}

/// A choice of what a coarse value is part of, or has as a part, would be undone by it or undo it.
void check_coarse(const OptimizeKeys& keys, const ConfigNode& optimize, ReadContext& context) {
    const ConfigNode* confirmed = optimize.find("confirmed");
    if (keys.coarse.empty() && confirmed != nullptr) {
        context.error("config.search", confirmed->where,
                      "plans are compared as they are, so there is nothing to confirm",
                      "leave 'confirmed' out, or say by what plans are compared in 'coarse'");
    }
    for (const CoarseValue& coarse : keys.coarse) {
        for (const GivenChoice& given : keys.choices) {
            if (experiment::is_within(given.choice.path, coarse.path) ||
                experiment::is_within(coarse.path, given.choice.path)) {
                context.error("config.choice", optimize.find("coarse")->where,
                              fmt::format("plans cannot be compared by '{}' where '{}' is a choice",
                                          coarse.path, given.choice.path),
                              "leave out the one or the other");
            }
        }
    }
}

/// `root`, and the coarse values where they are asked for.
Result<experiment::Experiment> read_at(Fidelity fidelity, const SearchStudy& study, ConfigNode root,
                                       std::vector<std::string> paths,
                                       const experiment::Components& components) {
    if (fidelity == Fidelity::kCoarse) {
        for (const CoarseValue& coarse : study.options.coarse) {
            const std::string_view nowhere = experiment::set_at(root, coarse.path, coarse.value);
            if (!nowhere.empty()) {
                ReadContext context;
                report_nowhere(coarse.path, nowhere, coarse.value.where, context);
                return context.errors();
            }
            paths.push_back(coarse.path);
        }
    }
    return experiment::read_experiment(std::move(root), paths, study.name, {}, components);
}

}  // namespace

Result<SearchStudy> load_search_study(const std::filesystem::path& path,
                                      const experiment::LoadOptions& options,
                                      const experiment::Components& components) {
    ReadContext context;
    std::vector<std::string> set;
    std::optional<ConfigNode> root = load_study_tree(path, options.overrides, set, context);
    if (context.error_count() > 0) {
        return context.errors();
    }
    std::optional<StudyKeys> keys = study_schema().read(*root, context);
    if (!keys) {
        return context.errors();
    }
    if (keys->base.is_mapping() && keys->base.find("schema") == nullptr) {
        keys->base.set("schema", ConfigNode::scalar(std::string(experiment::kSchemaName)));
    }
    check_overlap(keys->optimize, context);
    check_coarse(keys->optimize, *root->find("optimize"), context);
    const std::string name = keys->name.empty() ? path.stem().string() : keys->name;
    Result<experiment::Experiment> reference =
        experiment::read_experiment(keys->base, set, name, {}, components);
    for (const Diagnostic& error : reference ? Diagnostics{} : reference.error()) {
        context.error(error);
    }
    if (reference && reference->jobs != nullptr) {
        context.error("config.jobs", keys->base.find("jobs")->where,
                      "a search is for one job, and the base has several",
                      "search for each job alone, then put them together in a study");
    }
    StudyReader reader(components, context);
    if (context.error_count() > 0 || !reader.check_choices(keys->optimize.choices, keys->base, set)) {
        return context.errors();
    }
    Plan start;
    std::vector<Choice> choices;
    for (GivenChoice& given : keys->optimize.choices) {
        start.choices.push_back(nearest_alternative(given.choice, keys->base, reference->resolved));
        choices.push_back(std::move(given.choice));
    }
    std::optional<TableMoves> moves;
    const ConfigNode& optimize = *root->find("optimize");
    if (keys->optimize.tables) {
        const experiment::Cluster& cluster = reference->cluster;
        const ConfigNode& node = *optimize.find("tables");
        start.tables = reference->job.tables(cluster.device, cluster.ranks);
        if (std::holds_alternative<std::monostate>(start.tables)) {
            context.error(
                "config.tables", node.where, "the base places no whole tables that could be moved",
                "for a workload dlrm with parallelism hybrid choose workload.sharding: {plan: planner} "
                "or round_robin, for flexflow_dlrm placement: round_robin");
        } else {
            moves = reader.moves(*keys->optimize.tables, node, start.tables, cluster.ranks);
        }
    }
    if (context.error_count() > 0) {
        return context.errors();
    }
    SearchSpace space(std::move(choices), std::move(moves), std::move(start));
    SearchOptions& search = keys->optimize;
    search.seed = options.seed.value_or(search.seed);
    check_budget(space, search, optimize, context);
    if (context.error_count() > 0) {
        return context.errors();
    }
    SearchStudy study{name,  std::move(keys->base), std::move(set), *std::move(reference), std::move(space),
                      search};
    if (!study.options.coarse.empty()) {
        const Result<experiment::Experiment> coarse = base_of(study, components, Fidelity::kCoarse);
        if (!coarse) {
            return coarse.error();
        }
    }
    return study;
}

Result<experiment::Experiment> experiment_of(const SearchStudy& study, const Plan& plan,
                                             const experiment::Components& components, Fidelity fidelity) {
    ConfigNode root = study.base;
    std::vector<std::string> paths = study.set;
    if (study.space.moves()) {
        write_tables(root, plan.tables, *study.space.moves(), paths);
    }
    write_choices(root, study.space.choices(), plan, paths);
    return read_at(fidelity, study, std::move(root), std::move(paths), components);
}

Result<experiment::Experiment> base_of(const SearchStudy& study, const experiment::Components& components,
                                       Fidelity fidelity) {
    return read_at(fidelity, study, study.base, study.set, components);
}

}  // namespace astrolabe::study
