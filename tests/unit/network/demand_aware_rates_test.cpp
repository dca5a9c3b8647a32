/// The fluid engine on circuits that move with the demand: when it looks, how long it is dark, what goes on.
#include "demand_aware_networks.hpp"
#include "network/src/demand_aware_circuits.hpp"
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/direct_connect.hpp"
#include "recorder.hpp"
#include "transfers.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

using topoopt::built;
using topoopt::on_circuit_switches;
using topoopt::TopoOptParameters;

struct Outcome {
    std::vector<Time> times;  ///< by transfer
    NetworkStatistics statistics;
};

/// Both directions of a pair ask for as much.
std::vector<Transfer> exchange(std::vector<std::pair<int, int>> pairs, Bytes size) {
    std::vector<Transfer> transfers;
    for (const auto& [a, b] : pairs) {
        transfers.push_back({a, b, size});
        transfers.push_back({b, a, size});
    }
    return transfers;
}

/// All transfers of `first` start at 0, all of `then` when the last of these arrives.
Outcome run(const std::shared_ptr<const Fabric>& fabric, const std::vector<Transfer>& first,
            const std::vector<Transfer>& then = {}) {
    FluidBackend backend(fabric);
    Recorder recorder(backend);
    std::uint64_t token = 0;
    const auto send = [&](const std::vector<Transfer>& transfers) {
        for (const Transfer& transfer : transfers) {
            recorder.send(token++, transfer.source, transfer.destination, transfer.size);
        }
    };
    recorder.react = [&](std::uint64_t) {
        if (recorder.order.size() == first.size()) {
            send(then);
        }
    };
    send(first);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 0U) << backend.explain_stall();
    Outcome outcome{.times = {}, .statistics = backend.statistics()};
    for (std::uint64_t i = 0; i < token; ++i) {
        outcome.times.push_back(recorder.times.contains(i) ? recorder.times.at(i) : Time(-1));
    }
    return outcome;
}

const std::vector<std::pair<int, int>> kOpposite{{0, 2}, {1, 3}};
const std::vector<std::pair<int, int>> kNext{{0, 1}, {2, 3}};

// Four hosts with two links each, first 0 -> 1, 0 -> 3 and so on round: no circuit between opposite hosts. A
// demand of 500 MB between each two takes 500 MB / (2 · 12.5 GB/s) = 20 ms on both links.
TEST(FluidRewiring, DemandsThatAlternateWaitForTheNextLookAndTheDelay) {
    const auto outcome =
        run(built(on_circuit_switches(2), 4), exchange(kOpposite, 500_MB), exchange(kNext, 500_MB));
    // Look at 50 ms, dark until 60 ms, served until 80 ms. The second demand is sent 1 us later, seen at 100
    // ms, and served from 110 ms to 130 ms.
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(outcome.times[i], 80_ms + 1_us);
        EXPECT_EQ(outcome.times[4 + i], 130_ms + 1_us);
    }
    ASSERT_TRUE(outcome.statistics.reconfiguration);
    EXPECT_EQ(outcome.statistics.reconfiguration->control_epochs, 2U);
    EXPECT_EQ(outcome.statistics.reconfiguration->changes, 2U);
    // All links move both times: the circuits of one demand are none of the other's.
    EXPECT_EQ(outcome.statistics.reconfiguration->dark, 20_ms);
    for (const LinkStatistics& link : outcome.statistics.links) {
        EXPECT_EQ(link.carried, 500_MB);  // a half of each of two demands, both ports of a host alike
    }
}

TEST(FluidRewiring, DarkTimeAddsExactly) {
    for (const Time delay : {0_ms, 1_us, 1_ms, 10_ms, 49_ms}) {
        TopoOptParameters parameters = on_circuit_switches(2);
        parameters.reconfiguration->delay = delay;
        const auto outcome = run(built(parameters, 4), exchange(kOpposite, 500_MB));
        EXPECT_EQ(outcome.times[0], 50_ms + delay + 20_ms + 1_us);
        EXPECT_EQ(outcome.statistics.reconfiguration->dark, delay);
    }
}

