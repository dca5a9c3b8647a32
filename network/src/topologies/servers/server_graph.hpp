/// What is inside a server: its GPUs, NICs and the switches and links between them.
///
/// GPUs come first in `nodes`, in the order of their numbers, then switches (scale-up and PCIe switches,
/// processors), then NICs, in the order of their numbers. Links are full-duplex cables. Every GPU reaches a
/// NIC. Names are those of link classes and of drawings, without numbers: "gpu", "nvswitch", "pcie switch",
/// "cpu", "nic".
///
/// Messages take the path with the fewest links of the scale-up network; bus and socket links count more
/// than all scale-up links of a path together (server_paths.hpp), so that NVLink goes before PCIe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network {

/// Processors are switches whose ports come with them.
enum class ServerPart : std::uint8_t { kGpu, kSwitch, kProcessor, kNic };

struct ServerNode {
    ServerPart part = ServerPart::kGpu;
    std::string name;
    Bytes buffer{};  ///< packet memory of a switch or NIC; 0: unlimited
};

struct ServerLink {
    std::uint32_t from = 0;  ///< index of a node
    std::uint32_t to = 0;
    Bandwidth rate;  ///< of each direction
    Time latency;    ///< one way
    LinkPlace place = LinkPlace::kScaleUp;
};

struct ServerGraph {
    std::vector<ServerNode> nodes;
    std::vector<ServerLink> links;
    /// NICs are parts of the GPUs, one each, and no nodes of their own.
    bool has_integrated_nics = false;
};

}  // namespace astrolabe::network
