// SPDX-License-Identifier: GPL-2.0-only
/// The `tcp` rung on rotor switches: hosts with TCP on the devices of ns-3-backend/model/device/.
///
/// Model. Circuits, guard times, RotorLB, paths of superslices and failures are those of the `packet` rung
/// (opera_packet_backend.hpp); what hosts send are TCP segments. A frame on a link is a datagram and 18 B, 64
/// B at least, and a full one has the size of the network's packets, bulk.payload + bulk.header: mtu = that -
/// 18 B. A pair of hosts has two connections, one for each service, and a message takes that of its service:
///
///     lane 0   low latency: segments take a path of the superslice, and are dropped where a port has
///              low_latency.queue full frames waiting, or the circuit goes before they have crossed it
///     lane 1   bulk, DSCP CS1: segments wait at their host for what RotorLB grants them
///
/// What carries no payload (requests, acknowledgements) is low-latency on both where any message can be, and
/// else as long as every superslice has a path between all racks that have circuits, before and after all
/// failures: by the network's paths, or one shortest path of a pair where it has none. Where some superslice
/// has not, as in rotor networks that switch all at once, all is bulk: an acknowledgement waits for a circuit
/// too, and takes a whole packet's place.
///
/// RotorLB sees what TCP has given the device, at most `window` of a pair, not what the application still
/// holds. Bulk segments over different relays overtake one another; TCP takes that for loss.
///
/// Order: messages between two hosts are delivered in the order sent among those of one service.
#pragma once

#include "opera/opera_decisions.hpp"
#include "tcp/tcp_backend.hpp"
#include "tcp/tcp_network.hpp"
#include "tcp/tcp_options.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ns3/opera-fabric.h>
#include <ns3/opera-net-device.h>

#include <astrolabe/network/rotor/rotor_links.hpp>

namespace astrolabe::ns3 {

/// The options with the segments of this network: its packets' size less the frame.
[[nodiscard]] TcpOptions on_rotors(const TcpOptions& options, const network::Fabric& fabric);

/// Why TCP cannot run on the rotor switches of `fabric`, or none.
[[nodiscard]] std::optional<std::string> opera_tcp_unsupported(const network::Fabric& fabric,
                                                               const TcpOptions& options);

/// A backend on the rotor switches of `fabric`. Precondition, else an invariant fails: no other ns-3
/// simulation lives in the process, and `opera_tcp_unsupported` is none.
[[nodiscard]] std::unique_ptr<TcpBackend> make_opera_tcp(std::shared_ptr<const network::Fabric> fabric,
                                                         const TcpOptions& options = {});

class OperaTcpNetwork final : public TcpNetwork {
public:
    /// Preconditions: `fabric` has rotors, `options` are on_rotors, `opera_tcp_unsupported` is none.
    OperaTcpNetwork(std::shared_ptr<const network::Fabric> fabric, const TcpOptions& options);

    [[nodiscard]] ::ns3::Ptr<::ns3::Node> host(network::HostId id) const override {
        return hosts_[id.index()];
    }
    [[nodiscard]] Lanes lanes_of(const network::Message& message) const override;
    [[nodiscard]] std::uint16_t port(network::HostId source, std::uint32_t lane) const override;
    void prepare(::ns3::Socket& sender, std::uint32_t lane) const override;
    [[nodiscard]] bool waits_for_circuits(std::uint32_t lane) const override { return lane == kBulk; }
    void observe(network::LinkObserver& observer) override;
    [[nodiscard]] Bytes carried(network::LinkId link) const override;
    [[nodiscard]] Bytes waiting(network::LinkId link) const override;
    /// Queues of hosts' links; of circuits what they carried. Drops of uplinks and what circuits lost are in
    /// the sum alone.
    void add_counters(network::NetworkStatistics& statistics) const override;
    [[nodiscard]] std::string explain_stall(
        const std::vector<network::OutstandingMessage>& messages) const override;
    [[nodiscard]] std::string describe_given_up(const std::vector<HostPair>& pairs) const override;

private:
    static constexpr std::uint32_t kLowLatency = 0;
    static constexpr std::uint32_t kBulk = 1;

    /// A cable's frames are reported.
    struct Transmitter {
        network::LinkObserver& observer;
        network::LinkId link;
        Bandwidth rate;
    };
    /// What a link of the fabric is.
    struct Circuit {
        std::uint32_t rotor;
        std::uint32_t matching;
        std::uint32_t rack;
    };

    static void transmitted(Transmitter* transmitter, ::ns3::Ptr<const ::ns3::Packet> frame);
    void build(const TcpOptions& options);
    void index_circuits();
    void report_crossings(network::LinkObserver& observer);

    const network::rotor::RotorNetwork& network_;
    network::rotor::RotorLinks links_;
    std::vector<::ns3::Ptr<::ns3::Node>> hosts_;
    ::ns3::Ptr<::ns3::OperaFabric> opera_;
    std::vector<::ns3::Ptr<::ns3::OperaNetDevice>> up_ports_;  // of switches, towards rotors
    /// The one that sends into a link of a host; null: a circuit.
    IndexedVector<network::LinkId, ::ns3::Ptr<::ns3::OperaNetDevice>> devices_;
    IndexedVector<network::LinkId, Circuit> circuits_;  // by link that is none of a host's
    std::deque<Transmitter> transmitters_;
};

}  // namespace astrolabe::ns3
