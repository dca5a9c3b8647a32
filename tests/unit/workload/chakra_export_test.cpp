// Programs as traces of other programs: what files hold, and that reading them back makes the same program.

#include "chakra_bytes.hpp"
#include "exported.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <workload/src/rank_graphs/graph_summary.hpp>
#include <workload/src/traces/astra_text.hpp>

#include <astrolabe/workload/traces/foreign_traces.hpp>

namespace astrolabe::workload {
namespace {

using system::CollectiveKind;
using system::CollectiveOperation;
using system::ComputeOperation;
using system::OperationId;
using system::PairSizes;
using system::Partition;
using system::PartitionId;
using system::PerRank;
using system::Priority;
using system::Program;
using system::RankId;
using testing::by_way_of_chakra;
using testing::program_difference;
using testing::TemporaryFolder;
using testing::write_export;
using Json = nlohmann::json;

/// Writes programs operation by operation.
class Writer {
public:
    explicit Writer(std::size_t ranks) {
        program.ranks = ranks;
        program.iterations = 1;
        world = program.partitions.push_back(Partition::world(ranks));
    }
    OperationId compute(const std::string& name, PerRank<Time> duration, std::vector<OperationId> before = {},
                        std::uint32_t stream = 0) {
        return program.operations.push_back({.name = name,
                                             .layer = name,
                                             .iteration = iteration,
                                             .work = ComputeOperation{std::move(duration), stream},
                                             .dependencies = std::move(before)});
    }
    OperationId collective(const std::string& name, CollectiveOperation work,
                           std::vector<OperationId> before = {}) {
        return program.operations.push_back({.name = name,
                                             .layer = name,
                                             .iteration = iteration,
                                             .work = std::move(work),
                                             .dependencies = std::move(before)});
    }

