// One broken program per rule of the contract.

#include "program_builder.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

using system::CollectiveKind;
using system::OperationId;
using system::Partition;
using system::PartitionId;
using system::PerRank;
using system::Program;
using system::RankId;

std::string error_of(const Program& program) {
    try {
        program.check();
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "";
}

Program sound_program() {
    ProgramBuilder builder(3);
    const OperationId step = builder.compute("step", PerRank<Time>({Time(1), Time(2), Time(3)}));
    builder.collective("reduce", {.size = Bytes(8)}, {step});
    return builder.program();
}

TEST(Program, AcceptsASoundOne) {
    EXPECT_EQ(error_of(sound_program()), "");
}

TEST(Program, RefusesADependencyThatIsNotEarlier) {
    Program program = sound_program();
    program.operations[OperationId(0)].dependencies = {OperationId(1)};
    EXPECT_EQ(error_of(program), "program: 'step' depends on operation 1, which is not before it (0)");
}

TEST(Program, RefusesANameTwiceInAnIteration) {
    Program program = sound_program();
    program.operations[OperationId(1)].name = "step";
    EXPECT_EQ(error_of(program), "program: 'step' appears twice in iteration 0");
}

TEST(Program, RefusesAnIterationItDoesNotHave) {
    Program program = sound_program();
    program.operations[OperationId(1)].iteration = 1;
    EXPECT_EQ(error_of(program), "program: 'reduce' belongs to iteration 1 of 1");
}

TEST(Program, RefusesStreamsItDoesNotHave) {
    Program program = sound_program();
    std::get<system::ComputeOperation>(program.operations[OperationId(0)].work).stream = 1;
    EXPECT_EQ(error_of(program), "program: 'step' runs on stream 1 of 1");
    program.streams.emplace_back("host");
    EXPECT_EQ(error_of(program), "");
    program.compute_order = system::ComputeOrder::kFirstCome;
    EXPECT_EQ(error_of(program), "program: 2 streams in first-come order, which is one stream's");
}

TEST(Program, RefusesStreamsThatCannotBeToldApart) {
    Program program = sound_program();
    program.streams = {"host", "host"};
    EXPECT_EQ(error_of(program), "program: two streams have the same name");
    program.streams.clear();
    EXPECT_EQ(error_of(program), "program: no streams");
}

TEST(Program, RefusesDurationsForOtherRanks) {
    Program program = sound_program();
    std::get<system::ComputeOperation>(program.operations[OperationId(0)].work).duration =
        PerRank<Time>(std::vector<Time>{Time(1)});
    EXPECT_EQ(error_of(program), "program: 'step' has 1 durations for 3 ranks");
}

TEST(Program, RefusesNegativeQuantities) {
    Program slow = sound_program();
    std::get<system::ComputeOperation>(slow.operations[OperationId(0)].work).duration = Time(-1);
    EXPECT_EQ(error_of(slow), "program: 'step' takes negative time on rank 0");
    Program small = sound_program();
    std::get<system::CollectiveOperation>(small.operations[OperationId(1)].work).size = Bytes(-1);
    EXPECT_EQ(error_of(small), "program: 'reduce' has a negative size");
}

TEST(Program, RefusesAPartitionThatDoesNotExist) {
    Program program = sound_program();
    std::get<system::CollectiveOperation>(program.operations[OperationId(1)].work).partition = PartitionId(1);
    EXPECT_EQ(error_of(program), "program: 'reduce' names a partition that does not exist");
}

TEST(Program, RefusesPartitionsThatNameRanksTwiceOrStrangers) {
    Program twice = sound_program();
    twice.partitions.push_back({"twice", {{RankId(0), RankId(1)}, {RankId(1), RankId(2)}}});
    EXPECT_EQ(error_of(twice), "program: partition 'twice' names rank 1 twice");
    Program stranger = sound_program();
    stranger.partitions.push_back({"strange", {{RankId(0), RankId(1), RankId(3)}}});
    EXPECT_EQ(error_of(stranger), "program: partition 'strange' names rank 3 of 3");
}

TEST(Program, NamesItsKinds) {
    EXPECT_EQ(to_string(CollectiveKind::kAllReduce), "all_reduce");
    EXPECT_EQ(to_string(CollectiveKind::kReduceScatter), "reduce_scatter");
    EXPECT_EQ(to_string(CollectiveKind::kAllGather), "all_gather");
    EXPECT_EQ(to_string(CollectiveKind::kAllToAll), "all_to_all");
}

}  // namespace
}  // namespace astrolabe::testing
