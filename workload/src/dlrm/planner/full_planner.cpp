#include "full_planner.hpp"

#include "../../integer_division.hpp"
#include "../sharding_decisions.hpp"
#include "search_state.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload::planner {

namespace {

/// The options of each table that its rule leaves, or all.
std::vector<std::vector<TableOption>> all_options(const Sharding& sharding, const TrainingCosts& costs,
                                                  const std::vector<EqualTables>& tables) {
    std::map<std::size_t, TableRule> rules;
    for (const TableRule& rule : sharding.tables) {
        for (std::int64_t i = 0; i < rule.count; ++i) {
            rules[static_cast<std::size_t>(rule.first + i)] = rule;
        }
    }
    std::vector<std::vector<TableOption>> options;
    for (std::size_t table = 0; table < tables.size(); ++table) {
        const auto rule = rules.find(table);
        options.push_back(table_options(sharding, costs, tables[table], table,
                                        rule == rules.end() ? nullptr : &rule->second));
    }
    return options;
}

std::optional<std::size_t> find_option(const std::vector<TableOption>& options, TableSharding kind) {
    std::optional<std::size_t> found;
    for (std::size_t option = 0; option < options.size(); ++option) {
        if (options[option].kind == kind && (!found || options[option].shards > options[*found].shards)) {
            found = option;
        }
    }
    return found;
}

/// Makes the plans that one would write by hand.
class Baselines {
public:
    explicit Baselines(Comparison& made)
        : made_(made) {}

    void make() {
        std::vector<std::size_t> whole;
        std::vector<std::size_t> columns;
        std::vector<std::size_t> rows;
        for (const std::vector<TableOption>& options : made_.options) {
            const auto table_wise = find_option(options, TableSharding::kTableWise);
            const auto column_wise = find_option(options, TableSharding::kColumnWise);
            const auto row_wise = find_option(options, TableSharding::kRowWise);
            add_if(whole, table_wise);
            add_if(columns, column_wise ? column_wise : table_wise);
            add_if(rows, row_wise);
        }
        if (is_complete(whole)) {
            in_turn("round_robin", whole);
            least_loaded("by_rows", whole,
                         [](const Load& load, const PieceTimes& /*times*/) { return load.memory.count(); });
            least_loaded("by_lookups", whole, [](const Load& /*load*/, const PieceTimes& times) {
                return (times.lookup + times.update).count();
            });
        }
        if (is_complete(columns)) {
            in_turn("column_wise", columns);
        }
        if (is_complete(rows)) {
            in_turn("row_wise", rows);
        }
    }

private:
    static void add_if(std::vector<std::size_t>& chosen, std::optional<std::size_t> option) {
        if (option) {
            chosen.push_back(*option);
        }
    }
    [[nodiscard]] bool is_complete(const std::vector<std::size_t>& chosen) const {
        return chosen.size() == made_.options.size();
    }

    void in_turn(std::string name, const std::vector<std::size_t>& chosen) {
        Assignment assignment;
        std::size_t next = 0;
        for (std::size_t table = 0; table < chosen.size(); ++table) {
            const Option& option = made_.problem.tables[table][chosen[table]];
            Choice choice{.option = chosen[table], .places = {}};
            for (std::size_t i = 0; i < option.pieces.size(); ++i) {
                choice.places.push_back(option.span == Span::kAll ? 0 : next++ % made_.problem.ranks);
            }
            assignment.push_back(std::move(choice));
        }
        made_.names.push_back(std::move(name));
        made_.baselines.push_back(std::move(assignment));
    }

