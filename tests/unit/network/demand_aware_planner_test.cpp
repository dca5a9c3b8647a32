/// Wirings planned for what waits: what they serve, what they keep, and what is refused.
#include "demand_aware_networks.hpp"
#include "network/src/demand_aware_circuits.hpp"
#include "parameter_keys.hpp"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network::topoopt {
namespace {

std::optional<Rewiring> look(const Fabric& first, const std::vector<WaitingPair>& waiting) {
    return first.demand_aware_circuits()->rewire(first, waiting);
}

TEST(DemandAwarePlanner, GivesAllInterfacesToThePairsThatWait) {
    const auto first = built(on_circuit_switches(3), 6);
    const auto found = look(*first, {waits(0, 3, 5_MB), waits(4, 1, 2_MB), waits(2, 5, 1_B)});
    ASSERT_TRUE(found);
    for (const auto& [a, b] : {std::pair(0, 3), std::pair(1, 4), std::pair(2, 5)}) {
        EXPECT_EQ(circuits(*found->next.fabric, a, b), 3U);
        EXPECT_EQ(circuits(*found->next.fabric, b, a), 3U);
    }
}

TEST(DemandAwarePlanner, HalvesDemandThatIsServed) {
    // 0 asks for 4 to 1 and for 3 to 2: matchings serve 4 and then 3, as 3 > 4 / 2, then 2 and 1.5.
    const auto first = built(on_circuit_switches(3), 4);
    const auto found = look(*first, {waits(0, 1, 4_MB), waits(0, 2, 3_MB)});
    ASSERT_TRUE(found);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 1), 2U);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 2), 1U);
}

TEST(DemandAwarePlanner, KeepsARingThatJoinsAllWhereHostsForward) {
    TopoOptParameters parameters = on_circuit_switches(3);
    parameters.reconfiguration->forwarding = true;
    for (const Wiring wiring : {Wiring::kPanel, Wiring::kSeparateFibres}) {
        parameters.wiring = wiring;
        const auto found = look(*built(parameters, 6), {waits(0, 2, 5_MB)});
        ASSERT_TRUE(found);
        // A ring both ways takes two interfaces of three, one that goes one way one.
        const bool is_panel = wiring == Wiring::kPanel;
        EXPECT_EQ(circuits(*found->next.fabric, 0, 2), is_panel ? 1U : 2U);
        for (int host = 0; host < 6; ++host) {
            EXPECT_GE(circuits(*found->next.fabric, host, (host + 1) % 6), 1U);
            EXPECT_GE(circuits(*found->next.fabric, (host + 1) % 6, host), is_panel ? 1U : 0U);
        }
    }
}

TEST(DemandAwarePlanner, StaysWhereAnotherIsWorthNoMore) {
    const auto first = built(on_circuit_switches(1), 4);
    EXPECT_FALSE(look(*first, {waits(0, 1, 5_MB), waits(2, 3, 5_MB)}));  // served by the first ring
    EXPECT_FALSE(look(*first, {waits(0, 1, 5_MB), waits(0, 2, 5_MB)}));  // one of the two either way
    EXPECT_TRUE(look(*first, {waits(0, 1, 5_MB), waits(0, 2, 6_MB)}));
    EXPECT_TRUE(look(*first, {waits(0, 2, 0_B)}));
}

// 12 hosts; those that ask are joined to others than at first, and keep what they have of it.
TEST(DemandAwarePlanner, MovesNoMoreCircuitsThanItMust) {
    TopoOptParameters parameters = on_circuit_switches(4);
    parameters.wiring = Wiring::kPanel;
    parameters.reconfiguration->forwarding = true;
    const auto first = built(parameters, 12);  // rings ±1 and ±5
    std::vector<WaitingPair> waiting;
    for (int host = 0; host < 12; ++host) {
        waiting.push_back(waits(host, host % 2 == 0 ? (host + 5) % 12 : (host + 7) % 12, 1_MB));
    }
    // The ring ±1 stays, and one of the two circuits that each pair gets is there: of the ring ±5, the links
    // from even hosts to those 5 on and back.
    const auto found = look(*first, waiting);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->dark, 12U);
    EXPECT_EQ(found->meanwhile.fabric->link_count(), 36U);
    for (std::size_t i = 0; i < 36; ++i) {
        const LinkId port = found->meanwhile.ports[i];
        EXPECT_EQ(first->source(port), found->meanwhile.fabric->source(LinkId(i)));
        EXPECT_EQ(first->target(port), found->meanwhile.fabric->target(LinkId(i)));
        EXPECT_EQ(first->target(port), found->next.fabric->target(port));
    }
}

TEST(DemandAwarePlanner, KnowsDemandBeyondTheBytesOfADemand) {
    const auto first = built(on_circuit_switches(1), 4);
    const Bytes huge(std::int64_t{1} << 61);
    const auto found = look(*first, {waits(0, 1, huge), waits(0, 2, huge), waits(1, 3, huge)});
    ASSERT_TRUE(found);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 2), 1U);
    EXPECT_EQ(circuits(*found->next.fabric, 1, 3), 1U);
}

