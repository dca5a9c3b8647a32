#include "torus.hpp"

#include "checks.hpp"
#include "grid/grid_schemas.hpp"
#include "topology_schemas.hpp"
#include "torus_cables.hpp"

#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// Cables per host along a dimension, in halves: each belongs to two hosts.
std::int64_t half_cables(std::int64_t size, bool double_links) {
    if (size == 1) {
        return 0;
    }
    return size == 2 && !double_links ? 1 : 2;
}

}  // namespace

ValidationErrors validation_errors(const TorusParameters& parameters) {
    detail::ParameterCheck check;
    const auto half_cables_of = [&](std::int64_t size) { return half_cables(size, parameters.double_links); };
    detail::check_grid_sizes(check, parameters.sizes, "torus", half_cables_of);
    detail::check_grid_link(check, parameters.link, parameters.sizes.size());
    detail::check_grid_routing(check, parameters.routing, parameters.load_balancing);
    return std::move(check).take();
}

HostLinkParameters dimension_link(const TorusParameters& parameters, std::size_t dimension) {
    return parameters.link.of(dimension);
}

std::shared_ptr<const Fabric> build_torus(const TorusParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    std::size_t hosts = 1;
    for (const std::int64_t size : parameters.sizes) {
        hosts *= static_cast<std::size_t>(size);
    }
    FabricBuilder builder("torus");
    for (std::size_t i = 0; i < hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    detail::for_each_torus_cable(
        parameters.sizes, parameters.double_links,
        [&](std::size_t host, std::size_t other, std::size_t dimension) {
            const HostLinkParameters link = dimension_link(parameters, dimension);
            builder.connect(NodeId(host), NodeId(other), {link.rate, link.latency, Bytes(0)});
        });
    return detail::with_grid_routing(std::move(builder), parameters, GridLines::kClosed);
}

void register_torus(Registry<FabricMaker>& registry) {
    Schema<TorusParameters> schema("torus", "hosts on a grid whose lines are closed to rings; hosts forward");
    schema
        .list("sizes", &TorusParameters::sizes, "hosts along each dimension, the fastest-varying first", true,
              {1, kMaxHosts})
        .optional("double_links", &TorusParameters::double_links,
                  "two cables instead of one where a dimension has two hosts")
        .section("link", &TorusParameters::link, detail::grid_link_schema(), "the cables of each dimension");
    detail::add_grid_routing(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_torus, &TorusParameters::seed);
}

}  // namespace astrolabe::network
