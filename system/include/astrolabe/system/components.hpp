/// What the system layer offers to experiment files: collective algorithms with their parameters.
#pragma once

#include <memory>
#include <string_view>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/system/collectives/algorithm.hpp>

namespace astrolabe::system {

using AlgorithmPointer = std::shared_ptr<const CollectiveAlgorithm>;

/// Algorithms by name; in files the key `algorithm` chooses one and its own keys are beside it.
using AlgorithmRegistry = Registry<AlgorithmPointer>;

/// The algorithms that compute their schedules; they need nothing of a file.
void register_computed_algorithms(AlgorithmRegistry& registry);
/// These, and `schedule`, which takes its schedules from files.
void register_builtin_algorithms(AlgorithmRegistry& registry);

/// Name of the algorithm whose schedule a file holds (schedule_file.hpp). It serves groups of one shape only.
inline constexpr std::string_view kScheduleFromFile = "schedule";

/// Whether the algorithm can do `kind` over some number of ranks from 2 to `max_ranks`.
[[nodiscard]] bool takes_kind(const CollectiveAlgorithm& algorithm, CollectiveKind kind, Position max_ranks);

}  // namespace astrolabe::system
