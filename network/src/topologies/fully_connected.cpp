#include "fully_connected.hpp"

#include "checks.hpp"
#include "topology_schemas.hpp"

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

ValidationErrors validation_errors(const FullyConnectedParameters& parameters) {
    const std::int64_t n = parameters.hosts;
    detail::ParameterCheck check;
    if (check.count("hosts", n, 1, kMaxHosts, "say how many hosts are joined to one another") &&
        n * (n - 1) / 2 > kMaxCables) {
        check.report(
            "hosts",
            fmt::format("{} hosts need {} cables, expected at most {}", n, n * (n - 1) / 2, kMaxCables),
            "join them by a switch (flat), or in packages (hierarchical)");
    }
    check.cable("link", parameters.link);
    return std::move(check).take();
}

std::shared_ptr<const Fabric> build_fully_connected(const FullyConnectedParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    FabricBuilder builder("fully_connected");
    for (std::int64_t i = 0; i < parameters.hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    const LinkParameters cable{parameters.link.rate, parameters.link.latency, Bytes(0)};
    const auto hosts = static_cast<std::size_t>(parameters.hosts);
    for (std::size_t i = 0; i < hosts; ++i) {
        for (std::size_t j = i + 1; j < hosts; ++j) {
            builder.connect(NodeId(i), NodeId(j), cable);
        }
    }
    return std::move(builder).build();
}

void register_fully_connected(Registry<FabricMaker>& registry) {
    Schema<FullyConnectedParameters> schema("fully_connected", "one cable between every two hosts");
    schema.required("hosts", &FullyConnectedParameters::hosts, "number of hosts", {1, kMaxHosts});
    detail::add_link(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_fully_connected);
}

}  // namespace astrolabe::network
