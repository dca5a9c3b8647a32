/// One collective by itself on a network, size by size: the simulator's answer to nccl-tests.
///
/// An experiment whose workload is that collective (workload/src/loops/collective.cpp says what its size
/// means).
///     algorithm bandwidth = size / time
///     bus bandwidth       = algorithm bandwidth · 2(N-1)/N  all_reduce
///                                               · (N-1)/N   reduce_scatter, all_gather, all_to_all
///                                               · 1         broadcast, reduce, point_to_point
/// so bus bandwidth compares with the rate of a port whatever the kind and N. The lower bound is that of
/// lower_bound.hpp.
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
    std::string algorithm = "auto";  ///< a name, or {algorithm: multi_ring, rings: 4}
    std::vector<std::string> sizes;  ///< "16MiB"
    std::string
        network;  ///< path of a file with a network section (or a mapping below `network`), or {kind: …}
    std::string backend = "fluid";     ///< a kind, a path, or {kind: …}
    std::optional<std::size_t> ranks;  ///< unset: every host; not with a network that is built for a job
    std::string dimensions;            ///< "16x8": logical dimensions, the fastest-varying first; empty: one
    std::string imbalance = "1";       ///< all_to_all_v: bytes of the fullest rank over the mean, 1 to N
    std::optional<std::uint32_t> chunks;  ///< unset: chosen
    std::uint32_t active_chunks = system::SystemOptions{}.active_chunks;
    std::string injection_latency = "0";
    std::string measured;                ///< path of a file of measured collectives, or {machine: …}
    std::vector<std::string> overrides;  ///< "network.link.rate=…", "end_point.timing=…", "folding=off"
    std::uint64_t seed = 1;
};

struct CollectivePoint {
    system::CollectiveKind kind{};
    bool is_uneven = false;  ///< all_to_all_v
    std::string algorithm;
    std::vector<MethodChoice> choices;    ///< of algorithm or chunks, where they were open
    std::optional<MeasuredUse> measured;  ///< whether its size lies beyond what was measured
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
    /// `threads` as of RunObservers.
    [[nodiscard]] CollectivePoint run(std::size_t index, const ProgressObserver& observer,
                                      std::size_t threads = 1) const;
    [[nodiscard]] const Experiment& setting() const { return setting_; }

private:
    CollectiveRun() = default;
    system::CollectiveKind kind_{};
    bool is_uneven_ = false;
    std::vector<Bytes> sizes_;
    struct Sized {
        system::Program program;
        std::vector<MethodChoice> choices;
        std::optional<MeasuredUse> measured;
    };
    std::vector<Sized> sized_;  ///< by size
    Experiment setting_;        ///< of the largest size, for which networks of a job are built
};

[[nodiscard]] nlohmann::ordered_json to_json(const CollectivePoint& point);
/// Table with one row per point, as nccl-tests prints it.
[[nodiscard]] std::string collective_table(const CollectiveRun& run,
                                           const std::vector<CollectivePoint>& points);

}  // namespace astrolabe::experiment
