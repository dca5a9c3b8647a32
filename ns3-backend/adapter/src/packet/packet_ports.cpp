// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_port_options.hpp"

#include "packet/port_room.hpp"

#include <algorithm>

#include <ns3/packet-flow-control.h>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

constexpr std::uint32_t kLargestWeight = 1'000'000;

Bytes size_of(std::uint64_t bytes) {
    return Bytes(static_cast<std::int64_t>(bytes));
}

/// What a switch that pauses the link before `link`'s target can hold of it, 0 for no limit.
Bytes ingress_room(const network::Fabric& fabric, network::LinkId link,
                   const sim::PacketFabricParameters& ports) {
    const network::NodeId node = fabric.target(link);
    Bytes memory = fabric.node(node).buffer;
    const network::LinkId first = fabric.first_link(node);
    for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
        memory += fabric.link(network::LinkId(first.index() + i)).buffer;
    }
    return memory / static_cast<std::int64_t>(fabric.out_degree(node) * ports.trafficClasses);
}

Bytes headroom(const network::Fabric& fabric, network::LinkId id, const sim::PacketFabricParameters& ports,
               Bytes largest) {
    const network::Link& there = fabric.link(id);
    const network::Link& back = fabric.link(*there.reverse);
    // The frame may wait for a packet that is still coming in over the slowest link.
    Bandwidth slowest = back.rate;
    const network::NodeId node = fabric.target(id);
    for (const network::LinkId in : fabric.links_into(node)) {
        if (ports.switching == sim::PacketSwitching::CUT_THROUGH) {
            slowest = std::min(slowest, fabric.link(in).rate);
        }
    }
    return Bytes(static_cast<std::int64_t>(::ns3::PacketFlowControl::GetHeadroom(
        static_cast<std::uint64_t>(there.rate.count()), static_cast<std::uint64_t>(slowest.count()),
        (there.latency + back.latency).count(), static_cast<std::uint32_t>(largest.count()),
        std::uint64_t{ports.trafficClasses} * ports.pauseFrame)));
}

std::optional<std::string> pauses_unsupported(const network::Fabric& fabric, network::LinkId id,
                                              const sim::PacketFabricParameters& ports, Bytes largest) {
    const network::Node& node = fabric.node(fabric.target(id));
    if (node.kind != network::NodeKind::kSwitch) {
        return std::nullopt;
    }
    const Bytes room = ingress_room(fabric, id, ports);
    if (room == Bytes(0)) {
        return ports.pauseThreshold > 0
                   ? std::nullopt
                   : std::optional(
                         "when " + node.name +
                         " pauses follows from its memory, which has no limit: set pause_threshold, or "
                         "the memory of switches");
    }
    const Bytes needed = size_of(ports.pauseThreshold) + headroom(fabric, id, ports, largest);
    if (needed < room || (needed == room && ports.pauseThreshold > 0)) {
        return std::nullopt;
    }
    return node.name + " has " + to_string(room) +
           " of memory for each link and traffic class, and pauses need " + to_string(needed) +
           " (what still comes while a pause takes effect" +
           (ports.pauseThreshold > 0 ? ", and pause_threshold)" : ", and something to hold)");
}

}  // namespace

ValidationErrors port_errors(const PacketPortOptions& options, Bytes largest) {
    ValidationErrors found;
    const sim::PacketFabricParameters& ports = options.ports;
    const Bytes credit_room = size_of(ports.creditRoom);
    const Bytes trim_threshold = size_of(ports.trimThreshold);
    const auto unused = [&found](const std::string& key, bool is_used, const std::string& when) {
        if (!is_used) {
            found.push_back({key, "has no effect", "it is for " + when});
        }
    };
    unused("dynamic_share", ports.dynamicShare == 1 || ports.bufferSharing == sim::PacketBuffers::DYNAMIC,
           "buffer_sharing: dynamic");
    unused("pause_threshold",
           ports.pauseThreshold == 0 || ports.flowControl == sim::PacketFlowControlKind::PFC,
           "flow_control: pfc");
    unused("weights", options.weights.empty() || ports.service == sim::PacketService::WEIGHTED,
           "service: weighted");
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

std::optional<std::string> ports_unsupported(const network::Fabric& fabric, const PacketPortOptions& options,
                                             Bytes largest) {
    const sim::PacketFabricParameters& ports = options.ports;
    const Bytes credit_room = size_of(ports.creditRoom);
    const BufferSharing sharing = ports.bufferSharing == sim::PacketBuffers::PER_PORT
                                      ? BufferSharing::kPerPort
                                      : BufferSharing::kShared;
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        if (ports.flowControl == sim::PacketFlowControlKind::PFC) {
            if (auto reason = pauses_unsupported(fabric, id, ports, largest)) {
                return reason;
            }
        }
        if (ports.flowControl == sim::PacketFlowControlKind::CREDIT && !fabric.link(id).reverse) {
            return "credits return over the other direction of a cable, and the link from " +
                   fabric.node(fabric.source(id)).name + " to " + fabric.node(fabric.target(id)).name +
                   " goes one way; leave flow_control out";
        }
        if (ports.flowControl == sim::PacketFlowControlKind::CREDIT) {
            const Bytes room = ingress_room(fabric, id, ports);
            const network::Node& node = fabric.node(fabric.target(id));
            if (node.kind == network::NodeKind::kSwitch && room > Bytes(0) && room < credit_room) {
                return node.name + " has " + to_string(room) +
                       " of memory for each link and traffic class, less than the credit_room of " +
                       to_string(credit_room);
            }
        }
        if (ports.flowControl != sim::PacketFlowControlKind::NONE) {
            continue;
        }
        const std::optional<Bytes> room = port_room(fabric, id, sharing);
        if (room && *room < largest) {
            return "a port of " + fabric.node(fabric.source(id)).name + " has room for " + to_string(*room) +
                   ", less than one packet of " + to_string(largest);
        }
    }
    return std::nullopt;
}

}  // namespace astrolabe::ns3
