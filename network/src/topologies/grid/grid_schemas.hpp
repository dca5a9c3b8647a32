/// Keys of routing that meshes, hypercubes and tori have in common, and how routing is installed.
#pragma once

#include "../checks.hpp"
#include "../topology_schemas.hpp"
#include "grid_routing.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::GridRule> {
    static constexpr std::array<std::pair<std::string_view, network::GridRule>, 3> kNames{
        {{"minimal", network::GridRule::kMinimal},
         {"dimension_order", network::GridRule::kDimensionOrder},
         {"valiant", network::GridRule::kValiant}}};
};

}  // namespace astrolabe

namespace astrolabe::network::detail {

inline void check_grid_routing(ParameterCheck& check, GridRule rule, LoadBalancing load_balancing) {
    if (rule == GridRule::kDimensionOrder && load_balancing == LoadBalancing::kSpray) {
        check.report("load_balancing",
                     "a pair has one path in the order of dimensions, and none to spray over",
                     "leave it out, or use routing: minimal or valiant");
    }
}

template <class Parameters>
void add_grid_routing(Schema<Parameters>& schema) {
    schema
        .optional("routing", &Parameters::routing,
                  "shortest paths, the one in the order of dimensions, or two phases over a random host")
        .optional("load_balancing", &Parameters::load_balancing,
                  "one path per host pair by hash, or all that routing allows evenly");
}

/// Of parameters with `sizes`, `routing`, `load_balancing` and `seed`, which were checked.
template <class Parameters>
[[nodiscard]] std::shared_ptr<const Fabric> with_grid_routing(FabricBuilder builder, const Parameters& p,
                                                              GridLines lines) {
    const auto seed = static_cast<std::uint64_t>(p.seed);
    if (p.routing == GridRule::kMinimal) {
        return std::move(builder).build(p.load_balancing, seed);
    }
    const LoadBalancing balancing =
        p.load_balancing == LoadBalancing::kSpray ? LoadBalancing::kPaths : LoadBalancing::kFlowHash;
    return std::move(builder).build(
        [sizes = p.sizes, lines, rule = p.routing, balancing, seed](const Fabric& fabric) {
            return std::make_shared<const GridRouting>(fabric, sizes, lines, rule, balancing, seed);
        });
}

}  // namespace astrolabe::network::detail
