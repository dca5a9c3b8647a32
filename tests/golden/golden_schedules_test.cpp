/// G1 to G4 of docs/theory/training-loops.md, "Golden schedules": loops of the workload layer, carried out by
/// the system layer.
///
/// Two ranks and the direct algorithm, one unit = 1 ns. The communication engine is
///   "1"  one collective at a time: one active chunk, one chunk a collective, 1 ns per byte on the network,
///   and each
///        collective as large as makes its steps last together exactly what the reference says;
///   "∞"  every collective lasts its constant duration from issue: no limit, a network that takes no time,
///   and
///        the duration as completion delay.

#include "fake_backend.hpp"
#include "workload/src/loops/training_loop.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::CollectiveOperation;
using system::ExecutionReport;
using system::Operation;
using system::OperationId;
using system::Program;
using workload::LayerCommunication;
using workload::TrainingLayer;
using workload::TrainingPlan;

enum class Engine { kUnlimited, kOneFifo, kOneLifo };

constexpr std::size_t kRanks = 2;

/// Bytes that each of two ranks sends one after another, per byte of S: two halves (all_reduce), one half
/// (reduce_scatter, all_to_all), the whole (all_gather).
constexpr std::int64_t bytes_in_sequence(CollectiveKind kind, Bytes size) {
    const bool whole = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather;
    return whole ? size.count() : size.count() / 2;
}

/// A collective that takes `duration` at 1 ns per byte.
LayerCommunication collective(CollectiveKind kind, std::int64_t duration) {
    const bool whole = bytes_in_sequence(kind, 2_B) == 2;
    return {.kind = kind, .size = Bytes(whole ? duration : 2 * duration), .partition = {}};
}
LayerCommunication all_reduce(std::int64_t duration) {
    return collective(CollectiveKind::kAllReduce, duration);
}
LayerCommunication all_to_all(std::int64_t duration) {
    return collective(CollectiveKind::kAllToAll, duration);
}

TrainingPlan plan_of(std::vector<TrainingLayer> layers, int iterations) {
    TrainingPlan plan;
    plan.ranks = kRanks;
    plan.iterations = iterations;
    plan.partitions.push_back(system::Partition::world(kRanks));
    plan.layers = std::move(layers);
    return plan;
}

/// The same program with each collective's duration, at 1 ns per byte, as its completion delay.
Program with_constant_durations(Program program) {
    for (Operation& operation : program.operations) {
        if (auto* work = std::get_if<CollectiveOperation>(&operation.work)) {
            work->completion_delay = bytes_in_sequence(work->kind, work->size) * 1_ns;
        }
    }
    return program;
}

class Golden {
public:
    Golden(const Program& program, Engine engine)
        : program_(engine == Engine::kUnlimited ? with_constant_durations(program) : program) {
        system::SystemOptions options;
        options.scheduling =
            engine == Engine::kOneFifo ? system::Scheduling::kFifo : system::Scheduling::kLifo;
        options.active_chunks = engine == Engine::kUnlimited ? 1000 : 1;
        for (system::CollectiveChoice& choice : options.collectives) {
            choice = {.algorithm = testing::algorithm_of("direct"), .chunks = 1};
        }
        testing::FakeBackend backend(
            kRanks, {.latency = 0_ns, .time_per_byte = engine == Engine::kUnlimited ? 0_ns : 1_ns});
        report_ =
            system::Executor(program_, options, backend, {network::HostId(0), network::HostId(1)}).run();
        EXPECT_TRUE(report_.finished) << report_.stall;
    }

    struct Accounts {
        std::vector<Time> iteration_ends;
        Time total;
        Time compute;
        std::map<std::string, Time> exposed;  ///< what is not zero
        Time drain;
    };
    /// Both ranks do the same, so both have these accounts.
    void expect(const Accounts& expected) const {
        EXPECT_EQ(report_.total, expected.total);
        ASSERT_EQ(report_.ranks.size(), kRanks);
        for (const system::RankRecord& rank : report_.ranks) {
            EXPECT_EQ(rank.iteration_ends, expected.iteration_ends);
            EXPECT_EQ(rank.compute, expected.compute);
            EXPECT_EQ(rank.drain, expected.drain);
            std::map<std::string, Time> exposed = rank.exposed;
            std::erase_if(exposed, [](const auto& cause) { return cause.second == Time(0); });
            EXPECT_EQ(exposed, expected.exposed);
        }
    }

