/// What `validate` predicts against what `run` takes, at both ends of what a run may be: one iteration and
/// many, no message and hundreds in flight, on every engine.
#include "process.hpp"
#include "sanitizers.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kExamples = ASTROLABE_SOURCE_DIR "/examples/";

ProcessResult call(const std::string& command, const std::string& file, std::vector<std::string> rest) {
    rest.insert(rest.begin(), {command, file, "--json"});
    return run_program(ASTROLABE_PROGRAM, rest);
}

/// The peak of the run is within the interval, and the estimate too.
void expect_within(const std::string& file, const std::vector<std::string>& set) {
    const ProcessResult validated = call("validate", file, set);
    const ProcessResult ran = call("run", file, set);
    ASSERT_EQ(validated.exit_code, 0) << validated.err;
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const Json prediction = Json::parse(validated.out).at("prediction");
    for (const char* key : {"events", "peak_rss_bytes", "wall_s"}) {
        ASSERT_TRUE(prediction.at(key).is_number()) << key << " of " << prediction;
    }
    const Json engine = Json::parse(ran.out).at("engine");
    const double taken = engine.at("peak_rss_bytes").get<double>();
    const Json& between = prediction.at("peak_rss_bytes_between");
    fmt::print("{} {}: {:.1f} MB taken, {:.1f} to {:.1f} predicted, {} events for {}\n", file,
               set.empty() ? "" : set.back(), taken / 1e6, between.at(0).get<double>() / 1e6,
               between.at(1).get<double>() / 1e6, engine.at("events").get<std::uint64_t>(),
               prediction.at("events").get<double>());
    // Slots have events by time, of which nothing is known before.
    const Json& events = prediction.at("events_between");
    EXPECT_EQ(events.is_null(), file.find("circuits") != std::string::npos) << prediction;
    if (!events.is_null()) {
        EXPECT_GE(engine.at("events"), events.at(0));
        EXPECT_LE(engine.at("events"), events.at(1));
        EXPECT_GE(prediction.at("events"), events.at(0));
        EXPECT_LE(prediction.at("events"), events.at(1));
    }
    if (!kHasAddressSanitizer) {
        EXPECT_GE(taken, between.at(0).get<double>());
        EXPECT_LE(taken, between.at(1).get<double>());
    }
    EXPECT_GE(prediction.at("peak_rss_bytes"), between.at(0));
    EXPECT_LE(prediction.at("peak_rss_bytes"), between.at(1));
}

std::vector<std::string> changes(const std::vector<std::string>& assignments) {
    std::vector<std::string> words;
    for (const std::string& assignment : assignments) {
        words.insert(words.end(), {"--set", assignment});
    }
    return words;
}

TEST(Predictions, MemoryOfOneIterationAndOfManyIsWithinTheInterval) {
    const std::string quick = kExamples + "quickstart/experiment.yaml";
    const std::string one_chunk =
        "cluster.collectives={all_reduce: {algorithm: ring, chunks: 1}, all_to_all: "
        "{algorithm: direct, chunks: 1}}";
    for (const char* iterations : {"1", "500"}) {
        expect_within(quick, changes({one_chunk, fmt::format("workload.iterations={}", iterations)}));
    }
    expect_within(quick, changes({one_chunk, "backend.kind=tcp", "workload.iterations=1"}));
    for (const char* backend : {"packet", "congestion_free"}) {
        for (const char* iterations : {"1", "4"}) {
            expect_within(quick, changes({one_chunk, fmt::format("backend.kind={}", backend),
                                          fmt::format("workload.iterations={}", iterations)}));
        }
    }
}

TEST(Predictions, MemoryOnSlotsIsWithinTheInterval) {
    for (const char* iterations : {"1", "100"}) {
        expect_within(kExamples + "why/circuits.yaml",
                      changes({fmt::format("workload.iterations={}", iterations)}));
    }
}

TEST(Predictions, PointsAreStartedByTheMostMemory) {
    const TemporaryFolder folder;
    const std::string base = kExamples + "why/circuits.yaml";
    const std::string study = folder
                                  .write("study.yaml", "schema: astrolabe/1\nbase: " + base +
                                                           "\nvary: {workload.iterations: [1]}\n")
                                  .string();
    const Json prediction = Json::parse(call("validate", base, {}).out).at("prediction");
    const double estimate = prediction.at("peak_rss_bytes").get<double>();
    const double most = prediction.at("peak_rss_bytes_between").at(1).get<double>();
    ASSERT_LT(estimate, most);
    const auto sweep = [&](const std::string& name, double memory) {
        return run_program(ASTROLABE_PROGRAM,
                           {"sweep", study, "--out", (folder.path() / name).string(), "--memory",
                            fmt::format("{}B", static_cast<std::int64_t>(memory))});
    };
    const ProcessResult between = sweep("between", (estimate + most) / 2);
    EXPECT_EQ(between.exit_code, 4) << between.err;
    EXPECT_NE(between.out.find("of memory as predicted"), std::string::npos) << between.out;
    EXPECT_EQ(sweep("enough", most + 1).exit_code, 0);
}

TEST(Predictions, OneRankWithNothingToSendHasNumbersAndAStudyOverItRuns) {
    const TemporaryFolder folder;
    static_cast<void>(folder.write("nothing.txt", "DATA\n1\nA -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n"));
    const std::string file =
        folder
            .write("one.yaml",
                   "schema: astrolabe/1\n"
                   "workload: {kind: astra_text, trace: nothing.txt}\n"
                   "cluster: {ranks: 1, device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 1TB/s}}\n"
                   "network: {kind: flat, hosts: 1, link: {rate: 100Gbps, latency: 500ns}}\n"
                   "backend: {kind: fluid}\n")
            .string();
    for (const char* backend : {"fluid", "packet", "tcp", "congestion_free"}) {
        const ProcessResult validated =
            call("validate", file, changes({fmt::format("backend.kind={}", backend)}));
        ASSERT_EQ(validated.exit_code, 0) << validated.err;
        const Json prediction = Json::parse(validated.out).at("prediction");
        EXPECT_TRUE(prediction.at("wall_s").is_number()) << prediction;
        // The computation takes no time, so that nothing is waited for.
        EXPECT_EQ(prediction.at("events"), 0.0);
    }
    const std::string study =
        folder
            .write("study.yaml", "schema: astrolabe/1\nbase: one.yaml\nvary: {workload.passes: [1, 2, 3]}\n")
            .string();
    const ProcessResult swept =
        run_program(ASTROLABE_PROGRAM, {"sweep", study, "--out", (folder.path() / "out").string()});
    EXPECT_EQ(swept.exit_code, 0) << swept.err;
    EXPECT_NE(swept.out.find("3 done"), std::string::npos) << swept.out;
}

}  // namespace
}  // namespace astrolabe::testing
