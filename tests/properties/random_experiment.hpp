/// Random experiments that ought to run: every kind of network, most workloads, every engine, with the keys
/// that users change, small enough for a run to take milliseconds.
///
/// An experiment is a tree of JSON, so that one that fails can be shrunk and printed. What is drawn is only
/// likely to be valid: the reader refuses an algorithm on a shape of groups that it does not fit, say. Who
/// draws draws again then.
#pragma once

#include "draw.hpp"

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace astrolabe::testing {

using Tree = nlohmann::ordered_json;

/// A network and its hosts.
struct RandomNetwork {
    Tree section;
    std::int64_t hosts = 0;
};

[[nodiscard]] RandomNetwork random_network(Draw& draw);
/// For ranks 0 to ranks - 1 on such a network.
[[nodiscard]] Tree random_cluster(Draw& draw, std::int64_t ranks, const std::string& network_kind);
/// `largest` bounds the power of two of what a rank sends at a time.
[[nodiscard]] Tree random_workload(Draw& draw, std::int64_t ranks, std::int64_t hosts, std::int64_t largest);
[[nodiscard]] Tree random_backend(Draw& draw, const std::string& kind);
[[nodiscard]] Tree random_background(Draw& draw, std::int64_t hosts, std::int64_t largest);

/// The same for the same seed, on every machine.
[[nodiscard]] Tree random_experiment(std::uint64_t seed);

/// As YAML that a person reads: a section a line, what is inside in braces.
[[nodiscard]] std::string to_yaml_text(const Tree& experiment);

/// Quantities as files have them.
[[nodiscard]] std::string random_rate(Draw& draw);
[[nodiscard]] std::string random_latency(Draw& draw);
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

}  // namespace astrolabe::testing
