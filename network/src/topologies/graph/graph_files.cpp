#include "graph_files.hpp"

#include "graph_readers.hpp"

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/source_text.hpp>

namespace astrolabe::network {

std::optional<GraphFormat> graph_format_of(const std::filesystem::path& path) {
    const std::string suffix = path.extension().string();
    if (suffix == ".json") {
        return GraphFormat::kNodeLink;
    }
    if (suffix == ".graphml" || suffix == ".xml") {
        return GraphFormat::kGraphml;
    }
    if (suffix == ".topo") {
        return GraphFormat::kHtsim;
    }
    return suffix == ".txt" ? std::optional(GraphFormat::kHpcc) : std::nullopt;
}

Result<Graph> load_graph(const std::filesystem::path& path, GraphFormat format,
                         const GraphFileOptions& options) {
    try {
        if (format == GraphFormat::kNodeLink) {
            Result<ConfigNode> root = load_config(path);
            return root ? Result<Graph>(detail::read_node_link(*root, options)) : Result<Graph>(root.error());
        }
        const Result<std::shared_ptr<const SourceText>> source = read_source(path, "network.graph");
        if (!source) {
            return source.error();
        }
        switch (format) {
            case GraphFormat::kGraphml:
                return detail::read_graphml(*source, options);
            case GraphFormat::kHpcc:
                return detail::read_hpcc(*source, options);
            case GraphFormat::kHtsim:
                return detail::read_htsim(*source, options);
            case GraphFormat::kNodeLink:
                break;
        }
        ASTROLABE_ASSERT(false, "every format has a reader");
    } catch (const detail::GraphDefect& defect) {
        return Diagnostics{defect.diagnostic};
    }
}

}  // namespace astrolabe::network
