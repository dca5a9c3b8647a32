/// A folder of results and reports, for tests of `astrolabe report`. What fetches or draws is skipped, with
/// the reason, where node, npm, its registry or Chromium is not to be had.
#pragma once

#include "process.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {

using Json = nlohmann::ordered_json;

/// Four points, every figure.
inline const std::string kStudy = R"(schema: astrolabe/1
name: everything
base: )" ASTROLABE_SOURCE_DIR R"(/examples/quickstart/experiment.yaml
vary:
  network:
    flat: {kind: flat, hosts: 16, link: {rate: 100Gbps, latency: 500ns}}
    torus: {kind: torus, sizes: [4, 4], link: {rate: 25Gbps}}
  workload.batch.global: [512, 1024]
report: [iteration_time, speed_up, breakdown, traffic, collectives, curves, heatmap, pareto, equal_cost, above_bound, utilization,
         ranks, links, tasks, gantt, exchanges]
)";
inline constexpr std::size_t kPoints = 4;  // 2 · 2

inline bool works(const std::string& command) {
    return run_shell(command).exit_code == 0;
}

/// Why nothing can be drawn here; empty where it can.
inline std::string no_charts() {
    if (!works("node --version")) {
        return "there is no node";
    }
    if (!works("npm --version")) {
        return "there is no npm";
    }
    static const bool has_registry = works("cd / && npm view echarts@6.1.0 version --fetch-retries=1");
    return has_registry ? "" : "npm's registry is not within reach";
}

class Report : public ::testing::Test {
protected:
    [[nodiscard]] std::string out(const std::string& name) const { return (folder_.path() / name).string(); }
    [[nodiscard]] std::string sweep(const std::string& study, const std::string& name) const {
        const std::string file = folder_.write(name + ".yaml", study).string();
        const ProcessResult result = run_program(ASTROLABE_PROGRAM, {"sweep", file, "--out", out(name)});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return out(name);
    }
    [[nodiscard]] static ProcessResult report(std::vector<std::string> words) {
        words.insert(words.begin(), "report");
        return run_program(ASTROLABE_PROGRAM, words);
    }
    /// What an independent script says of a report's answer.
    [[nodiscard]] static ProcessResult check_answer(const std::string& folder) {
        return run_program(ASTROLABE_PYTHON, {ASTROLABE_SOURCE_DIR "/tests/cli/answer_check.py", folder});
    }
    /// What the browser says of a page.
    [[nodiscard]] Json open(const std::string& page, const std::string& scheme = "light") const {
        const ProcessResult opened =
            run_program("node", {ASTROLABE_SOURCE_DIR "/tests/cli/page/open.js", "chromium",
                                 out("profile-" + scheme), "file://" + page, scheme});
        EXPECT_EQ(opened.exit_code, 0) << opened.err;
        return Json::parse(opened.out, nullptr, false);
    }

    /// A picture that is no well-formed SVG has no width in a browser.
    void expect_pictures(const std::string& folder) const {
        std::string page = "<!DOCTYPE html><title>pictures</title>";
        std::size_t count = 0;
        for (const auto& file : std::filesystem::directory_iterator(folder)) {
            if (file.path().extension() == ".svg") {
                page += "<img src='" + file.path().filename().string() + "'>";
                ++count;
            }
        }
        std::ofstream(folder + "/pictures.html") << page;
        const Json seen = open(folder + "/pictures.html");
        ASSERT_EQ(seen["page"]["pictures"].size(), count);
        for (const Json& picture : seen["page"]["pictures"]) {
            EXPECT_EQ(picture[1], 687) << picture[0];  // 7.16 inches of 96 pixels
        }
    }

    /// Which texts of figures are cut or lie over each other, on pages and in pictures.
    [[nodiscard]] Json geometry(const std::vector<std::string>& urls) const {
        std::vector<std::string> words{ASTROLABE_SOURCE_DIR "/tests/cli/page/geometry.js", "chromium",
                                       out("profile-geometry")};
        words.insert(words.end(), urls.begin(), urls.end());
        const ProcessResult looked = run_program("node", words);
        EXPECT_EQ(looked.exit_code, 0) << looked.err;
        return Json::parse(looked.out, nullptr, false);
    }

    TemporaryFolder folder_;
};

inline void expect_says(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "expected " << part << "\nin:\n" << text.substr(0, 4000);
}

/// Fields of all lines of a file, as RFC 4180 has them.
inline std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
    std::vector<std::vector<std::string>> lines(1, {""});
    bool quoted = false;
    for (const char c : text) {
        if (c == '"') {
            quoted = !quoted;  // of two quotes within quotes one would stay; no field here has any
        } else if (c == ',' && !quoted) {
            lines.back().emplace_back();
        } else if (c == '\n' && !quoted) {
            lines.push_back({""});
        } else {
            lines.back().back() += c;
        }
    }
    lines.pop_back();
    return lines;
}

}  // namespace astrolabe::testing
