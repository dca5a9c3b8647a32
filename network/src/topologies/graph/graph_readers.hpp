/// The readers of graph_files.hpp, one for each format. All throw GraphDefect.
#pragma once

#include "graph_attributes.hpp"

#include <memory>

#include <astrolabe/core/config/config.hpp>

namespace astrolabe::network::detail {

/// JSON is YAML, so that the reader of experiment files gives the tree with its places.
[[nodiscard]] Graph read_node_link(const ConfigNode& root, const GraphFileOptions& options);
[[nodiscard]] Graph read_graphml(const std::shared_ptr<const SourceText>& source,
                                 const GraphFileOptions& options);
[[nodiscard]] Graph read_hpcc(const std::shared_ptr<const SourceText>& source,
                              const GraphFileOptions& options);
[[nodiscard]] Graph read_htsim(const std::shared_ptr<const SourceText>& source,
                               const GraphFileOptions& options);

}  // namespace astrolabe::network::detail
