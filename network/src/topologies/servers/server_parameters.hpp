/// What a file says of the servers of a cluster.
///
/// A server has `gpus` GPUs, a scale-up network between them, and NICs. Scale-up networks:
///
///     switch      every GPU on one non-blocking switch (NVSwitch)
///     mesh        a cable between every two GPUs
///     ring        a cable between neighbours, two GPUs share one
///     hypercube   a cable between GPUs whose numbers differ in one bit; their number is a power of two
///     pcie        none of its own: GPUs reach each other over PCIe switches and processors
///     none        GPUs reach each other over NICs only, or over a PCIe switch that they share
///
/// `rate` and `latency` are those of each of these cables. NICs serve one GPU, a pair or all of a server
/// (`per`), `count` of them each, and are attached by
///
///     gpu          a PCIe cable to each GPU that they serve
///     pcie         a cable to a PCIe switch, which the GPUs that they serve are on
///     scale_up     a cable to the scale-up switch
///     integrated   none: the NIC is part of the GPU, whose cable leads into the scale-out network
///
/// A PCIe switch has `gpus_per_switch` GPUs. In scale_up: pcie every switch is on a processor, neighbouring
/// switches on the same, and processors are joined by a cable each two.
///
/// With a topology file (nccl_topology.hpp) GPUs, NICs, the tree of PCIe switches and processors, and NVLinks
/// are those of the file; the keys give what it leaves out. Processors are joined each two, and `pcie.rate`
/// is that of cables for which the file has none. Where it has no NVLinks, GPUs are joined by `scale_up`.
#pragma once

#include "nccl_topology.hpp"
#include "server_graph.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>

namespace astrolabe::network::servers {

enum class ScaleUp : std::uint8_t { kSwitch, kMesh, kRing, kHypercube, kPcie, kNone };
enum class NicShare : std::uint8_t { kGpu, kPair, kServer };
enum class Attach : std::uint8_t { kGpu, kPcie, kScaleUp, kIntegrated };

inline constexpr std::int64_t kMaxGpusOfServer = 1024;
inline constexpr std::int64_t kMaxNicsOfGroup = 64;
inline constexpr std::int64_t kMaxProcessors = 8;

struct ScaleUpParameters {
    ScaleUp kind = ScaleUp::kSwitch;
    /// 450 GB/s: the 18 NVLink 4 cables of an H100, 25 GB/s each way each, as one (NVIDIA, "H100 Tensor Core
    /// GPU Architecture", 2022).
    Bandwidth rate = Bandwidth(3'600'000'000'000);
    Time latency = Time(250'000);  ///< one way; assumed
    Bytes switch_buffer;           ///< 0: unlimited
};

struct PcieParameters {
    /// 63 GB/s: 16 lanes of PCIe 5.0 at 32 GT/s with 128 of 130 bits (PCI Express Base Specification 5.0).
    Bandwidth rate = Bandwidth(504'000'000'000);
    Time latency = Time(250'000);      ///< one way; assumed
    std::int64_t gpus_per_switch = 0;  ///< 0: as many as share a NIC, for scale_up: pcie at least 2
    std::int64_t processors = 2;       ///< of a server with scale_up: pcie
    /// 96 GB/s: three UPI 2.0 links of 16 GT/s and 16 bits each way, as one; assumed.
    Bandwidth socket_rate = Bandwidth(768'000'000'000);
    Time socket_latency = Time(250'000);  ///< one way; assumed
};

struct NicParameters {
    std::int64_t count = 1;
    NicShare per = NicShare::kGpu;
    Attach attach = Attach::kGpu;
    std::optional<Bandwidth> rate;  ///< of its cable into the scale-out network; unset: that network says it
    std::optional<Time> latency;    ///< of the same
    Bytes buffer;                   ///< packet memory; 0: unlimited
};

/// Servers that are alike.
struct ServerParameters {
    std::int64_t count = 0;  ///< must be given
    std::int64_t gpus = 0;   ///< must be given; 0: those of the topology file
    std::string topology;    ///< path of a file; empty: by keys
    ScaleUpParameters scale_up;
    std::optional<PcieParameters> pcie;  ///< unset: as by default
    NicParameters nics;
    /// What is in the topology file.
    std::shared_ptr<const NcclTopology> inside;
};

/// GPUs that share NICs.
[[nodiscard]] std::int64_t gpus_of_group(const ServerParameters& server);
[[nodiscard]] std::int64_t nics_of_server(const ServerParameters& server);
/// GPUs of a PCIe switch, where there are such.
[[nodiscard]] std::int64_t gpus_per_switch(const ServerParameters& server);
/// No fewer than inside a server.
[[nodiscard]] std::int64_t cables_of_server(const ServerParameters& server);

/// By keys of one entry of the list.
[[nodiscard]] ValidationErrors validation_errors(const ServerParameters& server);

/// Reads the topology file, if there is one, and takes over what it says; reports what does not fit it.
void read_topology(ServerParameters& server, const ConfigNode& node, ReadContext& context);
/// Of what a server is written as, keys that a topology file stands for.
void leave_out_topology(const ServerParameters& server, ConfigNode& written);

/// Requires parameters without errors. O(cables of a server).
[[nodiscard]] ServerGraph make_graph(const ServerParameters& server);

}  // namespace astrolabe::network::servers
