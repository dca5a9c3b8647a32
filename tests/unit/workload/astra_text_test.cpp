/// Text workloads of ASTRA-sim 1.0 (docs/theory/traces.md, "Text workload of ASTRA-sim 1.0" and "Dimensions a
/// collective spans").

#include "workload/src/traces/astra_text.hpp"

#include "study.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/core/limits.hpp>
#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::Operation;
using system::Program;
using system::RankId;

constexpr RankId kAnyRank(0);
using Lines = std::vector<std::string>;

AstraText read(const std::string& text) {
    Result<AstraText> result = read_astra_text(text, "trace.txt");
    EXPECT_TRUE(result) << render(result ? Diagnostics{} : result.error());
    return std::move(result).value();
}

/// "place code" of every defect.
Lines defects(const std::string& text) {
    const Result<AstraText> result = read_astra_text(text, "t");
    Lines lines;
    if (!result) {
        for (const Diagnostic& diagnostic : result.error()) {
            EXPECT_FALSE(diagnostic.hint.empty()) << diagnostic.message;
            lines.push_back(diagnostic.where.to_string() + " " + diagnostic.code);
        }
    }
    return lines;
}

/// One group as "0 2 4".
std::string group(const Program& program, const std::string& operation, std::size_t index) {
    for (const Operation& candidate : program.operations) {
        if (candidate.name == operation) {
            std::string text;
            for (const RankId rank : program.partitions[candidate.collective().partition].groups.at(index)) {
                text += (text.empty() ? "" : " ") + std::to_string(rank.index());
            }
            return text;
        }
    }
    return "no " + operation;
}

const std::string kRow = "A -1 1 ALLGATHER 8 2 REDUCESCATTER 16 3 ALLREDUCE 32 4\n";
const std::string kWeightsRow = "A -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 32 4\n";

