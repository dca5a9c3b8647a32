/// The cluster section: ranks, their device, and how they carry out collectives.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe {

template <>
struct EnumNames<experiment::FoldingMode> {
    static constexpr std::array<std::pair<std::string_view, experiment::FoldingMode>, 2> kNames{
        {{"auto", experiment::FoldingMode::kAuto}, {"off", experiment::FoldingMode::kOff}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {

struct CollectiveKeys {
    std::optional<system::AlgorithmRegistry::Configured> algorithm;  ///< unset: chosen for the network
    std::optional<std::uint32_t> chunks;                             ///< unset: likewise
    std::uint8_t traffic_class = 0;
};

/// Operations of the workload that are treated differently from others of their kind.
struct OperationRule {
    std::string name;  ///< of operations, with * and ? as in file names
    std::uint32_t traffic_class = 0;
};

/// What `injection_latency` may be.
inline const Range<Time> kInjectionLatencies{Time(0), Time(1000 * kPicosecondsPerSecond)};

/// Keys of a collective beside those of its algorithm.
[[nodiscard]] inline std::vector<std::string> collective_keys() {
    return {"chunks", "traffic_class"};
}

struct ClusterKeys {
    std::size_t ranks = 0;
    std::optional<Registry<workload::Device>::Configured> device;
    std::vector<RankDevice> devices;  ///< of ranks that have their own
    std::optional<Jitter> jitter;
    std::optional<Contention> contention;
    PlacementKeys placement;
    std::vector<system::Position> dimensions;  ///< empty: one, or as servers have it
    std::array<CollectiveKeys, system::kCollectiveKinds> collectives;
    std::vector<OperationRule> operations;    ///< the first that fits an operation holds
    std::vector<MethodChoice> choices;        ///< that an earlier run made
    std::optional<JobChoice> network_choice;  ///< likewise
    std::optional<JobChoice> window_choice;   ///< likewise
    system::Scheduling scheduling = system::SystemOptions{}.scheduling;
    std::optional<std::uint32_t> active_chunks = system::SystemOptions{}.active_chunks;  ///< unset: chosen
    std::optional<std::uint32_t> active_chunks_per_dimension;
    system::StageOrder dimension_scheduling = system::SystemOptions{}.stage_order;
    system::StartOrder start_order = system::SystemOptions{}.start_order;
    Time injection_latency = system::EndPoint{}.injection_latency;
    system::EndPoint end_point;  ///< but for its injection latency, which is the key above
    Bytes minimum_chunk = system::SystemOptions{}.minimum_chunk;
    std::optional<MeasuredCollectives> measured;
    std::optional<NcclTuning> nccl_tuning;
    bool padding = Cluster{}.padding;
    FoldingMode folding = Cluster{}.folding;
};

/// `components` must outlive the schema.
[[nodiscard]] Schema<ClusterKeys> cluster_schema(const Components& components);

/// The key of a kind in `cluster.collectives`: "all_reduce".
[[nodiscard]] std::string collective_key(std::size_t kind);

/// The value of `algorithm` and of `chunks` that leaves them to be chosen.
inline constexpr std::string_view kAuto = "auto";

/// "… waits for circuits, and network 'flat' has none", or nothing.
[[nodiscard]] std::optional<ValidationError> circuit_problem(const Experiment& experiment, std::size_t kind);

/// "multi_ring takes the rings of the network, and 'flat' was not built of rings", or nothing.
[[nodiscard]] std::optional<ValidationError> rings_problem(const Experiment& experiment, std::size_t kind);

/// What is open is as it is until it is chosen: ring, or direct where every rank has something of its own for
/// every other and for kinds with a root; on rings of the network where that is built for its job.
[[nodiscard]] Cluster make_cluster(const ClusterKeys& keys, const Components& components,
                                   bool network_needs_job);

}  // namespace astrolabe::experiment
