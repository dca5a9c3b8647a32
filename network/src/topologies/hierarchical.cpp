#include "checks.hpp"

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/topologies/hierarchical.hpp>

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

}  // namespace astrolabe::network
