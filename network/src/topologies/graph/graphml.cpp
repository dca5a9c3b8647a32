#include "graph_readers.hpp"

#include <cstring>

#include <fmt/format.h>
#include <pugixml.hpp>

#include <astrolabe/core/source_text.hpp>

namespace astrolabe::network::detail {

namespace {

class GraphmlReader {
public:
    GraphmlReader(const std::shared_ptr<const SourceText>& source, const GraphFileOptions& options)
        : source_(source),
          places_(source),
          options_(options) {}

    Graph read() {
        const pugi::xml_parse_result parsed =
            document_.load_buffer(source_->text.data(), source_->text.size(), pugi::parse_default);
        if (!parsed) {
            graph_defect(place(parsed.offset), fmt::format("not XML: {}", parsed.description()),
                         "GraphML is XML, as networkx.write_graphml writes it");
        }
        const pugi::xml_node root = document_.child("graphml");
        const pugi::xml_node graph = root.child("graph");
        if (!graph) {
            graph_defect(place(0), "no graph in a graphml element",
                         "GraphML is <graphml>…<graph>…</graph></graphml>");
        }
        for (const pugi::xml_node key : root.children("key")) {
            add_key(key);
        }
        const bool directed = std::strcmp(graph.attribute("edgedefault").value(), "directed") == 0;
        for (const pugi::xml_node node : graph.children("node")) {
            nodes_.push_back({required(node, "id"), attributes(node), place(node)});
        }
        for (const pugi::xml_node edge : graph.children("edge")) {
            const char* own = edge.attribute("directed").value();
            edges_.push_back({required(edge, "source"), required(edge, "target"), attributes(edge),
                              *own == '\0' ? directed : std::strcmp(own, "true") == 0, place(edge)});
        }
        return graph_of(nodes_, edges_, options_, {defaults("node"), defaults("edge")});
    }

private:
    struct Key {
        std::string name;
        std::string domain;  ///< node, edge, graph, all
        std::optional<Attribute> fallback;
    };

    void add_key(pugi::xml_node key) {
        Key declared{.name = key.attribute("attr.name").value(),
                     .domain = key.attribute("for").value(),
                     .fallback = std::nullopt};
        const std::string id = required(key, "id");
        declared.name = declared.name.empty() ? id : declared.name;
        declared.domain = declared.domain.empty() ? "all" : declared.domain;
        if (const pugi::xml_node fallback = key.child("default")) {
            declared.fallback = Attribute{fallback.text().get(), place(fallback)};
        }
        keys_.emplace(id, std::move(declared));
    }

    Attributes attributes(pugi::xml_node owner) const {
        Attributes found;
        for (const pugi::xml_node data : owner.children("data")) {
            const auto key = keys_.find(data.attribute("key").value());
            if (key == keys_.end()) {
                graph_defect(
                    place(data),
                    fmt::format("data of key '{}', which is not declared", data.attribute("key").value()),
                    "<key id=\"d0\" for=\"edge\" attr.name=\"rate\"/> declares it before the graph");
            }
            found.insert_or_assign(key->second.name, Attribute{data.text().get(), place(data)});
        }
        return found;
    }

    [[nodiscard]] Attributes defaults(std::string_view domain) const {
        Attributes found;
        for (const auto& [id, key] : keys_) {
            if (key.fallback && (key.domain == domain || key.domain == "all")) {
                found.try_emplace(key.name, *key.fallback);
            }
        }
        return found;
    }

    [[nodiscard]] std::string required(pugi::xml_node node, const char* attribute) const {
        const pugi::xml_attribute found = node.attribute(attribute);
        if (!found) {
            graph_defect(place(node), fmt::format("<{}> without {}", node.name(), attribute),
                         "nodes have an id, edges a source and a target");
        }
        return found.value();
    }

    [[nodiscard]] SourceRange place(pugi::xml_node node) const { return place(node.offset_debug() - 1); }
    [[nodiscard]] SourceRange place(std::ptrdiff_t offset) const { return places_.at(offset); }

    std::shared_ptr<const SourceText> source_;
    TextPlaces places_;
    const GraphFileOptions& options_;
    pugi::xml_document document_;
    std::map<std::string, Key, std::less<>> keys_;
    std::vector<AttributedNode> nodes_;
    std::vector<AttributedEdge> edges_;
};

}  // namespace

Graph read_graphml(const std::shared_ptr<const SourceText>& source, const GraphFileOptions& options) {
    return GraphmlReader(source, options).read();
}

}  // namespace astrolabe::network::detail
