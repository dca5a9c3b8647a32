/// What the simulators of the EuroMLSys 2024 Opera study do otherwise when they replay FlexFlow's task graph,
/// and the bytes that they count.
///
/// Source: docs/theory/opera-dlrm-study.md, "Task graph", "Traffic" and "All-reduces of the replay".
///
/// Semantics, each a key of its own.
///     all_reduce_start  kOwnGradient: an all-reduce starts on a node when that node has its gradient.
///                       kAllGradients: on all nodes when the last one has it.
///     task_order        kFixed: a node computes in the order of flexflow_dlrm.hpp. kFirstCome: of its ready
///                       tasks it takes the one that became ready first, and tasks ready at the start in the
///                       order of flexflow_dlrm.hpp.
///     early_stop        all-reduces send what the replay's ring sends, below, instead of whole tensors.
///
/// The replay's ring, for a tensor of S bytes on N >= 2 nodes, at least N, in packets of m bytes:
///     S1    = S if S >= m·N, else ⌊S·2(N-1)/N⌋
///     flow  = max(f, ⌊S1/N⌋), what each node sends to the next in a round; f: the least flow
///     round = 2(N-1) times, but once if S1 <= m·2(N-1)
/// Where all rounds are made S >= m·2(N-1) >= m·N and ⌊S/N⌋ >= m, so that with f <= m an early stop sends an
/// all-reduce of N·⌊S/N⌋ bytes. A tensor that goes round once is no all-reduce: each node sends a flow to the
/// next, which is written as an uneven all_to_all.
///
/// Published shares of all-reduces in the traffic are those of the ring with the packets of its TCP
/// simulators, m = 9000 and f = 8936, also for networks that replay other algorithms.
#pragma once

#include <cstddef>
#include <cstdint>

#include <astrolabe/core/units.hpp>

namespace astrolabe::workload {

struct FlexflowModel;
struct FlexflowTraining;

enum class AllReduceStart : std::uint8_t { kOwnGradient, kAllGradients };
enum class TaskOrder : std::uint8_t { kFixed, kFirstCome };

struct FlexflowReplay {
    AllReduceStart all_reduce_start = AllReduceStart::kOwnGradient;
    TaskOrder task_order = TaskOrder::kFixed;
    bool early_stop = false;
    Bytes packet = Bytes(9000);      ///< m, at least f
    Bytes least_flow = Bytes(8936);  ///< f: a TCP source sends at least a segment
};

struct ReplayRing {
    Bytes flow;               ///< of a node in a round
    std::int64_t rounds = 0;  ///< 1 or 2(N-1)
};
/// Precondition: nodes >= 2.
[[nodiscard]] ReplayRing replay_ring(Bytes tensor, std::size_t nodes, const FlexflowReplay& replay);

/// All-reduces of an iteration as the replay sends them, over all nodes.
struct ReplayTraffic {
    std::int64_t tensors = 0;           ///< that are all-reduced
    std::int64_t sent_once_around = 0;  ///< of them
    std::int64_t flows = 0;
    Bytes all_reduce;
    double all_reduce_share = 0.0;  ///< of these and the slices of FlexflowCounts; 0 where nothing is sent
};
/// Precondition: no validation errors. O(layers).
[[nodiscard]] ReplayTraffic replay_traffic(const FlexflowModel& model, const FlexflowTraining& training,
                                           std::size_t nodes);

}  // namespace astrolabe::workload
