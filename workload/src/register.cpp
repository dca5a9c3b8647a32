#include "register.hpp"

#include <fmt/format.h>

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

void register_builtin_workloads(Registry<Job>& registry) {
    register_dlrm(registry);
    register_flexflow_dlrm(registry);
    register_astra_text(registry);
    register_collective(registry);
}

}  // namespace astrolabe::workload
