// SPDX-License-Identifier: GPL-2.0-only
/// The `tcp` rung: messages over stock ns-3 TCP/IP sockets, on devices of ns-3 (tcp_network.hpp).
///
/// Model. On a static fabric (ns3_network.hpp) each node is an ns-3 node, each cable a pair of point-to-point
/// devices with an output queue each. A link of rate r serialises a datagram of n bytes in 8(n+2)/r (two
/// bytes of PPP) and delivers it whole `latency` later; switches store and forward in no time, hosts after
/// their forwarding latency. Between a source and a destination that ever exchange a message there is one TCP
/// connection for each of its lanes, opened by the first message on it and never closed. A message is
/// `frame_header` + size bytes of its byte stream; it is delivered when the receiving application has read
/// the last of them. Hence, per connection,
///     throughput <= min(r · s/(mtu+2), window/RTT),     s = segment_size(),
/// and messages of one lane arrive in the order sent. Payload has a length and no content.
///
/// Routes are those of the fabric's RoutingPolicy, hop by hop with `select`; acknowledgements take the route
/// of the opposite pair. Where the routing splits a pair over k named paths, lane j is path j. A message of S
/// segments is cut into whole segments, ⌈S/k⌉ or ⌊S/k⌋ for each path, and the next message starts on the path
/// behind the last one's. It is delivered when all pieces have been read and all earlier messages of the pair
/// have been delivered.
///
/// Where links fail (Fabric::failures) a frame that is on a link that goes down, that waits in front of it,
/// or that comes to it until routes lead elsewhere, is lost, in hosts too, and TCP sends it again. A link
/// that is slow is so from the next frame on. A connection gives up after as many tries as its socket makes
/// (ns3::TcpSocket::DataRetries and ConnCount), and with it all of its messages.
///
/// Limits: no spraying (`unsupported` gives the reason); a message must fit 2^63 bytes; the switch adds no
/// delay; hosts have no processing cost and an unlimited send queue (acknowledgements first, then data by
/// destination, round-robin). ns-3 has one
/// simulator per process, so one backend may live at a time; another can be made when it is gone.
///
/// Cost: about 10 ns-3 events and 15–50 us of processor time per data packet on a two-hop path, whatever the
/// number of connections; some 27 kB per connection beside the packets in flight.
#pragma once

#include "ns3_backend.hpp"
#include "tcp/attributes.hpp"
#include "tcp/tcp_connection.hpp"
#include "tcp/tcp_network.hpp"
#include "tcp/tcp_options.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <astrolabe/network/fabric.hpp>

namespace astrolabe::ns3 {

class TcpBackend final : public Ns3Backend {
public:
    /// Preconditions, else an invariant fails: no other ns-3 simulation lives in the process,
    /// `validation_errors(options)` is empty and `unsupported(*fabric, options)` is none.
    TcpBackend(std::shared_ptr<const network::Fabric> fabric, TcpOptions options);
    /// On another network than a static one, made once ns-3's defaults are those of the options.
    using MakeNetwork = std::function<std::unique_ptr<TcpNetwork>()>;
    TcpBackend(const MakeNetwork& make_network, TcpOptions options);
    /// Ends the ns-3 simulation and puts back the ns-3 defaults that the options changed.
    ~TcpBackend() override;

    [[nodiscard]] network::LinkReports observe_links(network::LinkObserver& observer) override;
    [[nodiscard]] network::PresentLimits present_limits(std::size_t most) const override;
    void send(const network::Message& message) override;
    [[nodiscard]] std::vector<network::OutstandingMessage> describe_outstanding(
        std::size_t limit) const override;
    [[nodiscard]] std::string explain_stall() const override;
    [[nodiscard]] std::optional<Bytes> carried(network::LinkId link) const override {
        return network_->carried(link);
    }
    [[nodiscard]] Bytes bytes_delivered() const override { return delivered_; }
    [[nodiscard]] network::NetworkStatistics statistics() const override;

    /// Connections opened so far.
    [[nodiscard]] std::size_t connections() const { return connections_.size(); }

private:
    struct Lane {
        std::uint32_t number;
        std::unique_ptr<TcpConnection> connection;
    };
    struct Pair {
        std::vector<std::uint32_t> opened;   // by lane: number of its connection and 1; 0: not opened
        std::uint32_t next = 0;              // of the lanes that messages are split over
        std::deque<std::uint64_t> in_order;  // split messages that have not been delivered
    };
    struct Split {
        network::Message message;
        std::uint32_t pieces;  // that have not arrived
    };

    [[nodiscard]] Pair& pair(network::HostId source, network::HostId destination);
    [[nodiscard]] TcpConnection& connection(Pair& pair, network::HostId source, network::HostId destination,
                                            std::uint32_t lane);
    void send_split(const network::Message& message, Lanes lanes, std::uint64_t order);
    void arrive(const network::Message& message, std::uint64_t order);
    void deliver(const network::Message& message);
    [[nodiscard]] ::ns3::Ptr<::ns3::Socket> socket(network::HostId host, network::HostId peer) const;

    TcpOptions options_;
    TransportState transport_;
    std::vector<Lane> connections_;                    // in the order opened
    std::unordered_map<std::uint64_t, Pair> by_pair_;  // never iterated
    std::map<std::uint64_t, Split> splits_;            // by order
    std::optional<AttributeDefaults> attributes_;
    std::unique_ptr<TcpNetwork> network_;

    std::uint64_t next_order_ = 0;
    std::uint64_t messages_ = 0;
    Bytes delivered_;
};

}  // namespace astrolabe::ns3
