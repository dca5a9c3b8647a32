#include "fat_tree.hpp"
#include "flat.hpp"
#include "fully_connected.hpp"
#include "leaf_spine.hpp"
#include "registration.hpp"
#include "ring.hpp"
#include "topology_schemas.hpp"
#include "torus.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/network/components.hpp>
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

using namespace detail;

/// One value for all dimensions, or a list with one for each.
template <class F>
void add_per_dimension(Schema<TorusLinkParameters>& schema, std::string key,
                       std::vector<F> TorusLinkParameters::*member, std::string help, Range<F> range) {
    ParameterDescriptor descriptor{key,
                                   ValueTraits<F>::type() + ", or list of " + ValueTraits<F>::type(),
                                   ValueTraits<F>::format((TorusLinkParameters{}.*member).front()),
                                   false,
                                   range_text(range),
                                   std::move(help),
                                   {}};
    schema.field(
        std::move(descriptor),
        [member, key, range](TorusLinkParameters& target, const ConfigNode& node, ReadContext& context) {
            const bool many = node.is_sequence();
            const std::span<const ConfigNode> items = many ? std::span(node.items) : std::span(&node, 1);
            (target.*member).clear();
            for (const ConfigNode& item : items) {
                if (const std::optional<F> value =
                        read_scalar<F>(item, (many ? "an item of '" : "'") + key + "'", context, range)) {
                    (target.*member).push_back(*value);
                }
            }
        },
        [member](const TorusLinkParameters& source) -> std::optional<ConfigNode> {
            std::vector<ConfigNode> items;
            for (const F value : source.*member) {
                items.push_back(ConfigNode::scalar(ValueTraits<F>::format(value)));
            }
            return items.size() == 1 ? std::move(items.front()) : ConfigNode::sequence(std::move(items));
        });
}

Schema<TorusLinkParameters> torus_link_schema() {
    Schema<TorusLinkParameters> schema("link", "the cables of each dimension");
    add_per_dimension(schema, "rate", &TorusLinkParameters::rate,
                      "rate of each direction of a cable, for all dimensions or for each",
                      {Bandwidth(1), kMaxLinkRate});
    add_per_dimension(schema, "latency", &TorusLinkParameters::latency,
                      "one-way propagation, for all dimensions or for each", {Time(0), kMaxLinkLatency});
    return schema;
}

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

template <class Parameters>
FabricMaker maker(const Parameters& parameters, std::shared_ptr<const Fabric> (*build)(const Parameters&)) {
    return [parameters, build](std::uint64_t seed) {
        Parameters seeded = parameters;
        seeded.seed = static_cast<std::int64_t>(seed);
        return build(seeded);
    };
}

/// For topologies with one shortest path between any two hosts, where there is nothing to hash.
template <class Parameters>
FabricMaker unseeded_maker(const Parameters& parameters,
                           std::shared_ptr<const Fabric> (*build)(const Parameters&)) {
    return [parameters, build](std::uint64_t) { return build(parameters); };
}

constexpr Range<std::int64_t> kCount{0, kMaxHosts};

void register_trees(Registry<FabricMaker>& registry) {
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

void register_direct(Registry<FabricMaker>& registry) {
    Schema<RingParameters> ring("ring", "hosts joined in a ring; hosts forward, the shorter way round");
    ring.required("hosts", &RingParameters::hosts, "number of hosts", {1, kMaxHosts});
    add_link(ring);
    add_load_balancing(ring);
    add_check(ring);
    registry.add<RingParameters>(ring, [](const RingParameters& p) { return maker(p, build_ring); });

    Schema<TorusParameters> torus("torus", "hosts on a grid whose lines are closed to rings; hosts forward");
    torus
        .list("sizes", &TorusParameters::sizes, "hosts along each dimension, the fastest-varying first", true,
              {1, kMaxHosts})
        .optional("double_links", &TorusParameters::double_links,
                  "two cables instead of one where a dimension has two hosts")
        .section("link", &TorusParameters::link, torus_link_schema(), "the cables of each dimension");
    add_load_balancing(torus);
    add_check(torus);
    registry.add<TorusParameters>(torus, [](const TorusParameters& p) { return maker(p, build_torus); });

    Schema<FullyConnectedParameters> fully_connected("fully_connected", "one cable between every two hosts");
    fully_connected.required("hosts", &FullyConnectedParameters::hosts, "number of hosts", {1, kMaxHosts});
    add_link(fully_connected);
    add_check(fully_connected);
    registry.add<FullyConnectedParameters>(fully_connected, [](const FullyConnectedParameters& p) {
        return unseeded_maker(p, build_fully_connected);
    });
}

void register_hierarchical(Registry<FabricMaker>& registry) {
    Schema<HierarchicalParameters> hierarchical(
        "hierarchical", "packages of hosts with a scale-up network each, and one scale-out switch for all");
    hierarchical
        .required("hosts", &HierarchicalParameters::hosts, "number of hosts, a multiple of hosts_per_package",
                  {1, kMaxHosts})
        .required("hosts_per_package", &HierarchicalParameters::hosts_per_package, "hosts in a package",
                  {1, kMaxHosts})
        .section("scale_up", &HierarchicalParameters::scale_up, scale_up_schema(),
                 "the network inside a package")
        .section("scale_out", &HierarchicalParameters::scale_out, host_link_schema("scale_out"),
                 "the cable of a host to the scale-out switch");
    add_switch_buffer(hierarchical);
    add_check(hierarchical);
    registry.add<HierarchicalParameters>(
        hierarchical, [](const HierarchicalParameters& p) { return unseeded_maker(p, build_hierarchical); });
}

}  // namespace

void register_builtin_topologies(Registry<FabricMaker>& registry) {
    register_trees(registry);
    register_direct(registry);
    register_hierarchical(registry);
    register_direct_connect(registry);
    register_topoopt(registry);
    register_rotor_topologies(registry);
}

}  // namespace astrolabe::network
