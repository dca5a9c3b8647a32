// SPDX-License-Identifier: GPL-2.0-only
/// The `packet` rung on rotor switches: every packet of Opera, RotorNet and their like, on ns-3's event loop.
///
/// Model (ns3-backend/model/opera/). Messages below `low_latency.cutoff` of the network are low-latency:
/// NDP over the shortest paths of the superslice, lost and sent again where a circuit goes before they have
/// crossed it. All others are bulk: they wait at their host for what RotorLB (network/rotor/rotor_lb.hpp, the
/// same arithmetic as in the slot engine) grants them when a circuit comes up, and leave in the host's
/// transmission slots.
///
/// Order: messages between two hosts are delivered in the order sent among those of one service; traffic
/// classes have no effect.
///
/// A message without bytes is one packet without payload.
///
/// Cost: one ns-3 event per packet and hop, two where a host paces its packets. Idle superslices cost
/// nothing.
#pragma once

#include "opera/opera_decisions.hpp"
#include "packet/packet_engine.hpp"
#include "packet/packet_options.hpp"

#include <memory>
#include <optional>
#include <string>

#include <ns3/opera-network.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/rotor/rotor_links.hpp>

namespace astrolabe::ns3 {

/// Why the packets of rotor switches cannot be run with these options, or nothing. Of the options only
/// `timeout`, `max_backoff` and `retry_limit` mean something there.
[[nodiscard]] std::optional<std::string> opera_unsupported(const network::Fabric& fabric,
                                                           const PacketOptions& options);

class OperaPacketBackend final : public PacketEngineBackend {
public:
    /// Preconditions, else an invariant fails: no other ns-3 simulation lives in the process, `fabric` has
    /// rotors, and `opera_unsupported` is none.
    OperaPacketBackend(std::shared_ptr<const network::Fabric> fabric, const PacketOptions& options = {},
                       std::uint64_t seed = 1);

    void send(const network::Message& message) override;
    [[nodiscard]] std::vector<network::OutstandingMessage> describe_outstanding(
        std::size_t limit) const override;
    [[nodiscard]] std::string explain_stall() const override;
    /// Of hosts' links.
    [[nodiscard]] std::optional<Bytes> carried(network::LinkId link) const override;
    [[nodiscard]] Bytes bytes_delivered() const override;
    [[nodiscard]] network::NetworkStatistics statistics() const override;
    /// Queues of hosts' cables, and bulk messages, which wait for circuits. O(messages outstanding).
    [[nodiscard]] network::PresentLimits present_limits(std::size_t most) const override;

    /// Bulk packets that came to a circuit which led elsewhere by then, and went back to their sender.
    [[nodiscard]] std::uint64_t returned_packets() const;
    /// Headers of trimmed packets that found no room, and went back to their sender.
    [[nodiscard]] std::uint64_t returned_headers() const;
    /// Low-latency packets that a dark circuit lost.
    [[nodiscard]] std::uint64_t packets_lost_in_the_dark() const;

private:
    [[nodiscard]] ::ns3::PacketFabric& ports() override { return *opera_->GetFabric(); }
    [[nodiscard]] std::optional<network::LinkId> link_of(std::uint32_t port,
                                                         std::int64_t when) const override;
    [[nodiscard]] std::optional<network::LinkId> link_of(std::uint32_t port) const override;
    [[nodiscard]] std::uint32_t payload_of(const ::ns3::PacketDescriptor& packet) const override;
    void connect(PacketLinkTap& tap) override;
    void add_ports(network::NetworkStatistics& statistics) const;
    void add_circuits(network::NetworkStatistics& statistics) const;

    std::shared_ptr<const network::Fabric> fabric_;
    const network::rotor::RotorNetwork& network_;
    network::rotor::RotorLinks links_;
    std::uint32_t retry_limit_;
    ::ns3::OperaSchedule schedule_;
    ::ns3::OperaRotorLbPolicy policy_;
    std::unique_ptr<SlicePathSource> paths_;  // null: all messages are bulk
    ::ns3::Ptr<::ns3::OperaNetwork> opera_;
};

}  // namespace astrolabe::ns3
