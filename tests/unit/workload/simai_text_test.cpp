// SimAI's dialect of text workloads: sizes of groups in line 1, groups as suffixes of collectives.

#include "workload/src/traces/astra_text.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::workload {
namespace {

using system::CollectiveKind;
using system::Operation;
using system::Program;

/// 16 ranks: tensor groups of 2, expert groups of 2, so data parallelism of 8 is 2 · 4.
const std::string kHeader =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 16 "
    "checkpoints: 0 checkpoint_initiates: 0";

AstraText read(const std::string& text) {
    Result<AstraText> result = read_astra_text(text, "t");
    EXPECT_TRUE(result) << render(result ? Diagnostics{} : result.error());
    return std::move(result).value();
}

void expect_defect(const std::string& text, const std::string& expected) {
    const Result<AstraText> result = read_astra_text(text, "t");
    ASSERT_FALSE(result) << expected;
    EXPECT_NE(render(result.error()).find(expected), std::string::npos) << render(result.error());
}

const Operation& collective(const Program& program, CollectiveKind kind, std::size_t index = 0) {
    for (const Operation& operation : program.operations) {
        if (operation.is_collective() && operation.collective().kind == kind && index-- == 0) {
            return operation;
        }
    }
    ADD_FAILURE() << "there is no such collective";
    return program.operations[system::OperationId(0)];
}

/// "0 2 4": the group that rank 1 is in.
std::string group_of_rank_1(const Program& program, const Operation& operation) {
    for (const auto& group : program.partitions[operation.collective().partition].groups) {
        std::string text;
        bool is_own = false;
        for (const system::RankId rank : group) {
            text += (text.empty() ? "" : " ") + std::to_string(rank.index());
            is_own = is_own || rank.index() == 1;
        }
        if (is_own) {
            return text;
        }
    }
    return "";
}

TEST(SimaiText, SuffixesChooseGroups) {
    const Program program = build_astra_program(
        read(kHeader + "\n2\nL\t-1 100 ALLGATHER 1001 100 ALLTOALL_EP 64 100 REDUCESCATTER 128 1 \n"
                       "M -1 100 REDUCESCATTER_DP 32 100 NONE 0 100 ALLREDUCE_DP_EP 256 1\n"),
        {}, 16);
    // The result of 1,001 bytes is of two ranks, 500.5 rounded up each.
    const Operation& gather = collective(program, CollectiveKind::kAllGather);
    EXPECT_EQ(gather.collective().size, Bytes(501));
    EXPECT_EQ(group_of_rank_1(program, gather), "0 1");
    EXPECT_EQ(group_of_rank_1(program, collective(program, CollectiveKind::kAllToAll)), "1 3");
    EXPECT_EQ(group_of_rank_1(program, collective(program, CollectiveKind::kAllReduce)), "1 5 9 13");
    // Forward of M with a suffix, weight gradient of L without one: both data parallel.
    EXPECT_EQ(group_of_rank_1(program, collective(program, CollectiveKind::kReduceScatter, 0)),
              "1 3 5 7 9 11 13 15");
    EXPECT_EQ(group_of_rank_1(program, collective(program, CollectiveKind::kReduceScatter, 1)),
              "1 3 5 7 9 11 13 15");
}

TEST(SimaiText, StagesAreTheSlowestDimension) {
    const std::string header =
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 2 vpp: 1 ga: 1 all_gpus: 8";
    const Program program =
        build_astra_program(read(header + "\n1\nL -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 1\n"), {}, 8);
    EXPECT_EQ(group_of_rank_1(program, collective(program, CollectiveKind::kAllReduce)), "1 3");
}

TEST(SimaiText, TheTransferBetweenStagesHasNoColonOrOne) {
    EXPECT_EQ(
        read(kHeader + " pp_comm 50331648\n1\nL -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n").simai->between_stages,
        50331648);
    EXPECT_EQ(read(kHeader + " pp_comm: 7\n1\nL -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n").simai->between_stages, 7);
    expect_defect(
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 2 vpp: 1 ga: 1 all_gpus: 8 pp_comm 7\n"
        "1\nL -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
        "t:1:85: error[astra.pipeline]: 2 stages would send each other 7 bytes");
}

TEST(SimaiText, UnknownSuffixesAndLabelsAreRefused) {
    expect_defect(
        kHeader + "\n1\nL -1 1 ALLREDUCE_CP 8 1 NONE 0 1 NONE 0 1\n",
        "t:3:8: error[astra.collective]: forward collective is 'ALLREDUCE_CP', which is no collective");
    expect_defect(kHeader + "\n1\nL -1 1 ALLREDUCE_CP 8 1 NONE 0 1 NONE 0 1\n",
                  "the suffixes of groups are _EP, _DP and _DP_EP");
    // Without the sizes of SimAI there are no suffixes.
    expect_defect(
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\nL -1 1 ALLREDUCE_EP 8 1 NONE 0 1 NONE 0 1\n",
        "'ALLREDUCE_EP', which is no collective");
    expect_defect(
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 vpp: 1\n1\nL -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
        "found 'vpp:', expected 'pp:'");
    expect_defect(
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 0 pp: 1\n1\nL -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
        "expected at least 1");
}

TEST(SimaiText, SizesMakeTheRanks) {
    const AstraText text = read(kHeader + "\n1\nL -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n");
    EXPECT_TRUE(validation_errors(text, {}, 16).empty());
    ASSERT_EQ(validation_errors(text, {}, 8).size(), 1U);
    EXPECT_EQ(validation_errors(text, {}, 8)[0].message, "all_gpus is 16, and the cluster has 8 ranks");
    AstraOptions options;
    options.dimensions = {16};
    ASSERT_EQ(validation_errors(text, options, 16).size(), 1U);
    EXPECT_EQ(validation_errors(text, options, 16)[0].key, "dimensions");
    AstraText odd = text;
    odd.simai->expert_group = 3;
    ASSERT_EQ(validation_errors(odd, {}, 16).size(), 1U);
    EXPECT_NE(validation_errors(odd, {}, 16)[0].message.find("16 ranks are not divided"), std::string::npos);
}

TEST(SimaiText, ThePublicFileIsRead) {
    const std::filesystem::path path = std::filesystem::path(ASTROLABE_SOURCE_DIR).parent_path() /
                                       "shared/data/traces/text/simai_microAllReduce.txt";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "the file is not here";
    }
    std::ifstream file(path);
    const AstraText text = read({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
    EXPECT_EQ(text.tensor_group, 8);
    EXPECT_EQ(text.simai->virtual_stages, 8);
    const Program program = build_astra_program(text, {}, 8);
    EXPECT_EQ(collective(program, CollectiveKind::kAllReduce, 0).collective().size, Bytes(16777216));
    EXPECT_EQ(collective(program, CollectiveKind::kAllReduce, 1).collective().size, Bytes(67108864));
}

}  // namespace
}  // namespace astrolabe::workload
