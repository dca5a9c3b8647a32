/// Structure of the loops (docs/theory/training-loops.md, "Loops"); the golden tests check what it amounts to
/// in time.

#include "workload/src/loops/training_loop.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::Operation;
using system::OperationId;
using system::PerRank;
using system::Priority;
using system::Program;

std::string to_string(Priority priority) {
    switch (priority) {
        case Priority::kDefault:
            return "default";
        case Priority::kFifo:
            return "fifo";
        case Priority::kLifo:
            return "lifo";
        case Priority::kHighest:
            return "highest";
        case Priority::kExplicit:
            return "explicit";
    }
    return "unknown";
}

/// "name" of a compute operation, "name priority" of a collective, then "<- dependency …", each with "'" when
/// it belongs to the iteration before.
std::vector<std::string> describe(const Program& program, int iteration) {
    std::vector<std::string> lines;
    for (const Operation& operation : program.operations) {
        if (operation.iteration != iteration) {
            continue;
        }
        std::string line = operation.name;
        if (!operation.is_compute()) {
            line += " " + to_string(operation.collective().priority);
        }
        for (std::size_t i = 0; i < operation.dependencies.size(); ++i) {
            const Operation& dependency = program.operations[operation.dependencies[i]];
            line += (i == 0 ? " <- " : ", ") + dependency.name;
            line += dependency.iteration < iteration ? "'" : "";
        }
        lines.push_back(line);
    }
    return lines;
}

using Lines = std::vector<std::string>;

class TrainingLoop : public ::testing::Test {
protected:
    TrainingLoop() {
        plan_.ranks = 2;
        plan_.iterations = 2;
        world_ = plan_.partitions.push_back(system::Partition::world(2));
    }

    TrainingLayer& add(const std::string& name) {
        plan_.layers.push_back(
            {.name = name, .forward = 1_ns, .input_gradient = 2_ns, .weight_gradient = 3_ns});
        return plan_.layers.back();
    }
    [[nodiscard]] LayerCommunication collective(CollectiveKind kind, Bytes size = 64_B) const {
        return {.kind = kind, .size = size, .partition = world_};
    }

    TrainingPlan plan_;
    system::PartitionId world_;
};

class DataLoop : public TrainingLoop {
protected:
    DataLoop() {
        add("A").weight_gradient_communication = collective(CollectiveKind::kAllReduce);
        add("B").weight_gradient_communication = collective(CollectiveKind::kAllReduce);
    }
};

TEST_F(DataLoop, FirstIterationWaitsForNothing) {
    EXPECT_EQ(describe(data_loop(plan_), 0),
              (Lines{"A.forward", "B.forward",  //
                     "B.weight_gradient", "B.weight_gradient.all_reduce default <- B.weight_gradient",
                     "B.input_gradient",  //
                     "A.weight_gradient", "A.weight_gradient.all_reduce default <- A.weight_gradient"}));
}

TEST_F(DataLoop, LaterForwardsWaitForTheirOwnWeights) {
    const Lines lines = describe(data_loop(plan_), 1);
    EXPECT_EQ(lines[0], "A.forward <- A.weight_gradient.all_reduce'");
    EXPECT_EQ(lines[1], "B.forward <- B.weight_gradient.all_reduce'");
    EXPECT_EQ(lines[2], "B.weight_gradient");
    EXPECT_EQ(lines.size(), 7U);
}

TEST_F(DataLoop, LayerWithoutCollectiveIsNotWaitedFor) {
    plan_.layers[0].weight_gradient_communication.reset();
    EXPECT_EQ(describe(data_loop(plan_), 1).front(), "A.forward");
}

TEST_F(DataLoop, LayerWithNothingToLearnComputesNoWeightGradient) {
    plan_.layers[1].weight_gradient.reset();
    plan_.layers[1].weight_gradient_communication.reset();
    EXPECT_EQ(describe(data_loop(plan_), 0),
              (Lines{"A.forward", "B.forward", "B.input_gradient", "A.weight_gradient",
                     "A.weight_gradient.all_reduce default <- A.weight_gradient"}));
}

