/// A network of servers as two networks that share no links: one inside servers, one between them.
///
/// Model. The hosts of the network between servers (`outside`) are NICs. A message between hosts that reach
/// each other inside their server takes the network `inside`, whose hosts are those of the whole; any other
/// goes from the NIC of its source to the NIC of its destination (ServerLayout::nics_between). Between a host
/// and its NIC lies a *leg*: it adds its latency and nothing else, as all that its NICs carry never fills it,
///
///     Σ rate of the NICs behind a link  ≤  rate of the link,
///
/// and nothing that stays inside a server crosses it. So what one network does never slows down the other,
/// and each may have an engine of its own: the network between servers one that knows how its circuits move.
///
/// Example. Two servers of 8 GPUs on an NVSwitch, and a NIC of 400 Gb/s for each on a bus of 504 Gb/s, in two
/// racks of a network of 16 hosts with circuits: GPU 1 to GPU 6 goes inside, GPU 1 to GPU 9 takes 250 ns of the bus,
/// host 1 to host 9 of that network, and 250 ns.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network {

struct SplitNetwork {
    struct Part {
        std::shared_ptr<const Fabric> fabric;
        /// By link of the part, which it is in the whole; nothing: the part needs it, and it carries nothing.
        IndexedVector<LinkId, std::optional<LinkId>> links;
    };
    /// Between a host and one of its NICs.
    struct Leg {
        Time to_nic;
        Time from_nic;
    };

    const ServerLayout* layout = nullptr;  ///< never null; of the whole, whose family outlives this
    Part inside;
    Part outside;
    std::vector<std::vector<Leg>> legs;  ///< by host, as ServerLayout::nics_of
    /// By host, the first host of those that reach each other inside their server.
    std::vector<HostId> islands;

    [[nodiscard]] bool is_inside(HostId source, HostId destination) const {
        return islands[source.index()] == islands[destination.index()];
    }
    /// Precondition: the NIC is one of the host's.
    [[nodiscard]] const Leg& leg(HostId host, NicId nic) const;
};

}  // namespace astrolabe::network
