// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/tcp_network.hpp"

#include <algorithm>

namespace astrolabe::ns3 {

std::string TcpNetwork::describe_given_up(const std::vector<HostPair>& pairs) const {
    constexpr std::size_t kLargestListed = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(kLargestListed, pairs.size()); ++i) {
        text += "\n  " + fabric_->node(fabric_->node_of(pairs[i].first)).name + " -> " +
                fabric_->node(fabric_->node_of(pairs[i].second)).name;
    }
    return text;
}

}  // namespace astrolabe::ns3
