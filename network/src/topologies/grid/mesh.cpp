#include "mesh.hpp"

#include "../topology_schemas.hpp"
#include "grid_schemas.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// Of a mesh whose parameters were checked.
std::shared_ptr<const Fabric> build_grid(std::string kind, const MeshParameters& p) {
    std::size_t hosts = 1;
    for (const std::int64_t size : p.sizes) {
        hosts *= static_cast<std::size_t>(size);
    }
    FabricBuilder builder(std::move(kind));
    for (std::size_t i = 0; i < hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    std::size_t stride = 1;
    for (std::size_t d = 0; d < p.sizes.size(); ++d) {
        const auto size = static_cast<std::size_t>(p.sizes[d]);
        const HostLinkParameters link = p.link.of(d);
        for (std::size_t host = 0; host < hosts; ++host) {
            if (host / stride % size + 1 < size) {
                builder.connect(NodeId(host), NodeId(host + stride), {link.rate, link.latency, Bytes(0)});
            }
        }
        stride *= size;
    }
    return detail::with_grid_routing(std::move(builder), p, GridLines::kOpen);
}

}  // namespace

ValidationErrors validation_errors(const MeshParameters& parameters) {
    detail::ParameterCheck check;
    detail::check_grid_sizes(check, parameters.sizes, "mesh",
                             [](std::int64_t size) { return size == 1 ? 0 : 2; });
    detail::check_grid_link(check, parameters.link, parameters.sizes.size());
    detail::check_grid_routing(check, parameters.routing, parameters.load_balancing);
    return std::move(check).take();
}

ValidationErrors validation_errors(const HypercubeParameters& parameters) {
    detail::ParameterCheck check;
    check.count("dimensions", parameters.dimensions, 0, static_cast<std::int64_t>(kMaxGridDimensions),
                "a hypercube of n dimensions has 2^n hosts");
    check.cable("link", parameters.link);
    detail::check_grid_routing(check, parameters.routing, parameters.load_balancing);
    return std::move(check).take();
}

std::shared_ptr<const Fabric> build_mesh(const MeshParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    return build_grid("mesh", parameters);
}

std::shared_ptr<const Fabric> build_hypercube(const HypercubeParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    return build_grid("hypercube",
                      {.sizes = std::vector<std::int64_t>(static_cast<std::size_t>(parameters.dimensions), 2),
                       .link = {{parameters.link.rate}, {parameters.link.latency}},
                       .routing = parameters.routing,
                       .load_balancing = parameters.load_balancing,
                       .seed = parameters.seed});
}

void register_mesh(Registry<FabricMaker>& registry) {
    Schema<MeshParameters> schema("mesh", "hosts on a grid whose lines are not closed; hosts forward");
    schema
        .list("sizes", &MeshParameters::sizes, "hosts along each dimension, the fastest-varying first", true,
              {1, kMaxHosts})
        .section("link", &MeshParameters::link, detail::grid_link_schema(), "the cables of each dimension");
    detail::add_grid_routing(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_mesh, &MeshParameters::seed);
}

void register_hypercube(Registry<FabricMaker>& registry) {
    Schema<HypercubeParameters> schema("hypercube",
                                       "2^n hosts, of which those one bit apart are joined; hosts forward");
    schema.required("dimensions", &HypercubeParameters::dimensions, "n, of 2^n hosts",
                    {0, static_cast<std::int64_t>(kMaxGridDimensions)});
    detail::add_link(schema);
    detail::add_grid_routing(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_hypercube, &HypercubeParameters::seed);
}

}  // namespace astrolabe::network
