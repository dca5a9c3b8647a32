// Collectives in stages: their times, windows, slots in dimensions, and who gets the next slot.

#include "program_builder.hpp"
#include "system/src/collectives/hierarchical.hpp"
#include "system/src/program/traffic.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
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
using system::PerRank;
using system::Position;
using system::Priority;
using system::Shape;
using system::Stage;
using system::StageOrder;
using system::StageRecord;
using system::SystemOptions;

/// A chunk has 12 blocks; in a phase every rank sends the first `blocks` of them to the next rank of its
/// dimension, so that a phase over 12u bytes takes a message of `blocks` · u bytes.
struct Phase {
    Stage stage;
    std::uint32_t blocks;
    bool only_first_row = false;  // ranks with coordinate 0 in dimension 1
};
constexpr std::uint32_t kBlocks = 12;

class Phases final : public system::CollectiveAlgorithm {
public:
    explicit Phases(std::vector<Phase> phases)
        : phases_(std::move(phases)) {}

    [[nodiscard]] std::optional<std::string> unsupported(CollectiveKind, const Shape&) const override {
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind, const Shape&) const override { return 1; }
    [[nodiscard]] system::CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                                      unsigned) const override {
        std::vector<Stage> stages;
        for (const Phase& phase : phases_) {
            stages.push_back(phase.stage);
        }
        system::ScheduleBuilder builder(kind, shape.ranks(), kBlocks, system::Symmetry::kNone, stages);
        for (std::size_t index = 0; index < phases_.size(); ++index) {
            builder.begin_stage(index);
            for (Position rank = 0; rank < shape.ranks(); ++rank) {
                add(builder, shape, phases_[index], rank);
            }
        }
        return std::move(builder).build();
    }

private:
    static void add(system::ScheduleBuilder& builder, const Shape& shape, const Phase& phase, Position rank) {
        const std::uint32_t dimension = phase.stage.dimension;
        const Position size = shape[dimension];
        if (size < 2 || (phase.only_first_row && shape.coordinate(rank, 1) != 0)) {
            return;
        }
        std::vector<system::BlockReference> blocks;
        for (std::uint32_t block = 0; block < phase.blocks; ++block) {
            blocks.push_back({.block = block});
        }
        const Position own = shape.coordinate(rank, dimension);
        builder.send(rank, shape.with_coordinate(rank, dimension, (own + 1) % size), blocks, {});
        builder.receive(rank, shape.with_coordinate(rank, dimension, (own + size - 1) % size), blocks, {},
                        false);
    }

    std::vector<Phase> phases_;
};

constexpr auto kScatter = CollectiveKind::kReduceScatter;
constexpr auto kReduce = CollectiveKind::kAllReduce;
constexpr auto kGather = CollectiveKind::kAllGather;

constexpr Time kLatency(1000);
/// One byte takes 1 ps.
Time message_time(std::int64_t bytes) {
    return kLatency + Time(bytes);
}

SystemOptions options_for(std::vector<Position> dimensions, std::vector<Phase> phases, std::uint32_t chunks) {
    SystemOptions options = options_with(std::make_shared<Phases>(std::move(phases)), chunks, 64);
    options.dimensions = Shape(std::move(dimensions));
    return options;
}

ExecutionReport execute(const system::Program& program, const SystemOptions& options) {
    FakeBackend backend(program.ranks, {.latency = kLatency, .time_per_byte = Time(1)});
    Executor executor(program, options, backend, host_of_each_rank(program.ranks));
    return executor.run();
}

ExecutionReport execute_alone(Bytes size, const SystemOptions& options) {
    ProgramBuilder builder(options.dimensions->ranks());
    builder.collective("alone", {.size = size});
    return execute(builder.program(), options);
}

/// reduce_scatter and all_gather in dimension 0 around an all_reduce in dimension 1: of 12u bytes 6u, 3u, 6u.
const std::vector<Phase> kThreePhases{{.stage = {0, kScatter}, .blocks = 6},
                                      {.stage = {1, kReduce}, .blocks = 3},
                                      {.stage = {0, kGather}, .blocks = 6}};

