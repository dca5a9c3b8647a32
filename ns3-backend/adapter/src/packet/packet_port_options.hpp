// SPDX-License-Identifier: GPL-2.0-only
/// What can be chosen about the ports of the packet backend: switching, memory, marks, flow control,
/// priorities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::ns3 {

enum class PacketSwitching : std::uint8_t { kStoreAndForward, kCutThrough };
enum class PacketBuffers : std::uint8_t {
    kPerPort,  ///< memory / ports for each, whatever the others use
    kShared,   ///< any port may take any free byte
    kDynamic   ///< a queue may hold `dynamic_share` times what is free
};
enum class PacketFlowControlKind : std::uint8_t {
    kNone,   ///< what finds no room is dropped
    kPfc,    ///< pause frames of each traffic class, IEEE 802.1Qbb
    kCredit  ///< the sender of a link counts the room at its end
};
enum class PacketServiceKind : std::uint8_t { kStrict, kWeighted };

struct PacketPortOptions {
    PacketSwitching switching = PacketSwitching::kStoreAndForward;
    PacketBuffers buffer_sharing = PacketBuffers::kPerPort;
    double dynamic_share = 1;  ///< of free memory; kDynamic only
    /// Bytes waiting behind a packet from which on it may be marked: 65 packets of 1500 B, K of the DCTCP
    /// paper at 10 Gb/s (section 3.4).
    Bytes ecn_threshold = Bytes(100'000);
    Bytes ecn_max_threshold;     ///< beyond which it is; less than ecn_threshold: a step there
    double ecn_probability = 1;  ///< at ecn_max_threshold
    PacketFlowControlKind flow_control = PacketFlowControlKind::kNone;
    Bytes
        pause_threshold;  ///< bytes a switch holds of a link's class before it pauses it; 0: from its memory
    Bytes credit_room = Bytes(65'536);  ///< of each class and link; kCredit only
    std::uint32_t traffic_classes = 1;  ///< with queues of their own; those above the last count as the last
    PacketServiceKind service = PacketServiceKind::kStrict;
    std::vector<std::uint32_t> weights;  ///< of the classes, lowest first; kWeighted only
    Bytes trim_threshold;                ///< data waiting in a port beyond which payload is cut off; 0: never
    Time flowlet_gap;      ///< a pause of a pair after which a switch chooses its way anew; 0: never
    double loss_rate = 0;  ///< of packets on every link, at random
};

/// `largest` packet on the wire.
[[nodiscard]] ValidationErrors port_errors(const PacketPortOptions& options, Bytes largest);

/// Why ports cannot carry packets of up to `largest` on `fabric`, or nothing.
[[nodiscard]] std::optional<std::string> port_refusal(const network::Fabric& fabric,
                                                      const PacketPortOptions& options, Bytes largest);

}  // namespace astrolabe::ns3
