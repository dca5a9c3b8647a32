// SPDX-License-Identifier: GPL-2.0-only
/// The `packet` rung: every packet and every queue, on ns-3's event loop, and nothing else.
///
/// Model (ns3-backend/model/packet/ and transport/). A link of rate r serialises a packet of n bytes in 8n/r
/// and has it at the other end `latency` later; switches forward in no time what has arrived whole (or,
/// cutting through, its header), with an output queue per link that draws on the link's own buffer or the
/// switch's memory. Hosts send messages on queue pairs with a window, cut in packets of `mtu` bytes of
/// payload and `header` bytes beside; receivers acknowledge every `ack_every` packets and every message; what
/// is lost is sent again (packet-transport-parameters.h). Hence, per pair,
///     throughput <= min(r · mtu/(mtu + header), window/RTT),
/// and messages of one pair arrive in the order sent.
///
/// Routes are those of the fabric's RoutingPolicy, hop by hop: by flow hash with `select`, or by spraying,
/// each packet on one of the equal next links in pseudo-random choice.
///
/// Where links fail (Fabric::failures) a packet that is on a link that goes down, that waits in front of it,
/// or that comes to it until routes lead elsewhere, is lost, whatever the flow control, and the transport
/// sends it again: by what the receiver asks for where later packets arrive, else by the timeout; timeouts
/// run from the first time at which a link goes down. What a host has not made packets of waits for its link.
/// A link that is slow is so from the next packet on.
///
/// Limits: static fabrics (rotor switches: opera_packet_backend.hpp); fixed windows or those of DCTCP; no
/// pauses; a host with several cables keeps a burst of a sprayed pair on one of them. ns-3 has one simulator
/// per process, so one backend may live at a time.
///
/// Cost: one ns-3 event per packet and hop.
#pragma once

#include "failing_links.hpp"
#include "packet/packet_engine.hpp"
#include "packet/packet_options.hpp"
#include "packet/packet_router.hpp"

#include <memory>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/rest_state.hpp>

namespace astrolabe::ns3 {

class PacketBackend final : public PacketEngineBackend, public network::RestState {
public:
    /// Preconditions, else an invariant fails: no other ns-3 simulation lives in the process,
    /// `validation_errors(options)` is empty and `unsupported(*fabric, options)` is none. `seed` chooses
    /// sprayed links.
    PacketBackend(std::shared_ptr<const network::Fabric> fabric, const PacketOptions& options,
                  std::uint64_t seed = 1);
    /// Threads end before what they ask for routes does.
    ~PacketBackend() override;
    PacketBackend(const PacketBackend&) = delete;
    PacketBackend& operator=(const PacketBackend&) = delete;

    void send(const network::Message& message) override;
    /// Where ways follow from packets alone, links take time, nobody observes packets or links, and nothing
    /// is lost, marked at random or held back (packet-regions.h).
    std::size_t use_threads(std::size_t most) override;
    [[nodiscard]] std::uint64_t events_processed() const override;
    [[nodiscard]] std::vector<network::OutstandingMessage> describe_outstanding(
        std::size_t limit) const override;
    [[nodiscard]] std::string explain_stall() const override;
    [[nodiscard]] std::optional<Bytes> carried(network::LinkId link) const override;
    [[nodiscard]] Bytes bytes_delivered() const override;
    [[nodiscard]] network::NetworkStatistics statistics() const override;
    [[nodiscard]] network::PresentLimits present_limits(std::size_t most) const override;
    /// Known where each pair has one way and one connection, hosts have one cable, links lose nothing at
    /// random and have neither flow control, weights nor trimming, nothing fails, and neither pulls nor
    /// estimates of round trips outlive a connection. Connections with nothing outstanding are given up
    /// (packet-transport.h), so what is left are random numbers.
    [[nodiscard]] std::optional<std::uint64_t> state_at_rest() const override;

private:
    [[nodiscard]] ::ns3::PacketFabric& ports() override { return *ports_; }
    [[nodiscard]] std::optional<network::LinkId> link_of(std::uint32_t port,
                                                         std::int64_t when) const override;
    [[nodiscard]] std::optional<network::LinkId> link_of(std::uint32_t port) const override;
    [[nodiscard]] std::uint32_t payload_of(const ::ns3::PacketDescriptor& packet) const override;
    void connect(PacketLinkTap& tap) override { connect_received(*transport_, tap); }
    [[nodiscard]] std::string link_name(network::NodeId source, network::NodeId target) const;
    [[nodiscard]] std::string explain_given_up() const;
    [[nodiscard]] std::string explain_circle() const;
    [[nodiscard]] bool is_lossy() const;
    [[nodiscard]] bool remembers_little() const;
    void start_failures();

    std::shared_ptr<const network::Fabric> fabric_;
    PacketOptions options_;
    ::ns3::Ptr<::ns3::PacketFabric> ports_;
    PacketFabricRouter router_;
    std::unique_ptr<::ns3::PacketFaults> loss_;  // null: no packet is lost at random
    ::ns3::Ptr<::ns3::PacketTransport> transport_;
    std::unique_ptr<FailingLinks> failures_;  // null: nothing fails
    bool remembers_little_ = false;
    bool is_divisible_ = false;       // into what several threads may run
    std::uint64_t packets_sent_ = 0;  // of all messages, each counted once
};

}  // namespace astrolabe::ns3
