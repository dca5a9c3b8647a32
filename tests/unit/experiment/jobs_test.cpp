/// Several jobs on one network: file/jobs.hpp, run/jobs_run.hpp.
#include "process.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/file/jobs.hpp>
#include <astrolabe/experiment/results/jobs_results.hpp>
#include <astrolabe/experiment/run/jobs_run.hpp>
#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

/// A ring of four ranks sums up 8 MB in 6 steps of 2 MB: 160 us each at 100 Gbps, 960 us.
const char* const kRing = "{kind: collective, collective: all_reduce, size: 8MB}";
/// Two leaves of four hosts whose uplinks carry all that their hosts send; no latency.
const char* const kTwoLeaves =
    "{kind: leaf_spine, hosts: 8, hosts_per_leaf: 4, spines: 1, oversubscription: 4, "
    "link: {rate: 100Gbps, latency: 0ns}, uplink: {latency: 0ns}}";
const char* const kFlat = "{kind: flat, hosts: 8, link: {rate: 100Gbps, latency: 500ns}}";
const char* const kSmallDlrm =
    "{kind: dlrm, model: {dense_features: 16, bottom_mlp: [32, 8], top_mlp: [32, 1], tables: {count: 4, "
    "rows: "
    "100, dimension: 8, pooling: 2}}, batch: {global: 64}, dense_feature_gradient: true, iterations: 2}";
const char* const kCluster =
    "{device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}, collectives: {all_reduce: "
    "{algorithm: ring, chunks: 1}, all_to_all: {algorithm: direct, chunks: 1}}}";

struct File {
    std::string jobs;
    std::string network = kFlat;
    std::string backend = "fluid";
    std::string more{};
    std::string cluster = kCluster;
};

class JobsTest : public ::testing::Test {
protected:
    [[nodiscard]] Result<Experiment> read(const File& file, std::vector<std::string> set = {}) const {
        const testing::TemporaryFolder folder;
        const auto path = folder.write(
            "jobs.yaml", "schema: astrolabe/1\nname: jobs\ncluster: " + file.cluster +
                             "\nnetwork: " + file.network + "\nbackend: {kind: " + file.backend + "}\n" +
                             (file.jobs.empty() ? "" : "jobs: " + file.jobs + "\n") + file.more);
        return load_experiment(path, {std::move(set), std::nullopt}, components_);
    }
    [[nodiscard]] Experiment load(const File& file, std::vector<std::string> set = {}) const {
        Result<Experiment> loaded = read(file, std::move(set));
        if (!loaded) {
            ADD_FAILURE() << render(loaded.error());
            return {};
        }
        return *std::move(loaded);
    }
    [[nodiscard]] JobsRun run(const File& file, std::vector<std::string> set = {}) const {
        const Experiment experiment = load(file, std::move(set));
        if (experiment.jobs == nullptr) {
            return {};
        }
        JobsRun run = run_jobs(experiment, {});
        EXPECT_TRUE(run.finished) << run.stall;
        return run;
    }
    [[nodiscard]] std::string refusal(const File& file, std::vector<std::string> set = {}) const {
        const Result<Experiment> loaded = read(file, std::move(set));
        return loaded ? "" : render(loaded.error());
    }
    /// Hosts of a job, by rank.
    [[nodiscard]] static std::vector<std::size_t> hosts(const Experiment& experiment, std::size_t job) {
        const Experiment& one = experiment.jobs->jobs.at(job).experiment;
        std::vector<std::size_t> numbers;
        for (const network::HostId host : one.placement.hosts_of(one.cluster.ranks)) {
            numbers.push_back(host.index());
        }
        return numbers;
    }

    Components components_ = builtin_components();
};

std::string job(const std::string& name, const std::string& workload, const std::string& rest = "ranks: 4") {
    return "{name: " + name + ", workload: " + workload + ", " + rest + "}";
}

constexpr Time kMicrosecond = Time(1'000'000);

TEST_F(JobsTest, JobAloneIsTheExperimentWithoutJobs) {
    for (const char* backend : {"fluid", "packet", "tcp"}) {
        const JobsRun jobs = run({.jobs = "[" + job("a", kSmallDlrm) + "]", .backend = backend});
        const Experiment alone =
            load({.jobs = "", .backend = backend, .more = std::string("workload: ") + kSmallDlrm + "\n"},
                 {"cluster.ranks=4"});
        const experiment::Run plain = run_experiment(alone, {});
        ASSERT_EQ(jobs.jobs.size(), 1U);
        EXPECT_EQ(jobs.fingerprint, plain.fingerprint) << backend;
        EXPECT_EQ(jobs.jobs[0].iteration_times, plain.iteration_times) << backend;
        EXPECT_EQ(jobs.total, plain.execution.total) << backend;
    }
}

