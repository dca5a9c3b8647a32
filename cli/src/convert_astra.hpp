/// System and network files of ASTRA-sim become an experiment.
///
/// What a key means here is in docs/astra-sim.md. The sections are those of an experiment file; keys that
/// have no counterpart are `not_mapped`, each with its place and the reason, whatever their value where the
/// value matters.
///
/// Network: `topology`, `npus_count`, `bandwidth` (2^30 bytes a second) and `latency` (ns of a link) by
/// dimension. One dimension is flat (Switch), ring or fully_connected; several of Ring a torus; a Switch or
/// FullyConnected and a Switch packages; all others a graph of their links, hosts forwarding.
///
/// System: the JSON of 2.x, whose implementations are lists by dimension, and the `key: value` text of 1.0,
/// whose implementations are joined by `_`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe::cli {

struct AstraFiles {
    ConfigNode system;
    std::optional<ConfigNode> network;
    std::string workload;  ///< as the experiment is to name it; empty: none
    bool is_text_workload = false;
    std::string groups;  ///< likewise, of a Chakra workload
};

struct ConvertedAstra {
    ConfigNode experiment;
    Diagnostics not_mapped;
    std::vector<std::string> remarks;  ///< for people, what was assumed
};

/// `name` is that of the experiment.
[[nodiscard]] Result<ConvertedAstra> convert_astra(const AstraFiles& files, const std::string& name);

}  // namespace astrolabe::cli