// Hosts 4 apart: a ring, and three matchings of these pairs, which serve 250 MB in 6.7 ms.
TEST(FluidRewiring, ADemandThatTheWiringIsForIsServedAsByAFixedNetwork) {
    Demand demand{.servers = 8, .groups = {}, .point_to_point = PairDemand(8)};
    std::vector<Transfer> transfers;
    for (int host = 0; host < 8; ++host) {
        demand.point_to_point.add(host, (host + 4) % 8, 250'000'000);
        transfers.push_back({host, (host + 4) % 8, 250_MB});
    }
    TopoOptParameters parameters = on_circuit_switches(4);
    parameters.reconfiguration->forwarding = true;
    parameters.reconfiguration->every = 1_ms;
    parameters.reconfiguration->delay = 0_ms;
    const auto moving = run(built(parameters, demand), transfers);
    parameters.reconfiguration.reset();
    parameters.routing = DirectRouting::kKShortest;
    const auto fixed = run(built(parameters, demand), transfers);
    EXPECT_EQ(moving.times, fixed.times);
    EXPECT_EQ(moving.statistics.reconfiguration->control_epochs, 6U);
    EXPECT_EQ(moving.statistics.reconfiguration->changes, 0U);
    EXPECT_FALSE(fixed.statistics.reconfiguration);
}

TEST(FluidRewiring, NothingMovesInAJobThatEndsBeforeTheFirstLook) {
    for (const DirectRouting routing : {DirectRouting::kByClass, DirectRouting::kKShortest,
                                        DirectRouting::kRandomShortest, DirectRouting::kSpray}) {
        Demand demand{.servers = 12, .groups = {}, .point_to_point = PairDemand(12)};
        std::vector<Transfer> transfers;
        for (int host = 0; host < 12; ++host) {
            for (int step = 1; step < 6; ++step) {
                const int bytes = 1'000'003 * step + 7'919 * host;
                demand.point_to_point.add(
                    host, (host * step + 5) % 12 == host ? (host + 1) % 12 : (host * step + 5) % 12, bytes);
                transfers.push_back({host, (host + step) % 12, Bytes(bytes)});
            }
        }
        TopoOptParameters parameters = on_circuit_switches(4);
        parameters.routing = routing;
        parameters.reconfiguration->forwarding = true;
        parameters.reconfiguration->every = 1_s;
        const auto moving = run(built(parameters, demand), transfers);
        parameters.reconfiguration.reset();
        const auto fixed = run(built(parameters, demand), transfers);
        EXPECT_EQ(moving.times, fixed.times);
        EXPECT_EQ(moving.statistics.reconfiguration->control_epochs, 0U);
        ASSERT_EQ(moving.statistics.links.size(), fixed.statistics.links.size());
        for (LinkId link; link.index() < fixed.statistics.links.size(); ++link) {
            EXPECT_EQ(moving.statistics.links[link].carried, fixed.statistics.links[link].carried);
        }
    }
}

// Full-duplex ring of four hosts on a panel; 0 -> 1 and 2 -> 3 have one circuit each and get a second one.
TEST(FluidRewiring, CircuitsThatStayCarryOnWhileOthersAreDark) {
    TopoOptParameters parameters = on_circuit_switches(2);
    parameters.wiring = topoopt::Wiring::kPanel;
    const std::vector<Transfer> transfers{{0, 1, 1'250_MB}, {2, 3, 1'250_MB}};
    const auto moving = run(built(parameters, 4), transfers);
    // 60 ms at 12.5 GB/s are 750 MB; 500 MB at 25 GB/s are 20 ms.
    EXPECT_EQ(moving.times, (std::vector<Time>{80_ms + 1_us, 80_ms + 1_us}));
    EXPECT_EQ(moving.statistics.reconfiguration->dark, 5_ms);  // one of the two links of a host
    parameters.reconfiguration->dark = DarkCircuits::kAll;
    const auto all = run(built(parameters, 4), transfers);
    // 50 ms are 625 MB; after 10 ms without any, 625 MB take 25 ms.
    EXPECT_EQ(all.times, (std::vector<Time>{85_ms + 1_us, 85_ms + 1_us}));
    EXPECT_EQ(all.statistics.reconfiguration->dark, 10_ms);
}