TEST_F(DataLoop, TimesSizesAndDelaysArePassedOn) {
    plan_.layers[1].forward = PerRank<Time>(std::vector<Time>{5_ns, 7_ns});
    plan_.layers[1].update_delay = 9_ns;
    const Program program = data_loop(plan_);
    EXPECT_EQ(program.ranks, 2U);
    EXPECT_EQ(program.iterations, 2);
    EXPECT_EQ(program.partitions[world_].name, "world");
    const auto& forward = program.operations[OperationId(1)].compute().duration;
    EXPECT_EQ(forward[system::RankId(0)], 5_ns);
    EXPECT_EQ(forward[system::RankId(1)], 7_ns);
    EXPECT_EQ(program.operations[OperationId(2)].compute().duration[system::RankId(0)], 3_ns);
    EXPECT_EQ(program.operations[OperationId(3)].collective().size, 64_B);
    EXPECT_EQ(program.operations[OperationId(3)].collective().completion_delay, 9_ns);
    EXPECT_EQ(program.operations[OperationId(3)].layer, "B");
    EXPECT_EQ(program.operations[OperationId(4)].compute().duration[system::RankId(0)], 2_ns);
}

TEST_F(DataLoop, RefusesCollectivesItDoesNotHave) {
    plan_.layers[0].forward_communication = collective(CollectiveKind::kAllGather);
    EXPECT_THROW((void)data_loop(plan_), std::logic_error);
}

TEST_F(DataLoop, RefusesEmptyPlans) {
    plan_.iterations = 0;
    EXPECT_THROW((void)data_loop(plan_), std::logic_error);
    plan_.iterations = 1;
    plan_.layers.clear();
    EXPECT_THROW((void)data_loop(plan_), std::logic_error);
}

TEST_F(DataLoop, RefusesTwoLayersOfOneName) {
    plan_.layers[1].name = "A";
    EXPECT_THROW((void)data_loop(plan_), std::logic_error);
}

class ModelLoop : public TrainingLoop {
protected:
    ModelLoop() {
        for (const char* name : {"A", "B", "C"}) {
            TrainingLayer& layer = add(name);
            layer.forward_communication = collective(CollectiveKind::kAllGather);
            layer.input_gradient_communication = collective(CollectiveKind::kReduceScatter);
        }
    }
};

TEST_F(ModelLoop, EveryExchangeIsWaitedForByTheNextComputeButOne) {
    EXPECT_EQ(
        describe(model_loop(plan_), 0),
        (Lines{"A.forward", "A.forward.all_gather default <- A.forward", "B.forward <- A.forward.all_gather",
               "B.forward.all_gather default <- B.forward", "C.forward <- B.forward.all_gather",
               "C.forward.all_gather default <- C.forward", "C.input_gradient <- C.forward.all_gather",
               "C.input_gradient.reduce_scatter lifo <- C.input_gradient",
               "C.weight_gradient",  // overlaps the exchange
               "B.input_gradient <- C.input_gradient.reduce_scatter",
               "B.input_gradient.reduce_scatter lifo <- B.input_gradient", "B.weight_gradient",
               "A.weight_gradient <- B.input_gradient.reduce_scatter"}));
}

TEST_F(ModelLoop, IterationsAreAlike) {
    const Program program = model_loop(plan_);
    EXPECT_EQ(describe(program, 1), describe(program, 0));
}

TEST_F(ModelLoop, WaitWithoutComputeToFollowIsAnOperationOfNoDuration) {
    plan_.layers[0].weight_gradient.reset();
    const Program program = model_loop(plan_);
    EXPECT_EQ(describe(program, 0).back(),
              "B.input_gradient.reduce_scatter.wait <- B.input_gradient.reduce_scatter");
    const Operation& wait = program.operations[OperationId(program.operations.size() - 1)];
    EXPECT_EQ(wait.layer, "B");
    EXPECT_EQ(wait.iteration, 1);
    EXPECT_EQ(wait.compute().duration[system::RankId(0)], 0_ps);
}