TEST(Stages, FollowOneAnother) {
    const ExecutionReport report = execute_alone(Bytes(1200), options_for({2, 2}, kThreePhases, 1));
    ASSERT_TRUE(report.finished) << report.stall;
    const Time outer = message_time(600);
    const Time inner = message_time(300);
    EXPECT_EQ(report.total, outer + inner + outer);
    const auto& stages = report.operations[OperationId(0)].stages;
    ASSERT_EQ(stages.size(), 3U);
    EXPECT_EQ(stages[0].stage, (Stage{0, kScatter}));
    EXPECT_EQ(stages[1].stage, (Stage{1, kReduce}));
    EXPECT_EQ(stages[2].stage, (Stage{0, kGather}));
    EXPECT_EQ(stages[0].bytes_sent, Bytes(4 * 600));
    EXPECT_EQ(stages[1].bytes_sent, Bytes(4 * 300));
    EXPECT_EQ(stages[1].messages, 4U);
    EXPECT_EQ(stages[1].first_start, outer);
    EXPECT_EQ(stages[1].last_finish, outer + inner);
    EXPECT_EQ(stages[2].first_start, outer + inner);
    EXPECT_EQ(stages[1].in_flight, inner * 4);  // on four ranks
    EXPECT_EQ(stages[1].waiting, Time(0));
    EXPECT_EQ(report.operations[OperationId(0)].bytes_sent, Bytes(4 * 1500));
    EXPECT_EQ(report.operations[OperationId(0)].messages, 12U);
}

