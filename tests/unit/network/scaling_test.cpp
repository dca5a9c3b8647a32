/// Networks with other speeds: closed forms of rates, latencies and circuits, and what is refused.
#include "network/src/demand_aware_circuits.hpp"
#include "network/src/rotor/opera.hpp"
#include "network/src/topologies/direct_connect.hpp"
#include "network/src/topologies/leaf_spine.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/routing.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::network {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::shared_ptr<const Fabric> leaf_spine() {
    LeafSpineParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_leaf = 4;
    parameters.spines = 2;
    parameters.link = {100_Gbps, 500_ns};
    parameters.uplink = {40_Gbps, 300_ns};
    return build_leaf_spine(parameters);
}

std::shared_ptr<const Fabric> scaled_fabric(const std::shared_ptr<const Fabric>& fabric,
                                            const Scaling& scaling) {
    ScaledFabric scaled = scale(fabric, scaling);
    if (const auto* errors = std::get_if<ValidationErrors>(&scaled)) {
        ADD_FAILURE() << errors->front().key << ": " << errors->front().message;
        return fabric;
    }
    return std::get<std::shared_ptr<const Fabric>>(std::move(scaled));
}

ValidationError refusal(const std::shared_ptr<const Fabric>& fabric, const Scaling& scaling) {
    const ScaledFabric scaled = scale(fabric, scaling);
    const auto* errors = std::get_if<ValidationErrors>(&scaled);
    return errors == nullptr ? ValidationError{} : errors->front();
}

TEST(Scaling, ClassesOfLinksHaveTheNamesOfTheirEnds) {
    EXPECT_EQ(link_class_names(*leaf_spine()), (std::vector<std::string>{"host-leaf", "spine-leaf"}));
    rotor::OperaParameters opera;
    opera.racks = 8;
    opera.uplinks = 4;
    EXPECT_EQ(link_class_names(*rotor::build_opera(opera)),
              (std::vector<std::string>{"host-rack", "rack-rack"}));
}

