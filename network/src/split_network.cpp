#include "split_network.hpp"

#include <algorithm>
#include <span>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

const SplitNetwork::Leg& SplitNetwork::leg(HostId host, NicId nic) const {
    const std::span<const NicId> own = layout->nics_of(host);
    const auto found = std::ranges::find(own, nic);
    ASTROLABE_ASSERT(found != own.end(), "a message takes NICs of its hosts");
    return legs[host.index()][static_cast<std::size_t>(found - own.begin())];
}

}  // namespace astrolabe::network
