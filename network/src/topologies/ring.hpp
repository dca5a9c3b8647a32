/// Ring: hosts joined to their two neighbours by full-duplex cables; hosts forward.
///
/// Host i is cabled to host i + 1 mod n, so hosts i and j are min(|i - j|, n - |i - j|) links apart. Traffic
/// goes the shorter way round; between opposite hosts of an even ring both ways are equally short and
/// `load_balancing` decides. Two hosts share one cable, a single host has none.
///
/// With rates r per cable and direction, the two halves of a ring exchange 2·r each way (r for two hosts).
/// Uniform all-to-all of m bytes per pair loads every link of an even ring, opposite traffic split both ways,
/// with m·n²/8 bytes. Forwarding takes the rate of a host's cables and nothing else of it.
#pragma once

#include <cstdint>
#include <memory>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

struct RingParameters {
    std::int64_t hosts = 0;  ///< must be given, >= 1
    HostLinkParameters link;
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;  ///< of the flow hash
};

[[nodiscard]] ValidationErrors validation_errors(const RingParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_ring(const RingParameters& parameters);

}  // namespace astrolabe::network
