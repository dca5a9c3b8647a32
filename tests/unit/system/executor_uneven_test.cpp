// Uneven all_to_alls: every pair's bytes, exactly, by every algorithm.

#include "program_builder.hpp"
#include "system/src/collectives/hierarchical.hpp"
#include "system/src/program/traffic.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using system::CollectiveKind;
using system::ExecutionReport;
using system::Executor;
using system::OperationId;
using system::PairSizes;
using system::Position;

system::CollectiveOperation exchange_of(const PairSizes& sizes) {
    return {.kind = CollectiveKind::kAllToAll,
            .size = sizes.largest_held(),
            .pair_sizes = std::make_shared<const std::vector<PairSizes>>(std::vector{sizes})};
}

struct Exchange {
    ExecutionReport report;
    std::map<std::pair<std::size_t, std::size_t>, Bytes> delivered;  // by pair of hosts
};

Exchange execute(const PairSizes& sizes, const system::SystemOptions& options) {
    ProgramBuilder builder(sizes.positions());
    builder.collective("exchange", exchange_of(sizes));
    Exchange run;
    FakeBackend backend(sizes.positions(), [&](const network::Message& message) {
        EXPECT_GT(message.size, Bytes(0));
        run.delivered[{message.source.index(), message.destination.index()}] += message.size;
        return Time(100) + Time(message.size.count());
    });
    Executor executor(builder.program(), options, backend, host_of_each_rank(sizes.positions()));
    run.report = executor.run();
    return run;
}

/// About a third of the pairs have nothing.
PairSizes random_sizes(std::size_t ranks) {
    return PairSizes::of_pairs(
        ranks, *rc::gen::container<std::vector<Bytes>>(
                   ranks * ranks,
                   rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(-500, 1000)),
                                [](std::int64_t count) { return Bytes(std::max<std::int64_t>(count, 0)); })));
}

std::vector<std::shared_ptr<const system::CollectiveAlgorithm>> forwarding_algorithms() {
    return {algorithm_of("bruck"), algorithm_of("ring"), algorithm_of("bidirectional_ring"),
            system::make_hierarchical({.per_dimension = {algorithm_of("direct"), algorithm_of("ring")}})};
}

RC_GTEST_PROP(UnevenAllToAll, MovesThePairsBytesDirectly, ()) {
    const auto ranks = *rc::gen::inRange<std::size_t>(2, 10);
    const PairSizes sizes = random_sizes(ranks);
    for (const auto& algorithm :
         {algorithm_of("direct"), algorithm_of("windowed_direct, window: 2"), algorithm_of("pairwise")}) {
        const auto chunks = *rc::gen::inRange<std::uint32_t>(1, 8);
        const Exchange run = execute(sizes, options_with(algorithm, chunks, 3));
        RC_ASSERT(run.report.stall == "");
        RC_ASSERT(run.report.operations[OperationId(0)].bytes_sent == sizes.crossing());
        for (std::size_t source = 0; source < ranks; ++source) {
            for (std::size_t destination = 0; destination < ranks; ++destination) {
                const auto found = run.delivered.find({source, destination});
                const Bytes moved = found == run.delivered.end() ? Bytes(0) : found->second;
                RC_ASSERT(moved == (source == destination ? Bytes(0) : sizes(source, destination)));
            }
        }
    }
}

RC_GTEST_PROP(UnevenAllToAll, ForwardsWhatTheScheduleSays, ()) {
    const auto ranks = *rc::gen::element<std::size_t>(4, 6, 8, 9);
    const PairSizes sizes = random_sizes(ranks);
    for (const auto& algorithm : forwarding_algorithms()) {
        const auto chunks = *rc::gen::inRange<std::uint32_t>(1, 8);
        system::SystemOptions options = options_with(algorithm, chunks, 3);
        const auto rows = static_cast<Position>(ranks % 2 == 0 ? 2 : 3);
        options.dimensions = system::Shape(std::vector<Position>{rows, static_cast<Position>(ranks) / rows});
        const Exchange run = execute(sizes, options);
        RC_ASSERT(run.report.stall == "");
        const auto& record = run.report.operations[OperationId(0)];
        const system::Traffic traffic =
            system::traffic_of(*algorithm, *options.dimensions, sizes,
                               system::chunk_count(sizes.largest_held(), options.minimum_chunk, chunks));
        RC_ASSERT(record.bytes_sent == traffic.bytes());
        RC_ASSERT(record.messages == traffic.messages());
        RC_ASSERT(record.bytes_sent >= sizes.crossing());  // a block on its way crosses at least one link
    }
}

