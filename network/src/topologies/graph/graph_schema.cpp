#include "../topology_schemas.hpp"
#include "graph_circuits.hpp"
#include "graph_family.hpp"
#include "graph_files.hpp"
#include "graph_lists.hpp"
#include "graph_routes.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace astrolabe {

template <>
struct EnumNames<network::GraphNodeKind> {
    static constexpr std::array<std::pair<std::string_view, network::GraphNodeKind>, 3> kNames{
        {{"host", network::GraphNodeKind::kHost},
         {"switch", network::GraphNodeKind::kSwitch},
         {"circuit_switch", network::GraphNodeKind::kCircuitSwitch}}};
};
template <>
struct EnumNames<network::LinkPairing> {
    static constexpr std::array<std::pair<std::string_view, network::LinkPairing>, 2> kNames{
        {{"all", network::LinkPairing::kAll}, {"each", network::LinkPairing::kEach}}};
};
template <>
struct EnumNames<network::GraphRoutingKind> {
    static constexpr std::array<std::pair<std::string_view, network::GraphRoutingKind>, 3> kNames{
        {{"shortest", network::GraphRoutingKind::kShortest},
         {"up_down", network::GraphRoutingKind::kUpDown},
         {"k_shortest", network::GraphRoutingKind::kKShortest}}};
};
template <>
struct EnumNames<network::GraphFormat> {
    static constexpr std::array<std::pair<std::string_view, network::GraphFormat>, 4> kNames{
        {{"node_link", network::GraphFormat::kNodeLink},
         {"graphml", network::GraphFormat::kGraphml},
         {"hpcc", network::GraphFormat::kHpcc},
         {"htsim", network::GraphFormat::kHtsim}}};
};

}  // namespace astrolabe

