#include "flat.hpp"

#include "checks.hpp"
#include "topology_schemas.hpp"

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

ValidationErrors validation_errors(const FlatParameters& parameters) {
    detail::ParameterCheck check;
    check.count("hosts", parameters.hosts, 1, kMaxHosts, "say how many hosts hang on the switch");
    check.cable("link", parameters.link);
    check.switch_buffer(parameters.switch_buffer);
    return std::move(check).take();
}

std::shared_ptr<const Fabric> build_flat(const FlatParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    FabricBuilder builder("flat");
    for (std::int64_t i = 0; i < parameters.hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    const NodeId hub = builder.add_switch("switch", parameters.switch_buffer);
    const LinkParameters cable{parameters.link.rate, parameters.link.latency, Bytes(0)};
    for (std::int64_t i = 0; i < parameters.hosts; ++i) {
        builder.connect(NodeId(static_cast<std::size_t>(i)), hub, cable);
    }
    return std::move(builder).build(parameters.load_balancing, static_cast<std::uint64_t>(parameters.seed));
}

void register_flat(Registry<FabricMaker>& registry) {
    Schema<FlatParameters> schema("flat", "every host on one non-blocking switch");
    schema.required("hosts", &FlatParameters::hosts, "number of hosts", {1, kMaxHosts});
    detail::add_common(schema);
    detail::add_topology(registry, schema, build_flat, &FlatParameters::seed);
}

}  // namespace astrolabe::network
