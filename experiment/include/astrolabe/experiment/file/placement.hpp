/// Placement: the host of every rank.
///
/// Model. A placement is an injective map of N ranks to H ≥ N hosts. *Groups* are the hosts that hang by one
/// cable each on one switch (network::place_of), in the order of their first hosts; a host with several
/// cables, or joined to hosts, is a group by itself. Of a network of servers they are the servers.
///     linear       rank i on host i
///     round_robin  a rank to every group in turn, on its first free host; full groups are skipped
///     by_rail      on a network of servers: the hosts of rail 0, server by server, then those of rail 1, …;
///                  the rail of a host is that of its NIC, the first if it has several
///     random       N of the H hosts in random order, all orders equally likely
///     a list       rank i on the host at place i of the list
/// Example. Six hosts on two leaves of three: round_robin puts ranks 0 to 5 on hosts 0, 3, 1, 4, 2, 5, so
/// that neighbours in a ring are on different leaves.
///
/// Where every host has a NIC of its own, by_rail is round_robin. Where two hosts share one it is not: of two
/// servers of four hosts and two NICs by_rail is hosts 0, 1, 4, 5, 2, 3, 6, 7 and round_robin 0, 4, 1, 5, 2,
/// 6, 3, 7.
///
/// Random placements draw from the stream "cluster.placement" of their seed (core/random.hpp).
///
/// Complexity: O(H log H).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::experiment {

enum class PlacementOrder : std::uint8_t { kLinear, kRoundRobin, kByRail, kRandom };

/// The key `cluster.placement`: an order, or a list of hosts.
struct PlacementKeys {
    PlacementOrder order = PlacementOrder::kLinear;
    std::vector<std::uint32_t> hosts;   ///< by rank; empty: by the order
    std::optional<std::uint64_t> seed;  ///< of random ones; unset: that of the experiment

    [[nodiscard]] bool is_linear() const { return order == PlacementOrder::kLinear && hosts.empty(); }
    [[nodiscard]] bool is_by_rail() const { return order == PlacementOrder::kByRail && hosts.empty(); }
    [[nodiscard]] bool is_random() const { return order == PlacementOrder::kRandom && hosts.empty(); }
};

class Placement {
public:
    Placement() = default;  ///< rank i on host i, of any number of ranks
    /// Rank i on the host at place i. They differ.
    explicit Placement(std::vector<network::HostId> hosts)
        : hosts_(std::move(hosts)) {}

    [[nodiscard]] network::HostId operator[](std::size_t rank) const {
        return hosts_.empty() ? network::HostId(rank) : hosts_[rank];
    }
    [[nodiscard]] bool is_linear() const { return hosts_.empty(); }
    [[nodiscard]] std::vector<network::HostId> hosts_of(std::size_t ranks) const;

private:
    std::vector<network::HostId> hosts_;
};

/// Reads the value of `cluster.placement` into order or hosts; reports what is neither, and hosts that are
/// named twice.
void read_placement(PlacementKeys& keys, const ConfigNode& node, ReadContext& context);
/// Nothing of a linear one.
[[nodiscard]] std::optional<ConfigNode> write_placement(const PlacementKeys& keys);
/// What the key takes, and what it is for.
[[nodiscard]] ParameterDescriptor placement_parameter();

/// Lists of another length than there are ranks, and seeds that nothing is drawn with; keys of the cluster
/// section.
[[nodiscard]] ValidationErrors placement_errors(const PlacementKeys& keys, std::size_t ranks);

/// Precondition: the fabric has as many hosts as there are ranks, those that are listed, and servers for a
/// placement by rail.
[[nodiscard]] Placement place(const PlacementKeys& keys, std::size_t ranks, const network::Fabric& fabric,
                              std::uint64_t experiment_seed);

/// Hosts that hang on one switch, or share a server, as the head of this file has it.
[[nodiscard]] std::vector<std::vector<network::HostId>> host_groups(const network::Fabric& fabric);

}  // namespace astrolabe::experiment
