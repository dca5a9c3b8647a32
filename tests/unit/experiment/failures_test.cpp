// The section `failures` of an experiment: what it makes of names and numbers, and what runs make of it.
#include "small_experiment.hpp"
#include "timeline_fixture.hpp"

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/network_description.hpp>
#include <astrolabe/experiment/explain/randomness.hpp>
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

TEST_F(FailuresTest, EveryEntryCountsTowardsTheMostFailures) {
    // The switch has 4,096 cables, 8,192 links: 122 entries are 999,424 failures, 123 are 1,007,616.
    const std::vector<std::string> network{
        "network={kind: flat, hosts: 4096, link: {rate: 100Gbps, latency: 500ns}}"};
    const auto events = [](int count) {
        std::string list;
        for (int i = 0; i < count; ++i) {
            list += fmt::format("{}{{switch: switch, rate: 0.5}}", i == 0 ? "" : ", ");
        }
        return "events: [" + list + "]";
    };
    // The entries after the one that makes them too many are not looked at.
    for (const std::string& failures :
         {events(130), events(122) + ", random: [{switches: switch, number: 1}]",
          events(122) + ", random: [{switches: switch, mean_time_between: 1ms, "
                        "mean_time_to_repair: 1ms, until: 1s}]"}) {
        const Result<Experiment> refused = load("{" + failures + "}", network);
        ASSERT_FALSE(refused);
        ASSERT_EQ(refused.error().size(), 1U) << render(refused.error());
        EXPECT_NE(refused.error().front().message.find("makes more than 1000000 failures of links"),
                  std::string::npos)
            << render(refused.error());
    }
}

