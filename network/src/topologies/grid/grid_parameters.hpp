/// What tori, meshes and hypercubes have in common: sizes, and cables that may differ from dimension to
/// dimension.
#pragma once

#include "../checks.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

/// Enough for the greatest number of hosts with 2 in every dimension.
inline constexpr std::size_t kMaxGridDimensions = 20;

/// One value for all dimensions, or one for each.
struct GridLinkParameters {
    std::vector<Bandwidth> rate = {Bandwidth(100'000'000'000)};
    std::vector<Time> latency = {Time(500'000)};  ///< one way

    /// Precondition: checked.
    [[nodiscard]] HostLinkParameters of(std::size_t dimension) const {
        return {rate[rate.size() == 1 ? 0 : dimension], latency[latency.size() == 1 ? 0 : dimension]};
    }
};

namespace detail {

/// `half_cables` are those of a host along a dimension of a size, in halves, as each belongs to two hosts;
/// `kind` names the grid in messages.
void check_grid_sizes(ParameterCheck& check, const std::vector<std::int64_t>& sizes, std::string_view kind,
                      const std::function<std::int64_t(std::int64_t size)>& half_cables);
void check_grid_link(ParameterCheck& check, const GridLinkParameters& link, std::size_t dimensions);

[[nodiscard]] Schema<GridLinkParameters> grid_link_schema();

}  // namespace detail

}  // namespace astrolabe::network
