/// Rotor networks of which something fails in the course of a run, and what must hold then on any engine.
///
/// The eight racks (rotor_reference.hpp): rack 0 meets rack 7 in superslice 0 (rotor 0, until 63.36 us less
/// 10 us), 4 in 1, 1 in 2, 5 in 3, 2 in 4. A superslice is 15.84 us.
#pragma once

#include "network/src/rotor/failures/rotor_failures.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_reference.hpp>

namespace astrolabe::network::rotor {

/// The network from whose start `at` is, > 0, without what failed by then.
inline RotorNetwork failing_at(RotorNetwork network, Time at, const RotorFailures& failures) {
    RotorState state{at, without_failed(network.schedule, failures), nullptr};
    if (network.paths != nullptr) {
        state.paths = std::make_shared<const ShortestSlicePaths>(state.schedule, 12, network.seed);
    }
    network.failing.push_back(std::move(state));
    return network;
}

/// Of the eight racks and four rotors.
inline RotorFailures failed_rack(Rack rack) {
    RotorFailures failures;
    failures.racks.assign(8, 0);
    failures.racks[rack] = 1;
    return failures;
}
inline RotorFailures failed_rotor(Rotor rotor) {
    RotorFailures failures;
    failures.rotors.assign(4, 0);
    failures.rotors[rotor] = 1;
    return failures;
}
inline RotorFailures failed_cable(Rack rack, Rotor rotor) {
    RotorFailures failures;
    failures.cables.assign(32, 0);
    failures.cables[rack * 4 + rotor] = 1;
    return failures;
}

/// What became of messages of one size, all sent at 0.
struct FailedRun {
    std::vector<Time> durations;  ///< Time::max(): not delivered
    Bytes delivered;
    std::vector<OutstandingMessage> outstanding;
    std::string explanation;
    Time end;
};

template <class Engine>
FailedRun run_failing(const RotorNetwork& network, const std::vector<HostPair>& pairs, Bytes size) {
    Engine engine(build_rotor_fabric(network));
    RotorTraffic traffic(engine, pairs, size);
    engine.run();
    FailedRun run{traffic.durations, engine.statistics().bytes_delivered,
                  engine.describe_outstanding(pairs.size()), engine.explain_stall(), engine.now()};
    // Every message is delivered or reported, once.
    EXPECT_EQ(traffic.delivered + run.outstanding.size(), pairs.size());
    EXPECT_EQ(run.delivered, static_cast<std::int64_t>(traffic.delivered) * size);
    EXPECT_EQ(engine.outstanding_messages(), run.outstanding.size());
    EXPECT_EQ(run.explanation.empty(), run.outstanding.empty());
    return run;
}

inline std::vector<HostPair> all_of_other_racks() {
    return pairs_where(32, [](auto i, auto j) { return i / 4 != j / 4; });
}

template <class Engine>
void expect_a_failure_after_the_end_changes_nothing() {
    const RotorNetwork whole = eight_rack_network();
    for (const RotorFailures& failures : {failed_rack(3), failed_rotor(1), failed_cable(2, 2)}) {
        const RotorNetwork later = failing_at(whole, 1_s, failures);
        EXPECT_EQ(run_failing<Engine>(later, all_of_other_racks(), 20_KB).durations,
                  run_failing<Engine>(whole, all_of_other_racks(), 20_KB).durations);
    }
}

/// All circuits of rack 0 to rack 7 are those of rotor 0; 109 packets for there leave one after the other,
/// the k-th, from 0, at 0.48 k us, and come out of the rotor 0.74 us later. At 20 us 41 did (40 · 0.48 + 0.74
/// = 19.94).
template <class Engine>
void expect_circuits_carry_until_they_fail() {
    RotorNetwork direct = eight_rack_network();
    direct.bulk.routing = BulkRouting::kDirectOnly;
    direct.bulk.intra_rack = IntraRack::kDirect;
    for (const RotorFailures& failures :
         {failed_rack(0), failed_rack(7), failed_rotor(0), failed_cable(0, 0), failed_cable(7, 0)}) {
        const FailedRun run =
            run_failing<Engine>(failing_at(direct, 20_us, failures), {{0, 28}}, 109 * 1436_B);
        ASSERT_EQ(run.outstanding.size(), 1U);
        EXPECT_EQ(run.outstanding.front().remaining, (109 - 41) * 1436_B);
        EXPECT_NE(run.explanation.find("68 bulk packets of 1 pair"), std::string::npos) << run.explanation;
        EXPECT_NE(run.explanation.find("since 20us"), std::string::npos) << run.explanation;
    }
    // Another rack's cable and another rotor are no matter.
    for (const RotorFailures& failures : {failed_rack(3), failed_rotor(1), failed_cable(0, 1)}) {
        const FailedRun run =
            run_failing<Engine>(failing_at(direct, 20_us, failures), {{0, 28}}, 109 * 1436_B);
        EXPECT_EQ(run.durations.front(), 52'700_ns);
    }
}

/// With two hops a rotor or cable less delays messages and loses none.
template <class Engine>
void expect_bulk_goes_round_rotors_and_cables_that_fail() {
    const Time whole = run_failing<Engine>(eight_rack_network(), {{0, 28}}, 109 * 1436_B).durations.front();
    for (const RotorFailures& failures : {failed_rotor(0), failed_cable(0, 0), failed_cable(7, 0)}) {
        const FailedRun run =
            run_failing<Engine>(failing_at(eight_rack_network(), 20_us, failures), {{0, 28}}, 109 * 1436_B);
        EXPECT_TRUE(run.outstanding.empty());
        EXPECT_GT(run.durations.front(), whole);
        // First hops leave through rotors that install after the failure and go on within a cycle.
        EXPECT_LT(run.durations.front(), 3 * 126'720_ns);
    }
}

/// Rack 5 fails in the middle of an all-to-all that takes 0.5 ms: just the messages from and to its hosts do
/// not arrive. Of 16 · 70 packets of a pair of racks 2 · 4 · 109 are gone by the third cycle, at 253 us,
/// until which no circuit has room to relay.
template <class Engine>
void expect_a_rack_that_fails_to_take_its_own_with_it() {
    const std::vector<HostPair> pairs = all_of_other_racks();
    const FailedRun run =
        run_failing<Engine>(failing_at(eight_rack_network(), 250_us, failed_rack(5)), pairs, 100_KB);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const bool is_of_rack = pairs[i].source / 4 == 5 || pairs[i].destination / 4 == 5;
        EXPECT_EQ(run.durations[i] == Time::max(), is_of_rack)
            << pairs[i].source << " -> " << pairs[i].destination;
    }
    EXPECT_NE(run.explanation.find("rack 5 is disconnected since 250us"), std::string::npos)
        << run.explanation;
}

/// Rack 0 sends to rack 1 alone, mostly through the others; what rack 5 has not passed on at 60 us, it never
/// does. It has some: it meets rack 0 in superslice 3, at 47.52 us, and rack 1 in no superslice from 0 to 3.
template <class Engine>
void expect_what_a_rack_relays_to_be_reported() {
    const auto pairs = pairs_where(32, [](auto i, auto j) { return i / 4 == 0 && j / 4 == 1; });
    const FailedRun run =
        run_failing<Engine>(failing_at(eight_rack_network(), 60_us, failed_rack(5)), pairs, 1_MB);
    EXPECT_FALSE(run.outstanding.empty());
    EXPECT_NE(run.explanation.find(", relayed: rack 5 is disconnected since 60us"), std::string::npos)
        << run.explanation;
    EXPECT_EQ(run.explanation.find("at host 0 "), std::string::npos) << "what waits at its source goes round";
}

}  // namespace astrolabe::network::rotor
