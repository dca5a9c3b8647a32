/// Flat: all hosts on one non-blocking switch.
///
/// Every pair of hosts is 2 links apart, one-way latency 2·link.latency. The switch itself never limits: with
/// rates r per host link, any traffic with at most r into and out of each host fits (the hose model). Source:
/// "Flat100G" of the HOTI 2020 DLRM study.
#pragma once

#include <cstdint>
#include <memory>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

struct FlatParameters {
    std::int64_t hosts = 0;  ///< must be given, >= 1
    HostLinkParameters link;
    Bytes switch_buffer;  ///< packet memory of the switch; 0: unlimited
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;  ///< of the flow hash
};

[[nodiscard]] ValidationErrors validation_errors(const FlatParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_flat(const FlatParameters& parameters);

}  // namespace astrolabe::network