TEST_F(JobsTest, JobAndItsCopyOnAFlatNetworkAreItselfTwice) {
    for (const char* backend : {"fluid", "packet", "tcp"}) {
        const JobsRun jobs = run(
            {.jobs = "{slowdown: true, list: [" + job("a", kSmallDlrm) + ", " + job("b", kSmallDlrm) + "]}",
             .backend = backend});
        ASSERT_EQ(jobs.jobs.size(), 2U);
        EXPECT_EQ(jobs.jobs[0].fingerprint, jobs.jobs[1].fingerprint) << backend;
        EXPECT_EQ(jobs.jobs[0].slowdown(), 1.0) << backend;
        EXPECT_EQ(jobs.jobs[1].slowdown(), 1.0) << backend;
        EXPECT_EQ(jobs.fairness(), 1.0);
        EXPECT_TRUE(jobs.pairs.empty()) << "no link carries both";
    }
}

TEST_F(JobsTest, TwoRingsThatShareOneUplinkTakeTwiceAsLong) {
    // Each job has two hosts on each leaf, so one flow of its ring goes up and one down in every step, and so
    // does one of the other job. The uplink carries 4 x 100 / 4 = 100 Gbps. Alone: 6 steps of 160 us, 960 us.
    // Together each gets half of the uplink, so a step of its slowest flow takes 320 us: 1.92 ms.
    const std::string list =
        job("a", kRing, "hosts: [0, 1, 4, 5]") + ", " + job("b", kRing, "hosts: [2, 3, 6, 7]");
    const JobsRun jobs = run({.jobs = "{interference: true, list: [" + list + "]}", .network = kTwoLeaves});
    ASSERT_EQ(jobs.jobs.size(), 2U);
    for (const JobResult& one : jobs.jobs) {
        EXPECT_EQ(one.alone, 960 * kMicrosecond);
        EXPECT_EQ(one.run_times.front(), 1920 * kMicrosecond);
        EXPECT_EQ(one.slowdown(), 2.0);
    }
    EXPECT_EQ(jobs.total, 1920 * kMicrosecond);
    EXPECT_EQ(jobs.fairness(), 1.0);
    // Both directions of both uplinks: 6 steps of 2 MB each way, over two links each.
    ASSERT_EQ(jobs.pairs.size(), 2U);
    for (const JobPair& pair : jobs.pairs) {
        EXPECT_EQ(pair.slowdown, 2.0);
        EXPECT_EQ(pair.shared_links, 4U);
        EXPECT_DOUBLE_EQ(pair.shared_bytes, 4 * 6 * 2e6);
    }
}

TEST_F(JobsTest, ALaterJobSharesOnlyWhileBothRun) {
    // As above, but b starts at 480 us, when a has done 3 of its 6 steps. Then both at half the rate: a needs
    // 3 x 320 us more and ends at 1440 us. By then b has done 3 steps, and does the others alone: it ends at
    // 1440 + 3 x 160 = 1920 us and has taken 1440 us, too.
    const std::string list =
        job("a", kRing, "hosts: [0, 1, 4, 5]") + ", " + job("b", kRing, "hosts: [2, 3, 6, 7], start: 480us");
    const JobsRun jobs = run({.jobs = "{slowdown: true, list: [" + list + "]}", .network = kTwoLeaves});
    ASSERT_EQ(jobs.jobs.size(), 2U);
    EXPECT_EQ(jobs.jobs[0].end, 1440 * kMicrosecond);
    EXPECT_EQ(jobs.jobs[1].start, 480 * kMicrosecond);
    EXPECT_EQ(jobs.jobs[1].end, 1920 * kMicrosecond);
    EXPECT_EQ(jobs.jobs[0].run_times.front(), 1440 * kMicrosecond);
    EXPECT_EQ(jobs.jobs[1].run_times.front(), 1440 * kMicrosecond);
    EXPECT_EQ(jobs.jobs[1].slowdown(), 1.5);
}