    Program program;
    PartitionId world;
    int iteration = 0;
};

std::shared_ptr<const std::vector<PairSizes>> four_by_four() {
    std::vector<Bytes> bytes;
    for (std::int64_t pair = 0; pair < 16; ++pair) {
        bytes.emplace_back(pair * pair);  // pair 0 has nothing
    }
    return std::make_shared<const std::vector<PairSizes>>(1, PairSizes::of_pairs(4, bytes));
}

/// Something of everything that a Chakra trace can say.
Program everything() {
    Writer writer(4);
    writer.program.streams = {"compute", "host", "side"};
    writer.program.iterations = 2;
    const PartitionId rows = writer.program.partitions.push_back(
        {.name = "rows", .groups = {{RankId(0), RankId(1)}, {RankId(2), RankId(3)}}});
    const PartitionId from_two = writer.program.partitions.push_back(
        {.name = "from 2", .groups = {{RankId(2), RankId(0), RankId(1), RankId(3)}}});
    for (int iteration = 0; iteration < 2; ++iteration) {
        writer.iteration = iteration;
        const OperationId launch = writer.compute("launch", Time(1'234'567), {}, 1);
        const OperationId lookup =
            writer.compute("lookup", PerRank<Time>({Time(1), Time(2'000'000), Time(3), Time(0)}), {launch});
        const OperationId side = writer.compute("side", 5_us, {launch}, 2);
        std::vector<OperationId> all{lookup, side};
        const auto add = [&](const std::string& name, CollectiveOperation work) {
            all.push_back(writer.collective(name, std::move(work), {lookup}));
        };
        CollectiveOperation reduce{
            .kind = CollectiveKind::kAllReduce, .partition = writer.world, .size = 4097_B};
        reduce.priority = Priority::kExplicit;
        reduce.explicit_priority = -5;
        reduce.completion_delay = Time(3'333);
        add("reduce", reduce);
        CollectiveOperation uneven{.kind = CollectiveKind::kAllToAll, .partition = writer.world};
        uneven.pair_sizes = four_by_four();
        uneven.size = uneven.pair_sizes->front().largest_held();
        uneven.priority = Priority::kHighest;
        add("exchange", uneven);
        add("gather", {.kind = CollectiveKind::kAllGather, .partition = rows, .size = 100_B});
        add("broadcast", {.kind = CollectiveKind::kBroadcast, .partition = from_two, .size = 64_B});
        CollectiveOperation scatter{.kind = CollectiveKind::kReduceScatter, .partition = rows, .size = 10_B};
        scatter.least_duration = 7_us;
        scatter.begins_together = true;
        add("scatter", scatter);
        writer.compute("top", 250_ns, all);
        writer.compute("loss", Time(0));
    }
    writer.program.check();
    return writer.program;
}

// ---- Chakra

TEST(ChakraExport, ComesBackOperationByOperation) {
    const Program program = everything();
    EXPECT_EQ(program_difference(program, by_way_of_chakra(program)), "");
}

TEST(ChakraExport, ProgramsInFirstComeOrderComeBack) {
    Writer writer(2);
    writer.program.compute_order = system::ComputeOrder::kFirstCome;
    const OperationId a = writer.compute("a", 1_us);
    writer.compute("b", 2_us, {a});
    writer.compute("c", 3_us, {a});
    EXPECT_EQ(program_difference(writer.program, by_way_of_chakra(writer.program)), "");
}

TEST(ChakraExport, PartialOperationsAndMessagesMoveTheSame) {
    // Ranks 0 and 2 send to 1 and 3; then 1 and 3 reduce.
    Writer writer(4);
    Program& program = writer.program;
    const PartitionId pairs = program.partitions.push_back(
        {.name = "pairs", .groups = {{RankId(0), RankId(1)}, {RankId(2), RankId(3)}}});
    const PartitionId odd = program.partitions.push_back({.name = "odd", .groups = {{RankId(1), RankId(3)}}});
    const OperationId work = writer.compute("work", 4_us);
    CollectiveOperation send{.kind = CollectiveKind::kPointToPoint, .partition = pairs, .size = 1000_B};
    send.is_one_sided = true;
    const OperationId sent = writer.collective("send", send, {work});
    const OperationId received = program.operations.push_back({.name = "receive",
                                                               .layer = "receive",
                                                               .iteration = 0,
                                                               .work = system::ReceiveOperation{sent},
                                                               .dependencies = {}});
    writer.collective("sum", {.kind = CollectiveKind::kAllReduce, .partition = odd, .size = 8_B}, {received});
    program.check();
    const Program again = by_way_of_chakra(program);
    // Ranks 0 and 2, and 1 and 3, do different things, so "work" is an operation of each.
    ASSERT_EQ(again.operations.size(), 5U);
    Bytes moved;
    for (const system::Operation& operation : again.operations) {
        if (operation.is_collective()) {
            for (const std::vector<RankId>& group :
                 again.partitions[operation.collective().partition].groups) {
                moved += operation.collective().size * group.size();
            }
        }
    }
    EXPECT_EQ(moved, 2 * 2000_B + 2 * 8_B);
}

TEST(ChakraExport, UnevenAllToAllsAsMessagesMoveTheSameBytesByPair) {
    const Program program = everything();
    const TemporaryFolder folder;
    ASSERT_EQ(write_export(program, folder.path(), {.uneven = UnevenExport::kMessages, .prefix = "t"}), "");
    const auto traces = chakra::read_traces(chakra::files_of_traces(folder.path()).value(), {});
    ASSERT_TRUE(traces) << render(traces.error());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> sent;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        for (const RankTask& task : traces->graphs.ranks[rank].tasks) {
            if (task.kind == TaskKind::kSend) {
                sent[{rank, task.peer}] += task.size.count();
            }
        }
    }
    EXPECT_EQ(sent.size(), 12U);
    for (const auto& [pair, bytes] : sent) {
        const std::int64_t number = 4 * pair.first + pair.second;
        EXPECT_EQ(bytes, 2 * number * number);  // two iterations
    }
    EXPECT_TRUE(build_program(traces->graphs, {}));
}

TEST(ChakraExport, WholeMicrosecondsAddUpToWithinOne) {
    // 7 computations of 0.4 us: 0, 0, 1, 0, 1, 0, 0 us, 2 of 2.8.
    Writer writer(1);
    for (int i = 0; i < 7; ++i) {
        writer.compute("k" + std::to_string(i), 400_ns);
    }
    const TemporaryFolder folder;
    ASSERT_EQ(write_export(writer.program, folder.path(), {.prefix = "t"}), "");
    // Without our attribute, as others read it: the sum of the whole microseconds.
    std::string bytes = testing::read_file(folder.path() / "t.0.et");
    for (std::size_t at = bytes.find("astrolabe_duration_ps"); at != std::string::npos;
         at = bytes.find("astrolabe_duration_ps", at)) {
        bytes[at] = 'A';
    }
    const auto file = folder.write("u.0.et", bytes);
    const auto traces = chakra::read_traces({file}, {});
    ASSERT_TRUE(traces);
    std::vector<std::int64_t> micros;
    for (const RankTask& task : traces->graphs.ranks[0].tasks) {
        micros.push_back(task.duration.count() / 1'000'000);
    }
    EXPECT_EQ(micros, (std::vector<std::int64_t>{0, 0, 1, 0, 1, 0, 0}));
}

TEST(ChakraExport, ADurationThatOthersChangeCounts) {
    using namespace astrolabe::testing;
    const TemporaryFolder folder;
    const auto duration_of = [&](std::uint64_t micros) {
        const auto file = folder.write(
            "t.0.et",
            kChakraHeader + record(node(1, "k", 4, {}, micros) + int64("astrolabe_duration_ps", 1'400'000)));
        return chakra::read_traces({file}, {}).value().graphs.ranks[0].tasks[0].duration;
    };
    EXPECT_EQ(duration_of(1), Time(1'400'000));
    EXPECT_EQ(duration_of(2), Time(1'400'000));
    EXPECT_EQ(duration_of(3), 3_us);
}

/// Messages of a file, without their lengths.
std::vector<std::string> records(const std::string& bytes) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < bytes.size();) {
        std::uint64_t length = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes[at++]);
            length |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) {
                break;
            }
        }
        all.push_back(bytes.substr(at, length));
        at += length;
    }
    return all;
}

