#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/xml_text.hpp>
#include <astrolabe/network/analysis/graph_export.hpp>

namespace astrolabe::network {

namespace {

/// Name and value of an attribute; in JSON a value that is not quoted is a number or true.
struct ExportedAttribute {
    std::string_view name;
    std::string value;
    bool is_text = true;
};
using ExportedAttributes = std::vector<ExportedAttribute>;

ExportedAttributes attributes_of(const Node& node) {
    ExportedAttributes all{{"name", node.name}, {"kind", node.kind == NodeKind::kHost ? "host" : "switch"}};
    if (node.buffer > Bytes(0)) {
        all.push_back({"buffer", to_string(node.buffer)});
    }
    if (node.forwarding > Time(0)) {
        all.push_back({"forwarding", to_string(node.forwarding)});
    }
    if (node.kind == NodeKind::kHost && node.forwards) {
        all.push_back({"forwards", "true", false});
    }
    if (node.tier > 0) {
        all.push_back({"tier", fmt::to_string(node.tier), false});
    }
    return all;
}

ExportedAttributes attributes_of(const Fabric& fabric, LinkId id) {
    const Link& link = fabric.link(id);
    ExportedAttributes all{{"rate", to_string(link.rate)}, {"latency", to_string(link.latency)}};
    if (link.cost != 1) {
        all.push_back({"cost", fmt::to_string(link.cost), false});
    }
    if (fabric.circuits().is_circuit(id)) {
        all.push_back({"circuit", "true", false});
    }
    return all;
}

/// One link of every cable and every link without a reverse, in an order that keeps that of the links out of
/// each node.
std::vector<LinkId> links_in_order(const Fabric& fabric) {
    const auto representative = [&fabric](LinkId link) {
        const std::optional<LinkId> reverse = fabric.link(link).reverse;
        return reverse && *reverse < link ? *reverse : link;
    };
    // An edge leads from the cable of each link to that of the next link out of the same node.
    const auto next_of_node = [&fabric](LinkId link) -> std::optional<LinkId> {
        const LinkId next(link.index() + 1);
        return next.index() < fabric.link_count() && fabric.source(next) == fabric.source(link)
                   ? std::optional(next)
                   : std::nullopt;
    };
    std::vector<std::uint32_t> before(fabric.link_count(), 0);
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        if (const auto next = next_of_node(link)) {
            ++before[representative(*next).index()];
        }
    }
    std::priority_queue<LinkId, std::vector<LinkId>, std::greater<>> ready;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        if (representative(link) == link && before[link.index()] == 0) {
            ready.push(link);
        }
    }
    std::vector<LinkId> order;
    while (!ready.empty()) {
        const LinkId cable = ready.top();
        ready.pop();
        order.push_back(cable);
        for (const std::optional<LinkId> link : {std::optional(cable), fabric.link(cable).reverse}) {
            const std::optional<LinkId> next = link ? next_of_node(*link) : std::nullopt;
            if (next && --before[representative(*next).index()] == 0) {
                ready.push(representative(*next));
            }
        }
    }
    ASTROLABE_ASSERT(2 * order.size() == fabric.link_count() + fabric.one_way_link_count(),
                     "the order in which links were added is one that keeps that of every node");
    return order;
}

/// Whether some link is not one of two alike directions of a cable.
bool needs_directions(const Fabric& fabric) {
    for (LinkId id; id.index() < fabric.link_count(); ++id) {
        const Link& link = fabric.link(id);
        if (!link.reverse) {
            return true;
        }
        const Link& reverse = fabric.link(*link.reverse);
        if (link.rate != reverse.rate || link.latency != reverse.latency || link.cost != reverse.cost) {
            return true;
        }
    }
    return false;
}

/// What is written of a fabric, in a form that all formats share.
class GraphWriter {
public:
    GraphWriter(const Fabric& fabric, const std::function<void(std::string_view)>& append)
        : fabric_(fabric),
          append_(append),
          is_directed_(needs_directions(fabric)) {}
    virtual ~GraphWriter() = default;
    GraphWriter(const GraphWriter&) = delete;
    GraphWriter& operator=(const GraphWriter&) = delete;

    void write() {
        begin();
        for (NodeId node; node.index() < fabric_.node_count(); ++node) {
            this->node(node.index(), attributes_of(fabric_.node(node)));
        }
        between();
        for (const LinkId link : links_in_order(fabric_)) {
            edge(fabric_.source(link).index(), fabric_.target(link).index(), attributes_of(fabric_, link));
            const std::optional<LinkId> reverse = fabric_.link(link).reverse;
            if (is_directed_ && reverse) {
                edge(fabric_.target(link).index(), fabric_.source(link).index(),
                     attributes_of(fabric_, *reverse));
            }
        }
        end();
    }

protected:
    virtual void begin() = 0;
    virtual void node(std::size_t number, const ExportedAttributes& attributes) = 0;
    virtual void between() {}
    virtual void edge(std::size_t from, std::size_t to, const ExportedAttributes& attributes) = 0;
    virtual void end() = 0;

