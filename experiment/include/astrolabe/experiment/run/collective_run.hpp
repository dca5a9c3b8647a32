/// One collective by itself on a network, size by size: the simulator's answer to nccl-tests.
///
/// Size means what nccl-tests means by it: bytes held per rank before (all_reduce, reduce_scatter,
/// all_to_all, reduce), bytes of the result (all_gather, where each rank contributes size/N; the size is
/// rounded down to a multiple of N), bytes that the root or a sender has (broadcast, point_to_point).
///     algorithm bandwidth = size / time
///     bus bandwidth       = algorithm bandwidth · 2(N-1)/N  all_reduce
///                                               · (N-1)/N   reduce_scatter, all_gather, all_to_all
///                                               · 1         broadcast, reduce, point_to_point
/// so bus bandwidth compares with the rate of a port whatever the kind and N. The lower bound is that of
/// lower_bound.hpp.
///
/// point_to_point: rank i of the first half sends to rank i + N/2, all pairs at once.
///
/// all_to_all_v, with size the mean over ranks and imbalance R = max/mean: rank 0 holds R times the mean, the
/// others share the rest evenly, and every rank has as much for every one of the N (itself included, which is
/// not sent). The size is rounded down to a multiple of N.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

struct CollectiveRequest {
    std::string kind;                ///< "all_reduce", "all_to_all_v"; '-' is accepted for '_'
    std::string algorithm;           ///< a name, or {algorithm: multi_ring, rings: 4}
    std::vector<std::string> sizes;  ///< "16MiB"
    std::string
        network;  ///< path of a file with a network section (or a mapping below `network`), or {kind: …}
    std::string backend = "fluid";     ///< a kind, a path, or {kind: …}
    std::optional<std::size_t> ranks;  ///< unset: every host; not with a network that is built for a job
    std::string dimensions;            ///< "16x8": logical dimensions, the fastest-varying first; empty: one
    std::string imbalance = "1";       ///< all_to_all_v: bytes of the fullest rank over the mean, 1 to N
    std::optional<std::uint32_t> chunks;  ///< unset: the default of the algorithm
    std::uint32_t active_chunks = system::SystemOptions{}.active_chunks;
    std::string injection_latency = "0";
    std::vector<std::string> overrides;  ///< "network.link.rate=…", "end_point.timing=…", "folding=off"
    std::uint64_t seed = 1;
};

struct CollectivePoint {
    system::CollectiveKind kind{};
    bool is_uneven = false;  ///< all_to_all_v
    std::string algorithm;
    std::size_t ranks = 0;
    Bytes size;       ///< as defined above
    Bytes bytes_in;   ///< held per rank before; the most that one does
    Bytes bytes_out;  ///< held per rank after
    Time lower_bound;
    std::uint64_t steps = 0;  ///< longest chain of messages of a chunk
    Bytes bytes_sent_max;     ///< by any one rank
    Run run;

    [[nodiscard]] std::string kind_name() const;       ///< "all_to_all_v"
    [[nodiscard]] double algorithm_bandwidth() const;  ///< B/s
    [[nodiscard]] double bus_bandwidth() const;        ///< B/s
};

/// Checks the whole request, then gives one point per size.
class CollectiveRun {
public:
    [[nodiscard]] static Result<CollectiveRun> prepare(const CollectiveRequest& request,
                                                       const Components& components);

    [[nodiscard]] std::size_t size_count() const { return sizes_.size(); }
    [[nodiscard]] CollectivePoint run(std::size_t index, const ProgressObserver& observer) const;
    [[nodiscard]] const Experiment& setting() const { return setting_; }

private:
    CollectiveRun() = default;
    /// Reports what only shows with everything known: ranks against hosts and imbalance, algorithm against
    /// shape, sizes against what can be counted, backend against fabric.
    void check_setting(const CollectiveRequest& request, ReadContext& context) const;
    void check_algorithm(const CollectiveRequest& request, ReadContext& context) const;
    void check_traffic(const CollectiveRequest& request, ReadContext& context) const;
    void check_sizes(const CollectiveRequest& request, ReadContext& context) const;
    /// The network that is built for the collective of the greatest size.
    void build_network(const CollectiveRequest& request, const network::FabricMaker::BuildForJob& build,
                       ReadContext& context);

    /// The collective of a size as users count it, as a program.
    [[nodiscard]] system::Program program(Bytes size) const;

    system::CollectiveKind kind_{};
    bool is_uneven_ = false;
    std::int64_t imbalance_ = 0;  ///< millionths
    std::vector<Bytes> sizes_;
    Experiment setting_;  ///< all but the program
};

[[nodiscard]] nlohmann::ordered_json to_json(const CollectivePoint& point);
/// Table with one row per point, as nccl-tests prints it.
[[nodiscard]] std::string collective_table(const CollectiveRun& run,
                                           const std::vector<CollectivePoint>& points);

}  // namespace astrolabe::experiment