TEST(AstraText, ReadsEveryColumn) {
    const AstraText text = read("HYBRID_DATA_MODEL\n1\n" + kRow);
    ASSERT_EQ(text.layers.size(), 1U);
    const AstraLayer& layer = text.layers[0];
    EXPECT_EQ(text.keyword, AstraKeyword::kHybridDataModel);
    EXPECT_EQ(layer.name, "A");
    EXPECT_EQ(layer.forward.cycles, 1);
    EXPECT_EQ(layer.forward.collective->kind, CollectiveKind::kAllGather);
    EXPECT_EQ(layer.forward.collective->size, 8_B);
    EXPECT_EQ(layer.input_gradient.cycles, 2);
    EXPECT_EQ(layer.input_gradient.collective->kind, CollectiveKind::kReduceScatter);
    EXPECT_EQ(layer.input_gradient.collective->size, 16_B);
    EXPECT_EQ(layer.weight_gradient.cycles, 3);
    EXPECT_EQ(layer.weight_gradient.collective->kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(layer.weight_gradient.collective->size, 32_B);
    EXPECT_EQ(layer.update_delay, 4);
}

TEST(AstraText, TakesWindowsLinesTabsWholeFloatsAndEmptyLines) {
    const AstraText text = read("DATA\t\r\n\r\n1.0\r\nA\t-1 1.00 NONE 0 2 NONE 0 3 ALLREDUCE 32 4\t\r\n\r\n");
    EXPECT_EQ(text.layers.at(0).forward.cycles, 1);
    EXPECT_EQ(text.layers.at(0).update_delay, 4);
}

TEST(AstraText, ReadsTheTokensOfEveryKeyword) {
    EXPECT_EQ(read("HYBRID_DLRM 0\n2\n" + kWeightsRow + kWeightsRow).last_bottom_layer, 0U);
    EXPECT_EQ(read("HYBRID_TRANSFORMER model_parallel_NPU_group: 4\n1\n" + kRow).tensor_group, 4);
    const AstraText text = read(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 2 0 1 "
        "checkpoint_initiates: 1 2\n3\n" +
        kRow + kRow + kRow);
    EXPECT_EQ(text.tensor_group, 2);
    EXPECT_EQ(text.checkpoints.kept, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(text.checkpoints.initiates, (std::vector<std::size_t>{2}));
    const std::string all_but_end = kRow.substr(0, kRow.size() - 1);
    EXPECT_EQ(read("HYBRID_CUSTOMIZED\n1\n" + all_but_end + " HYBRID_MODEL_DATA\n").layers[0].policy,
              AstraKeyword::kHybridModelData);
    EXPECT_EQ(read("MICRO\n1\n" + kWeightsRow).keyword, AstraKeyword::kMicro);
    EXPECT_EQ(read("MODEL\n1\nA -1 1 ALLGATHER 8 2 NONE 0 3 NONE 0 0").keyword, AstraKeyword::kModel);
    EXPECT_EQ(read("DISTRIBUTED_INFERENCE\n1\nA -1 1 ALLGATHER 8 2 NONE 0 3 NONE 0 0").keyword,
              AstraKeyword::kDistributedInference);
}

TEST(AstraText, SaysEachDefectOfTheFirstLines) {
    EXPECT_EQ(defects(" \n"), (Lines{"t:1:1 astra.empty"}));
    EXPECT_EQ(defects("DATE\n1\n" + kWeightsRow), (Lines{"t:1:1 astra.keyword"}));
    EXPECT_EQ(defects("DATA 3\n1\n" + kWeightsRow), (Lines{"t:1:6 astra.extra-token"}));
    EXPECT_EQ(defects("HYBRID_DLRM\n2\n" + kWeightsRow + kWeightsRow), (Lines{"t:1:1 astra.missing-token"}));
    EXPECT_EQ(defects("HYBRID_DLRM 1\n2\n" + kWeightsRow + kWeightsRow), (Lines{"t:1:13 astra.layer"}));
    EXPECT_EQ(defects("HYBRID_TRANSFORMER npus: 2\n1\n" + kRow), (Lines{"t:1:20 astra.label"}));
    EXPECT_EQ(defects("HYBRID_TRANSFORMER model_parallel_NPU_group: 0\n1\n" + kRow),
              (Lines{"t:1:46 astra.range"}));
    EXPECT_EQ(defects("DATA"), (Lines{"t:1:1 astra.layer-count"}));
    EXPECT_EQ(defects("DATA\n0\n"), (Lines{"t:2:1 astra.range"}));
    EXPECT_EQ(defects("DATA\n1 1\n" + kWeightsRow), (Lines{"t:2:1 astra.layer-count"}));
}

TEST(AstraText, CheckpointsNameLayersWithAKeptOneBelow) {
    // Columns: the keyword takes 31 characters, "model_parallel_NPU_group:" 25, "checkpoints:" 12,
    // "checkpoint_initiates:" 21: kept layer at 31+1+25+1+1+1+12+1+1+2 = 76, initiator at 76+2+21+1+1+2-1 =
    // 102.
    const std::string start = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 ";
    const std::string layers = "\n2\n" + kRow + kRow;
    EXPECT_EQ(defects(start + "1 checkpoint_initiates: 1 1" + layers), (Lines{"t:1:102 astra.checkpoint"}));
    EXPECT_EQ(defects(start + "2 checkpoint_initiates: 0" + layers), (Lines{"t:1:76 astra.layer"}));
}

// 100,000 initiators and as many kept layers would be compared 10^10 times; the lowest kept one is compared
// with each. 2 · 100,000 tokens of 2 bytes are less than half a megabyte.
TEST(AstraText, ListsOfCheckpointsTakeTimeInProportionToTheirLength) {
    constexpr std::size_t kListed = 100'000;
    const auto header = [](const std::string& kept, char initiating) {
        std::string line = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: ";
        line += std::to_string(kListed) + kept + " checkpoint_initiates: " + std::to_string(kListed);
        for (std::size_t i = 0; i < kListed; ++i) {
            line += {' ', initiating};
        }
        return line + "\n2\n" + kRow + kRow;
    };
    std::string kept;
    for (std::size_t i = 1; i < kListed; ++i) {
        kept += " 1";
    }
    // The kept layer 0, the last in the list, is below all initiators.
    EXPECT_EQ(read(header(kept + " 0", '1')).checkpoints.initiates.size(), kListed);
    // None is below layer 1: an error for each initiator, of which as many are kept as are shown.
    const Lines lines = defects(header(kept + " 1", '1'));
    ASSERT_EQ(lines.size(), limits::kErrorsShown);
    // 73 characters before the number of kept layers, which is 6 long; then 2 · 100,000 of these, " " and
    // "checkpoint_initiates:" (22), " 100000" (7), a blank, and the first initiator.
    EXPECT_EQ(lines.front(), "t:1:200110 astra.checkpoint");
}

TEST(AstraText, KeepsAsManyErrorsAsAreShown) {
    std::string text = "DATA\n1000\n";
    for (int layer = 0; layer < 1000; ++layer) {
        text += "A\n";
    }
    const Lines lines = defects(text);
    ASSERT_EQ(lines.size(), limits::kErrorsShown);
    // Layers begin on line 3.
    EXPECT_EQ(lines.front(), "t:3:1 astra.columns");
    EXPECT_EQ(lines.back(), "t:" + std::to_string(2 + limits::kErrorsShown) + ":1 astra.columns");
}

TEST(AstraText, SaysEachDefectOfALayer) {
    const std::string start = "DATA\n1\n";
    EXPECT_EQ(defects(start + "A -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 32\n"), (Lines{"t:3:1 astra.columns"}));
    EXPECT_EQ(defects(start + "A -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 32 4 DATA\n"),
              (Lines{"t:3:1 astra.columns"}));
    EXPECT_EQ(defects(start + "A x 1 NONE 0 2 NONE 0 3 ALLREDUCE 32 4\n"), (Lines{"t:3:3 astra.number"}));
    EXPECT_EQ(defects(start + "A -1 -1 NONE 0 2 NONE 0 3 ALLREDUCE 32 4\n"), (Lines{"t:3:6 astra.range"}));
    EXPECT_EQ(defects(start + "A -1 1.5 NONE 0 2 NONE 0 3 ALLREDUCE 32 4\n"), (Lines{"t:3:6 astra.number"}));
    EXPECT_EQ(defects(start + "A -1 9223372036854775808 NONE 0 2 NONE 0 3 ALLREDUCE 32 4\n"),
              (Lines{"t:3:6 astra.range"}));
    EXPECT_EQ(defects(start + "A -1 1 NONE 0 2 NONE 0 3 ALLREDUCED 32 4\n"),
              (Lines{"t:3:26 astra.collective"}));
    EXPECT_EQ(defects(start + "A -1 1 NONE 7 2 NONE 0 3 ALLREDUCE 32 4\n"), (Lines{"t:3:13 astra.size"}));
    EXPECT_EQ(defects(start + "A -1 1 ALLGATHER 7 2 NONE 0 3 ALLREDUCE 32 4\n"), (Lines{"t:3:8 astra.pass"}));
    EXPECT_EQ(defects("HYBRID_CUSTOMIZED\n1\nA -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 32 4 MICRO\n"),
              (Lines{"t:3:41 astra.policy"}));
    EXPECT_EQ(defects("MICRO\n1\nA -1 1 NONE 0 2 NONE 0 3 NONE 0 4\n"), (Lines{"t:3:26 astra.micro"}));
}

TEST(AstraText, SaysAllDefectsAtOnce) {
    EXPECT_EQ(defects("DATE\n2\nA -1 x NONE 0 2 NONE 0 3 ALLREDUCES 32 4\n"
                      "B -1 1 NONE 0\nC too many\n"),
              (Lines{"t:1:1 astra.keyword", "t:3:6 astra.number", "t:3:26 astra.collective",
                     "t:4:1 astra.columns", "t:5:1 astra.trailing"}));
    EXPECT_EQ(defects("DATA\n2\n" + kWeightsRow), (Lines{"t:2:1 astra.layer-count"}));
}

TEST(AstraText, HintsNameTheNearestWord) {
    const Result<AstraText> result = read_astra_text("HYBRID_DLRN 1\n1\n" + kWeightsRow, "t");
    ASSERT_FALSE(result);
    EXPECT_NE(result.error()[0].hint.find("'HYBRID_DLRM'"), std::string::npos) << result.error()[0].hint;
}

TEST(AstraProgram, SpansTheDimensionsOfItsKeyword) {
    // 8 ranks = 4 x 2, dimension 0 fastest: dimension 0 has groups {0..3}, {4..7}, dimension 1 {r, r + 4}.
    const AstraOptions options{.dimensions = {4, 2}};
    const Program data_model = build_astra_program(read("HYBRID_DATA_MODEL\n1\n" + kRow), options, 8);
    EXPECT_EQ(group(data_model, "A.forward.all_gather", 0), "0 1 2 3");
    EXPECT_EQ(group(data_model, "A.forward.all_gather", 1), "4 5 6 7");
    EXPECT_EQ(group(data_model, "A.weight_gradient.all_reduce", 1), "1 5");
    const Program model_data = build_astra_program(read("HYBRID_MODEL_DATA\n1\n" + kRow), options, 8);
    EXPECT_EQ(group(model_data, "A.forward.all_gather", 3), "3 7");
    EXPECT_EQ(group(model_data, "A.weight_gradient.all_reduce", 0), "0 1 2 3");
    const Program data = build_astra_program(read("DATA\n1\n" + kWeightsRow), options, 8);
    EXPECT_EQ(group(data, "A.weight_gradient.all_reduce", 0), "0 1 2 3 4 5 6 7");
}

TEST(AstraProgram, SplitsTheDimensionInWhichTheTensorGroupEnds) {
    const AstraText text = read("HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\n" + kRow);
    // One dimension 8 becomes 2 x 4: neighbours 2k, 2k + 1 share tensors, the others replicate.
    const Program flat = build_astra_program(text, {}, 8);
    EXPECT_EQ(group(flat, "A.forward.all_gather", 3), "6 7");
    EXPECT_EQ(group(flat, "A.input_gradient.reduce_scatter", 0), "0 1");
    EXPECT_EQ(group(flat, "A.weight_gradient.all_reduce", 1), "1 3 5 7");
    const Program square = build_astra_program(text, {.dimensions = {2, 2, 2}}, 8);
    EXPECT_EQ(group(square, "A.weight_gradient.all_reduce", 0), "0 2 4 6");
}

TEST(AstraProgram, LayersOfACustomizedFileFollowTheirOwnPolicy) {
    const Program program =
        build_astra_program(read("HYBRID_CUSTOMIZED\n2\n"
                                 "A -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 32 4 DATA\n"
                                 "B -1 1 ALLGATHER 8 2 NONE 0 3 ALLREDUCE 32 4 HYBRID_DATA_MODEL\n"),
                            {.dimensions = {2, 2}}, 4);
    EXPECT_EQ(group(program, "A.weight_gradient.all_reduce", 0), "0 1 2 3");
    EXPECT_EQ(group(program, "B.forward.all_gather", 1), "2 3");
    EXPECT_EQ(group(program, "B.weight_gradient.all_reduce", 1), "1 3");
}

TEST(AstraProgram, ScalesComputeAndSizesButNotTheUpdateDelay) {
    const TrainingPlan plan = astra_training_plan(read("DATA\n1\n" + kWeightsRow),
                                                  {.compute_scale = 0.0005, .comm_scale = 1.01}, 2);
    // 1 and 3 cycles: 0.5 ps and 1.5 ps, rounded up; 32 B · 1.01 = 32.32 B.
    EXPECT_EQ(plan.layers[0].forward[kAnyRank], 1_ps);
    EXPECT_EQ((*plan.layers[0].weight_gradient)[kAnyRank], 2_ps);
    EXPECT_EQ(plan.layers[0].weight_gradient_communication->size, 33_B);
    EXPECT_EQ(plan.layers[0].update_delay, 4_ns);
}

TEST(AstraProgram, RepeatedNamesAreToldApart) {
    const TrainingPlan plan = astra_training_plan(read("DATA\n2\n" + kWeightsRow + kWeightsRow), {}, 2);
    EXPECT_EQ(plan.layers[0].name, "A");
    EXPECT_EQ(plan.layers[1].name, "A#1");
}

TEST(AstraProgram, EnhancedLoopLeavesTheEmbeddingGradientsUnawaited) {
    const std::string rows = "E -1 1 ALLTOALL 8 0 ALLTOALL 8 3 NONE 0 0\n" + kWeightsRow;
    const auto waits = [&](const std::string& keyword, const AstraOptions& options) {
        std::size_t found = 0;
        const Program program = build_astra_program(read(keyword + " 0\n2\n" + rows), options, 2);
        for (const Operation& operation : program.operations) {
            for (const system::OperationId dependency : operation.dependencies) {
                found += program.operations[dependency].name == "E.input_gradient.all_to_all" ? 1U : 0U;
            }
        }
        return found;
    };
    EXPECT_EQ(waits("HYBRID_DLRM", {}), 1U);
    EXPECT_EQ(waits("HYBRID_DLRM_ENHANCED", {}), 0U);
    EXPECT_EQ(waits("HYBRID_DLRM", {.embedding_update = EmbeddingUpdate::kStale}), 0U);
}

/// Keys of the problems.
Lines problem_keys(const std::string& text, const AstraOptions& options, std::size_t ranks) {
    Lines keys;
    for (const ValidationError& problem : validation_errors(read(text), options, ranks)) {
        keys.push_back(problem.key);
    }
    return keys;
}

TEST(AstraProblems, DimensionsMakeTheRanksAndHoldTheTensorGroup) {
    const std::string transformer = "HYBRID_TRANSFORMER model_parallel_NPU_group: 4\n1\n" + kRow;
    EXPECT_EQ(problem_keys(transformer, {}, 8), Lines{});
    EXPECT_EQ(problem_keys(transformer, {}, 6), Lines{"dimensions"});
    EXPECT_EQ(problem_keys(transformer, {.dimensions = {3, 4}}, 12), Lines{"dimensions"});
    EXPECT_EQ(problem_keys(transformer, {.dimensions = {4, 2}}, 9), Lines{"dimensions"});
    EXPECT_EQ(problem_keys("HYBRID_DATA_MODEL\n1\n" + kRow, {}, 8), Lines{"dimensions"});
}

TEST(AstraProblems, ValuesStayWithinTimeAndSize) {
    EXPECT_EQ(problem_keys("DATA\n1\nA -1 9223372036854775807 NONE 0 2 NONE 0 3 NONE 0 0\n", {}, 2),
              Lines{"trace"});
    EXPECT_EQ(problem_keys("DATA\n1\nA -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 9223372036854775807 0\n", {}, 2),
              Lines{"trace"});
    EXPECT_EQ(problem_keys("DATA\n1\n" + kWeightsRow, {.embedding_update = EmbeddingUpdate::kStale}, 2),
              Lines{"embedding_update"});
}

std::string trace_of_the_study() {
    std::ifstream file(ASTROLABE_SOURCE_DIR "/inputs/traces/dlrm-hoti20.txt");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(AstraStudy, TraceIsTheProgramOfTheModel) {
    // The trace truncates each time to whole nanoseconds, but doubles the truncated lookup for the update:
    // less than 2 ns apart; everything else is the same operation by operation.
    const testing::Profile study = testing::paper128();
    const Program expected = build_dlrm_program(study.model, study.training, study.device, study.ranks);
    const Program program = build_astra_program(read(trace_of_the_study()), {}, study.ranks);
    ASSERT_EQ(program.operations.size(), expected.operations.size());
    for (std::size_t i = 0; i < expected.operations.size(); ++i) {
        const Operation& ours = program.operations[system::OperationId(i)];
        const Operation& theirs = expected.operations[system::OperationId(i)];
        SCOPED_TRACE(theirs.name);
        EXPECT_EQ(ours.name, theirs.name);
        EXPECT_EQ(ours.dependencies, theirs.dependencies);
        ASSERT_EQ(ours.is_compute(), theirs.is_compute());
        if (ours.is_compute()) {
            const Time apart = theirs.compute().duration[kAnyRank] - ours.compute().duration[kAnyRank];
            EXPECT_LT(std::abs(apart.count()), (2_ns).count());
        } else {
            EXPECT_EQ(ours.collective().kind, theirs.collective().kind);
            EXPECT_EQ(ours.collective().size, theirs.collective().size);
            EXPECT_EQ(ours.collective().priority, theirs.collective().priority);
        }
    }
}

TEST(AstraComponent, ReadsItsTraceBesideTheFileThatNamesIt) {
    Registry<Job> registry("workload");
    register_builtin_workloads(registry);
    const Result<ConfigNode> node =
        parse_config("kind: astra_text\ntrace: traces/dlrm-hoti20.txt\npasses: 2\ncompute_scale: 0.5\n",
                     ASTROLABE_SOURCE_DIR "/inputs/job.yaml");
    ASSERT_TRUE(node);
    ReadContext context;
    const auto configured = registry.read(*node, context);
    ASSERT_TRUE(configured) << render(context.errors());
    const Job job = configured->make();
    EXPECT_TRUE(job.validation_errors({}, 128).empty());
    EXPECT_TRUE(job.device_errors({}).empty());
    const Program program = job.program({}, 128);
    EXPECT_EQ(program.iterations, 2);
    // The lookup of 279620 cycles, halved.
    EXPECT_EQ(program.operations[system::OperationId(0)].compute().duration[kAnyRank], 139'810_ns);
    // What was resolved reads back from any folder.
    ReadContext again;
    EXPECT_TRUE(registry.read(configured->resolved, again)) << render(again.errors());
}

TEST(AstraComponent, DefectsAreReportedInTheTrace) {
    const std::string folder = ::testing::TempDir();
    std::ofstream(folder + "/astra_broken.txt") << "DATA\n1\nA -1 1 NONE 0 2 NONE 0 3 SOME 32 4\n";
    Registry<Job> registry("workload");
    register_builtin_workloads(registry);
    const auto errors_of = [&](const std::string& trace) {
        const Result<ConfigNode> node =
            parse_config("kind: astra_text\ntrace: " + trace + "\n", folder + "/job.yaml");
        ReadContext context;
        EXPECT_FALSE(registry.read(*node, context));
        return render(context.errors());
    };
    EXPECT_NE(errors_of("astra_broken.txt").find("astra_broken.txt:3:26: error[astra.collective]"),
              std::string::npos);
    // The name of a layer goes into tables and figures: "caf\xe9" is Latin-1, its last byte the fourth of
    // line 3.
    std::ofstream(folder + "/astra_latin.txt") << "DATA\n1\ncaf\xE9 -1 1 NONE 0 2 NONE 0 3 NONE 0 4\n";
    EXPECT_NE(errors_of("astra_latin.txt").find("astra_latin.txt:3:4: error[astra.encoding]: byte 0xe9"),
              std::string::npos);
    EXPECT_NE(errors_of("absent.txt").find("job.yaml:2:8: error[config.file]"), std::string::npos);
    std::ofstream(folder + "/astra_large.txt") << "DATA\n";
    // One byte above 64 MiB, none of them on the disk.
    std::filesystem::resize_file(folder + "/astra_large.txt", limits::kFileBytes + 1);
    const std::string large = errors_of("astra_large.txt");
    EXPECT_NE(large.find("job.yaml:2:8: error[config.limit]"), std::string::npos) << large;
    EXPECT_NE(large.find("67108865 bytes, expected at most 67108864"), std::string::npos) << large;
    std::filesystem::remove(folder + "/astra_large.txt");
}

}  // namespace
}  // namespace astrolabe::workload