TEST_F(JobsTest, RepeatedJobsRunOneAfterAnother) {
    const JobsRun jobs =
        run({.jobs = "[" + job("a", kRing, "ranks: 4, repeat: 3") + "]", .network = kTwoLeaves});
    ASSERT_EQ(jobs.jobs.size(), 1U);
    EXPECT_EQ(jobs.jobs[0].run_times, std::vector<Time>(3, 960 * kMicrosecond));
    EXPECT_EQ(jobs.total, 2880 * kMicrosecond);
}

TEST_F(JobsTest, JobsStartOverUntilAllHaveFinishedOnce) {
    // b moves three times as much: alone 2.88 ms. It ends when a is in its runs beside it; both at half the
    // rate all the time: a 1.92 ms, b 5.76 ms. By then a has finished three times, and its first run counts.
    const std::string list =
        job("a", kRing, "hosts: [0, 1, 4, 5]") + ", " +
        job("b", "{kind: collective, collective: all_reduce, size: 24MB}", "hosts: [2, 3, 6, 7]");
    const JobsRun jobs =
        run({.jobs = "{until_all_finished_once: true, list: [" + list + "]}", .network = kTwoLeaves});
    ASSERT_EQ(jobs.jobs.size(), 2U);
    EXPECT_EQ(jobs.jobs[0].run_times, std::vector<Time>(1, 1920 * kMicrosecond));
    EXPECT_EQ(jobs.jobs[1].run_times, std::vector<Time>(1, 5760 * kMicrosecond));
    EXPECT_GE(jobs.jobs[0].runs, 2U);
    EXPECT_EQ(jobs.total, 5760 * kMicrosecond);
}

TEST_F(JobsTest, QueueIsFirstComeFirstServedUnlessItIsBackfilled) {
    // Four hosts: a has two until 960 us; b wants four and waits; c wants two and would fit.
    // A ring of two sums up 8 MB in 2 steps of 4 MB, 320 us each: 640 us. Of four as above 960 us.
    const std::string flat = "{kind: flat, hosts: 4, link: {rate: 100Gbps, latency: 0ns}}";
    const std::string list =
        job("a", kRing, "ranks: 2") + ", " + job("b", kRing, "ranks: 4") + ", " + job("c", kRing, "ranks: 2");
    const JobsRun queued = run({.jobs = "{queue: true, list: [" + list + "]}", .network = flat});
    ASSERT_EQ(queued.jobs.size(), 3U);
    EXPECT_EQ(queued.jobs[1].start, 640 * kMicrosecond);
    EXPECT_EQ(queued.jobs[2].start, (640 + 960) * kMicrosecond);
    EXPECT_EQ(queued.total, (640 + 960 + 640) * kMicrosecond);
    const JobsRun filled =
        run({.jobs = "{queue: true, backfill: true, list: [" + list + "]}", .network = flat});
    ASSERT_EQ(filled.jobs.size(), 3U);
    EXPECT_EQ(filled.jobs[2].start, Time(0));
    EXPECT_EQ(filled.jobs[1].start, 640 * kMicrosecond);
    EXPECT_EQ(filled.total, (640 + 960) * kMicrosecond);
}

