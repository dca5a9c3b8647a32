/// Which hosts of a fabric share a server, and which network interface (NIC) a pair of servers' hosts uses.
///
/// Model. A server has hosts (its GPUs), consecutive in the fabric, links between them, and NICs, which are
/// the hosts of a scale-out network. Servers may be unequal. NIC k of a server is on rail k. Every host has
/// NICs of its own, the nearest ones; several hosts may share one, and a host may have several. From host s
/// to host d of another server a message leaves through the NIC of s and arrives through that of d:
///
///     own NIC (kOwn)           NIC number a of s, NIC number b of d, by the lists of both; of m NICs of one
///                              host that of number (d for s, s for d) mod m
///     rail of the destination  as above for d, and for s the NIC of its server that is on the same rail. If
///     (kRail)                  its server has none there, its own NIC; then a message on a plane without d's
///                              NIC arrives through the NIC that d's server has on that plane
///
/// The scale-out network is one, or one for each rail (*planes*, which are not connected to each other; then
/// the rule is kRail).
///
/// Example. Two servers of 4 GPUs and 4 NICs: from GPU 1 to GPU 6, which is number 2 of server 1, kOwn takes
/// NIC 1 of server 0 and NIC 2 of server 1, kRail NIC 2 of both, which GPU 1 reaches inside its server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

using ServerId = Id<struct ServerTag>;
using NicId = Id<struct NicTag>;

/// Which NIC of its server a message leaves through.
enum class NicRule : std::uint8_t { kOwn, kRail };

/// What a link is part of.
enum class LinkPlace : std::uint8_t {
    kScaleOut,  ///< the network between servers, with the cables of NICs
    kScaleUp,   ///< the network between the GPUs of a server
    kPcie,      ///< a server's bus, between GPUs, NICs, switches and processors
    kSocket     ///< between the processors of a server
};

struct Nic {
    ServerId server;
    std::uint32_t rail = 0;   ///< its number in its server
    std::uint32_t plane = 0;  ///< which scale-out network it is on
    HostId host;              ///< of that network
    NodeId node;              ///< of the whole fabric; the GPU's own where the NIC is part of it
};

struct ServerMembers {
    std::uint32_t first_host = 0;
    std::uint32_t hosts = 0;
    std::uint32_t first_nic = 0;
    std::uint32_t nics = 0;
};

/// All vectors are complete and agree with each other. NICs are numbered server by server.
struct ServerLayoutParts {
    IndexedVector<ServerId, ServerMembers> servers;
    IndexedVector<NicId, Nic> nics;
    std::vector<std::vector<NicId>> nics_of_host;  ///< the nearest, at least one
    std::vector<std::shared_ptr<const Fabric>> planes;
    IndexedVector<LinkId, LinkPlace> places;  ///< by link of the whole fabric
    std::vector<NodeId> processors;           ///< of servers, by ascending node of the whole fabric
    NicRule rule = NicRule::kOwn;
    std::uint32_t rails = 0;  ///< largest number of NICs of a server; 0: NICs are not arranged by rail
    /// Collectives see two dimensions, inside a server and across, where servers are equal and nothing else
    /// is asked for.
    bool shapes_collectives = false;
};

class ServerLayout {
public:
    explicit ServerLayout(ServerLayoutParts parts);

    [[nodiscard]] std::size_t size() const { return parts_.servers.size(); }
    [[nodiscard]] const ServerMembers& server(ServerId id) const { return parts_.servers[id]; }
    [[nodiscard]] ServerId server_of(HostId host) const { return server_of_[host.index()]; }
    /// Number of a host in its server.
    [[nodiscard]] std::uint32_t position_of(HostId host) const {
        return host.index() - parts_.servers[server_of(host)].first_host;
    }
    [[nodiscard]] std::size_t nic_count() const { return parts_.nics.size(); }
    [[nodiscard]] const Nic& nic(NicId id) const { return parts_.nics[id]; }
    /// The nearest NICs of a host, at least one.
    [[nodiscard]] std::span<const NicId> nics_of(HostId host) const {
        return parts_.nics_of_host[host.index()];
    }
    /// Which NICs a message leaves and arrives through. Precondition: the hosts are in different servers, or
    /// have different NICs of their own.
    [[nodiscard]] std::pair<NicId, NicId> nics_between(HostId source, HostId destination) const;

    /// The scale-out networks by themselves, whose hosts are the NICs. Their speeds are those as built.
    [[nodiscard]] std::span<const std::shared_ptr<const Fabric>> planes() const { return parts_.planes; }
    [[nodiscard]] LinkPlace place_of(LinkId link) const { return parts_.places[link]; }
    /// Switches inside servers that are processors, in ascending order.
    [[nodiscard]] std::span<const NodeId> processors() const { return parts_.processors; }
    /// The rail of a host: that of the first of its NICs.
    [[nodiscard]] std::uint32_t rail_of(HostId host) const { return parts_.nics[nics_of(host).front()].rail; }
    [[nodiscard]] NicRule rule() const { return parts_.rule; }
    [[nodiscard]] std::uint32_t rails() const { return parts_.rails; }
    [[nodiscard]] bool shapes_collectives() const { return parts_.shapes_collectives; }
    /// The number of hosts of every server; 0: they differ.
    [[nodiscard]] std::uint32_t hosts_per_server() const;

private:
    [[nodiscard]] NicId own_nic(HostId host, HostId peer) const;

    ServerLayoutParts parts_;
    std::vector<ServerId> server_of_;  ///< by host
};

}  // namespace astrolabe::network
