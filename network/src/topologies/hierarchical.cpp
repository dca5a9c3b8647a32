#include "checks.hpp"
#include "topology_schemas.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/topologies/hierarchical.hpp>

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

std::shared_ptr<const Fabric> build_hierarchical(const HierarchicalParameters& parameters) {
    const HierarchicalParameters& p = parameters;
    ASTROLABE_ASSERT(validation_errors(p).empty(), "parameters are checked before a fabric is built");
    FabricBuilder builder("hierarchical");
    for (std::int64_t i = 0; i < p.hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    const auto hosts = static_cast<std::size_t>(p.hosts);
    const auto package_size = static_cast<std::size_t>(p.hosts_per_package);
    const LinkParameters local{p.scale_up.rate, p.scale_up.latency, Bytes(0), kScaleUpLinkCost};
    for (std::size_t first = 0; first < hosts && package_size > 1; first += package_size) {
        const std::size_t end = first + package_size;
        if (p.scale_up.kind == ScaleUpKind::kSwitch) {
            const NodeId hub =
                builder.add_switch(fmt::format("scale-up {}", first / package_size), p.switch_buffer);
            for (std::size_t i = first; i < end; ++i) {
                builder.connect(NodeId(i), hub, local);
            }
            continue;
        }
        for (std::size_t i = first; i < end; ++i) {
            for (std::size_t j = i + 1; j < end; ++j) {
                builder.connect(NodeId(i), NodeId(j), local);
            }
        }
    }
    const LinkParameters interface { p.scale_out.rate, p.scale_out.latency, Bytes(0), kScaleOutCost };
    const NodeId hub = builder.add_switch("scale-out", p.switch_buffer);
    for (std::size_t i = 0; i < hosts; ++i) {
        builder.connect(NodeId(i), hub, interface);
    }
    return std::move(builder).build();
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