TEST(ChakraExport, AnIndependentDecoderReadsItWithTheAttributesOfAstraSim) {
    if (testing::run_shell("protoc --version").exit_code != 0) {
        GTEST_SKIP() << "no protoc at hand";
    }
    const TemporaryFolder folder;
    ASSERT_EQ(write_export(everything(), folder.path(), {.prefix = "t"}), "");
    const std::vector<std::string> all = records(testing::read_file(folder.path() / "t.2.et"));
    const auto decoded = [&](const std::string& message, const std::string& type) {
        folder.write("message", message);
        const testing::ProcessResult result =
            testing::run_shell(fmt::format("protoc -I {0} --decode={1} chakra.proto < {2}",
                                           testing::quoted(ASTROLABE_SOURCE_DIR "/tests/unit/workload"), type,
                                           testing::quoted((folder.path() / "message").string())));
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return result.out;
    };
    // Metadata, process groups, and the 10 operations of each of two iterations.
    ASSERT_EQ(all.size(), 22U);
    EXPECT_NE(decoded(all[0], "GlobalMetadata").find("version: \"0.0.4\""), std::string::npos);
    const std::string groups = decoded(all[1], "Node");
    EXPECT_NE(groups.find("type: METADATA_NODE"), std::string::npos) << groups;
    // Rank 2 is in the second of the rows and in the group that begins with it; all ranks need no
    // description.
    EXPECT_NE(groups.find(R"(\"pg_name\":\"2\",\"pg_desc\":\"rows 1\",\"ranks\":[2,3])"), std::string::npos)
        << groups;
    EXPECT_NE(groups.find(R"(\"ranks\":[2,0,1,3])"), std::string::npos) << groups;
    std::string nodes;
    for (std::size_t i = 2; i < all.size(); ++i) {
        nodes += decoded(all[i], "Node");
    }
    // Field numbers that the schema lacks are printed as numbers at the start of a line.
    for (const std::string& line : {std::string("\n7: "), std::string("\n11: "), std::string("\n  3: ")}) {
        EXPECT_EQ(nodes.find(line), std::string::npos) << line;
    }
    const std::string reduce = decoded(all[5], "Node");
    EXPECT_EQ(reduce, R"(id: 4
name: "reduce"
type: COMM_COLL_NODE
data_deps: 2
attr {
  name: "is_cpu_op"
  bool_val: false
}
attr {
  name: "comm_type"
  int64_val: 0
}
attr {
  name: "comm_size"
  int64_val: 4097
}
attr {
  name: "comm_priority"
  int64_val: -5
}
attr {
  name: "astrolabe_priority"
  int64_val: 3
}
attr {
  name: "astrolabe_completion_delay_ps"
  int64_val: 3333
}
)");
    const std::string launch = decoded(all[2], "Node");
    EXPECT_NE(launch.find("bool_val: true"), std::string::npos) << launch;  // of the host
    EXPECT_NE(launch.find("duration_micros: 1\n"), std::string::npos) << launch;
}

