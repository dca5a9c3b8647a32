#include "parameter_labels.hpp"

#include <algorithm>
#include <array>

namespace astrolabe::study {
namespace {

constexpr std::array<KnownLabel, 46> kLabels{{
    {"network", "network", ""},
    {"backend", "engine", ""},
    {"backend.kind", "engine", ""},
    {"seed", "seed", ""},
    {"cluster.ranks", "ranks", ""},
    {"cluster.scheduling", "scheduling", ""},
    {"cluster.active_chunks", "chunks in flight", "chunks"},
    {"cluster.device.peak", "peak compute rate", ""},
    {"cluster.device.memory_bandwidth", "memory bandwidth", ""},
    {"cluster.collectives.all_reduce", "all-reduce", ""},
    {"cluster.collectives.all_reduce.algorithm", "all-reduce algorithm", ""},
    {"cluster.collectives.all_reduce.chunks", "chunks of an all-reduce", ""},
    {"cluster.collectives.all_to_all", "all-to-all", ""},
    {"cluster.collectives.all_to_all.algorithm", "all-to-all algorithm", ""},
    {"cluster.collectives.all_to_all.chunks", "chunks of an all-to-all", ""},
    {"workload.batch.global", "global batch", "samples"},
    {"workload.batch.local", "batch of a rank", "samples"},
    {"workload.batch", "global batch", "samples"},
    {"workload.iterations", "iterations", ""},
    {"workload.load", "load", ""},
    {"workload.model", "model", ""},
    {"workload.model.tables", "tables", ""},
    {"workload.model.tables.count", "tables", ""},
    {"workload.model.tables.rows", "rows of a table", ""},
    {"workload.model.tables.dimension", "embedding dimension", ""},
    {"workload.model.tables.pooling", "lookups of a table", "a sample"},
    {"workload.model.dimension", "embedding dimension", ""},
    {"workload.model.rows", "rows of a table", ""},
    {"workload.placement", "placement of tables", ""},
    {"jobs.load", "load", ""},
    {"jobs.hosts", "hosts", ""},
    {"jobs.placement", "placement of jobs", ""},
    {"network.hosts", "hosts", ""},
    {"network.racks", "racks", ""},
    {"network.degree", "links of a host", ""},
    {"network.oversubscription", "oversubscription", ""},
    {"network.edge_oversubscription", "oversubscription at the edge", ""},
    {"network.spines", "spines", ""},
    {"network.hosts_per_leaf", "hosts of a leaf", ""},
    {"network.hosts_per_rack", "hosts of a rack", ""},
    {"network.uplinks", "uplinks", ""},
    {"network.load_balancing", "load balancing", ""},
    {"network.link.rate", "link rate", ""},
    {"network.link.latency", "link latency", ""},
    {"network.switch_buffer", "buffer of a switch", ""},
    {"network.seed", "seed of the network", ""},
}};

/// Sections whose names say nothing that their keys do not.
constexpr std::array<std::string_view, 8> kSections{"workload", "network", "cluster",    "backend",
                                                    "model",    "jobs",    "parameters", "collectives"};

std::string in_words(std::string_view path) {
    std::string words;
    for (std::size_t first = 0; first <= path.size();) {
        const std::size_t end = std::min(path.find('.', first), path.size());
        const std::string_view part = path.substr(first, end - first);
        const bool is_last = end == path.size();
        if (is_last || std::find(kSections.begin(), kSections.end(), part) == kSections.end()) {
            words += (words.empty() ? "" : " ") + std::string(part);
        }
        first = end + 1;
    }
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

}  // namespace

std::span<const KnownLabel> known_labels() {
    return kLabels;
}

ParameterLabel label_of(std::string_view path) {
    for (const KnownLabel& known : kLabels) {
        if (known.path == path) {
            return {std::string(known.label), std::string(known.unit)};
        }
    }
    return {in_words(path), ""};
}

}  // namespace astrolabe::study