TEST(FluidRewiring, CircuitsThatAreGivenMoveAsThoseThatAreFound) {
    DirectConnectParameters direct;
    direct.hosts = 4;
    direct.link = {100_Gbps, 1_us};
    direct.rings = {1};
    direct.medium = Medium::kCircuitSwitch;
    direct.reconfiguration = DemandAwareParameters{.forwarding = false};
    const auto outcome =
        run(build_direct_connect(direct), {{0, 1, 1'250_MB}, {2, 3, 1'250_MB}}, {{0, 2, 500_MB}});
    // As above; then 0 -> 2 is seen at 100 ms and has two circuits from 110 ms on, for 20 ms.
    EXPECT_EQ(outcome.times, (std::vector<Time>{80_ms + 1_us, 80_ms + 1_us, 130_ms + 1_us}));
}

// One link a host, 0 -> 1 at first.
TEST(FluidRewiring, PairsWithoutACircuitWaitForTheirTurn) {
    const auto outcome = run(built(on_circuit_switches(1), 4), {{0, 1, 3'000_MB}, {0, 2, 1'000_MB}});
    // 0 -> 1 has 3,000 MB less 625 MB a look: 500 MB at 200 ms, less than the 1,000 MB that wait for 0 -> 2.
    // These go from 210 ms on, 500 MB are left at 250 ms, which is no more than 0 -> 1 has, and all are gone
    // at 290 ms. 0 -> 1 is seen at 300 ms, and its 500 MB go from 310 ms to 350 ms.
    EXPECT_EQ(outcome.times[1], 290_ms + 1_us);
    EXPECT_EQ(outcome.times[0], 350_ms + 1_us);
    EXPECT_EQ(outcome.statistics.reconfiguration->control_epochs, 6U);
    EXPECT_EQ(outcome.statistics.reconfiguration->changes, 2U);
}

TEST(FluidRewiring, MessagesWithoutBytesWaitForACircuitToo) {
    const auto outcome = run(built(on_circuit_switches(1), 4), {{0, 2, 0_B}, {0, 1, 0_B}});
    EXPECT_EQ(outcome.times[0], 60_ms + 1_us);
    EXPECT_EQ(outcome.times[1], 1_us);
}