TEST(ChakraExport, GroupsAreAFileToo) {
    const TemporaryFolder folder;
    ASSERT_EQ(write_export(everything(), folder.path(), {.prefix = "t"}), "");
    EXPECT_EQ(Json::parse(testing::read_file(folder.path() / "groups.json")),
              Json::parse(R"({"1": [0, 1], "2": [2, 3], "3": [2, 0, 1, 3]})"));
}

TEST(ChakraExport, WhatCannotBeSaidIsRefused) {
    const TemporaryFolder folder;
    Program program = everything();
    for (system::Operation& operation : program.operations) {
        if (operation.name == "exchange") {
            std::get<CollectiveOperation>(operation.work).completion_delay = 1_us;
        }
    }
    EXPECT_NE(write_export(program, folder.path(), {.uneven = UnevenExport::kMessages}).find("'exchange'"),
              std::string::npos);
    EXPECT_NE(write_export(Program{}, folder.path(), {}).find("no operations"), std::string::npos);
}

// ---- PARAM

TEST(ParamExport, EveryRequestIsWaitedForOnceBeforeWhatNeedsIt) {
    const TemporaryFolder folder;
    ASSERT_EQ(write_export(everything(), folder.path(), {.format = TraceExportFormat::kParam}), "");
    std::vector<Json> ranks;
    for (int rank = 0; rank < 4; ++rank) {
        ranks.push_back(Json::parse(testing::read_file(folder.path() / (std::to_string(rank) + ".json"))));
    }
    for (const Json& entries : ranks) {
        std::map<int, int> open;
        std::size_t collectives = 0;
        for (const Json& entry : entries) {
            if (entry["comms"] == "init") {
                EXPECT_EQ(entry["global_ranks"].size(), entry["world_size"]);
            } else if (entry["comms"] == "wait") {
                EXPECT_EQ(open[entry["req"].get<int>()]--, 1);
            } else {
                ++open[entry["req"].get<int>()];
                ++collectives;
            }
        }
        EXPECT_EQ(collectives, 10U);
        for (const auto& [request, count] : open) {
            EXPECT_EQ(count, 0) << request;
        }
    }
    // What a sends to b is what b expects from a; of iteration 0, rank 2 to rank 3: pair 11, 121 B.
    const auto exchange = [&](std::size_t rank) {
        for (const Json& entry : ranks[rank]) {
            if (entry.contains("markers") && entry["markers"] == Json::array({"iteration 0", "exchange"})) {
                return entry;
            }
        }
        return Json();
    };
    for (std::size_t from = 0; from < 4; ++from) {
        for (std::size_t to = 0; to < 4; ++to) {
            EXPECT_EQ(exchange(from)["in_split"][to], exchange(to)["out_split"][from]);
        }
    }
    EXPECT_EQ(exchange(2)["in_split"], Json::parse("[64, 81, 100, 121]"));
    EXPECT_EQ(exchange(2)["in_msg_size"], 366);
    EXPECT_EQ(exchange(2)["dtype"], "byte");
}

