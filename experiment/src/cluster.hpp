/// The cluster section: ranks, their device, and how they carry out collectives.
#pragma once

#include <astrolabe/experiment/experiment.hpp>

namespace astrolabe::experiment {

struct CollectiveKeys {
    std::string algorithm;
    std::uint32_t chunks = 1;
};

struct ClusterKeys {
    std::size_t ranks = 0;
    std::optional<Registry<workload::Device>::Configured> device;
    std::array<CollectiveKeys, system::kCollectiveKinds> collectives;
    system::Scheduling scheduling = system::Scheduling::kLifo;
    std::uint32_t active_chunks = system::SystemOptions{}.active_chunks;
    Time injection_latency = system::EndPoint{}.injection_latency;
    Bytes minimum_chunk = system::SystemOptions{}.minimum_chunk;

    ClusterKeys();
};

/// `components` must outlive the schema.
[[nodiscard]] Schema<ClusterKeys> cluster_schema(const Components& components);

/// The key of a kind in `cluster.collectives`: "all_reduce".
[[nodiscard]] std::string collective_key(std::size_t kind);

[[nodiscard]] const system::AlgorithmEntry& find_algorithm(const Components& components,
                                                           std::string_view name);

[[nodiscard]] Cluster make_cluster(const ClusterKeys& keys, const Components& components);

}  // namespace astrolabe::experiment