TEST(Stages, BeginOnEachRankByItself) {
    // Rank 3 is late by 10,000: row {0, 1} does its first stage at once, row {2, 3} when rank 3 comes; then
    // columns {0, 2} and {1, 3} wait for ranks 2 and 3.
    ProgramBuilder builder(4);
    const OperationId step =
        builder.compute("step", PerRank<Time>({Time(0), Time(0), Time(0), Time(10'000)}));
    const OperationId reduce = builder.collective("reduce", {.size = Bytes(1200)}, {step});
    const ExecutionReport report = execute(builder.program(), options_for({2, 2}, kThreePhases, 1));
    ASSERT_TRUE(report.finished) << report.stall;
    const Time outer = message_time(600);
    const Time inner = message_time(300);
    const Time late(10'000);
    const auto& stages = report.operations[reduce].stages;
    // Rank 2 sent at 0, so rank 3 has received before it starts: it is done with the stage at once, and its
    // column's message leaves at `late`. Rank 2 is done with the first stage at late + outer.
    // Under way: ranks 0 and 1 outer each, rank 2 late + outer, rank 3 nothing.
    EXPECT_EQ(stages[0].in_flight, outer * 3 + late);
    EXPECT_EQ(stages[1].first_start, outer);  // ranks 0 and 1
    // Rank 0's second stage ends when rank 2's message comes; rank 2 finds rank 0's there already.
    EXPECT_EQ(stages[1].last_finish, late + outer + inner);
    // Rank 1 gets to the last stage at late + inner, rank 0 at late + outer + inner: its message makes rank 1
    // the last.
    EXPECT_EQ(report.total, late + outer + inner + outer);
}

TEST(Stages, WithoutActionsPassAtOnce) {
    // A dimension of one rank: nobody has anything to do in the second stage.
    SystemOptions options = options_for({2, 1}, kThreePhases, 1);
    for (const auto limit : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(1)}) {
        options.active_chunks_per_dimension = limit;
        const ExecutionReport report = execute_alone(Bytes(1200), options);
        ASSERT_TRUE(report.finished) << report.stall;
        EXPECT_EQ(report.total, message_time(600) * 2);
        EXPECT_EQ(report.operations[OperationId(0)].stages[1].messages, 0U);
    }
}

TEST(Stages, WithoutActionsNeedNoSlot) {
    // Dimension 0 first only in the row of ranks 0 and 1; ranks 2 and 3 pass, and with one slot each they
    // wait in the columns for ranks 0 and 1. Four chunks: the first stages follow one another, the columns
    // too.
    const std::vector<Phase> phases{{.stage = {0, kReduce}, .blocks = 6, .only_first_row = true},
                                    {.stage = {1, kReduce}, .blocks = 3}};
    SystemOptions options = options_for({2, 2}, phases, 4);
    options.active_chunks_per_dimension = 1;
    const ExecutionReport report = execute_alone(Bytes(4 * 1200), options);
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, message_time(600) * 4 + message_time(300));
}

TEST(Window, HoldsChunksInTheirFirstStageOnly) {
    // Three chunks with stages of 1100 and 2200: the first stages one after another, the second ones at once.
    const std::vector<Phase> phases{{.stage = {0, kScatter}, .blocks = 1},
                                    {.stage = {1, kReduce}, .blocks = 12}};
    SystemOptions options = options_for({2, 2}, phases, 3);
    options.active_chunks = 1;
    const Time first = message_time(100);
    const Time second = message_time(1200);
    EXPECT_EQ(execute_alone(Bytes(3 * 1200), options).total, first * 3 + second);
    options.active_chunks = 3;
    EXPECT_EQ(execute_alone(Bytes(3 * 1200), options).total, first + second);
}

TEST(Slots, OneInADimensionAtATime) {
    // As above with one slot a dimension: the longer stage never rests. Two slots: chunks 1 and 2 together,
    // chunk 3 in each stage when one of them has left it.
    const std::vector<Phase> phases{{.stage = {0, kScatter}, .blocks = 1},
                                    {.stage = {1, kReduce}, .blocks = 12}};
    SystemOptions options = options_for({2, 2}, phases, 3);
    const Time first = message_time(100);
    const Time second = message_time(1200);
    options.active_chunks_per_dimension = 1;
    const ExecutionReport report = execute_alone(Bytes(3 * 1200), options);
    EXPECT_EQ(report.total, first + second * 3);
    // The first stages wait 0, 1, 2 times `first`; chunk c reaches the second stage at c · first and starts
    // it at first + (c - 1) · second; on four ranks.
    const auto& stages = report.operations[OperationId(0)].stages;
    EXPECT_EQ(stages[0].waiting, first * 3 * 4);
    EXPECT_EQ(stages[1].waiting, ((second - first) + (second - first) * 2) * 4);
    options.active_chunks_per_dimension = 2;
    EXPECT_EQ(execute_alone(Bytes(3 * 1200), options).total, first + second * 2);
    options.active_chunks_per_dimension = 3;
    EXPECT_EQ(execute_alone(Bytes(3 * 1200), options).total, first + second);
}

RC_GTEST_PROP(Slots, PipelineAtThePaceOfTheLongestStage, ()) {
    // docs/theory/collectives-and-costs.md, "Stages in a pipeline": Σ t + (C - 1) max t where no dimension is
    // visited twice; else at least the larger of Σ t and C times the load of the busiest dimension.
    const auto phases = *rc::gen::container<std::vector<Phase>>(
        3, rc::gen::apply(
               [](std::uint32_t dimension, std::uint32_t blocks) {
                   return Phase{.stage = {dimension, kReduce}, .blocks = blocks};
               },
               rc::gen::inRange<std::uint32_t>(0, 3), rc::gen::inRange<std::uint32_t>(1, kBlocks + 1)));
    const auto chunks = *rc::gen::inRange<std::uint32_t>(1, 9);
    SystemOptions options = options_for({2, 2, 2}, phases, chunks);
    options.active_chunks_per_dimension = 1;
    options.active_chunks = *rc::gen::inRange<std::uint32_t>(1, 9);
    Time sum;
    Time longest;
    std::map<std::uint32_t, Time> load;
    for (const Phase& phase : phases) {
        const Time time = message_time(100 * phase.blocks);
        sum += time;
        longest = std::max(longest, time);
        load[phase.stage.dimension] += time;
    }
    const ExecutionReport report = execute_alone(Bytes(1200) * chunks, options);
    RC_ASSERT(report.finished);
    if (load.size() == phases.size()) {
        RC_ASSERT(report.total == sum + longest * (chunks - 1));
    } else {
        RC_ASSERT(report.total >= sum);
        for (const auto& [dimension, time] : load) {
            RC_ASSERT(report.total >= time * chunks);
        }
    }
}

/// Sizes of what rank 0 sends, in the order sent, of `chunks` chunks of 1200 bytes that all have one slot.
std::vector<std::int64_t> sizes_sent(const system::Program& program, SystemOptions options,
                                     StageOrder order) {
    options.active_chunks_per_dimension = 1;
    options.stage_order = order;
    std::vector<std::int64_t> sizes;
    FakeBackend backend(program.ranks, [&](const network::Message& message) {
        if (message.source.index() == 0) {
            sizes.push_back(message.size.count());
        }
        return message_time(message.size.count());
    });
    Executor executor(program, options, backend, host_of_each_rank(program.ranks));
    EXPECT_TRUE(executor.run().finished);
    return sizes;
}

std::vector<std::int64_t> sizes_of_three_chunks(const std::vector<Phase>& phases, StageOrder order) {
    ProgramBuilder builder(2);
    builder.collective("alone", {.size = Bytes(3 * 1200)});
    return sizes_sent(builder.program(), options_for({2}, phases, 3), order);
}

using Sizes = std::vector<std::int64_t>;

/// All in one dimension, three chunks: 100, 200 and 300 bytes a stage.
const std::vector<Phase> kUpwards{{.stage = {0, kScatter}, .blocks = 1},
                                  {.stage = {0, kScatter}, .blocks = 2},
                                  {.stage = {0, kGather}, .blocks = 3}};
/// The same with the long stage first.
const std::vector<Phase> kDownwards{{.stage = {0, kScatter}, .blocks = 3},
                                    {.stage = {0, kScatter}, .blocks = 2},
                                    {.stage = {0, kGather}, .blocks = 1}};

TEST(StageOrders, PriorityThenFirstCome) {
    // All chunks are of one collective. The three first stages came at 0; then second stages come one by one.
    EXPECT_EQ(sizes_of_three_chunks(kUpwards, StageOrder::kPriority),
              (Sizes{100, 100, 100, 200, 200, 200, 300, 300, 300}));
}

TEST(StageOrders, SmallestChunkFirst) {
    EXPECT_EQ(sizes_of_three_chunks(kUpwards, StageOrder::kSmallestChunk),
              (Sizes{100, 100, 100, 200, 200, 200, 300, 300, 300}));
    EXPECT_EQ(sizes_of_three_chunks(kDownwards, StageOrder::kSmallestChunk),
              (Sizes{300, 200, 100, 300, 200, 100, 300, 200, 100}));
}

TEST(StageOrders, FewestStagesLeftFirst) {
    EXPECT_EQ(sizes_of_three_chunks(kUpwards, StageOrder::kFewestStages),
              (Sizes{100, 200, 300, 100, 200, 300, 100, 200, 300}));
}

TEST(StageOrders, ReduceScatterAndAllGatherInTurn) {
    // While no all_gather is ready, the first to come. After the first second stage (200), turns: its
    // all_gather, the next reduce_scatter, and so on.
    EXPECT_EQ(sizes_of_three_chunks(kUpwards, StageOrder::kAlternate),
              (Sizes{100, 100, 100, 200, 300, 200, 300, 200, 300}));
}

TEST(StageOrders, AHigherPriorityGetsTheNextSlot) {
    // "low" has three chunks in the window when "high" comes at 10, during the first; its only chunk of two
    // stages goes ahead of all that wait.
    ProgramBuilder builder(2);
    builder.collective("low", {.size = Bytes(3 * 1200)});
    const OperationId step = builder.compute("step", Time(10));
    builder.collective("high", {.kind = kScatter, .size = Bytes(24), .priority = Priority::kHighest}, {step});
    SystemOptions options =
        options_for({2}, {{.stage = {0, kScatter}, .blocks = 1}, {.stage = {0, kGather}, .blocks = 2}}, 3);
    options.collectives[static_cast<std::size_t>(kScatter)] = {algorithm_of("ring"), 1};
    // Ring over two ranks: one message of half of 24 bytes.
    EXPECT_EQ(sizes_sent(builder.program(), options, StageOrder::kPriority),
              (Sizes{100, 12, 100, 100, 200, 200, 200}));
}

/// docs/theory/collectives-and-costs.md, "Torus of three dimensions": 4 x 4 x 4, rings, 64 MiB, 0.5 us, 200,
/// 100 and 100 GB/s.
ExecutionReport execute_on_torus(system::HierarchicalOptimisation optimisation) {
    SystemOptions options = options_with(system::make_hierarchical({.optimisation = optimisation}), 1, 64);
    options.dimensions = Shape(std::vector<Position>{4, 4, 4});
    FakeBackend backend(64, [](const network::Message& message) {
        const bool is_local = message.source.index() / 4 == message.destination.index() / 4;
        return Time(500'000) + Time(is_local ? 5 : 10) * message.size.count();
    });
    ProgramBuilder builder(64);
    builder.collective("alone", {.size = Bytes(64 << 20)});
    Executor executor(builder.program(), options, backend, host_of_each_rank(64));
    return executor.run();
}

TEST(Torus, TakesThePhaseTimesOfTheReference) {
    const ExecutionReport report = execute_on_torus(system::HierarchicalOptimisation::kLocalBandwidthAware);
    ASSERT_TRUE(report.finished) << report.stall;
    // Ring reduce_scatter and all_gather: 3 (α + Sβ/4), all_reduce: 6 (α + Sβ/4), S of the phase's input.
    const std::vector<std::pair<Stage, Time>> expected{{{0, kScatter}, Time(253'158'240)},
                                                       {{1, kScatter}, Time(127'329'120)},
                                                       {{2, kReduce}, Time(65'914'560)},
                                                       {{1, kGather}, Time(127'329'120)},
                                                       {{0, kGather}, Time(253'158'240)}};
    const auto& stages = report.operations[OperationId(0)].stages;
    ASSERT_EQ(stages.size(), expected.size());
    for (std::size_t index = 0; index < stages.size(); ++index) {
        EXPECT_EQ(stages[index].stage, expected[index].first);
        EXPECT_EQ(stages[index].last_finish - stages[index].first_start, expected[index].second);
        EXPECT_EQ(stages[index].in_flight, expected[index].second * 64);
    }
    EXPECT_EQ(report.total, Time(826'889'280));
    EXPECT_EQ(report.operations[OperationId(0)].bytes_sent, Bytes(132'120'576) * 64);
}

TEST(Torus, BaselineSendsTheWholeVectorInEveryDimension) {
    const ExecutionReport report = execute_on_torus(system::HierarchicalOptimisation::kBaseline);
    ASSERT_TRUE(report.finished) << report.stall;
    // 6 (α + 16 MiB · β): 506.31648 us in dimension 0, 1009.63296 us in the others.
    EXPECT_EQ(report.total, Time(2'525'582'400));
    EXPECT_EQ(report.operations[OperationId(0)].bytes_sent, Bytes(301'989'888) * 64);
}

TEST(Records, SumUpToTheOperation) {
    SystemOptions options = options_with(
        system::make_hierarchical({.per_dimension = {algorithm_of("direct"), algorithm_of("ring")}}), 5, 2);
    options.dimensions = Shape(std::vector<Position>{3, 2, 2});
    options.active_chunks_per_dimension = 1;
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                      CollectiveKind::kAllGather, CollectiveKind::kAllToAll}) {
        ProgramBuilder builder(12);
        builder.collective("alone", {.kind = kind, .size = Bytes(1009)});
        const ExecutionReport report = execute(builder.program(), options);
        ASSERT_TRUE(report.finished) << report.stall;
        const auto& record = report.operations[OperationId(0)];
        EXPECT_EQ(record.stages.size(), kind == CollectiveKind::kAllReduce ? 5U : 3U);
        Bytes bytes;
        std::uint64_t messages = 0;
        for (const StageRecord& stage : record.stages) {
            bytes += stage.bytes_sent;
            messages += stage.messages;
            EXPECT_LE(record.first_start, stage.first_start);
            EXPECT_LE(stage.last_finish, record.last_finish);
        }
        EXPECT_EQ(bytes, record.bytes_sent);
        EXPECT_EQ(messages, record.messages);
        const auto traffic =
            system::traffic_of(*options.collectives[0].algorithm, kind, *options.dimensions, Bytes(1009), 5);
        EXPECT_EQ(bytes, traffic.bytes());
        EXPECT_EQ(messages, traffic.messages());
    }
}

TEST(Records, StagesOfAScheduleAreItsTraffic) {
    // 3 x 2, 1200 bytes: of dimension 0 each rank sends 2/3 of 1200, of dimension 1 half of 400, twice, and
    // 2 x 400 on the way back.
    const auto algorithm = system::make_hierarchical({.per_dimension = {algorithm_of("direct")}});
    const auto schedule = algorithm->schedule(kReduce, Shape(std::vector<Position>{3, 2}), 0);
    const std::vector<system::Traffic> stages = system::traffic_by_stage(schedule, Bytes(1200));
    ASSERT_EQ(stages.size(), 3U);
    EXPECT_EQ(stages[0].bytes_sent_max(), Bytes(800));
    EXPECT_EQ(stages[1].bytes_sent_max(), Bytes(400));
    EXPECT_EQ(stages[2].bytes_sent_max(), Bytes(800));
    EXPECT_EQ(stages[0].bytes() + stages[1].bytes() + stages[2].bytes(),
              system::traffic_of(schedule, Bytes(1200)).bytes());
}

}  // namespace
}  // namespace astrolabe::testing
