#include "hierarchical.hpp"

#include "checks.hpp"
#include "servers/composition.hpp"
#include "topology_schemas.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::ScaleUpKind> {
    static constexpr std::array<std::pair<std::string_view, network::ScaleUpKind>, 2> kNames{
        {{"switch", network::ScaleUpKind::kSwitch},
         {"fully_connected", network::ScaleUpKind::kFullyConnected}}};
};

}  // namespace astrolabe

namespace astrolabe::network {

namespace {

// The header shows why this cost and that of scale-up links are enough.
constexpr std::uint16_t kScaleOutCost = 2;

}  // namespace

ValidationErrors validation_errors(const HierarchicalParameters& parameters) {
    const HierarchicalParameters& p = parameters;
    detail::ParameterCheck check;
    check.count("hosts", p.hosts, 1, kMaxHosts, "say how many hosts there are in all");
    check.count("hosts_per_package", p.hosts_per_package, 1, kMaxHosts, "say how many hosts form a package");
    if (check.sound()) {
        if (p.hosts % p.hosts_per_package != 0) {
            check.report("hosts",
                         fmt::format("{} hosts do not fill packages of {}", p.hosts, p.hosts_per_package),
                         fmt::format("the next multiple of hosts_per_package is {}",
                                     (p.hosts / p.hosts_per_package + 1) * p.hosts_per_package));
        } else if (p.scale_up.kind == ScaleUpKind::kFullyConnected &&
                   p.hosts + p.hosts * (p.hosts_per_package - 1) / 2 > kMaxCables) {
            check.report("hosts_per_package",
                         fmt::format("the packages have more than {} cables", kMaxCables),
                         "use smaller packages, or scale_up: {kind: switch}");
        }
    }
    check.rate("scale_up.rate", p.scale_up.rate);
    check.latency("scale_up.latency", p.scale_up.latency);
    check.cable("scale_out", p.scale_out);
    check.switch_buffer(p.switch_buffer);
    return std::move(check).take();
}

namespace {

/// Hosts of a package, whose interfaces are parts of them, and the network between them.
ServerGraph package_of(const HierarchicalParameters& p) {
    ServerGraph package;
    package.has_integrated_nics = true;
    const auto size = static_cast<std::uint32_t>(p.hosts_per_package);
    for (std::uint32_t i = 0; i < size; ++i) {
        package.nodes.push_back({ServerPart::kGpu, "host"});
    }
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
        package.links.push_back({a, b, p.scale_up.rate, p.scale_up.latency, LinkPlace::kScaleUp});
    };
    if (p.scale_up.kind == ScaleUpKind::kSwitch && size > 1) {
        package.nodes.push_back({ServerPart::kSwitch, "scale-up", p.switch_buffer});
        for (std::uint32_t i = 0; i < size; ++i) {
            join(i, size);
        }
    }
    for (std::uint32_t i = 0; i < size && p.scale_up.kind == ScaleUpKind::kFullyConnected; ++i) {
        for (std::uint32_t j = i + 1; j < size; ++j) {
            join(i, j);
        }
    }
    return package;
}

std::shared_ptr<const Fabric> scale_out_of(const HierarchicalParameters& p) {
    FabricBuilder builder("flat");
    for (std::int64_t i = 0; i < p.hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    const NodeId hub = builder.add_switch("scale-out", p.switch_buffer);
    for (std::int64_t i = 0; i < p.hosts; ++i) {
        builder.connect(NodeId(static_cast<std::size_t>(i)), hub,
                        {p.scale_out.rate, p.scale_out.latency, Bytes(0), kScaleOutCost});
    }
    return std::move(builder).build();
}

}  // namespace

std::shared_ptr<const Fabric> build_hierarchical(const HierarchicalParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    servers::ComposedParts parts;
    parts.kind = "hierarchical";
    parts.gpu_name = "host";
    parts.shapes_collectives = false;
    parts.follows_costs = true;
    parts.planes = {scale_out_of(parameters)};
    const auto package =
        std::make_shared<const servers::ServerPaths>(package_of(parameters), LoadBalancing::kFlowHash, 1);
    for (std::int64_t i = 0; i < parameters.hosts / parameters.hosts_per_package; ++i) {
        parts.servers.push_back(package);
    }
    return servers::compose(parts);
}

namespace {

Schema<ScaleUpParameters> scale_up_schema() {
    Schema<ScaleUpParameters> schema("scale_up", "the network inside a package");
    schema
        .optional("kind", &ScaleUpParameters::kind,
                  "a non-blocking switch, or a cable between every two hosts")
        .optional("rate", &ScaleUpParameters::rate, "rate of each direction of a cable",
                  {Bandwidth(1), kMaxLinkRate})
        .optional("latency", &ScaleUpParameters::latency, "one-way propagation", {Time(0), kMaxLinkLatency});
    return schema;
}

}  // namespace

void register_hierarchical(Registry<FabricMaker>& registry) {
    Schema<HierarchicalParameters> schema(
        "hierarchical", "packages of hosts with a scale-up network each, and one scale-out switch for all");
    schema
        .required("hosts", &HierarchicalParameters::hosts, "number of hosts, a multiple of hosts_per_package",
                  {1, kMaxHosts})
        .required("hosts_per_package", &HierarchicalParameters::hosts_per_package, "hosts in a package",
                  {1, kMaxHosts})
        .section("scale_up", &HierarchicalParameters::scale_up, scale_up_schema(),
                 "the network inside a package")
        .section("scale_out", &HierarchicalParameters::scale_out, detail::host_link_schema("scale_out"),
                 "the cable of a host to the scale-out switch");
    detail::add_switch_buffer(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_hierarchical);
}

}  // namespace astrolabe::network
