/// The planner's plans against others by simulation, not by its own measure.
#include "small_experiment.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

/// Draws the same models everywhere.
class Draw {
public:
    std::int64_t operator()(std::int64_t from, std::int64_t to) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return from + static_cast<std::int64_t>((state_ >> 33U) % static_cast<std::uint64_t>(to - from + 1));
    }

private:
    std::uint64_t state_ = 7;
};

struct Tables {
    std::string rows;
    std::string dimensions;
    std::string pooling;
};

Tables drawn(Draw& draw, std::int64_t count) {
    Tables tables;
    for (std::int64_t i = 0; i < count; ++i) {
        const char* separator = i == 0 ? "" : ", ";
        tables.rows += fmt::format("{}{}", separator, draw(100, 100'000));
        tables.dimensions += fmt::format("{}{}", separator, 4 * draw(1, 32));
        tables.pooling += fmt::format("{}{}", separator, draw(0, 4) == 0 ? draw(50, 150) : draw(1, 10));
    }
    return tables;
}

class PlannedRuns : public ::testing::Test {
protected:
    [[nodiscard]] Time time_of(const Tables& tables, std::int64_t count, const std::string& sharding) const {
        const Result<Experiment> loaded = testing::load_small(
            components_,
            {fmt::format("workload.model.tables={{count: {}, rows: [{}], dimension: [{}], pooling: [{}]}}",
                         count, tables.rows, tables.dimensions, tables.pooling),
             "workload.model.interaction=concatenation", "workload.batch={local: 64}",
             "workload.sharding=" + sharding});
        EXPECT_TRUE(loaded) << render(loaded.error());
        return run_experiment(*loaded, {}).execution.total;
    }

    Components components_ = builtin_components();
};

TEST_F(PlannedRuns, AreNoSlowerThanWholeTablesInTurnOrColumnsEverywhere) {
    constexpr int kModels = 20;
    const std::string input = "input_distribution: {ahead: false}";
    Draw draw;
    for (int model = 0; model < kModels; ++model) {
        const std::int64_t count = draw(2, 12);
        const Tables tables = drawn(draw, count);
        const Time planned = time_of(
            tables, count,
            fmt::format(
                "{{plan: planner, search: full, link_rate: 100Gbps, kinds: [table_wise, column_wise], {}}}",
                input));
        for (const char* other : {"plan: round_robin", "plan: round_robin, widest_shard: 4"}) {
            EXPECT_LE(planned, time_of(tables, count, fmt::format("{{{}, {}}}", other, input)))
                << "model " << model << ", " << other;
        }
    }
}

}  // namespace
}  // namespace astrolabe::experiment
