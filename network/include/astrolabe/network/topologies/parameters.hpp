/// What the parameters of all topologies have in common.
///
/// A topology is a plain parameter struct, a function `problems` that finds everything wrong with it, and a
/// function `build_…` whose precondition is that there are no problems. Member names are the keys of the
/// experiment file.
///
/// Limits: 2^20 hosts, 2^20 switches, 2^24 cables; link rates up to 1 Pb/s, latencies up to 1,000 s, so that
/// sums over a path or over the links of a host stay in range.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

inline constexpr std::int64_t kMaxHosts = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxSwitches = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxCables = std::int64_t{1} << 24;
inline constexpr Bandwidth kMaxLinkRate = Bandwidth(1'000'000'000'000'000);
inline constexpr Time kMaxLinkLatency = Time(1'000 * kPicosecondsPerSecond);

/// The cable of a host, the same in both directions.
struct HostLinkParameters {
    Bandwidth rate = Bandwidth(100'000'000'000);
    Time latency = Time(500'000);  ///< one way
};

/// A cable between switches, the same in both directions.
struct UplinkParameters {
    Bandwidth rate;  ///< 0: follows from the oversubscription if given, else that of the host link
    Time latency = Time(500'000);  ///< one way
};

}  // namespace astrolabe::network
