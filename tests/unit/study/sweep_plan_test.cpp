/// Planning of studies (study/sweep/sweep.hpp): what neighbours share, and what a crash leaves alone.
#include "network/src/topologies/flat.hpp"
#include "process.hpp"
#include "small_experiment.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::study {
namespace {

class SweepPlanTest : public ::testing::Test {
protected:
    SweepPlanTest() { folder_.write("small.yaml", testing::kSmallExperiment); }

    /// On this network.
    [[nodiscard]] Study load(const std::string& network, const std::string& rest) const {
        const auto file = folder_.write("study.yaml", "schema: astrolabe/1\nbase: small.yaml\n" + rest);
        Result<Study> study = load_study(file, {"base.network=" + network});
        EXPECT_TRUE(study) << render(study.error());
        return *std::move(study);
    }
    [[nodiscard]] static StudyPlan plan(const Study& study, const experiment::Components& components,
                                        std::size_t jobs) {
        PlanOptions options;
        options.jobs = jobs;
        options.stop = [] { return false; };
        options.wants_cost = [](const StudyPoint&) { return false; };
        Result<StudyPlan> made = plan_study(study, components, nullptr, options);
        EXPECT_TRUE(made) << render(made.error());
        return *std::move(made);
    }
    [[nodiscard]] static std::vector<std::string> keys(const StudyPlan& plan) {
        std::vector<std::string> all;
        for (const Resolution& point : plan.points) {
            all.push_back(point.key);
        }
        return all;
    }

    testing::TemporaryFolder folder_;
};

TEST_F(SweepPlanTest, NeighboursShareTheNetworkOfTheirJob) {
    const Study study = load("{kind: topoopt, degree: 3}",
                             "vary:\n"
                             "  cluster.active_chunks: [1, 2, 4, 8, 16, 32, 64, 128]\n"
                             "  cluster.scheduling: [fifo, lifo]\n");
    ASSERT_EQ(study.points.size(), 16U);
    // 16 points are four batches of four for one worker, eight of two for two, and 16 of one for eight: each
    // batch builds the network once.
    const StudyPlan one = plan(study, experiment::builtin_components(), 1);
    EXPECT_EQ(one.networks_built, 4U);
    const StudyPlan two = plan(study, experiment::builtin_components(), 2);
    EXPECT_EQ(two.networks_built, 8U);
    const StudyPlan eight = plan(study, experiment::builtin_components(), 8);
    EXPECT_EQ(eight.networks_built, 16U);
    EXPECT_EQ(keys(one), keys(eight));
    EXPECT_EQ(keys(two), keys(eight));
}

struct Crashing {
    std::int64_t hosts = 4;
    bool crashes = false;
};

TEST_F(SweepPlanTest, ACrashConcernsNoneOfItsBatch) {
    experiment::Components components = experiment::builtin_components();
    Schema<Crashing> schema("crashing",
                            "a switch that ends the process which builds it, where it is told to");
    schema.optional("hosts", &Crashing::hosts, "hosts").optional("crashes", &Crashing::crashes, "whether");
    components.networks.add<Crashing>(schema, [](const Crashing& parameters) {
        return network::FabricMaker([parameters](std::uint64_t) -> std::shared_ptr<const network::Fabric> {
            if (parameters.crashes) {
                std::_Exit(7);
            }
            return network::build_flat({.hosts = parameters.hosts, .link = {}, .switch_buffer = {}});
        });
    });
    const Study study = load("{kind: crashing}",
                             "vary:\n"
                             "  network.hosts: [4, 5, 6, 7]\n"
                             "  network.crashes: [true, false]\n");
    ASSERT_EQ(study.points.size(), 8U);
    // Batches of two, of which the first ends its worker before the other is read.
    const StudyPlan made = plan(study, components, 1);
    ASSERT_EQ(made.crashes.size(), 4U);
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(made.crashes.count(i), i % 2 == 0 ? 1U : 0U) << i;
        EXPECT_EQ(made.points[i].key.rfind("unread ", 0) == 0, i % 2 == 0) << made.points[i].key;
    }
    EXPECT_EQ(made.crashes.at(2), "cannot be read: its process ended with code 7");
}

}  // namespace
}  // namespace astrolabe::study
