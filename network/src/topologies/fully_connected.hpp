/// Fully connected: one full-duplex cable between every pair of hosts.
///
/// Every pair is 1 link apart and has that link to itself: n - 1 cables per host, n(n-1)/2 in all.
/// `link.rate` is that of each cable, so a host sends up to (n-1)·link.rate in all, but never more than
/// link.rate to one other host. Traffic is not relayed over third hosts.
///
/// Limits: the cables of all topologies, 2^24, allow 5,793 hosts. Links and routing tables grow with n² and
/// the time to make the tables with n³: 150 MB and a few seconds for 1,024 hosts that all talk to each other.
#pragma once

#include <cstdint>
#include <memory>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

struct FullyConnectedParameters {
    std::int64_t hosts = 0;  ///< must be given, >= 1
    HostLinkParameters link;
};

[[nodiscard]] ValidationErrors validation_errors(const FullyConnectedParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_fully_connected(const FullyConnectedParameters& parameters);

}  // namespace astrolabe::network
