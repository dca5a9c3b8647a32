#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;

/// 3 tables, dense 10 → 8 → 4, interaction 4·3/2 = 6 pairs + 4 = 10 → 5 → 1.
DlrmModel small_model() {
    DlrmModel model;
    model.dense_features = 10;
    model.bottom_mlp = {8, 4};
    model.top_mlp = {5, 1};
    model.tables = {{.count = 2, .rows = 100, .dimension = 4, .pooling = 3},
                    {.count = 1, .rows = 50, .dimension = 4, .pooling = 1}};
    return model;
}

TEST(DlrmModel, CountsTablesAndTheirValues) {
    const DlrmModel model = small_model();
    EXPECT_EQ(table_count(model), 3);
    EXPECT_EQ(pooled_width(model), 12);            // 2·4 + 1·4
    EXPECT_EQ(lookup_width(model), 28);            // 2·3·4 + 1·1·4
    EXPECT_EQ(embedding_parameters(model), 1000);  // 2·100·4 + 50·4
    EXPECT_EQ(embedding_size(model), 2000_B);      // 2 bytes each
}

TEST(DlrmModel, DotInteractionMakesEveryPairAndTheDenseVector) {
    EXPECT_EQ(interaction_width(small_model()), 10);  // 4 vectors: 4·3/2 pairs + 4
    EXPECT_EQ(interaction_work(small_model()), 128);  // 2·4²·4
}

TEST(DlrmModel, ConcatenationMakesAllVectorsInARow) {
    DlrmModel model = small_model();
    model.interaction = Interaction::kConcatenation;
    EXPECT_EQ(interaction_width(model), 16);  // 4 dense + 12 pooled
    EXPECT_EQ(interaction_work(model), 0);
}

TEST(DlrmModel, ConcatenationTakesAnyDimensions) {
    DlrmModel model = small_model();
    model.interaction = Interaction::kConcatenation;
    model.bottom_mlp = {8, 7};
    model.tables[1].dimension = 32;
    EXPECT_TRUE(validation_errors(model).empty());
    EXPECT_EQ(interaction_width(model), 47);  // 7 + 2·4 + 32
}

TEST(DlrmModel, LayersChainFromDenseFeaturesAndInteraction) {
    const std::vector<MlpLayer> bottom = bottom_layers(small_model());
    const std::vector<MlpLayer> top = top_layers(small_model());
    ASSERT_EQ(bottom.size(), 2U);
    ASSERT_EQ(top.size(), 2U);
    EXPECT_EQ(bottom[0].name, "Bottom_0");
    EXPECT_EQ(bottom[0].parameters(), 80);  // 10·8
    EXPECT_EQ(bottom[1].name, "Bottom_1");
    EXPECT_EQ(bottom[1].parameters(), 32);  // 8·4
    EXPECT_EQ(top[0].name, "Top_0");
    EXPECT_EQ(top[0].parameters(), 50);  // 10·5
    EXPECT_EQ(top[1].name, "Top_1");
    EXPECT_EQ(top[1].parameters(), 5);  // 5·1
    EXPECT_EQ(mlp_parameters(small_model()), 167);
}

TEST(DlrmModel, GradientElementsAreAsWideAsOthersUnlessSaid) {
    DlrmModel model = small_model();
    EXPECT_EQ(gradient_element_size(model), 2_B);
    model.gradient_element_size = 4_B;
    EXPECT_EQ(gradient_element_size(model), 4_B);
}

class DlrmModelProblems : public ::testing::Test {
protected:
    /// The keys of all problems of `model_`.
    [[nodiscard]] std::vector<std::string> keys() const {
        std::vector<std::string> found;
        for (const ValidationError& problem : validation_errors(model_)) {
            EXPECT_FALSE(problem.message.empty());
            found.push_back(problem.key);
        }
        return found;
    }
    using Keys = std::vector<std::string>;

    DlrmModel model_ = small_model();
};

