/// What-ifs: the changes that suggest themselves, and the arithmetic of their table.
#include "small_experiment.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/study/what_if/what_if.hpp>

namespace astrolabe::study {
namespace {

using testing::load_small;

class WhatIfTest : public ::testing::Test {
protected:
    std::vector<Change> changes(const std::vector<std::string>& overrides) {
        const Result<experiment::Experiment> loaded = load_small(components_, overrides);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return loaded ? possible_changes(*loaded, components_) : std::vector<Change>{};
    }
    static std::optional<Change> named(const std::vector<Change>& all, const std::string& name) {
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const Change& change) { return change.name == name; });
        return found == all.end() ? std::nullopt : std::optional(*found);
    }
    static std::vector<std::string> names_of(const std::vector<Change>& all, const std::string& group) {
        std::vector<std::string> names;
        for (const Change& change : all) {
            if (change.group == group) {
                names.push_back(change.name);
            }
        }
        return names;
    }
    experiment::Components components_ = experiment::builtin_components();
};

using Names = std::vector<std::string>;

TEST_F(WhatIfTest, ResourcesAreThoseThatTheExperimentHas) {
    const std::vector<Change> all =
        changes({"network={kind: leaf_spine, hosts: 4, hosts_per_leaf: 2, spines: 2}"});
    EXPECT_EQ(names_of(all, "links"),
              (Names{"host-leaf links x2", "host-leaf links x1/2", "host-leaf links unlimited",
                     "spine-leaf links x2", "spine-leaf links x1/2", "spine-leaf links unlimited"}));
    EXPECT_EQ(names_of(all, "latency"), Names{"latency 0"});
    EXPECT_EQ(names_of(all, "compute"), (Names{"compute x2", "compute unlimited"}));
    EXPECT_EQ(names_of(all, "reconfiguration"), Names{});
    EXPECT_EQ(names_of(all, "end_points"), Names{});
    EXPECT_EQ(names_of(all, "cables"),
              (Names{"uplinks 2 instead of 1", "spines 3 instead of 2", "spines 1 instead of 2"}));
    EXPECT_EQ(names_of(all, "batch"), (Names{"batch 128 instead of 64", "batch 32 instead of 64"}));
    EXPECT_EQ(names_of(all, "tables"), (Names{"tables 8 instead of 4", "tables 2 instead of 4"}));
    EXPECT_EQ(named(all, "host-leaf links x1/2")->overrides, Names{"scaled.links.host-leaf=0.5"});
    EXPECT_EQ(named(all, "host-leaf links x1/2")->factor, 0.5);
    EXPECT_TRUE(named(all, "host-leaf links unlimited")->is_unlimited);
    EXPECT_EQ(named(all, "batch 32 instead of 64")->samples, 0.5);
    EXPECT_EQ(names_of(changes({"workload={kind: collective, collective: all_reduce, size: 4MB}"}), "batch"),
              Names{});
    EXPECT_EQ(names_of(changes({"cluster.injection_latency=1us"}), "end_points"),
              (Names{"end points x2", "end points unlimited"}));
}

TEST_F(WhatIfTest, EveryGroupIsNamed) {
    std::set<std::string> groups;
    for (const std::string& override_text :
         {std::string("network={kind: opera, racks: 4, uplinks: 4, hosts_per_rack: 1}"),
          std::string("cluster.injection_latency=1us"),
          std::string("cluster.collectives.all_to_all={algorithm: windowed_direct, window: 2}")}) {
        for (const Change& change : changes({override_text})) {
            groups.insert(change.group);
        }
    }
    const std::vector<std::string>& known = change_groups();
    EXPECT_EQ(groups, std::set<std::string>(known.begin(), known.end()));
}

TEST_F(WhatIfTest, FactorsMultiplyThoseOfTheFile) {
    const std::vector<Change> all = changes({"scaled={links: {host-switch: 3}, compute: 0.5}"});
    EXPECT_EQ(named(all, "host-switch links x2")->overrides, Names{"scaled.links.host-switch=6"});
    EXPECT_EQ(named(all, "compute x2")->overrides, Names{"scaled.compute=1"});
    EXPECT_EQ(named(all, "compute unlimited")->overrides, Names{"scaled.compute=inf"});
}

TEST_F(WhatIfTest, RotorsAreScaledAsAWhole) {
    const std::vector<Change> all =
        changes({"network={kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 1}"});
    EXPECT_EQ(names_of(all, "links"), (Names{"all links x2", "all links x1/2", "all links unlimited"}));
    EXPECT_EQ(named(all, "all links x2")->overrides,
              (Names{"scaled.links.host-rack=2", "scaled.links.rack-rack=2"}));
    EXPECT_EQ(named(all, "reconfiguration x1/10")->overrides, Names{"scaled.reconfiguration=0.1"});
    // Uplinks divide the 8 racks, so 8 is next.
    EXPECT_EQ(names_of(all, "cables").front(), "uplinks 8 instead of 4");
}

TEST_F(WhatIfTest, AlgorithmsAreTheOthersThatDoTheCollective) {
    const std::vector<Change> all =
        changes({"cluster.ranks=3", "workload.batch.global=63", "workload.model.tables.count=3"});
    EXPECT_EQ(named(all, "all_reduce ring"), std::nullopt) << "that is what it has";
    EXPECT_EQ(named(all, "all_reduce direct")->overrides,
              Names{"cluster.collectives.all_reduce.algorithm=direct"});
    EXPECT_EQ(named(all, "all_reduce direct")->unsupported, "");
    EXPECT_EQ(named(all, "all_to_all bruck")->unsupported, "");
    EXPECT_EQ(named(all, "all_reduce bruck"), std::nullopt) << "which is no all-reduce";
    EXPECT_NE(named(all, "all_reduce rotor_ring")->unsupported.find("no circuits"), std::string::npos);
    EXPECT_EQ(named(all, "all_gather direct"), std::nullopt) << "there is none in the program";
}

TEST_F(WhatIfTest, SavingsAndElasticitiesAreThoseOfTheirFormulas) {
    WhatIf result;
    result.seconds = 10e-3;
    ChangedRun run;
    run.exit_code = 0;
    run.seconds = 5.5e-3;
    run.change.factor = 2;
    EXPECT_DOUBLE_EQ(result.saved(run), 0.45);
    EXPECT_DOUBLE_EQ(*result.elasticity(run), std::log(0.55) / std::log(2.0));
    // 900 dollars for 45 %.
    run.extra_dollars = 900;
    EXPECT_DOUBLE_EQ(*result.dollars_per_percent(run), 20);
    run.extra_dollars = -100;
    EXPECT_EQ(result.dollars_per_percent(run), std::nullopt);
    // All that counts: a resource times 1/2 doubles the time.
    run.change.factor = 0.5;
    run.seconds = 20e-3;
    EXPECT_DOUBLE_EQ(result.saved(run), -1);
    EXPECT_DOUBLE_EQ(*result.elasticity(run), -1);
    // Circuits dark for a tenth: 1 % less of the dark time is 0.5 % less time.
    run.change.factor = 0.1;
    run.seconds = 10e-3 / std::sqrt(10.0);
    EXPECT_DOUBLE_EQ(*result.elasticity(run), 0.5);
    run.change.factor = 0;
    EXPECT_EQ(result.elasticity(run), std::nullopt);
    // Twice the samples in 1.5 times the time: a quarter less for each.
    run.change.samples = 2;
    run.seconds = 15e-3;
    EXPECT_DOUBLE_EQ(result.saved(run), 0.25);
}

}  // namespace
}  // namespace astrolabe::study
