// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_link_tap.hpp"

#include <utility>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

PacketLinkTap::PacketLinkTap(sim::PacketFabric& ports, network::LinkObserver& observer, LinkOf link_of,
                             PayloadOf payload_of)
    : ports_(ports),
      observer_(observer),
      link_of_(std::move(link_of)),
      payload_of_(std::move(payload_of)) {
    sim::PacketTraces& traces = ports.GetContext().traces;
    traces.started.ConnectWithoutContext(sim::MakeCallback(&PacketLinkTap::started, this));
    traces.frame.ConnectWithoutContext(sim::MakeCallback(&PacketLinkTap::control_frame, this));
}

void PacketLinkTap::started(std::uint32_t port, const sim::PacketDescriptor& packet, std::int64_t when) {
    if (const std::optional<network::LinkId> link = link_of_(port)) {
        report(*link, packet, when, packet.tail - ports_.GetPort(port).GetLatency());
    }
}

void PacketLinkTap::control_frame(std::uint32_t port, std::uint32_t bytes, std::int64_t start,
                                  std::int64_t end) {
    if (const std::optional<network::LinkId> link = link_of_(port)) {
        observer_.carried(*link, Time(start), Time(end), {static_cast<double>(bytes), 0});
    }
}

void PacketLinkTap::crossed(network::LinkId link, const sim::PacketDescriptor& packet) {
    const sim::PacketPort& port = ports_.GetPort(packet.ingress);
    const std::int64_t end = packet.tail - port.GetLatency();
    const Time transmission =
        Bytes(packet.bytes) / Bandwidth(static_cast<std::int64_t>(port.GetBitsPerSecond()));
    report(link, packet, end - transmission.count(), end);
}

void PacketLinkTap::report(network::LinkId link, const sim::PacketDescriptor& packet, std::int64_t start,
                           std::int64_t end) {
    observer_.carried(link, Time(start), Time(end),
                      {static_cast<double>(packet.bytes), static_cast<double>(payload_of_(packet))});
}

void PacketLinkTap::received(std::uint32_t host, std::uint32_t payload, std::int64_t when) {
    observer_.delivered(network::HostId(host), Time(when), Time(when), static_cast<double>(payload));
}

}  // namespace astrolabe::ns3
