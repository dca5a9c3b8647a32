/// Dense layers of a DLRM with biases and cross layers, their optimiser, and matrix products on a GPU.
#include "workload/src/dlrm/dlrm_cost.hpp"
#include "workload/src/dlrm/dlrm_training.hpp"
#include "workload/src/dlrm/optimizers.hpp"

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;

/// MLPerf's DLRM-DCNv2 but for the rows of its tables (mlcommons/training, recommendation_v2).
DlrmModel dcnv2() {
    DlrmModel model;
    model.dense_features = 13;
    model.bottom_mlp = {512, 256, 128};
    model.top_mlp = {1024, 1024, 512, 256, 1};
    model.tables = {{.count = 26, .rows = 1000, .dimension = 128, .pooling = 1}};
    model.interaction = Interaction::kDcnV2;
    model.cross = {.layers = 3, .rank = 512};
    model.biases = true;
    model.element_size = 4_B;
    return model;
}

std::int64_t weights(const std::vector<MlpLayer>& layers) {
    return std::accumulate(layers.begin(), layers.end(), std::int64_t{0},
                           [](std::int64_t sum, const MlpLayer& layer) { return sum + layer.weights(); });
}
std::int64_t parameters(const std::vector<MlpLayer>& layers) {
    return std::accumulate(layers.begin(), layers.end(), std::int64_t{0},
                           [](std::int64_t sum, const MlpLayer& layer) { return sum + layer.parameters(); });
}