TEST(Scaling, AClassIsScaledAndNoOther) {
    const auto fabric = leaf_spine();
    const auto faster = scaled_fabric(fabric, {.links = {{"spine-leaf", 2.0}}});
    ASSERT_EQ(faster->link_count(), fabric->link_count());
    for (LinkId link; link.index() < fabric->link_count(); ++link) {
        const bool is_uplink = link_class_name(*fabric, link) == "spine-leaf";
        EXPECT_EQ(faster->link(link).rate, is_uplink ? 80_Gbps : 100_Gbps);
        EXPECT_EQ(faster->link(link).latency, fabric->link(link).latency);
        EXPECT_EQ(faster->link(link).reverse, fabric->link(link).reverse);
        EXPECT_EQ(faster->target(link), fabric->target(link));
    }
    EXPECT_EQ(faster->egress_rate(HostId(0)), 100_Gbps);
    EXPECT_EQ(scaled_fabric(fabric, {.links = {{"host-leaf", 0.5}}})->egress_rate(HostId(0)), 50_Gbps);
    EXPECT_EQ(scaled_fabric(fabric, {.links = {{"host-leaf", kUnlimited}}})->egress_rate(HostId(0)),
              Bandwidth(1'000'000'000'000'000));
}

TEST(Scaling, RoutesHaveTheLatenciesOfTheCopy) {
    // Over a spine: two cables of hosts and two uplinks, 2 (500 + 300) ns = 1.6 us.
    const auto fabric = leaf_spine();
    const auto latency = [&](double factor) {
        return scaled_fabric(fabric, {.latency = factor})->routing().route(HostId(0), HostId(7)).latency;
    };
    EXPECT_EQ(latency(1), 1'600_ns);
    EXPECT_EQ(latency(0.5), 800_ns);
    EXPECT_EQ(latency(3), 4'800_ns);
    EXPECT_EQ(latency(0), Time(0));
    EXPECT_EQ(scaled_fabric(fabric, {.latency = 0})->link(LinkId(0)).rate, 100_Gbps);
}

TEST(Scaling, HostsThatForwardTakeTheirShareOfLatency) {
    DirectConnectParameters parameters;
    parameters.hosts = 4;
    parameters.rings = {1};
    parameters.link = {100_Gbps, 1_us};
    parameters.forwarding.latency = 400_ns;
    const auto fabric = build_direct_connect(parameters);
    // Two cables and the host between them.
    EXPECT_EQ(fabric->routing().route(HostId(0), HostId(2)).latency, 2'400_ns);
    EXPECT_EQ(scaled_fabric(fabric, {.latency = 0.5})->routing().route(HostId(0), HostId(2)).latency,
              1'200_ns);
}

TEST(Scaling, WhatTheNetworkDoesNotHaveIsRefused) {
    const ValidationError unknown = refusal(leaf_spine(), {.links = {{"host-leag", 2.0}}});
    EXPECT_EQ(unknown.key, "links.host-leag");
    EXPECT_NE(unknown.message.find("it has host-leaf, spine-leaf"), std::string::npos) << unknown.message;
    EXPECT_NE(unknown.hint.find("did you mean 'host-leaf'?"), std::string::npos) << unknown.hint;
    EXPECT_EQ(refusal(leaf_spine(), {.reconfiguration = 0.1}).key, "reconfiguration");
    EXPECT_EQ(refusal(leaf_spine(), {.reconfiguration = 1}).key, "");
    // 100 Gb/s times 20,000 is 2 Pb/s, twice what a link may have.
    EXPECT_EQ(refusal(leaf_spine(), {.links = {{"host-leaf", 20'000.0}}}).key, "links.host-leaf");
    EXPECT_EQ(refusal(leaf_spine(), {.links = {{"host-leaf", 10'000.0}}}).key, "");
}

rotor::OperaParameters eight_racks() {
    rotor::OperaParameters parameters;
    parameters.racks = 8;
    parameters.uplinks = 4;
    parameters.link = {100_Gbps, 100_ns};
    return parameters;
}

const rotor::RotorNetwork& rotors_in(const std::shared_ptr<const Fabric>& fabric) {
    return *rotor::rotors_of(*fabric);
}

TEST(Scaling, RotorsHaveOneRateAndKeepTheirSlices) {
    const auto fabric = rotor::build_opera(eight_racks());
    const rotor::RotorTiming timing = rotors_in(fabric).schedule.timing();
    EXPECT_EQ(refusal(fabric, {.links = {{"host-rack", 2.0}}}).key, "links");
    const auto faster = scaled_fabric(fabric, {.links = {{"host-rack", 2.0}, {"rack-rack", 2.0}}});
    EXPECT_EQ(rotors_in(faster).rate, 200_Gbps);
    EXPECT_EQ(faster->egress_rate(HostId(0)), 200_Gbps);
    EXPECT_EQ(rotors_in(faster).schedule.timing(), timing);
    EXPECT_EQ(faster->circuits().period(), fabric->circuits().period());
}

TEST(Scaling, SlowerRotorsGetTheSlicesThatTheirPacketsNeed) {
    // del is the propagation and a packet: 0.5 us and 1500 B at 100 Gb/s, 0.12 us; at 50 Gb/s 0.24 us.
    const auto fabric = rotor::build_opera(eight_racks());
    EXPECT_EQ(rotors_in(fabric).schedule.timing().del, 620_ns);
    const auto slower = scaled_fabric(fabric, {.links = {{"host-rack", 0.5}, {"rack-rack", 0.5}}});
    EXPECT_EQ(rotors_in(slower).schedule.timing().del, 740_ns);
    EXPECT_GT(rotors_in(slower).schedule.timing().eps, rotors_in(fabric).schedule.timing().eps);
    const auto farther = scaled_fabric(fabric, {.latency = 2});
    EXPECT_EQ(rotors_in(farther).propagation, 1_us);
    EXPECT_EQ(rotors_in(farther).host_latency, 200_ns);
    EXPECT_EQ(rotors_in(farther).schedule.timing().del, 1'120_ns);
}

TEST(Scaling, RotorsAreDarkForLessAndTheCycleShrinksByThat) {
    for (const double factor : {0.1, 0.0, 2.0}) {
        const auto fabric = rotor::build_opera(eight_racks());
        const rotor::RotorSchedule& schedule = rotors_in(fabric).schedule;
        const auto changed = scaled_fabric(fabric, {.reconfiguration = factor});
        const rotor::RotorTiming& timing = rotors_in(changed).schedule.timing();
        EXPECT_EQ(timing.reconfiguration, scaled(10_us, factor));
        EXPECT_EQ(timing.eps, schedule.timing().eps);
        EXPECT_EQ(timing.del, schedule.timing().del);
        // One dark time in each of the superslices.
        EXPECT_EQ(changed->circuits().period() - fabric->circuits().period(),
                  (scaled(10_us, factor) - 10_us) * schedule.superslices());
        EXPECT_NE(changed->family().circuit_windows(), nullptr);
    }
}

TEST(Scaling, CircuitsThatMoveAreScaledWithTheirLinks) {
    DirectConnectParameters parameters;
    parameters.hosts = 4;
    parameters.rings = {1};
    parameters.all_to_all = 1;
    parameters.medium = Medium::kCircuitSwitch;
    parameters.link = {100_Gbps, 1_us};
    parameters.reconfiguration = DemandAwareParameters{};
    parameters.reconfiguration->every = 50_ms;
    parameters.reconfiguration->delay = 10_ms;
    parameters.reconfiguration->forwarding = false;
    ASSERT_TRUE(validation_errors(parameters).empty());
    const auto fabric = build_direct_connect(parameters);
    const auto changed =
        scaled_fabric(fabric, {.links = {{"host-host", 2.0}}, .latency = 0, .reconfiguration = 0.1});
    const DemandAwareCircuits& circuits = *changed->demand_aware_circuits();
    EXPECT_EQ(circuits.every(), 50_ms);
    EXPECT_EQ(circuits.delay(), 1_ms);
    EXPECT_EQ(changed->link(LinkId(0)).rate, 200_Gbps);
    const std::vector<WaitingPair> waiting{{HostId(0), HostId(2), 5_MB}, {HostId(1), HostId(3), 5_MB}};
    const std::optional<Rewiring> moved = circuits.rewire(*changed, waiting);
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->next.fabric->link(LinkId(0)).rate, 200_Gbps);
    EXPECT_EQ(moved->next.fabric->link(LinkId(0)).latency, Time(0));
    EXPECT_EQ(refusal(fabric, {.reconfiguration = 6}).key, "reconfiguration") << "dark for 60 ms of 50 ms";
}

}  // namespace
}  // namespace astrolabe::network