TEST_F(JobsTest, PlacementsAreThoseOfTheirDefinition) {
    using Hosts = std::vector<std::size_t>;
    const std::string leaves =
        "{kind: leaf_spine, hosts: 12, hosts_per_leaf: 4, spines: 1, link: {rate: 100Gbps, latency: 0ns}, "
        "uplink: "
        "{latency: 0ns}}";
    const std::string list =
        job("a", kRing, "ranks: 3") + ", " + job("b", kRing, "ranks: 2") + ", " + job("c", kRing, "ranks: 4");
    const auto placed = [&](const std::string& placement) {
        return load({.jobs = "{placement: " + placement + ", list: [" + list + "]}", .network = leaves});
    };
    const Experiment packed = placed("packed");
    EXPECT_EQ(hosts(packed, 0), (Hosts{0, 1, 2}));
    EXPECT_EQ(hosts(packed, 1), (Hosts{3, 4}));
    EXPECT_EQ(hosts(packed, 2), (Hosts{5, 6, 7, 8}));
    const Experiment spread = placed("spread");
    EXPECT_EQ(hosts(spread, 0), (Hosts{0, 4, 8}));
    EXPECT_EQ(hosts(spread, 1), (Hosts{1, 5}));
    EXPECT_EQ(hosts(spread, 2), (Hosts{2, 6, 9, 3}));
    // b does not fit where one host is left; c has a leaf of its own.
    const Experiment by_rack = placed("by_rack");
    EXPECT_EQ(hosts(by_rack, 0), (Hosts{0, 1, 2}));
    EXPECT_EQ(hosts(by_rack, 1), (Hosts{4, 5}));
    EXPECT_EQ(hosts(by_rack, 2), (Hosts{8, 9, 10, 11}));
    const Experiment random = placed("random");
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < 3; ++i) {
        const Hosts own = hosts(random, i);
        all.insert(all.end(), own.begin(), own.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "no host has two ranks";
    EXPECT_EQ(all.size(), 9U);
    EXPECT_NE(hosts(random, 2), hosts(packed, 2));
    EXPECT_EQ(hosts(random, 2), hosts(placed("random"), 2));
    EXPECT_EQ(random_streams(random), std::vector<std::string>{"jobs.placement"});
}

TEST_F(JobsTest, DrawnJobsFollowShareLoadAndSeed) {
    const std::string mix =
        "mix: [" + job("a", kRing, "ranks: 2, share: 3") + ", " + job("b", kRing, "ranks: 2, share: 1") + "]";
    const std::string flat = "{kind: flat, hosts: 400, link: {rate: 100Gbps, latency: 0ns}}";
    const Experiment drawn = load({.jobs = "{load: 0.8, " + mix + "}", .network = flat});
    // 0.8 x 400 / 2.
    ASSERT_EQ(drawn.jobs->jobs.size(), 160U);
    const auto of_a = std::count_if(drawn.jobs->jobs.begin(), drawn.jobs->jobs.end(),
                                    [](const JobOnNetwork& one) { return one.kind == "a"; });
    // 120 expected; the standard deviation is sqrt(160 x 3/4 x 1/4) = 5.5, and four of them are 22.
    EXPECT_NEAR(static_cast<double>(of_a), 120, 22);
    EXPECT_EQ(drawn.jobs->jobs[0].name, drawn.jobs->jobs[0].kind + "-1");

    const Experiment arriving = load(
        {.jobs = "{count: 200, queue: true, mean_time_between_arrivals: 1ms, " + mix + "}", .network = flat});
    // The sum of 199 exponential times of 1 ms: 0.199 s, standard deviation sqrt(199) ms = 14.1 ms.
    EXPECT_EQ(arriving.jobs->jobs.front().start, Time(0));
    EXPECT_NEAR(to_seconds(arriving.jobs->jobs.back().start), 0.199, 4 * 0.0141);
    EXPECT_EQ(random_streams(arriving), (std::vector<std::string>{"jobs.mix", "jobs.arrivals"}));
}

TEST_F(JobsTest, ResolvedFileGivesTheSameRun) {
    const File file{.jobs = "{load: 1, placement: random, slowdown: true, mix: [" +
                            job("a", kRing, "ranks: 2, share: 3") + ", " +
                            job("b", kSmallDlrm, "ranks: 2, share: 3, cluster: {active_chunks: 4}") + "]}",
                    .network = kTwoLeaves};
    const Experiment first = load(file);
    const Result<Experiment> second = read_experiment(first.resolved, {}, "again", std::nullopt, components_);
    ASSERT_TRUE(second) << render(second.error());
    EXPECT_EQ(to_yaml(second->resolved), to_yaml(first.resolved));
    EXPECT_EQ(run_jobs(*second, {}).fingerprint, run_jobs(first, {}).fingerprint);
}

TEST_F(JobsTest, NetworksBuiltForTheirJobGiveEachAPartOfItsOwn) {
    const std::string topoopt = "{kind: topoopt, degree: 2, link: {rate: 100Gbps, latency: 500ns}}";
    const std::string cluster = "{device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}}";
    const JobsRun jobs =
        run({.jobs = "{slowdown: true, list: [" + job("a", kSmallDlrm) + ", " +
                     job("b", kRing, "ranks: 6, start: 1ms") + ", " + job("c", kSmallDlrm) + "]}",
             .network = topoopt,
             .cluster = cluster});
    ASSERT_EQ(jobs.jobs.size(), 3U);
    const Experiment alone = load({.jobs = "",
                                   .network = topoopt,
                                   .more = std::string("workload: ") + kSmallDlrm + "\n",
                                   .cluster = cluster},
                                  {"cluster.ranks=4"});
    EXPECT_EQ(jobs.jobs[0].run_times.front(), run_experiment(alone, {}).execution.total);
    EXPECT_EQ(jobs.jobs[0].fingerprint, jobs.jobs[2].fingerprint);
    EXPECT_EQ(jobs.jobs[1].start, Time(1'000'000'000));
    EXPECT_EQ(jobs.fairness(), 1.0);
    // A queue needs to know how many hosts there are: with 8 b waits for a or c.
    const JobsRun queued = run({.jobs = "{queue: true, hosts: 8, list: [" + job("a", kSmallDlrm) + ", " +
                                        job("b", kRing, "ranks: 6") + "]}",
                                .network = topoopt,
                                .cluster = cluster});
    ASSERT_EQ(queued.jobs.size(), 2U);
    EXPECT_EQ(queued.jobs[1].start, queued.jobs[0].end);
}

TEST_F(JobsTest, RotorsCarrySeveralJobs) {
    const std::string opera =
        "{kind: opera, racks: 8, hosts_per_rack: 1, uplinks: 4, link: {rate: 100Gbps, latency: 500ns}}";
    const JobsRun jobs =
        run({.jobs = "{slowdown: true, list: [" + job("a", kSmallDlrm, "ranks: 4") + ", " +
                     job("b", kSmallDlrm, "ranks: 4, start: 137us") + "]}",
             .network = opera,
             .cluster = "{device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}}"});
    ASSERT_EQ(jobs.jobs.size(), 2U);
    for (const JobResult& one : jobs.jobs) {
        EXPECT_GE(one.slowdown().value(), 1.0 - 1e-9);
    }
    EXPECT_TRUE(jobs.pairs.empty()) << "links of rotors are shared slot by slot, which no route shows";
}

TEST_F(JobsTest, PriorityIsOfTheJobsMessages) {
    const std::string list =
        job("a", kRing, "hosts: [0, 1, 4, 5]") + ", " + job("b", kRing, "hosts: [2, 3, 6, 7], priority: 3");
    const JobsRun jobs = run({.jobs = "{slowdown: true, list: [" + list + "]}",
                              .network = kTwoLeaves,
                              .backend = "packet, traffic_classes: 4"});
    ASSERT_EQ(jobs.jobs.size(), 2U);
    // b's packets go first wherever they wait, so a is slowed down more.
    EXPECT_LT(jobs.jobs[1].slowdown().value(), jobs.jobs[0].slowdown().value());
    EXPECT_NE(refusal({.jobs = "[" + job("a", kRing, "ranks: 4, priority: 3") + "]"}).find("no effect"),
              std::string::npos);
}

TEST_F(JobsTest, ManyKeysOfAClusterMergeInLinearTime) {
    const auto keys = [](const std::string& name) {
        std::string text;
        for (int i = 0; i < 40'000; ++i) {
            text += ", " + name + std::to_string(i) + ": 1";
        }
        return text;
    };
    const std::string own = "ranks: 4, cluster: {x: 1" + keys("x") + "}";
    const std::clock_t start = std::clock();
    const std::string refused =
        refusal({.jobs = "[" + job("a", kRing, own) + "]", .cluster = "{y: 1" + keys("y") + "}"});
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_NE(refused.find("'y39' is not a key of cluster"), std::string::npos) << refused;
    EXPECT_NE(refused.find("more, which are not shown"), std::string::npos) << refused;
    EXPECT_LT(taken, 8.0) << "a search for each through all takes 2.4e9 comparisons";
}

TEST_F(JobsTest, PercentilesAreByNearestRank) {
    std::vector<Time> times;
    for (int i = 1; i <= 200; ++i) {
        times.emplace_back(i);
    }
    EXPECT_EQ(percentile(times, 0.5), Time(100));
    EXPECT_EQ(percentile(times, 0.99), Time(198));
    EXPECT_EQ(percentile(times, 1), Time(200));
    EXPECT_EQ(percentile({Time(7)}, 0.99), Time(7));
}

TEST_F(JobsTest, SummaryHasTheKeysOfOneJobAndThoseOfAll) {
    const Experiment experiment =
        load({.jobs = "{slowdown: true, list: [" + job("a", kRing, "hosts: [0, 1, 4, 5]") + ", " +
                      job("b", kRing, "hosts: [2, 3, 6, 7]") + "]}",
              .network = kTwoLeaves});
    const nlohmann::ordered_json summary = jobs_summary_json(experiment, run_jobs(experiment, {}));
    EXPECT_EQ(summary["ranks"], 8);
    EXPECT_EQ(summary["hosts"], 8);
    EXPECT_DOUBLE_EQ(summary["mean_iteration_time_s"].get<double>(), 1.92e-3);
    EXPECT_DOUBLE_EQ(summary["makespan_s"].get<double>(), 1.92e-3);
    EXPECT_DOUBLE_EQ(summary["max_slowdown"].get<double>(), 2.0);
    EXPECT_EQ(summary["jobs"][1]["name"], "b");
    EXPECT_EQ(summary["jobs"][1]["hosts"], (std::vector<int>{2, 3, 6, 7}));
    // Of every rank: 6 steps of 2 MB.
    EXPECT_EQ(summary["traffic_bytes"]["all_reduce"], 2 * 4 * 6 * 2'000'000);
    EXPECT_GT(predict(experiment).events, 0);
}

TEST_F(JobsTest, RefusalsNameWhatIsWrong) {
    const auto expect = [this](const File& file, const std::string& text) {
        const std::string found = refusal(file);
        EXPECT_NE(found.find(text), std::string::npos) << text << " in\n" << found;
    };
    const std::string a = job("a", kRing);
    expect({.jobs = "[" + a + ", " + job("b", kRing, "hosts: [0, 1, 2, 9]") + "]"},
           "rank 3 is placed on host 9, and the network has 8 hosts");
    expect({.jobs = "[" + job("a", kRing, "hosts: [0, 1]") + ", " + job("b", kRing, "hosts: [1, 2]") + "]"},
           "host 1 is given to rank 1 of job 'a' and to rank 0 of job 'b'");
    expect({.jobs = "[" + a + ", " + a + "]"}, "'a' is the name of another job");
    expect({.jobs = "[" + a + ", " + job("b", kRing, "ranks: 5") + "]"},
           "2 jobs have 9 ranks, and there are 8 hosts");
    expect({.jobs = "{queue: true, list: [" + job("a", kRing, "ranks: 9") + "]}"},
           "job 'a' has 9 ranks, and there are 8 hosts");
    expect({.jobs = "[{name: a, workload: " + std::string(kRing) + "}]"}, "neither ranks nor hosts");
    expect({.jobs = "[" + job("a", kRing, "ranks: 3, hosts: [0, 1]") + "]"},
           "2 hosts are listed for 3 ranks");
    expect({.jobs = "[" + job("a b", kRing) + "]"}, "'a b' is no name of a job");
    expect({.jobs = "{}"}, "names no jobs");
    expect({.jobs = "{count: 3, list: [" + a + "]}"}, "is of jobs that are drawn");
    expect({.jobs = "{mix: [" + a + "]}"}, "needs one of 'count' and 'load'");
    expect({.jobs = "{backfill: true, list: [" + a + "]}"}, "it goes with queue: true");
    expect({.jobs = "{queue: true, until_all_finished_once: true, list: [" + a + "]}"},
           "'queue' gives them in turn");
    expect({.jobs = "{hosts: 4, list: [" + a + "]}"}, "the network has 8 hosts, whoever uses them");
    expect({.jobs = "{load: 0.1, mix: [" + a + "]}"}, "no job is drawn");
    expect({.jobs = "[" + a + "]", .more = "workload: " + std::string(kRing) + "\n"},
           "each job has one of its own");
    expect({.jobs = "[" + a + "]", .more = "failures: {}\n"}, "what fails is asked of one job at a time");
    expect({.jobs = "[" + a + "]", .cluster = "{ranks: 4}"}, "'ranks' of several jobs is in 'jobs'");
    expect({.jobs = "[" + job("a", kRing, "ranks: 4, cluster: {placement: random}") + "]"},
           "'placement' of several jobs is in 'jobs'");
    expect({.jobs =
                "[" +
                job("a", "{kind: flows, pattern: uniform, sizes: {fixed: 100KB}, load: 0.3, duration: 1ms}") +
                "]"},
           "flows are no job");
    expect({.jobs = "[" + job("a", "{kind: nonsense}") + "]"}, "'nonsense' is not a kind of workload");
    expect({.jobs = "{queue: true, list: [" + a + "]}",
            .network = "{kind: topoopt, degree: 2, link: {rate: 100Gbps, latency: 500ns}}"},
           "give 'hosts'");
    expect({.jobs = "{placement: spread, list: [" + a + "]}",
            .network = "{kind: topoopt, degree: 2, link: {rate: 100Gbps, latency: 500ns}}"},
           "built around the ranks");
}

}  // namespace
}  // namespace astrolabe::experiment
