/// A study for tests of `astrolabe sweep`, and what its store says in the end.
#pragma once

#include "process.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::testing {

/// Twelve points, each a fraction of a second.
inline const std::string kStudy = R"(schema: astrolabe/1
name: sizes
base: )" ASTROLABE_SOURCE_DIR R"(/examples/quickstart/experiment.yaml
vary:
  workload.batch.global: {from: 512, to: 2048, factor: 2}
  workload.model.tables.count: [16, 32]
  cluster.scheduling: [fifo, lifo]
)";
inline constexpr std::size_t kPoints = 12;  // 3 · 2 · 2

inline void expect_says(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "expected " << part << "\nin:\n" << text;
}

class SweepTest : public ::testing::Test {
protected:
    SweepTest()
        : study_(folder_.write("study.yaml", kStudy).string()) {}

    [[nodiscard]] std::string out(const std::string& name) const { return (folder_.path() / name).string(); }
    [[nodiscard]] ProcessResult sweep(const std::string& name, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"sweep", study_, "--out", out(name)});
        return run_program(ASTROLABE_PROGRAM, more);
    }
    /// All that a store says of results, but for what they cost.
    [[nodiscard]] static std::string dump(const std::string& folder) {
        const auto store = study::ResultStore::open_to_read(folder);
        EXPECT_TRUE(store) << folder;
        std::string text;
        for (const std::string& study : store->studies()) {
            for (const study::StudyRow& row : store->rows(study)) {
                text += fmt::format("{} {} {} {} {} {} {} {}\n{}\n", study, row.point.number,
                                    row.point.parameters.dump(), row.point.key, to_string(row.result.status),
                                    row.result.error, row.result.fingerprint, row.result.summary.dump(),
                                    row.result.resolved);
            }
        }
        return text;
    }
    [[nodiscard]] std::string undisturbed(const std::vector<std::string>& more = {}) const {
        const ProcessResult result = sweep("undisturbed", more);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return dump(out("undisturbed"));
    }

    TemporaryFolder folder_;
    const std::string study_;
};

}  // namespace astrolabe::testing