// Nobody looks while nothing waits, and a circuit that came up meanwhile is there for what is sent next.
TEST(FluidRewiring, AnIdleNetworkHasNoEvents) {
    FluidBackend backend(built(on_circuit_switches(1), 4));
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t token) {
        if (token == 100) {
            recorder.send(2, 0, 2, 125_MB);
        }
    };
    recorder.send(1, 0, 1, 125_MB);
    backend.schedule(1'000_s, recorder, 100);
    backend.run();
    EXPECT_EQ(recorder.times.at(1), 10_ms + 1_us);
    // Sent at a multiple of 50 ms, seen at once: dark for 10 ms, 10 ms for the bytes.
    EXPECT_EQ(recorder.times.at(2), 1'000_s + 20_ms + 1_us);
    EXPECT_EQ(backend.statistics().reconfiguration->control_epochs, 1U);
    EXPECT_LT(backend.events_processed(), 10U);
}

/// Answers once, at the first look, with these links in place of those there are; or never.
class Scripted final : public DemandAwareCircuits {
public:
    Scripted(Time every, Time delay, std::vector<std::pair<int, int>> then)
        : DemandAwareCircuits(every, delay),
          then_(std::move(then)) {}

    [[nodiscard]] std::optional<Rewiring> rewire(const Fabric& present,
                                                 std::span<const WaitingPair>) const override {
        if (then_.empty() || present.demand_aware_circuits() == nullptr) {
            return std::nullopt;
        }
        Rewiring rewiring;
        rewiring.next = wire(then_);
        rewiring.meanwhile = wire({});
        rewiring.dark = then_.size();
        return rewiring;
    }

    static DirectConnectParameters direct(const std::vector<std::pair<int, int>>& links) {
        DirectConnectParameters direct;
        direct.hosts = 4;
        direct.link = {100_Gbps, 1_ms};
        direct.is_whole = false;
        for (const auto& [from, to] : links) {
            direct.links.push_back({.from = from, .to = to, .one_way = true});
        }
        return direct;
    }

private:
    static WiredFabric wire(const std::vector<std::pair<int, int>>& links) {
        WiredFabric wiring{.fabric = build_direct_connect(direct(links)), .ports = {}};
        for (std::size_t i = 0; i < links.size(); ++i) {
            wiring.ports.emplace_back(i);
        }
        return wiring;
    }

    std::vector<std::pair<int, int>> then_;
};

std::shared_ptr<const Fabric> scripted(Time every, Time delay, std::vector<std::pair<int, int>> first,
                                       std::vector<std::pair<int, int>> then) {
    DirectConnectParameters direct = Scripted::direct(first);
    direct.controller = std::make_shared<const Scripted>(every, delay, std::move(then));
    return build_direct_connect(direct);
}

TEST(FluidRewiring, WhatNobodyEverCarriesIsReportedAndDoesNotHang) {
    FluidBackend backend(scripted(1_us, 0_ms, {{0, 1}, {1, 0}, {2, 3}, {3, 2}}, {}));
    Recorder recorder(backend);
    recorder.send(1, 0, 1, 125_MB);
    recorder.send(2, 0, 2, 1_B);
    backend.run();
    EXPECT_EQ(recorder.times.at(1), 11_ms);
    ASSERT_EQ(backend.outstanding_messages(), 1U);
    const OutstandingMessage stuck = backend.describe_outstanding(8).at(0);
    EXPECT_EQ(stuck.destination, HostId(2));
    EXPECT_EQ(stuck.remaining, 1_B);
}

TEST(FluidRewiring, AMessageThatLastsLongerThanTimeIsReportedAndDoesNotHang) {
    FluidBackend backend(built(on_circuit_switches(1), 4));
    Recorder recorder(backend);
    recorder.send(1, 0, 1, Bytes(std::int64_t{1} << 60));  // 92 million seconds at 12.5 GB/s
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    EXPECT_EQ(backend.explain_stall(), kBeyondTime);
    EXPECT_EQ(backend.statistics().reconfiguration->control_epochs, 1U);
}

// Three links of 1 ms from 0 to 3 before the change, one after it, and a delay of nothing. The first message
// ends just before 5 ms and arrives after 8 ms; the second one, on the short way, would be there at 6 ms.
TEST(FluidRewiring, MessagesOfAPairKeepTheirOrder) {
    FluidBackend backend(
        scripted(5_ms, 0_ms, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, {{0, 3}, {1, 2}, {2, 1}, {3, 0}}));
    Recorder recorder(backend);
    recorder.send(1, 0, 3, 62'400_KB);  // 4.992 ms
    recorder.send(2, 0, 3, 200_KB);     // 16 us, 8 us of it after the change
    recorder.send(3, 0, 3, 25_MB);      // 2 ms
    backend.run();
    EXPECT_EQ(recorder.times.at(1), 7'992_us);
    EXPECT_EQ(recorder.times.at(2), 7'992_us);
    EXPECT_EQ(recorder.times.at(3), 8'008_us);
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{1, 2, 3}));
    // Ports: what left host 0 left by its one port, wherever that led.
    const NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(statistics.links[LinkId(0)].carried, 62'400_KB + 200_KB + 25_MB);
    EXPECT_EQ(statistics.links[LinkId(1)].carried, 62'500_KB);
    EXPECT_EQ(statistics.links[LinkId(3)].carried, 0_B);
}

}  // namespace
}  // namespace astrolabe::network
