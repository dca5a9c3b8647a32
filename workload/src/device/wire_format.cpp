#include "wire_format.hpp"

#include "../integer_division.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

Bytes element_size(WireFormat format) {
    switch (format) {
        case WireFormat::kFp32:
            return Bytes(4);
        case WireFormat::kFp16:
        case WireFormat::kBf16:
            return Bytes(2);
        case WireFormat::kFp8:
        case WireFormat::kInt8:
        case WireFormat::kInt8Blocks:
        case WireFormat::kFp8Rows:
        case WireFormat::kMx4:
            return Bytes(1);
    }
    ASTROLABE_ASSERT(false, "every format has a width");
}

Bytes row_overhead(WireFormat format) {
    return format == WireFormat::kInt8 ? Bytes(8) : Bytes(0);
}

Bytes Payload::size() const {
    constexpr std::int64_t kBlock = 32;
    constexpr Bytes kScaleAndOffset(8);
    if (format == WireFormat::kInt8Blocks) {
        return divide_up(values, kBlock) * (Bytes(kBlock) + kScaleAndOffset);
    }
    if (format == WireFormat::kFp8Rows) {
        return fours * Bytes(4) + rows * kScaleAndOffset;
    }
    if (format == WireFormat::kMx4) {
        return blocks * Bytes(kBlock / 2 + 1);
    }
    return format ? values * workload::element_size(*format) + rows * row_overhead(*format)
                  : values * element_size;
}

bool Payload::is_converted() const {
    return format && (packs_vectors(*format) || workload::element_size(*format) != element_size ||
                      row_overhead(*format) != Bytes(0));
}

std::optional<Time> Payload::conversion_time(const Device& device) const {
    if (!is_converted()) {
        return std::nullopt;
    }
    return time_of(device, {.bytes = values * element_size + size()});
}

}  // namespace astrolabe::workload
