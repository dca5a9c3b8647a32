#include <astrolabe/network/components.hpp>
#include <astrolabe/network/topologies/fat_tree.hpp>
#include <astrolabe/network/topologies/flat.hpp>
#include <astrolabe/network/topologies/leaf_spine.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::LoadBalancing> {
    static constexpr std::array<std::pair<std::string_view, network::LoadBalancing>, 2> kNames{
        {{"flow_hash", network::LoadBalancing::kFlowHash}, {"spray", network::LoadBalancing::kSpray}}};
};

}  // namespace astrolabe

namespace astrolabe::network {
namespace {

Schema<HostLinkParameters> host_link_schema() {
    Schema<HostLinkParameters> schema("link", "the cable of a host");
    schema.optional("rate", &HostLinkParameters::rate, "rate of each direction", {Bandwidth(1), kMaxLinkRate})
        .optional("latency", &HostLinkParameters::latency, "one-way propagation", {Time(0), kMaxLinkLatency});
    return schema;
}

Schema<UplinkParameters> uplink_schema(std::string name) {
    Schema<UplinkParameters> schema(std::move(name), "a cable between switches");
    schema
        .optional("rate", &UplinkParameters::rate,
                  "rate of each direction; 0: from the oversubscription, else the tier below",
                  {Bandwidth(0), kMaxLinkRate})
        .optional("latency", &UplinkParameters::latency, "one-way propagation", {Time(0), kMaxLinkLatency});
    return schema;
}

/// Keys every switched topology has.
template <class Parameters>
void add_common(Schema<Parameters>& schema) {
    schema.section("link", &Parameters::link, host_link_schema(), "the cable of a host")
        .optional("switch_buffer", &Parameters::switch_buffer, "packet memory of each switch; 0: unlimited",
                  {Bytes(0), {}})
        .optional(
            "load_balancing", &Parameters::load_balancing,
            "which of several shortest paths: one per host pair by hash, or all evenly (ideal spraying)")
        .check([](const Parameters& parameters) { return problems(parameters); });
}

template <class Parameters>
FabricMaker maker(const Parameters& parameters, std::shared_ptr<const Fabric> (*build)(const Parameters&)) {
    return [parameters, build](std::uint64_t seed) {
        Parameters seeded = parameters;
        seeded.seed = static_cast<std::int64_t>(seed);
        return build(seeded);
    };
}

constexpr Range<std::int64_t> kCount{0, kMaxHosts};

}  // namespace

void register_builtin_topologies(Registry<FabricMaker>& registry) {
    Schema<FlatParameters> flat("flat", "every host on one non-blocking switch");
    flat.required("hosts", &FlatParameters::hosts, "number of hosts", {1, kMaxHosts});
    add_common(flat);
    registry.add<FlatParameters>(flat, [](const FlatParameters& p) { return maker(p, build_flat); });

    Schema<LeafSpineParameters> leaf_spine("leaf_spine", "two-tier Clos: every leaf joined to every spine");
    leaf_spine
        .required("hosts", &LeafSpineParameters::hosts, "number of hosts, a multiple of hosts_per_leaf",
                  {1, kMaxHosts})
        .required("hosts_per_leaf", &LeafSpineParameters::hosts_per_leaf, "hosts on a leaf switch",
                  {1, kMaxHosts})
        .required("spines", &LeafSpineParameters::spines, "number of spine switches", {1, kMaxSwitches})
        .optional("uplinks", &LeafSpineParameters::uplinks, "parallel cables between a leaf and each spine",
                  {1, kMaxCables})
        .section("uplink", &LeafSpineParameters::uplink, uplink_schema("uplink"),
                 "a cable between leaf and spine")
        .optional("oversubscription", &LeafSpineParameters::oversubscription,
                  "what a leaf's hosts can send over what its uplinks carry; 0: follows from the rates",
                  {0.0, 1e6});
    add_common(leaf_spine);
    registry.add<LeafSpineParameters>(
        leaf_spine, [](const LeafSpineParameters& p) { return maker(p, build_leaf_spine); });

    Schema<FatTreeParameters> fat_tree(
        "fat_tree", "edge, aggregation and core switches: k-ary, or two or three tiers by counts");
    fat_tree
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
        .section("edge_uplink", &FatTreeParameters::edge_uplink, uplink_schema("edge_uplink"),
                 "a cable above an edge switch")
        .section("aggregation_uplink", &FatTreeParameters::aggregation_uplink,
                 uplink_schema("aggregation_uplink"), "a cable above an aggregation switch")
        .optional("edge_oversubscription", &FatTreeParameters::edge_oversubscription,
                  "of the edge tier; 0: follows from the rates", {0.0, 1e6})
        .optional("aggregation_oversubscription", &FatTreeParameters::aggregation_oversubscription,
                  "of the aggregation tier; 0: follows from the rates", {0.0, 1e6});
    add_common(fat_tree);
    registry.add<FatTreeParameters>(fat_tree,
                                    [](const FatTreeParameters& p) { return maker(p, build_fat_tree); });
}

}  // namespace astrolabe::network