TEST(UnevenAllToAll, WithEqualPairsIsTheEvenOne) {
    // 5 ranks, 40 bytes a pair: 200 bytes a rank in 4 chunks of 50, 10 bytes a message.
    const PairSizes sizes = PairSizes::of_pairs(5, std::vector<Bytes>(25, Bytes(40)));
    for (const auto& algorithm : forwarding_algorithms()) {
        const auto options = options_with(algorithm, 4, 2);
        ProgramBuilder builder(5);
        builder.collective("even", {.kind = CollectiveKind::kAllToAll, .size = Bytes(200)});
        FakeBackend backend(5, {.latency = Time(100), .time_per_byte = Time(1)});
        Executor executor(builder.program(), options, backend, host_of_each_rank(5));
        const ExecutionReport even = executor.run();
        const ExecutionReport uneven = execute(sizes, options).report;
        EXPECT_EQ(even.total, uneven.total);
        EXPECT_EQ(even.operations[OperationId(0)].bytes_sent, uneven.operations[OperationId(0)].bytes_sent);
        EXPECT_EQ(even.operations[OperationId(0)].messages, uneven.operations[OperationId(0)].messages);
    }
}

TEST(UnevenAllToAll, EmptyMessagesCostNothing) {
    // Only rank 0 has something, for rank 2: one message of 100 + 30. Ranks 1 and 2 send nothing, and where
    // pairwise makes them wait for their partners they wait for rank 0's only.
    std::vector<Bytes> bytes(9, Bytes(0));
    bytes[2] = Bytes(30);
    for (const auto& algorithm : {algorithm_of("direct"), algorithm_of("pairwise")}) {
        auto options = options_with(algorithm, 1, 1);
        const Exchange run = execute(PairSizes::of_pairs(3, bytes), options);
        ASSERT_TRUE(run.report.finished) << run.report.stall;
        EXPECT_EQ(run.report.total, Time(130));
        EXPECT_EQ(run.report.operations[OperationId(0)].messages, 1U);
    }
}

TEST(UnevenAllToAll, WithoutBytesEndsAtOnce) {
    // The diagonal is held and never sent.
    std::vector<Bytes> bytes(16, Bytes(0));
    for (std::size_t rank = 0; rank < 4; ++rank) {
        bytes[rank * 5] = Bytes(1000);
    }
    for (const auto& algorithm : forwarding_algorithms()) {
        const Exchange run = execute(PairSizes::of_pairs(4, bytes), options_with(algorithm, 3, 1));
        ASSERT_TRUE(run.report.finished) << run.report.stall;
        EXPECT_EQ(run.report.total, Time(0));
        EXPECT_EQ(run.report.operations[OperationId(0)].messages, 0U);
    }
}

TEST(UnevenAllToAll, ChunksSumToEveryPair) {
    // 7 bytes of rank 0 in 3 chunks: 3 + 2 + 2; 2 bytes of rank 1: 1 + 1 + 0. One chunk at a time: rank 1 is
    // done with the first at 103, its second message arrives at 204, and then rank 0 sends its third.
    const PairSizes sizes = PairSizes::of_pairs(2, {Bytes(0), Bytes(7), Bytes(2), Bytes(0)});
    const Exchange run = execute(sizes, options_with(algorithm_of("direct"), 3, 1));
    ASSERT_TRUE(run.report.finished) << run.report.stall;
    EXPECT_EQ(run.report.operations[OperationId(0)].messages, 5U);
    EXPECT_EQ(run.report.total, Time(103 + 101 + 102));
}

}  // namespace
}  // namespace astrolabe::testing
