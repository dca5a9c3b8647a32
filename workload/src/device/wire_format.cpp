#include "wire_format.hpp"

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
            return Bytes(1);
    }
    ASTROLABE_ASSERT(false, "every format has a width");
}

Bytes row_overhead(WireFormat format) {
    return format == WireFormat::kInt8 ? Bytes(8) : Bytes(0);
}

Bytes Payload::size() const {
    return format ? values * workload::element_size(*format) + rows * row_overhead(*format)
                  : values * element_size;
}

bool Payload::is_converted() const {
    return format && (workload::element_size(*format) != element_size || row_overhead(*format) != Bytes(0));
}

std::optional<Time> Payload::conversion_time(const Device& device) const {
    if (!is_converted()) {
        return std::nullopt;
    }
    return time_of(device, {.bytes = values * element_size + size()});
}

}  // namespace astrolabe::workload