TEST(ParamExport, SizesAreElementsAndStartsAreThoseWithoutANetwork) {
    Writer writer(4);
    const OperationId compute = writer.compute("k", 3_us);
    const OperationId gather = writer.collective(
        "g", {.kind = CollectiveKind::kAllGather, .partition = writer.world, .size = 16_B}, {compute});
    writer.collective("s", {.kind = CollectiveKind::kReduceScatter, .partition = writer.world, .size = 10_B},
                      {gather});
    writer.collective("a", {.kind = CollectiveKind::kAllToAll, .partition = writer.world, .size = 10_B},
                      {compute});
    const TemporaryFolder folder;
    ASSERT_EQ(write_export(writer.program, folder.path(), {.format = TraceExportFormat::kParam}), "");
    const Json entries = Json::parse(testing::read_file(folder.path() / "1.json"));
    // init, g, wait for g, s, a, and the waits that nothing needs.
    ASSERT_EQ(entries.size(), 7U);
    EXPECT_EQ(entries[1]["comms"], "all_gather_base");
    EXPECT_EQ(entries[1]["dtype"], "float32");
    EXPECT_EQ(entries[1]["in_msg_size"], 4);
    EXPECT_EQ(entries[1]["out_msg_size"], 16);
    EXPECT_EQ(entries[1]["startTime_ns"], 3000);
    EXPECT_EQ(entries[2]["comms"], "wait");
    // 10 B in 4 parts of 3.
    EXPECT_EQ(entries[3]["comms"], "reduce_scatter_base");
    EXPECT_EQ(entries[3]["in_msg_size"], 12);
    EXPECT_EQ(entries[3]["out_msg_size"], 3);
    // Ends at 2.5, 5, 7.5 and 10 B; rank 1 has the second part of each.
    EXPECT_EQ(entries[4]["comms"], "all_to_allv");
    EXPECT_EQ(entries[4]["in_split"], Json::parse("[2, 3, 2, 3]"));
    EXPECT_EQ(entries[4]["out_split"], Json::parse("[3, 3, 3, 3]"));
}

TEST(ParamExport, IsReadBackWithTheSameBytes) {
    const TemporaryFolder folder;
    ASSERT_EQ(write_export(everything(), folder.path(), {.format = TraceExportFormat::kParam}), "");
    ASSERT_TRUE(is_foreign_trace(folder.path()));
    const Result<ForeignTraces> described = describe_foreign_traces(folder.path());
    ASSERT_TRUE(described) << render(described.error());
    EXPECT_EQ(described->format, "param");
    std::map<std::string, std::string> facts(described->facts.begin(), described->facts.end());
    EXPECT_EQ(facts["ranks"], "4");
    EXPECT_EQ(facts["compute per rank"], "0 ps");  // waits take no time
    std::string all;
    for (const auto& [name, value] : facts) {
        all += name + ": " + value + "\n";
    }
    // In two iterations: 4 · 4,097 B reduced; of the pairs i · i without the diagonal 0, 25, 100, 225, and
    // Σ i² = 1,240, so 890 B exchanged; rows of two reduce 10 B each.
    for (const char* bytes :
         {"2, 32776 bytes over all ranks", "2, 1780 bytes over all ranks", "2, 40 bytes over all ranks"}) {
        EXPECT_NE(all.find(bytes), std::string::npos) << bytes << " in\n" << all;
    }
}

// ---- text

Program program_of(const std::string& text, const AstraOptions& options, std::size_t ranks) {
    const Result<AstraText> read = read_astra_text(text, "t");
    EXPECT_TRUE(read) << (read ? "" : render(read.error()));
    EXPECT_TRUE(validation_errors(*read, options, ranks).empty());
    return build_astra_program(*read, options, ranks);
}

struct TextCase {
    std::string text;
    AstraOptions options;
};

const std::vector<TextCase>& text_cases() {
    const std::string rows =
        "3\nL0 -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 4096 7\nL1 -1 11 NONE 0 21 NONE 0 31 "
        "REDUCESCATTER 8192 0\nL2 -1 12 NONE 0 22 NONE 0 0 ALLREDUCE 64 1\n";
    const std::string model =
        "3\nL0 -1 10 ALLGATHER 512 20 NONE 0 30 NONE 0 7\nL1 -1 11 ALLTOALL 64 21 ALLTOALL 64 "
        "31 NONE 0 0\nL2 -1 12 ALLREDUCE 8 22 ALLREDUCE 8 32 NONE 0 1\n";
    const std::string both =
        "3\nL0 -1 10 ALLGATHER 512 20 NONE 0 30 ALLREDUCE 64 7\nL1 -1 11 ALLTOALL 64 21 ALLTOALL "
        "64 31 ALLREDUCE 32 0\nL2 -1 12 ALLREDUCE 8 22 ALLREDUCE 8 32 NONE 0 1\n";
    const std::string dlrm =
        "4\nE -1 5 ALLTOALL 4096 0 ALLTOALL 4096 9 NONE 0 0\nB -1 10 NONE 0 20 NONE 0 30 ALLREDUCE "
        "4096 7\nT0 -1 11 NONE 0 21 NONE 0 31 ALLREDUCE 8192 0\nT1 -1 12 NONE 0 22 NONE 0 32 "
        "ALLREDUCE 64 1\n";
    static const std::vector<TextCase> cases{
        {"DATA\n" + rows, {.passes = 2}},
        {"MODEL\n" + model, {.passes = 2}},
        {"DISTRIBUTED_INFERENCE\n" + model, {}},
        {"MICRO\n1\nL0 -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 4096 0\n", {.passes = 3}},
        {"HYBRID_DATA_MODEL\n" + both, {.dimensions = {2, 4}, .passes = 2}},
        {"HYBRID_MODEL_DATA\n" + both, {.dimensions = {2, 4}}},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n" + both, {.passes = 2}},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 0 checkpoint_initiates: "
         "1 2\n" +
             both,
         {}},
        {"HYBRID_DLRM 1\n" + dlrm, {.passes = 2}},
        {"HYBRID_DLRM 1\n" + dlrm, {.passes = 2, .embedding_update = EmbeddingUpdate::kBeforeGradients}},
        {"HYBRID_DLRM_ENHANCED 1\n" + dlrm, {.passes = 2}}};
    return cases;
}

