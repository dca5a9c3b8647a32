#include "graph_attributes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::network::detail {

void graph_defect(const SourceRange& where, std::string message, std::string hint) {
    throw GraphDefect{{"network.graph", where, std::move(message), std::move(hint), {}}};
}

namespace {

/// The value itself, or a number of the unit that graphs of other tools count in.
template <class T>
T quantity(const Attribute& given, Parsed<T> (*parse)(std::string_view), std::int64_t base_units) {
    Parsed<T> parsed = parse(given.text);
    if (const T* value = std::get_if<T>(&parsed)) {
        return *value;
    }
    const Parsed<double> number = parse_number(given.text);
    if (const double* value = std::get_if<double>(&number)) {
        const double units = *value * static_cast<double>(base_units);
        if (std::abs(units) < 9e18) {
            return T(static_cast<std::int64_t>(std::llround(units)));
        }
    }
    const ParseFailure& failure = std::get<ParseFailure>(parsed);
    graph_defect(given.where, failure.message, failure.hint);
}

std::int64_t whole(const Attribute& given) {
    const Parsed<std::int64_t> parsed = parse_integer(given.text);
    if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
        graph_defect(given.where, failure->message, failure->hint);
    }
    return std::get<std::int64_t>(parsed);
}

using NamedKind = std::pair<std::string_view, GraphNodeKind>;
constexpr std::array<NamedKind, 3> kNodeKinds{{{"host", GraphNodeKind::kHost},
                                               {"switch", GraphNodeKind::kSwitch},
                                               {"circuit_switch", GraphNodeKind::kCircuitSwitch}}};

constexpr std::array<std::string_view, 4> kEdgeAttributes{"rate", "latency", "cost", "count"};

class AttributeReader {
public:
    AttributeReader(const GraphFileOptions& options, const AttributeDefaults& defaults)
        : options_(options),
          defaults_(defaults) {}

    Graph read(const std::vector<AttributedNode>& nodes, const std::vector<AttributedEdge>& edges) {
        check_names(nodes, edges);
        std::vector<std::size_t> degrees(nodes.size());
        for (const AttributedNode& node : nodes) {
            if (!by_id_.emplace(node.id, by_id_.size()).second) {
                graph_defect(node.where, fmt::format("two nodes have the id '{}'", node.id),
                             "every node has an id of its own");
            }
        }
        for (const AttributedEdge& edge : edges) {
            ++degrees[index_of(edge.source, edge.where)];
            ++degrees[index_of(edge.target, edge.where)];
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            graph_.nodes.push_back(node(nodes[i], degrees[i]));
        }
        for (const AttributedEdge& edge : edges) {
            add(edge);
        }
        return std::move(graph_);
    }

private:
    /// Attributes that the experiment names are in the file.
    void check_names(const std::vector<AttributedNode>& nodes,
                     const std::vector<AttributedEdge>& edges) const {
        if (options_.attributes.empty()) {
            return;
        }
        const auto names_in = [](const auto& owners, const Attributes& defaults) {
            std::set<std::string_view> names;
            for (const auto& owner : owners) {
                for (const auto& [name, attribute] : owner.attributes) {
                    names.insert(name);
                }
            }
            for (const auto& [name, attribute] : defaults) {
                names.insert(name);
            }
            return std::vector<std::string>(names.begin(), names.end());
        };
        const std::vector<std::string> of_nodes = names_in(nodes, defaults_.nodes);
        const std::vector<std::string> of_edges = names_in(edges, defaults_.edges);
        for (const auto& [ours, theirs] : options_.attributes) {
            const bool is_of_edges = std::ranges::find(kEdgeAttributes, ours) != kEdgeAttributes.end();
            const std::vector<std::string>& names = is_of_edges ? of_edges : of_nodes;
            if (std::ranges::find(names, theirs.text) == names.end()) {
                graph_defect(theirs.where,
                             fmt::format("no {} of the file has an attribute '{}'",
                                         is_of_edges ? "edge" : "node", theirs.text),
                             names.empty() ? "there are no attributes" : suggest(theirs.text, names));
            }
        }
    }

    [[nodiscard]] const Attribute* find(const Attributes& attributes, std::string_view ours) const {
        const auto renamed = options_.attributes.find(std::string(ours));
        const auto found = attributes.find(
            renamed == options_.attributes.end() ? ours : std::string_view(renamed->second.text));
        return found == attributes.end() ? nullptr : &found->second;
    }
    [[nodiscard]] const Attribute* find(const AttributedNode& owner, std::string_view ours) const {
        const Attribute* own = find(owner.attributes, ours);
        return own != nullptr ? own : find(defaults_.nodes, ours);
    }
    [[nodiscard]] const Attribute* find(const AttributedEdge& owner, std::string_view ours) const {
        const Attribute* own = find(owner.attributes, ours);
        return own != nullptr ? own : find(defaults_.edges, ours);
    }

