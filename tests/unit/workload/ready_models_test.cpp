/// The models in inputs/models have the sizes that their sources publish, and those of inputs/reuse their
/// reuse.
#include "workload/src/dlrm/embedding/reuse_schema.hpp"
#include "workload/src/dlrm/model_schema.hpp"

#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;

ConfigNode input(const std::string& file) {
    Result<ConfigNode> node = parse_config(
        "include: " + file + "\n", ASTROLABE_SOURCE_DIR "/inputs/test.yaml", ASTROLABE_SOURCE_DIR "/inputs");
    if (!node) {
        throw std::runtime_error(file + " cannot be read");
    }
    return *node;
}

DlrmModel ready_model(const std::string& name) {
    ReadContext context;
    const auto model = model_schema().read(input("models/" + name + ".yaml"), context);
    if (!model) {
        throw std::runtime_error(render(context.errors()));
    }
    return *model;
}

std::int64_t multiplications(const DlrmModel& model) {
    const std::vector<MlpLayer> layers = dense_layers(model);
    return std::accumulate(layers.begin(), layers.end(), interaction_work(model) / 2,
                           [](std::int64_t sum, const MlpLayer& layer) { return sum + layer.weights(); });
}

TEST(ReadyModels, MlperfsDcnv2IsThatOfTheBenchmark) {
    const DlrmModel model = ready_model("dlrm-dcnv2-mlperf");
    EXPECT_EQ(table_count(model), 26);
    EXPECT_EQ(row_count(model), 204'184'588);
    EXPECT_EQ(embedding_size(model), 204'184'588LL * 128 * 4_B);  // 104.54 GB
    EXPECT_EQ(lookups_of_sample(model), 214);
    EXPECT_EQ(mlp_parameters(model), 16'044'545);
    EXPECT_EQ(multiplications(model), 16'030'464);
    EXPECT_EQ(6 * multiplications(model), 96'182'784);  // 96.18 MFLOP a sample, forward and backward
    // 13 features and a label, 214 indices and 26 lengths of 4 bytes.
    EXPECT_EQ(input_of_sample(model, 4_B, 4_B), 1016_B);
    EXPECT_EQ(input_of_sample(model, 4_B, 0_B), 1016_B - 26 * 4_B);
}

TEST(ReadyModels, MlperfsFirstDlrmIsThatOfTheBenchmark) {
    const DlrmModel model = ready_model("dlrm-mlperf-v1");
    EXPECT_EQ(row_count(model), 187'767'399);
    EXPECT_EQ(interaction_width(model), 479);
    EXPECT_EQ(multiplications(model), 2'458'496);
    // 2,365,184 weights, 896 and 2,817 biases.
    EXPECT_EQ(mlp_parameters(model), 2'368'897);
}

/// Dense parameters: k·n + n of every layer.
using Published = std::tuple<const char*, std::int64_t, std::int64_t, std::int64_t>;
class ReadyModel : public ::testing::TestWithParam<Published> {};

TEST_P(ReadyModel, HasItsPublishedShape) {
    const auto& [name, into_top, dense, embeddings] = GetParam();
    const DlrmModel model = ready_model(name);
    EXPECT_EQ(interaction_width(model), into_top);
    EXPECT_EQ(mlp_parameters(model), dense);
    EXPECT_EQ(embedding_parameters(model), embeddings);
}

INSTANTIATE_TEST_SUITE_P(
    Sources, ReadyModel,
    ::testing::Values(
        // 351 pairs + 16; 155,136 + 848 below and 319,232 + 769 above.
        Published{"dlrm-criteo-kaggle", 367, 475'985, 33'762'577LL * 16},
        // 351 pairs + 64; 154,112 + 832 below and 605,952 + 1,281 above.
        Published{"dlrm-criteo-terabyte", 415, 762'177, 49'126'297LL * 64},
        // 9·32; 128·64 + 64·32 + 96 below, 288·256 + 256·64 + 64 + 321 above.
        Published{"dlrm-rm1", 288, 100'833, 8LL * 4'000'000 * 32},
        // 33·64; 256·128 + 128·64 + 192 below, 2112·128 + 128·64 + 64 + 193 above.
        Published{"dlrm-rm2", 2112, 319'937, 32LL * 500'000 * 64},
        // 11·32; 2560·1024 + 1024·256 + 256·32 + 1,312 below, 352·512 + 512·256 + 256 + 769 above.
        Published{"dlrm-rm3", 352, 3'205'409, 10LL * 2'000'000 * 32}));

TEST(ReadyModels, TablesOfOneModelServeAnother) {
    ReadContext context;
    ConfigNode node = input("models/dlrm-dcnv2-mlperf.yaml");
    node.set("slice", *parse_config("{from: 19, count: 3}", "slice.yaml"));
    node.set("repeat", ConfigNode::scalar("2"));
    const auto model = model_schema().read(node, context);
    ASSERT_TRUE(model) << render(context.errors());
    EXPECT_EQ(lookups_of_sample(*model), 2 * (12 + 100 + 27));
    EXPECT_EQ(row_count(*model), 2 * 3 * 40'000'000);
    // What is written reads back to the same tables.
    const auto again = model_schema().read(model_schema().write(*model), context);
    ASSERT_TRUE(again);
    EXPECT_EQ(lookups_of_sample(*again), 278);
}

TEST(ReadyReuse, IsThatOfThePublishedBatches) {
    for (const auto& [year, batch, lookups, rows] :
         {std::tuple("2021", 65'536, 887'017'990.0, 128'435'723.0),
          std::tuple("2022", 131'072, 1'405'163'864.0, 110'259'238.0)}) {
        ReadContext context;
        const auto reuse = read_reuse(input(std::string("reuse/meta-") + year + ".yaml"), context);
        ASSERT_TRUE(reuse) << render(context.errors());
        EXPECT_NEAR(reuse->unique_share(batch), rows / lookups, 1e-6);
        // A quarter of the batch meets a row less often, but no row less than once.
        EXPECT_GT(reuse->unique_share(batch / 4), rows / lookups);
        EXPECT_LT(reuse->unique_share(batch / 4), 1);
        EXPECT_NEAR(reuse->unique_share(1), 1, 0.02);
    }
}

}  // namespace
}  // namespace astrolabe::workload
