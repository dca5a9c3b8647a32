/// `astrolabe reproduce`: values, their errors and the record, the fit of a constant, and what is refused.
/// The studies of reproduce/ with their short runs.
#include "process.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

// A ring all-reduce of S = 8 MB on N = 4 ranks at C = 10 GB/s, with alpha = 1 us over both cables, takes
// 2 (N-1) (S / (N C) + alpha) = 6 (200 + 1) us = 1206 us.
constexpr const char* kExperiment = R"(schema: astrolabe/1
name: ring
workload: {kind: collective, collective: all_reduce, size: 8MB}
cluster:
  ranks: 4
  device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 1TB/s}
  collectives: {all_reduce: {algorithm: ring, chunks: 1}}
network: {kind: flat, hosts: 4, link: {rate: 80Gbps, latency: 500ns}}
backend: {kind: fluid}
)";

constexpr const char* kStudy = R"(schema: astrolabe/1
title: A ring
source: nobody, nowhere
runs:
  ring: {experiment: ring.yaml}
  half: {experiment: ring.yaml, set: {workload.size: 4MB}}
values:
  - {name: time, run: ring, quantity: total_time_s, published: 1200.0us, margin: 0.1 %, source: page 1, cause: latency}
  - {name: largest, run: ring, quantity: messages.last_s, at_most: 201us, margin: 0 %, source: page 2}
  - {name: ratio, run: ring, over: half, quantity: total_time_s, at_least: 2.5, margin: 0 %, source: page 3, table: ratios}
)";

class ReproduceCommand : public ::testing::Test {
protected:
    std::filesystem::path study(const std::string& text) {
        folder_.write("ring.yaml", kExperiment);
        return folder_.write("made-up.yaml", text);
    }
    static ProcessResult reproduce(const std::vector<std::string>& words) {
        std::vector<std::string> all{"reproduce"};
        all.insert(all.end(), words.begin(), words.end());
        return run_program(ASTROLABE_PROGRAM, all);
    }
    static Json values(const ProcessResult& result) {
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return Json::parse(result.out).at("values");
    }
    TemporaryFolder folder_;
};

