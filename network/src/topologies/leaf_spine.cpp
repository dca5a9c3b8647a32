#include "leaf_spine.hpp"

#include "checks.hpp"
#include "topology_schemas.hpp"

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

ValidationErrors validation_errors(const LeafSpineParameters& parameters) {
    const LeafSpineParameters& p = parameters;
    detail::ParameterCheck check;
    check.count("hosts", p.hosts, 1, kMaxHosts, "say how many hosts there are in all");
    check.count("hosts_per_leaf", p.hosts_per_leaf, 1, kMaxHosts,
                "say how many hosts hang on each leaf switch");
    check.count("spines", p.spines, 1, kMaxSwitches, "every leaf switch is joined to every spine switch");
    check.count("uplinks", p.uplinks, 1, kMaxCables,
                "uplinks are parallel cables between a leaf and a spine");
    if (check.sound()) {
        const std::int64_t leaves = p.hosts / p.hosts_per_leaf;
        if (p.hosts % p.hosts_per_leaf != 0) {
            check.report(
                "hosts", fmt::format("{} hosts do not fill leaves of {}", p.hosts, p.hosts_per_leaf),
                fmt::format("the next multiple of hosts_per_leaf is {}", (leaves + 1) * p.hosts_per_leaf));
        } else if (leaves + p.spines > kMaxSwitches) {
            check.report("spines",
                         fmt::format("{} leaves and {} spines are more than {} switches", leaves, p.spines,
                                     kMaxSwitches),
                         "use fewer spines, or more hosts_per_leaf");
        } else if (p.uplinks > kMaxCables / (leaves * p.spines)) {
            check.report("uplinks",
                         fmt::format("{} leaves, {} spines and {} uplinks make more than {} cables", leaves,
                                     p.spines, p.uplinks, kMaxCables),
                         "use fewer, faster uplinks");
        }
    }
    const bool counts_sound = check.sound();
    check.cable("link", p.link);
    check.uplink("uplink", p.uplink);
    check.switch_buffer(p.switch_buffer);
    if (counts_sound) {
        check.oversubscription("oversubscription", p.oversubscription, "uplink", p.uplink.rate, p.link.rate,
                               p.hosts_per_leaf, p.spines * p.uplinks);
    }
    return std::move(check).take();
}

Bandwidth uplink_rate(const LeafSpineParameters& parameters) {
    return detail::resolve_uplink_rate(parameters.uplink.rate, parameters.oversubscription,
                                       parameters.link.rate, parameters.hosts_per_leaf,
                                       parameters.spines * parameters.uplinks);
}

std::shared_ptr<const Fabric> build_leaf_spine(const LeafSpineParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    FabricBuilder builder("leaf_spine");
    for (std::int64_t i = 0; i < parameters.hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    std::vector<NodeId> spines;
    for (std::int64_t i = 0; i < parameters.spines; ++i) {
        spines.push_back(builder.add_switch(fmt::format("spine {}", i), parameters.switch_buffer));
    }
    const LinkParameters host_cable{parameters.link.rate, parameters.link.latency, Bytes(0)};
    const LinkParameters uplink_cable{uplink_rate(parameters), parameters.uplink.latency, Bytes(0)};
    for (std::int64_t host = 0; host < parameters.hosts;) {
        const NodeId leaf = builder.add_switch(fmt::format("leaf {}", host / parameters.hosts_per_leaf),
                                               parameters.switch_buffer);
        for (std::int64_t i = 0; i < parameters.hosts_per_leaf; ++i, ++host) {
            builder.connect(NodeId(static_cast<std::size_t>(host)), leaf, host_cable);
        }
        for (const NodeId spine : spines) {
            for (std::int64_t i = 0; i < parameters.uplinks; ++i) {
                builder.connect(leaf, spine, uplink_cable);
            }
        }
    }
    return std::move(builder).build(parameters.load_balancing, static_cast<std::uint64_t>(parameters.seed));
}

void register_leaf_spine(Registry<FabricMaker>& registry) {
    Schema<LeafSpineParameters> schema("leaf_spine", "two-tier Clos: every leaf joined to every spine");
    schema
        .required("hosts", &LeafSpineParameters::hosts, "number of hosts, a multiple of hosts_per_leaf",
                  {1, kMaxHosts})
        .required("hosts_per_leaf", &LeafSpineParameters::hosts_per_leaf, "hosts on a leaf switch",
                  {1, kMaxHosts})
        .required("spines", &LeafSpineParameters::spines, "number of spine switches", {1, kMaxSwitches})
        .optional("uplinks", &LeafSpineParameters::uplinks, "parallel cables between a leaf and each spine",
                  {1, kMaxCables})
        .section("uplink", &LeafSpineParameters::uplink, detail::uplink_schema("uplink"),
                 "a cable between leaf and spine")
        .optional("oversubscription", &LeafSpineParameters::oversubscription,
                  "what a leaf's hosts can send over what its uplinks carry; 0: follows from the rates",
                  {0.0, 1e6});
    detail::add_common(schema);
    detail::add_topology(registry, schema, build_leaf_spine, &LeafSpineParameters::seed);
}

}  // namespace astrolabe::network