// Rings join 5 hosts at first, with all interfaces; a matching of 5 leaves one of them without a circuit.
TEST(DemandAwarePlanner, AnOddNumberOfHostsIsRefused) {
    for (const bool forwarding : {false, true}) {
        TopoOptParameters parameters = on_circuit_switches(4);
        parameters.reconfiguration->forwarding = forwarding;
        const auto found = build_topoopt(parameters, {.servers = 5, .groups = {}, .point_to_point = {}});
        const auto* problems = std::get_if<ValidationErrors>(&found);
        ASSERT_NE(problems, nullptr);
        EXPECT_EQ(keys(*problems), Keys{"reconfiguration"});
        EXPECT_EQ(
            problems->front().message,
            "5 hosts are an odd number, of which later wirings leave one without a circuit, and circuits "
            "move between interfaces that have");
    }
}

TEST(DemandAwarePlanner, ParametersThatDoNotFitAreRefused) {
    TopoOptParameters parameters = on_circuit_switches(4);
    EXPECT_TRUE(validation_errors(parameters).empty());
    parameters.medium = Medium::kPatchPanel;
    EXPECT_EQ(keys(validation_errors(parameters)), Keys{"reconfiguration"});

    parameters = on_circuit_switches(4);
    parameters.reconfiguration->every = 0_ms;
    EXPECT_EQ(keys(validation_errors(parameters)), (Keys{"reconfiguration.every", "reconfiguration.delay"}));

    for (const Time delay : {50_ms, 60_ms, Time(-1)}) {
        parameters = on_circuit_switches(4);
        parameters.reconfiguration->delay = delay;
        EXPECT_EQ(keys(validation_errors(parameters)), Keys{"reconfiguration.delay"});
    }

    parameters = on_circuit_switches(4);
    parameters.routing = DirectRouting::kFlowHash;
    parameters.forwarding.latency = 1_us;
    parameters.detour = 1;
    EXPECT_EQ(keys(validation_errors(parameters)), (Keys{"routing", "forwarding.latency", "detour"}));
    parameters.reconfiguration->forwarding = true;
    EXPECT_TRUE(validation_errors(parameters).empty());
    parameters.routing = DirectRouting::kBalanced;
    EXPECT_EQ(keys(validation_errors(parameters)), Keys{"routing"});

    parameters = on_circuit_switches(1);
    parameters.reconfiguration->forwarding = true;
    EXPECT_EQ(keys(validation_errors(parameters)), Keys{"reconfiguration"});  // the ring takes all
}

TEST(DemandAwarePlanner, InterfacesWithoutACircuitAreRefused) {
    // A matching leaves one of 5 hosts out, in both directions of each of 3 matchings.
    Demand demand{.servers = 5, .groups = {}, .point_to_point = PairDemand(5)};
    demand.point_to_point.add(0, 2, 1'000);
    auto found = build_topoopt(on_circuit_switches(4), demand);
    ASSERT_TRUE(std::holds_alternative<ValidationErrors>(found));
    EXPECT_EQ(keys(std::get<ValidationErrors>(found)), Keys{"reconfiguration"});
    EXPECT_NE(std::get<ValidationErrors>(found)[0].message.find("3 of 20 interfaces"), std::string::npos);
}

/// A full-duplex ring, and twice opposite hosts: four links a host.
DirectConnectParameters given(std::int64_t hosts) {
    DirectConnectParameters parameters;
    parameters.hosts = hosts;
    parameters.rings = {1, hosts / 2};
    parameters.medium = Medium::kCircuitSwitch;
    parameters.reconfiguration = DemandAwareParameters();
    return parameters;
}

TEST(DemandAwarePlanner, BeginsWithCircuitsThatAreGiven) {
    EXPECT_TRUE(network::validation_errors(given(8)).empty());
    const auto first = build_direct_connect(given(8));
    EXPECT_FALSE(first->is_static());
    EXPECT_EQ(circuits(*first, 0, 4), 2U);
    EXPECT_FALSE(look(*first, {waits(0, 4, 1_MB)}));
    const auto found = look(*first, {waits(0, 3, 1_MB)});
    ASSERT_TRUE(found);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 3), 2U);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 1), 1U);  // the ring stays
    EXPECT_TRUE(found->next.fabric->is_static());
}

TEST(DemandAwarePlanner, GivenCircuitsThatCannotMoveAreRefused) {
    DirectConnectParameters parameters = given(8);
    parameters.links = {{.from = 2, .to = 5}};
    EXPECT_EQ(keys(network::validation_errors(parameters)),
              Keys{"reconfiguration"});  // host 2 has a link more
    parameters.links = {{.from = 2, .to = 5, .one_way = true}, {.from = 5, .to = 2, .one_way = true}};
    EXPECT_EQ(keys(network::validation_errors(parameters)), Keys{"reconfiguration"});
    parameters = given(9);
    parameters.rings = {1, 2};
    EXPECT_EQ(keys(network::validation_errors(parameters)), Keys{"hosts"});
    parameters = given(8);
    parameters.rings = {1};
    EXPECT_EQ(keys(network::validation_errors(parameters)), Keys{"reconfiguration"});  // the ring takes both
    parameters.reconfiguration->forwarding = false;
    EXPECT_TRUE(network::validation_errors(parameters).empty());
    parameters.rings = {4};  // two cables between opposite hosts, nothing else
    EXPECT_TRUE(network::validation_errors(parameters).empty());
    parameters.routing = DirectRouting::kSpray;
    parameters.paths = 2;
    EXPECT_EQ(keys(network::validation_errors(parameters)), (Keys{"routing", "paths"}));
    parameters = given(8);
    parameters.medium = Medium::kFibre;
    parameters.routing = DirectRouting::kBalanced;
    EXPECT_EQ(keys(network::validation_errors(parameters)), (Keys{"reconfiguration", "routing"}));
}

}  // namespace
}  // namespace astrolabe::network::topoopt
