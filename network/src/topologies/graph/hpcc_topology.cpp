#include "graph_readers.hpp"
#include "word_lines.hpp"

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::network::detail {

// node_count switch_count link_count
// switch switch …                       (an empty line where there are none)
// source target rate delay error_rate   (as many as link_count says; what follows is not read)
Graph read_hpcc(const std::shared_ptr<const SourceText>& source, const GraphFileOptions& options) {
    WordLines lines(source);
    lines.require_next("node_count switch_count link_count");
    const std::int64_t nodes = lines.number(0, "the number of nodes", 1, kMaxHosts + kMaxSwitches);
    const std::int64_t switches = lines.number(1, "the number of switches", 0, nodes);
    const std::int64_t links = lines.number(2, "the number of links", 0, kMaxCables);

    Graph graph;
    for (std::int64_t node = 0; node < nodes; ++node) {
        graph.nodes.push_back({.name = fmt::format("host {}", node),
                               .forwards = options.hosts_forward,
                               .where = lines.place(0)});
    }
    std::size_t word = 0;
    for (std::int64_t i = 0; i < switches; ++i, ++word) {
        if (word == lines.words().size() || i == 0) {
            lines.require_next("the numbers of switches");
            word = 0;
        }
        const std::int64_t id = lines.number(word, "a switch", 0, nodes - 1);
        GraphNode& node = graph.nodes[static_cast<std::size_t>(id)];
        if (node.kind == GraphNodeKind::kSwitch) {
            lines.fail(word, fmt::format("switch {} is listed twice", id), "list every switch once");
        }
        node.kind = GraphNodeKind::kSwitch;
        node.forwards = false;
        node.name = fmt::format("switch {}", id);
        node.where = lines.place(word);
    }
    for (std::int64_t i = 0; i < links; ++i) {
        lines.require_next(fmt::format("{} links, after {}", links, i));
        const auto end = [&](std::size_t at) {
            return static_cast<std::uint32_t>(lines.number(at, "an end of a link", 0, nodes - 1));
        };
        GraphLink link{.from = end(0), .to = end(1), .where = lines.place(0)};
        link.parameters.rate = lines.quantity<Bandwidth>(2, "the rate", parse_bandwidth);
        link.parameters.latency = lines.quantity<Time>(3, "the delay", parse_time);
        const Parsed<double> error_rate = parse_number(lines.words().size() > 4 ? lines.words()[4] : "0");
        const auto* rate = std::get_if<double>(&error_rate);
        if (rate == nullptr || *rate != 0.0) {
            lines.fail(
                4, fmt::format("the link loses packets with a rate of '{}', expected 0", lines.words()[4]),
                "links of a graph are free of errors");
        }
        graph.links.push_back(link);
    }
    return graph;
}

}  // namespace astrolabe::network::detail
