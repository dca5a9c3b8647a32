/// The inside of a server from NCCL's topology XML, which NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE
/// reads.
///
///     system    version 1, of
///     cpu       a processor, of pci and nic
///     pci       a PCIe device, of pci, gpu, nic: a GPU where it has a gpu or its class is 0x03…, a NIC where
///     it
///               has a nic or its class is 0x02…, a PCIe switch where it has other devices below it
///     gpu       dev, sm; of nvlink (target, count, tclass) and c2c (count, bw in MB/s, to the processor)
///     nic       of net (dev, speed in Mb/s, latency in us), each of which is a NIC here
///
/// Rates are those that NCCL reckons with: what arrives, below what is signalled. Of PCIe per lane and
/// direction, at 2.5, 5, 8, 16, 32 and 64 GT/s, 0.1875, 0.375, 0.75, 1.5, 3 and 6 GB/s; a width of 0 is 16
/// lanes. Of NVLinks each, by sm: 20 GB/s from 70, 12 at 86, 20.6 from 90, 40.1 from 100. A speed of 0 or
/// less is 10 Gb/s.
///
/// Where NVLinks lead is said by tclass: 0x03… to the GPU at target, 0x068001 to the processor, other 0x0680…
/// to one NVSwitch for all.
///
/// GPUs are numbered by dev where all have one, else in the order of the file; so are NICs. Devices of other
/// classes are left out, and PCIe switches and processors that lead to none that is in. Attributes that say
/// nothing of rates are not read.
///
/// Errors, with line and column: what is not XML, or not of these elements; pcilink; a device that says
/// neither class nor content; numbers and rates that are none; targets that do not exist; NVLinks whose two
/// ends disagree; NICs of different speeds; no GPU or no NIC.
///
/// Source: the format as read by NCCL 2 (its sources graph/xml and graph/topo), version 1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe::network::servers {

struct NcclDevice {
    enum class Kind : std::uint8_t { kProcessor, kPcieSwitch, kGpu, kNic };
    Kind kind = Kind::kProcessor;
    std::optional<std::uint32_t> parent;  ///< a device before it; processors have none
    std::optional<Bandwidth> rate;        ///< of its cable to the parent; unset: the file does not say
    SourceRange where;
};

/// NVLinks as one cable, or a chip-to-chip link.
struct NcclLink {
    std::uint32_t gpu = 0;                ///< a device
    std::optional<std::uint32_t> target;  ///< a GPU or processor; none: the NVSwitch
    Bandwidth rate;                       ///< of all of them, each direction
};

struct NcclTopology {
    std::vector<NcclDevice> devices;    ///< all of which lead to a GPU or NIC
    std::vector<std::uint32_t> gpus;    ///< devices, by number
    std::vector<std::uint32_t> nics;    ///< the same
    std::vector<NcclLink> links;        ///< each cable once
    std::optional<Bandwidth> nic_rate;  ///< of each NIC; unset: the file does not say
    std::optional<Time> nic_latency;    ///< where it is above 0

    /// Whether GPUs are joined to each other or to an NVSwitch.
    [[nodiscard]] bool has_scale_up() const;
    /// A device without the rate of its cable; null: all have theirs.
    [[nodiscard]] const NcclDevice* without_rate() const;
};

[[nodiscard]] Result<NcclTopology> load_nccl_topology(const std::filesystem::path& path);

}  // namespace astrolabe::network::servers
