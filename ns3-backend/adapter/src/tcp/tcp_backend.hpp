// SPDX-License-Identifier: GPL-2.0-only
/// The `tcp` rung: messages over stock ns-3 TCP/IP sockets and point-to-point devices.
///
/// Model. Each node of the fabric is an ns-3 node; each cable is a pair of point-to-point devices with an
/// output queue each. A link of rate r serialises a datagram of n bytes in 8(n+2)/r (two bytes of PPP) and
/// delivers it whole `latency` later; switches store and forward in no time. Between a source and a
/// destination that ever exchange a message there is one TCP connection, opened by the first message and
/// never closed. A message is `frame_header` + size bytes of its byte stream; it is delivered when the
/// receiving application has read the last of them. Hence, per connection,
///     throughput <= min(r · s/(mtu+2), window/RTT),     s = segment_size(),
/// and messages of one pair arrive in the order sent. Payload has a length and no content.
///
/// Routes are those of the fabric's RoutingPolicy, hop by hop with `select`; acknowledgements take the route
/// of the opposite pair.
///
/// Limits: static fabrics with flow-hash load balancing (`refusal` says why not); a message must fit 2^63
/// bytes; the switch adds no delay; hosts have no processing cost and an unlimited send queue
/// (acknowledgements first, then data by destination in turn). ns-3 has one
/// simulator per process, so one backend may live at a time; another can be made when it is gone.
///
/// Cost: about 10 ns-3 events and 15–50 us of processor time per data packet on a two-hop path, whatever the
/// number of connections; some 27 kB per connection beside the packets in flight.
#pragma once

#include "tcp/tcp_options.hpp"

#include <memory>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::ns3 {

class TcpBackend final : public network::NetworkBackend {
public:
    /// Preconditions, else an invariant fails: no other ns-3 simulation lives in the process,
    /// `problems(options)` is empty and `refusal(*fabric, options)` is none.
    TcpBackend(std::shared_ptr<const network::Fabric> fabric, TcpOptions options);
    /// Ends the ns-3 simulation and puts back the ns-3 defaults that the options changed.
    ~TcpBackend() override;
    TcpBackend(const TcpBackend&) = delete;
    TcpBackend& operator=(const TcpBackend&) = delete;

    [[nodiscard]] Time now() const override;
    void send(const network::Message& message) override;
    void schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token) override;
    void run() override;
    void stop() override;
    [[nodiscard]] std::uint64_t outstanding_messages() const override;
    [[nodiscard]] std::vector<network::OutstandingMessage> describe_outstanding(
        std::size_t limit) const override;
    [[nodiscard]] std::uint64_t events_processed() const override;
    [[nodiscard]] network::NetworkStatistics statistics() const override;

    /// Connections opened so far.
    [[nodiscard]] std::size_t connections() const;

private:
    class Simulation;
    std::unique_ptr<Simulation> simulation_;
};

}  // namespace astrolabe::ns3
