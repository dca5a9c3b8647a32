// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_tap.hpp"

#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::PacketEventKind;
using network::PacketKind;

namespace {

PacketKind kind_of(const sim::PacketDescriptor& packet) {
    switch (packet.kind) {
        case sim::PacketDescriptor::Kind::DATA:
            return PacketKind::kData;
        case sim::PacketDescriptor::Kind::ACK:
            return PacketKind::kAcknowledgement;
        case sim::PacketDescriptor::Kind::NACK:
            return PacketKind::kNegativeAcknowledgement;
        case sim::PacketDescriptor::Kind::CNP:
            return PacketKind::kCongestionNotification;
        case sim::PacketDescriptor::Kind::PULL:
            return PacketKind::kPull;
    }
    ASTROLABE_ASSERT(false, "every kind of packet is named");
}

}  // namespace

PacketTap::PacketTap(sim::PacketFabric& ports, network::PacketObserver& observer, LinkOf link_of)
    : ports_(ports),
      observer_(observer),
      link_of_(std::move(link_of)) {
    const auto connect = [this](sim::PacketTraces::PacketCallback& source, auto method) {
        source.ConnectWithoutContext(sim::MakeCallback(method, this));
    };
    sim::PacketTraces& traces = ports.GetContext().traces;
    connect(traces.enqueued, &PacketTap::report<PacketEventKind::kEnqueued>);
    connect(traces.started, &PacketTap::report<PacketEventKind::kStarted>);
    connect(traces.arrived, &PacketTap::report<PacketEventKind::kArrived>);
    connect(traces.dropped, &PacketTap::report<PacketEventKind::kDropped>);
    connect(traces.marked, &PacketTap::report<PacketEventKind::kMarked>);
    connect(traces.trimmed, &PacketTap::report<PacketEventKind::kTrimmed>);
}

template <PacketEventKind kWhat>
void PacketTap::report(std::uint32_t port, const sim::PacketDescriptor& packet, std::int64_t when) {
    if (port == sim::PACKET_NONE) {
        return;  // no way led from where it was made, so it came into no queue
    }
    const std::optional<network::LinkId> link = link_of_(port, when);
    if (!link) {
        return;
    }
    network::PacketEvent event;
    event.time = Time(when);
    event.link = *link;
    event.source = network::HostId(packet.source);
    event.destination = network::HostId(packet.destination);
    event.size = Bytes(packet.bytes);
    event.waiting = Bytes(static_cast<std::int64_t>(ports_.GetPort(port).GetWaitingBytes()));
    event.sequence = packet.sequence;
    event.queue_pair = packet.queuePair;
    event.what = kWhat;
    event.kind = kind_of(packet);
    event.priority = packet.priority;
    event.is_marked = packet.Is(sim::PacketDescriptor::MARKED);
    event.is_trimmed = packet.Is(sim::PacketDescriptor::TRIMMED);
    event.is_repeated = packet.Is(sim::PacketDescriptor::AGAIN);
    observer_.packet(event);
}

}  // namespace astrolabe::ns3
