#include "graph_files.hpp"

#include "graph_readers.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

constexpr std::uintmax_t kMaxFileSize = std::uintmax_t{64} << 20;

Result<std::shared_ptr<const SourceText>> read_text(const std::filesystem::path& path) {
    const auto named = [&path](std::string text) {
        return std::make_shared<const SourceText>(SourceText{path.string(), std::move(text)});
    };
    const auto refuse = [&](std::string message, std::string hint) {
        return Diagnostics{{"network.graph", {named({}), 0, 0, 1}, std::move(message), std::move(hint), {}}};
    };
    std::error_code failure;
    const std::uintmax_t size = std::filesystem::file_size(path, failure);
    if (failure) {
        return refuse(fmt::format("cannot be read: {}", failure.message()),
                      "paths are relative to the file that names them");
    }
    if (size > kMaxFileSize) {
        return refuse(fmt::format("{} bytes, expected at most {}", size, kMaxFileSize),
                      "is this the right file?");
    }
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file && !file.eof()) {
        return refuse("cannot be read", "paths are relative to the file that names them");
    }
    return named(std::move(text));
}

}  // namespace

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
        const Result<std::shared_ptr<const SourceText>> source = read_text(path);
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
