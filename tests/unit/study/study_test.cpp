/// Studies, from the file to the points: study.hpp.
#include "process.hpp"
#include "small_experiment.hpp"
#include "study/src/file/alternatives.hpp"

#include <algorithm>
#include <ctime>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/study/file/study.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

class StudyTest : public ::testing::Test {
protected:
    StudyTest() { folder_.write("small.yaml", testing::kSmallExperiment); }

    [[nodiscard]] Result<Study> load(const std::string& rest, std::vector<std::string> overrides = {}) const {
        const auto file = folder_.write("study.yaml", "schema: astrolabe/1\nbase: small.yaml\n" + rest);
        return load_study(file, overrides);
    }
    /// Values of one parameter, point by point.
    [[nodiscard]] std::vector<Json> values(const std::string& rest, const std::string& parameter) const {
        const Result<Study> study = load(rest);
        EXPECT_TRUE(study) << render(study.error());
        std::vector<Json> found;
        for (const StudyPoint& point : study ? study->points : std::vector<StudyPoint>{}) {
            found.push_back(point.parameters.value(parameter, Json()));
        }
        return found;
    }
    /// All errors of a study as a user reads them.
    [[nodiscard]] std::string errors(const std::string& rest) const {
        const Result<Study> study = load(rest);
        EXPECT_FALSE(study);
        return study ? "" : render(study.error());
    }
    [[nodiscard]] std::string text_at(const Study& study, std::size_t number, const char* path) const {
        const ConfigNode tree = tree_of(study, study.points.at(number - 1));
        const ConfigNode* node = tree.find_path(path);
        return node == nullptr ? "nothing" : node->text;
    }

