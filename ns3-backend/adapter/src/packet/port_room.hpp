// SPDX-License-Identifier: GPL-2.0-only
/// How much may wait at a port of a switch.
#pragma once

#include "tcp/tcp_options.hpp"

#include <optional>

#include <astrolabe/network/fabric.hpp>

namespace astrolabe::ns3 {

/// Room at the sending end of `link`: the link's own buffer, else the memory of its switch or this port's
/// share of it. Nothing: unlimited, as at hosts. A share that rounds down to 0 B is a limit all the same.
[[nodiscard]] inline std::optional<Bytes> port_room(const network::Fabric& fabric, network::LinkId link,
                                                    BufferSharing sharing) {
    const network::NodeId source = fabric.source(link);
    const network::Node& node = fabric.node(source);
    if (node.kind != network::NodeKind::kSwitch) {
        return std::nullopt;
    }
    if (const Bytes own = fabric.link(link).buffer; own > Bytes(0)) {
        return own;
    }
    if (node.buffer == Bytes(0)) {
        return std::nullopt;
    }
    return sharing == BufferSharing::kShared ? node.buffer : node.buffer / fabric.out_degree(source);
}

}  // namespace astrolabe::ns3
