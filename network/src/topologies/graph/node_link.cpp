#include "graph_readers.hpp"

#include <fmt/format.h>

#include <astrolabe/core/config/config.hpp>

namespace astrolabe::network::detail {

namespace {

const ConfigNode& list_of(const ConfigNode& root, const char* key, const char* other) {
    const ConfigNode* found = root.find(key);
    found = found == nullptr && other != nullptr ? root.find(other) : found;
    if (found == nullptr || !found->is_sequence()) {
        graph_defect(found == nullptr ? root.where : found->where,
                     found == nullptr ? fmt::format("the graph has no '{}'", key)
                                      : fmt::format("'{}' is {}, expected a list", key, found->kind_name()),
                     "networkx.node_link_data writes nodes and links, newer versions edges");
    }
    return *found;
}

std::string text_of(const ConfigNode& owner, const char* key) {
    const ConfigNode* found = owner.is_mapping() ? owner.find(key) : nullptr;
    if (found == nullptr || !found->is_scalar()) {
        graph_defect(owner.where, fmt::format("an entry without '{}'", key),
                     "nodes have an id, links a source and a target, numbers or texts");
    }
    return found->text;
}

Attributes attributes_of(const ConfigNode& owner) {
    Attributes attributes;
    for (const ConfigEntry& entry : owner.entries) {
        if (entry.value.is_scalar()) {
            attributes.emplace(entry.key, Attribute{entry.value.text, entry.value.where});
        }
    }
    return attributes;
}

}  // namespace

Graph read_node_link(const ConfigNode& root, const GraphFileOptions& options) {
    if (!root.is_mapping()) {
        graph_defect(root.where, fmt::format("the file holds {}, expected a mapping", root.kind_name()),
                     "{\"directed\": false, \"nodes\": [{\"id\": 0}, …], \"links\": [{\"source\": 0, …}]}");
    }
    const ConfigNode* directed = root.find("directed");
    const bool is_directed = directed != nullptr && directed->text == "true";
    std::vector<AttributedNode> nodes;
    const ConfigNode& given_nodes = list_of(root, "nodes", nullptr);
    for (const ConfigNode& node : given_nodes.items) {
        nodes.push_back({text_of(node, "id"), attributes_of(node), node.where});
    }
    std::vector<AttributedEdge> edges;
    const ConfigNode& given_edges = list_of(root, "links", "edges");
    for (const ConfigNode& edge : given_edges.items) {
        edges.push_back(
            {text_of(edge, "source"), text_of(edge, "target"), attributes_of(edge), is_directed, edge.where});
    }
    return graph_of(nodes, edges, options);
}

}  // namespace astrolabe::network::detail
