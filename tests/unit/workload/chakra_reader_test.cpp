// Chakra traces as rank graphs: what nodes become, what they wait for, and what is refused.

#include "chakra_bytes.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <process.hpp>
#include <workload/src/chakra/chakra_traces.hpp>
#include <workload/src/rank_graphs/build_program.hpp>
#include <workload/src/rank_graphs/graph_summary.hpp>
#include <workload/src/rank_graphs/trace_formats.hpp>
#include <zlib.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/workload/traces/foreign_traces.hpp>

namespace astrolabe::workload::chakra {
namespace {

using system::CollectiveKind;
using system::RankId;
using testing::attribute;
using testing::bytes_field;
using testing::flag;
using testing::int64;
using testing::kChakraHeader;
using testing::node;
using testing::number_field;
using testing::packed;
using testing::record;
using testing::text;

constexpr unsigned kInvalid = 0;
constexpr unsigned kMetadata = 1;
constexpr unsigned kMemoryLoad = 2;
constexpr unsigned kCompute = 4;
constexpr unsigned kSend = 5;
constexpr unsigned kReceive = 6;
constexpr unsigned kCollective = 7;

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    }
    return bytes;
}

// Metadata "1.0.0"; emb_fwd of 280 us, emb_a2a of 4 MiB after it, top0_fwd of 75 us after that.
const std::string kExample = from_hex(
    "070a05312e302e301e1207656d625f6677641804389802520e0a0969735f6370755f6f70d801004108011207656d625f"
    "61326118072a0100520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f74797065480652100a09636f6d6d5f"
    "73697a6548808080022308021208746f70305f66776418042a0101384b520e0a0969735f6370755f6f70d80100");

class ChakraFiles : public ::testing::Test {
protected:
    std::filesystem::path write(const std::string& content, std::size_t rank = 0,
                                const std::string& ending = ".et") const {
        const std::string name = "trace." + std::to_string(rank) + ending;
        // A file that is replaced in place is written through to the disk.
        std::filesystem::remove(folder_.path() / name);
        return folder_.write(name, content);
    }
    /// Files of ranks 0, 1, … with these nodes, as records.
    std::vector<std::filesystem::path> write_ranks(const std::vector<std::vector<std::string>>& ranks) const {
        std::vector<std::filesystem::path> files;
        for (const std::vector<std::string>& nodes : ranks) {
            std::string content = kChakraHeader;
            for (const std::string& one : nodes) {
                content += record(one);
            }
            files.push_back(write(content, files.size()));
        }
        return files;
    }
    [[nodiscard]] ChakraTraces read(const std::vector<std::vector<std::string>>& ranks,
                                    const ReadOptions& options = {}) const {
        Result<ChakraTraces> traces = read_traces(write_ranks(ranks), options);
        EXPECT_TRUE(traces.has_value()) << (traces ? "" : render(traces.error()));
        return traces ? *std::move(traces) : ChakraTraces{};
    }
    /// Of the nodes of one rank.
    [[nodiscard]] std::string refusal(const std::vector<std::string>& nodes,
                                      const ReadOptions& options = {}) const {
        return refusal_of(read_traces(write_ranks({nodes}), options));
    }
    [[nodiscard]] static std::string refusal_of(const Result<ChakraTraces>& traces) {
        return traces ? "nothing is refused" : render(traces.error());
    }
    static std::vector<std::uint32_t> dependencies(const ChakraTraces& traces, std::size_t rank,
                                                   std::size_t task) {
        const auto span = traces.graphs.ranks.at(rank).dependencies(task);
        return {span.begin(), span.end()};
    }

    testing::TemporaryFolder folder_;
};

/// What is compared of two readings of one trace.
std::vector<std::string> said(const ChakraTraces& traces) {
    std::vector<std::string> lines;
    for (const RankGraph& rank : traces.graphs.ranks) {
        for (std::size_t i = 0; i < rank.tasks.size(); ++i) {
            const RankTask& task = rank.tasks[i];
            std::string line =
                fmt::format("{} {} kind {} collective {} size {} duration {} stream {} after", task.id,
                            traces.graphs.names[task.name], static_cast<int>(task.kind),
                            static_cast<int>(task.collective), task.size.count(), task.duration.count(),
                            traces.graphs.streams[task.stream].name);
            for (const std::uint32_t dependency : rank.dependencies(i)) {
                line += fmt::format(" {}", rank.tasks[dependency].id);
            }
            lines.push_back(line);
        }
    }
    return lines;
}

const std::vector<std::string> kExampleLines{
    "0 emb_fwd kind 0 collective 0 size 0 duration 280000000 stream compute after",
    "1 emb_a2a kind 1 collective 3 size 4194304 duration 0 stream compute after 0",
    "2 top0_fwd kind 0 collective 0 size 0 duration 75000000 stream compute after 1"};

