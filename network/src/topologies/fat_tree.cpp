#include "fat_tree.hpp"

#include "checks.hpp"
#include "topology_schemas.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// The largest even k whose k³/4 hosts are within kMaxHosts: 160³/4 = 1,024,000.
constexpr std::int64_t kMaxK = 160;

/// Switch counts only; rates are left at 0.
FatTreeShape counts(const FatTreeParameters& p) {
    if (p.k != 0) {
        const std::int64_t half = p.k / 2;
        return {p.k, half, half, half, half * half, Bandwidth(0), Bandwidth(0)};
    }
    return {p.pods == 0 ? 1 : p.pods,
            p.edges_per_pod,
            p.hosts_per_edge,
            p.aggregations_per_pod,
            p.cores,
            Bandwidth(0),
            Bandwidth(0)};
}

void check_k(detail::ParameterCheck& check, const FatTreeParameters& p) {
    if (check.count("k", p.k, 2, kMaxK, "k is the number of ports of a switch") && p.k % 2 != 0) {
        check.report("k", fmt::format("k is {}, expected an even number", p.k),
                     "half of a switch's ports point down, half up");
    }
    const std::pair<std::string_view, std::int64_t> implied[] = {
        {"pods", p.pods},
        {"edges_per_pod", p.edges_per_pod},
        {"hosts_per_edge", p.hosts_per_edge},
        {"aggregations_per_pod", p.aggregations_per_pod},
        {"cores", p.cores}};
    for (const auto& [key, value] : implied) {
        if (value != 0) {
            check.report(key, fmt::format("{} is given, but k already says the size", key),
                         fmt::format("leave out k or {}", key));
        }
    }
}

void check_counts(detail::ParameterCheck& check, const FatTreeParameters& p) {
    constexpr std::string_view kHint = "give k, or the counts of every tier";
    check.count("pods", p.pods, 0, kMaxSwitches, kHint);
    check.count("edges_per_pod", p.edges_per_pod, 1, kMaxSwitches, kHint);
    check.count("hosts_per_edge", p.hosts_per_edge, 1, kMaxHosts, kHint);
    check.count("aggregations_per_pod", p.aggregations_per_pod, 1, kMaxSwitches, kHint);
    check.count("cores", p.cores, 0, kMaxSwitches, "0 stands for two tiers");
    if (!check.sound()) {
        return;
    }
    if (p.pods > 1 && p.cores == 0) {
        check.report("cores", fmt::format("{} pods are not joined by any core switch", p.pods),
                     "give cores, a multiple of aggregations_per_pod");
    } else if (p.pods <= 1 && p.cores > 0) {
        check.report("cores", fmt::format("{} cores join pods, but there is one pod", p.cores),
                     "leave out cores, or give pods");
    } else if (p.cores % p.aggregations_per_pod != 0) {
        check.report("cores",
                     fmt::format("{} cores do not divide among {} aggregation switches per pod", p.cores,
                                 p.aggregations_per_pod),
                     "every aggregation switch reaches the same number of cores");
    }
}

void check_size(detail::ParameterCheck& check, const FatTreeParameters& p) {
    const FatTreeShape s = counts(p);
    // Counts are at most 2^24 each, so a product of two fits; the third is compared by division.
    const std::int64_t edges = s.pods * s.edges_per_pod;
    const std::int64_t aggregations = s.pods * s.aggregations_per_pod;
    if (edges > kMaxSwitches || aggregations > kMaxSwitches ||
        edges + aggregations + s.cores > kMaxSwitches) {
        check.report("pods", fmt::format("the tree has more than {} switches", kMaxSwitches),
                     "use fewer pods, or fewer switches in each");
        return;
    }
    if (s.hosts_per_edge > kMaxHosts / edges) {
        check.report("hosts_per_edge", fmt::format("the tree has more than {} hosts", kMaxHosts),
                     "use fewer hosts per edge switch, or fewer pods");
        return;
    }
    const std::int64_t edge_pairs = edges * s.aggregations_per_pod;
    const std::int64_t core_pairs = s.pods * s.cores;
    if (edge_pairs > kMaxCables || p.edge_uplinks > kMaxCables / edge_pairs) {
        check.report("edge_uplinks", fmt::format("the tree has more than {} cables", kMaxCables),
                     "use fewer, faster uplinks");
    }
    if (core_pairs > 0 && (core_pairs > kMaxCables || p.aggregation_uplinks > kMaxCables / core_pairs)) {
        check.report("aggregation_uplinks", fmt::format("the tree has more than {} cables", kMaxCables),
                     "use fewer, faster uplinks");
    }
    if (p.hosts != 0 && p.hosts != s.hosts()) {
        check.report("hosts", fmt::format("hosts is {}, but the tree has {}", p.hosts, s.hosts()),
                     p.k != 0 ? "a k-ary fat-tree has k*k*k/4 hosts; leave hosts out"
                              : "hosts = pods * edges_per_pod * hosts_per_edge; leave hosts out");
    }
}

