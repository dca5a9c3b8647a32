/// Quantised communication: what a collective carries may be narrower than what is computed with.
///
/// Model. v values of e bytes, in rows, travel as
///
///     format   fp32  fp16  bf16  fp8  int8
///     w bytes     4     2     2    1     1
///     size     v·w,  for int8  v + 8·rows
///
/// int8 carries a 4-byte scale and a 4-byte offset with every row, as FBGEMM's fused 8-bit rowwise format; a
/// row is an embedding vector (of a column-wise shard: its piece), or the weights of one output of a layer.
/// fp8 carries no scales.
///
/// Conversion, once before and once after the collective, reads one form and writes the other:
///     time = (v·e + size) / memory bandwidth
/// It costs nothing where w = e and the format is not int8: the values travel as they are.
///
/// Limits: what a reducing collective adds on the way stays in the wire format and costs no conversion; a
/// rank converts what it keeps for itself too; the loss of precision has no effect on training.
#pragma once

#include <cstdint>
#include <optional>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::workload {

enum class WireFormat : std::uint8_t { kFp32, kFp16, kBf16, kFp8, kInt8 };

[[nodiscard]] Bytes element_size(WireFormat format);
/// Scale and offset; of kInt8 only, else 0.
[[nodiscard]] Bytes row_overhead(WireFormat format);

/// Values on their way through a collective.
struct Payload {
    std::int64_t values = 0;
    std::int64_t rows = 0;
    Bytes element_size;                               ///< e
    std::optional<WireFormat> format = std::nullopt;  ///< none: as they are

    [[nodiscard]] Bytes size() const;
    [[nodiscard]] bool is_converted() const;
    /// Nothing where they are not converted; otherwise the device must have a memory bandwidth.
    [[nodiscard]] std::optional<Time> conversion_time(const Device& device) const;
};

/// The format of each collective of a DLRM; none: as computed.
struct WireFormats {
    std::optional<WireFormat> forward_all_to_all = std::nullopt;      ///< pooled embeddings
    std::optional<WireFormat> backward_all_to_all = std::nullopt;     ///< their gradients
    std::optional<WireFormat> forward_reduce_scatter = std::nullopt;  ///< of row-wise tables
    std::optional<WireFormat> backward_all_gather = std::nullopt;
    std::optional<WireFormat> all_reduce = std::nullopt;            ///< MLP gradients
    std::optional<WireFormat> parameter_all_gather = std::nullopt;  ///< of sharded MLPs
    std::optional<WireFormat> gradient_reduce_scatter = std::nullopt;
};

}  // namespace astrolabe::workload