    testing::TemporaryFolder folder_;
    experiment::Components components_ = experiment::builtin_components();
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(StudyTest, VaryMakesEveryCombinationTheLastFastest) {
    const Result<Study> study =
        load("vary:\n  workload.batch.global: [64, 128]\n  cluster.scheduling: [fifo, lifo]\n");
    ASSERT_TRUE(study) << render(study.error());
    ASSERT_EQ(study->points.size(), 4u);  // 2 · 2
    EXPECT_EQ(study->name, "study");
    EXPECT_EQ(study->points[1].number, 2u);
    EXPECT_EQ(parameter_text(study->points[1].parameters),
              "workload.batch.global=64, cluster.scheduling=lifo");
    EXPECT_EQ(parameter_text(study->points[2].parameters),
              "workload.batch.global=128, cluster.scheduling=fifo");
    EXPECT_EQ(text_at(*study, 3, "workload.batch.global"), "128");
    EXPECT_EQ(text_at(*study, 3, "cluster.ranks"), "4");
    const Result<experiment::Experiment> experiment = experiment_of(*study, study->points[1], components_);
    ASSERT_TRUE(experiment) << render(experiment.error());
    EXPECT_EQ(experiment->name, "study");
    EXPECT_EQ(experiment->cluster.ranks, 4u);
}

TEST_F(StudyTest, AStudyThatVariesNothingIsItsBase) {
    const Result<Study> study = load("name: one\n");
    ASSERT_TRUE(study) << render(study.error());
    ASSERT_EQ(study->points.size(), 1u);
    EXPECT_EQ(study->name, "one");
    EXPECT_TRUE(study->points[0].parameters.empty());
}

TEST_F(StudyTest, RangesGoByFactorStepAndNumber) {
    const auto range = [this](const std::string& text) {
        std::vector<std::string> found;
        for (const Json& value :
             values("vary:\n  workload.batch.global: " + text + "\n", "workload.batch.global")) {
            found.push_back(value.is_string() ? value.get<std::string>() : value.dump());
        }
        return found;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(range("{from: 64, to: 512, factor: 2}"), (Texts{"64", "128", "256", "512"}));
    EXPECT_EQ(range("{from: 64, to: 500, factor: 2}"), (Texts{"64", "128", "256"}));
    EXPECT_EQ(range("{from: 1, to: 9, step: 4}"), (Texts{"1", "5", "9"}));
    EXPECT_EQ(range("{from: 1, to: 4, steps: 3}"), (Texts{"1", "3", "4"}));  // 2.5 rounds away from zero
    EXPECT_EQ(range("{from: 0.5, to: 2.5, steps: 3}"), (Texts{"0.5", "1.5", "2.5"}));
    EXPECT_EQ(range("{from: 1, to: 10000, steps: 5, scale: log}"),
              (Texts{"1", "10", "100", "1000", "10000"}));
    // 100 · 8^(1/3) = 200
    EXPECT_EQ(range("{from: 100Gbps, to: 800Gbps, steps: 4, scale: log}"),
              (Texts{"100Gbps", "200Gbps", "400Gbps", "800Gbps"}));
    EXPECT_EQ(range("{from: 0.1, to: 0.3, step: 0.1}"), (Texts{"0.1", "0.2", "0.3"}));
    EXPECT_EQ(range("{from: -2, to: -1, step: 1}"), (Texts{"-2", "-1"}));
}

TEST_F(StudyTest, SectionsHaveNamesAndComeBeforeWhatIsInThem) {
    folder_.write("ring.yaml", "kind: ring\nhosts: 4\n");
    const Result<Study> study = load(
        "vary:\n  network.link.latency: [1us, 2us]\n"
        "  network: {one: ring.yaml, two: {kind: flat, hosts: 8}}\n");
    ASSERT_TRUE(study) << render(study.error());
    ASSERT_EQ(study->points.size(), 4u);
    EXPECT_EQ(study->points[0].parameters["network"], "one");
    EXPECT_EQ(text_at(*study, 1, "network.kind"), "ring");
    EXPECT_EQ(text_at(*study, 1, "network.link.latency"), "1us");
    EXPECT_EQ(text_at(*study, 4, "network.hosts"), "8");
    EXPECT_EQ(text_at(*study, 4, "network.link.latency"), "2us");
    EXPECT_EQ(text_at(*study, 4, "network.link.rate"), "nothing");  // the section was replaced
    for (const StudyPoint& point : study->points) {
        const Result<experiment::Experiment> experiment = experiment_of(*study, point, components_);
        EXPECT_TRUE(experiment) << render(experiment.error());
    }
}

TEST_F(StudyTest, AnotherKindDropsKeysOfTheFormerOne) {
    const Result<Study> study = load("vary:\n  network.kind: [flat, ring]\n");
    ASSERT_TRUE(study) << render(study.error());
    for (const StudyPoint& point : study->points) {
        const Result<experiment::Experiment> experiment = experiment_of(*study, point, components_);
        EXPECT_TRUE(experiment) << render(experiment.error());
    }
}

// Systems that share a part: which of them it is the other paths of the group say.
TEST_F(StudyTest, AValueOfZipMayBeThereAgainBesideOtherOnes) {
    const Result<Study> study = load(
        "zip:\n  cluster.ranks: [2, 2, 4]\n"
        "  network: {a: {kind: ring, hosts: 2}, b: {kind: flat, hosts: 2}, c: {kind: flat, hosts: 4}}\n");
    ASSERT_TRUE(study) << render(study.error());
    ASSERT_EQ(study->points.size(), 3u);
    EXPECT_EQ(text_at(*study, 1, "network.kind"), "ring");
    EXPECT_EQ(text_at(*study, 2, "network.kind"), "flat");
    EXPECT_EQ(text_at(*study, 2, "cluster.ranks"), "2");
    EXPECT_SAYS(errors("zip: {cluster.ranks: [2, 2], network.hosts: [4, 4]}\n"),
                "two points are the same experiment");
}

TEST_F(StudyTest, ZipGoesSideBySideAndGroupsInEveryCombination) {
    const Result<Study> study = load(
        "zip:\n  - {cluster.ranks: [2, 4], network.hosts: [2, 4]}\n"
        "  - {workload.batch.global: [64, 128, 256]}\n");
    ASSERT_TRUE(study) << render(study.error());
    ASSERT_EQ(study->points.size(), 6u);  // 2 · 3
    for (const StudyPoint& point : study->points) {
        EXPECT_EQ(point.parameters["cluster.ranks"], point.parameters["network.hosts"]);
    }
    EXPECT_EQ(values("zip: {cluster.ranks: [2, 4], network.hosts: [2, 4]}\n", "cluster.ranks").size(), 2u);
}

TEST_F(StudyTest, RepeatsWithSeedsFromTheBasesOnOrGivenOnes) {
    EXPECT_EQ(values("repeat: 3\n", "seed"), (std::vector<Json>{1, 2, 3}));
    EXPECT_EQ(values("repeat: [7, 5]\n", "seed"), (std::vector<Json>{7, 5}));
    folder_.write("small.yaml", std::string("seed: 40\n") + testing::kSmallExperiment);
    EXPECT_EQ(values("repeat: 2\n", "seed"), (std::vector<Json>{40, 41}));
    const Result<Study> study = load("repeat: 2\n");
    EXPECT_EQ(experiment_of(*study, study->points[1], components_)->seed, 41u);
}

TEST_F(StudyTest, DerivedValuesAreSetAtPathsAndToldByName) {
    const Result<Study> study = load(
        "vary: {cluster.ranks: [2, 4]}\n"
        "derived:\n"
        "  workload.batch.global: 32 * cluster.ranks\n"
        "  batch_per_link: workload.batch.global / (cluster.ranks - 1)\n"
        "  network.link.rate: 2 * 100Gbps - network.link.rate / 4\n"
        "  faster: network.link.rate / 100Gbps\n"
        "  rest: max(floor(batch_per_link), -1, 3) + ceil(0.2) - round(1.6)\n");
    ASSERT_TRUE(study) << render(study.error());
    EXPECT_EQ(text_at(*study, 2, "workload.batch.global"), "128");  // 32 · 4
    EXPECT_EQ(study->points[1].parameters["workload.batch.global"], 128);
    EXPECT_EQ(study->points[0].parameters["batch_per_link"], 64);                    // 64 / 1
    EXPECT_DOUBLE_EQ(study->points[1].parameters["batch_per_link"], 42.6666666667);  // 128 / 3, 12 digits
    EXPECT_EQ(text_at(*study, 1, "network.link.rate"), "175Gbps");                   // 200 - 100/4
    EXPECT_EQ(study->points[0].parameters["faster"], 1.75);
    EXPECT_EQ(study->points[1].parameters["rest"], 41);  // 42 + 1 - 2
    EXPECT_EQ(tree_of(*study, study->points[0]).find("batch_per_link"), nullptr);
}

TEST_F(StudyTest, WhenKeepsPoints) {
    const std::string vary = "vary: {cluster.ranks: [1, 2, 4], cluster.scheduling: [fifo, lifo]}\n";
    const auto kept = [&](const std::string& condition) {
        const Result<Study> study =
            load(vary + "derived: {share: 4 / cluster.ranks}\nwhen: " + condition + "\n");
        EXPECT_TRUE(study) << render(study.error());
        return study ? study->points.size() : 0;
    };
    EXPECT_EQ(kept("{cluster.ranks: 2}"), 2u);
    EXPECT_EQ(kept("{cluster.ranks: [2, 4.0], cluster.scheduling: fifo}"), 2u);
    EXPECT_EQ(kept("{cluster.ranks: {not: 2}}"), 4u);
    EXPECT_EQ(kept("{cluster.ranks: {above: 1, at_most: 4}}"), 4u);
    EXPECT_EQ(kept("{share: {at_least: 2, below: 4}}"), 2u);  // 4/2
    EXPECT_EQ(kept("{network.link.rate: 100Gbps, network.link.latency: {below: 501ns}}"), 6u);
    EXPECT_EQ(kept("[{cluster.ranks: 1}, {cluster.scheduling: lifo}]"), 4u);  // 2 + 3 - 1
}

TEST_F(StudyTest, OverridesChangeThePointsTheyMeet) {
    const Result<Study> study = load(
        "vary: {cluster.ranks: [2, 4], cluster.scheduling: [fifo, lifo]}\n"
        "overrides:\n"
        "  - {when: {cluster.ranks: 2}, set: {workload.batch.global: 32, cluster.active_chunks: 2}}\n"
        "  - {when: {cluster.ranks: 2, cluster.scheduling: lifo}, set: {workload.batch.global: 16}}\n");
    ASSERT_TRUE(study) << render(study.error());
    EXPECT_EQ(text_at(*study, 1, "workload.batch.global"), "32");
    EXPECT_EQ(text_at(*study, 2, "workload.batch.global"), "16");  // the last one wins
    EXPECT_EQ(text_at(*study, 2, "cluster.active_chunks"), "2");
    EXPECT_EQ(text_at(*study, 3, "workload.batch.global"), "64");
}

TEST_F(StudyTest, AnOverrideOfAParameterIsTold) {
    const Result<Study> study = load(
        "vary: {cluster.ranks: [2, 4]}\n"
        "overrides: [{when: {cluster.ranks: 4}, set: {cluster.ranks: 3}}]\n");
    ASSERT_TRUE(study) << render(study.error());
    EXPECT_EQ(study->points[1].parameters["cluster.ranks"], 3);
    EXPECT_EQ(text_at(*study, 2, "cluster.ranks"), "3");
}

TEST_F(StudyTest, OverridesOfTheCommandLineAreOfTheStudy) {
    const Result<Study> study =
        load("repeat: 2\nreport: [breakdown, pareto]\n", {"repeat=3", "base.cluster.ranks=2"});
    ASSERT_TRUE(study) << render(study.error());
    EXPECT_EQ(study->points.size(), 3u);
    EXPECT_EQ(text_at(*study, 1, "cluster.ranks"), "2");
    EXPECT_EQ(study->report, (std::vector<std::string>{"breakdown", "pareto"}));
}

TEST_F(StudyTest, ErrorsOfAPointNameThePoint) {
    const Result<Study> study = load("vary:\n  cluster.ranks: [4, 8]\n");
    ASSERT_TRUE(study) << render(study.error());
    const Result<experiment::Experiment> eight = experiment_of(*study, study->points[1], components_);
    ASSERT_FALSE(eight);
    const std::string text = render(eight.error());
    EXPECT_SAYS(text,
                "study.yaml:4:22: error[config.ranks]: cluster has 8 ranks but network provides 4 hosts");
    EXPECT_SAYS(text, "in point 2: cluster.ranks=8");
}

TEST_F(StudyTest, ErrorsAreSaidWithTheirPlace) {
    const auto says = [this](const std::string& rest, const std::string& part) {
        EXPECT_SAYS(errors(rest), part);
    };
    says("varry: {a: [1]}\n", "study.yaml:3:1: error[config.unknown-key]: 'varry' is not a key of study");
    says("vary: {cluster.ranks: []}\n", "study.yaml:3:23: error[config.type]: 'cluster.ranks' takes a list");
    says("vary: {cluster.ranks: 4}\n", "study.yaml:3:23: error[config.type]");
    says("vary: [1]\n", "study.yaml:3:7: error[config.type]: 'vary' takes a mapping, found a list");
    says("vary: {}\n", "'vary' is empty");
    says("vary: {cluster.ranks: [2, 2]}\n", "study.yaml:3:27: error[config.choice]: alternative 2");
    says("vary: {cluster.ranks.more: [2]}\n", "study.yaml:3:8: error[config.choice]: 'more' of");
    says("vary: {network: {one: nowhere.yaml}}\n", "study.yaml:3:23");
    says("vary: {cluster.ranks: {from: 1, to: 9}}\n", "a range takes one of 'steps', 'step' and 'factor'");
    says("vary: {cluster.ranks: {from: 1, to: 9, steps: 2, step: 2}}\n", "a range takes one of");
    says("vary: {cluster.ranks: {from: 9, to: 1, steps: 2}}\n", "'1' is not above '9'");
    says("vary: {cluster.ranks: {from: a, to: 1, steps: 2}}\n", "error[config.inconsistent]: 'from'");
    says("vary: {cluster.ranks: {from: 1us, to: 1ms, steps: 2}}\n", "do not have the same unit");
    says("vary: {cluster.ranks: {from: 0, to: 4, factor: 2}}\n", "'0' is not positive");
    says("vary: {cluster.ranks: {from: 1, to: 1e9, step: 1}}\n", "more than 100000 values");
    says("vary: {cluster.ranks: {from: 1, to: 9, step: 2, scale: log}}\n", "'scale' goes with 'steps' only");
    says("vary: {cluster.ranks: {from: 1, to: 9, factor: 1}}\n", "error[config.range]");
    says("vary: {cluster.ranks: [1, 2]}\nzip: {cluster.ranks: [1, 2]}\n", "'cluster.ranks' is varied twice");
    says("zip: {cluster.ranks: [1, 2], network.hosts: [1]}\n",
         "study.yaml:3:30: error[config.zip]: 'network.hosts' has 1 values, and 'cluster.ranks' beside it 2");
    says("zip: []\n", "'zip' is empty");
    says("repeat: 0\n", "study.yaml:3:9: error[config.range]");
    says("repeat: []\n", "'repeat' is empty");
    says("repeat: [1, 1]\n", "seed 1 is there twice");
    says("repeat: [-1]\n", "error[config.range]");
    says("vary: {seed: [1, 2]}\nrepeat: 2\n", "'seed' is varied twice");
    // 300^2 · 2 > 100,000
    says(
        "vary:\n  cluster.ranks: {from: 1, to: 300, step: 1}\n  network.hosts: {from: 1, to: 300, step: 1}\n"
        "  cluster.scheduling: [fifo, lifo]\n",
        "more than 100000 combinations");
    says("vary: {name: [a, b]}\n", "two points are the same experiment: name=a and name=b");
}

TEST_F(StudyTest, ErrorsOfConditionsAndExpressions) {
    const std::string vary = "vary: {cluster.ranks: [2, 4]}\n";
    const auto says = [&](const std::string& rest, const std::string& part) {
        EXPECT_SAYS(errors(vary + rest), part);
    };
    says("when: {cluster.ranks: 3}\n",
         "study.yaml:4:23: error[config.condition]: 'cluster.ranks' is never '3'");
    says("when: {cluster.rank: 2}\n",
         "study.yaml:4:8: error[config.condition]: 'cluster.rank' is neither a parameter");
    says("when: {cluster.rank: 2}\n", "did you mean 'cluster.ranks'?");
    says("when: {cluster: 2}\n", "'cluster' is a mapping, not one value");
    says("when: {cluster.ranks: {above: 4}}\n", "'when' keeps no point");
    says("when: {cluster.ranks: {over: 4}}\n", "error[config.unknown-key]");
    says("when: {cluster.ranks: {above: many}}\n", "'many' is not an amount");
    says("when: {cluster.ranks: {above: 1us}}\n", "cannot be compared with '1us'");
    says("when: {cluster.ranks: {}}\n", "nothing is asked of 'cluster.ranks'");
    says("when: []\n", "the list of conditions is empty");
    says("when: 4\n", "a condition is a mapping");
    says("overrides: [{when: {cluster.ranks: {above: 4}}, set: {cluster.scheduling: fifo}}]\n",
         "this override meets no point");
    says("overrides: [{when: {cluster.ranks: 2}, set: {cluster: {ranks: 2}}}]\n",
         "'cluster' would replace 'cluster.ranks', which is varied");
    says("overrides: [{set: {cluster.scheduling: fifo}}]\n", "'overrides' needs 'when'");
    says("overrides: [{when: {cluster.ranks: 2}, set: {}}]\n", "'set' is empty");
    says("derived: {x: cluster.ranks +}\n",
         "study.yaml:4:14: error[config.expression]: 'x': 'cluster.ranks +' ends");
    says("derived: {x: cluster.ranks / 0}\n", "the result is not a finite number");
    says("derived: {x: 1Gbps + 1Mbps}\n", "do not have the same unit");
    says("derived: {x: 1Gbps * 1us}\n", "has no unit that an experiment knows");
    says("derived: {x: cluster.ranks ^ 2}\n", "'^' is not expected at character 15");
    says("derived: {x: sqrt(4)}\n", "'sqrt' is not a function");
    says("derived: {x: \"floor(1, 2)\"}\n", "'floor' takes one value, not 2");
    says("derived: {x: (1}\n", "')' is missing");
    says("derived: {x: " + std::string(200, '(') + "}\n", "more than a hundred deep");
    says("derived: {x: nothing + 1}\n", "'nothing' is neither");
    says("derived: {x: cluster.device.kind + 1}\n",
         "'cluster.device.kind' is 'roofline', which is no amount");
    says("derived: {cluster.ranks: 2}\n", "'cluster.ranks' is derived, and 'cluster.ranks' is varied");
    says("derived: {network: 2}\n", "'network' is a part of every experiment");
    says("derived: {x: [1]}\n", "'x' takes an expression, found a list");
    says("derived: {workload.batch.global.x: 2}\n", "leads nowhere");
}

TEST_F(StudyTest, PathsAreNoDeeperThanFiles) {
    std::string deepest = "a";
    for (int i = 1; i < 100; ++i) {
        deepest += ".a";
    }
    const Result<Study> study = load("vary: {" + deepest + ": [1]}\n");
    ASSERT_TRUE(study) << render(study.error());
    const std::string refused = "error[config.limit]: a path of 101 steps, expected at most 100";
    EXPECT_SAYS(errors("vary: {a." + deepest + ": [1]}\n"), "study.yaml:3:8: " + refused);
    EXPECT_SAYS(errors("derived: {a." + deepest + ": 1}\n"), "study.yaml:3:11: " + refused);
    EXPECT_SAYS(errors("vary: {cluster.ranks: [2, 4]}\noverrides: [{when: {cluster.ranks: 2}, set: {a." +
                       deepest + ": 1}}]\n"),
                refused);
}

TEST_F(StudyTest, WhatAStudyVariesIsBounded) {
    std::string keys = "vary:\n";
    for (int i = 0; i < 1001; ++i) {
        keys += fmt::format("  x{}: [1]\n", i);
    }
    // 'vary' is line 3, and the 1001st key 1001 lines below it.
    EXPECT_SAYS(errors(keys), "study.yaml:1004:3: error[config.limit]: this is path 1001 that the study");
    std::string some = "repeat: 100000\nvary:\n";
    for (int i = 0; i < 50; ++i) {
        some += fmt::format("  x{}: [1]\n", i);
    }
    // 50 paths and the seed: 51 * 100,000 = 5,100,000
    EXPECT_SAYS(errors(some), "the study sets 51 paths in each of 100000 combinations, expected at most");
}

// Ranges were counted when all were expanded: 1,000 of 100,000 values, in a file of 45 KB, took 20 GB.
TEST(StudyRanges, TheirValuesCountAmongThoseOfTheStudy) {
    const Result<ConfigNode> root = parse_config(
        "a: {from: 1, to: 5, step: 1}\n"
        "b: {from: 1, to: 2, steps: 9}\n"
        "c: {from: 1, to: 9, step: 2}\n"
        "d: {from: 1, to: 9, step: 2}\n",
        "study.yaml");
    ASSERT_TRUE(root) << render(root.error());
    ReadContext context;
    context.usage().values = limits::kValues - 8;
    const auto count = [&](std::size_t entry) {
        const std::optional<Alternatives> read = read_alternatives(root->entries.at(entry), context);
        return read ? read->values.size() : 0;
    };
    EXPECT_EQ(count(0), 5u);
    EXPECT_EQ(count(1), 2u);  // rounded, nine numbers are 1 and 2
    EXPECT_EQ(context.error_count(), 0u);
    EXPECT_EQ(count(2), 0u);  // 8 - 5 - 2 = 1 may be there
    EXPECT_EQ(count(3), 0u);
    ASSERT_EQ(context.error_count(), 1u) << "the fourth is not expanded: " << render(context.errors());
    EXPECT_SAYS(render(context.errors()),
                "study.yaml:3:4: error[config.limit]: value 2 of this range is value 1000001 of the study, "
                "expected at most 1000000");
}

// Each point had a copy: of two models of 5,000 values, 10,000 times each, they took more than 10 GB.
TEST_F(StudyTest, PointsShareTheValuesThatTheySet) {
    folder_.write("ring.yaml", "kind: ring\nhosts: 4\n");
    const Result<Study> study = load(
        "vary:\n  network: {one: ring.yaml, two: {kind: flat, hosts: 4}}\n"
        "repeat: 2\n"
        "overrides: [{when: {network: two}, set: {backend: {kind: congestion_free}}}]\n");
    ASSERT_TRUE(study) << render(study.error());
    ASSERT_EQ(study->points.size(), 4u);  // 2 networks · 2 seeds
    const auto value = [&](std::size_t number, std::size_t setting) {
        return study->points.at(number - 1).settings.at(setting).second.get();
    };
    EXPECT_EQ(value(1, 0), value(2, 0));
    EXPECT_NE(value(1, 0), value(3, 0));
    EXPECT_EQ(value(3, 2), value(4, 2));  // after the network and the seed
    EXPECT_EQ(text_at(*study, 2, "network.kind"), "ring");
    EXPECT_EQ(text_at(*study, 4, "backend.kind"), "congestion_free");
}

// Parameters have the text of sections without names: 20,000 points of 30 KB were taken.
TEST_F(StudyTest, TextsThatParametersRepeatAreBounded) {
    const std::string text = errors("repeat: 10000\nvary:\n  x:\n    - " + std::string(30'000, 'a') +
                                    "\n    - " + std::string(30'000, 'b') + "\n");
    // 2 · 30,000 · 10,000 bytes; 256 MiB are 268,435,456.
    EXPECT_SAYS(text,
                "study.yaml:5:3: error[config.limit]: with 'x' the parameters of all points have a text of "
                "600000000 bytes, expected at most 268435456");
}

// Overrides were not counted: this study was taken.
TEST_F(StudyTest, WhatOverridesSetIsBounded) {
    std::string set;
    for (int i = 0; i < 20; ++i) {
        set += fmt::format("{}x{}: 1", i == 0 ? "" : ", ", i);
    }
    std::string text = "repeat: 1250\noverrides:\n";
    for (int i = 0; i < 200; ++i) {
        text += "  - {when: {seed: {at_least: 1}}, set: {" + set + "}}\n";
    }
    // A point sets its seed and 200 · 20 values. 1249 points set 4,997,249, and the seed of the next one
    // leaves 2,750: for 137 overrides. The first is in line 5, and the 138th in line 142.
    EXPECT_SAYS(errors(text),
                "study.yaml:142:5: error[config.limit]: with this override the study sets more than 5000000 "
                "values over all points");
}

TEST_F(StudyTest, ManyValuesThatAParameterNeverHasAreRefusedQuickly) {
    std::string text =
        "vary: {cluster.ranks: {from: 1, to: 3000, steps: 3000}}\nwhen: {cluster.ranks: [none0";
    for (int i = 1; i < 3000; ++i) {
        text += fmt::format(", none{}", i);
    }
    const std::clock_t start = std::clock();
    const Result<Study> study = load(text + "]}\n");
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    ASSERT_FALSE(study);
    ASSERT_EQ(study.error().size(), 3000u);
    EXPECT_EQ(study.error().front().message, "'cluster.ranks' is never 'none0'");
    EXPECT_TRUE(study.error()[49].hint.ends_with("'99' or '100' (and 2900 more)")) << study.error()[49].hint;
    EXPECT_EQ(study.error()[50].hint, "") << "it is not shown";
    EXPECT_LT(taken, 5.0) << "each compared with each reads 18 million amounts";
}

TEST_F(StudyTest, SeedsEndAtTheLargest) {
    // 2^63 - 1 is the largest.
    const Result<Study> last = load("repeat: 2\n", {"base.seed=9223372036854775806"});
    ASSERT_TRUE(last) << render(last.error());
    EXPECT_EQ(last->points[1].parameters["seed"], 9223372036854775807);
    const Result<Study> beyond = load("repeat: 2\n", {"base.seed=9223372036854775807"});
    ASSERT_FALSE(beyond);
    EXPECT_SAYS(render(beyond.error()),
                "study.yaml:3:9: error[config.range]: 2 seeds from 9223372036854775807 on end above");
}

TEST_F(StudyTest, ManySeedsAreReadInLinearTime) {
    std::string text = "repeat: [0";
    for (int i = 1; i < 200'000; ++i) {
        text += fmt::format(", {}", i);
    }
    const std::clock_t start = std::clock();
    EXPECT_SAYS(errors(text + "]\n"), "more than 100000 combinations");
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(taken, 8.0) << "a search of all before each takes 2e10 comparisons";
}

TEST_F(StudyTest, IsToldFromExperimentsAndSearches) {
    EXPECT_FALSE(is_study(folder_.path() / "small.yaml"));
    EXPECT_TRUE(is_study(folder_.write("a.yaml", "base: small.yaml\n")));
    EXPECT_FALSE(is_study(folder_.write("b.yaml", "base: small.yaml\noptimize: {}\n")));
    EXPECT_FALSE(is_study(folder_.path() / "nothing.yaml"));
}

}  // namespace
}  // namespace astrolabe::study
