/// A node of a Chakra execution trace, as far as a simulator needs it.
///
/// Source: the protobuf schema of MLCommons Chakra (et_def.proto) and the attributes that ASTRA-sim 2.x
/// reads; docs/models/traces.md, "Chakra", says which.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace astrolabe::workload::chakra {

/// Field `type` of a node.
enum class NodeType : std::uint8_t {
    kInvalid,
    kMetadata,
    kMemoryLoad,
    kMemoryStore,
    kCompute,
    kSend,
    kReceive,
    kCollective
};
inline constexpr std::array<std::string_view, 8> kNodeTypes{
    "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
    "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};

/// Attribute `comm_type` of a collective.
enum class CommType : std::uint8_t {
    kAllReduce,
    kReduce,
    kAllGather,
    kGather,
    kScatter,
    kBroadcast,
    kAllToAll,
    kReduceScatter,
    kReduceScatterBlock,
    kBarrier
};
inline constexpr std::array<std::string_view, 10> kCommTypes{
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

/// Attributes that only this program writes and reads; others skip them.
inline constexpr std::string_view kPicosecondsAttribute = "astrolabe_duration_ps";
inline constexpr std::string_view kLeastAttribute = "astrolabe_least_duration_ps";
inline constexpr std::string_view kDelayAttribute = "astrolabe_completion_delay_ps";
inline constexpr std::string_view kTogetherAttribute = "astrolabe_begins_together";
inline constexpr std::string_view kSplitsAttribute = "astrolabe_split_bytes";
inline constexpr std::string_view kIterationAttribute = "astrolabe_iteration";
inline constexpr std::string_view kPriorityAttribute = "astrolabe_priority";
/// Of the first record.
inline constexpr std::string_view kStreamsAttribute = "astrolabe_streams";
inline constexpr std::string_view kIterationsAttribute = "astrolabe_iterations";
inline constexpr std::string_view kOrderAttribute = "astrolabe_compute_order";

/// The value of an attribute, of whatever type it was written.
struct Attribute {
    enum class Kind : std::uint8_t { kNone, kInteger, kTooLarge, kReal, kText, kIntegers, kTexts };

    std::string_view name;
    Kind kind = Kind::kNone;
    std::int64_t integer = 0;  ///< bools too
    double real = 0;
    std::string_view text;
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
};

struct ChakraNode {
    std::uint64_t place = 0;  ///< of its record in the file, from 1; the metadata are record 0
    std::uint64_t id = 0;
    std::string name;
    std::uint64_t type = 0;  ///< NodeType, if it is one
    std::vector<std::uint64_t> control_dependencies;
    std::vector<std::uint64_t> data_dependencies;
    std::uint64_t duration_micros = 0;
    std::string input_values;  ///< of metadata

    std::optional<bool> is_cpu_op;
    std::optional<std::int64_t> comm_type;
    std::optional<std::int64_t> comm_size;
    std::optional<std::int64_t> comm_source;
    std::optional<std::int64_t> comm_destination;
    std::optional<std::int64_t> comm_tag;
    std::optional<std::int64_t> comm_priority;
    std::optional<std::int64_t> stream;
    std::optional<std::int64_t> thread;  ///< attribute tid
    std::optional<std::int64_t> num_ops;
    std::optional<std::int64_t> tensor_size;
    bool has_record_function = false;  ///< attribute rf_id: the trace is PyTorch's
    std::string group;                 ///< attribute pg_name
    std::vector<std::int64_t> involved_dimensions;

    std::optional<std::int64_t> picoseconds;
    std::optional<std::int64_t> least_picoseconds;
    std::optional<std::int64_t> delay_picoseconds;
    std::optional<std::int64_t> begins_together;
    std::optional<std::int64_t> iteration;
    std::optional<std::int64_t> priority;
    std::vector<std::int64_t> splits;

    /// Everything but the memory of its lists.
    void clear();
};

struct ChakraMetadata {
    std::string version;
    std::vector<std::string> streams;  ///< names, by attribute stream of nodes
    std::int64_t iterations = 1;
    bool is_first_come = false;
};

/// Takes the attributes that are known; others mean nothing here. Returns what is wrong with the value, else
/// nothing.
[[nodiscard]] std::string take_attribute(ChakraNode& node, const Attribute& attribute);
[[nodiscard]] std::string take_attribute(ChakraMetadata& metadata, const Attribute& attribute);

}  // namespace astrolabe::workload::chakra