TEST_F(DlrmModelProblems, NoneInAGoodModel) {
    EXPECT_EQ(keys(), Keys{});
}

TEST_F(DlrmModelProblems, NoDenseFeatures) {
    model_.dense_features = 0;
    EXPECT_EQ(keys(), Keys{"dense_features"});
}

TEST_F(DlrmModelProblems, EmptyBottomMlp) {
    model_.bottom_mlp.clear();
    EXPECT_EQ(keys(), Keys{"bottom_mlp"});
}

TEST_F(DlrmModelProblems, EmptyTopMlp) {
    model_.top_mlp.clear();
    EXPECT_EQ(keys(), Keys{"top_mlp"});
}

TEST_F(DlrmModelProblems, ZeroWidthLayerIsNamedByItsIndex) {
    model_.top_mlp[0] = 0;
    EXPECT_EQ(keys(), Keys{"top_mlp.0"});
}

TEST_F(DlrmModelProblems, TooManyLayers) {
    model_.top_mlp.assign(1025, 1);
    EXPECT_EQ(keys(), Keys{"top_mlp"});
}

TEST_F(DlrmModelProblems, NoTables) {
    model_.tables.clear();
    EXPECT_EQ(keys(), Keys{"tables"});
}

TEST_F(DlrmModelProblems, ZeroCount) {
    model_.tables[0].count = 0;
    EXPECT_EQ(keys(), Keys{"tables.0.count"});
}

TEST_F(DlrmModelProblems, ZeroRows) {
    model_.tables[1].rows = 0;
    EXPECT_EQ(keys(), Keys{"tables.1.rows"});
}

TEST_F(DlrmModelProblems, NegativePooling) {
    model_.tables[0].pooling = -1;
    EXPECT_EQ(keys(), Keys{"tables.0.pooling"});
}

TEST_F(DlrmModelProblems, ElementSizes) {
    model_.element_size = 0_B;
    model_.gradient_element_size = 17_B;
    EXPECT_EQ(keys(), (Keys{"element_size", "gradient_element_size"}));
}

TEST_F(DlrmModelProblems, DotNeedsTablesOfOneDimension) {
    model_.tables[1].dimension = 8;
    EXPECT_EQ(keys(), Keys{"tables.1.dimension"});
}

TEST_F(DlrmModelProblems, DotNeedsABottomMlpThatEndsInTheDimension) {
    model_.bottom_mlp = {8, 5};
    ASSERT_EQ(keys(), Keys{"bottom_mlp.1"});
    EXPECT_EQ(validation_errors(model_).front().hint,
              "make the last width 4, or set interaction to concatenation");
}

TEST_F(DlrmModelProblems, TablesBeyondAnyMemory) {
    model_.tables[0].count = 1 << 20;
    model_.tables[0].rows = std::int64_t{1} << 40;  // 2^20 · 2^40 · 4 · 2 B = 8 EiB
    model_.interaction = Interaction::kConcatenation;
    EXPECT_EQ(keys(), Keys{"tables"});
}

TEST_F(DlrmModelProblems, LookupsBeyondCounting) {
    model_.tables[0] = {
        .count = 1 << 10, .rows = 1, .dimension = 1 << 12, .pooling = 1 << 20};  // 2^42 values
    model_.interaction = Interaction::kConcatenation;
    EXPECT_EQ(keys(), Keys{"tables"});
}

TEST_F(DlrmModelProblems, InteractionWiderThanALayerMayBe) {
    model_.tables[0].count = 10'000;  // 10,002 vectors: 50,015,001 pairs
    EXPECT_EQ(keys(), Keys{"interaction"});
}

TEST_F(DlrmModelProblems, AllAreReportedAtOnce) {
    model_.dense_features = 0;
    model_.top_mlp.clear();
    model_.tables[0].rows = 0;
    EXPECT_EQ(keys(), (Keys{"dense_features", "top_mlp", "tables.0.rows"}));
}

}  // namespace
}  // namespace astrolabe::workload