TEST_F(ModelLoop, RefusesWeightGradientCollectives) {
    plan_.layers[1].weight_gradient_communication = collective(CollectiveKind::kAllReduce);
    EXPECT_THROW((void)model_loop(plan_), std::logic_error);
}

TEST_F(ModelLoop, HybridAddsWeightGradientCollectivesInFifoOrder) {
    for (TrainingLayer& layer : plan_.layers) {
        layer.weight_gradient_communication = collective(CollectiveKind::kAllReduce);
    }
    EXPECT_EQ(
        describe(hybrid_loop(plan_), 1),
        (Lines{"A.forward <- A.weight_gradient.all_reduce'", "A.forward.all_gather default <- A.forward",
               "B.forward <- A.forward.all_gather, B.weight_gradient.all_reduce'",
               "B.forward.all_gather default <- B.forward",
               "C.forward <- B.forward.all_gather, C.weight_gradient.all_reduce'",
               "C.forward.all_gather default <- C.forward", "C.input_gradient <- C.forward.all_gather",
               "C.input_gradient.reduce_scatter lifo <- C.input_gradient", "C.weight_gradient",
               "C.weight_gradient.all_reduce fifo <- C.weight_gradient",
               "B.input_gradient <- C.input_gradient.reduce_scatter",
               "B.input_gradient.reduce_scatter lifo <- B.input_gradient", "B.weight_gradient",
               "B.weight_gradient.all_reduce fifo <- B.weight_gradient",
               "A.weight_gradient <- B.input_gradient.reduce_scatter",
               "A.weight_gradient.all_reduce fifo <- A.weight_gradient"}));
}

class DlrmLoop : public TrainingLoop {
protected:
    DlrmLoop() {
        TrainingLayer& embedding = add("E");
        embedding.forward_communication = collective(CollectiveKind::kAllToAll);
        embedding.input_gradient_communication = collective(CollectiveKind::kAllToAll);
        for (const char* name : {"B0", "B1", "T0", "T1"}) {
            add(name).weight_gradient_communication = collective(CollectiveKind::kAllReduce);
        }
    }
    static constexpr std::size_t kLastBottom = 2;
};

TEST_F(DlrmLoop, FollowsTheTableOfTheReference) {
    EXPECT_EQ(describe(dlrm_loop(plan_, kLastBottom), 1),
              (Lines{"E.forward",
                     "E.forward.all_to_all highest <- E.forward",
                     "B0.forward <- B0.weight_gradient.all_reduce'",
                     "B1.forward <- B1.weight_gradient.all_reduce'",
                     "T0.forward <- E.forward.all_to_all, T0.weight_gradient.all_reduce'",
                     "T1.forward <- T1.weight_gradient.all_reduce'",
                     "T1.weight_gradient",
                     "T1.weight_gradient.all_reduce default <- T1.weight_gradient",
                     "T1.input_gradient",
                     "T0.weight_gradient",
                     "T0.weight_gradient.all_reduce default <- T0.weight_gradient",
                     "T0.input_gradient",
                     "E.input_gradient.all_to_all highest <- T0.input_gradient",
                     "B1.weight_gradient",
                     "B1.weight_gradient.all_reduce default <- B1.weight_gradient",
                     "B1.input_gradient",
                     "B0.weight_gradient",
                     "B0.weight_gradient.all_reduce default <- B0.weight_gradient",
                     "B0.input_gradient",
                     "E.update <- E.input_gradient.all_to_all"}));
}

TEST_F(DlrmLoop, FirstIterationWaitsForTheAllToAllsOnly) {
    const Lines lines = describe(dlrm_loop(plan_, kLastBottom), 0);
    EXPECT_EQ(lines[2], "B0.forward");
    EXPECT_EQ(lines[4], "T0.forward <- E.forward.all_to_all");
}

TEST_F(DlrmLoop, CompatibleOrderUpdatesBeforeTheGradientsArrive) {
    const Lines lines = describe(dlrm_loop(plan_, kLastBottom, EmbeddingUpdate::kBeforeGradients), 1);
    EXPECT_EQ(lines[lines.size() - 2], "E.update");
    EXPECT_EQ(lines.back(), "E.input_gradient.all_to_all.wait <- E.input_gradient.all_to_all");
}

