/// How the source of an algorithm describes and registers it.
///
/// An algorithm is one source in this folder and one line in builtin.cpp. Its opening comment is the
/// algorithm; it ends with `register_<name>`, where its help and its parameters are. Most depend on nothing
/// but the kind and the number of ranks: they fill in a SimpleAlgorithm. The others derive from
/// CollectiveAlgorithm.
///
/// Times in the opening comments: N ranks, S bytes per rank in one chunk, full-duplex ports of rate 1/β on a
/// non-blocking crossbar, α per message, nothing for end points (docs/theory/collectives-and-costs.md,
/// "Closed forms"; tests/unit/system/collective_forms_test.cpp holds every algorithm to its own).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/system/components.hpp>

namespace astrolabe::system {

struct SimpleAlgorithm {
    std::string name;                     ///< as files name it
    std::vector<CollectiveKind> kinds{};  ///< all others are unsupported; empty: none is
    std::function<CollectiveSchedule(CollectiveKind, Position ranks, unsigned variant)> schedule;
    unsigned variants = 1;
    bool has_barriers = false;
    CircuitUse circuit_use = CircuitUse::kNone;
    /// Why one of `kinds` is unsupported over so many ranks after all; none: never.
    std::function<std::optional<std::string>(CollectiveKind, Position ranks)> limit{};
};

[[nodiscard]] AlgorithmPointer make_simple(SimpleAlgorithm algorithm);

/// `help` followed by the kinds that the algorithm supports: "… (all_reduce, broadcast)".
[[nodiscard]] std::string help_with_kinds(const std::string& help, const CollectiveAlgorithm& algorithm);

/// Registers an algorithm without parameters.
void register_plain(AlgorithmRegistry& registry, const std::string& name, const std::string& help,
                    AlgorithmPointer algorithm);
void register_simple(AlgorithmRegistry& registry, const std::string& help, SimpleAlgorithm algorithm);

}  // namespace astrolabe::system
