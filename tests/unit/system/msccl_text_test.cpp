// Schedules written in the XML of MSCCL and read back.

#include "schedule_checks.hpp"
#include "system/src/msccl/msccl_schedule.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/schedule/msccl_text.hpp>

namespace astrolabe::system {
namespace {

/// Every message: from, to, whether it is added, its blocks in order.
std::vector<std::tuple<Position, Position, bool, std::vector<std::uint64_t>>> messages_of(
    const CollectiveSchedule& schedule) {
    std::vector<std::tuple<Position, Position, bool, std::vector<std::uint64_t>>> messages;
    for (Position rank = 0; rank < schedule.ranks(); ++rank) {
        const RankProgram& program = schedule.program(rank);
        for (const Action& action : program.actions) {
            if (action.is_send()) {
                continue;
            }
            std::vector<std::uint64_t> blocks;
            for (const BlockReference block : program.blocks_of(action)) {
                blocks.push_back(schedule.resolve(rank, block));
            }
            messages.emplace_back(schedule.resolve(rank, action.peer), rank,
                                  action.kind == Action::Kind::kReceiveReduce, std::move(blocks));
        }
    }
    std::ranges::sort(messages);
    return messages;
}

/// The longest chain where a message takes 1,000 and as much as it has bytes, of a collective of 4,800 bytes.
std::uint64_t longest_chain(const CollectiveSchedule& schedule) {
    return schedule.heaviest_chain([&](Position rank, const Action& action) {
        return action.is_send()
                   ? 1000 +
                         static_cast<std::uint64_t>(schedule.message_size(rank, action, Bytes(4800)).count())
                   : std::uint64_t{0};
    });
}

void expect_same_after_reading(const CollectiveSchedule& schedule) {
    const std::string text = msccl_text(schedule, "test");
    const Result<CollectiveSchedule> read =
        msccl::schedule_of(std::make_shared<const SourceText>(SourceText{"test.xml", text}));
    ASSERT_TRUE(read) << render(read.error());
    EXPECT_EQ(read->kind(), schedule.kind());
    EXPECT_EQ(read->block_count(), schedule.block_count());
    EXPECT_EQ(messages_of(*read), messages_of(schedule));
    EXPECT_EQ(read->steps(), schedule.steps());
    EXPECT_EQ(longest_chain(*read), longest_chain(schedule));
}

class MscclRoundTrip : public ::testing::TestWithParam<CollectiveKind> {};

TEST_P(MscclRoundTrip, KeepsMessagesBlocksAndLongestChainOfEveryAlgorithm) {
    std::size_t written = 0;
    for (const testing::NamedAlgorithm& entry : testing::builtin_algorithms()) {
        for (const Position ranks : {2U, 3U, 4U, 5U, 8U, 12U}) {
            if (entry.algorithm->unsupported(GetParam(), ranks)) {
                continue;
            }
            for (unsigned variant = 0; variant < entry.algorithm->variants(GetParam(), ranks); ++variant) {
                SCOPED_TRACE(entry.name + " over " + std::to_string(ranks) + ", variant " +
                             std::to_string(variant));
                expect_same_after_reading(entry.algorithm->schedule(GetParam(), ranks, variant));
                ++written;
            }
        }
    }
    EXPECT_GE(written, 6U);
}
INSTANTIATE_TEST_SUITE_P(Kinds, MscclRoundTrip,
                         ::testing::Values(CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                           CollectiveKind::kAllGather, CollectiveKind::kAllToAll,
                                           CollectiveKind::kBroadcast, CollectiveKind::kReduce),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST(MscclText, StagesFollowEachOther) {
    const AlgorithmPointer algorithm =
        testing::algorithm_of("hierarchical, dimension_algorithms: [ring, direct]");
    const Shape grid({4, 3});
    for (const CollectiveKind kind : kUnrootedKinds) {
        SCOPED_TRACE(to_string(kind));
        expect_same_after_reading(algorithm->schedule(kind, grid, 0));
    }
}

TEST(MscclText, ARingUsesOneConnectionToEachNeighbour) {
    const CollectiveSchedule ring = testing::algorithm_of("ring")->schedule(CollectiveKind::kAllReduce, 8, 0);
    const std::string text = msccl_text(ring, "ring");
    EXPECT_NE(
        text.find("<algo name=\"ring\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"8\" ngpus=\"8\" "
                  "coll=\"allreduce\" inplace=\"1\""),
        std::string::npos)
        << text.substr(0, 200);
    // One thread block sends, one receives: 14 messages of each of 8 ranks, two steps each, no scratch chunk.
    const auto count = [&text](const std::string& what) {
        std::size_t found = 0;
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
            ++found;
        }
        return found;
    };
    EXPECT_EQ(count("<tb "), 16U);
    EXPECT_EQ(count("type=\"s\""), 112U);
    EXPECT_EQ(count("type=\"rrc\""), 56U);
    EXPECT_EQ(count("type=\"r\""), 56U);
    EXPECT_EQ(count("type=\"nop\""), 0U);
    EXPECT_EQ(count("s_chunks=\"0\""), 8U);
}

TEST(MscclText, PointToPointIsRefused) {
    const CollectiveSchedule schedule =
        testing::algorithm_of("direct")->schedule(CollectiveKind::kPointToPoint, 2, 0);
    EXPECT_EQ(unsupported_by_msccl(schedule), "MSCCL has no collective for a point_to_point");
}

}  // namespace
}  // namespace astrolabe::system
