// Line: hosts in a row, each cabled to the next; hosts forward. Hosts i and j are |i - j| links apart.

#include "network/src/topologies/topology_schemas.hpp"

#include <fmt/format.h>

namespace astrolabe::network {

namespace {

struct LineParameters {
    std::int64_t hosts = 0;
    HostLinkParameters link;
};

std::shared_ptr<const Fabric> build_line(const LineParameters& parameters) {
    FabricBuilder builder("line");
    const LinkParameters cable{parameters.link.rate, parameters.link.latency, Bytes(0)};
    for (std::int64_t i = 0; i < parameters.hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    for (std::size_t i = 1; i < static_cast<std::size_t>(parameters.hosts); ++i) {
        builder.connect(NodeId(i - 1), NodeId(i), cable);
    }
    return std::move(builder).build();
}

}  // namespace

void register_line(Registry<FabricMaker>& registry) {
    Schema<LineParameters> schema("line", "hosts in a row, each cabled to the next");
    schema.required("hosts", &LineParameters::hosts, "number of hosts", {1, kMaxHosts});
    detail::add_link(schema);
    detail::add_topology(registry, schema, build_line);
}

}  // namespace astrolabe::network