TEST_F(FailuresTest, OtherEnginesRefuseFailingLinksAndRunSlowRanks) {
    EXPECT_NE(error_of("{events: [{host: host 1, at: 1us}]}", {"backend.kind=congestion_free"})
                  .find("its links fail, and a formula"),
              std::string::npos);
    EXPECT_NE(error_of("{events: [{host: host 1, at: 1us}]}",
                       {"network={kind: topoopt, degree: 2, medium: circuit_switch, mode: paper, wiring: "
                        "separate_fibres, reconfiguration: {every: 1ms, delay: 10us}}"})
                  .find("moves them knows none that is down"),
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

#ifdef ASTROLABE_WITH_NS3
// The switch is down from 20 us to 10 ms: what was on its cables is sent again once it is back, and no
// sooner.
TEST_F(FailuresTest, PacketsAndTcpSendAgainWhatIsLost) {
    for (const char* const backend : {"packet", "tcp"}) {
        const std::vector<std::string> kind{fmt::format("backend={{kind: {}}}", backend)};
        const experiment::Run whole = run("{}", kind);
        ASSERT_TRUE(whole.execution.finished);
        const Time middle = whole.execution.total / 2;
        const std::string outage =
            fmt::format("{{events: [{{switch: switch, at: {}ps, until: 10ms}}]}}", middle.count());
        const experiment::Run torn = run(outage, kind);
        ASSERT_TRUE(torn.execution.finished) << torn.execution.stall;
        EXPECT_GT(torn.execution.total, 10_ms);
        EXPECT_EQ(torn.network.bytes_delivered, whole.network.bytes_delivered);
        EXPECT_EQ(torn.fingerprint, run(outage, kind).fingerprint);
        EXPECT_NE(run("{events: [{host: host 2}]}", kind).execution.stall.find("cut these pairs"),
                  std::string::npos);
    }
}
#endif

/// Parts of a rotor network, which fail by the rules of their own section.
class RotorParts : public FailuresTest {
protected:
    static std::vector<std::string> with(const std::string& failures, const std::string& backend) {
        return {
            "network={kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 2, link: {rate: 100Gbps}, "
            "failures: " +
                failures + "}",
            "backend={kind: " + backend + "}", "cluster.ranks=16", "workload.model.tables.count=16"};
    }
};

// A rotor that is drawn is one of four, so one of four that are named gives the run of the draw; the same of
// a cable, of 32.
TEST_F(RotorParts, OneOfThoseThatAreNamedIsTheOneThatIsDrawn) {
    const std::string engines[] = {"fluid",
#ifdef ASTROLABE_WITH_NS3
                                   "packet"
#endif
    };
    for (const std::string& backend : engines) {
        // From the start two hops lead around it; in the middle of a run it takes with it what was relayed.
        for (const char* const at : {"0us", "30us"}) {
            const experiment::Run drawn =
                run("{}", with(fmt::format("{{at: {}, rotors: 1, seed: 3}}", at), backend));
            EXPECT_EQ(drawn.execution.finished, std::string(at) == "0us");
            int same = 0;
            for (int rotor = 0; rotor < 4; ++rotor) {
                const experiment::Run named =
                    run(fmt::format("{{events: [{{switch: rotor {}, at: {}}}]}}", rotor, at),
                        with("[]", backend));
                EXPECT_EQ(named.execution.finished, drawn.execution.finished) << named.execution.stall;
                same += named.fingerprint == drawn.fingerprint ? 1 : 0;
            }
            EXPECT_EQ(same, 1) << backend << " at " << at;
        }
    }
    const std::string drawn = run("{}", with("{cables: 1, seed: 5}", "fluid")).fingerprint;
    int same = 0;
    for (int number = 0; number < 32; ++number) {
        const std::string named = fmt::format("{{events: [{{link: rack-rotor, number: {}}}]}}", number);
        same += run(named, with("[]", "fluid")).fingerprint == drawn ? 1 : 0;
    }
    EXPECT_EQ(same, 1);
}

// By either section, and both together.
TEST_F(RotorParts, AddUpWithThoseThatAreDrawn) {
    std::set<std::string> prints;
    const std::string one = "{events: [{switch: rotor 0, at: 30us}]}";
    prints.insert(run("{}", with("[]", "fluid")).fingerprint);
    prints.insert(run(one, with("[]", "fluid")).fingerprint);
    prints.insert(run("{}", with("{at: 20us, cables: 3, seed: 2}", "fluid")).fingerprint);
    prints.insert(run(one, with("{at: 20us, cables: 3, seed: 2}", "fluid")).fingerprint);
    EXPECT_EQ(prints.size(), 4U);
}

TEST_F(RotorParts, ARackThatFailedIsNamedByItsMessages) {
    const experiment::Run cut = run("{events: [{switch: rack 3}]}", with("[]", "fluid"));
    EXPECT_FALSE(cut.execution.finished);
    EXPECT_FALSE(cut.execution.stall.empty());
}

TEST_F(RotorParts, WhatTheyDoNotDoIsRefusedAtItsEntry) {
    const auto error = [&](const std::string& failures) { return error_of(failures, with("[]", "fluid")); };
    EXPECT_NE(error("{events: [{switch: rotor 1, at: 1us, until: 2us}]}").find("stays broken"),
              std::string::npos);
    EXPECT_NE(error("{events: [{link: rack 1 - rotor 2, rate: 0.5}]}").find("slows down a part"),
              std::string::npos);
    EXPECT_NE(error("{events: [{host: host 3}]}").find("hosts keep their cables"), std::string::npos);
    EXPECT_NE(error("{events: [{link: host 3 - rack 1}]}").find("'events.0'"), std::string::npos);
    EXPECT_NE(error("{detection: 1us, events: [{switch: rotor 1}]}").find("next superslice"),
              std::string::npos);
    EXPECT_NE(error("{events: [{link: rack 1 - rack 2}]}").find("rack 0 - rotor 0"), std::string::npos);
    EXPECT_NE(
        error("{random: [{switches: 'rotor *', mean_time_between: 1ms, mean_time_to_repair: 1ms, until: "
              "1s}]}")
            .find("stays broken"),
        std::string::npos);
    EXPECT_NE(
        error_of("{events: [{switch: 'rotor *', number: 0}, {switch: rotor 1}, {switch: rotor 2}, {switch: "
                 "rotor 3}]}",
                 {"network={kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 2, link: {rate: 100Gbps}, "
                  "low_latency: {cutoff: 1MB}}",
                  "cluster.ranks=16", "workload.model.tables.count=16"})
            .find("left without a path"),
        std::string::npos);
}

class FailuresShown : public TimelineTest {};

TEST_F(FailuresShown, ATimelineHasASpanForEach) {
    const Experiment experiment =
        load({"failures={events: [{host: host 1, at: 2us, until: 5us}, {rank: 2, speed: 0.5, at: 3us}, "
              "{switch: "
              "switch, at: 1s}]}"});
    const Traced traced = trace(experiment);
    const std::vector<testing::TraceSlice>& spans = traced.trace.spans.at("failures");
    ASSERT_EQ(spans.size(), 2U);  // the third lies behind the end
    EXPECT_EQ(spans[0].name, "host 1 down");
    EXPECT_EQ(spans[0].from, 2_us);
    EXPECT_EQ(spans[0].to, 5_us);
    EXPECT_EQ(spans[1].name, "rank 2 at 0.5 of its speed");
    EXPECT_EQ(spans[1].to, traced.run.execution.total);
    EXPECT_EQ(load({}).failures.size(), 0U);
}

TEST_F(FailuresShown, RandomnessNamesThoseThatFollowTheSeed) {
    const std::string random = "failures={random: [{links: host-switch, number: 1, rate: 0.5";
    using Streams = std::vector<std::string>;
    EXPECT_EQ(random_streams(load({random + "}]}"})), Streams{"failures.random.seed"});
    EXPECT_EQ(random_streams(load({random + ", seed: 4}]}"})), Streams{});
}

TEST_F(FailuresShown, DescribeListsThem) {
    const FailureSpan spine{"spine 0 down", 1_ms};
    const FailureSpan host{"host 3 at 0.5 of its rate", 2_ms, 3_ms};
    const Experiment experiment = load({});
    const DescribedNetwork described{{}, experiment.fabric, {}, {spine, host}};
    const std::string text = describe_text(described);
    EXPECT_NE(text.find("failures, 2 in all"), std::string::npos) << text;
    EXPECT_NE(text.find("for ever"), std::string::npos) << text;
    const auto json = describe_json(described);
    EXPECT_EQ(json["failures"][0]["what"], "spine 0 down");
    EXPECT_FALSE(json["failures"][0].contains("until_s"));
    EXPECT_EQ(json["failures"][1]["until_s"], 0.003);
    EXPECT_FALSE(describe_json({{}, experiment.fabric, {}, {}}).contains("failures"));
}

}  // namespace
}  // namespace astrolabe::experiment
