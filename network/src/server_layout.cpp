#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network {

ServerLayout::ServerLayout(ServerLayoutParts parts)
    : parts_(std::move(parts)) {
    for (ServerId id; id.index() < parts_.servers.size(); ++id) {
        const ServerMembers& members = parts_.servers[id];
        ASTROLABE_ASSERT(members.first_host == server_of_.size(), "hosts are numbered server by server");
        server_of_.insert(server_of_.end(), members.hosts, id);
    }
    ASTROLABE_ASSERT(parts_.nics_of_host.size() == server_of_.size() &&
                         std::ranges::none_of(parts_.nics_of_host,
                                              [](const std::vector<NicId>& nics) { return nics.empty(); }),
                     "every host has a NIC");
}

NicId ServerLayout::own_nic(HostId host, HostId peer) const {
    const std::vector<NicId>& nics = parts_.nics_of_host[host.index()];
    return nics.size() == 1 ? nics.front() : nics[peer.index() % nics.size()];
}

std::pair<NicId, NicId> ServerLayout::nics_between(HostId source, HostId destination) const {
    const NicId leaves = own_nic(source, destination);
    const NicId arrives = own_nic(destination, source);
    if (parts_.rule == NicRule::kOwn) {
        return {leaves, arrives};
    }
    const ServerMembers& from = parts_.servers[server_of(source)];
    if (const std::uint32_t rail = parts_.nics[arrives].rail; rail < from.nics) {
        return {NicId(from.first_nic + rail), arrives};
    }
    if (parts_.nics[leaves].plane == parts_.nics[arrives].plane) {
        return {leaves, arrives};
    }
    const ServerMembers& to = parts_.servers[server_of(destination)];
    const std::uint32_t rail = parts_.nics[leaves].rail;
    ASTROLABE_ASSERT(rail < to.nics, "of two servers the one with fewer NICs has rails that both have");
    return {leaves, NicId(to.first_nic + rail)};
}

std::uint32_t ServerLayout::hosts_per_server() const {
    const std::uint32_t first = parts_.servers[ServerId(0)].hosts;
    return std::ranges::all_of(parts_.servers,
                               [first](const ServerMembers& members) { return members.hosts == first; })
               ? first
               : 0;
}

}  // namespace astrolabe::network
