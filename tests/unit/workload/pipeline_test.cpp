/// Schedules, parts, sizes and programs of pipelines (workload/src/pipeline/).
#include "workload/src/pipeline/pipeline.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/program/participants.hpp>
#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::Operation;
using system::OperationId;
using system::Program;
using system::RankId;

constexpr PipelineSchedule kGpipe = PipelineSchedule::kGpipe;
constexpr PipelineSchedule k1F1B = PipelineSchedule::kOneForwardOneBackward;
constexpr PipelineSchedule kInterleaved = PipelineSchedule::kInterleaved;

/// `layers` equal layers of given times, on `ranks` ranks.
struct Given {
    PipelineModel model;
    PipelineTraining training;
    Device device;
    std::size_t ranks = 1;

    Given(std::int64_t layers, Time forward, Time backward) {
        model.layers = {
            {.name = "layer", .count = layers, .output = 10, .forward = forward, .backward = backward}};
        training.batch = 1;
    }
    [[nodiscard]] PipelinePlan plan() const { return {model, training, device, ranks}; }
    [[nodiscard]] Program program() const { return pipeline_program(plan(), training.iterations); }
    [[nodiscard]] std::string first_complaint() const {
        const ValidationErrors errors = validation_errors(model, training, ranks);
        return errors.empty() ? "" : errors.front().key + ": " + errors.front().message;
    }
};

std::string text_of(const std::vector<PipelineStep>& steps) {
    std::string text;
    for (const PipelineStep& step : steps) {
        text += fmt::format("{}{}{}.{}", text.empty() ? "" : " ", step.is_forward ? 'F' : 'B', step.part,
                            step.micro_batch);
    }
    return text;
}

TEST(PipelineSchedules, AreThoseOfThePapers) {
    EXPECT_EQ(text_of(steps_of_stage({kGpipe, 2, 3, 1}, 1)), "F1.0 F1.1 F1.2 B1.0 B1.1 B1.2");
    // Four stages: 3, 2, 1, 0 forward passes ahead.
    EXPECT_EQ(text_of(steps_of_stage({k1F1B, 4, 4, 1}, 0)), "F0.0 F0.1 F0.2 F0.3 B0.0 B0.1 B0.2 B0.3");
    EXPECT_EQ(text_of(steps_of_stage({k1F1B, 4, 4, 1}, 2)), "F2.0 F2.1 B2.0 F2.2 B2.1 F2.3 B2.2 B2.3");
    EXPECT_EQ(text_of(steps_of_stage({k1F1B, 4, 4, 1}, 3)), "F3.0 B3.0 F3.1 B3.1 F3.2 B3.2 F3.3 B3.3");
    // Two stages of two parts: stage 0 has parts 0 and 2, stage 1 has 1 and 3. Ahead on stage 0: 2·1 + 2.
    EXPECT_EQ(text_of(steps_of_stage({kInterleaved, 2, 4, 2}, 0)),
              "F0.0 F0.1 F2.0 F2.1 F0.2 B2.0 F0.3 B2.1 F2.2 B0.0 F2.3 B0.1 B2.2 B2.3 B0.2 B0.3");
    EXPECT_EQ(text_of(steps_of_stage({kInterleaved, 2, 2, 2}, 1)), "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 B1.0 B1.1");
}

