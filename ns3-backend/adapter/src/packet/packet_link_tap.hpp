// SPDX-License-Identifier: GPL-2.0-only
/// Passes what the ports of a fabric transmit, and what its receivers take, on to an observer of links
/// (astrolabe/network/link_observer.hpp).
///
/// A packet is a piece from its first bit to its last. One that leaves more slowly than its port could, for
/// its last bits are still coming in (cut-through), is one of that length.
#pragma once

#include <functional>
#include <optional>

#include <ns3/packet-fabric.h>

#include <astrolabe/network/link_observer.hpp>

namespace astrolabe::ns3 {

class PacketLinkTap {
public:
    /// The link that is a port's as long as there is one; none: what it transmits is reported by `crossed`.
    using LinkOf = std::function<std::optional<network::LinkId>(std::uint32_t port)>;
    /// Bytes of messages in a packet.
    using PayloadOf = std::function<std::uint32_t(const ::ns3::PacketDescriptor&)>;

    /// The observer outlives the fabric's last packet; so does the tap.
    PacketLinkTap(::ns3::PacketFabric& ports, network::LinkObserver& observer, LinkOf link_of,
                  PayloadOf payload_of);
    PacketLinkTap(const PacketLinkTap&) = delete;
    PacketLinkTap& operator=(const PacketLinkTap&) = delete;

    /// A packet has come over `link` through the port that it came from last.
    void crossed(network::LinkId link, const ::ns3::PacketDescriptor& packet);
    /// Payload has come to a host for the first time.
    void received(std::uint32_t host, std::uint32_t payload, std::int64_t when);

private:
    void started(std::uint32_t port, const ::ns3::PacketDescriptor& packet, std::int64_t when);
    void control_frame(std::uint32_t port, std::uint32_t bytes, std::int64_t start, std::int64_t end);
    void report(network::LinkId link, const ::ns3::PacketDescriptor& packet, std::int64_t start,
                std::int64_t end);

    ::ns3::PacketFabric& ports_;
    network::LinkObserver& observer_;
    LinkOf link_of_;
    PayloadOf payload_of_;
};

}  // namespace astrolabe::ns3