namespace astrolabe::network {

namespace {

struct GraphParameters {
    std::vector<NodeGroup> nodes;
    std::vector<LinkGroup> links;
    std::vector<CircuitGroup> circuits;
    std::string file;
    std::optional<GraphFormat> format;
    std::map<std::string, PlacedText> attributes;
    HostLinkParameters link;
    bool hosts_forward = false;
    GraphRoutingKind routing = GraphRoutingKind::kShortest;
    std::optional<std::int64_t> paths;
    std::optional<std::int64_t> detour;
    std::vector<RouteGroup> routes;
    std::string routes_file;
    std::optional<bool> routes_only;
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;
    /// What the lists or the file make.
    std::shared_ptr<const JoinedGraph> joined;
    std::shared_ptr<const GraphRouting> made_routing;
};

Schema<NodeGroup> node_schema() {
    Schema<NodeGroup> schema("nodes", "nodes that are alike");
    schema.required("name", &NodeGroup::name, "of the node; with a count its nodes are 'name 0', 'name 1', …")
        .optional("kind", &NodeGroup::kind, "what the nodes are")
        .optional("count", &NodeGroup::count, "number of nodes", {1, kMaxHosts})
        .optional("buffer", &NodeGroup::buffer, "of a switch: packet memory; 0: unlimited", {Bytes(0), {}})
        .optional("tier", &NodeGroup::tier, "of a switch, for routing up and down: 1 next to hosts",
                  {1, 65'535})
        .optional("forwards", &NodeGroup::forwards, "of a host: whether it is ever between two others")
        .optional("forwarding", &NodeGroup::forwarding, "of a host that forwards: what it takes to do so",
                  {Time(0), kMaxLinkLatency});
    return schema;
}

/// One text, or a list of them.
template <class Group>
void add_texts(Schema<Group>& schema, const std::string& key, std::vector<PlacedText> Group::*member,
               std::string help) {
    schema.field(
        {key, "text, or list of text", "", true, {}, std::move(help), {}},
        [member, key](Group& target, const ConfigNode& node, ReadContext& context) {
            const std::vector<ConfigNode> items = node.is_sequence() ? node.items : std::vector{node};
            for (const ConfigNode& item : items) {
                if (auto text = read_scalar<std::string>(item, "'" + key + "'", context)) {
                    (target.*member).push_back({*std::move(text), item.where});
                }
            }
        },
        [member](const Group& source) -> std::optional<ConfigNode> {
            std::vector<ConfigNode> items;
            for (const PlacedText& one : source.*member) {
                items.push_back(ConfigNode::scalar(one.text));
            }
            return items.size() == 1 ? items.front() : ConfigNode::sequence(std::move(items));
        });
}

constexpr const char* kEndsHelp = "ends of the links: a node, 'name a..b', or a whole entry";

Schema<LinkGroup> link_group_schema() {
    Schema<LinkGroup> schema("links", "links that are alike");
    add_texts(schema, "from", &LinkGroup::from, kEndsHelp);
    add_texts(schema, "to", &LinkGroup::to, kEndsHelp);
    schema
        .optional("pairing", &LinkGroup::pairing,
                  "every node of from with every node of to, or the first with the first and so on")
        .optional("rate", &LinkGroup::rate, "rate of each direction; unset: that of link",
                  {Bandwidth(1), kMaxLinkRate})
        .optional("latency", &LinkGroup::latency, "one-way propagation; unset: that of link",
                  {Time(0), kMaxLinkLatency})
        .optional("cost", &LinkGroup::cost, "in the metric of routing", {1, kMaxLinkCost})
        .optional("count", &LinkGroup::count, "parallel cables between two nodes", {1, kMaxCables})
        .optional("one_way", &LinkGroup::one_way, "only from from to to");
    return schema;
}

Schema<CircuitGroup> circuit_group_schema() {
    Schema<CircuitGroup> schema("circuits", "circuits of one circuit switch");
    add_texts(schema, "switch", &CircuitGroup::at, "the circuit switch");
    add_texts(schema, "from", &CircuitGroup::from, "nodes at the other ends of its cables");
    add_texts(schema, "to", &CircuitGroup::to, "as many nodes: the first has a circuit to the first");
    schema.optional("count", &CircuitGroup::count, "circuits between two nodes, on parallel cables",
                    {1, kMaxCables});
    return schema;
}

Schema<RouteGroup> route_group_schema() {
    Schema<RouteGroup> schema("routes", "a path of pairs of hosts");
    add_texts(schema, "from", &RouteGroup::from, "hosts: one, 'name a..b', or a whole entry");
    add_texts(schema, "to", &RouteGroup::to, "hosts, as from; every pair of two different ones has the path");
    add_texts(schema, "path", &RouteGroup::path,
              "nodes between the ends, in order; [] where a link joins them");
    schema
        .optional("weight", &RouteGroup::weight, "of the path among all those of the pair",
                  {1, kMaxRouteWeight})
        .optional("both_ways", &RouteGroup::both_ways, "the way back too, over the same nodes");
    return schema;
}

/// A list of mappings, each with its place.
template <class Group>
void add_groups(Schema<GraphParameters>& schema, const std::string& key,
                std::vector<Group> GraphParameters::*member, const Schema<Group>& item, std::string help) {
    schema.field(
        {key, "list of mappings", "[]", false, {}, std::move(help), item.parameters()},
        [member, item, key](GraphParameters& target, const ConfigNode& node, ReadContext& context) {
            if (!node.is_sequence()) {
                context.error("config.type", node.where,
                              fmt::format("'{}' takes a list, found {}", key, node.kind_name()),
                              "write one entry below it for each kind of them: - {…}");
                return;
            }
            for (const ConfigNode& one : node.items) {
                if (std::optional<Group> group = item.read(one, context)) {
                    group->where = one.where;
                    (target.*member).push_back(*std::move(group));
                }
            }
        },
        [member, item](const GraphParameters& source) -> std::optional<ConfigNode> {
            if ((source.*member).empty()) {
                return std::nullopt;
            }
            std::vector<ConfigNode> items;
            for (const Group& group : source.*member) {
                items.push_back(item.write(group));
            }
            return ConfigNode::sequence(std::move(items));
        });
}

void read_routes(GraphParameters& parameters, const Schema<RouteGroup>& item, const ConfigNode& node,
                 ReadContext& context) {
    if (!node.is_sequence()) {
        context.error("config.type", node.where,
                      fmt::format("'routes' takes a list, found {}", node.kind_name()),
                      "write one entry for each path: - {from: …, to: …, path: […]}");
        return;
    }
    for (const ConfigNode& one : node.items) {
        if (std::optional<RouteGroup> group = item.read(one, context)) {
            group->where = one.where;
            parameters.routes.push_back(*std::move(group));
        }
    }
}

void add_routes(Schema<GraphParameters>& schema) {
    const Schema<RouteGroup> item = route_group_schema();
    schema.field(
        {"routes",
         "list of mappings, or path",
         "[]",
         false,
         {},
         "paths of pairs of hosts, or a YAML or JSON file that is such a list; other pairs follow routing",
         item.parameters()},
        [item](GraphParameters& parameters, const ConfigNode& node, ReadContext& context) {
            if (!node.is_scalar()) {
                read_routes(parameters, item, node, context);
                return;
            }
            const auto given = read_scalar<std::string>(node, "'routes'", context);
            if (!given) {
                return;
            }
            parameters.routes_file =
                std::filesystem::absolute(directory_of(node) / *given).lexically_normal().string();
            const Result<ConfigNode> list = load_config(parameters.routes_file);
            if (list) {
                read_routes(parameters, item, *list, context);
                return;
            }
            for (Diagnostic defect : list.error()) {
                defect.notes.emplace_back(node.where, "the file is named here");
                context.error(std::move(defect));
            }
        },
        [item](const GraphParameters& p) -> std::optional<ConfigNode> {
            if (!p.routes_file.empty()) {
                return ConfigNode::scalar(p.routes_file);
            }
            if (p.routes.empty()) {
                return std::nullopt;
            }
            std::vector<ConfigNode> items;
            for (const RouteGroup& group : p.routes) {
                items.push_back(item.write(group));
            }
            return ConfigNode::sequence(std::move(items));
        });
    schema.optional("routes_only", &GraphParameters::routes_only,
                    "whether every pair of hosts must be given a route");
}

void add_file(Schema<GraphParameters>& schema) {
    schema.field(
        {"file",
         "path",
         "unset",
         false,
         {},
         "a graph in a file, instead of nodes and links; relative to the file that names it",
         {}},
        [](GraphParameters& parameters, const ConfigNode& node, ReadContext& context) {
            if (const auto given = read_scalar<std::string>(node, "'file'", context)) {
                // Absolute, so that a resolved experiment finds it from anywhere.
                parameters.file =
                    std::filesystem::absolute(directory_of(node) / *given).lexically_normal().string();
            }
        },
        [](const GraphParameters& p) -> std::optional<ConfigNode> {
            return p.file.empty() ? std::nullopt : std::optional(ConfigNode::scalar(p.file));
        });
    schema.field(
        {"attributes",
         "mapping",
         "unset",
         false,
         {},
         "of node_link and graphml: what the file calls ours, {rate: capacity, latency: delay}",
         {}},
        [](GraphParameters& parameters, const ConfigNode& node, ReadContext& context) {
            static const std::vector<std::string> kOurs{"kind", "name", "buffer",  "forwarding", "forwards",
                                                        "tier", "rate", "latency", "cost",       "count"};
            if (!node.is_mapping()) {
                context.error("config.type", node.where,
                              fmt::format("'attributes' takes a mapping, found {}", node.kind_name()),
                              "write {rate: capacity}");
                return;
            }
            report_unknown_keys(node, kOurs, "attributes", false, context);
            for (const ConfigEntry& entry : node.entries) {
                if (auto name = read_scalar<std::string>(entry.value, "'" + entry.key + "'", context)) {
                    parameters.attributes.emplace(entry.key, PlacedText{*std::move(name), entry.value.where});
                }
            }
        },
        [](const GraphParameters& p) -> std::optional<ConfigNode> {
            if (p.attributes.empty()) {
                return std::nullopt;
            }
            ConfigNode node = ConfigNode::mapping();
            for (const auto& [ours, theirs] : p.attributes) {
                node.set(ours, ConfigNode::scalar(theirs.text));
            }
            return node;
        });
}

ValidationErrors choose_source(const GraphParameters& p) {
    ValidationErrors errors;
    require(errors, p.file.empty() || (p.nodes.empty() && p.links.empty()), "file",
            "the graph is given twice, by a file and by lists", "give file, or nodes and links");
    require(errors, !p.file.empty() || !p.nodes.empty(), "", "the graph has no nodes",
            "give nodes and links, or a file");
    require(errors, !p.file.empty() || !p.format, "format", "there is no file whose format it could be", "");
    require(errors, !p.file.empty() || p.attributes.empty(), "attributes", "there is no file that has them",
            "");
    require(errors, p.file.empty() || p.format || graph_format_of(p.file), "file",
            fmt::format("the end of '{}' does not say what it holds", p.file),
            "give format: node_link, graphml, hpcc or htsim");
    const std::optional<GraphFormat> format = p.format ? p.format : graph_format_of(p.file);
    require(errors, p.attributes.empty() || (format != GraphFormat::kHpcc && format != GraphFormat::kHtsim),
            "attributes", "files of hpcc and htsim have no attributes", "leave it out");
    const bool has_k = p.routing == GraphRoutingKind::kKShortest;
    require(errors, has_k || !p.paths, "paths", "is for routing k_shortest", "leave it out");
    require(errors, has_k || !p.detour, "detour", "is for routing k_shortest", "leave it out");
    require(errors, !has_k || p.routes.empty(), "routes",
            "pairs that are not given take shortest paths, or go up and down, not k_shortest",
            "give routing: shortest or up_down");
    require(errors, !p.routes_only.value_or(false) || !p.routes.empty(), "routes_only", "no routes are given",
            "give routes, or leave it out");
    return errors;
}

void make_graph(GraphParameters& p, const ConfigNode& node, ReadContext& context) {
    const auto refuse = [&](const Diagnostics& defects) {
        const ConfigNode* file = node.find("file");
        for (Diagnostic defect : defects) {
            if (file != nullptr) {
                defect.notes.emplace_back(file->where, "the file is named here");
            } else if (defect.where.source == nullptr) {
                defect.where = node.where;
            }
            context.error(std::move(defect));
        }
    };
    Graph graph;
    if (p.file.empty()) {
        std::variant<Graph, Diagnostics> made = expand(p.nodes, p.links, p.link);
        if (const auto* defects = std::get_if<Diagnostics>(&made)) {
            return refuse(*defects);
        }
        graph = std::get<Graph>(std::move(made));
        for (GraphNode& one : graph.nodes) {
            one.forwards |= one.kind == GraphNodeKind::kHost && p.hosts_forward;
        }
    } else {
        Result<Graph> loaded = load_graph(p.file, p.format ? *p.format : *graph_format_of(p.file),
                                          {p.link, p.hosts_forward, p.attributes});
        if (!loaded) {
            return refuse(loaded.error());
        }
        graph = *std::move(loaded);
    }
    std::variant<JoinedGraph, Diagnostics> joined = join_circuits(graph, p.circuits);
    if (const auto* defects = std::get_if<Diagnostics>(&joined)) {
        return refuse(*defects);
    }
    auto made = std::make_shared<JoinedGraph>(std::get<JoinedGraph>(std::move(joined)));
    GraphRouting routing{.kind = p.routing, .load_balancing = p.load_balancing};
    routing.paths = p.paths.value_or(routing.paths);
    routing.detour = p.detour.value_or(routing.detour);
    if (const Diagnostics defects = graph_defects(made->graph, routing.rule()); !defects.empty()) {
        return refuse(defects);
    }
    if (!p.routes.empty()) {
        std::variant<GraphRoutes, Diagnostics> routes =
            expand_routes(made->graph, p.routes, p.routes_only.value_or(false),
                          p.load_balancing == LoadBalancing::kSpray, node.find("routes")->where);
        if (const auto* defects = std::get_if<Diagnostics>(&routes)) {
            return refuse(*defects);
        }
        routing.routes = std::get<GraphRoutes>(std::move(routes));
    }
    p.joined = std::move(made);
    p.made_routing = std::make_shared<const GraphRouting>(std::move(routing));
}

std::shared_ptr<const Fabric> build(const GraphParameters& p) {
    return build_graph(p.joined->graph, *p.made_routing, static_cast<std::uint64_t>(p.seed),
                       p.joined->switches.empty() ? nullptr : graph_family(p.joined->switches));
}

}  // namespace

void register_graph(Registry<FabricMaker>& registry) {
    Schema<GraphParameters> schema("graph", "nodes and links of one's own, listed or from a file");
    add_groups(schema, "nodes", &GraphParameters::nodes, node_schema(),
               "hosts, switches and circuit switches");
    add_groups(schema, "links", &GraphParameters::links, link_group_schema(), "cables and one-way links");
    add_groups(schema, "circuits", &GraphParameters::circuits, circuit_group_schema(),
               "which ports circuit switches join");
    add_file(schema);
    schema.optional("format", &GraphParameters::format, "of the file; unset: by the end of its name")
        .optional("hosts_forward", &GraphParameters::hosts_forward,
                  "whether hosts that do not say so may be between two others");
    detail::add_link(schema);
    schema.optional("routing", &GraphParameters::routing, "which paths messages may take")
        .optional("paths", &GraphParameters::paths, "of k_shortest: how many a pair has; unset: 4", {1, 64})
        .optional("detour", &GraphParameters::detour,
                  "of k_shortest: most by which the cost of a path is above that of the shortest; unset: 0",
                  {0, 64'000});
    add_routes(schema);
    detail::add_load_balancing(schema);
    schema.check(choose_source).complete(make_graph);
    detail::add_topology(registry, schema, build, &GraphParameters::seed);
}

}  // namespace astrolabe::network
