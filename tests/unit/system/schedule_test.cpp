// Writing schedules: matching, symmetries, sizes, and every mistake the builder names.

#include "system/src/schedule/proof.hpp"

#include <bit>
#include <stdexcept>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system {
namespace {

constexpr BlockReference kWhole{};

ScheduleBuilder pair_builder() {
    return {CollectiveKind::kAllReduce, 2, 1, Symmetry::kNone};
}

std::string error_of(ScheduleBuilder builder) {
    try {
        static_cast<void>(std::move(builder).build());
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "";
}

TEST(ScheduleBuilder, MatchesTheKthSendWithTheKthReceiveOfThePair) {
    ScheduleBuilder builder = pair_builder();
    builder.send(0, 1, {&kWhole, 1}, {});
    builder.receive(0, 1, {&kWhole, 1}, {}, true);
    builder.send(0, 1, {&kWhole, 1}, {});
    builder.receive(1, 0, {&kWhole, 1}, {}, true);
    builder.receive(1, 0, {&kWhole, 1}, {}, false);
    builder.send(1, 0, {&kWhole, 1}, {});
    const CollectiveSchedule schedule = std::move(builder).build();
    EXPECT_EQ(schedule.program(0).actions[0].match, 0U);
    EXPECT_EQ(schedule.program(0).actions[2].match, 1U);
    EXPECT_EQ(schedule.program(0).actions[1].match, 2U);
    EXPECT_EQ(schedule.program(1).actions[2].match, 1U);
    EXPECT_EQ(schedule.message_count(), 3U);
}

TEST(ScheduleBuilder, NamesASendWithoutReceive) {
    ScheduleBuilder builder = pair_builder();
    builder.send(0, 1, {&kWhole, 1}, {});
    EXPECT_EQ(error_of(std::move(builder)), "schedule: rank 0 action 0: the send has no receive");
}

TEST(ScheduleBuilder, NamesAReceiveWithoutSend) {
    ScheduleBuilder builder = pair_builder();
    builder.receive(1, 0, {&kWhole, 1}, {}, false);
    EXPECT_EQ(error_of(std::move(builder)), "schedule: rank 1 action 0: the receive has no send");
}

TEST(ScheduleBuilder, RefusesALaterDependency) {
    ScheduleBuilder builder = pair_builder();
    const ActionIndex itself = 0;
    EXPECT_THROW(builder.send(0, 1, {&kWhole, 1}, {&itself, 1}), std::logic_error);
}

TEST(ScheduleBuilder, RefusesItselfAndStrangersAsPeer) {
    ScheduleBuilder builder = pair_builder();
    EXPECT_THROW(builder.send(0, 0, {&kWhole, 1}, {}), std::logic_error);
    EXPECT_THROW(builder.send(0, 2, {&kWhole, 1}, {}), std::logic_error);
}

TEST(ScheduleBuilder, RefusesBlocksThatDoNotExist) {
    ScheduleBuilder builder = pair_builder();
    const BlockReference second{.block = 1};
    EXPECT_THROW(builder.send(0, 1, {&second, 1}, {}), std::logic_error);
    EXPECT_THROW(builder.send(0, 1, {}, {}), std::logic_error);
}

TEST(ScheduleBuilder, RefusesABlockCountThatTheKindDoesNotHave) {
    EXPECT_THROW(ScheduleBuilder(CollectiveKind::kReduceScatter, 4, 3, Symmetry::kNone), std::logic_error);
    EXPECT_THROW(ScheduleBuilder(CollectiveKind::kAllToAll, 4, 4, Symmetry::kNone), std::logic_error);
    EXPECT_THROW(ScheduleBuilder(CollectiveKind::kAllReduce, 4, 2, Symmetry::kRotation), std::logic_error);
    EXPECT_THROW(ScheduleBuilder(CollectiveKind::kAllGather, 6, 6, Symmetry::kExclusiveOr), std::logic_error);
}

TEST(ScheduleBuilder, SharesTheDependenciesOfABarrier) {
    // Direct all_reduce over N: the N-1 sends of the all_gather wait for the same N-1 receives, kept once.
    const CollectiveSchedule schedule =
        testing::algorithm_of("direct")->schedule(CollectiveKind::kAllReduce, 64, 0);
    EXPECT_EQ(schedule.program(0).dependencies.size(), 63U);
}

TEST(Symmetry, RotationResolvesModuloTheRanks) {
    const CollectiveSchedule schedule =
        testing::algorithm_of("ring")->schedule(CollectiveKind::kAllToAll, 5, 0);
    EXPECT_EQ(schedule.resolve(3, Position{4}), 2U);  // (3 + 4) mod 5
    EXPECT_EQ(schedule.resolve(4, BlockReference{.source = 0, .block = 1}),
              4U * 5 + 0);  // from 4 to (4 + 1) mod 5
}

TEST(Symmetry, ExclusiveOrSchedulesAreProvenAndResolved) {
    for (const Position ranks : {2U, 4U, 8U, 32U}) {
        const CollectiveSchedule schedule =
            testing::algorithm_of("recursive_doubling")->schedule(CollectiveKind::kAllReduce, ranks, 0);
        EXPECT_FALSE(prove(schedule)) << ranks;
        EXPECT_EQ(schedule.resolve(ranks - 1, Position{1}), ranks - 2);
        // Pairwise exchange of all blocks, 1, 2, 4 … apart: log2 N messages of the whole vector.
        EXPECT_EQ(schedule.steps(), static_cast<std::uint64_t>(std::countr_zero(ranks)));
        EXPECT_EQ(schedule.message_count(), schedule.steps() * ranks);
        EXPECT_EQ(schedule.message_size(1, schedule.program(1).actions[0], Bytes(1001)), Bytes(1001));
    }
}

TEST(MessageSize, FollowsTheRanksOwnBlocks) {
    // S = 5 over 3 blocks: 2, 2, 1. In the first step of the ring, rank r sends block r-1.
    const CollectiveSchedule schedule =
        testing::algorithm_of("ring")->schedule(CollectiveKind::kReduceScatter, 3, 0);
    const Action& first = schedule.program(0).actions[0];
    EXPECT_EQ(schedule.message_size(0, first, Bytes(5)), Bytes(1));  // block 2
    EXPECT_EQ(schedule.message_size(1, first, Bytes(5)), Bytes(2));  // block 0
    EXPECT_EQ(schedule.message_size(2, first, Bytes(5)), Bytes(2));  // block 1
}

}  // namespace
}  // namespace astrolabe::system