TEST(DenseLayers, Dcnv2HasThePublishedWorkAndParameters) {
    const DlrmModel model = dcnv2();
    ASSERT_TRUE(validation_errors(model).empty());
    EXPECT_EQ(interaction_width(model), 27 * 128);
    // 13·512 + 512·256 + 256·128, and 512 + 256 + 128 biases.
    EXPECT_EQ(weights(bottom_layers(model)), 170'496);
    EXPECT_EQ(parameters(bottom_layers(model)), 171'392);
    // 3 layers of 2·3456·512, and 3456 biases each.
    EXPECT_EQ(weights(cross_layers(model)), 10'616'832);
    EXPECT_EQ(parameters(cross_layers(model)), 10'627'200);
    // 3456·1024 + 1024² + 1024·512 + 512·256 + 256, and 2817 biases.
    EXPECT_EQ(weights(top_layers(model)), 5'243'136);
    EXPECT_EQ(parameters(top_layers(model)), 5'245'953);
    EXPECT_EQ(weights(dense_layers(model)), 16'030'464);
    EXPECT_EQ(mlp_parameters(model), 16'044'545);
    EXPECT_EQ(mlp_parameters(model) * 4_B, 64'178'180_B);
}

TEST(DenseLayers, TheDotVariantHasItsPublishedWork) {
    DlrmModel model = dcnv2();
    model.interaction = Interaction::kDot;
    // 27·26/2 pairs + 128 = 479 inputs to the top; 170,496 + 479·1024 + 1024² + 1024·512 + 512·256 + 256.
    EXPECT_EQ(interaction_width(model), 479);
    EXPECT_EQ(weights(dense_layers(model)), 2'365'184);
    // With 27²·128 = 93,312 MAC of the dot: both halves of the symmetric product.
    EXPECT_EQ(interaction_work(model), 2 * 93'312);
    EXPECT_EQ(weights(dense_layers(model)) + interaction_work(model) / 2, 2'458'496);
}

TEST(DenseLayers, CrossLayersOfFullRankHaveOneMatrix) {
    DlrmModel model = dcnv2();
    model.cross.rank.reset();
    const std::vector<MlpLayer> cross = cross_layers(model);
    ASSERT_EQ(cross.size(), 3U);
    EXPECT_EQ(cross[2].name, "Cross_2");
    EXPECT_EQ(cross[2].weights(), 3456 * 3456);
    EXPECT_EQ(cross[2].parameters(), 3456 * 3456 + 3456);
}

TEST(DenseLayers, TensorsAreInTheOrderOfRegistration) {
    const std::vector<DenseTensor> tensors = dense_tensors(dcnv2());
    // 3 + 5 MLP layers of two tensors, 3 cross layers of three.
    ASSERT_EQ(tensors.size(), 25U);
    const auto tensor = [&tensors](std::size_t i) {
        return tensors[i].layer + " " + std::to_string(tensors[i].parameters);
    };
    EXPECT_EQ(tensor(0), "Bottom_0 6656");
    EXPECT_EQ(tensor(1), "Bottom_0 512");
    EXPECT_EQ(tensor(6), "Cross_0 1769472");  // W of 3456·512, then all V, then the biases
    EXPECT_EQ(tensor(9), "Cross_0 1769472");
    EXPECT_EQ(tensor(12), "Cross_0 3456");
    EXPECT_EQ(tensor(15), "Top_0 3538944");
    EXPECT_EQ(tensor(24), "Top_4 1");
}

/// The buckets of PyTorch's DDP over tensors in reverse order: full at 1 MiB, the others at 25 MiB.
TEST(DenseLayers, TensorsFillThePublishedBuckets) {
    const std::vector<DenseTensor> tensors = dense_tensors(dcnv2());
    std::vector<Bytes> buckets{0_B};
    for (std::size_t i = tensors.size(); i-- > 0;) {
        if (buckets.back() >= (buckets.size() == 1 ? 1_MiB : 25_MiB)) {
            buckets.push_back(0_B);
        }
        buckets.back() += tensors[i].parameters * 4_B;
    }
    EXPECT_EQ(buckets, (std::vector<Bytes>{2'625'540_B, 32'555'520_B, 28'311'552_B, 685'568_B}));
}

RC_GTEST_PROP(DenseLayersProperty, TensorsHoldEveryParameterOnce, ()) {
    DlrmModel model = dcnv2();
    model.interaction =
        *rc::gen::element(Interaction::kDot, Interaction::kConcatenation, Interaction::kDcnV2);
    model.biases = *rc::gen::arbitrary<bool>();
    model.cross.layers = *rc::gen::inRange(1, 6);
    if (*rc::gen::arbitrary<bool>()) {
        model.cross.rank.reset();
    }
    std::map<std::string, std::int64_t> by_layer;
    for (const DenseTensor& tensor : dense_tensors(model)) {
        by_layer[tensor.layer] += tensor.parameters;
    }
    const std::vector<MlpLayer> layers = dense_layers(model);
    RC_ASSERT(by_layer.size() == layers.size());
    for (const MlpLayer& layer : layers) {
        RC_ASSERT(by_layer[layer.name] == layer.parameters());
    }
}

TEST(DenseLayers, RefusesCrossLayersThatCannotBe) {
    DlrmModel model = dcnv2();
    model.cross.rank = 3457;  // wider than the interaction
    ASSERT_EQ(validation_errors(model).size(), 1U);
    EXPECT_EQ(validation_errors(model).front().key, "interaction.rank");
    model.cross = {.layers = 0};
    ASSERT_EQ(validation_errors(model).size(), 1U);
    EXPECT_EQ(validation_errors(model).front().key, "interaction.layers");
}

TEST(Optimizers, KeepTheStateOfTheirKernels) {
    // Rows of 128: 512 B of a value each, one value of 4 B for the row.
    const std::map<EmbeddingOptimizer, std::int64_t> state{{EmbeddingOptimizer::kSgd, 0},
                                                           {EmbeddingOptimizer::kAdagrad, 512},
                                                           {EmbeddingOptimizer::kRowWiseAdagrad, 4},
                                                           {EmbeddingOptimizer::kAdam, 1024},
                                                           {EmbeddingOptimizer::kLamb, 1024},
                                                           {EmbeddingOptimizer::kPartialRowWiseAdam, 516}};
    for (const auto& [optimizer, size] : state) {
        EXPECT_EQ(state_of_row(optimizer, 128), Bytes(size));
    }
    // The single value moves a sector, and so do the 16 bytes of 4 columns.
    EXPECT_EQ(state_access_of_row(EmbeddingOptimizer::kRowWiseAdagrad, 128), 32_B);
    EXPECT_EQ(state_access_of_row(EmbeddingOptimizer::kPartialRowWiseAdam, 4), 64_B);
    EXPECT_EQ(state_access_of_row(EmbeddingOptimizer::kAdam, 128), 1024_B);
}

// 1 TFLOPS: a FLOP takes 1 ps; 1 GB/s: a byte 1 ns.
Device gpu() {
    Device device{.peak = 1_TFLOPS, .memory_bandwidth = 8_Gbps};
    device.gemm = GemmRates{.half_rows = 100, .floor = 5_us, .backward_floor = 12_us};
    return device;
}

TEST(Gemm, FewRowsReachLessOfTheRate) {
    // 10⁶ FLOP = 1 us; 300 of 400 rows' worth: 1 us · 400/300 = 1.333334 us; 100 rows: half of the rate.
    EXPECT_EQ(product_time(gpu(), Flops(1'000'000), 300, 7, Precision::kFp32), Time(1'333'334));
    EXPECT_EQ(product_time(gpu(), Flops(1'000'000), 100, 7, Precision::kFp32), 2_us);
    Device device = gpu();
    device.gemm->half_rows = ByNumber<std::int64_t>({{10, 0}, {20, 100}});
    // 100 rows: 5 columns as 10, none; 15 columns 50; 99 columns as 20.
    EXPECT_EQ(product_time(device, Flops(1'000'000), 100, 5, Precision::kFp32), 1_us);
    EXPECT_EQ(product_time(device, Flops(1'000'000), 100, 15, Precision::kFp32), 1500_ns);
    EXPECT_EQ(product_time(device, Flops(1'000'000), 100, 99, Precision::kFp32), 2_us);
}

TEST(Gemm, EveryPrecisionHasItsRate) {
    Device device = gpu();
    device.peak.reset();
    device.peaks = {{Precision::kFp32, 1_TFLOPS}, {Precision::kTf32, 8_TFLOPS}};
    device.gemm = GemmRates{.rate = {{Precision::kTf32, 4_TFLOPS}}};
    EXPECT_EQ(product_time(device, Flops(1'000'000), 1, 1, Precision::kFp32), 1_us);
    EXPECT_EQ(product_time(device, Flops(1'000'000), 1, 1, Precision::kTf32), 250_ns);  // the rate reached
    EXPECT_EQ(time_of(device, {.flops = Flops(1'000'000), .precision = Precision::kTf32}), 125_ns);
    EXPECT_EQ(device.gemm_rate(Precision::kFp16), std::nullopt);
}

class GemmCost : public ::testing::Test {
protected:
    [[nodiscard]] PassTimes times(const MlpLayer& layer) const {
        return DlrmCost(model_, training_, device_, 1).mlp(layer);
    }

    DlrmModel model_ = dcnv2();
    DlrmTraining training_{.local_batch = 100, .mlp_time = MlpTime::kGemm};
    Device device_ = gpu();
};

TEST_F(GemmCost, LayersAreNotFasterThanTheFloor) {
    // 2·100·10·4 FLOP = 8 ns, twice that at m = m½: below both floors, of which a gradient has half. Between:
    // 100·4 outputs of 4 bytes are 1.6 us; ReLU moves 2 of them forward and 3 backward, the bias 1.
    const PassTimes small = times({.input_width = 10, .output_width = 4, .has_bias = true});
    EXPECT_EQ(small.forward, 5_us + 2 * 1600_ns);
    EXPECT_EQ(small.input_gradient, 6_us + 3 * 1600_ns);
    EXPECT_EQ(small.weight_gradient, 6_us + 1600_ns);
    // 2·100·1000·400 FLOP = 80 us at the full rate, 160 us at half; 160 us between.
    const PassTimes large = times({.input_width = 1000, .output_width = 400});
    EXPECT_EQ(large.forward, 160_us + 2 * 160_us);
    EXPECT_EQ(large.input_gradient, 160_us + 3 * 160_us);
    EXPECT_EQ(large.weight_gradient, 160_us);
}

TEST_F(GemmCost, LowRankIsTwoProducts) {
    // 2·100·(1000·50 + 50·1000) FLOP at half of the rate: 40 us; cross moves 4 times 400 kB forward, 6
    // backward.
    const PassTimes cross = times({.input_width = 1000, .output_width = 1000, .rank = 50, .is_cross = true});
    EXPECT_EQ(cross.forward, 40_us + 4 * 400_us);
    EXPECT_EQ(cross.input_gradient, 40_us + 6 * 400_us);
}

TEST_F(GemmCost, TheOptimizerMovesItsBytes) {
    training_.dense_optimizer = DenseOptimizer::kAdagrad;
    // 44 bytes for each of 10·4 + 4 parameters.
    EXPECT_EQ(DlrmCost(model_, training_, device_, 1)
                  .dense_update({.input_width = 10, .output_width = 4, .has_bias = true}),
              44 * 44_ns);
}

TEST_F(GemmCost, TheOptimizerStepsBeforeTheNextForwardPass) {
    training_.dense_optimizer = DenseOptimizer::kSgd;
    training_.iterations = 2;
    const system::Program program = build_dlrm_program(model_, training_, device_, 2);
    std::vector<std::string> of_top;
    for (const system::Operation& operation : program.operations) {
        if (operation.layer == "Top_4") {
            of_top.push_back(operation.name);
        }
    }
    EXPECT_EQ(of_top,
              (std::vector<std::string>{"Top_4.forward", "Top_4.weight_gradient",
                                        "Top_4.weight_gradient.all_reduce", "Top_4.input_gradient",
                                        "Top_4.optimizer_step", "Top_4.forward", "Top_4.weight_gradient",
                                        "Top_4.weight_gradient.all_reduce", "Top_4.input_gradient"}));
    training_.dense_sharding = DenseSharding::kFsdp;
    ASSERT_EQ(validation_errors(training_, model_, 2).size(), 1U);
    EXPECT_EQ(validation_errors(training_, model_, 2).front().key, "dense_optimizer");
}

TEST(GpuDevice, ReadsBackAndNamesWhatIsWrong) {
    Registry<Device> registry("device");
    register_builtin_devices(registry);
    const auto read = [&registry](const std::string& keys) {
        ReadContext context;
        const auto device = registry.read(*parse_config("kind: roofline\n" + keys, "device.yaml"), context);
        return device ? std::pair(device->make(), to_yaml(device->resolved))
                      : std::pair(Device(), render(context.errors()));
    };
    const std::string keys =
        "peak: {fp32: 19.5TFLOPS, tf32: 156TFLOPS}\nmemory_bandwidth: 1555GB/s\nmemory: 40GB\n"
        "host_link: 25GB/s\n"
        "gemm: {rate: {tf32: 75TFLOPS}, half_rows: {2048: 256, 4096: 49}, floor: 18us, backward_floor: "
        "40us}\n"
        "lookup: {bandwidth: {64: 700GB/s, 128: 780GB/s}, floor: 10us, backward_floor: 60us}\n";
    const auto [device, resolved] = read(keys);
    EXPECT_EQ(device.peak_of(Precision::kTf32), 156_TFLOPS);
    EXPECT_EQ(device.gemm_rate(Precision::kTf32), 75_TFLOPS);
    EXPECT_EQ(device.gemm->half_rows.at(3072), 152);  // (256 + 49)/2, rounded down
    EXPECT_EQ(device.memory, Bytes(40'000'000'000));
    EXPECT_EQ(device.lookup_bandwidth(96), Bandwidth(8 * 740'000'000'000));
    EXPECT_EQ(device.lookup_bandwidth(16), Bandwidth(8 * 700'000'000'000));
    const auto again =
        registry.read(*parse_config(resolved, "resolved.yaml"), *std::make_unique<ReadContext>());
    EXPECT_EQ(to_yaml(again->resolved), resolved);
    EXPECT_EQ(read("peak: 60TFLOPS\n").second, "kind: roofline\npeak: 60TFLOPS\n");

    EXPECT_NE(read("peak: {fp8: 1TFLOPS}\n").second.find("'fp8' is not one of fp32"), std::string::npos);
    EXPECT_NE(read("peak: {}\n").second.find("mapping of precisions"), std::string::npos);
    EXPECT_NE(read("gemm: {rate: 1TFLOPS}\n").second.find("mapping of precisions"), std::string::npos);
    EXPECT_NE(read("gemm: {half_rows: {0: 3}}\n").second.find("columns of 'half_rows'"), std::string::npos);
    EXPECT_NE(read("lookup: {bandwidth: {}}\n").second.find("lists no values"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::workload
