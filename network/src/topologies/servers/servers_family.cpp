#include "servers_family.hpp"

#include <map>

namespace astrolabe::network::servers {

Description ServersFamily::describe(const Fabric& /*fabric*/, const std::vector<PairTraffic>& job) const {
    if (plane() == nullptr) {
        return {};
    }
    std::map<std::pair<HostId, HostId>, double> between;
    const ServerLayout& layout = whole_->layout();
    for (const PairTraffic& pair : job) {
        if (layout.server_of(pair.source) != layout.server_of(pair.destination)) {
            const auto [leaves, arrives] = layout.nics_between(pair.source, pair.destination);
            between[{layout.nic(leaves).host, layout.nic(arrives).host}] += pair.bytes;
        }
    }
    std::vector<PairTraffic> of_nics;
    for (const auto& [ends, bytes] : between) {
        of_nics.push_back({ends.first, ends.second, bytes});
    }
    return plane()->family().describe(*plane(), of_nics);
}

}  // namespace astrolabe::network::servers