    [[nodiscard]] std::uint32_t index_of(const std::string& id, const SourceRange& where) const {
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) {
            graph_defect(where, fmt::format("an edge ends at '{}', which is no node", id),
                         "list every node before the edges name it");
        }
        return static_cast<std::uint32_t>(found->second);
    }

    [[nodiscard]] GraphNode node(const AttributedNode& given, std::size_t degree) {
        GraphNode node{.name = given.id, .where = given.where};
        if (const Attribute* name = find(given, "name")) {
            if (name == find(defaults_.nodes, "name") && std::exchange(is_default_name_taken_, true)) {
                graph_defect(name->where, "two nodes have the default as their name",
                             "links name their ends, so every node has a name of its own");
            }
            node.name = name->text;
        }
        node.kind = degree == 1 ? GraphNodeKind::kHost : GraphNodeKind::kSwitch;
        if (const Attribute* kind = find(given, "kind")) {
            const auto known = std::ranges::find(kNodeKinds, kind->text, &NamedKind::first);
            if (known == kNodeKinds.end()) {
                graph_defect(
                    kind->where,
                    fmt::format("a node of kind '{}', expected host, switch or circuit_switch", kind->text),
                    "other kinds of nodes are not known");
            }
            node.kind = known->second;
        }
        node.forwards = node.kind == GraphNodeKind::kHost && options_.hosts_forward;
        if (const Attribute* forwards = find(given, "forwards")) {
            // networkx writes true, GraphML of Python programs True.
            std::string text = forwards->text;
            std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
            if (text != "true" && text != "false") {
                graph_defect(forwards->where, fmt::format("forwards is '{}', expected true or false", text),
                             "");
            }
            node.forwards = text == "true";
        }
        if (const Attribute* buffer = find(given, "buffer")) {
            node.buffer = quantity<Bytes>(*buffer, parse_bytes, 1);
        }
        if (const Attribute* forwarding = find(given, "forwarding")) {
            node.forwarding = quantity<Time>(*forwarding, parse_time, kPicosecondsPerSecond);
        }
        if (const Attribute* tier = find(given, "tier")) {
            node.tier = whole(*tier);
        }
        return node;
    }

    void add(const AttributedEdge& edge) {
        GraphLink link{.from = index_of(edge.source, edge.where),
                       .to = index_of(edge.target, edge.where),
                       .parameters = {options_.link.rate, options_.link.latency, Bytes(0)},
                       .one_way = edge.directed,
                       .where = edge.where};
        if (const Attribute* rate = find(edge, "rate")) {
            link.parameters.rate = quantity<Bandwidth>(*rate, parse_bandwidth, 1);
        }
        if (const Attribute* latency = find(edge, "latency")) {
            link.parameters.latency = quantity<Time>(*latency, parse_time, kPicosecondsPerSecond);
        }
        if (const Attribute* cost = find(edge, "cost")) {
            const std::int64_t value = whole(*cost);
            if (value < 1 || value > kMaxLinkCost) {
                graph_defect(cost->where, fmt::format("cost is {}, expected 1 to {}", value, kMaxLinkCost),
                             "costs of links are whole numbers, which routing adds up");
            }
            link.parameters.cost = static_cast<std::uint16_t>(value);
        }
        std::int64_t count = 1;
        if (const Attribute* given = find(edge, "count")) {
            count = whole(*given);
            if (count < 1 || count > kMaxCables) {
                graph_defect(given->where, fmt::format("count is {}, expected 1 to {}", count, kMaxCables),
                             "count is the number of parallel cables");
            }
        }
        if (count > kMaxCables - std::ssize(graph_.links)) {
            graph_defect(edge.where, fmt::format("the graph has more than {} cables", kMaxCables),
                         "use fewer, faster cables");
        }
        for (std::int64_t i = 0; i < count; ++i) {
            if (!is_way_back(link)) {
                graph_.links.push_back(link);
            }
        }
    }

    /// Whether the link is the other direction of a one-way link; that one is a cable then.
    [[nodiscard]] bool is_way_back(const GraphLink& link) {
        if (!link.one_way) {
            return false;
        }
        const LinkParameters& p = link.parameters;
        const auto key = [&p](std::uint32_t from, std::uint32_t to) {
            return std::tuple(from, to, p.rate.count(), p.latency.count(), p.cost);
        };
        std::vector<std::size_t>& opposite = single_[key(link.to, link.from)];
        if (opposite.empty()) {
            single_[key(link.from, link.to)].push_back(graph_.links.size());
            return false;
        }
        graph_.links[opposite.back()].one_way = false;
        opposite.pop_back();
        return true;
    }

    const GraphFileOptions& options_;
    const AttributeDefaults& defaults_;
    bool is_default_name_taken_ = false;
    std::map<std::string, std::size_t, std::less<>> by_id_;
    /// One-way links without a way back, by ends and parameters.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t, std::uint16_t>,
             std::vector<std::size_t>>
        single_;
    Graph graph_;
};

}  // namespace

Graph graph_of(const std::vector<AttributedNode>& nodes, const std::vector<AttributedEdge>& edges,
               const GraphFileOptions& options, const AttributeDefaults& defaults) {
    return AttributeReader(options, defaults).read(nodes, edges);
}

}  // namespace astrolabe::network::detail
