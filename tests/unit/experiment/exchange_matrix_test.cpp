/// Exchanges in the form of nccl-tests' alltoallv matrix (exchange_matrix.hpp).
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/results/exchange_matrix.hpp>

namespace astrolabe::experiment {
namespace {

Experiment read_workload(const std::string& workload) {
    const std::string text = fmt::format(R"(schema: astrolabe/1
workload: {}
cluster:
  ranks: 4
  device: {{kind: roofline, peak: 1TFLOPS, memory_bandwidth: 1TB/s}}
network: {{kind: flat, hosts: 4, link: {{rate: 100Gbps, latency: 0ns}}}}
backend: {{kind: fluid}}
)",
                                         workload);
    Result<Experiment> experiment =
        read_experiment(*parse_config(text, "exchange.yaml"), {}, "exchange", 1, builtin_components());
    EXPECT_TRUE(experiment) << render(experiment.error());
    return *std::move(experiment);
}

// 1,000 B over four ranks: 250 B each.
TEST(ExchangeMatrix, AnEvenExchangeHasEqualBlocks) {
    const Experiment experiment = read_workload("{kind: collective, collective: all_to_all, size: 1000B}");
    const std::vector<Exchange> exchanges = exchanges_of(experiment);
    ASSERT_EQ(exchanges.size(), 1U);
    EXPECT_EQ(exchanges.front().sent, 3'000_B);
    EXPECT_EQ(exchanges.front().largest_sent, 750_B);
    const Result<std::string> matrix = exchange_matrix(experiment, exchanges.front().name, 0);
    ASSERT_TRUE(matrix) << render(matrix.error());
    EXPECT_EQ(*matrix, "250 250 250 250\n250 250 250 250\n250 250 250 250\n250 250 250 250\n");
}

// One rank holds twice the mean, and the rows of the matrix add up to what ranks hold.
TEST(ExchangeMatrix, AnUnevenExchangeHasTheBytesOfItsPairs) {
    const Experiment experiment =
        read_workload("{kind: collective, collective: all_to_all_v, size: 1200B, imbalance: 2}");
    const std::string name = exchanges_of(experiment).front().name;
    std::istringstream rows(*exchange_matrix(experiment, name, 0));
    std::vector<std::int64_t> held;
    for (std::string row; std::getline(rows, row);) {
        std::istringstream numbers(row);
        std::vector<std::int64_t> values((std::istream_iterator<std::int64_t>(numbers)),
                                         std::istream_iterator<std::int64_t>());
        EXPECT_EQ(values.size(), 4U);
        held.push_back(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
    }
    ASSERT_EQ(held.size(), 4U);
    EXPECT_EQ(*std::max_element(held.begin(), held.end()), 2 * 1200);
    EXPECT_EQ(std::accumulate(held.begin(), held.end(), std::int64_t{0}), 4 * 1200);
}

TEST(ExchangeMatrix, RefusesWhatIsNoExchangeAndNamesTheNearest) {
    const Experiment experiment = read_workload("{kind: collective, collective: all_to_all, size: 1000B}");
    const Diagnostic wrong = exchange_matrix(experiment, "all_to_al", 0).error().front();
    EXPECT_EQ(wrong.message, "iteration 0 has no all_to_all 'all_to_al'");
    EXPECT_NE(wrong.hint.find("all_to_all"), std::string::npos);
    EXPECT_EQ(exchange_matrix(experiment, "all_to_all", 7).error().front().message,
              "there is no iteration 7; there are 1, from 0");
    EXPECT_TRUE(
        exchanges_of(read_workload("{kind: collective, collective: all_reduce, size: 1000B}")).empty());
}

}  // namespace
}  // namespace astrolabe::experiment