std::int64_t edge_cables(const FatTreeParameters& p, const FatTreeShape& s) {
    return s.aggregations_per_pod * p.edge_uplinks;
}

std::int64_t aggregation_cables(const FatTreeParameters& p, const FatTreeShape& s) {
    return s.cores / s.aggregations_per_pod * p.aggregation_uplinks;
}

}  // namespace

ValidationErrors validation_errors(const FatTreeParameters& parameters) {
    const FatTreeParameters& p = parameters;
    detail::ParameterCheck check;
    if (p.k != 0) {
        check_k(check, p);
    } else {
        check_counts(check, p);
    }
    check.count("edge_uplinks", p.edge_uplinks, 1, kMaxCables,
                "uplinks are parallel cables between two switches");
    check.count("aggregation_uplinks", p.aggregation_uplinks, 1, kMaxCables,
                "uplinks are parallel cables between two switches");
    if (check.sound()) {
        check_size(check, p);
    }
    const bool counts_sound = check.sound();
    check.cable("link", p.link);
    check.uplink("edge_uplink", p.edge_uplink);
    check.uplink("aggregation_uplink", p.aggregation_uplink);
    check.switch_buffer(p.switch_buffer);
    if (!counts_sound) {
        return std::move(check).take();
    }
    const FatTreeShape s = counts(p);
    const bool rates_sound = check.sound();
    check.oversubscription("edge_oversubscription", p.edge_oversubscription, "edge_uplink",
                           p.edge_uplink.rate, p.link.rate, s.hosts_per_edge, edge_cables(p, s));
    if (s.cores == 0 && p.aggregation_oversubscription != 0.0) {
        check.report("aggregation_oversubscription",
                     "aggregation_oversubscription is given for a two-tier tree",
                     "leave it out: there is nothing above the aggregation switches");
    } else if (rates_sound && check.sound() && s.cores > 0) {
        check.oversubscription("aggregation_oversubscription", p.aggregation_oversubscription,
                               "aggregation_uplink", p.aggregation_uplink.rate, shape(p).edge_uplink_rate,
                               s.edges_per_pod * p.edge_uplinks, aggregation_cables(p, s));
    }
    return std::move(check).take();
}

FatTreeShape shape(const FatTreeParameters& parameters) {
    const FatTreeParameters& p = parameters;
    FatTreeShape s = counts(p);
    s.edge_uplink_rate = detail::resolve_uplink_rate(p.edge_uplink.rate, p.edge_oversubscription, p.link.rate,
                                                     s.hosts_per_edge, edge_cables(p, s));
    if (s.cores > 0) {
        s.aggregation_uplink_rate = detail::resolve_uplink_rate(
            p.aggregation_uplink.rate, p.aggregation_oversubscription, s.edge_uplink_rate,
            s.edges_per_pod * p.edge_uplinks, aggregation_cables(p, s));
    }
    return s;
}