    void append(std::string_view text) { append_(text); }
    [[nodiscard]] bool is_directed() const { return is_directed_; }
    [[nodiscard]] const Fabric& fabric() const { return fabric_; }

private:
    const Fabric& fabric_;
    const std::function<void(std::string_view)>& append_;
    bool is_directed_;
};

class NodeLinkWriter final : public GraphWriter {
public:
    using GraphWriter::GraphWriter;

private:
    void begin() override {
        append(fmt::format(
            "{{\"directed\": {}, \"multigraph\": true, \"graph\": {{\"network\": {}}},\n\"nodes\": [",
            is_directed(), quoted(fabric().kind())));
    }
    void node(std::size_t number, const ExportedAttributes& attributes) override {
        append(fmt::format("{}\n{{\"id\": {}{}}}", number == 0 ? "" : ",", number, members(attributes)));
    }
    void between() override { append("],\n\"links\": ["); }
    void edge(std::size_t from, std::size_t to, const ExportedAttributes& attributes) override {
        append(fmt::format("{}\n{{\"source\": {}, \"target\": {}, \"key\": {}{}}}", edges_ == 0 ? "" : ",",
                           from, to, edges_, members(attributes)));
        ++edges_;
    }
    void end() override { append("]}\n"); }

    static std::string quoted(std::string_view text) { return nlohmann::json(text).dump(); }
    static std::string members(const ExportedAttributes& attributes) {
        std::string text;
        for (const auto& [name, value, is_text] : attributes) {
            text += fmt::format(", \"{}\": {}", name, is_text ? quoted(value) : value);
        }
        return text;
    }

    std::size_t edges_ = 0;
};

class GraphmlWriter final : public GraphWriter {
public:
    using GraphWriter::GraphWriter;

private:
    void begin() override {
        append(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
        for (const std::string_view name : {"name", "kind", "buffer", "forwarding", "forwards", "tier"}) {
            append(
                fmt::format("<key id=\"{0}\" for=\"node\" attr.name=\"{0}\" attr.type=\"string\"/>\n", name));
        }
        for (const std::string_view name : {"rate", "latency", "cost", "circuit"}) {
            append(
                fmt::format("<key id=\"{0}\" for=\"edge\" attr.name=\"{0}\" attr.type=\"string\"/>\n", name));
        }
        append(fmt::format("<graph edgedefault=\"{}\">\n", is_directed() ? "directed" : "undirected"));
    }
    void node(std::size_t number, const ExportedAttributes& attributes) override {
        append(fmt::format("<node id=\"{}\">{}</node>\n", number, data(attributes)));
    }
    void edge(std::size_t from, std::size_t to, const ExportedAttributes& attributes) override {
        append(fmt::format("<edge source=\"{}\" target=\"{}\">{}</edge>\n", from, to, data(attributes)));
    }
    void end() override { append("</graph>\n</graphml>\n"); }

    static std::string data(const ExportedAttributes& attributes) {
        std::string text;
        for (const ExportedAttribute& attribute : attributes) {
            text += fmt::format("<data key=\"{}\">{}</data>", xml_text(attribute.name),
                                xml_text(attribute.value));
        }
        return text;
    }
};

class DotWriter final : public GraphWriter {
public:
    using GraphWriter::GraphWriter;

private:
    void begin() override { append(fmt::format("{} {{\n", is_directed() ? "digraph" : "graph")); }
    void node(std::size_t number, const ExportedAttributes& attributes) override {
        const bool is_host = fabric().node(NodeId(number)).kind == NodeKind::kHost;
        append(fmt::format("  {} [label={}, shape={}{}];\n", number, quoted(attributes.front().value),
                           is_host ? "box" : "ellipse", members(attributes)));
    }
    void edge(std::size_t from, std::size_t to, const ExportedAttributes& attributes) override {
        const std::string list = members(attributes);
        append(fmt::format("  {} {} {} [{}];\n", from, is_directed() ? "->" : "--", to, list.substr(2)));
    }
    void end() override { append("}\n"); }

    static std::string quoted(std::string_view text) {
        std::string quoted = "\"";
        for (const char letter : text) {
            quoted += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string(1, letter);
        }
        return quoted + '"';
    }
    static std::string members(const ExportedAttributes& attributes) {
        std::string text;
        for (const ExportedAttribute& attribute : attributes) {
            text += fmt::format(", {}={}", attribute.name, quoted(attribute.value));
        }
        return text;
    }
};

}  // namespace

void export_graph(const Fabric& fabric, GraphExport format,
                  const std::function<void(std::string_view)>& append) {
    switch (format) {
        case GraphExport::kGraphml:
            return GraphmlWriter(fabric, append).write();
        case GraphExport::kDot:
            return DotWriter(fabric, append).write();
        case GraphExport::kNodeLink:
            return NodeLinkWriter(fabric, append).write();
    }
}

}  // namespace astrolabe::network
