#include "flexflow_replay.hpp"

#include "flexflow_dlrm.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

ReplayRing replay_ring(Bytes tensor, std::size_t nodes, const FlexflowReplay& replay) {
    ASTROLABE_ASSERT(nodes >= 2, "a ring has two nodes");
    const auto n = static_cast<std::int64_t>(nodes);
    Bytes size = std::max(tensor, Bytes(n));
    if (size < n * replay.packet) {
        size = size * (2 * (n - 1)) / n;
    }
    return {.flow = std::max(replay.least_flow, size / n),
            .rounds = size <= 2 * (n - 1) * replay.packet ? 1 : 2 * (n - 1)};
}

ReplayTraffic replay_traffic(const FlexflowModel& model, const FlexflowTraining& training,
                             std::size_t nodes) {
    const FlexflowReplay replay = training.replay.value_or(FlexflowReplay{});
    ReplayTraffic traffic;
    for (const Bytes tensor : gradient_tensors(model, training)) {
        ++traffic.tensors;
        if (nodes < 2) {
            continue;
        }
        const ReplayRing ring = replay_ring(tensor, nodes, replay);
        const std::int64_t flows = static_cast<std::int64_t>(nodes) * ring.rounds;
        traffic.sent_once_around += ring.rounds == 1 ? 1 : 0;
        traffic.flows += flows;
        traffic.all_reduce += flows * ring.flow;
    }
    const Bytes all = traffic.all_reduce + slice_traffic(model, training, nodes);
    if (all > Bytes(0)) {
        traffic.all_reduce_share =
            static_cast<double>(traffic.all_reduce.count()) / static_cast<double>(all.count());
    }
    return traffic;
}

}  // namespace astrolabe::workload
