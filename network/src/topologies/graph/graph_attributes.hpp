/// Attributes of nodes and edges as text, made a Graph: what the readers of node_link and graphml share.
#pragma once

#include "graph_files.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace astrolabe::network::detail {

/// Thrown and caught within a reader: the first defect ends the reading.
struct GraphDefect {
    Diagnostic diagnostic;
};
[[noreturn]] void graph_defect(const SourceRange& where, std::string message, std::string hint);

/// A value of an attribute, with its place.
struct Attribute {
    std::string text;
    SourceRange where;
};
/// By names that are kept by who reads the file: many nodes have the same ones.
using Attributes = std::map<std::string_view, Attribute>;

/// What nodes and edges have that say nothing of their own, kept once for all of them.
struct AttributeDefaults {
    Attributes nodes;
    Attributes edges;
};

struct AttributedNode {
    std::string id;
    Attributes attributes;
    SourceRange where;
};
struct AttributedEdge {
    std::string source;
    std::string target;
    Attributes attributes;
    bool directed = false;
    SourceRange where;
};

/// Throws GraphDefect.
[[nodiscard]] Graph graph_of(const std::vector<AttributedNode>& nodes,
                             const std::vector<AttributedEdge>& edges, const GraphFileOptions& options,
                             const AttributeDefaults& defaults = {});

}  // namespace astrolabe::network::detail
