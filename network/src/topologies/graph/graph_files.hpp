/// Graphs from files of other tools.
///
///     format      file
///     node_link   JSON as networkx writes it: nodes with id; links, or edges, with source and target
///     graphml     GraphML; attributes are declared by key, and may have defaults
///     hpcc        text of ns-3's RDMA simulators (HPCC and those made of it): nodes, switches, links
///     htsim       .topo of htsim: tiers of a folded Clos network
///
/// Attributes that node_link and graphml may give: of a node kind (host, switch, circuit_switch), name,
/// buffer, forwarding, forwards, tier; of a link rate, latency, cost, count. A quantity is text with a unit,
/// or a number in bit/s, bytes or seconds. A node without kind is a host where it has one link. Edges of a
/// directed graph are one-way; two that are opposite and alike are one cable.
///
/// Hosts are numbered in the order of the file; hpcc's by their number. Files are read whole; the first
/// defect ends the reading of text formats, with its line and column.
#pragma once

#include "graph.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <astrolabe/core/result.hpp>

namespace astrolabe::network {

enum class GraphFormat : std::uint8_t { kNodeLink, kGraphml, kHpcc, kHtsim };

struct GraphFileOptions {
    HostLinkParameters link{};   ///< of links for which the file says nothing
    bool hosts_forward = false;  ///< hosts for which the file says nothing
    /// Our attribute to that of the file, for files of other conventions: {"rate", "capacity"}. It is refused
    /// where no node or edge has one.
    std::map<std::string, PlacedText> attributes{};
};

/// By the end of the name: .json, .graphml or .xml, .topo, .txt; nothing for others.
[[nodiscard]] std::optional<GraphFormat> graph_format_of(const std::filesystem::path& path);

[[nodiscard]] Result<Graph> load_graph(const std::filesystem::path& path, GraphFormat format,
                                       const GraphFileOptions& options);

}  // namespace astrolabe::network