    template <class Weight>
    void least_loaded(std::string name, const std::vector<std::size_t>& chosen, Weight weight) {
        std::vector<std::int64_t> weights;
        for (std::size_t table = 0; table < chosen.size(); ++table) {
            const TableOption& option = made_.options[table][chosen[table]];
            weights.push_back(weight(option.option.pieces.front(), option.times.front()));
        }
        std::vector<std::size_t> order(chosen.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
        std::vector<std::int64_t> held(made_.problem.ranks, 0);
        Assignment assignment(chosen.size());
        for (const std::size_t table : order) {
            const auto least = std::min_element(held.begin(), held.end());
            *least += weights[table];
            assignment[table] = {.option = chosen[table],
                                 .places = {static_cast<std::size_t>(least - held.begin())}};
        }
        made_.names.push_back(std::move(name));
        made_.baselines.push_back(std::move(assignment));
    }

    Comparison& made_;
};

TableRule rule_of(std::size_t table, const TableOption& option, const Choice& choice) {
    TableRule rule{.first = static_cast<std::int64_t>(table), .sharding = option.kind};
    if (has_shards(option.kind)) {
        rule.shards = option.shards;
    }
    if (option.option.span != Span::kAll) {
        std::vector<std::int64_t>& places = option.option.span == Span::kRank ? rule.ranks : rule.hosts;
        places.assign(choice.places.begin(), choice.places.end());
    }
    return rule;
}

/// What keeps the rank busy that is busiest in a phase.
PlannerReport::Phase busiest_of(const Comparison& compared, const Assignment& assignment, bool is_forward) {
    RankLoads loads(compared.problem);
    for (std::size_t table = 0; table < assignment.size(); ++table) {
        loads.add(compared.problem.tables[table][assignment[table].option], assignment[table]);
    }
    const std::size_t rank = loads.busiest(is_forward ? &Load::forward : &Load::backward);
    PlannerReport::Phase phase;
    phase.rank = system::RankId(rank);
    for (std::size_t table = 0; table < assignment.size(); ++table) {
        const TableOption& option = compared.options[table][assignment[table].option];
        Time of_table;
        for (std::size_t i = 0; i < option.option.pieces.size(); ++i) {
            const std::size_t first = loads.first(option.option.span, assignment[table].places[i]);
            if (first > rank || rank >= first + loads.width(option.option.span)) {
                continue;
            }
            const PieceTimes& times = option.times[i];
            phase.input += is_forward ? times.input : Time(0);
            phase.compute += is_forward ? times.lookup : times.update;
            phase.exchange += is_forward ? times.pooled : times.gradients;
            of_table += is_forward ? times.forward() : times.backward();
        }
        if (of_table > phase.table_time) {
            phase.table = table;
            phase.table_time = of_table;
        }
    }
    return phase;
}

bool times_fit(const Problem& problem) {
    detail::Int128 sum = 0;
    for (const std::vector<Option>& options : problem.tables) {
        std::int64_t largest = 0;
        for (const Option& option : options) {
            std::int64_t pieces = 0;
            for (const Load& piece : option.pieces) {
                pieces = std::max(pieces, piece.cost());
            }
            largest = std::max(largest, pieces);
        }
        sum += static_cast<detail::Int128>(largest) * static_cast<std::int64_t>(problem.ranks);
    }
    return sum <= std::numeric_limits<std::int64_t>::max() / 8;
}

/// What the ranks lack, at the least.
ValidationError no_room(const Problem& problem, const SearchResult& result) {
    detail::Int128 needed = 0;
    Bytes largest;
    std::size_t table_of_largest = 0;
    const RankLoads loads(problem);
    for (std::size_t table = 0; table < problem.tables.size(); ++table) {
        std::optional<detail::Int128> least;
        std::optional<Bytes> smallest;
        for (const Option& option : problem.tables[table]) {
            detail::Int128 sum = 0;
            Bytes piece_size;
            for (const Load& piece : option.pieces) {
                sum += static_cast<detail::Int128>(piece.memory.count()) *
                       static_cast<std::int64_t>(loads.width(option.span));
                piece_size = std::max(piece_size, piece.memory);
            }
            least = least ? std::min(*least, sum) : sum;
            smallest = std::min(smallest.value_or(piece_size), piece_size);
        }
        needed += *least;
        if (*smallest > largest) {
            largest = *smallest;
            table_of_largest = table;
        }
    }
    constexpr detail::Int128 kLimit = std::numeric_limits<std::int64_t>::max();
    const detail::Int128 there =
        static_cast<detail::Int128>(problem.memory->count()) * static_cast<std::int64_t>(problem.ranks);
    const auto readable_size = [kLimit](detail::Int128 size) {
        return readable(Bytes(static_cast<std::int64_t>(std::min(size, kLimit))));
    };
    std::string message = fmt::format(
        "no plan that fits was found{}: the tables need at least {} with optimiser state, "
        "pooled values and indices, {} ranks of {} have {}",
        result.proven ? ", and there is none" : "", readable_size(needed), problem.ranks,
        readable(*problem.memory), readable_size(there));
    if (needed > there) {
        message += fmt::format(", {} less", readable_size(needed - there));
    }
    message += fmt::format("; the finest piece of table {} has {}", table_of_largest, readable(largest));
    return {.key = "sharding.memory",
            .message = std::move(message),
            .hint = "raise the memory, use more ranks, a smaller batch, or allow more kinds"};
}

}  // namespace

Sharding made_explicit(const Sharding& sharding, std::vector<TableRule> rules) {
    Sharding made = sharding;
    made.plan = ShardingMethod::kExplicit;
    made.search.reset();
    made.link_rate.reset();
    made.objective.reset();
    made.kinds.clear();
    made.tables = std::move(rules);
    if (std::none_of(made.tables.begin(), made.tables.end(),
                     [](const TableRule& rule) { return is_placed_on_hosts(rule.sharding); })) {
        made.ranks_per_host.reset();
    }
    return made;
}

Comparison comparison(const Sharding& sharding, const DlrmModel& model, const TrainingCosts& costs) {
    Comparison made;
    made.options = all_options(sharding, costs, single_tables(model));
    made.problem.ranks = costs.ranks;
    made.problem.ranks_per_host = static_cast<std::size_t>(sharding.ranks_per_host.value_or(1));
    made.problem.memory = sharding.memory ? sharding.memory : costs.memory;
    for (const std::vector<TableOption>& options : made.options) {
        std::vector<Option>& bare = made.problem.tables.emplace_back();
        for (const TableOption& option : options) {
            bare.push_back(option.option);
        }
    }
    Baselines(made).make();
    return made;
}

FullPlan plan_fully(const Sharding& sharding, const DlrmModel& model, const TrainingCosts& costs) {
    const Comparison compared = comparison(sharding, model, costs);
    FullPlan plan;
    for (std::size_t table = 0; table < compared.options.size(); ++table) {
        if (compared.options[table].empty()) {
            plan.validation_errors.push_back(
                {.key = "sharding.kinds",
                 .message = fmt::format("none of the kinds takes table {}", table),
                 .hint = "allow table_wise"});
            return plan;
        }
    }
    if (!times_fit(compared.problem)) {
        plan.validation_errors.push_back({.key = "sharding.plan",
                                          .message = "the lookups take too long to be planned",
                                          .hint = "check the units of the device's rates and times"});
        return plan;
    }
    const SearchResult found = search(compared.problem, compared.baselines);
    if (!found.found()) {
        plan.validation_errors.push_back(no_room(compared.problem, found));
        return plan;
    }
    for (std::size_t table = 0; table < found.assignment.size(); ++table) {
        const Choice& choice = found.assignment[table];
        plan.rules.push_back(rule_of(table, compared.options[table][choice.option], choice));
    }
    plan.report.makespan = Time(found.makespan);
    plan.report.lower_bound = Time(found.lower_bound);
    plan.report.proven = found.proven;
    plan.report.nodes = found.nodes;
    plan.report.forward = busiest_of(compared, found.assignment, true);
    plan.report.backward = busiest_of(compared, found.assignment, false);
    for (std::size_t i = 0; i < compared.names.size(); ++i) {
        plan.report.baselines.push_back(
            {.name = compared.names[i],
             .makespan = Time(makespan_of(compared.problem, compared.baselines[i])),
             .fits = fits(compared.problem, compared.baselines[i])});
    }
    return plan;
}

}  // namespace astrolabe::workload::planner
