/// Hierarchical: packages of hosts with a scale-up network inside, and a scale-out network between all hosts.
///
/// A short form of servers (docs/models/servers.md): packages are servers, hosts are GPUs, network interfaces
/// are parts of them, the scale-out network is flat, and collectives see no dimensions unless told.
///
/// Host p·L + l is member l of package p, L = hosts_per_package. Scale-up, inside a package: a non-blocking
/// switch with one cable to every member (`switch`), or one cable between every two members
/// (`fully_connected`). Scale-out: one non-blocking switch with one cable to every host, its own network
/// interface. scale_up.rate and scale_out.rate are those of each cable. A package of one host has no scale-up
/// network. Source: "Hier" and "HierOpt" of the HOTI 2020 DLRM study, which differ in the collective
/// algorithm alone.
///
/// Members of a package talk over the scale-up network only, other pairs over the scale-out network only. As
/// two hosts of a package may be 2 links apart in both networks, scale-out links cost 2 in the metric of
/// routing and scale-up links 1:
///
///     same package    scale-up, switch 2·1 or fully_connected 1     scale-out 2·2
///     other package   scale-out 2·2                                 with a detour in a package >= 1 + 2·2
///
/// Every pair thus has one shortest path, and hosts never forward. Latencies from host to host are
/// 2·scale_up.latency (`switch`) or scale_up.latency, and 2·scale_out.latency.
///
/// What is left out: rails, leaf and spine switches in the scale-out network, network interfaces shared by
/// the members of a package, the bus between a device and its interface.
#pragma once

#include <cstdint>
#include <memory>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

enum class ScaleUpKind : std::uint8_t { kSwitch, kFullyConnected };

struct ScaleUpParameters {
    ScaleUpKind kind = ScaleUpKind::kSwitch;
    /// 150 GB/s: the six NVLink 2 cables of a V100, 25 GB/s each way each, as one.
    Bandwidth rate = Bandwidth(1'200'000'000'000);
    Time latency = Time(500'000);  ///< one way
};

struct HierarchicalParameters {
    std::int64_t hosts = 0;              ///< must be given, a multiple of hosts_per_package
    std::int64_t hosts_per_package = 0;  ///< must be given, >= 1
    ScaleUpParameters scale_up;
    HostLinkParameters scale_out;
    Bytes switch_buffer;  ///< packet memory of each switch, scale-up and scale-out; 0: unlimited
};

[[nodiscard]] ValidationErrors validation_errors(const HierarchicalParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_hierarchical(const HierarchicalParameters& parameters);

}  // namespace astrolabe::network
