/// The cables of a torus (torus.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace astrolabe::network::detail {

/// Calls `connect(host, other, dimension)` for each, by dimension and then by host; sizes are >= 1.
template <class Connect>
void for_each_torus_cable(const std::vector<std::int64_t>& sizes, bool double_links, Connect connect) {
    std::size_t hosts = 1;
    for (const std::int64_t size : sizes) {
        hosts *= static_cast<std::size_t>(size);
    }
    std::size_t stride = 1;  // between neighbours along the dimension
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const auto size = static_cast<std::size_t>(sizes[d]);
        for (std::size_t host = 0; host < hosts && size > 1; ++host) {
            const std::size_t position = host / stride % size;
            if (position + 1 < size) {
                connect(host, host + stride, d);
            } else if (size > 2 || double_links) {
                connect(host, host - position * stride, d);
            }
        }
        stride *= size;
    }
}

}  // namespace astrolabe::network::detail
