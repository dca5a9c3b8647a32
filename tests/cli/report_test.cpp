/// `astrolabe report`, as a user and a browser meet it.
#include "report_folder.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <astrolabe/study/report/report.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::testing {
namespace {

TEST_F(Report, DrawsEveryFigureAndTheBrowserAgrees) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const std::string folder = sweep(kStudy, "study");
    const ProcessResult result = report({folder, "--baseline", "torus"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string page = folder + "/report/index.html";
    EXPECT_EQ(result.out, page + "\n");

    std::size_t charts = 0;
    for (const std::string_view name : study::figure_names()) {
        if (name == "flow_slowdown") {
            continue;  // the study is of a job
        }
        const std::string base = fmt::format("{}/report/{}", folder, name);
        const auto table = parse_csv(read_file(base + ".csv"));
        ASSERT_GT(table.size(), 1U) << name;
        for (const auto& line : table) {
            EXPECT_EQ(line.size(), table[0].size()) << name;
        }
        const bool by_point = name == "links" || name == "tasks" || name == "gantt" || name == "exchanges";
        // What ranks exchange goes by the batch alone: points 1 and 2 stand for all.
        const std::size_t pictures = !by_point ? 1 : name == "exchanges" ? 2 : kPoints;
        for (std::size_t point = 1; point <= pictures; ++point) {
            const std::string svg =
                read_file(by_point ? fmt::format("{}-{}.svg", base, point) : base + ".svg");
            EXPECT_TRUE(svg.starts_with("<svg")) << name;
            EXPECT_TRUE(svg.ends_with("</svg>\n")) << name;
        }
        ++charts;
    }
    EXPECT_EQ(parse_csv(read_file(folder + "/report/points.csv")).size(), kPoints + 1);
    // The same results, the same bytes.
    const std::string first = read_file(page);
    ASSERT_EQ(report({folder, "--baseline", "torus"}).exit_code, 0);
    EXPECT_TRUE(read_file(page) == first);

    if (!works("chromium --version")) {
        GTEST_SKIP() << "there is no chromium to open the page with";
    }
    for (const std::string scheme : {"light", "dark"}) {
        const Json seen = open(page, scheme);
        EXPECT_TRUE(seen["errors"].empty()) << seen["errors"].dump(2);
        // The page itself and nothing else, pictures in data: apart.
        for (const Json& request : seen["requests"]) {
            EXPECT_TRUE(request == "file://" + page || request.get<std::string>().starts_with("data:"))
                << request;
        }
        ASSERT_EQ(seen["page"]["charts"].size(), charts + 1);  // and the map of winners
        for (const Json& chart : seen["page"]["charts"]) {
            // One for each point at least; of the map of winners for each of two settings.
            const std::size_t least = chart["id"] == "chart-winner" ? 2 : kPoints;
            EXPECT_TRUE(chart["marks"] >= least || chart["inked"] > 1000)
                << chart["id"] << chart["marks"] << chart["inked"];
            EXPECT_GT(chart["height"], 100) << chart["id"];
        }
        EXPECT_EQ(seen["page"]["rows"], kPoints);
        EXPECT_LE(seen["page"]["overflow"], 0);
    }
    expect_pictures(folder + "/report");
}

TEST_F(Report, NamesAreNothingButNames) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const std::string folder = sweep(R"(schema: astrolabe/1
name: "=1+1"
base: )" ASTROLABE_SOURCE_DIR R"(/examples/quickstart/experiment.yaml
vary:
  network:
    "__proto__": {kind: flat, hosts: 16, link: {rate: 100Gbps, latency: 500ns}}
    "=1+1": {kind: torus, sizes: [4, 4], link: {rate: 25Gbps}}
    "a\x01b\x1b]</script><svg onload=1>": {kind: flat, hosts: 16, link: {rate: 50Gbps, latency: 500ns}}
    "constructor": {kind: flat, hosts: 16, link: {rate: 25Gbps, latency: 500ns}}
report: [iteration_time, speed_up, breakdown]
)",
                                     "names");
    const ProcessResult result = report({folder});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto points = parse_csv(read_file(folder + "/report/points.csv"));
    const auto column = std::find(points.at(0).begin(), points.at(0).end(), "network") - points[0].begin();
    std::set<std::string> names;
    for (const auto& line : points) {
        names.insert(line.at(static_cast<std::size_t>(column)));
    }
    EXPECT_TRUE(names.contains("__proto__") && names.contains("constructor") && names.contains("'=1+1"));
    for (const auto& file : std::filesystem::directory_iterator(folder + "/report")) {
        if (file.path().extension() == ".svg") {
            // An XML reader of another program takes it, and all networks are in it.
            const ProcessResult read =
                run_program(ASTROLABE_PYTHON, {"-c",
                                               "import sys, xml.etree.ElementTree as t\n"
                                               "print(' '.join(t.parse(sys.argv[1]).getroot().itertext()))",
                                               file.path().string()});
            ASSERT_EQ(read.exit_code, 0) << file.path() << read.err;
            for (const char* name : {"__proto__", "=1+1", "constructor"}) {
                EXPECT_NE(read.out.find(name), std::string::npos) << file.path() << read.out;
            }
        }
    }
    if (!works("chromium --version")) {
        GTEST_SKIP() << "there is no chromium to open the page with";
    }
    const Json seen = open(folder + "/report/index.html");
    EXPECT_TRUE(seen["errors"].empty()) << seen["errors"].dump(2);
    EXPECT_EQ(seen["page"]["rows"], 4);
    expect_pictures(folder + "/report");
}

