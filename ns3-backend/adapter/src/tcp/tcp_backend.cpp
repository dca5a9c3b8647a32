// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/tcp_backend.hpp"

#include "tcp/ns3_network.hpp"

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

TcpOptions checked(TcpOptions options, const network::Fabric& fabric) {
    const auto found = validation_errors(options);
    ASTROLABE_ASSERT(found.empty(), found.front().key + ": " + found.front().message);
    const auto reason = unsupported(fabric, options);
    ASTROLABE_ASSERT(!reason.has_value(), *reason);
    return options;
}

}  // namespace

TcpBackend::TcpBackend(std::shared_ptr<const network::Fabric> fabric, TcpOptions options)
    : TcpBackend([&] { return std::make_unique<Ns3Network>(std::move(fabric), options); },
                 checked(options, *fabric)) {}

TcpBackend::TcpBackend(const MakeNetwork& make_network, TcpOptions options)
    : Ns3Backend(options.seed),
      options_(std::move(options)) {
    attributes_.emplace(attribute_values(options_));
    network_ = make_network();
    transport_.on_delivered = [this](const Message& message, std::uint64_t order) { arrive(message, order); };
}

TcpBackend::~TcpBackend() {
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

network::PresentLimits TcpBackend::present_limits(std::size_t most) const {
    network::PresentLimits limits =
        deepest_queues(network_->fabric().link_count(), most,
                       [this](network::LinkId link) { return network_->waiting(link); });
    for (const Lane& lane : connections_) {
        if (network_->waits_for_circuits(lane.number)) {
            limits.circuit_waits += lane.connection->pending().size();
        }
    }
    return limits;
}

void TcpBackend::send(const Message& message) {
    sent(message);
    const std::uint64_t order = next_order_++;
    const Lanes lanes = network_->lanes_of(message);
    if (network_->splits()) {
        send_split(message, lanes, order);
        return;
    }
    connection(pair(message.source, message.destination), message.source, message.destination, lanes.first)
        .send(message, options_.frame_header, order);
}

void TcpBackend::send_split(const Message& message, Lanes lanes, std::uint64_t order) {
    Pair& pair = this->pair(message.source, message.destination);
    const Bytes segment = options_.segment_size();
    Bytes left = options_.frame_header + message.size;
    Bytes header = options_.frame_header;
    const std::int64_t segments = (left + segment - Bytes(1)) / segment;
    const auto pieces = static_cast<std::uint32_t>(std::min<std::int64_t>(segments, lanes.count));
    splits_.emplace(order, Split{message, pieces});
    pair.in_order.push_back(order);
    for (std::uint32_t i = 0; i < pieces; ++i) {
        const std::int64_t share = segments / pieces + (i < segments % pieces ? 1 : 0);
        const Bytes bytes = std::min(segment * share, left);
        const Bytes own_header = std::min(header, bytes);
        Message piece = message;
        piece.size = bytes - own_header;
        left -= bytes;
        header -= own_header;
        const std::uint32_t lane = lanes.first + pair.next++ % lanes.count;
        connection(pair, message.source, message.destination, lane).send(piece, own_header, order);
    }
}

std::vector<network::OutstandingMessage> TcpBackend::describe_outstanding(std::size_t limit) const {
    std::map<std::uint64_t, network::OutstandingMessage> by_order;
    for (const auto& [order, split] : splits_) {
        const Message& message = split.message;
        by_order[order] = {message.source, message.destination, message.size, Bytes(0)};
    }
    for (const Lane& lane : connections_) {
        for (const TcpConnection::Pending& pending : lane.connection->pending()) {
            const Message& message = pending.message;
            const auto [entry, is_new] = by_order.try_emplace(
                pending.order,
                network::OutstandingMessage{message.source, message.destination, message.size, Bytes(0)});
            entry->second.remaining += lane.connection->remaining(pending);
        }
    }
    std::vector<network::OutstandingMessage> described;
    for (const auto& [order, message] : by_order) {
        if (described.size() == limit) {
            break;
        }
        described.push_back(message);
    }
    return described;
}

std::string TcpBackend::explain_stall() const {
    std::string text = network_->explain_stall(describe_outstanding(outstanding_messages()));
    std::vector<HostPair> given_up;
    for (const Lane& lane : connections_) {
        if (lane.connection->has_given_up() && !lane.connection->pending().empty()) {
            const Message& message = lane.connection->pending().front().message;
            given_up.emplace_back(message.source, message.destination);
        }
    }
    if (!given_up.empty()) {
        text += text.empty() ? "" : "\n";
        text += "these connections had no answer to all tries of their sockets and gave up, " +
                std::to_string(given_up.size()) + " in all:" + network_->describe_given_up(given_up);
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

void TcpBackend::arrive(const Message& message, std::uint64_t order) {
    const auto arrived = splits_.find(order);
    if (arrived == splits_.end()) {
        deliver(message);
        return;
    }
    --arrived->second.pieces;
    Pair& pair = this->pair(message.source, message.destination);
    while (!pair.in_order.empty() && splits_.at(pair.in_order.front()).pieces == 0) {
        const auto next = splits_.find(pair.in_order.front());
        const Message whole = next->second.message;
        pair.in_order.pop_front();
        splits_.erase(next);
        deliver(whole);
    }
}

void TcpBackend::deliver(const Message& message) {
    ++messages_;
    delivered_ += message.size;
    delivered(*message.on_delivered, message.token);
}

TcpBackend::Pair& TcpBackend::pair(HostId source, HostId destination) {
    return by_pair_[std::uint64_t{source.index()} * network_->fabric().host_count() + destination.index()];
}

TcpConnection& TcpBackend::connection(Pair& pair, HostId source, HostId destination, std::uint32_t lane) {
    pair.opened.resize(std::max<std::size_t>(pair.opened.size(), lane + 1));
    if (pair.opened[lane] > 0) {
        return *connections_[pair.opened[lane] - 1].connection;
    }
    const sim::Ptr<sim::Socket> sender = socket(source, destination);
    connections_.push_back({lane, std::make_unique<TcpConnection>(sender, transport_)});
    pair.opened[lane] = static_cast<std::uint32_t>(connections_.size());
    TcpConnection& connection = *connections_.back().connection;
    connection.open(socket(destination, source),
                    sim::InetSocketAddress(TcpNetwork::address(destination), network_->port(source, lane)));
    network_->prepare(*sender, lane);
    return connection;
}

/// A fresh socket of `host` for talking to `peer`.
sim::Ptr<sim::Socket> TcpBackend::socket(HostId host, HostId peer) const {
    return network_->host(host)
        ->GetObject<sim::TcpPeerDemux>()
        ->GetTcp(TcpNetwork::address(peer))
        ->CreateSocket();
}

}  // namespace astrolabe::ns3