RC_GTEST_PROP(PipelineSchedules, PassEveryMicroBatchThroughEveryPartInOrder, ()) {
    const auto schedule = *rc::gen::element(kGpipe, k1F1B, kInterleaved);
    PipelineSize size{schedule, *rc::gen::inRange<std::size_t>(1, 9), *rc::gen::inRange<std::size_t>(1, 20),
                      1};
    if (schedule == kInterleaved) {
        size.micro_batches = size.stages * *rc::gen::inRange<std::size_t>(1, 5);
        size.parts_per_stage = *rc::gen::inRange<std::size_t>(1, 5);
    }
    const std::size_t p = size.stages;
    const std::size_t m = size.micro_batches;
    const std::size_t v = size.parts_per_stage;
    std::vector<PipelineStep> of_all;
    for (std::size_t s = 0; s < p; ++s) {
        const std::vector<PipelineStep> steps = steps_of_stage(size, s);
        std::size_t expected = m;
        if (schedule == k1F1B) {
            expected = std::min(m, p - s);
        } else if (schedule == kInterleaved) {
            expected = std::min(m * v, 2 * (p - 1 - s) + (v - 1) * p + 1);
        }
        RC_ASSERT(most_in_flight(steps) == expected);
        of_all.insert(of_all.end(), steps.begin(), steps.end());
    }
    // Every stage's own order is kept, and whatever a step needs is before it.
    const std::vector<PipelineStep> order = steps_in_order(size);
    std::set<std::tuple<bool, std::size_t, std::size_t>> done;
    std::vector<std::vector<PipelineStep>> by_stage(p);
    for (const PipelineStep& step : order) {
        const auto has = [&](bool is_forward, std::size_t part) {
            return done.contains({is_forward, part, step.micro_batch});
        };
        RC_ASSERT(size.stage_of(step.part) < p);
        RC_ASSERT(!step.is_forward || step.part == 0 || has(true, step.part - 1));
        RC_ASSERT(step.is_forward || has(true, step.part));
        RC_ASSERT(step.is_forward || step.part + 1 == p * v || has(false, step.part + 1));
        RC_ASSERT(done.emplace(step.is_forward, step.part, step.micro_batch).second);
        by_stage[size.stage_of(step.part)].push_back(step);
    }
    RC_ASSERT(done.size() == 2 * p * v * m);
    for (std::size_t s = 0; s < p; ++s) {
        RC_ASSERT(by_stage[s] == steps_of_stage(size, s));
    }
}

RC_GTEST_PROP(PipelineSchedules, AreIdleAsLongAsThePapersSay, ()) {
    const auto schedule = *rc::gen::element(kGpipe, k1F1B, kInterleaved);
    const auto p = *rc::gen::inRange<std::int64_t>(schedule == kInterleaved ? 2 : 1, 9);
    const auto m = schedule == kInterleaved ? p * *rc::gen::inRange<std::int64_t>(1, 5)
                                            : *rc::gen::inRange<std::int64_t>(1, 20);
    const auto v = schedule == kInterleaved ? *rc::gen::inRange<std::int64_t>(1, 5) : 1;
    const Time forward(*rc::gen::inRange(1, 1000));
    const Time backward(*rc::gen::inRange(1, 1000));
    Given given(p * v, forward, backward);
    given.training.schedule = schedule;
    given.training.stages = p;
    given.training.micro_batches = m;
    given.training.virtual_stages = v;
    given.training.batch = m;
    given.ranks = static_cast<std::size_t>(p);
    const PipelinePlan plan = given.plan();
    // A stage computes v m (f + b) and idles for (p - 1)(f + b), f and b of a part: (p - 1) of (v m + p - 1).
    RC_ASSERT(plan.compute(0) == (forward + backward) * (v * m));
    RC_ASSERT(plan.free_network_time() == (forward + backward) * (v * m + p - 1));
}

TEST(PipelinePlans, CutLayersInPartsThatTakeAboutAsLong) {
    const auto parts_of = [](Given given, std::int64_t stages) {
        given.training.stages = stages;
        given.ranks = static_cast<std::size_t>(stages);
        std::vector<std::size_t> layers;
        const PipelinePlan plan = given.plan();
        for (const PipelinePart& part : plan.parts()) {
            layers.push_back(part.end - part.first);
        }
        return layers;
    };
    const Given ten(10, 1_us, 2_us);
    EXPECT_EQ(parts_of(ten, 4), (std::vector<std::size_t>{3, 3, 2, 2}));
    EXPECT_EQ(parts_of(ten, 10), (std::vector<std::size_t>(10, 1)));
    // 1, 1, 1, 9 in two: the largest sum is 9, whatever else.
    Given uneven(3, 1_us, 0_us);
    uneven.model.layers.push_back({.name = "large", .forward = 9_us, .backward = 0_us});
    EXPECT_EQ(parts_of(uneven, 2), (std::vector<std::size_t>{3, 1}));
    Given split(10, 1_us, 2_us);
    split.training.split = {1, 9};
    EXPECT_EQ(parts_of(split, 2), (std::vector<std::size_t>{1, 9}));
}