TEST_F(Report, ScriptsDrawWhatTheyAreGiven) {
    if (!works("node --version")) {
        GTEST_SKIP() << "there is no node";
    }
    const ProcessResult result = run_program("node", {ASTROLABE_SOURCE_DIR "/tests/cli/page/drawing.js"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Report, MapsOfWinnersSayWhatTheyAreGiven) {
    if (!works("node --version")) {
        GTEST_SKIP() << "there is no node";
    }
    const ProcessResult result = run_program("node", {ASTROLABE_SOURCE_DIR "/tests/cli/page/winner.js"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Report, ExampleGivesItsPicture) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const std::string example = ASTROLABE_SOURCE_DIR "/examples/codesign-tables/";
    ASSERT_EQ(
        run_program(ASTROLABE_PROGRAM, {"sweep", example + "study.yaml", "--out", out("example")}).exit_code,
        0);
    const ProcessResult result = report({out("example")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(read_file(out("example/report/iteration_time.svg")) ==
                read_file(example + "expected/iteration_time.svg"))
        << "the picture has changed: look at it, and copy it to " << example << "expected/";
    // 24 points of four networks: 6 settings, by an independent count.
    const ProcessResult check = check_answer(out("example/report"));
    EXPECT_EQ(check.exit_code, 0) << check.err;
    expect_says(check.out, "verdicts hold");
    // A check that cannot fail would be none: another winner is found out.
    std::string answer = read_file(out("example/report/answer.json"));
    const std::size_t winner = answer.find("\"name\": \"flat\"");
    ASSERT_NE(winner, std::string::npos);
    std::ofstream(out("example/report/answer.json")) << answer.replace(winner, 14, "\"name\": \"ring\"");
    EXPECT_EQ(check_answer(out("example/report")).exit_code, 1);
}

TEST_F(Report, NoTextOfAFigureIsCutOrLiesOverAnother) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    if (!works("chromium --version")) {
        GTEST_SKIP() << "there is no chromium to open the page with";
    }
    const std::string folder = out("geometry");
    ASSERT_EQ(
        run_program(ASTROLABE_PROGRAM,
                    {"sweep", ASTROLABE_SOURCE_DIR "/examples/codesign-tables/study.yaml", "--out", folder})
            .exit_code,
        0);
    for (const std::string columns : {"1", "2"}) {
        const std::string page = out("geometry-" + columns);
        const ProcessResult drawn = report({folder, "--columns", columns, "--out", page});
        ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
        std::vector<std::string> urls{"file://" + page + "/index.html"};
        for (const auto& file : std::filesystem::directory_iterator(page)) {
            if (file.path().extension() == ".svg") {
                urls.push_back("file://" + file.path().string());
            }
        }
        const Json seen = geometry(urls);
        EXPECT_TRUE(seen["problems"].empty()) << seen["problems"].dump(2);
        EXPECT_GT(seen["texts"], 500) << columns;
    }
    // That it sees what is wrong: one text beyond the edge, and two in one place.
    const auto bad =
        folder_.write("bad.svg", R"(<svg xmlns="http://www.w3.org/2000/svg" width="100" height="60">
<text x="80" y="20">beyond</text><text x="4" y="50">under</text><text x="8" y="52">over</text></svg>)");
    const Json seen = geometry({"file://" + bad.string()});
    ASSERT_EQ(seen["problems"].size(), 2U) << seen.dump(2);
    EXPECT_EQ(seen["problems"][0]["kind"], "cut");
    EXPECT_EQ(seen["problems"][0]["texts"], (Json{"beyond"}));
    EXPECT_EQ(seen["problems"][1]["kind"], "overlap");
}

TEST_F(Report, PicturesArePdfTooOfTheWidthOfAColumn) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    if (!works("rsvg-convert --version")) {
        GTEST_SKIP() << "there is no rsvg-convert";
    }
    const std::string folder = sweep(kStudy, "pdf");
    const std::string page = out("paper");
    ASSERT_EQ(report({folder, "--columns", "1", "--out", page}).exit_code, 0);
    const std::string first = read_file(page + "/breakdown.pdf");
    EXPECT_TRUE(first.starts_with("%PDF"));
    // Of pictures of points only on request.
    EXPECT_FALSE(std::filesystem::exists(page + "/gantt-1.pdf"));
    EXPECT_NE(read_file(page + "/breakdown.svg").find("width=\"336\""), std::string::npos);  // 3.5 * 96
    ASSERT_EQ(report({folder, "--columns", "1", "--out", page}).exit_code, 0);
    EXPECT_TRUE(read_file(page + "/breakdown.pdf") == first);  // the same bytes
    const ProcessResult none = report({folder, "--pdf", "none", "--out", out("screen")});
    ASSERT_EQ(none.exit_code, 0) << none.err;
    EXPECT_FALSE(std::filesystem::exists(out("screen/breakdown.pdf")));
}

TEST_F(Report, HostileNamesStayText) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const std::string bad = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>";
    const std::string study = R"(schema: astrolabe/1
name: "<script>window.hacked=1</script> \"quoted\" & 'so' <!--"
base: )" ASTROLABE_SOURCE_DIR R"(/examples/quickstart/experiment.yaml
vary:
  network:
    ")" + bad + R"(": {kind: flat, hosts: 16}
    ? ")" + std::string(10'000, 'x') +
                              R"("
    : {kind: flat, hosts: 16, link: {rate: 200Gbps}}
    "=HYPERLINK(1)\x01{{library}}": {kind: flat, hosts: 16, link: {rate: 400Gbps}}
report: [iteration_time, breakdown, pareto, links, gantt]
)";
    const std::string folder = sweep(study, "hostile");
    const ProcessResult result = report({folder, "--out", out("page")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const auto& file : std::filesystem::directory_iterator(out("page"))) {
        const std::string text = read_file(file.path());
        if (file.path().extension() == ".svg") {
            EXPECT_EQ(text.find("<script"), std::string::npos) << file.path();
            EXPECT_EQ(text.find("<img"), std::string::npos) << file.path();
            EXPECT_EQ(text.find(std::string(200, 'x')), std::string::npos) << file.path();
        } else if (file.path().extension() == ".csv") {
            EXPECT_EQ(text.find("\n=HYPERLINK"), std::string::npos) << file.path();
            EXPECT_EQ(text.find(",=HYPERLINK"), std::string::npos) << file.path();
        }
    }
    if (!works("chromium --version")) {
        GTEST_SKIP() << "there is no chromium to open the page with";
    }
    const Json seen = open(out("page") + "/index.html");
    EXPECT_TRUE(seen["errors"].empty()) << seen["errors"].dump(2);
    EXPECT_EQ(seen["requests"].size(), 1U) << seen["requests"];
    EXPECT_FALSE(seen["page"]["hacked"]);
    EXPECT_EQ(seen["page"]["scripts"], 2);  // data, and the page's own; ECharts is gone when it has run
    EXPECT_EQ(seen["page"]["images"], 0);
    EXPECT_EQ(seen["page"]["heading"], "<script>window.hacked=1</script> \"quoted\" & 'so' <!--");
    expect_says(seen["page"]["text"], "</script><script>");
    EXPECT_LE(seen["page"]["overflow"], 0);
    expect_pictures(out("page"));
}

TEST_F(Report, ParametersMayBeCalledAsWhatResultsHave) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    if (!works("chromium --version")) {
        GTEST_SKIP() << "there is no chromium to open the page with";
    }
    const std::string folder = sweep(R"(schema: astrolabe/1
name: names
base: )" ASTROLABE_SOURCE_DIR R"(/examples/quickstart/experiment.yaml
vary: {workload.batch.global: [512, 1024]}
derived:
  point: 70 + 1
  status: 70 + 2
  ranks: 70 + 3
  compute_s: 70 + 4
  fingerprint: 70 + 5
  error: 70 + 6
  hosts: workload.batch.global + 7
report: [iteration_time]
)",
                                     "names");
    ASSERT_EQ(report({folder}).exit_code, 0);
    const Json seen = open(folder + "/report/index.html");
    EXPECT_TRUE(seen["errors"].empty()) << seen["errors"].dump(2);
    expect_says(seen["page"]["text"], "2 points: 2 done, 0 failed, 0 missing");
    // As they were given: without a unit, and none left out.
    expect_says(seen["page"]["text"], "1\tdone\t512\t71\t72\t73\t74\t75\t76\t519\t");
    expect_says(seen["page"]["text"], "2\tdone\t1024\t71\t72\t73\t74\t75\t76\t1031\t");
}

TEST_F(Report, DrawsARunByItself) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const std::string run = out("run");
    ASSERT_EQ(run_program(ASTROLABE_PROGRAM,
                          {"run", ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml", "--out", run})
                  .exit_code,
              0);
    const ProcessResult result = report({run});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto tasks = parse_csv(read_file(run + "/report/tasks.csv"));
    const auto operations = parse_csv(read_file(run + "/operations.csv"));
    EXPECT_EQ(tasks.size(), operations.size());
    EXPECT_TRUE(std::filesystem::exists(run + "/report/gantt-1.svg"));
}

TEST_F(Report, LeavesNoFigureOfTheOneBefore) {
    if (const std::string why = no_charts(); !why.empty()) {
        GTEST_SKIP() << why;
    }
    const std::string page = out("page");
    ASSERT_EQ(report({sweep(kStudy, "study"), "--out", page}).exit_code, 0);
    ASSERT_TRUE(std::filesystem::exists(page + "/heatmap.csv"));
    ASSERT_TRUE(std::filesystem::exists(page + "/gantt-4.svg"));
    std::ofstream(page + "/notes.csv") << "mine";
    // A run is one point, and has nothing to compare.
    ASSERT_EQ(
        run_program(ASTROLABE_PROGRAM,
                    {"run", ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml", "--out", out("run")})
            .exit_code,
        0);
    ASSERT_EQ(report({out("run"), "--out", page}).exit_code, 0);
    EXPECT_TRUE(std::filesystem::exists(page + "/gantt-1.svg"));
    for (const char* name : {"/heatmap.csv", "/heatmap.svg", "/gantt-4.svg", "/winner.csv"}) {
        EXPECT_FALSE(std::filesystem::exists(page + name)) << name;
    }
    EXPECT_EQ(read_file(page + "/notes.csv"), "mine");
}

TEST_F(Report, DetailsAreComputedWhereTheyAreAskedFor) {
    std::string plain = kStudy.substr(0, kStudy.find("report:"));
    const std::string folder = sweep(plain, "later");
    const auto store = study::ResultStore::open_to_read(folder);
    ASSERT_TRUE(store);
    const std::string key = store->rows("everything")[0].point.key;
    const std::string fingerprint = store->result(key)->fingerprint;
    EXPECT_FALSE(store->has_details(key, {"ranks"}));  // nobody asked
    folder_.write("later.yaml", plain + "report: [ranks, gantt]\n");
    const ProcessResult again = run_program(ASTROLABE_PROGRAM, {"sweep", out("later.yaml"), "--out", folder});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_TRUE(store->has_details(key, {"ranks", "gantt"}));
    EXPECT_FALSE(store->has_details(key, {"links"}));
    EXPECT_EQ(store->result(key)->fingerprint, fingerprint);
    // Of all iterations, which are few, all that a rank computes: its operations are in the run's, each once.
    const Json gantt = Json::parse(store->detail(key, "gantt"));
    const Json ranks = Json::parse(store->detail(key, "ranks"));
    EXPECT_EQ(ranks["rows"].size(), 16U);
    const Json summary = Json::parse(store->result(key)->summary.dump());
    double compute = 0;
    double exposed = 0;
    double drain = 0;
    for (const Json& row : ranks["rows"]) {
        compute += row[1].get<double>() / 16;
        exposed += row[2].get<double>() / 16;
        drain += row[3].get<double>() / 16;
    }
    EXPECT_NEAR(compute, summary["compute_s"].get<double>(), 1e-12);
    EXPECT_NEAR(drain, summary["drain_s"].get<double>(), 1e-12);
    EXPECT_NEAR(compute + exposed + drain, summary["total_time_s"].get<double>(), 1e-11);
    double spans = 0;  // of both iterations
    for (const Json& row : gantt["rows"]) {
        if (row[0] == 0 && gantt["kinds"][row[1].get<std::size_t>()] == "compute") {
            spans += row[3].get<double>() - row[2].get<double>();
        }
    }
    EXPECT_NEAR(spans, ranks["rows"][0][1].get<double>(), 1e-11);
    EXPECT_EQ(gantt["kept"], (Json{0, 1}));
}

TEST_F(Report, RanksThatAreAlikeAreDrawnOnce) {
    // Rings look the same from every rank, so few of the 16 are simulated.
    const std::string folder = sweep(R"(schema: astrolabe/1
name: folded
base: )" ASTROLABE_SOURCE_DIR R"(/examples/quickstart/experiment.yaml
vary: {cluster.collectives.all_reduce: {ring: {algorithm: ring}}}
report: [gantt, ranks]
)",
                                     "folded");
    const auto store = study::ResultStore::open_to_read(folder);
    ASSERT_TRUE(store);
    const std::string key = store->rows("folded")[0].point.key;
    const Json gantt = Json::parse(store->detail(key, "gantt"));
    EXPECT_EQ(gantt["ranks"], 16);
    EXPECT_LT(gantt["simulated"], 16);
    EXPECT_EQ(gantt["drawn"], gantt["simulated"]);
    std::size_t first = 0;
    for (const Json& row : gantt["rows"]) {
        EXPECT_LT(row[0], gantt["simulated"]);
        EXPECT_LE(row[2], row[3]);
        first += row[0] == 0 ? 1 : 0;
    }
    EXPECT_EQ(first, gantt["names"].size());  // rank 0 takes part in every operation, each is whole
    EXPECT_EQ(Json::parse(store->detail(key, "ranks"))["rows"].size(), 16U);
}

TEST_F(Report, OfManySimulatedRanksTheFirstAreDrawn) {
    // Both leaves are alike, so the 20 ranks of one are simulated, and a timeline has 16.
    const std::string folder = sweep(R"(schema: astrolabe/1
name: leaves
base:
  include: )" ASTROLABE_SOURCE_DIR R"(/examples/quickstart/experiment.yaml
  workload: {batch: {global: 2560}}
  cluster: {ranks: 40, padding: true, collectives: {all_reduce: {algorithm: ring, chunks: 1}}}
vary:
  network: {leaves: {kind: leaf_spine, hosts: 40, hosts_per_leaf: 20, spines: 4, load_balancing: spray}}
  workload.model.tables.count: [80]
report: [gantt]
)",
                                     "leaves");
    const auto store = study::ResultStore::open_to_read(folder);
    ASSERT_TRUE(store);
    const Json gantt = Json::parse(store->detail(store->rows("leaves")[0].point.key, "gantt"));
    EXPECT_EQ(gantt["simulated"], 20);
    EXPECT_EQ(gantt["drawn"], 16);
    EXPECT_EQ(gantt["rows"].back()[0], 15);
}

}  // namespace
}  // namespace astrolabe::testing