TEST_F(DlrmLoop, StaleEmbeddingsWaitForNobody) {
    const Program program = dlrm_loop(plan_, kLastBottom, EmbeddingUpdate::kStale);
    const Lines lines = describe(program, 0);
    EXPECT_EQ(lines.back(), "E.update");
    EXPECT_EQ(lines.size(), 20U);
    EXPECT_EQ(describe(program, 1).front(), "E.forward");
}

TEST_F(DlrmLoop, BoundedStaleUpdatesUseGradientsOfAnEarlierIteration) {
    plan_.iterations = 4;
    const auto bounded = [&](int staleness) {
        return dlrm_loop(plan_, kLastBottom, EmbeddingUpdate::kStale, 1, staleness);
    };
    const Program program = bounded(2);
    EXPECT_EQ(describe(program, 0).back(), "B0.input_gradient");  // nothing to update with yet
    EXPECT_EQ(describe(program, 1).back(), "B0.input_gradient");
    // What each update waits for, by the iterations of both.
    std::vector<std::pair<std::string, int>> waits;
    for (const system::Operation& operation : program.operations) {
        if (operation.name.starts_with("E.update")) {
            ASSERT_EQ(operation.dependencies.size(), 1U);
            const system::Operation& gradients = program.operations[operation.dependencies[0]];
            EXPECT_EQ(gradients.name, "E.input_gradient.all_to_all");
            waits.emplace_back(fmt::format("{} {}", operation.name, operation.iteration),
                               gradients.iteration);
        }
    }
    EXPECT_EQ(waits,
              (std::vector<std::pair<std::string, int>>{
                  {"E.update 2", 0}, {"E.update 3", 1}, {"E.update_late_2 3", 2}, {"E.update_late_1 3", 3}}));
    // No bound of iterations that there are: all updates come last. None at all: as after the gradients.
    EXPECT_EQ(describe(bounded(9), 3).back(), "E.update_late_1 <- E.input_gradient.all_to_all");
    EXPECT_EQ(describe(bounded(0), 3), describe(dlrm_loop(plan_, kLastBottom), 3));
    EXPECT_THROW((void)dlrm_loop(plan_, kLastBottom, EmbeddingUpdate::kAfterGradients, 1, 1),
                 std::logic_error);
}

TEST_F(DlrmLoop, EmbeddingCollectiveAfterTheUpdateIsWaitedForByTheNextLookup) {
    plan_.layers[0].weight_gradient_communication = collective(CollectiveKind::kAllReduce);
    const Lines lines = describe(dlrm_loop(plan_, kLastBottom), 1);
    EXPECT_EQ(lines.front(), "E.forward <- E.weight_gradient.all_reduce'");
    EXPECT_EQ(lines.back(), "E.weight_gradient.all_reduce default <- E.update");
}

TEST_F(DlrmLoop, RefusesAModelWithoutTop) {
    EXPECT_THROW((void)dlrm_loop(plan_, 4), std::logic_error);
}

TEST_F(DlrmLoop, RefusesActivationExchangeOfMlpLayers) {
    plan_.layers[3].forward_communication = collective(CollectiveKind::kAllGather);
    EXPECT_THROW((void)dlrm_loop(plan_, kLastBottom), std::logic_error);
}

class TransformerLoop : public TrainingLoop {
protected:
    TransformerLoop() {
        for (const char* name : {"A", "B", "C"}) {
            TrainingLayer& layer = add(name);
            layer.forward_communication = collective(CollectiveKind::kAllReduce);
            layer.input_gradient_communication = collective(CollectiveKind::kAllReduce);
            layer.weight_gradient_communication = collective(CollectiveKind::kAllReduce);
        }
    }
};

