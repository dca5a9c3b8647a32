// The section `failures` of an experiment: what it makes of names and numbers, and what runs make of it.
#include "small_experiment.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/failures/failure_timeline.hpp>

namespace astrolabe::experiment {
namespace {

using testing::load_small;

class FailuresTest : public ::testing::Test {
protected:
    Result<Experiment> load(const std::string& failures, const std::vector<std::string>& more = {}) {
        std::vector<std::string> overrides{"failures=" + failures};
        overrides.insert(overrides.end(), more.begin(), more.end());
        return load_small(components_, overrides);
    }
    /// The message of the first error.
    std::string error_of(const std::string& failures, const std::vector<std::string>& more = {}) {
        const Result<Experiment> loaded = load(failures, more);
        return loaded ? "" : render(loaded.error());
    }
    experiment::Run run(const std::string& failures, const std::vector<std::string>& more = {}) {
        const Result<Experiment> loaded = load(failures, more);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return run_experiment(*loaded, {});
    }
    Components components_ = builtin_components();
};

TEST_F(FailuresTest, NamesFitCablesClassesDirectionsAndNodes) {
    const auto links = [&](const std::string& event) {
        const Result<Experiment> loaded = load("{events: [" + event + "]}");
        EXPECT_TRUE(loaded) << render(loaded.error());
        return loaded->fabric->failures()->rate_changes().size();
    };
    EXPECT_EQ(links("{link: host 1 - switch}"), 2U);
    EXPECT_EQ(links("{link: switch - host 1}"), 2U);
    EXPECT_EQ(links("{link: host 1 to switch}"), 1U);
    EXPECT_EQ(links("{link: host-switch}"), 8U);
    EXPECT_EQ(links("{link: host-switch, number: 2}"), 2U);
    EXPECT_EQ(links("{link: 'host [01] - *', at: 1us, until: 2us}"), 8U);  // down and up again
    EXPECT_EQ(links("{switch: switch}"), 8U);
    EXPECT_EQ(links("{host: 'host *', number: 3}"), 2U);
}

TEST_F(FailuresTest, WhatFitsNothingIsRefusedAtItsKey) {
    EXPECT_NE(error_of("{events: [{link: hots 1 - switch}]}").find("fits nothing"), std::string::npos);
    EXPECT_NE(error_of("{events: [{link: host-switch, number: 4}]}").find("expected 0 to 3"),
              std::string::npos);
    EXPECT_NE(error_of("{events: [{rank: 4, speed: 0.5}]}").find("expected 0 to 3"), std::string::npos);
    EXPECT_NE(error_of("{events: [{rank: 1}]}").find("needs 'speed'"), std::string::npos);
    EXPECT_NE(error_of("{events: [{rank: 1, speed: 0}]}").find("for ever"), std::string::npos);
    EXPECT_NE(error_of("{events: [{at: 1us}]}").find("names 0 parts"), std::string::npos);
    EXPECT_NE(error_of("{events: [{link: a, host: b}]}").find("names 2 parts"), std::string::npos);
    EXPECT_NE(error_of("{events: [{host: host 1, at: 2us, until: 2us}]}").find("later than 'at'"),
              std::string::npos);
    EXPECT_NE(error_of("{events: [{link: host-switch, rate: 1}]}").find("expected"), std::string::npos);
    EXPECT_NE(error_of("{evnets: []}").find("events"), std::string::npos);
    EXPECT_NE(error_of("{random: [{links: host-switch}]}").find("mean_time_between"), std::string::npos);
    EXPECT_NE(error_of("{random: [{links: host-switch, number: 5}]}").find("fits 4"), std::string::npos);
    EXPECT_NE(error_of("{random: [{links: host-switch, mean_time_between: 1ns, mean_time_to_repair: 1ns, "
                       "until: 1s}]}")
                  .find("more than"),
              std::string::npos);
}

TEST_F(FailuresTest, OtherEnginesRefuseFailingLinksAndRunSlowRanks) {
    EXPECT_NE(error_of("{events: [{host: host 1, at: 1us}]}", {"backend.kind=congestion_free"})
                  .find("links cannot fail"),
              std::string::npos);
    EXPECT_TRUE(
        run("{events: [{rank: 1, speed: 0.5}]}", {"backend.kind=congestion_free"}).execution.finished);
}

TEST_F(FailuresTest, ASectionWithoutFailuresChangesNothing) {
    EXPECT_EQ(run("{}").fingerprint, run_experiment(*load_small(components_), {}).fingerprint);
}

TEST_F(FailuresTest, ASwitchThatIsDownAtTheStartDelaysTheRunByThatTime) {
    // Nothing arrives before it is up, whatever happens before on the ranks: no sooner than 10 ms.
    const experiment::Run with = run("{events: [{switch: switch, until: 10ms}]}");
    const experiment::Run without = run("{}");
    ASSERT_TRUE(with.execution.finished);
    EXPECT_GT(with.execution.total, 10_ms);
    EXPECT_LE(with.execution.total, 10_ms + without.execution.total);
    EXPECT_EQ(with.network.bytes_delivered, without.network.bytes_delivered);
}

TEST_F(FailuresTest, AHostThatIsCutIsNamed) {
    const experiment::Run cut = run("{events: [{host: host 2}]}");
    EXPECT_FALSE(cut.execution.finished);
    EXPECT_NE(cut.execution.stall.find("host 2"), std::string::npos) << cut.execution.stall;
    EXPECT_NE(cut.execution.stall.find("cut these pairs"), std::string::npos) << cut.execution.stall;
}

TEST_F(FailuresTest, AllRanksAtHalfSpeedComputeTwiceAsLong) {
    const experiment::Run whole = run("{}");
    const experiment::Run slow =
        run("{events: [{rank: 0, speed: 0.5}, {rank: 1, speed: 0.5}, {rank: 2, speed: 0.5}, "
            "{rank: 3, speed: 0.5}]}");
    for (std::size_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(slow.execution.ranks[rank].compute, 2 * whole.execution.ranks[rank].compute);
    }
    EXPECT_NE(slow.engine.folding_refusal.find("different speeds"), std::string::npos);
}

TEST_F(FailuresTest, RandomFailuresRepeatWithTheSeedAndDifferWithout) {
    const std::string random =
        "{detection: 1us, random: [{links: host-switch, mean_time_between: 50us, mean_time_to_repair: 5us, "
        "until: 100ms}]}";
    const experiment::Run first = run(random);
    ASSERT_TRUE(first.execution.finished);
    EXPECT_EQ(first.fingerprint, run(random).fingerprint);
    EXPECT_NE(first.fingerprint, run(random, {"seed=2"}).fingerprint);
}

TEST_F(FailuresTest, TheResolvedExperimentGivesTheSameRun) {
    const Result<Experiment> loaded = load(
        "{detection: 1us, events: [{host: host 1, at: 20us, until: 40us}, {rank: 3, speed: 0.25}], "
        "random: [{links: host-switch, number: 1, rate: 0.5}]}");
    ASSERT_TRUE(loaded) << render(loaded.error());
    const Result<Experiment> again =
        read_experiment(loaded->resolved, {}, "small", std::nullopt, components_);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(run_experiment(*loaded, {}).fingerprint, run_experiment(*again, {}).fingerprint);
}

}  // namespace
}  // namespace astrolabe::experiment
