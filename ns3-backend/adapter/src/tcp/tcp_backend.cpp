// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/tcp_backend.hpp"

#include <algorithm>

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
    const auto found = validation_errors(options);
    ASTROLABE_ASSERT(found.empty(), found.front().key + ": " + found.front().message);
    const auto reason = unsupported(fabric, options);
    ASTROLABE_ASSERT(!reason.has_value(), *reason);
    return options;
}

}  // namespace

TcpBackend::TcpBackend(std::shared_ptr<const network::Fabric> fabric, TcpOptions options)
    : Ns3Backend(options.seed),
      options_(checked(std::move(options), *fabric)) {
    attributes_.emplace(attribute_values(options_));
    network_.emplace(std::move(fabric), options_);
    transport_.on_delivered = [this](const Message& message) { deliver(message); };
    if (network_->fabric().failures() != nullptr) {
        failures_.emplace(
            network_->fabric(),
            [this](network::LinkId link, double factor) { network_->change_rate(link, factor); },
            [this](const network::RoutingPolicy& routing) { network_->change_routes(routing); });
    }
}

TcpBackend::~TcpBackend() {
    failures_.reset();
    network_.reset();
    attributes_.reset();
    end();  // sockets use their connection until then
}

network::LinkReports TcpBackend::observe_links(network::LinkObserver& observer) {
    network_->observe(observer);
    transport_.on_payload = [&observer](HostId destination, Bytes payload) {
        const Time now(sim::Simulator::Now().GetTimeStep());
        observer.delivered(destination, now, now, static_cast<double>(payload.count()));
    };
    // ns-3 rounds the time of a frame to a picosecond, down as well as up: links may be a little faster than
    // their rates.
    return network::LinkReports::kOverlapping;
}

void TcpBackend::send(const Message& message) {
    sent(message);
    connection(message.source, message.destination).send(message, next_order_++);
}

std::vector<network::OutstandingMessage> TcpBackend::describe_outstanding(std::size_t limit) const {
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

std::string TcpBackend::explain_stall() const {
    std::string text;
    if (failures_) {
        text = failures_->name_cut_pairs(describe_outstanding(outstanding_messages()));
    }
    std::vector<const Message*> given_up;
    for (const auto& connection : connections_) {
        if (connection->has_given_up() && !connection->pending().empty()) {
            given_up.push_back(&connection->pending().front().message);
        }
    }
    if (!given_up.empty()) {
        constexpr std::size_t kLargestListed = 10;
        text += text.empty() ? "" : "\n";
        text += "these connections had no answer to all tries of their sockets and gave up, " +
                std::to_string(given_up.size()) + " in all:";
        for (std::size_t i = 0; i < std::min(kLargestListed, given_up.size()); ++i) {
            const network::Fabric& fabric = network_->fabric();
            text += "\n  " + fabric.node(fabric.node_of(given_up[i]->source)).name + " -> " +
                    fabric.node(fabric.node_of(given_up[i]->destination)).name;
        }
    }
    return text;
}

network::NetworkStatistics TcpBackend::statistics() const {
    network::NetworkStatistics statistics;
    statistics.messages = messages_;
    statistics.bytes_delivered = delivered_;
    statistics.packets = transport_.packets;
    statistics.retransmissions = transport_.retransmissions;
    statistics.timeouts = transport_.timeouts;
    statistics.events = sim::Simulator::GetEventCount();
    network_->add_counters(statistics);
    return statistics;
}

void TcpBackend::deliver(const Message& message) {
    ++messages_;
    delivered_ += message.size;
    delivered(*message.on_delivered, message.token);
}

TcpConnection& TcpBackend::connection(HostId source, HostId destination) {
    const auto [entry, is_new] = by_pair_.try_emplace(
        std::uint64_t{source.index()} * network_->fabric().host_count() + destination.index(),
        connections_.size());
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
sim::Ptr<sim::Socket> TcpBackend::socket(HostId host, HostId peer) const {
    return network_->host(host)
        ->GetObject<sim::TcpPeerDemux>()
        ->GetTcp(Ns3Network::address(peer))
        ->CreateSocket();
}

}  // namespace astrolabe::ns3
