/// The plans a search chooses from: alternatives for values of an experiment, and places for its tables.
///
/// A plan takes one alternative of every choice and, where tables are moved, puts every table in a place. The
/// space is the product of
///
///     choices   m_c alternatives of choice c
///     tables that lie each by itself (workload `dlrm`), each
///               table_wise          on one of R ranks                            R
///               column_wise(k)      on k different ones of them, in their order  R over k, for each k given
///               table_row_wise, table_column_wise   on one of H hosts            H
///               row_wise, data_parallel             on all                       1
///     tables that are alike (workload `flexflow_dlrm`): T on R nodes, of which only the numbers count
///                                                                                (T+R-1) over
///
/// Moves, from a plan to a neighbour. One in two is of a choice, where both kinds are there: another
/// alternative of one choice. The others, with the same probability: a shard or table goes to another rank or
/// host; two shards, or two nodes, exchange places; a table is sharded in another of the allowed ways, in
/// places drawn at random. A move that finds nothing to do becomes one of the others. Every plan of the space
/// can be reached from every other.
///
/// Limits: a plan that the space does not hold may be where moves start (two shards of a table on one rank);
/// they never lead back to it. Ranks are not known to be alike, so plans that only rename ranks count as
/// different.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/workload/components.hpp>

namespace astrolabe::study {

/// A value of the experiment and what it may be instead.
struct Choice {
    std::string path;  ///< dotted, in the experiment
    std::vector<ConfigNode> alternatives;
};

/// How and where tables may lie.
struct TableMoves {
    /// Not empty, each once.
    std::vector<workload::TableSharding> kinds = {workload::TableSharding::kTableWise};
    std::vector<std::int64_t> shards = {};  ///< of column_wise: numbers allowed
    std::vector<std::int64_t> ranks = {};   ///< that tables may lie on, growing; not empty
    std::optional<std::int64_t> ranks_per_host = std::nullopt;  ///< for the kinds that lie on hosts
    std::int64_t hosts = 0;                                     ///< 0 without ranks_per_host
};

struct Plan {
    std::vector<std::uint32_t> choices;  ///< by choice: number of the alternative
    workload::MovableTables tables;      ///< none where tables stay where they are

    /// The same for equal plans and for no others.
    [[nodiscard]] std::string key() const;
};

/// A neighbour, and how it differs: "table 3: shard 0 to rank 5".
struct Move {
    Plan plan;
    std::string what;
};

class SearchSpace {
public:
    /// `moves`: nothing leaves the tables of `start` alone.
    SearchSpace(std::vector<Choice> choices, std::optional<TableMoves> moves, Plan start);

    /// Number of plans; the greatest number where they are as many or more.
    [[nodiscard]] std::uint64_t size() const;
    [[nodiscard]] bool is_countable() const { return size() < std::numeric_limits<std::uint64_t>::max(); }
    /// Plan `number` < size(). Requires a countable space.
    [[nodiscard]] Plan at(std::uint64_t number) const;
    /// Requires a space of at least two plans.
    [[nodiscard]] Move neighbour(const Plan& plan, RandomStream& random) const;

    [[nodiscard]] const Plan& start() const { return start_; }
    [[nodiscard]] const std::vector<Choice>& choices() const { return choices_; }
    [[nodiscard]] const std::optional<TableMoves>& moves() const { return moves_; }
    /// The size without tables.
    [[nodiscard]] std::uint64_t combinations() const;

private:
    [[nodiscard]] Move choose(const Plan& plan, RandomStream& random) const;

    std::vector<Choice> choices_;
    std::optional<TableMoves> moves_;
    Plan start_;
};

}  // namespace astrolabe::study
