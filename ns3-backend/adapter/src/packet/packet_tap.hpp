// SPDX-License-Identifier: GPL-2.0-only
/// Passes what the ports of a fabric trace on to an observer of the network layer.
#pragma once

#include <functional>
#include <optional>

#include <ns3/packet-fabric.h>

#include <astrolabe/network/packet_observer.hpp>

namespace astrolabe::ns3 {

class PacketTap {
public:
    /// The link behind a port at a time in ps; none: the event is not reported.
    using LinkOf = std::function<std::optional<network::LinkId>(std::uint32_t port, std::int64_t when)>;

    /// The observer outlives the fabric's last packet; so does the tap.
    PacketTap(::ns3::PacketFabric& ports, network::PacketObserver& observer, LinkOf link_of);
    PacketTap(const PacketTap&) = delete;
    PacketTap& operator=(const PacketTap&) = delete;

private:
    template <network::PacketEventKind kWhat>
    void report(std::uint32_t port, const ::ns3::PacketDescriptor& packet, std::int64_t when);

    ::ns3::PacketFabric& ports_;
    network::PacketObserver& observer_;
    LinkOf link_of_;
};

}  // namespace astrolabe::ns3
