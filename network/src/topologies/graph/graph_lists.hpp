/// Graphs as lists in an experiment: groups of nodes, and links between groups.
///
///     nodes:
///       - {name: gpu, count: 8}                    # hosts "gpu 0" … "gpu 7"
///       - {name: leaf, kind: switch, count: 2, buffer: 16MB}
///       - {name: spine, kind: switch}              # "spine": no count, no number
///     links:
///       - {from: gpu 0..3, to: leaf 0, rate: 400Gbps, latency: 500ns}
///       - {from: gpu 4..7, to: leaf 1, rate: 400Gbps, latency: 500ns}
///       - {from: leaf, to: spine, rate: 400Gbps, latency: 500ns, count: 2}
///
/// An end of a link is a node ("gpu 3"), nodes of a group ("gpu 0..3"), a whole group ("gpu"), or a list of
/// these. Every node of `from` is joined to every node of `to` by `count` cables; with `each` the first to
/// the first, the second to the second, and so on. Cables are added in the order of the text, `from`
/// outermost.
#pragma once

#include "node_names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace astrolabe::network {

struct NodeGroup {
    std::string name;
    GraphNodeKind kind = GraphNodeKind::kHost;
    std::optional<std::int64_t> count = std::nullopt;  ///< none: one node of that name
    Bytes buffer{};
    Time forwarding{};
    bool forwards = false;
    std::optional<std::int64_t> tier = std::nullopt;
    SourceRange where{};
};

enum class LinkPairing : std::uint8_t { kAll, kEach };

struct LinkGroup {
    std::vector<PlacedText> from;
    std::vector<PlacedText> to;
    LinkPairing pairing = LinkPairing::kAll;
    std::optional<Bandwidth> rate = std::nullopt;  ///< none: that of `link`
    std::optional<Time> latency = std::nullopt;
    std::int64_t cost = 1;
    std::int64_t count = 1;
    bool one_way = false;
    SourceRange where{};
};

/// The graph, or what is wrong with the lists. O(nodes + links · log nodes).
[[nodiscard]] std::variant<Graph, Diagnostics> expand(const std::vector<NodeGroup>& nodes,
                                                      const std::vector<LinkGroup>& links,
                                                      const HostLinkParameters& link);

}  // namespace astrolabe::network
