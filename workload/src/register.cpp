#include "register.hpp"

#include <fmt/format.h>

// Every workload by one line, in the order in which `astrolabe list` prints them; its source defines the
// `register_…`.
#define ASTROLABE_WORKLOADS(WORKLOAD) \
    WORKLOAD(dlrm)                    \
    WORKLOAD(flexflow_dlrm)           \
    WORKLOAD(flexflow_graph)          \
    WORKLOAD(astra_text)              \
    WORKLOAD(chakra)                  \
    WORKLOAD(pytorch)                 \
    WORKLOAD(param)                   \
    WORKLOAD(collective)              \
    WORKLOAD(messages)              \
    WORKLOAD(flows)                 \
    WORKLOAD(pipeline)

namespace astrolabe::workload {

void append_traffic(Facts& facts, const std::array<Bytes, system::kCollectiveKinds>& traffic) {
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        if (traffic[kind] > Bytes(0)) {
            facts.emplace_back(fmt::format("{} per rank and iteration",
                                           system::to_string(static_cast<system::CollectiveKind>(kind))),
                               fmt::format("{} bytes", traffic[kind].count()));
        }
    }
}

#define ASTROLABE_DECLARE(name) void register_##name(Registry<Job>& registry);
ASTROLABE_WORKLOADS(ASTROLABE_DECLARE)
#undef ASTROLABE_DECLARE

void register_builtin_workloads(Registry<Job>& registry) {
#define ASTROLABE_REGISTER(name) register_##name(registry);
    ASTROLABE_WORKLOADS(ASTROLABE_REGISTER)
#undef ASTROLABE_REGISTER
}

}  // namespace astrolabe::workload