RC_GTEST_PROP(PipelinePlans, NoCutHasASmallerLargestPart, ()) {
    Given given(1, Time(0), Time(0));
    given.model.layers.clear();
    const auto times = *rc::gen::container<std::vector<int>>(9, rc::gen::inRange(0, 30));
    for (std::size_t i = 0; i < times.size(); ++i) {
        given.model.layers.push_back(
            {.name = std::to_string(i), .forward = Time(times[i]), .backward = Time(0)});
    }
    given.training.stages = *rc::gen::inRange<std::int64_t>(1, 6);
    given.ranks = static_cast<std::size_t>(given.training.stages);
    const PipelinePlan plan = given.plan();
    Time most;
    for (std::size_t part = 0; part < plan.parts().size(); ++part) {
        RC_ASSERT(plan.parts()[part].first < plan.parts()[part].end);
        most = std::max(most, plan.forward(part));
    }
    // All ways to choose stages - 1 of the 8 places between layers.
    for (unsigned places = 0; places < 1U << 8U; ++places) {
        if (std::popcount(places) + 1 != given.training.stages) {
            continue;
        }
        int sum = 0;
        int largest = 0;
        for (std::size_t i = 0; i < times.size(); ++i) {
            sum += times[i];
            largest = std::max(largest, sum);
            sum = (places >> i & 1U) != 0 ? 0 : sum;
        }
        RC_ASSERT(most <= Time(largest));
    }
}

