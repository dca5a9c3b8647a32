/// The page of a report, as its readers use it: while the sweep runs, afterwards, and with thousands of
/// points.
#include "report_folder.hpp"

#include <random>

#include <fmt/format.h>

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::testing {
namespace {

constexpr const char* kPageFolder = ASTROLABE_SOURCE_DIR "/tests/cli/page/";
constexpr std::uintmax_t kMostBytes = 2'000'000;

class ReportPage : public Report {
protected:
    void SetUp() override {
        if (const std::string why = no_charts(); !why.empty()) {
            GTEST_SKIP() << why;
        }
        if (!works("chromium --version")) {
            GTEST_SKIP() << "there is no chromium to open the page with";
        }
    }

    /// What drive.js saw of a page.
    [[nodiscard]] Json drive(const std::string& page, const std::string& what) const {
        const ProcessResult driven = run_program("node", {std::string(kPageFolder) + "drive.js", "chromium",
                                                          out("profile-" + what), "file://" + page, what});
        EXPECT_EQ(driven.exit_code, 0) << driven.err;
        return Json::parse(driven.out, nullptr, false);
    }

    /// A study of 24 points that take so long that a sweep is met while it runs.
    [[nodiscard]] std::string slow_study() const {
        return folder_
            .write("slow.yaml", R"(schema: astrolabe/1
name: slow
base: )" ASTROLABE_SOURCE_DIR R"(/examples/quickstart/experiment.yaml
vary:
  workload.batch.global: {from: 512, to: 4096, factor: 2}
  network:
    flat: {kind: flat, hosts: 16}
    torus: {kind: torus, sizes: [4, 4]}
  workload.iterations: [30, 31, 32]
report: [iteration_time, gantt]
)")
            .string();
    }

    /// Starts a sweep that follows itself, waits for a page on which a point has finished, and signals it.
    [[nodiscard]] ProcessResult sweep_until_a_point(const std::string& name,
                                                    const std::string& signal) const {
        return run_shell(fmt::format(
            "{} sweep {} --out {} --report -j 2 --progress none & sweep=$!; "
            "for i in $(seq 600); do grep -q ',\"done\",' {}/report/index.html 2>/dev/null && break; "
            "sleep 0.1; done; kill -{} $sweep; wait $sweep",
            ASTROLABE_PROGRAM, slow_study(), out(name), out(name), signal));
    }
};

TEST(ReportScripts, ReadWhatTheyWriteAndFollowFilters) {
    if (!works("node --version")) {
        GTEST_SKIP() << "there is no node";
    }
    const ProcessResult result = run_program("node", {std::string(kPageFolder) + "parts.js"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(ReportPage, AReaderFindsAndOpensPoints) {
    const std::string folder = sweep(kStudy, "study");
    ASSERT_EQ(report({folder}).exit_code, 0);
    const std::string page = folder + "/report/index.html";
    EXPECT_LT(std::filesystem::file_size(page), kMostBytes);
    const Json seen = drive(page, "tour");
    ASSERT_EQ(seen["tours"].size(), 2U);
    // The command on the page of point 2 gives what the store has of it.
    const std::string command = seen["tours"][0]["command"];
    const std::string words = " run " + folder + " --point 2";
    EXPECT_TRUE(command == "./astrolabe" + words || command == "astrolabe" + words) << command;
    EXPECT_EQ(seen["tours"][1]["command"], command);
    const ProcessResult again =
        run_shell(quoted(ASTROLABE_PROGRAM) + command.substr(command.find(' ')) + " --json");
    ASSERT_EQ(again.exit_code, 0) << again.err;
    const auto store = study::ResultStore::open_to_read(folder);
    ASSERT_TRUE(store);
    const study::StoredResult result = store->rows("everything")[1].result;
    EXPECT_EQ(Json::parse(again.out)["fingerprint"], result.fingerprint);
    // The page has six digits of what the summary has: the parts of the whole run are all of it, and its
    // iterations too.
    const Json& run = seen["tours"][0]["run"];
    const double total = result.summary["total_time_s"].get<double>();
    double parts = run["c"].get<double>() + run["r"].get<double>() + run["d"].get<double>();
    for (const Json& wait : run["w"]) {
        parts += wait[1].get<double>();
    }
    EXPECT_NEAR(parts, total, 1e-5 * total);
    ASSERT_EQ(run["n"], 2);
    EXPECT_NEAR(run["i"][0].get<double>() + run["i"][1].get<double>(), total, 1e-5 * total);
    EXPECT_NEAR(run["l"][2].get<double>(), result.summary["network"]["max_link_utilization"].get<double>(),
                1e-5);
    double path = 0;
    for (const Json& resource : run["p"]) {
        path += resource[1].get<double>();
    }
    EXPECT_NEAR(path, 1, 1e-5);
}

TEST_F(ReportPage, FlowsHaveTimesInPlaceOfIterations) {
    const std::string folder = sweep(R"(schema: astrolabe/1
name: flows
base: )" ASTROLABE_SOURCE_DIR R"(/examples/flows/experiment.yaml
vary: {workload.load: [0.2]}
)",
                                     "flows");
    ASSERT_EQ(report({folder}).exit_code, 0);
    const Json seen = drive(folder + "/report/index.html#point-1", "state")["seen"];
    EXPECT_EQ(seen["title"], "Point 1");
    EXPECT_EQ(seen["sections"],
              Json({"Parameters", "Results", "Flows", "Links", "Timeline", "Run it again"}));
}

TEST_F(ReportPage, PointsThatAreNotThereAreRefused) {
    const std::string folder = sweep(kStudy, "study");
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"run", folder});
        return run_program(ASTROLABE_PROGRAM, words);
    };
    EXPECT_EQ(run({"--point", "5"}).exit_code, 3);
    expect_says(run({"--point", "5"}).err, "'everything' has no point 5\n  hint: its points are 1 to 4");
    expect_says(run({}).err, "has the results of a study, not an experiment\n  hint: --point N");
    expect_says(run({"--point", "1", "--study", "everythin"}).err,
                "has no study 'everythin'\n  hint: did you mean 'everything'?");
    expect_says(run_program(ASTROLABE_PROGRAM, {"run", out("nowhere"), "--point", "1"}).err,
                "has no results.sqlite");
    // What is set changes the point.
    const ProcessResult changed = run({"--point", "1", "--set", "workload.batch.global=1024", "--json"});
    ASSERT_EQ(changed.exit_code, 0) << changed.err;
    const auto store = study::ResultStore::open_to_read(folder);
    ASSERT_TRUE(store);
    // Points 1 and 2 are the flat network with batches of 512 and 1024.
    EXPECT_EQ(Json::parse(changed.out)["fingerprint"], store->rows("everything")[1].result.fingerprint);
}

TEST_F(ReportPage, FollowsASweepThatIsKilledAndGoesOn) {
    const ProcessResult killed = sweep_until_a_point("killed", "KILL");
    ASSERT_EQ(killed.exit_code, 137) << killed.err;
    const std::string page = out("killed/report/index.html");
    const std::string text = read_file(page);
    EXPECT_TRUE(text.ends_with("</html>\n"));
    EXPECT_LT(text.size(), kMostBytes);
    // Just now it ran, as far as the page knows.
    const std::string running = drive(page, "state")["state"];
    EXPECT_TRUE(running.starts_with("running: ")) << running;
    expect_says(running, " of 24 done");
    // A minute later, which is late: the page is due every ten seconds.
    const std::size_t at = text.find("\"written\":") + 10;
    const double written = std::stod(text.substr(at));
    folder_.write("killed/report/index.html",
                  text.substr(0, at) + fmt::format("{:.1f}", written - 60) + text.substr(text.find(',', at)));
    const Json late = drive(page, "state");
    expect_says(late["state"], "no longer running: ");
    expect_says(late["state"], "and nothing since; the same command goes on");
    EXPECT_EQ(late["seen"]["rows"], 24);

    const ProcessResult rest = run_program(
        ASTROLABE_PROGRAM, {"sweep", slow_study(), "--out", out("killed"), "--report", "--progress", "none"});
    ASSERT_EQ(rest.exit_code, 0) << rest.err;
    expect_says(rest.err, "astrolabe: the report is '" + page + "'");
    const Json ended = drive(page, "state");
    EXPECT_EQ(ended["state"], "");
    EXPECT_TRUE(std::filesystem::exists(out("killed/report/gantt-24.svg")));
    // The same as a report that was drawn afterwards.
    const std::string drawn = read_file(page);
    ASSERT_EQ(report({out("killed")}).exit_code, 0);
    EXPECT_TRUE(read_file(page) == drawn);
}

TEST_F(ReportPage, SaysThatItsSweepWasInterrupted) {
    const ProcessResult interrupted = sweep_until_a_point("interrupted", "INT");
    ASSERT_EQ(interrupted.exit_code, 130) << interrupted.err;
    const Json seen = drive(out("interrupted/report/index.html"), "state");
    const std::string state = seen["state"];
    EXPECT_TRUE(state.starts_with("interrupted: ")) << state;
    expect_says(state, "the same command goes on");
    EXPECT_EQ(seen["seen"]["rows"], 24);
}

TEST_F(ReportPage, IsRefusedWhereThereIsNoSweepToFollow) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--status"}, {"--launcher", "slurm"}}) {
        std::vector<std::string> all{"sweep", slow_study(), "--out", out("none"), "--report"};
        all.insert(all.end(), words.begin(), words.end());
        const ProcessResult refused = run_program(ASTROLABE_PROGRAM, all);
        EXPECT_EQ(refused.exit_code, 2);
        expect_says(refused.err, "--report follows a sweep that this command runs itself");
    }
}

