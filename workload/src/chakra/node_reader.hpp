/// Files of Chakra traces, node by node.
///
/// Binary form (.et, .et.gz). Records of a varint length and that many bytes of a protobuf message: first the
/// metadata, then nodes until the end of the file. Fields and attributes that are not known are skipped;
/// packed and unpacked lists are read, and integers of every type. A record is at most 16 MiB, and memory is
/// taken as its bytes come, so what a damaged length asks for is never allocated.
///
/// JSON form (.json, .json.gz). {"workload_graph": [{"Id", "Name", "NodeType", "data_deps", "runtime", …}]},
/// attributes as plain keys; or what the jsonizer of Chakra prints, the messages one after another in
/// protobuf's JSON. One node is in memory at a time, with what stands beside the list: 16 MiB of text at
/// most.
///
/// Errors ("chakra.…") name the file, the record, counted from 0, which is the metadata, and the byte at
/// which it begins (unpacked).
#pragma once

#include "chakra_node.hpp"

#include <filesystem>
#include <functional>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload::chakra {

/// Called for each node; it may be changed, and is gone afterwards. Returns whether to go on.
using NodeSink = std::function<bool(ChakraNode&)>;

/// By the end of its name.
[[nodiscard]] bool is_json_file(const std::filesystem::path& file);

/// Reads to the end, or until the sink does not want more.
[[nodiscard]] Result<ChakraMetadata> read_nodes(const std::filesystem::path& file, const NodeSink& sink);

// By form; `read_nodes` chooses.

[[nodiscard]] Result<ChakraMetadata> read_binary_nodes(const std::filesystem::path& file,
                                                       const NodeSink& sink);
[[nodiscard]] Result<ChakraMetadata> read_json_nodes(const std::filesystem::path& file, const NodeSink& sink);

}  // namespace astrolabe::workload::chakra