TEST_F(ReproduceCommand, PutsWhatIsMeasuredBesideWhatWasPublished) {
    const std::string file = study(kStudy).string();
    const Json rows = values(reproduce({file, "--json"}));
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_NEAR(rows[0]["measured"].get<double>(), 1206e-6, 1e-11);
    EXPECT_NEAR(rows[0]["error"].get<double>(), 1206.0 / 1200 - 1, 1e-9);
    // A message takes 201 us, and all are alike: within what was published.
    EXPECT_NEAR(rows[1]["measured"].get<double>(), 201e-6, 1e-11);
    EXPECT_NEAR(rows[1]["error"].get<double>(), 0, 1e-12);
    // 6 (100 + 1) us of half the bytes: 1206 / 606 is below 2.5.
    EXPECT_NEAR(rows[2]["measured"].get<double>(), 1206.0 / 606, 1e-9);
    EXPECT_NEAR(rows[2]["error"].get<double>(), 1206.0 / 606 / 2.5 - 1, 1e-9);

    const ProcessResult text = reproduce({file});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_NE(text.out.find("1206.0 us"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("+0.5 %"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("--set 'workload.size=4MB'"), std::string::npos) << text.out;
    const ProcessResult markdown = reproduce({file, "--markdown", "--table", "ratios"});
    EXPECT_EQ(markdown.out,
              "| value | published | here | error |\n|---|---|---|---|\n"
              "| ratio | at least 2.5 | 2.0 | −20.4 % |\n");
}

TEST_F(ReproduceCommand, FailsWhereAnErrorHasGrownSinceItWasRecorded) {
    const std::string file = study(kStudy).string();
    EXPECT_EQ(reproduce({file, "--recorded"}).exit_code, 4) << "nothing was recorded yet";
    EXPECT_EQ(reproduce({file, "--record"}).exit_code, 0);
    const std::filesystem::path record = folder_.path() / "expected" / "made-up.json";
    Json recorded = Json::parse(read_file(record));
    EXPECT_EQ(reproduce({file}).exit_code, 0);
    EXPECT_EQ(reproduce({file, "--recorded", "--markdown"}).out, reproduce({file, "--markdown"}).out);

    // As if 1205 us had been measured: 0.5 % is 0.08 % more than 0.42 %, within the margin; beside 1204 us it
    // is 0.17 % more.
    for (const auto& [before, exit_code] : {std::pair{1205e-6, 0}, std::pair{1204e-6, 4}}) {
        recorded["values"][0]["measured"] = before;
        folder_.write("expected/made-up.json", recorded.dump());
        const ProcessResult result = reproduce({file});
        EXPECT_EQ(result.exit_code, exit_code) << result.err;
        EXPECT_EQ(result.err.find("the error of 'time' has grown") != std::string::npos, exit_code == 4);
    }
    folder_.write("expected/made-up.json", "{}");
    const ProcessResult broken = reproduce({file});
    EXPECT_EQ(broken.exit_code, 3) << broken.err;
    EXPECT_NE(broken.err.find("is no record"), std::string::npos) << broken.err;
}

// Who records another table reads, changes and writes the same file.
TEST_F(ReproduceCommand, RecordsNothingWhileAnotherProcessDoes) {
    const std::string file = study(kStudy).string();
    ASSERT_EQ(reproduce({file, "--record", "--table", "ratios"}).exit_code, 0);
    const std::filesystem::path folder = folder_.path() / "expected";
    const std::string before = read_file(folder / "made-up.json");
    const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(lock, LOCK_EX), 0);
    const ProcessResult refused = reproduce({file, "--record"});
    EXPECT_EQ(refused.exit_code, 1) << refused.err;
    EXPECT_NE(refused.err.find("is being written by process " + std::to_string(::getpid())),
              std::string::npos)
        << refused.err;
    EXPECT_EQ(read_file(folder / "made-up.json"), before);
    ::close(lock);
    EXPECT_EQ(reproduce({file, "--record"}).exit_code, 0);
    EXPECT_NE(read_file(folder / "made-up.json"), before);
}

TEST_F(ReproduceCommand, FitsOneConstantToOneValue) {
    // The latency a of a cable with which the ring takes 1212 us: 6 (200 + 2a) us, a = 1 us. Then 1 % more of
    // it makes 0.12 us of 1212, 0.01 % for each percent; as the file has it, 0.5 us, 0.06 of 1206 us.
    const std::string file =
        study(std::string(kStudy) +
              "  - {name: slower, run: ring, quantity: total_time_s, "
              "published: 1212us, margin: 0.1 %, source: page 4}\n"
              "calibration: {path: network.link.latency, value: 500ns, from: 1ns, to: 5000ns, fitted_to: "
              "slower, meaning: nobody knows}\n")
            .string();
    const ProcessResult result = reproduce({file, "--calibrate", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_NEAR(json["calibration"]["fitted"].get<double>(), 1e-6, 1.5e-9);
    EXPECT_NEAR(json["calibration"]["measured"].get<double>(), 1212e-6, 12 * 1.5e-9);
    EXPECT_NEAR(json["values"][0]["sensitivity"].get<double>(), 6 * 1.0 / 1206, 1e-4);
    EXPECT_NE(reproduce({file, "--calibrate"}).out.find("fitted in "), std::string::npos);

    const std::string beyond = study(std::string(kStudy) +
                                     "calibration: {path: network.link.latency, value: 500ns, from: 400ns, "
                                     "to: 600ns, fitted_to: time, meaning: nobody knows}\n")
                                   .string();
    const ProcessResult impossible = reproduce({beyond, "--calibrate"});
    EXPECT_EQ(impossible.exit_code, 1);
    EXPECT_NE(impossible.err.find("must be between"), std::string::npos) << impossible.err;
}

// Neighbouring numbers near 2 are 4.4e-16 apart, and a sixteenth of the last digit of 17 is 6.3e-19.
TEST_F(ReproduceCommand, TheFitOfMoreDigitsThanNumbersHaveEnds) {
    // The latencies times k with which the ring takes 1212 us: 6 (200 + k) us, k = 2.
    const std::string file =
        study(std::string(kStudy) +
              "  - {name: slower, run: ring, quantity: total_time_s, "
              "published: 1212us, margin: 0.1 %, source: page 4}\n"
              "calibration: {path: scaled.latency, value: 1.00000000000000000, from: 1, to: 10, fitted_to: "
              "slower, meaning: nobody knows}\n")
            .string();
    const ProcessResult result = run_shell("timeout 120 " + quoted(ASTROLABE_PROGRAM) + " reproduce " +
                                           quoted(file) + " --calibrate --json");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NEAR(Json::parse(result.out)["calibration"]["fitted"].get<double>(), 2, 1e-4);
}

// There are no packets on `fluid`: 0 over 0.
TEST_F(ReproduceCommand, AQuotientThatIsNoNumberIsReportedAndNotRecorded) {
    const std::string file = study(std::string(kStudy) +
                                   "  - {name: packets, run: ring, over: half, quantity: network.packets, "
                                   "published: 1, margin: 0 %, source: page 4}\n")
                                 .string();
    EXPECT_EQ(reproduce({file, "--record"}).exit_code, 0);
    const Json recorded = Json::parse(read_file(folder_.path() / "expected" / "made-up.json"));
    EXPECT_EQ(recorded["values"].size(), 3U) << recorded;
    const ProcessResult again = reproduce({file, "--json"});
    EXPECT_EQ(again.exit_code, 4) << again.err;
    EXPECT_NE(again.err.find("no 'packets': 'network.packets' is 0 over 0, no finite number"),
              std::string::npos)
        << again.err;
    const Json rows = Json::parse(again.out).at("values");
    EXPECT_TRUE(rows[0]["recorded"].is_number()) << rows;
    EXPECT_TRUE(rows[3]["measured"].is_null()) << rows;
}

TEST_F(ReproduceCommand, WithoutATemporaryFolderItSaysWhatToSet) {
    const ProcessResult result = run_shell("TMPDIR=/nowhere " + quoted(ASTROLABE_PROGRAM) + " reproduce " +
                                           quoted(study(kStudy).string()) + " --recorded");
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_NE(result.err.find("set TMPDIR to a folder that can be written"), std::string::npos) << result.err;
}

TEST_F(ReproduceCommand, RefusesWhatIsNotThereWithItsPlace) {
    const std::string file = study(kStudy).string();
    const ProcessResult name = reproduce({"euromlsys2023", "--folder", ASTROLABE_SOURCE_DIR "/reproduce"});
    EXPECT_EQ(name.exit_code, 3);
    EXPECT_NE(name.err.find("did you mean 'euromlsys2024'"), std::string::npos) << name.err;
    EXPECT_EQ(reproduce({file, "--table", "ratio"}).exit_code, 2);
    EXPECT_EQ(reproduce({file, "--calibrate"}).exit_code, 2);
    EXPECT_EQ(reproduce({"--folder", folder_.path().string() + "/nowhere"}).exit_code, 3);

    const std::string broken = study(R"(schema: astrolabe/1
title: A ring
source: nobody
runs:
  ring: {experiment: nowhere.yaml}
  check: {experiment: ring.yaml, command: validate}
values:
  - {name: a, run: rign, quantity: total_time_s, published: 1200us, margin: 1 %, source: s}
  - {name: a, run: ring, quantity: messages.median_s, published: 1200us, margin: 1 %, source: s}
  - {name: b, run: ring, quantity: x, published: fast, margin: 1 %, source: s}
  - {name: c, run: ring, quantity: x, margin: 1 %, source: s}
  - {name: d, run: ring, quantity: throughput.share, published: 1, margin: 1 %, source: s}
)")
                                   .string();
    const ProcessResult refused = reproduce({broken});
    EXPECT_EQ(refused.exit_code, 3);
    for (const char* part :
         {"made-up.yaml:9:", "messages have no 'median_s'", "'fast' is no number, percentage or time",
          "needs either 'published' or 'at_least' and 'at_most'", "which rows of throughput.csv"}) {
        EXPECT_NE(refused.err.find(part), std::string::npos) << part << "\n" << refused.err;
    }
    const std::string unknown = study(R"(schema: astrolabe/1
title: A ring
source: nobody
calibration: {path: network.link.latency, value: 1us, from: 0us, to: 2us, fitted_to: x, meaning: m}
runs:
  ring: {experiment: nowhere.yaml}
  check: {experiment: ring.yaml, command: validate}
values:
  - {name: a, run: rign, quantity: total_time_s, published: 1200us, margin: 1 %, source: s}
  - {name: a, run: check, quantity: messages.p50_s, published: 1200us, margin: 1 %, source: s}
)")
                                    .string();
    const ProcessResult across = reproduce({unknown});
    EXPECT_EQ(across.exit_code, 3);
    for (const char* part : {"there is no file", "there is no run 'rign'", "did you mean 'ring'",
                             "another value has the name 'a'", "simulates nothing",
                             "calibration.fitted_to: there is no value 'x'"}) {
        EXPECT_NE(across.err.find(part), std::string::npos) << part << "\n" << across.err;
    }
}

TEST_F(ReproduceCommand, AFailedRunIsReportedAndLosesNoOther) {
    std::string text = kStudy;
    text.replace(text.find("workload.size: 4MB"), 18, "workload.size: 4XB");
    const ProcessResult result = reproduce({study(text).string(), "--json"});
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_NE(result.err.find("no 'ratio': run 'half' ended with code 3"), std::string::npos) << result.err;
    EXPECT_TRUE(Json::parse(result.out)["values"][0]["measured"].is_number());
}

TEST_F(ReproduceCommand, ListsStudies) {
    const ProcessResult listed = reproduce({"--folder", ASTROLABE_SOURCE_DIR "/reproduce"});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    for (const auto& entry : std::filesystem::directory_iterator(ASTROLABE_SOURCE_DIR "/reproduce")) {
        if (entry.path().extension() == ".yaml") {
            EXPECT_NE(listed.out.find(entry.path().stem().string()), std::string::npos) << listed.out;
        }
    }
}

// The errors of all values of short runs are no larger than recorded, and every value is recorded.
TEST(PublishedStudies, ShortRunsHaveTheErrorsThatAreRecorded) {
    std::size_t studies = 0;
    for (const auto& entry : std::filesystem::directory_iterator(ASTROLABE_SOURCE_DIR "/reproduce")) {
        if (entry.path().extension() != ".yaml") {
            continue;
        }
        ++studies;
        const ProcessResult result =
            run_program(ASTROLABE_PROGRAM, {"reproduce", entry.path().string(), "--quick", "--json"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        const Json comparison = Json::parse(result.out);
        for (const Json& value : comparison.at("values")) {
            EXPECT_TRUE(value["recorded"].is_number()) << value["name"] << " is not recorded";
        }
    }
    EXPECT_GE(studies, 4U);
}

// One constant for one quantity: the files of the examples have that which the study was fitted with.
TEST(PublishedStudies, ExamplesHaveTheConstantOfTheStudy) {
    const ProcessResult result = run_program(
        ASTROLABE_PROGRAM,
        {"reproduce", ASTROLABE_SOURCE_DIR "/reproduce/euromlsys2024.yaml", "--recorded", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const double seconds = Json::parse(result.out).at("calibration").at("value").get<double>();
    const std::string key = "backward: ";
    int files = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(ASTROLABE_SOURCE_DIR "/examples")) {
        const std::string text = entry.path().extension() == ".yaml" ? read_file(entry.path()) : "";
        const std::size_t at = text.find(key);
        if (at != std::string::npos) {
            EXPECT_NEAR(std::stod(text.substr(at + key.size())) * 1e-3, seconds, 1e-9) << entry.path();
            ++files;
        }
    }
    EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace astrolabe::testing
