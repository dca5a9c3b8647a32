// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/tcp_backend.hpp"

#include "event_loop.hpp"
#include "tcp/attributes.hpp"
#include "tcp/ns3_network.hpp"
#include "tcp/tcp_connection.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <ns3/inet-socket-address.h>
#include <ns3/simulator.h>
#include <ns3/tcp-l4-protocol.h>
#include <ns3/tcp-peer-demux.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::HostId;
using network::Message;

namespace {

/// A host listens for each of its peers on a port of its own, below the ports that requests come from.
constexpr std::uint32_t kFirstPort = 1024;
constexpr std::uint32_t kPorts = 49'152 - kFirstPort;

TcpOptions checked(TcpOptions options, const network::Fabric& fabric) {
    const auto found = problems(options);
    ASTROLABE_ASSERT(found.empty(), found.front().key + ": " + found.front().message);
    const auto refused = refusal(fabric, options);
    ASTROLABE_ASSERT(!refused.has_value(), *refused);
    return options;
}

}  // namespace

class TcpBackend::Simulation {
public:
    Simulation(std::shared_ptr<const network::Fabric> fabric, TcpOptions options)
        : options_(checked(std::move(options), *fabric)),
          loop_(options_.seed),
          attributes_(attribute_values(options_)),
          network_(std::move(fabric), options_) {
        transport_.on_delivered = [this](const Message& message) { deliver(message); };
    }
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    void send(const Message& message) {
        loop_.sent(message);
        connection(message.source, message.destination).send(message, next_order_++);
    }

    [[nodiscard]] EventLoop& loop() { return loop_; }

    [[nodiscard]] std::vector<network::OutstandingMessage> describe_outstanding(std::size_t limit) const {
        using Entry = std::pair<const TcpConnection*, const TcpConnection::Pending*>;
        std::vector<Entry> entries;
        for (const auto& connection : connections_) {
            for (const auto& pending : connection->pending()) {
                entries.emplace_back(connection.get(), &pending);
            }
        }
        std::sort(entries.begin(), entries.end(),
                  [](const Entry& a, const Entry& b) { return a.second->order < b.second->order; });
        entries.resize(std::min(limit, entries.size()));
        std::vector<network::OutstandingMessage> described;
        for (const auto& [connection, pending] : entries) {
            const Message& message = pending->message;
            described.push_back(
                {message.source, message.destination, message.size, connection->remaining(*pending)});
        }
        return described;
    }

    [[nodiscard]] network::NetworkStatistics statistics() const {
        network::NetworkStatistics statistics;
        statistics.messages = messages_;
        statistics.bytes_delivered = delivered_;
        statistics.packets = transport_.packets;
        statistics.retransmissions = transport_.retransmissions;
        statistics.timeouts = transport_.timeouts;
        statistics.events = sim::Simulator::GetEventCount();
        network_.add_counters(statistics);
        return statistics;
    }

    [[nodiscard]] std::size_t connections() const { return connections_.size(); }

private:
    void deliver(const Message& message) {
        ++messages_;
        delivered_ += message.size;
        loop_.delivered(*message.on_delivered, message.token);
    }

    [[nodiscard]] std::uint64_t pair_key(HostId source, HostId destination) const {
        return std::uint64_t{source.index()} * network_.fabric().host_count() + destination.index();
    }

    TcpConnection& connection(HostId source, HostId destination) {
        const auto [entry, is_new] = by_pair_.try_emplace(pair_key(source, destination), connections_.size());
        if (!is_new) {
            return *connections_[entry->second];
        }
        connections_.push_back(
            std::make_unique<TcpConnection>(socket(source, destination), options_.frame_header, transport_));
        TcpConnection& connection = *connections_.back();
        const auto port = static_cast<std::uint16_t>(kFirstPort + source.index() % kPorts);
        connection.open(socket(destination, source),
                        sim::InetSocketAddress(Ns3Network::address(destination), port));
        return connection;
    }

    /// A fresh socket of `host` for talking to `peer`.
    [[nodiscard]] sim::Ptr<sim::Socket> socket(HostId host, HostId peer) const {
        return network_.host(host)
            ->GetObject<sim::TcpPeerDemux>()
            ->GetTcp(Ns3Network::address(peer))
            ->CreateSocket();
    }

    TcpOptions options_;
    // Sockets use their connection until the simulator is destroyed, and the network the routes of the
    // fabric.
    TransportState transport_;
    std::vector<std::unique_ptr<TcpConnection>> connections_;  // in the order opened
    std::unordered_map<std::uint64_t, std::size_t> by_pair_;   // never iterated
    EventLoop loop_;
    AttributeDefaults attributes_;
    Ns3Network network_;

    std::uint64_t next_order_ = 0;
    std::uint64_t messages_ = 0;
    Bytes delivered_;
};

TcpBackend::TcpBackend(std::shared_ptr<const network::Fabric> fabric, TcpOptions options)
    : simulation_(std::make_unique<Simulation>(std::move(fabric), std::move(options))) {}

TcpBackend::~TcpBackend() = default;

Time TcpBackend::now() const {
    return Time(sim::Simulator::Now().GetTimeStep());
}

void TcpBackend::send(const Message& message) {
    simulation_->send(message);
}

void TcpBackend::schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token) {
    simulation_->loop().schedule(delay, handler, token);
}

void TcpBackend::run() {
    simulation_->loop().run();
}

void TcpBackend::stop() {
    sim::Simulator::Stop();
}

std::uint64_t TcpBackend::outstanding_messages() const {
    return simulation_->loop().outstanding();
}

std::vector<network::OutstandingMessage> TcpBackend::describe_outstanding(std::size_t limit) const {
    return simulation_->describe_outstanding(limit);
}

std::uint64_t TcpBackend::events_processed() const {
    return sim::Simulator::GetEventCount();
}

network::NetworkStatistics TcpBackend::statistics() const {
    return simulation_->statistics();
}

std::size_t TcpBackend::connections() const {
    return simulation_->connections();
}

}  // namespace astrolabe::ns3
