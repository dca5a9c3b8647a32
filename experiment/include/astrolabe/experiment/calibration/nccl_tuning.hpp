/// What NCCL itself expects a collective to take: the model by which it chooses algorithm and protocol.
///
/// Model. For each algorithm (ring, tree) and protocol (LL, LL128, Simple)
///
///     t(S) = latency + S / algbw,      and the least of those that are allowed is taken.
///
/// With n ranks on `nodes` nodes, B = channels · channel_rate (at most `across` where there are several
/// nodes):
///
///     ring   latency = base + inside steps · inside + across steps · network
///            steps   2(n-1) all_reduce, n-1 all_gather and reduce_scatter, n broadcast and reduce;
///                    of them 2(nodes-1), nodes-1 and nodes across
///            busbw = B Simple; min(B/2, cap) LL; min(0.92·B, channels · limit) LL128; algbw = busbw·n/steps
///            Over several nodes a step inside takes at least 1 us (Intel) or 2 us (AMD), three times that
///            with Simple, whose whole latency is 1.4 times as long, on Volta 1.9 times.
///     tree   (all_reduce) latency = base + 2·((n/nodes - 1)·inside + log2(nodes)·network);
///            busbw = 0.92·B Simple; /3.8 LL; ·7/9 in one node LL128; algbw = busbw/2
///
/// Times of base, inside and network and the caps are those of NCCL 2.30, by generation of the device.
///
/// Left out: NVLS and CollNet, the correction of trees by size, grouped send and receive (all_to_all), which
/// NCCL has no model of. It is a baseline.
///
/// Source: the tuning of graphs in the source of NVIDIA/nccl, its constants read as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::experiment {

enum class GpuGeneration : std::uint8_t { kVolta, kAmpere, kHopper, kBlackwell };
enum class NcclInside : std::uint8_t { kNvlink, kPcie };
enum class NcclHost : std::uint8_t { kIntel, kAmd };
enum class NcclAlgorithm : std::uint8_t { kRing, kTree };
enum class NcclProtocol : std::uint8_t { kLl, kLl128, kSimple };

struct NcclTuning {
    GpuGeneration generation = GpuGeneration::kAmpere;
    std::size_t ranks_per_node = 8;
    NcclInside inside = NcclInside::kNvlink;
    NcclHost host = NcclHost::kIntel;
    std::size_t channels = 12;
    Bandwidth channel_rate = Bandwidth(160'000'000'000);  ///< of one channel, 20 GB/s
    std::optional<Bandwidth> across{};                    ///< bus bandwidth over several nodes at most
    std::vector<NcclAlgorithm> algorithms{NcclAlgorithm::kRing, NcclAlgorithm::kTree};  ///< as NCCL_ALGO
    std::vector<NcclProtocol> protocols{NcclProtocol::kLl, NcclProtocol::kLl128,
                                        NcclProtocol::kSimple};  ///< as NCCL_PROTO
};

/// Refuses empty lists.
[[nodiscard]] Schema<NcclTuning> nccl_tuning_schema();

struct NcclChoice {
    NcclAlgorithm algorithm;
    NcclProtocol protocol;
    Time time;
};
/// The least of what is allowed; nothing for kinds that NCCL has no model of, and where none of the allowed
/// algorithms carries the kind out. S as nccl-tests counts it. `ranks` >= 2. O(algorithms · protocols).
[[nodiscard]] std::optional<NcclChoice> nccl_choice(const NcclTuning& tuning, system::CollectiveKind kind,
                                                    Bytes size, std::size_t ranks);

}  // namespace astrolabe::experiment