std::shared_ptr<const Fabric> build_fat_tree(const FatTreeParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    const FatTreeShape s = shape(parameters);
    FabricBuilder builder("fat_tree");
    for (std::int64_t i = 0; i < s.hosts(); ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    const LinkParameters host_cable{parameters.link.rate, parameters.link.latency, Bytes(0)};
    const LinkParameters edge_cable{s.edge_uplink_rate, parameters.edge_uplink.latency, Bytes(0)};
    const LinkParameters core_cable{s.aggregation_uplink_rate, parameters.aggregation_uplink.latency,
                                    Bytes(0)};
    const auto connect_parallel = [&](NodeId a, NodeId b, std::int64_t cables, const LinkParameters& cable) {
        for (std::int64_t i = 0; i < cables; ++i) {
            builder.connect(a, b, cable);
        }
    };

    std::vector<NodeId> cores;
    for (std::int64_t i = 0; i < s.cores; ++i) {
        cores.push_back(builder.add_switch(fmt::format("core {}", i), parameters.switch_buffer));
    }
    const std::int64_t cores_per_aggregation = s.cores / s.aggregations_per_pod;
    std::size_t host = 0;
    std::vector<NodeId> aggregations;
    for (std::int64_t pod = 0; pod < s.pods; ++pod) {
        aggregations.clear();
        for (std::int64_t j = 0; j < s.aggregations_per_pod; ++j) {
            aggregations.push_back(builder.add_switch(
                fmt::format("aggregation {}", pod * s.aggregations_per_pod + j), parameters.switch_buffer));
            for (std::int64_t c = 0; c < cores_per_aggregation; ++c) {
                connect_parallel(aggregations.back(),
                                 cores[static_cast<std::size_t>(j * cores_per_aggregation + c)],
                                 parameters.aggregation_uplinks, core_cable);
            }
        }
        for (std::int64_t e = 0; e < s.edges_per_pod; ++e) {
            const NodeId edge = builder.add_switch(fmt::format("edge {}", pod * s.edges_per_pod + e),
                                                   parameters.switch_buffer);
            for (std::int64_t i = 0; i < s.hosts_per_edge; ++i, ++host) {
                builder.connect(NodeId(host), edge, host_cable);
            }
            for (const NodeId aggregation : aggregations) {
                connect_parallel(edge, aggregation, parameters.edge_uplinks, edge_cable);
            }
        }
    }
    return std::move(builder).build(parameters.load_balancing, static_cast<std::uint64_t>(parameters.seed));
}

void register_fat_tree(Registry<FabricMaker>& registry) {
    constexpr Range<std::int64_t> kCount{0, kMaxHosts};
    Schema<FatTreeParameters> schema(
        "fat_tree", "edge, aggregation and core switches: k-ary, or two or three tiers by counts");
    schema
        .optional("k", &FatTreeParameters::k, "even arity: k pods, k^3/4 hosts; 0: the counts say the size",
                  kCount)
        .optional("hosts", &FatTreeParameters::hosts, "number of hosts; 0: follows from the rest", kCount)
        .optional("pods", &FatTreeParameters::pods, "number of pods; 0: k, or one", kCount)
        .optional("edges_per_pod", &FatTreeParameters::edges_per_pod, "edge switches in a pod (not with k)",
                  kCount)
        .optional("hosts_per_edge", &FatTreeParameters::hosts_per_edge,
                  "hosts on an edge switch (not with k)", kCount)
        .optional("aggregations_per_pod", &FatTreeParameters::aggregations_per_pod,
                  "aggregation switches in a pod (not with k)", kCount)
        .optional("cores", &FatTreeParameters::cores, "core switches (not with k); 0: two tiers", kCount)
        .optional("edge_uplinks", &FatTreeParameters::edge_uplinks,
                  "parallel cables between an edge and each aggregation switch", {1, kMaxCables})
        .optional("aggregation_uplinks", &FatTreeParameters::aggregation_uplinks,
                  "parallel cables between an aggregation switch and each of its cores", {1, kMaxCables})
        .section("edge_uplink", &FatTreeParameters::edge_uplink, detail::uplink_schema("edge_uplink"),
                 "a cable above an edge switch")
        .section("aggregation_uplink", &FatTreeParameters::aggregation_uplink,
                 detail::uplink_schema("aggregation_uplink"), "a cable above an aggregation switch")
        .optional("edge_oversubscription", &FatTreeParameters::edge_oversubscription,
                  "of the edge tier; 0: follows from the rates", {0.0, 1e6})
        .optional("aggregation_oversubscription", &FatTreeParameters::aggregation_oversubscription,
                  "of the aggregation tier; 0: follows from the rates", {0.0, 1e6});
    detail::add_common(schema);
    detail::add_topology(registry, schema, build_fat_tree, &FatTreeParameters::seed);
}

}  // namespace astrolabe::network
