/// Quantised communication: what a collective carries may be narrower than what is computed with.
///
/// Model. v values of e bytes, in rows, travel as
///
///     format   fp32  fp16  bf16  fp8  int8
///     w bytes     4     2     2    1     1
///     size     v·w,  for int8  v + 8·rows
///
/// and as PyTorch's quantised communication packs embedding vectors (FBGEMM, fbgemm_gpu/quantize_comm.py),
///
///     int8_blocks  32 values, across rows, in 40 bytes: 32 and a scale and an offset of 4
///     fp8_rows     rows of D values in ⌈D/4⌉·4 + 8 bytes
///     mx4          rows of D values, filled up to blocks of 32, each in 16 + 1 bytes: 4 bits a value and a
///                  common exponent
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

enum class WireFormat : std::uint8_t { kFp32, kFp16, kBf16, kFp8, kInt8, kInt8Blocks, kFp8Rows, kMx4 };

/// Those that pack the vectors of embeddings, which the gradients and parameters of layers are not.
[[nodiscard]] constexpr bool packs_vectors(WireFormat format) {
    return format == WireFormat::kInt8Blocks || format == WireFormat::kFp8Rows || format == WireFormat::kMx4;
}

/// Of a value, without scales; of kMx4 rounded up.
[[nodiscard]] Bytes element_size(WireFormat format);
/// Scale and offset; of kInt8 only, else 0.
[[nodiscard]] Bytes row_overhead(WireFormat format);

/// Values on their way through a collective.
struct Payload {
    std::int64_t values = 0;
    std::int64_t rows = 0;
    std::int64_t blocks = 0;  ///< of 32 values, each row by itself; of formats that pack vectors
    std::int64_t fours = 0;   ///< of 4 values, likewise
    Bytes element_size;       ///< e
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