// ---- forms

TEST_F(ChakraFiles, TheExampleOfTheFormatIsItsThreeNodes) {
    ASSERT_EQ(kExample.size(), 141U);
    const Result<ChakraTraces> traces = read_traces({write(kExample)}, {});
    ASSERT_TRUE(traces) << render(traces.error());
    EXPECT_EQ(said(*traces), kExampleLines);
    // 280 + 75 us; what crosses ranks takes no time.
    EXPECT_EQ(summarize(traces->graphs).critical_path, 355_us);
}

TEST_F(ChakraFiles, GzipAndBothJsonFormsSayTheSame) {
    const std::filesystem::path packed_file = folder_.path() / "trace.0.et.gz";
    gzFile file = gzopen(packed_file.c_str(), "wb");
    ASSERT_EQ(gzwrite(file, kExample.data(), static_cast<unsigned>(kExample.size())), 141);
    gzclose(file);
    const auto list = folder_.write("list.0.json", R"({"workload_graph": [
        {"Id": 0, "Name": "emb_fwd", "NodeType": 4, "data_deps": [], "runtime": 280, "is_cpu_op": false},
        {"Id": 1, "Name": "emb_a2a", "NodeType": 7, "data_deps": [0], "comm_type": 6, "comm_size": 4194304},
        {"Id": 2, "Name": "top0_fwd", "NodeType": 4, "data_deps": [1], "runtime": 75}], "ngpus": 1})");
    // Protobuf writes 64-bit integers as texts and leaves defaults out.
    const auto messages = folder_.write("messages.0.json", R"({"version": "1.0.0"}
        {"name": "emb_fwd", "type": "COMP_NODE", "durationMicros": "280"}
        {"id": "1", "name": "emb_a2a", "type": "COMM_COLL_NODE", "dataDeps": ["0"], "attr": [
            {"name": "is_cpu_op", "boolVal": false}, {"name": "comm_type", "int64Val": "6"},
            {"name": "comm_size", "uint64Val": "4194304"}]}
        {"id": "2", "name": "top0_fwd", "type": "COMP_NODE", "dataDeps": ["1"], "durationMicros": "75"})");
    for (const std::filesystem::path& one : {packed_file, list, messages}) {
        const Result<ChakraTraces> traces = read_traces({one}, {});
        ASSERT_TRUE(traces) << one << render(traces.error());
        EXPECT_EQ(said(*traces), kExampleLines) << one;
    }
}

TEST_F(ChakraFiles, IntegersOfEveryTypeAndUnpackedListsAreRead) {
    const std::vector<std::string> values{
        number_field(7, 4096), number_field(9, 4096), number_field(11, 4096), number_field(13, 4096),
        number_field(15, 8192),  // zigzag
        number_field(17, 8192), testing::varint((19U << 3U) | 5U) + std::string("\x00\x10\x00\x00", 4),
        testing::varint((21U << 3U) | 1U) + std::string("\x00\x10\x00\x00\x00\x00\x00\x00", 8),
        testing::varint((23U << 3U) | 5U) + std::string("\x00\x10\x00\x00", 4),
        testing::varint((25U << 3U) | 1U) + std::string("\x00\x10\x00\x00\x00\x00\x00\x00", 8),
        // 4096.0 = 1.0 · 2^12: exponent 1035 = 0x40b
        testing::varint((3U << 3U) | 1U) + std::string("\x00\x00\x00\x00\x00\x00\xb0\x40", 8),
        testing::varint((5U << 3U) | 5U) + std::string("\x00\x00\x80\x45", 4)};
    for (const std::string& value : values) {
        // Unpacked data_deps, a field and an attribute that nobody knows, the value before the name.
        const std::string collective =
            number_field(1, 3) + number_field(3, kCollective) + number_field(5, 1) + number_field(5, 2) +
            number_field(99, 1) + bytes_field(98, "?") + int64("comm_type", 0) + int64("what_is_this", -5) +
            bytes_field(10, value + bytes_field(1, "comm_size"));
        const ChakraTraces traces = read({{node(1, "a", kCompute), node(2, "b", kCompute), collective}});
        ASSERT_EQ(traces.graphs.ranks[0].tasks.size(), 3U);
        EXPECT_EQ(traces.graphs.ranks[0].tasks[2].size, 4096_B);
        EXPECT_EQ(dependencies(traces, 0, 2), (std::vector<std::uint32_t>{0, 1}));
    }
}

// ---- nodes