    using Starts = std::vector<std::pair<std::string, std::int64_t>>;
    /// Collectives of an iteration in the order they started, with the time in ns.
    [[nodiscard]] Starts starts(int iteration) const {
        Starts found;
        for (std::size_t index = 0; index < program_.operations.size(); ++index) {
            const Operation& operation = program_.operations[OperationId(index)];
            if (operation.iteration == iteration && !operation.is_compute()) {
                found.emplace_back(operation.name, report_.operations[OperationId(index)].first_start / 1_ns);
            }
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
        return found;
    }

private:
    Program program_;
    ExecutionReport report_;
};

// G1, G2: DLRM with five layers, b = 2. Compute of a pass: forward 10 + 2·30 + 2·50, backward 2·(50 + 50)
// + 2·(30 + 30), update 20: 510.

Program dlrm(std::int64_t backward_exchange,
             workload::EmbeddingUpdate update = workload::EmbeddingUpdate::kAfterGradients) {
    std::vector<TrainingLayer> layers{{.name = "emb",
                                       .forward = 10_ns,
                                       .weight_gradient = 20_ns,
                                       .forward_communication = all_to_all(100),
                                       .input_gradient_communication = all_to_all(backward_exchange)}};
    for (const char* name : {"bottom1", "bottom2"}) {
        layers.push_back({.name = name,
                          .forward = 30_ns,
                          .input_gradient = 30_ns,
                          .weight_gradient = 30_ns,
                          .weight_gradient_communication = all_reduce(40)});
    }
    for (const char* name : {"top3", "top4"}) {
        layers.push_back({.name = name,
                          .forward = 50_ns,
                          .input_gradient = 50_ns,
                          .weight_gradient = 50_ns,
                          .weight_gradient_communication = all_reduce(60)});
    }
    return workload::dlrm_loop(plan_of(std::move(layers), 2), 2, update);
}

TEST(GoldenG1, Unlimited) {
    // A2A 10–110 against bottom forward 10–70: 40 exposed in each pass.
    Golden(dlrm(100), Engine::kUnlimited)
        .expect({.iteration_ends = {550_ns, 1100_ns},
                 .total = 1100_ns,
                 .compute = 1020_ns,
                 .exposed = {{"emb.forward.all_to_all", 80_ns}},
                 .drain = 0_ns});
}

TEST(GoldenG1, OneFifo) {
    const Golden run(dlrm(100), Engine::kOneFifo);
    // Pass 1: bottom1 waits 560–600 for its all-reduce, A2A lasts 600–700 and bottom forward ends at 660.
    run.expect({.iteration_ends = {550_ns, 1140_ns},
                .total = 1190_ns,
                .compute = 1020_ns,
                .exposed = {{"emb.forward.all_to_all", 80_ns}, {"bottom1.weight_gradient.all_reduce", 40_ns}},
                .drain = 50_ns});
    EXPECT_EQ(run.starts(0), (Golden::Starts{{"emb.forward.all_to_all", 10},
                                             {"top4.weight_gradient.all_reduce", 260},
                                             {"top3.weight_gradient.all_reduce", 360},
                                             {"emb.input_gradient.all_to_all", 420},
                                             {"bottom2.weight_gradient.all_reduce", 520},
                                             {"bottom1.weight_gradient.all_reduce", 560}}));
    EXPECT_EQ(run.starts(1).front(), (std::pair<std::string, std::int64_t>("emb.forward.all_to_all", 600)));
}

TEST(GoldenG1, OneLifo) {
    const Golden run(dlrm(100), Engine::kOneLifo);
    // Pass 1: bottom1's all-reduce is there at 560, bottom2 waits 590–600; A2A 600–700, bottom forward ends
    // at 630.
    run.expect(
        {.iteration_ends = {550_ns, 1140_ns},
         .total = 1190_ns,
         .compute = 1020_ns,
         .exposed = {{"emb.forward.all_to_all", 110_ns}, {"bottom2.weight_gradient.all_reduce", 10_ns}},
         .drain = 50_ns});
    EXPECT_EQ(run.starts(0), (Golden::Starts{{"emb.forward.all_to_all", 10},
                                             {"top4.weight_gradient.all_reduce", 260},
                                             {"top3.weight_gradient.all_reduce", 360},
                                             {"emb.input_gradient.all_to_all", 420},
                                             {"bottom1.weight_gradient.all_reduce", 520},
                                             {"bottom2.weight_gradient.all_reduce", 560}}));
    EXPECT_EQ(run.starts(1).front(), (std::pair<std::string, std::int64_t>("emb.forward.all_to_all", 600)));
}

TEST(GoldenG2, UpdateAfterItsGradients) {
    // A2A backward 410–610, bottom backward ends at 530: 80 exposed, then the update.
    Golden(dlrm(200), Engine::kUnlimited)
        .expect({.iteration_ends = {630_ns, 1260_ns},
                 .total = 1260_ns,
                 .compute = 1020_ns,
                 .exposed = {{"emb.forward.all_to_all", 80_ns}, {"emb.input_gradient.all_to_all", 160_ns}},
                 .drain = 0_ns});
}

TEST(GoldenG2, UpdateBeforeItsGradients) {
    // The update, 530–550, hides 20 of the A2A.
    Golden(dlrm(200, workload::EmbeddingUpdate::kBeforeGradients), Engine::kUnlimited)
        .expect({.iteration_ends = {610_ns, 1220_ns},
                 .total = 1220_ns,
                 .compute = 1020_ns,
                 .exposed = {{"emb.forward.all_to_all", 80_ns}, {"emb.input_gradient.all_to_all", 120_ns}},
                 .drain = 0_ns});
}

TEST(GoldenG2, StaleEmbeddings) {
    // Not in the reference. Passes of 550 that wait for no gradients; the A2A backward of pass 1, issued at
    // 550 + 410, ends at 1160: 60 of drain.
    Golden(dlrm(200, workload::EmbeddingUpdate::kStale), Engine::kUnlimited)
        .expect({.iteration_ends = {550_ns, 1100_ns},
                 .total = 1160_ns,
                 .compute = 1020_ns,
                 .exposed = {{"emb.forward.all_to_all", 80_ns}},
                 .drain = 60_ns});
}

// G3: data-parallel, four layers. Compute of a pass: 4·10 + 7·10 = 110.

Program data() {
    std::vector<TrainingLayer> layers;
    for (const char* name : {"layer0", "layer1", "layer2", "layer3"}) {
        layers.push_back({.name = name,
                          .forward = 10_ns,
                          .input_gradient = 10_ns,
                          .weight_gradient = 10_ns,
                          .weight_gradient_communication = all_reduce(50)});
    }
    return workload::data_loop(plan_of(std::move(layers), 2));
}

TEST(GoldenG3, OneFifo) {
    const Golden run(data(), Engine::kOneFifo);
    run.expect({.iteration_ends = {110_ns, 360_ns},
                .total = 500_ns,
                .compute = 220_ns,
                .exposed = {{"layer0.weight_gradient.all_reduce", 140_ns}},
                .drain = 140_ns});
    EXPECT_EQ(run.starts(0), (Golden::Starts{{"layer3.weight_gradient.all_reduce", 50},
                                             {"layer2.weight_gradient.all_reduce", 100},
                                             {"layer1.weight_gradient.all_reduce", 150},
                                             {"layer0.weight_gradient.all_reduce", 200}}));
}

TEST(GoldenG3, OneLifo) {
    const Golden run(data(), Engine::kOneLifo);
    run.expect({.iteration_ends = {110_ns, 340_ns},
                .total = 480_ns,
                .compute = 220_ns,
                .exposed = {{"layer0.weight_gradient.all_reduce", 90_ns},
                            {"layer2.weight_gradient.all_reduce", 30_ns}},
                .drain = 140_ns});
    EXPECT_EQ(run.starts(0), (Golden::Starts{{"layer3.weight_gradient.all_reduce", 50},
                                             {"layer1.weight_gradient.all_reduce", 100},
                                             {"layer0.weight_gradient.all_reduce", 150},
                                             {"layer2.weight_gradient.all_reduce", 200}}));
}

// G4: layers of 30, 30, 50 (each pass); forward exchanges 20, gradient exchanges 40, 40, 100. Compute of a
// pass: 110 forward, 110 weight gradients, 80 input gradients: 300.

std::vector<TrainingLayer> sharded_layers(bool exchange_weight_gradients) {
    struct Shape {
        const char* name;
        Time compute;
        std::int64_t exchange;
    };
    std::vector<TrainingLayer> layers;
    for (const Shape& shape :
         {Shape{"layer0", 30_ns, 40}, Shape{"layer1", 30_ns, 40}, Shape{"layer2", 50_ns, 100}}) {
        TrainingLayer layer{
            .name = shape.name,
            .forward = shape.compute,
            .input_gradient = shape.compute,
            .weight_gradient = shape.compute,
            .forward_communication = collective(CollectiveKind::kAllGather, 20),
            .input_gradient_communication = collective(CollectiveKind::kReduceScatter, shape.exchange)};
        if (exchange_weight_gradients) {
            layer.weight_gradient_communication = all_reduce(shape.exchange);
        }
        layers.push_back(std::move(layer));
    }
    return layers;
}

TEST(GoldenG4, Model) {
    Golden(workload::model_loop(plan_of(sharded_layers(false), 1)), Engine::kUnlimited)
        .expect({.iteration_ends = {420_ns},
                 .total = 420_ns,
                 .compute = 300_ns,
                 .exposed = {{"layer0.forward.all_gather", 20_ns},
                             {"layer1.forward.all_gather", 20_ns},
                             {"layer2.forward.all_gather", 20_ns},
                             {"layer2.input_gradient.reduce_scatter", 50_ns},   // 100 behind 50
                             {"layer1.input_gradient.reduce_scatter", 10_ns}},  // 40 behind 30
                 .drain = 0_ns});
}

TEST(GoldenG4, Hybrid) {
    // Layer 0's all-reduce, issued at the end of a pass, delays the next forward by all its 40.
    Golden(workload::hybrid_loop(plan_of(sharded_layers(true), 2)), Engine::kUnlimited)
        .expect({.iteration_ends = {420_ns, 880_ns},
                 .total = 920_ns,
                 .compute = 600_ns,
                 .exposed = {{"layer0.forward.all_gather", 40_ns},
                             {"layer1.forward.all_gather", 40_ns},
                             {"layer2.forward.all_gather", 40_ns},
                             {"layer2.input_gradient.reduce_scatter", 100_ns},
                             {"layer1.input_gradient.reduce_scatter", 20_ns},
                             {"layer0.weight_gradient.all_reduce", 40_ns}},
                 .drain = 40_ns});
}

}  // namespace
}  // namespace astrolabe
