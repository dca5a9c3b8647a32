// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_port_options.hpp"

#include "packet/pause_frame.hpp"
#include "packet/port_room.hpp"

#include <algorithm>

#include <ns3/packet-flow-control.h>

namespace astrolabe::ns3 {

namespace {

constexpr std::uint32_t kMostWeight = 1'000'000;

/// What a switch that pauses the link before `link`'s target can hold of it, 0 for no limit.
Bytes ingress_room(const network::Fabric& fabric, network::LinkId link, const PacketPortOptions& options) {
    const network::NodeId node = fabric.target(link);
    Bytes memory = fabric.node(node).buffer;
    const network::LinkId first = fabric.first_link(node);
    for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
        memory += fabric.link(network::LinkId(first.index() + i)).buffer;
    }
    return memory / static_cast<std::int64_t>(fabric.out_degree(node) * options.traffic_classes);
}

Bytes headroom(const network::Fabric& fabric, network::LinkId id, const PacketPortOptions& options,
               Bytes largest) {
    const network::Link& there = fabric.link(id);
    const network::Link& back = fabric.link(*there.reverse);
    // The frame may wait for a packet that is still coming in over the slowest link.
    Bandwidth slowest = back.rate;
    const network::NodeId node = fabric.target(id);
    for (const network::LinkId in : fabric.links_into(node)) {
        if (options.switching == PacketSwitching::kCutThrough) {
            slowest = std::min(slowest, fabric.link(in).rate);
        }
    }
    return Bytes(static_cast<std::int64_t>(::ns3::PacketFlowControl::GetHeadroom(
        static_cast<std::uint64_t>(there.rate.count()), static_cast<std::uint64_t>(slowest.count()),
        (there.latency + back.latency).count(), static_cast<std::uint32_t>(largest.count()),
        std::uint64_t{options.traffic_classes} * kPauseFrame)));
}

std::optional<std::string> pause_refusal(const network::Fabric& fabric, network::LinkId id,
                                         const PacketPortOptions& options, Bytes largest) {
    const network::Node& node = fabric.node(fabric.target(id));
    if (node.kind != network::NodeKind::kSwitch) {
        return std::nullopt;
    }
    const Bytes room = ingress_room(fabric, id, options);
    if (room == Bytes(0)) {
        return options.pause_threshold > Bytes(0)
                   ? std::nullopt
                   : std::optional(
                         "when " + node.name +
                         " pauses follows from its memory, which has no limit: set pause_threshold, or "
                         "the memory of switches");
    }
    const Bytes needed = options.pause_threshold + headroom(fabric, id, options, largest);
    if (needed < room || (needed == room && options.pause_threshold > Bytes(0))) {
        return std::nullopt;
    }
    return node.name + " has " + to_string(room) +
           " of memory for each link and traffic class, and pauses need " + to_string(needed) +
           " (what still comes while a pause takes effect" +
           (options.pause_threshold > Bytes(0) ? ", and pause_threshold)" : ", and something to hold)");
}

}  // namespace

ValidationErrors port_errors(const PacketPortOptions& options, Bytes largest) {
    ValidationErrors found;
    const auto unused = [&found](const std::string& key, bool is_used, const std::string& when) {
        if (!is_used) {
            found.push_back({key, "has no effect", "it is for " + when});
        }
    };
    unused("dynamic_share", options.dynamic_share == 1 || options.buffer_sharing == PacketBuffers::kDynamic,
           "buffer_sharing: dynamic");
    unused("pause_threshold",
           options.pause_threshold == Bytes(0) || options.flow_control == PacketFlowControlKind::kPfc,
           "flow_control: pfc");
    unused("weights", options.weights.empty() || options.service == PacketServiceKind::kWeighted,
           "service: weighted");
    if (options.ecn_threshold < Bytes(0)) {
        found.push_back({"ecn_threshold", "is " + to_string(options.ecn_threshold), "choose 0 B or more"});
    }
    if (options.flow_control == PacketFlowControlKind::kCredit && options.credit_room < largest) {
        found.push_back(
            {"credit_room",
             "is " + to_string(options.credit_room) + ", less than a packet of " + to_string(largest),
             "choose " + to_string(largest) + " or more"});
    }
    if (options.service == PacketServiceKind::kWeighted &&
        options.weights.size() != options.traffic_classes) {
        found.push_back({"weights",
                         "has " + std::to_string(options.weights.size()) + " weights for " +
                             std::to_string(options.traffic_classes) + " traffic classes",
                         "write one for each class, the lowest class first"});
    }
    if (std::any_of(options.weights.begin(), options.weights.end(),
                    [](std::uint32_t weight) { return weight < 1 || weight > kMostWeight; })) {
        found.push_back({"weights", "has a weight that is out of range", "choose 1 to 1000000"});
    }
    if (options.trim_threshold > Bytes(0) && options.trim_threshold < largest) {
        found.push_back(
            {"trim_threshold",
             "is " + to_string(options.trim_threshold) + ", less than a packet of " + to_string(largest),
             "choose a few packets; 0 for no trimming"});
    }
    if (options.trim_threshold > Bytes(0) && options.flow_control != PacketFlowControlKind::kNone) {
        found.push_back({"trim_threshold", "cuts packets that flow control keeps from queueing",
                         "leave out flow_control or trim_threshold"});
    }
    return found;
}

std::optional<std::string> port_refusal(const network::Fabric& fabric, const PacketPortOptions& options,
                                        Bytes largest) {
    const BufferSharing sharing =
        options.buffer_sharing == PacketBuffers::kPerPort ? BufferSharing::kPerPort : BufferSharing::kShared;
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        if (options.flow_control == PacketFlowControlKind::kPfc) {
            if (auto refused = pause_refusal(fabric, id, options, largest)) {
                return refused;
            }
        }
        if (options.flow_control == PacketFlowControlKind::kCredit && !fabric.link(id).reverse) {
            return "credits return over the other direction of a cable, and the link from " +
                   fabric.node(fabric.source(id)).name + " to " + fabric.node(fabric.target(id)).name +
                   " goes one way; leave flow_control out";
        }
        if (options.flow_control == PacketFlowControlKind::kCredit) {
            const Bytes room = ingress_room(fabric, id, options);
            const network::Node& node = fabric.node(fabric.target(id));
            if (node.kind == network::NodeKind::kSwitch && room > Bytes(0) && room < options.credit_room) {
                return node.name + " has " + to_string(room) +
                       " of memory for each link and traffic class, less than the credit_room of " +
                       to_string(options.credit_room);
            }
        }
        if (options.flow_control != PacketFlowControlKind::kNone) {
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