TEST_F(ChakraFiles, LaunchesOfCollectivesAreComputations) {
    const ChakraTraces traces =
        read({{node(1, "launch", kCollective, {}, 20) + flag("is_cpu_op", true),
               node(2, "load", kMemoryLoad, {1}, 3),
               node(3, "kernel", kCollective, {1}, 900) + int64("comm_type", 5) + int64("comm_size", 424)}});
    const std::vector<RankTask>& tasks = traces.graphs.ranks[0].tasks;
    ASSERT_EQ(tasks.size(), 3U);
    EXPECT_EQ(tasks[0].kind, TaskKind::kCompute);
    EXPECT_EQ(tasks[0].duration, 20_us);
    EXPECT_EQ(traces.graphs.streams[tasks[0].stream].name, "host");
    EXPECT_EQ(traces.graphs.streams[tasks[1].stream].name, "compute");
    // What NCCL's kernel took holds the waiting for others: a collective has no duration of its own.
    EXPECT_EQ(tasks[2].kind, TaskKind::kCollective);
    EXPECT_EQ(tasks[2].collective, CollectiveKind::kBroadcast);
    EXPECT_EQ(tasks[2].duration, Time(0));
}

TEST_F(ChakraFiles, MetadataAndInvalidNodesAreFoldedAway) {
    const ChakraTraces traces =
        read({{node(1, "a", kCompute, {}, 1), node(2, "b", kCompute, {}, 1), node(3, "m", kMetadata, {1, 2}),
               node(4, "i", kInvalid, {3}), node(5, "c", kCompute, {4}, 1)}});
    ASSERT_EQ(traces.graphs.ranks[0].tasks.size(), 3U);
    std::vector<std::uint32_t> before = dependencies(traces, 0, 2);
    std::sort(before.begin(), before.end());
    EXPECT_EQ(before, (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(ChakraFiles, GatherScatterBarrierAndBlocksAreMappedExactly) {
    const auto nodes = [](std::int64_t) {
        std::vector<std::string> all;
        for (const auto& [type, size] : {std::pair{3, 10}, {4, 10}, {8, 12}, {9, 0}}) {
            all.push_back(node(all.size(), "c", kCollective) + int64("comm_type", type) +
                          (type == 9 ? "" : int64("comm_size", size)));
        }
        return all;
    };
    const ChakraTraces traces = read({nodes(0), nodes(1), nodes(2)});
    const Result<system::Program> program = build_program(traces.graphs, {});
    ASSERT_TRUE(program) << render(program.error());
    const auto work = [&](std::size_t operation) -> const system::CollectiveOperation& {
        return program->operations[system::OperationId(operation)].collective();
    };
    // 10 B from each to the root; 10 B of the root in parts of 3, 3 and 4 B: ends at 3.33, 6.67 and 10.
    const std::vector<std::vector<std::int64_t>> gather{{10, 0, 0}, {10, 0, 0}, {10, 0, 0}};
    const std::vector<std::vector<std::int64_t>> scatter{{3, 3, 4}, {0, 0, 0}, {0, 0, 0}};
    for (std::size_t from = 0; from < 3; ++from) {
        for (std::size_t to = 0; to < 3; ++to) {
            EXPECT_EQ((*work(0).pair_sizes)[0](from, to).count(), gather[from][to]);
            EXPECT_EQ((*work(1).pair_sizes)[0](from, to).count(), scatter[from][to]);
        }
    }
    EXPECT_EQ(work(2).kind, CollectiveKind::kReduceScatter);
    EXPECT_EQ(work(2).size, 12_B);
    EXPECT_EQ(work(3).kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(work(3).size, 0_B);
}

TEST_F(ChakraFiles, MessagesIgnoreCommTypeAndMatchByTagInOrder) {
    const auto message = [](std::uint64_t id, unsigned type, std::int64_t peer, std::int64_t size,
                            std::vector<std::uint64_t> before) {
        return node(id, "m", type, std::move(before)) + int64("comm_type", type) + int64("comm_size", size) +
               attribute(type == kSend ? "comm_dst" : "comm_src",
                         number_field(7, static_cast<std::uint64_t>(peer))) +
               attribute("comm_tag", number_field(7, 9));
    };
    const ChakraTraces traces = read({{message(0, kSend, 1, 10, {}), message(1, kSend, 1, 20, {0})},
                                      {message(0, kReceive, 0, 10, {}), message(1, kReceive, 0, 20, {0})}});
    EXPECT_EQ(traces.graphs.ranks[0].tasks[1].match, 9U);
    const Result<system::Program> program = build_program(traces.graphs, {});
    ASSERT_TRUE(program) << render(program.error());
    EXPECT_EQ(summarize(traces.graphs).sent, 30_B);
    // The first receive expects the second size: first in, first out is then broken.
    const Result<ChakraTraces> swapped =
        read_traces(write_ranks({{message(0, kSend, 1, 10, {}), message(1, kSend, 1, 20, {0})},
                                 {message(0, kReceive, 0, 20, {}), message(1, kReceive, 0, 10, {0})}}),
                    {});
    ASSERT_TRUE(swapped);
    EXPECT_FALSE(build_program(swapped->graphs, {}));
}

// ---- dependencies, streams and order

TEST_F(ChakraFiles, ControlDependenciesCountWhereTheTraceIsNotPytorchs) {
    const std::vector<std::string> plain{node(1, "a", kCompute, {}, 1),
                                         node(2, "b", kCompute, {}, 1) + bytes_field(4, packed({1}))};
    EXPECT_EQ(dependencies(read({plain}), 0, 1), (std::vector<std::uint32_t>{0}));
    EXPECT_TRUE(dependencies(read({plain}, {.control = ControlDependencies::kIgnored}), 0, 1).empty());
    // Of PyTorch: the enclosing call, which is not in the file.
    const std::vector<std::string> recorded{node(1, "a", kCompute, {}, 1) + int64("rf_id", 7),
                                            node(2, "b", kCompute, {}, 1) + bytes_field(4, packed({99}))};
    const ChakraTraces traces = read({recorded});
    EXPECT_TRUE(dependencies(traces, 0, 1).empty());
    ASSERT_EQ(traces.notes.size(), 1U);
    EXPECT_EQ(traces.notes[0], "1 ctrl_deps name enclosing calls: not waited for");
    const std::string said = refusal(recorded, {.control = ControlDependencies::kHonoured});
    EXPECT_NE(said.find("node 2 'b' (record 2): it depends on node 99, which is not in the file"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("ctrl_deps: ignored"), std::string::npos) << said;
}

TEST_F(ChakraFiles, NodesOfANumberedStreamKeepTheOrderOfIdsCollectivesToo) {
    const auto on = [](std::int64_t stream) { return int64("stream", stream); };
    const ChakraTraces traces =
        read({{node(8, "k8", kCompute, {}, 1) + on(7), node(3, "k3", kCompute, {}, 1) + on(7),
               node(5, "k5", kCompute, {}, 1) + on(20),
               node(6, "c6", kCollective) + int64("comm_type", 0) + int64("comm_size", 8) + on(84),
               node(7, "c7", kCollective) + int64("comm_type", 0) + int64("comm_size", 8) + on(84),
               node(9, "c9", kCollective) + int64("comm_type", 0) + int64("comm_size", 8) + on(7),
               node(1, "h1", kCompute, {}, 1) + flag("is_cpu_op", true) + int64("tid", 2)}});
    const std::vector<std::string> expected{
        "1 h1 kind 0 collective 0 size 0 duration 1000000 stream thread 2 after",
        "3 k3 kind 0 collective 0 size 0 duration 1000000 stream stream 7 after",
        "5 k5 kind 0 collective 0 size 0 duration 1000000 stream stream 20 after",
        "6 c6 kind 1 collective 0 size 8 duration 0 stream stream 7 after",
        "7 c7 kind 1 collective 0 size 8 duration 0 stream stream 7 after 6",
        "8 k8 kind 0 collective 0 size 0 duration 1000000 stream stream 7 after",
        "9 c9 kind 1 collective 0 size 8 duration 0 stream stream 7 after 8"};
    EXPECT_EQ(said(traces), expected);  // a collective is on no stream of the program: the first is written
    ASSERT_EQ(traces.graphs.streams.size(), 3U);
    EXPECT_TRUE(traces.graphs.streams[0].keeps_order);
}

TEST_F(ChakraFiles, CollectivesInOrderFollowOneAnotherAsDependenciesAllow) {
    const auto collective = [](std::uint64_t id, std::vector<std::uint64_t> before) {
        return node(id, "c", kCollective, std::move(before)) + int64("comm_type", 0) + int64("comm_size", 8);
    };
    // 1 waits for 3, so the order is 2, 3, 1.
    const ChakraTraces traces = read({{collective(1, {3}), collective(2, {}), collective(3, {})}},
                                     {.collectives = CollectiveOrder::kInOrder});
    EXPECT_EQ(dependencies(traces, 0, 0), (std::vector<std::uint32_t>{2}));
    EXPECT_TRUE(dependencies(traces, 0, 1).empty());
    EXPECT_EQ(dependencies(traces, 0, 2), (std::vector<std::uint32_t>{1}));
    EXPECT_TRUE(build_program(traces.graphs, {}));
}

// ---- groups

std::string in_group(std::uint64_t id, const std::string& group) {
    return node(id, "c", kCollective) + int64("comm_type", 0) + int64("comm_size", 8) +
           text("pg_name", group);
}

TEST_F(ChakraFiles, GroupsComeFromTheTraceTheFileOrDimensions) {
    const std::string init =
        node(0, "## process_group:init ##", kMetadata) +
        bytes_field(
            8, bytes_field(1, R"(['[{"pg_name": "0", "ranks": []}, {"pg_name": "5", "ranks": [1, 0]}]'])"));
    const ChakraTraces own = read({{init, in_group(1, "5"), in_group(2, "0"), in_group(3, "")},
                                   {init, in_group(1, "5"), in_group(2, "0"), in_group(3, "")}});
    ASSERT_EQ(own.graphs.groups.size(), 2U);
    EXPECT_EQ(own.graphs.groups[0], (std::vector{RankId(1), RankId(0)}));
    EXPECT_EQ(own.graphs.groups[1], (std::vector{RankId(0), RankId(1)}));
    EXPECT_EQ(own.graphs.ranks[0].tasks[2].match, 1U);  // the second of all ranks

    const auto file = folder_.write("groups.json", R"({"1": [0, 1], "2": [2, 3]})");
    const ChakraTraces given = read(
        {{in_group(0, "1")}, {in_group(1, "1")}, {in_group(2, "2")}, {in_group(3, "2")}}, {.groups = file});
    EXPECT_TRUE(build_program(given.graphs, {}));
    EXPECT_EQ(given.graphs.groups[1], (std::vector{RankId(2), RankId(3)}));

    // 3 x 2 ranks: dimension 1 has stride 3, and rank 4 is with rank 1.
    const auto along = [](std::uint64_t id) {
        return node(id, "c", kCollective) + int64("comm_type", 0) + int64("comm_size", 8) +
               attribute("involved_dim", bytes_field(28, bytes_field(1, packed({0, 1}))));
    };
    const ChakraTraces strided = read(
        {{along(0)}, {along(0)}, {along(0)}, {along(0)}, {along(0)}, {along(0)}}, {.dimensions = {3, 2}});
    EXPECT_EQ(strided.graphs.groups[strided.graphs.ranks[4].tasks[0].group],
              (std::vector{RankId(1), RankId(4)}));
}

TEST_F(ChakraFiles, GroupsThatNothingDescribesAreRefused) {
    EXPECT_NE(refusal({in_group(4, "7")}).find("node 4 'c' (record 1): nothing says who is in its group '7'"),
              std::string::npos);
    EXPECT_NE(refusal({node(1, "c", kCollective) + int64("comm_type", 0) + int64("comm_size", 8) +
                       attribute("involved_dim", bytes_field(28, bytes_field(1, packed({0, 1}))))})
                  .find("say the sizes of the logical dimensions"),
              std::string::npos);
    const auto bad = folder_.write("bad.json", R"({"1": [0, -1]})");
    EXPECT_NE(refusal({in_group(4, "1")}, {.groups = bad}).find("-1 in group '1' is no rank"),
              std::string::npos);
    const auto large = folder_.write("large.json", "");
    std::filesystem::resize_file(large, limits::kFileBytes + 1);  // without a byte on the disk
    EXPECT_NE(refusal({in_group(4, "1")}, {.groups = large})
                  .find("large.json: error[trace.file]: more than 67108864"),
              std::string::npos);
    EXPECT_NE(refusal({in_group(4, "1")}, {.dimensions = {2, 2}}).find("[2, 2] are 4 ranks, and there are 1"),
              std::string::npos);
}

// ---- what is wrong

TEST_F(ChakraFiles, EveryDefectOfANodeIsSaidWithItsPlace) {
    struct Case {
        std::vector<std::string> nodes;
        std::string said;
    };
    const std::string collective = node(3, "c", kCollective) + int64("comm_type", 0);
    const std::vector<Case> cases{
        {{collective + int64("comm_size", -8)}, "node 3 'c' (record 1): comm_size is -8"},
        {{collective + attribute("comm_size", number_field(13, ~std::uint64_t{0}))},
         "node 3 'c': attribute 'comm_size' is an integer beyond 64 bits with sign, expected an integer"},
        {{collective + text("comm_size", "8")}, "attribute 'comm_size' is a text, expected an integer"},
        {{collective}, "it has no attribute comm_size"},
        {{node(3, "c", kCollective) + int64("comm_type", 11) + int64("comm_size", 8)},
         "comm_type 11 is no collective"},
        {{node(3, "c", kCollective) + int64("comm_size", 8)}, "it has no attribute comm_type"},
        {{node(3, "x", 12)}, "type 12 is no type of a node"},
        {{node(3, "a", kCompute), node(4, "b", kCompute), node(3, "c", kCompute)},
         "node 3 'c' (record 3): record 1 has the same id"},
        {{node(3, "a", kCompute, {77})},
         "node 3 'a' (record 1): it depends on node 77, which is not in the file"},
        {{node(3, "a", kCompute, {}, 9'300'000'000'000)},
         "duration_micros is 9300000000000, at most 9223372036854"},
        {{node(3, "a", kCompute) + int64("num_ops", -1)}, "num_ops is -1"},
        {{node(3, "m", kMetadata, {4}), node(4, "m", kMetadata, {3})},
         "node 3 'm' (record 1): it depends on itself"},
        {{node(3, "s", kSend) + int64("comm_size", 8)}, "it has no attribute comm_dst"},
        {{node(3, "r", kReceive) + int64("comm_size", 8) + int64("comm_src", 1)},
         "comm_src is 1, and there are traces of 1 ranks"},
        {{collective + int64("comm_size", 8) + int64("comm_priority", 1LL << 40)},
         "comm_priority is 1099511627776"},
    };
    for (const Case& one : cases) {
        const std::string said = refusal(one.nodes);
        EXPECT_NE(said.find(one.said), std::string::npos) << said;
        EXPECT_NE(said.find("trace.0.et"), std::string::npos) << said;
    }
}

TEST_F(ChakraFiles, TextsThatAreNotUtf8AreRefusedAtTheirByte) {
    // Before the byte 0xe9 of the name: the header's record of 8 bytes, the length of this one, id 3 in 2
    // bytes, the key and the length of the name, and "caf".
    const auto header = static_cast<int>(kChakraHeader.size());
    const std::string name = refusal({node(3, "caf\xE9", kCompute)});
    EXPECT_NE(name.find("node 3 'caf?': byte 0xe9 at offset " + std::to_string(header + 1 + 2 + 2 + 3)),
              std::string::npos)
        << name;
    for (const std::string& wrong :
         {text("pg_name", "\xFF"), attribute("\xFF", number_field(9, 1)),
          attribute("stack", bytes_field(30, bytes_field(1, "ok") + bytes_field(1, "\xFF")))}) {
        const std::string said = refusal({node(3, "a", kCompute) + wrong});
        EXPECT_NE(said.find("byte 0xff at offset"), std::string::npos) << said;
    }
}

TEST_F(ChakraFiles, AllErrorsOfAllFilesAreReportedTwentyOfEach) {
    std::vector<std::string> nodes;
    for (std::uint64_t id = 0; id < 30; ++id) {
        nodes.push_back(node(id, "c", kCollective) + int64("comm_type", 0) + int64("comm_size", -1));
    }
    const Result<ChakraTraces> traces = read_traces(write_ranks({nodes}), {});
    ASSERT_FALSE(traces);
    EXPECT_EQ(traces.error().size(), 20U);
    const Result<ChakraTraces> two =
        read_traces(write_ranks({{node(1, "a", kCompute, {9})}, {node(2, "b", kCompute, {9})}}), {});
    ASSERT_FALSE(two);
    EXPECT_EQ(two.error().size(), 2U);
}

TEST_F(ChakraFiles, CirclesAreReported) {
    const ChakraTraces traces = read(
        {{node(1, "a", kCompute, {3}, 1), node(2, "b", kCompute, {1}, 1), node(3, "c", kCompute, {2}, 1)}});
    const Result<system::Program> program = build_program(traces.graphs, {});
    ASSERT_FALSE(program);
    EXPECT_NE(render(program.error()).find("circle"), std::string::npos) << render(program.error());
}

TEST_F(ChakraFiles, AFileCutOffAnywhereIsRefusedOrEndsAtARecord) {
    // Records end after 8, 39, 105 and 141 bytes; the first alone is a trace without nodes.
    for (std::size_t size = 0; size < kExample.size(); ++size) {
        const Result<ChakraTraces> traces = read_traces({write(kExample.substr(0, size))}, {});
        const bool ends_at_record = size == 8 || size == 39 || size == 105;
        EXPECT_EQ(traces.has_value(), ends_at_record) << size;
        if (!traces && size > 0) {
            const std::string said = render(traces.error());
            EXPECT_NE(said.find("the file ends"), std::string::npos) << said;
            EXPECT_NE(said.find(size < 8    ? "record 0 at byte 0"
                                : size < 39 ? "record 1 at byte 8"
                                            : "record "),
                      std::string::npos)
                << said;
        }
    }
    EXPECT_NE(refusal_of(read_traces({write("")}, {})).find("the file is empty"), std::string::npos);
}

TEST_F(ChakraFiles, ALengthBeyondTheFileIsNotAllocated) {
    for (const std::uint64_t length : {std::uint64_t{1} << 60U, ~std::uint64_t{0}}) {
        const std::string said =
            refusal_of(read_traces({write(kChakraHeader + testing::varint(length) + "abc")}, {}));
        EXPECT_NE(said.find(fmt::format("record 1 at byte 8: its length is {} bytes", length)),
                  std::string::npos)
            << said;
    }
    // 16 MiB are the most.
    const std::string said =
        refusal_of(read_traces({write(kChakraHeader + testing::varint(1U << 24U) + "abc")}, {}));
    EXPECT_NE(said.find("the file ends after 3 of its 16777216 bytes"), std::string::npos) << said;
    const std::string larger =
        refusal_of(read_traces({write(kChakraHeader + testing::varint((1U << 24U) + 1) + "abc")}, {}));
    EXPECT_NE(larger.find("its length is 16777217 bytes, more than 16777216"), std::string::npos) << larger;
    const std::string endless = refusal_of(read_traces({write(kChakraHeader + std::string(11, '\xff'))}, {}));
    EXPECT_NE(endless.find("its length is no varint"), std::string::npos) << endless;
}

// Three nodes of 6 MiB are let go of one after another; a text of 16 MiB that stands behind them is not.
TEST_F(ChakraFiles, JsonIsReadWithoutHoldingMoreThanItsLargestNode) {
    std::string nodes;
    for (int id = 0; id < 3; ++id) {
        nodes += fmt::format(R"({}{{"Id": {}, "NodeType": 4, "runtime": 1, "note": "{}"}})",
                             id == 0 ? "" : ",\n", id, std::string(std::size_t{6} << 20U, 'x'));
    }
    const std::string start = "{\"workload_graph\": [" + nodes + "]";
    const Result<ChakraTraces> traces = read_traces({folder_.write("x.0.json", start + "}")}, {});
    ASSERT_TRUE(traces) << render(traces.error());
    EXPECT_EQ(traces->graphs.ranks[0].tasks.size(), 3U);
    const std::string beside =
        start + ",\n\"more\": \"" + std::string((std::size_t{16} << 20U) + 100'000, 'x') + "\"}";
    const std::string refusal = refusal_of(read_traces({folder_.write("x.0.json", beside)}, {}));
    EXPECT_NE(refusal.find("x.0.json:4:0: error[chakra.length]: after 3 nodes: an object, or all beside the "
                           "nodes, of more than 16777216 bytes"),
              std::string::npos)
        << refusal;
}

TEST_F(ChakraFiles, DamagedBytesAreRefusedOrReadAndNeverCrash) {
    std::mt19937_64 random(1);
    std::size_t refused = 0;
    constexpr std::size_t kTries = 5'000;
    for (std::size_t i = 0; i < kTries; ++i) {
        std::string bytes = kExample;
        for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        const Result<ChakraTraces> traces = read_traces({write(bytes)}, {});
        if (!traces) {
            ++refused;
            EXPECT_NE(render(traces.error()).find("trace.0.et"), std::string::npos);
        } else {
            static_cast<void>(build_program(traces->graphs, {}));
        }
    }
    EXPECT_GT(refused, kTries / 10);
    EXPECT_LT(refused, kTries);
}

TEST_F(ChakraFiles, DamagedGzipAndJsonAreRefused) {
    const auto cut =
        folder_.write("cut.0.et.gz", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x63", 11));
    EXPECT_NE(refusal_of(read_traces({cut}, {})).find("cut off"), std::string::npos)
        << refusal_of(read_traces({cut}, {}));
    const auto json_refusal = [&](const std::string& content) {
        return refusal_of(read_traces({folder_.write("x.0.json", content)}, {}));
    };
    EXPECT_NE(
        json_refusal(R"({"workload_graph": [{"Id": 1, "NodeType": 4}, {"Id")").find("after 1 nodes: no JSON"),
        std::string::npos);
    EXPECT_NE(json_refusal(R"({"workload_graph": [{"Id": -1, "NodeType": 4}]})")
                  .find("'Id' is -1, expected a non-negative integer"),
              std::string::npos);
    EXPECT_NE(json_refusal(R"({"nodes": []})").find("no 'workload_graph'"), std::string::npos);
    EXPECT_NE(json_refusal(std::string(100'000, '[')).find("nested more than 100 deep"), std::string::npos);
    EXPECT_NE(json_refusal("").find("the file is empty"), std::string::npos);
    // A million lines are read in many pieces; the 101st bracket stands on line 1,000,002.
    EXPECT_NE(
        json_refusal(std::string(1'000'000, '\n') + "{\n" + R"("workload_graph": )" + std::string(101, '['))
            .find("x.0.json:1000002"),
        std::string::npos);
    for (const char* behind : {"", "\n", "\n\n"}) {  // a number ends before what is read of what follows
        const std::string refusal = json_refusal(std::string("{\"version\": \"1\"}\n\n7") + behind);
        EXPECT_NE(refusal.find("x.0.json:3"), std::string::npos) << refusal;
    }
}

TEST_F(ChakraFiles, WhatTheFileSaysOfStreamsIsChecked) {
    const auto read_streams = [&](const std::string& names, const std::string& order) {
        return read_traces(
            {folder_.write("s.0.json",
                           R"({"version": "1.0.0", "attr": [
            {"name": "astrolabe_streams", "stringList": {"values": [)" +
                               names + R"(]}}, {"name": "astrolabe_compute_order", "stringVal": ")" + order +
                               R"("}]}
        {"name": "x", "type": "COMP_NODE", "durationMicros": "2", "attr": [{"name": "stream", "int64Val": "0"}]}
        {"id": "1", "name": "y", "type": "COMP_NODE", "durationMicros": "3", "attr": [
            {"name": "stream", "int64Val": "5"}]})")},
            {});
    };
    EXPECT_NE(refusal_of(read_streams(R"("a", "b", "a")", "program"))
                  .find("'astrolabe_streams' names the stream 'a' twice"),
              std::string::npos);
    EXPECT_NE(refusal_of(read_streams(R"("a")", "first_come")).find("there are 2 streams"),
              std::string::npos);
    // Node 1 is on stream 5, which has no name of its own but one that the file gave to its stream 1.
    const Result<ChakraTraces> traces = read_streams(R"("a", "stream 5")", "program");
    ASSERT_TRUE(traces) << render(traces.error());
    ASSERT_EQ(traces->graphs.streams.size(), 3U);
    EXPECT_EQ(traces->graphs.streams[2].name, "stream 5+");
    EXPECT_TRUE(build_program(traces->graphs, {.order = traces->order}));
}

// ---- sets of files

TEST_F(ChakraFiles, ASetIsAFolderAPrefixOrOneOfItsFiles) {
    const std::vector<std::filesystem::path> files =
        write_ranks({{node(1, "a", kCompute)}, {node(1, "a", kCompute)}, {node(1, "a", kCompute)}});
    for (const std::filesystem::path& named : {folder_.path(), folder_.path() / "trace", files[1]}) {
        const Result<std::vector<std::filesystem::path>> found = files_of_traces(named);
        ASSERT_TRUE(found) << named << render(found.error());
        EXPECT_EQ(*found, files);
        EXPECT_TRUE(is_foreign_trace(named)) << named;
    }
    const auto refused = [](const std::filesystem::path& named) {
        const Result<std::vector<std::filesystem::path>> found = files_of_traces(named);
        return found ? std::string("found") : render(found.error());
    };
    folder_.write("trace.5.et", kExample);
    EXPECT_NE(refused(folder_.path()).find("4 of 6 ranks have a trace; missing: 3, 4"), std::string::npos)
        << refused(folder_.path());
    folder_.write("other.0.et", kExample);
    EXPECT_NE(refused(folder_.path()).find("traces of 2 sets, 'other' and 'trace'"), std::string::npos);
    EXPECT_NE(refused(folder_.path() / "none").find("no traces of this prefix"), std::string::npos);
    folder_.write("other.0.et.gz", "");
    EXPECT_NE(refused(folder_.path() / "other").find("rank 0 has two files"), std::string::npos);
    const testing::TemporaryFolder empty;
    EXPECT_NE(refused(empty.path()).find("no traces in this folder"), std::string::npos);
    EXPECT_FALSE(is_foreign_trace(empty.path()));
}

TEST_F(ChakraFiles, ADescriptionHasWhatTheSetHolds) {
    std::vector<std::vector<std::string>> ranks;
    for (std::uint64_t rank = 0; rank < 4; ++rank) {
        ranks.push_back(
            {node(0, "a", kCompute, {}, 10 + rank), in_group(1, "0") + bytes_field(5, packed({0}))});
    }
    write_ranks(ranks);
    const Result<ForeignTraces> described = describe_foreign_traces(folder_.path());
    ASSERT_TRUE(described) << render(described.error());
    EXPECT_EQ(described->format, "chakra");
    const auto fact = [&](const std::string& name) {
        const auto found = std::find_if(described->facts.begin(), described->facts.end(),
                                        [&](const auto& one) { return one.first == name; });
        return found == described->facts.end() ? std::string("missing") : found->second;
    };
    EXPECT_EQ(fact("ranks"), "4");
    EXPECT_EQ(fact("computations"), "4");
    EXPECT_EQ(fact("compute per rank"), "10 us to 13 us");
    EXPECT_EQ(fact("critical path of compute"), "13 us");
    EXPECT_EQ(fact("all_reduce in 'all' (4 ranks)"), "1, 32 bytes over all ranks");
}

}  // namespace
}  // namespace astrolabe::workload::chakra
