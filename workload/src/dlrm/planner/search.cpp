#include "search.hpp"

#include "improvement.hpp"
#include "search_state.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload::planner {

namespace {

std::int64_t largest_piece(const Option& option) {
    return option.pieces.front().cost();
}

/// Bytes of the largest piece.
Bytes largest_memory(const Option& option) {
    return std::max_element(option.pieces.begin(), option.pieces.end(),
                            [](const Load& a, const Load& b) { return a.memory < b.memory; })
        ->memory;
}

/// Whether its pieces fit an empty rank.
bool may_fit(const Problem& problem, const Option& option) {
    return !problem.memory || largest_memory(option) <= *problem.memory;
}

/// Over all ranks.
Load work_of(const Option& option, const Problem& problem) {
    Load sum;
    for (const Load& piece : option.pieces) {
        sum.forward += piece.forward;
        sum.backward += piece.backward;
        sum.memory += piece.memory;
    }
    const RankLoads loads(problem);
    const auto width = static_cast<std::int64_t>(loads.width(option.span));
    return {.forward = sum.forward * width, .backward = sum.backward * width, .memory = sum.memory * width};
}

/// What of a load a bound is about.
using Part = std::int64_t (*)(const Load&);

/// Whether all tables have options with which a busiest rank of `limit` is not out of the question.
bool may_reach(const Problem& problem, const std::vector<std::vector<Load>>& works, Part part,
               std::int64_t limit) {
    std::int64_t needed = 0;
    for (std::size_t table = 0; table < problem.tables.size(); ++table) {
        std::optional<std::int64_t> least;
        for (std::size_t option = 0; option < works[table].size(); ++option) {
            const Option& candidate = problem.tables[table][option];
            const bool is_small = std::all_of(candidate.pieces.begin(), candidate.pieces.end(),
                                              [&](const Load& piece) { return part(piece) <= limit; });
            if (is_small && may_fit(problem, candidate)) {
                const std::int64_t work = part(works[table][option]);
                least = std::min(least.value_or(work), work);
            }
        }
        if (!least) {
            return false;
        }
        needed += *least;
    }
    const auto ranks = static_cast<std::int64_t>(problem.ranks);
    return needed / ranks + (needed % ranks != 0 ? 1 : 0) <= limit;
}

std::vector<std::vector<Load>> works_of(const Problem& problem) {
    std::vector<std::vector<Load>> works;
    for (const std::vector<Option>& options : problem.tables) {
        std::vector<Load>& of_table = works.emplace_back();
        for (const Option& option : options) {
            of_table.push_back(work_of(option, problem));
        }
    }
    return works;
}

/// What pieces may have at most, and what memory costs.
struct Caps {
    double cost = 0;
    double memory = 0;
    double price_of_byte = 0;
};

/// By table the option of least work and price under the caps; where none is under them, the one that exceeds
/// them least.
std::vector<std::size_t> options_under(const Problem& problem, const std::vector<std::vector<Load>>& works,
                                       const Caps& caps) {
    std::vector<std::size_t> chosen;
    for (std::size_t table = 0; table < problem.tables.size(); ++table) {
        const std::vector<Option>& options = problem.tables[table];
        const auto rank_of = [&](std::size_t option) {
            double excess = static_cast<double>(largest_piece(options[option])) / caps.cost;
            if (problem.memory) {
                const auto memory = static_cast<double>(largest_memory(options[option]).count());
                excess = std::max(excess, memory / caps.memory);
            }
            const double price =
                static_cast<double>(works[table][option].cost()) +
                caps.price_of_byte * static_cast<double>(works[table][option].memory.count());
            return std::pair(excess <= 1 ? 0.0 : excess, price);
        };
        std::size_t best = 0;
        for (std::size_t option = 1; option < options.size(); ++option) {
            if (rank_of(option) < rank_of(best)) {
                best = option;
            }
        }
        chosen.push_back(best);
    }
    return chosen;
}

/// Whether a table fits no rank, or even the options that need least memory are more than all ranks have.
bool cannot_fit(const Problem& problem, const std::vector<std::vector<Load>>& works) {
    if (!problem.memory) {
        return false;
    }
    for (const std::vector<Option>& options : problem.tables) {
        if (std::none_of(options.begin(), options.end(),
                         [&](const Option& option) { return may_fit(problem, option); })) {
            return true;
        }
    }
    detail::Int128 needed = 0;
    for (const std::vector<Load>& of_table : works) {
        needed += std::min_element(of_table.begin(), of_table.end(), [](const Load& a, const Load& b) {
                      return a.memory < b.memory;
                  })->memory.count();
    }
    return needed >
           static_cast<detail::Int128>(problem.memory->count()) * static_cast<std::int64_t>(problem.ranks);
}

/// The caps and prices on memory that are tried.
std::vector<Caps> memory_caps(const Problem& problem, double bound) {
    if (!problem.memory) {
        return {Caps{}};
    }
    const auto memory = static_cast<double>(std::max<std::int64_t>(problem.memory->count(), 1));
    std::vector<Caps> all;
    for (const double part : {1.0, 0.5, 0.2}) {
        for (const double price : {0.0, 1.0, 16.0, 1e6}) {
            all.push_back({.memory = part * memory, .price_of_byte = price * bound / memory});
        }
    }
    return all;
}

std::int64_t bound_of(const Problem& problem, const std::vector<std::vector<Load>>& works, Part part) {
    std::int64_t low = 0;
    std::int64_t high = std::numeric_limits<std::int64_t>::max() / 8;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (may_reach(problem, works, part, middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

std::int64_t bound_of(const Problem& problem, const std::vector<std::vector<Load>>& works) {
    const std::int64_t both = bound_of(problem, works, [](const Load& load) { return load.cost(); });
    const std::int64_t forward = bound_of(problem, works, [](const Load& load) { return load.forward; });
    const std::int64_t backward = bound_of(problem, works, [](const Load& load) { return load.backward; });
    return std::max(both, forward + backward);
}

}  // namespace

std::vector<Load> loads_of(const Problem& problem, const Assignment& assignment) {
    RankLoads loads(problem);
    for (std::size_t table = 0; table < assignment.size(); ++table) {
        loads.add(problem.tables[table][assignment[table].option], assignment[table]);
    }
    return loads.all();
}

std::int64_t makespan_of(const Problem& problem, const Assignment& assignment) {
    Load largest;
    for (const Load& load : loads_of(problem, assignment)) {
        largest.forward = std::max(largest.forward, load.forward);
        largest.backward = std::max(largest.backward, load.backward);
    }
    return largest.cost();
}

bool fits(const Problem& problem, const Assignment& assignment) {
    const std::vector<Load> loads = loads_of(problem, assignment);
    return !problem.memory || std::all_of(loads.begin(), loads.end(),
                                          [&](const Load& load) { return load.memory <= *problem.memory; });
}

std::int64_t lower_bound_of(const Problem& problem) {
    return bound_of(problem, works_of(problem));
}

std::optional<Assignment> place(const Problem& problem, const std::vector<std::size_t>& options) {
    struct Piece {
        std::size_t table;
        std::size_t number;
        const Load* load;
    };
    constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
    RankLoads loads(problem);
    Assignment assignment(options.size());
    std::vector<Piece> pieces;
    const auto option_of = [&](std::size_t table) -> const Option& {
        return problem.tables[table][options[table]];
    };
    for (std::size_t table = 0; table < options.size(); ++table) {
        const Option& option = option_of(table);
        assignment[table] = {.option = options[table],
                             .places = std::vector<std::size_t>(option.pieces.size(), kNowhere)};
        for (std::size_t i = 0; i < option.pieces.size(); ++i) {
            pieces.push_back({table, i, &option.pieces[i]});
        }
    }
    // What has no choice first, then what fills a host; by its share of all work, or of the memory.
    double work = 1;
    for (const Piece& piece : pieces) {
        work += static_cast<double>(piece.load->cost()) *
                static_cast<double>(loads.width(option_of(piece.table).span));
    }
    const double part_of_work = static_cast<double>(problem.ranks) / work;
    const double part_of_memory =
        problem.memory ? 1.0 / static_cast<double>(std::max<std::int64_t>(problem.memory->count(), 1)) : 0.0;
    const auto size = [&](const Piece& piece) {
        return std::max(static_cast<double>(piece.load->cost()) * part_of_work,
                        static_cast<double>(piece.load->memory.count()) * part_of_memory);
    };
    std::stable_sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) {
        const Span span_a = option_of(a.table).span;
        const Span span_b = option_of(b.table).span;
        return span_a != span_b ? span_a > span_b : size(a) > size(b);
    });
    for (const Piece& piece : pieces) {
        std::vector<std::size_t>& places = assignment[piece.table].places;
        const Span span = option_of(piece.table).span;
        const auto found = loads.best_place(span, *piece.load, places);
        if (!found) {
            return std::nullopt;
        }
        places[piece.number] = *found;
        loads.add(span, *found, *piece.load);
    }
    return assignment;
}

SearchResult search(const Problem& problem, const std::vector<Assignment>& starts) {
    ASTROLABE_ASSERT(!problem.tables.empty(), "there are tables");
    const std::vector<std::vector<Load>> works = works_of(problem);
    SearchResult result{.assignment = {}, .lower_bound = bound_of(problem, works)};
    const auto offer = [&](const Assignment& assignment) {
        const std::int64_t makespan = makespan_of(problem, assignment);
        if (!result.found() || makespan < result.makespan) {
            result.assignment = assignment;
            result.makespan = makespan;
        }
    };
    for (const Assignment& start : starts) {
        if (fits(problem, start)) {
            offer(start);
        }
    }
    const auto bound = static_cast<double>(std::max<std::int64_t>(result.lower_bound, 1));
    for (const Caps& of_memory : memory_caps(problem, bound)) {
        for (const double part :
             {0.03, 0.06, 0.12, 0.25, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 4.0, 1e9}) {
            Caps caps = of_memory;
            caps.cost = part * bound;
            if (const auto placed = place(problem, options_under(problem, works, caps))) {
                offer(*placed);
            }
        }
    }
    if (result.found()) {
        improve(problem, result.assignment, result.lower_bound);
        result.makespan = makespan_of(problem, result.assignment);
    }
    if (problem.tables.size() * problem.ranks <= kExactCells && result.makespan != result.lower_bound) {
        constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::max();
        ExactResult exact =
            search_exactly(problem, result.found() ? result.makespan : kNothing, result.lower_bound);
        result.nodes = exact.nodes;
        if (exact.better) {
            offer(*exact.better);
        }
        if (exact.complete) {
            result.lower_bound = std::max(result.lower_bound, result.makespan);
            result.proven = true;
        }
    }
    result.proven = result.proven ||
                    (result.found() ? result.makespan == result.lower_bound : cannot_fit(problem, works));
    return result;
}

}  // namespace astrolabe::workload::planner