TEST_F(TransformerLoop, FirstLayerExchangesItsInputGradientToo) {
    plan_.layers.pop_back();
    const Lines lines = describe(transformer_loop(plan_), 0);
    EXPECT_EQ(lines, (Lines{"A.forward", "A.forward.all_reduce default <- A.forward",  //
                            "B.forward <- A.forward.all_reduce", "B.forward.all_reduce default <- B.forward",
                            "B.input_gradient <- B.forward.all_reduce",
                            "B.input_gradient.all_reduce lifo <- B.input_gradient", "B.weight_gradient",
                            "B.weight_gradient.all_reduce fifo <- B.weight_gradient",
                            "A.input_gradient <- B.input_gradient.all_reduce",
                            "A.input_gradient.all_reduce lifo <- A.input_gradient", "A.weight_gradient",
                            "A.weight_gradient.all_reduce fifo <- A.weight_gradient",
                            "A.input_gradient.all_reduce.wait <- A.input_gradient.all_reduce"}));
}

TEST_F(TransformerLoop, LaterForwardsWaitForTheirOwnWeights) {
    const Lines lines = describe(transformer_loop(plan_), 1);
    EXPECT_EQ(lines[0], "A.forward <- A.weight_gradient.all_reduce'");
    EXPECT_EQ(lines[2], "B.forward <- A.forward.all_reduce, B.weight_gradient.all_reduce'");
}

TEST_F(TransformerLoop, RecomputesFromTheNearestKeptLayerBelow) {
    // Kept 0 and 1, C = 2 initiates: only B = 1 runs again. With 0 alone kept, A and B do.
    const Lines near = describe(transformer_loop(plan_, {.kept = {0, 1}, .initiates = {2}}), 0);
    EXPECT_EQ(near[6], "B.recompute_for_C <- C.forward.all_reduce");
    EXPECT_EQ(near[7], "B.recompute_for_C.all_reduce default <- B.recompute_for_C");
    EXPECT_EQ(near[8], "C.input_gradient <- B.recompute_for_C.all_reduce");
    const Lines far = describe(transformer_loop(plan_, {.kept = {0}, .initiates = {2}}), 0);
    EXPECT_EQ(far[6], "A.recompute_for_C <- C.forward.all_reduce");
    EXPECT_EQ(far[8], "B.recompute_for_C <- A.recompute_for_C.all_reduce");
    EXPECT_EQ(far[10], "C.input_gradient <- B.recompute_for_C.all_reduce");
}

TEST_F(TransformerLoop, EveryInitiatingLayerRecomputesOnItsOwn) {
    // Without: 3 layers x (3 compute + 3 collectives) + the wait at the end = 19. C recomputes A and B, B
    // recomputes A: 3 x (compute + collective) = 6 more.
    const Checkpoints checkpoints{.kept = {0}, .initiates = {1, 2}};
    EXPECT_EQ(describe(transformer_loop(plan_), 0).size(), 19U);
    EXPECT_EQ(describe(transformer_loop(plan_, checkpoints), 0).size(), 25U);
}

TEST_F(TransformerLoop, CheckpointMustLieBelow) {
    EXPECT_THROW(static_cast<void>(transformer_loop(plan_, {.kept = {2}, .initiates = {2}})),
                 std::logic_error);
}

TEST_F(TransformerLoop, InferenceRunsForwardOnlyAndBlocks) {
    plan_.layers.pop_back();
    const Program program = inference_loop(plan_);
    EXPECT_EQ(describe(program, 0),
              (Lines{"A.forward", "A.forward.all_reduce default <- A.forward",  //
                     "B.forward <- A.forward.all_reduce", "B.forward.all_reduce default <- B.forward",
                     "B.forward.all_reduce.wait <- B.forward.all_reduce"}));
    EXPECT_EQ(describe(program, 1).front(), "A.forward");
}

TEST_F(TransformerLoop, MicroIssuesTheFirstLayersCollectiveOnceAnIterationAndNothingElse) {
    const Program program = micro_loop(plan_);
    EXPECT_EQ(describe(program, 0), (Lines{"A.weight_gradient.all_reduce default"}));
    EXPECT_EQ(describe(program, 1), (Lines{"A.weight_gradient.all_reduce default"}));
    plan_.layers[0].weight_gradient_communication.reset();
    EXPECT_THROW(static_cast<void>(micro_loop(plan_)), std::logic_error);
}

}  // namespace
}  // namespace astrolabe::workload
