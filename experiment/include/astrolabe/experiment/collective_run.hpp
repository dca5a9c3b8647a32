/// One collective by itself on a network, size by size: the simulator's answer to nccl-tests.
///
/// Size means what nccl-tests means by it: bytes held per rank before (all_reduce, reduce_scatter,
/// all_to_all), bytes of the result (all_gather, where each rank contributes size/N; the size is rounded down
/// to a multiple of N).
///     algorithm bandwidth = size / time
///     bus bandwidth       = algorithm bandwidth · 2(N-1)/N (all_reduce) or · (N-1)/N (the others)
/// so bus bandwidth compares with the rate of a port whatever the kind and N. The lower bound is that of
/// run.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/run.hpp>

namespace astrolabe::experiment {

struct CollectiveRequest {
    std::string kind;  ///< "all_reduce"; '-' is accepted for '_'
    std::string algorithm;
    std::vector<std::string> sizes;  ///< "16MiB"
    std::string
        network;  ///< path of a file with a network section (or a mapping below `network`), or {kind: …}
    std::string backend = "fluid";     ///< a kind, a path, or {kind: …}
    std::optional<std::size_t> ranks;  ///< unset: every host
    std::uint32_t chunks = 1;
    std::uint32_t active_chunks = system::SystemOptions{}.active_chunks;
    std::string injection_latency = "0";
    std::vector<std::string> overrides;  ///< "network.link.rate=…", "backend.mtu=…"
    std::uint64_t seed = 1;
};

struct CollectivePoint {
    system::CollectiveKind kind{};
    std::string algorithm;
    std::size_t ranks = 0;
    Bytes size;       ///< as defined above
    Bytes bytes_in;   ///< held per rank before
    Bytes bytes_out;  ///< held per rank after
    Time lower_bound;
    std::uint64_t steps = 0;  ///< longest chain of messages of a chunk
    Bytes bytes_sent_max;     ///< by any one rank
    Run run;

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
    /// Reports what only shows with everything known: ranks against hosts, algorithm against ranks, backend
    /// against fabric.
    void check_setting(const CollectiveRequest& request, ReadContext& context) const;

    /// What a rank holds before, for a size as users count it.
    [[nodiscard]] Bytes bytes_in(Bytes size) const;

    system::CollectiveKind kind_{};
    std::vector<Bytes> sizes_;
    Experiment setting_;  ///< all but the program
};

[[nodiscard]] nlohmann::ordered_json to_json(const CollectivePoint& point);
/// Table with one row per point, as nccl-tests prints it.
[[nodiscard]] std::string collective_table(const CollectiveRun& run,
                                           const std::vector<CollectivePoint>& points);

}  // namespace astrolabe::experiment
