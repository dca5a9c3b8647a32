#include "ring.hpp"

#include "checks.hpp"
#include "topology_schemas.hpp"

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

ValidationErrors validation_errors(const RingParameters& parameters) {
    detail::ParameterCheck check;
    check.count("hosts", parameters.hosts, 1, kMaxHosts, "say how many hosts form the ring");
    check.cable("link", parameters.link);
    return std::move(check).take();
}

std::shared_ptr<const Fabric> build_ring(const RingParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    FabricBuilder builder("ring");
    for (std::int64_t i = 0; i < parameters.hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    const LinkParameters cable{parameters.link.rate, parameters.link.latency, Bytes(0)};
    const auto hosts = static_cast<std::size_t>(parameters.hosts);
    for (std::size_t i = 0; i + 1 < hosts; ++i) {
        builder.connect(NodeId(i), NodeId(i + 1), cable);
    }
    if (hosts > 2) {
        builder.connect(NodeId(hosts - 1), NodeId(0), cable);
    }
    return std::move(builder).build(parameters.load_balancing, static_cast<std::uint64_t>(parameters.seed));
}

void register_ring(Registry<FabricMaker>& registry) {
    Schema<RingParameters> schema("ring", "hosts joined in a ring; hosts forward, the shorter way round");
    schema.required("hosts", &RingParameters::hosts, "number of hosts", {1, kMaxHosts});
    detail::add_link(schema);
    detail::add_load_balancing(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_ring, &RingParameters::seed);
}

}  // namespace astrolabe::network