TEST(PipelinePlans, ComputeByTheDevice) {
    Given given(1, 0_us, 0_us);
    given.model.layers = {{.name = "a", .flops = 600, .parameters = 1000, .output = 50, .all_reduces = 1},
                          {.name = "b", .flops = 60'000, .parameters = 10, .output = 7, .kept = 99_B}};
    given.model.gradient_element_size = 4_B;
    given.training.batch = 24;
    given.training.micro_batches = 3;
    given.training.tensor_parallel = 2;
    given.ranks = 4;  // two replicas: 24 / (2·3) = 4 samples a micro-batch
    given.device.peak = 1_TFLOPS;
    given.device.memory_bandwidth = Bandwidth(8'000'000'000'000);  // a byte a picosecond
    const PipelinePlan plan = given.plan();
    // a: 600·4/2 FLOP = 1,200 ps; 2·500 + 4·(0 + 50)·2 = 1,400 bytes, which is longer.
    // b: 60,000·4/2 FLOP = 120,000 ps; 2·5 + 4·(50 + 7)·2 = 466 bytes.
    EXPECT_EQ(plan.forward(0), Time(1'400 + 120'000));
    EXPECT_EQ(plan.backward(0), 2 * Time(1'400 + 120'000));
    EXPECT_EQ(plan.parameters(0), 1010);
    EXPECT_EQ(plan.gradients(0), Bytes(4 * (500 + 5)));
    EXPECT_EQ(plan.kept(0), Bytes(4 * 50 * 2 + 4 * 99 / 2));
    EXPECT_EQ(plan.message(0), Bytes(4 * 7 * 2));
    EXPECT_EQ(plan.most_kept(0), plan.kept(0));  // one stage, a forward and a backward pass in turn

    given.training.recompute = true;
    EXPECT_EQ(given.plan().backward(0), 3 * Time(1'400 + 120'000));
    EXPECT_EQ(given.plan().kept(0), 0_B);  // the input of the first part is the batch itself
    // The pieces of the last backward pass: b by itself, then a with its all-reduce, and the gradients.
    const auto pieces = given.plan().pieces(0, false, true);
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(pieces[0].tensor_all_reduce, 4 * 50 * 2_B);
    EXPECT_EQ(pieces[0].gradients, Bytes(4 * 505));

    given.device.measured["b"] = {.forward = MeasuredTime(5_us), .input_gradient = MeasuredTime(7_us)};
    given.training.recompute = false;
    EXPECT_EQ(given.plan().forward(0), Time(1'400) + 5_us);
    EXPECT_EQ(given.plan().backward(0), Time(2'800) + 7_us);
}

std::map<std::string, const Operation*> named(const Program& program, int iteration) {
    std::map<std::string, const Operation*> found;
    for (const Operation& operation : program.operations) {
        if (operation.iteration == iteration) {
            EXPECT_TRUE(found.emplace(operation.name, &operation).second) << operation.name;
        }
    }
    return found;
}

std::vector<std::string> what_it_waits_for(const Program& program, const Operation& operation) {
    std::vector<std::string> names;
    for (const OperationId id : operation.dependencies) {
        names.push_back(program.operations[id].name);
    }
    return names;
}

TEST(PipelinePrograms, StagesSendToTheNextAndReplicasShareOperations) {
    Given given(2, 10_us, 20_us);
    given.model.layers[0].parameters = 6;
    given.training.stages = 2;
    given.training.micro_batches = 2;
    given.training.batch = 4;
    given.training.iterations = 2;
    given.ranks = 4;  // two replicas, ranks 0 and 1 on stage 0
    const Program program = given.program();
    const auto first = named(program, 0);
    const auto second = named(program, 1);
    using Names = std::vector<std::string>;
    EXPECT_EQ(what_it_waits_for(program, *first.at("stage1.forward.0.receive")), Names{});
    EXPECT_EQ(what_it_waits_for(program, *first.at("stage1.forward.0")), Names{"stage1.forward.0.receive"});
    EXPECT_EQ(what_it_waits_for(program, *first.at("stage0.forward.1.send")), Names{"stage0.forward.1"});
    EXPECT_EQ(program.operations[first.at("stage0.backward.1.receive")->receive().send].name,
              "stage1.backward.1.send");
    EXPECT_EQ(what_it_waits_for(program, *first.at("stage0.backward.1.gradients0.all_reduce")),
              Names{"stage0.backward.1"});
    EXPECT_EQ(what_it_waits_for(program, *second.at("stage0.forward.0")),
              Names{"stage0.backward.1.gradients0.all_reduce"});
    EXPECT_EQ(what_it_waits_for(program, *second.at("stage1.forward.0")),
              (Names{"stage1.backward.1.gradients0.all_reduce", "stage1.forward.0.receive"}));

    const system::CollectiveOperation& send = first.at("stage0.forward.0.send")->collective();
    EXPECT_TRUE(send.is_one_sided);
    EXPECT_EQ(send.size, 20_B);  // 10 values of 2 bytes of a sample
    EXPECT_EQ(program.partitions[send.partition].groups,
              (std::vector<std::vector<RankId>>{{RankId(0), RankId(2)}, {RankId(1), RankId(3)}}));
    const system::CollectiveOperation& gradients =
        first.at("stage1.backward.1.gradients0.all_reduce")->collective();
    EXPECT_EQ(gradients.size, 12_B);
    EXPECT_EQ(program.partitions[gradients.partition].groups,
              (std::vector<std::vector<RankId>>{{RankId(2), RankId(3)}}));
    EXPECT_EQ(program.rank_sets[*first.at("stage1.forward.0")->compute().ranks],
              (std::vector<RankId>{RankId(2), RankId(3)}));
    EXPECT_FALSE(system::Participants(program).is_spmd());
    // A replica more makes no operation more.
    const std::size_t operations = program.operations.size();
    given.ranks = 8;
    given.training.batch = 8;
    EXPECT_EQ(given.program().operations.size(), operations);
}

TEST(PipelinePrograms, OneStageIsDataParallelTrainingOfAllRanks) {
    Given given(4, 10_us, 20_us);
    given.model.layers[0].parameters = 100;  // 200 bytes of gradients each
    given.training.batch = 8;
    given.training.bucket = 300_B;
    given.ranks = 8;
    const Program program = given.program();
    EXPECT_TRUE(system::Participants(program).is_spmd());
    // Buckets of two layers each, the last ones first.
    std::vector<std::string> names;
    for (const Operation& operation : program.operations) {
        names.push_back(operation.name);
        if (operation.is_collective()) {
            EXPECT_EQ(operation.collective().size, 400_B);
            EXPECT_EQ(program.partitions[operation.collective().partition].name, "world");
        } else if (operation.name != "stage0.forward.0") {
            EXPECT_EQ(operation.compute().duration[RankId(0)], 40_us);
        }
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"stage0.forward.0", "stage0.backward.0.piece0",
                                        "stage0.backward.0.gradients0.all_reduce", "stage0.backward.0.piece1",
                                        "stage0.backward.0.gradients1.all_reduce"}));
}

RC_GTEST_PROP(PipelinePrograms, AllThatIsComputedAndExchangedIsThatOfTheModel, ()) {
    const auto schedule = *rc::gen::element(kGpipe, k1F1B, kInterleaved);
    const auto p = *rc::gen::inRange<std::int64_t>(schedule == kInterleaved ? 2 : 1, 5);
    const auto m = schedule == kInterleaved ? p * *rc::gen::inRange<std::int64_t>(1, 4)
                                            : *rc::gen::inRange<std::int64_t>(1, 9);
    const auto v = schedule == kInterleaved ? *rc::gen::inRange<std::int64_t>(1, 4) : 1;
    const auto t = *rc::gen::inRange<std::int64_t>(1, 4);
    const auto replicas = *rc::gen::inRange<std::int64_t>(1, 4);
    const std::int64_t layers = p * v + *rc::gen::inRange<std::int64_t>(0, 7);
    Given given(layers, Time(*rc::gen::inRange(0, 100)), Time(*rc::gen::inRange(0, 100)));
    PipelineLayer& layer = given.model.layers[0];
    layer.parameters = *rc::gen::inRange<std::int64_t>(1, 50);
    layer.all_reduces = *rc::gen::inRange<std::int64_t>(0, 4);
    given.training.schedule = schedule;
    given.training.stages = p;
    given.training.micro_batches = m;
    given.training.virtual_stages = v;
    given.training.tensor_parallel = t;
    given.training.batch = m * replicas;
    if (*rc::gen::arbitrary<bool>()) {
        given.training.bucket = Bytes(*rc::gen::inRange<std::int64_t>(1, 200));
    }
    given.ranks = static_cast<std::size_t>(p * t * replicas);
    const Program program = given.program();
    const system::Participants participants(program);
    Time compute;
    Bytes gradients;
    Bytes inside;
    std::int64_t sent = 0;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const OperationId id(i);
        const Operation& operation = program.operations[id];
        const auto count = static_cast<std::int64_t>(participants.count(id));
        if (operation.is_compute()) {
            compute += operation.compute().duration[RankId(0)] * count;
        } else if (operation.is_receive()) {
            sent += count;
        } else if (operation.name.find("gradients") != std::string::npos) {
            gradients += operation.collective().size * count;
        } else if (!operation.collective().is_one_sided) {
            inside += operation.collective().size * count;
        }
    }
    const std::int64_t ranks_of_stage = t * replicas;
    RC_ASSERT(compute == (*layer.forward + *layer.backward) * (layers * m * ranks_of_stage));
    RC_ASSERT(sent == 2 * (p * v - 1) * m * ranks_of_stage);
    const std::int64_t own = (layer.parameters + t - 1) / t;
    RC_ASSERT(gradients == (replicas > 1 ? 2_B * (own * layers * ranks_of_stage) : 0_B));
    RC_ASSERT(inside == (t > 1 ? 20_B * (2 * layer.all_reduces * layers * m * ranks_of_stage) : 0_B));
}

TEST(PipelineErrors, NameTheKey) {
    Given given(4, 1_us, 1_us);
    given.training.stages = 3;
    given.ranks = 4;
    EXPECT_EQ(given.first_complaint(),
              "stages: 3 stages of 1 tensor-parallel ranks are 3 ranks, and the cluster has 4");
    given.training.stages = 2;
    given.training.micro_batches = 3;
    given.training.batch = 4;
    EXPECT_EQ(given.first_complaint(),
              "batch: is 4, expected a multiple of 6: 2 replicas times 3 micro-batches");
    given.training.batch = 6;
    EXPECT_EQ(given.first_complaint(), "");
    given.training.schedule = kInterleaved;
    EXPECT_EQ(given.first_complaint(), "micro_batches: is 3, expected a multiple of 2");
    given.training.schedule = k1F1B;
    given.training.virtual_stages = 2;
    EXPECT_EQ(given.first_complaint(),
              "virtual_stages: is 2, and this schedule has one part of the model on a stage");
    given.training.virtual_stages = 1;
    given.training.split = {3, 2};
    EXPECT_EQ(given.first_complaint(), "split: puts 5 layers in 2 parts, expected 4 in 2");
    given.training.split = {};
    given.model.layers[0].count = 1;
    EXPECT_EQ(given.first_complaint(), "stages: 1 layers cannot be cut in 2 parts");
    given.model.layers.clear();
    EXPECT_EQ(given.first_complaint(), "model.layers: the model has no layers");

    Given flops(1, 1_us, 1_us);
    flops.model.layers = {{.name = "layer", .flops = std::int64_t{1} << 50}};
    const ValidationErrors device = validation_errors(flops.device, flops.model, flops.training);
    ASSERT_EQ(device.size(), 1U);
    EXPECT_EQ(device[0].message, "the device says no rate for the FLOP of layer 'layer'");
    flops.device.peak = 1_TFLOPS;
    flops.training.batch = 1 << 11;
    const ValidationErrors sizes = size_errors(flops.model, flops.training, flops.device, 1);
    ASSERT_EQ(sizes.size(), 1U);
    EXPECT_EQ(sizes[0].message, "has more than 2^60 FLOP in a micro-batch");
}

/// A model of inputs/models as its file has it.
Job ready_job(const std::string& model) {
    Registry<Job> registry("workload");
    register_builtin_workloads(registry);
    Result<ConfigNode> node =
        parse_config("kind: pipeline\nbatch: 64\nmodel: {include: models/" + model + ".yaml}\n",
                     ASTROLABE_SOURCE_DIR "/inputs/job.yaml", ASTROLABE_SOURCE_DIR "/inputs");
    ReadContext context;
    const auto configured = registry.read(*node, context);
    if (!configured) {
        throw std::runtime_error(render(context.errors()));
    }
    return configured->make();
}

std::string fact(const Job& job, const std::string& name) {
    for (const auto& [key, value] : job.facts(Device{.peak = 100_TFLOPS}, 16)) {
        if (key == name) {
            return value;
        }
    }
    return "";
}

TEST(PipelineModels, BertLargeIsThatOfThePaper) {
    const Job job = ready_job("bert-large");
    // 24 (12 h² + 13 h), embeddings (30,522 + 512 + 2) h + 2 h, two h² + h, 2 h, 30,522 and 2 h + 2, h =
    // 1,024: the 335,141,888 of the encoder with its pooler, and the words' head.
    constexpr std::int64_t kH = 1024;
    constexpr std::int64_t kEncoder =
        24 * (12 * kH * kH + 13 * kH) + (30'522 + 512 + 2) * kH + 2 * kH + kH * kH + kH;
    static_assert(kEncoder == 335'141'888);
    EXPECT_EQ(fact(job, "parameters of stages"),
              std::to_string(kEncoder + kH * kH + kH + 2 * kH + 30'522 + 2 * kH + 2));
    // 4 samples a rank: 4 · (24 (24 s h² + 4 s² h) + 2 · 77 (h² + 30,522 h)) FLOP forward at 100 TFLOP/s, and
    // twice as much backward.
    constexpr std::int64_t kS = 512;
    constexpr std::int64_t kFlops =
        24 * (24 * kS * kH * kH + 4 * kS * kS * kH) + 2 * 77 * (kH * kH + 30'522 * kH);
    EXPECT_EQ(fact(job, "compute of stages per iteration"), readable(Time(3 * 4 * kFlops / 100)));
}

TEST(PipelineModels, Vgg16IsThatOfThePaper) {
    const Job job = ready_job("vgg16");
    EXPECT_EQ(fact(job, "parameters of stages"), "138357544");
    // 15,470,264,320 multiplications an image: twice as many FLOP, three passes, 4 images, 100 TFLOP/s.
    EXPECT_EQ(fact(job, "compute of stages per iteration"), readable(Time(15'470'264'320 * 2 * 3 * 4 / 100)));
}

}  // namespace
}  // namespace astrolabe::workload
