/// What TopologyFinder refuses, and the names that files have for its options.
#pragma once

#include "topology_finder.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/validation_error.hpp>

namespace astrolabe::network::topoopt {

/// Keys: "degree", "servers", "groups.<i>", "point_to_point", "perfect_matching", "wiring".
[[nodiscard]] ValidationErrors validation_errors(const Demand& demand, const FinderOptions& options);

/// The topology of a mode, which is not best, for a demand without problems.
[[nodiscard]] Topology find_topology(const Demand& demand, const FinderOptions& options);

}  // namespace astrolabe::network::topoopt

namespace astrolabe {

template <>
struct EnumNames<network::topoopt::Wiring> {
    static constexpr std::array<std::pair<std::string_view, network::topoopt::Wiring>, 3> kNames{
        {{"panel", network::topoopt::Wiring::kPanel},
         {"duplex", network::topoopt::Wiring::kDuplex},
         {"separate_fibres", network::topoopt::Wiring::kSeparateFibres}}};
};

}  // namespace astrolabe
