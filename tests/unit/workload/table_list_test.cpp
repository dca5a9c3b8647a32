/// TorchRec's lists of embedding tables (table_list.hpp).
#include "workload/src/dlrm/table_list.hpp"

#include "workload/src/dlrm/model_schema.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::workload {
namespace {

using Numbers = std::vector<std::int64_t>;

std::pair<std::string, EmbeddingTables> read_list(const std::string& text) {
    const Result<ConfigNode> root = parse_config(text, "tables.json");
    if (!root) {
        return {render(root.error()), {}};
    }
    ReadContext context;
    std::optional<EmbeddingTables> tables = read_table_list(*root, context);
    return {render(context.errors()), tables ? *std::move(tables) : EmbeddingTables{}};
}

// Two features of 3 and 5 lookups are 8 of a sample; two without factors one each; without features one.
TEST(TableList, ATableLooksUpWhatItsFeaturesDo) {
    const auto [errors, tables] = read_list(R"([
 {"name": "a", "num_embeddings": 1000, "embedding_dim": 64, "feature_names": ["f", "g"], "pooling_factors": [3, 5],
  "data_type": "FP32", "pooling": "SUM"},
 {"name": "b", "num_embeddings": 20, "embedding_dim": 8, "feature_names": ["h", "i"]},
 {"num_embeddings": 7, "embedding_dim": 128}])");
    EXPECT_EQ(errors, "");
    EXPECT_EQ(tables.count, 3);
    EXPECT_EQ(std::get<Numbers>(tables.rows.form()), (Numbers{1000, 20, 7}));
    EXPECT_EQ(std::get<Numbers>(tables.dimension.form()), (Numbers{64, 8, 128}));
    EXPECT_EQ(std::get<Numbers>(tables.pooling.form()), (Numbers{8, 2, 1}));
}

TEST(TableList, BrokenListsAreRefusedWithTheirPlace) {
    const auto begins = [](const std::string& text, const std::string& with) {
        const std::string errors = read_list(text).first;
        EXPECT_EQ(errors.substr(0, with.size()), with) << text;
    };
    begins("{}", "tables.json:1:1: error[config.tables]: a list of tables is needed");
    begins("[]", "tables.json:1:1: error[config.tables]: a list of tables is needed");
    begins("[\n 7]", "tables.json:2:2: error[config.tables]: a table is a mapping, found a value");
    begins("[{\"num_embeddings\": 7}]", "tables.json:1:2: error[config.tables]: a table needs embedding_dim");
    begins("[{\"num_embeddings\": 0, \"embedding_dim\": 4}]",
           "tables.json:1:21: error[config.range]: 'num_embeddings' is 0, expected at least 1");
    begins(
        "[{\"num_embeddings\": 7, \"embedding_dim\": 4,\n \"feature_names\": [\"a\"], \"pooling_factors\": "
        "[1, 2]}]",
        "tables.json:2:45: error[config.tables]: 2 pooling factors for 1 features");
    begins("[{\"num_embeddings\": 7, \"embedding_dim\": 4, \"pooling_factors\": [1.5]}]",
           "tables.json:1:64: error[config.value]: a pooling factor:");
    begins("[{\"num_embeddings\": 7", "tables.json:");
}

TEST(TableList, AModelHasItsTablesOnce) {
    const auto errors_of = [](const std::string& keys) {
        const Result<ConfigNode> node =
            parse_config("{dense_features: 4, bottom_mlp: [8], top_mlp: [1], " + keys + "}", "model.yaml");
        ReadContext context;
        (void)model_schema().read(*node, context);
        return context.errors().empty() ? std::string() : context.errors().front().message;
    };
    EXPECT_EQ(errors_of("tables: {count: 1, rows: 2, dimension: 8, pooling: 1}"), "");
    EXPECT_EQ(errors_of("tables: {count: 1, rows: 2, dimension: 8, pooling: 1}, table_list: a.json"),
              "the model's tables are given twice");
    EXPECT_EQ(errors_of("table_list: there-is-none.json").substr(0, 11), "cannot open");
    EXPECT_NE(errors_of("biases: true").find("the model has no embedding tables"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::workload
