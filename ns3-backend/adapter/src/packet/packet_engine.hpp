// SPDX-License-Identifier: GPL-2.0-only
/// What the two backends on the packet engine share: deliveries, observers, and the counters of the
/// transport.
#pragma once

#include "ns3_backend.hpp"
#include "packet/packet_link_tap.hpp"
#include "packet/packet_tap.hpp"

#include <memory>
#include <vector>

#include <ns3/packet-transport.h>

namespace astrolabe::ns3 {

[[nodiscard]] inline std::uint64_t count_of(Bytes bytes) {
    return static_cast<std::uint64_t>(bytes.count());
}

class PacketEngineBackend : public Ns3Backend, private ::ns3::PacketTransportClient {
public:
    [[nodiscard]] bool observe(network::PacketObserver& observer) final {
        tap_ = std::make_unique<PacketTap>(
            ports(), observer, [this](std::uint32_t port, std::int64_t when) { return link_of(port, when); });
        return true;
    }

    [[nodiscard]] network::LinkReports observe_links(network::LinkObserver& observer) final {
        link_tap_ = std::make_unique<PacketLinkTap>(
            ports(), observer, [this](std::uint32_t port) { return link_of(port); },
            [this](const ::ns3::PacketDescriptor& packet) { return payload_of(packet); });
        connect(*link_tap_);
        return network::LinkReports::kAll;
    }

protected:
    using Ns3Backend::Ns3Backend;

    [[nodiscard]] virtual ::ns3::PacketFabric& ports() = 0;
    /// The link of the fabric behind a port; none behind one that leads nowhere now.
    [[nodiscard]] virtual std::optional<network::LinkId> link_of(std::uint32_t port,
                                                                 std::int64_t when) const = 0;

    /// The link that a port has to itself.
    [[nodiscard]] virtual std::optional<network::LinkId> link_of(std::uint32_t port) const = 0;
    /// Bytes of messages in a packet that leaves a port.
    [[nodiscard]] virtual std::uint32_t payload_of(const ::ns3::PacketDescriptor& packet) const = 0;
    /// To what receivers take, and what crosses links that share ports.
    virtual void connect(PacketLinkTap& tap) = 0;
    static void connect_received(::ns3::PacketTransport& transport, PacketLinkTap& tap) {
        transport.TraceConnectWithoutContext("Received", ::ns3::MakeCallback(&PacketLinkTap::received, &tap));
    }

    [[nodiscard]] ::ns3::PacketTransportClient* client() { return this; }

    /// As the engine takes a message.
    [[nodiscard]] static ::ns3::PacketMessage to_engine(const network::Message& message,
                                                        std::uint8_t priority) {
        return {static_cast<std::uint32_t>(message.source.index()),
                static_cast<std::uint32_t>(message.destination.index()),
                count_of(message.size),
                message.on_delivered,
                message.token,
                priority};
    }
    /// Appends messages of the engine, `limit` in all.
    template <class Outstanding>
    static void describe(const std::vector<Outstanding>& all, std::size_t limit,
                         std::vector<network::OutstandingMessage>& described) {
        for (const auto& [message, order, remaining] : all) {
            if (described.size() == limit) {
                return;
            }
            described.push_back({network::HostId(message.source), network::HostId(message.destination),
                                 Bytes(static_cast<std::int64_t>(message.bytes)),
                                 Bytes(static_cast<std::int64_t>(remaining))});
        }
    }
    /// Of the transport and of the simulation; links and packets of other services come beside these.
    [[nodiscard]] network::NetworkStatistics start_statistics(const ::ns3::PacketTransport& transport,
                                                              const ::ns3::PacketContext& context) const {
        const ::ns3::PacketTransportCounters& counters = transport.GetCounters();
        network::NetworkStatistics statistics;
        statistics.messages = counters.messages;
        statistics.bytes_delivered = Bytes(static_cast<std::int64_t>(counters.bytes));
        statistics.packets = counters.packets;
        statistics.retransmissions = counters.retransmissions;
        statistics.timeouts = counters.timeouts;
        statistics.drops = context.drops;
        statistics.events = events_processed();
        return statistics;
    }

private:
    void Delivered(const ::ns3::PacketMessage& message) override {
        delivered(*static_cast<network::NotificationHandler*>(message.owner), message.token);
    }

    std::unique_ptr<PacketTap> tap_;           // null: without an observer
    std::unique_ptr<PacketLinkTap> link_tap_;  // likewise
};

}  // namespace astrolabe::ns3
