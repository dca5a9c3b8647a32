/// The part of a search space that is about tables (search_space.hpp).
#pragma once

#include <cstdint>
#include <string>

#include <astrolabe/core/random.hpp>
#include <astrolabe/study/search/search_space.hpp>

namespace astrolabe::study {

/// a · b and n over k, at most the greatest number.
[[nodiscard]] std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::uint64_t binomial(std::uint64_t n, std::uint64_t k);

/// Places of all tables together; `tables` says how many there are and of what kind.
[[nodiscard]] std::uint64_t count_places(const TableMoves& moves, const workload::MovableTables& tables);
/// Places `number` < count_places.
[[nodiscard]] workload::MovableTables places_at(const TableMoves& moves,
                                                const workload::MovableTables& tables, std::uint64_t number);
/// Moves something; requires more than one way to place the tables. Returns what was moved.
std::string move_tables(const TableMoves& moves, workload::MovableTables& tables, RandomStream& random);

}  // namespace astrolabe::study