TEST(TextExport, ProgramsOfEveryLoopComeBackByWayOfText) {
    for (const TextCase& one : text_cases()) {
        const Program program = program_of(one.text, one.options, 8);
        const auto made = export_traces(program, {.format = TraceExportFormat::kText, .prefix = "t"});
        ASSERT_TRUE(made) << one.text << render(made.error());
        std::string written;
        (*made)->write(0, [&](std::string_view piece) { written += piece; });
        // The keys that the export says a reader needs.
        AstraOptions options{.passes = one.options.passes};
        for (const auto& [name, value] : (*made)->facts()) {
            if (name == "dimensions") {
                options.dimensions = one.options.dimensions;
                EXPECT_EQ(value, "[2, 4]");
            } else if (name == "embedding_update") {
                options.embedding_update =
                    value == "stale" ? EmbeddingUpdate::kStale : EmbeddingUpdate::kBeforeGradients;
            }
        }
        EXPECT_EQ(program_difference(program, program_of(written, options, 8)), "") << one.text << written;
    }
}

TEST(TextExport, AndByWayOfChakra) {
    for (const TextCase& one : text_cases()) {
        const Program program = program_of(one.text, one.options, 8);
        EXPECT_EQ(program_difference(program, by_way_of_chakra(program)), "") << one.text;
    }
}

TEST(TextExport, PublicTextsComeBackByWayOfChakra) {
    const std::filesystem::path folder =
        std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/traces/text";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "no public texts at hand";
    }
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (!entry.path().filename().string().starts_with("astra1_")) {
            continue;
        }
        const Result<AstraText> text =
            read_astra_text(testing::read_file(entry.path()), entry.path().string());
        ASSERT_TRUE(text) << render(text.error());
        const AstraOptions options{.dimensions = {4, 4}, .passes = 2};
        ASSERT_TRUE(validation_errors(*text, options, 16).empty()) << entry.path();
        const Program program = build_astra_program(*text, options, 16);
        EXPECT_EQ(program_difference(program, by_way_of_chakra(program)), "") << entry.path();
        ++found;
    }
    EXPECT_GE(found, 5U);
}

TEST(TextExport, WhatNoKeywordSaysIsRefusedWithTheFirstDifference) {
    const auto refusal = [](const Program& program) {
        const auto made = export_traces(program, {.format = TraceExportFormat::kText});
        return made ? std::string("written") : render(made.error());
    };
    EXPECT_NE(refusal(everything()).find("several streams"), std::string::npos);
    Program program = program_of(text_cases()[8].text, {.passes = 2}, 8);
    // Nothing waits for the embeddings of iteration 0: T0 could be a bottom layer, but then T1 would wait.
    const auto changed = std::find_if(program.operations.begin(), program.operations.end(),
                                      [](const auto& one) { return one.name == "T0.forward"; });
    changed->dependencies.clear();
    const std::string said = refusal(program);
    EXPECT_NE(said.find("'T1.forward' is where the loop of HYBRID_DLRM"), std::string::npos) << said;
    Writer writer(2);
    writer.compute("alone", 1_us);
    EXPECT_NE(refusal(writer.program).find("'alone' belongs to no layer"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::workload