/// Numbers of a summary that differ from point to point, so that packing finds no more alike than in a study.
void scatter(nlohmann::ordered_json& value, std::mt19937_64& random) {
    if (value.is_number_float()) {
        value = value.get<double>() * std::uniform_real_distribution(0.5, 2.0)(random);
    } else if (value.is_structured()) {
        for (auto& one : value) {
            scatter(one, random);
        }
    }
}

TEST_F(ReportPage, StaysSmallAndSmoothWithFiveThousandPoints) {
    const std::string small = sweep(kStudy.substr(0, kStudy.find("report:")), "small");
    const auto known = study::ResultStore::open_to_read(small);
    ASSERT_TRUE(known);
    const std::vector<study::StudyRow> rows = known->rows("everything");
    study::StudyRecord record{"large", {}, {}};
    std::vector<study::StoredResult> results;
    std::mt19937_64 random(1);
    // 4 networks · 10 · 25 · 5
    for (std::size_t number = 1; number <= 5000; ++number) {
        const std::size_t i = number - 1;
        study::StoredResult result = rows[i % rows.size()].result;
        scatter(result.summary, random);
        result.key = fmt::format("{:032}", number);
        result.fingerprint = fmt::format("{:016x}", random());
        record.points.push_back({number,
                                 {{"network", fmt::format("fabric {}", i % 4)},
                                  {"workload.model.tables.count", 16 * (1 + i / 4 % 10)},
                                  {"workload.batch.global", 1024 * (1 + i / 40 % 25)},
                                  {"cluster.device.peak", fmt::format("{}TFLOPS", 10 * (1 + i / 1000))}},
                                 result.key,
                                 {},
                                 {}});
        results.push_back(std::move(result));
    }
    {
        auto store = study::ResultStore::open(out("large"));
        ASSERT_TRUE(store);
        ASSERT_FALSE(store->put(results));
        ASSERT_FALSE(store->put(record));
    }
    ASSERT_EQ(report({out("large")}).exit_code, 0);
    const std::string page = out("large/report/index.html");
    const std::uintmax_t bytes = std::filesystem::file_size(page);
    EXPECT_LE(bytes, kMostBytes);
    const Json seen = drive(page, "frames");
    fmt::print("{} points: {} bytes; {}\n", results.size(), bytes, seen.dump());
    // Half the frames of 60 a second are to be on time on a machine that does nothing else; this one may. Two
    // of them are allowed, for the page is drawn by the processor here, and tests run side by side.
    for (const char* act : {"idle", "hover", "filter", "scroll"}) {
        EXPECT_LT(seen[act]["median"].get<double>(), 2 * 1000.0 / 60) << act;
    }
}

}  // namespace
}  // namespace astrolabe::testing
