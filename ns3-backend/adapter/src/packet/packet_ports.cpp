// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_ports.hpp"

#include "packet/packet_engine.hpp"
#include "packet/port_room.hpp"

#include <algorithm>
#include <array>

#include <ns3/packet-fabric.h>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

constexpr std::uint32_t kLargestWeight = 1'000'000;

Bytes size_of(std::uint64_t bytes) {
    return Bytes(static_cast<std::int64_t>(bytes));
}

/// `room` is that of `node` for what comes over `port`, 0 for no limit.
std::optional<std::string> pauses_unsupported(const network::Node& node, Bytes room, std::uint32_t port,
                                              const sim::PacketFabric& ports) {
    if (room == Bytes(0)) {
        return ports.pauseThreshold > 0
                   ? std::nullopt
                   : std::optional(
                         "when " + node.name +
                         " pauses follows from its memory, which has no limit: set pause_threshold, or "
                         "the memory of switches");
    }
    const Bytes needed = size_of(ports.pauseThreshold + ports.GetHeadroom(port));
    if (needed < room || (needed == room && ports.pauseThreshold > 0)) {
        return std::nullopt;
    }
    return node.name + " has " + to_string(room) +
           " of memory for each link and traffic class, and pauses need " + to_string(needed) +
           " (what still comes while a pause takes effect" +
           (ports.pauseThreshold > 0 ? ", and pause_threshold)" : ", and something to hold)");
}

}  // namespace

ValidationErrors port_errors(const PacketOptions& options) {
    ValidationErrors found;
    const Bytes largest = options.largest_packet();
    const sim::PacketFabricParameters& ports = options.ports;
    const Bytes credit_room = size_of(ports.creditRoom);
    const Bytes trim_threshold = size_of(ports.trimThreshold);
    if (ports.flowControl == sim::PacketFlowControlKind::CREDIT && credit_room < largest) {
        found.push_back({"credit_room",
                         "is " + to_string(credit_room) + ", less than a packet of " + to_string(largest),
                         "choose " + to_string(largest) + " or more"});
    }
    if (ports.service == sim::PacketService::WEIGHTED && options.weights.size() != ports.trafficClasses) {
        found.push_back({"weights",
                         "has " + std::to_string(options.weights.size()) + " weights for " +
                             std::to_string(ports.trafficClasses) + " traffic classes",
                         "write one for each class, the lowest class first"});
    }
    if (std::any_of(options.weights.begin(), options.weights.end(),
                    [](std::uint32_t weight) { return weight < 1 || weight > kLargestWeight; })) {
        found.push_back({"weights", "has a weight that is out of range", "choose 1 to 1000000"});
    }
    if (trim_threshold > Bytes(0) && trim_threshold < largest) {
        found.push_back({"trim_threshold",
                         "is " + to_string(trim_threshold) + ", less than a packet of " + to_string(largest),
                         "choose a few packets; 0 for no trimming"});
    }
    if (trim_threshold > Bytes(0) && ports.flowControl != sim::PacketFlowControlKind::NONE) {
        found.push_back({"trim_threshold", "cuts packets that flow control keeps from queueing",
                         "leave out flow_control or trim_threshold"});
    }
    return found;
}

sim::Ptr<sim::PacketFabric> make_ports(const network::Fabric& fabric, const PacketOptions& options) {
    auto ports = sim::CreateObject<sim::PacketFabric>();
    ports->SetParameters(options.ports);
    ports->cutThroughHeader = options.transport.header;
    ports->largestPacket = static_cast<std::uint32_t>(options.largest_packet().count());
    ports->trimmedSize = options.transport.ackSize;
    if (!options.transport.congestionControl->Has(sim::PacketControlKind::USES_MARKS)) {
        ports->ecnThreshold = sim::PACKET_UNBOUNDED;
    }
    if (!options.weights.empty()) {
        std::array<std::uint32_t, sim::PACKET_PRIORITIES> weights{};
        weights.fill(1);
        std::copy(options.weights.begin(), options.weights.end(), weights.begin());
        ports->SetWeights(weights);
    }
    for (network::NodeId id; id.index() < fabric.node_count(); ++id) {
        const network::Node& node = fabric.node(id);
        if (node.kind == network::NodeKind::kSwitch) {
            ports->AddSwitch(count_of(node.buffer));
        } else {
            ports->AddHost(node.forwarding.count());
        }
    }
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        const network::Link& link = fabric.link(id);
        ports->AddPort(static_cast<std::uint32_t>(fabric.source(id).index()),
                       static_cast<std::uint32_t>(fabric.target(id).index()),
                       static_cast<std::uint64_t>(link.rate.count()), link.latency.count(),
                       count_of(link.buffer));
    }
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        if (const auto reverse = fabric.link(id).reverse) {
            ports->Pair(static_cast<std::uint32_t>(id.index()), static_cast<std::uint32_t>(reverse->index()));
        }
    }
    return ports;
}

std::optional<std::string> ports_unsupported(const network::Fabric& fabric, const PacketOptions& options) {
    const Bytes largest = options.largest_packet();
    const BufferSharing sharing = options.ports.bufferSharing == sim::PacketBuffers::PER_PORT
                                      ? BufferSharing::kPerPort
                                      : BufferSharing::kShared;
    if (options.ports.flowControl == sim::PacketFlowControlKind::NONE) {
        for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
            const std::optional<Bytes> room = port_room(fabric, id, sharing);
            if (room && *room < largest) {
                return "a port of " + fabric.node(fabric.source(id)).name + " has room for " +
                       to_string(*room) + ", less than one packet of " + to_string(largest);
            }
        }
        return std::nullopt;
    }
    const sim::Ptr<sim::PacketFabric> ports = make_ports(fabric, options);
    const Bytes credit_room = size_of(ports->creditRoom);
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        const network::Node& node = fabric.node(fabric.target(id));
        const bool is_switch = node.kind == network::NodeKind::kSwitch;
        const auto port = static_cast<std::uint32_t>(id.index());
        const bool is_paused = is_switch && ports->flowControl == sim::PacketFlowControlKind::PFC;
        if (is_paused && !fabric.link(id).reverse) {
            return "pauses return over the other direction of a cable, and the link from " +
                   fabric.node(fabric.source(id)).name + " to " + node.name +
                   " goes one way; leave flow_control out";
        }
        const Bytes room = is_switch ? size_of(ports->GetIngressRoom(port)) : Bytes(0);
        if (ports->flowControl == sim::PacketFlowControlKind::PFC) {
            const auto reason =
                is_switch ? pauses_unsupported(node, room, port, *ports) : std::optional<std::string>();
            if (reason) {
                return reason;
            }
        } else if (!fabric.link(id).reverse) {
            return "credits return over the other direction of a cable, and the link from " +
                   fabric.node(fabric.source(id)).name + " to " + node.name +
                   " goes one way; leave flow_control out";
        } else if (room > Bytes(0) && room < credit_room) {
            return node.name + " has " + to_string(room) +
                   " of memory for each link and traffic class, less than the credit_room of " +
                   to_string(credit_room);
        }
    }
    return std::nullopt;
}

}  // namespace astrolabe::ns3
