/// The slot engine on the network of eight racks (eight_racks.hpp): the contract of backends, its options,
/// and what it counts. Times as in slot_engine_golden_test.cpp.
#include "network/src/engines/slots/slot_engine.hpp"

#include "network/src/topologies/flat.hpp"
#include "recorder.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/components.hpp>

namespace astrolabe::network::rotor {
namespace {

constexpr Time kSuperslice = 15'840_ns;
constexpr Time kPacket = 860_ns;  ///< from one host to another of the next rack

RotorNetwork with_bulk(BulkService bulk) {
    RotorNetwork network = eight_rack_network();
    network.bulk = bulk;
    return network;
}

std::shared_ptr<const Fabric> flat() {
    FlatParameters parameters;
    parameters.hosts = 4;
    return build_flat(parameters);
}

TEST(SlotEngine, AMessageSentDuringASlotWaitsForTheNextInstallation) {
    SlotEngine engine(build_rotor_fabric(
        with_bulk({.routing = BulkRouting::kDirectOnly, .intra_rack = IntraRack::kDirect})));
    Recorder recorder(engine);
    recorder.react = [&](std::uint64_t token) {
        if (token == 100) {
            recorder.send(0, 0, 28, 1_B);
        }
    };
    engine.schedule(1_ps, recorder, 100);
    engine.run();
    // Racks 0 and 7 meet again a cycle later.
    EXPECT_EQ(recorder.times[0], 8 * kSuperslice + kPacket);
}

TEST(SlotEngine, WhatIsSentInTheInstantOfAnInstallationIsInTime) {
    SlotEngine engine(build_rotor_fabric(eight_rack_network()));
    Recorder recorder(engine);
    recorder.react = [&](std::uint64_t token) {
        if (token == 100) {
            recorder.send(0, 0, 16, 1436_B);  // superslice 1
        }
    };
    engine.schedule(kSuperslice, recorder, 100);
    engine.run();
    EXPECT_EQ(recorder.times[0], kSuperslice + kPacket);
}

TEST(SlotEngine, PairsKeepTheOrderOfTheirMessages) {
    SlotEngine engine(build_rotor_fabric(eight_rack_network()));
    Recorder recorder(engine);
    recorder.send(0, 0, 4, 100_KB);
    recorder.send(1, 0, 4, 0_B);
    recorder.send(2, 0, 4, 1_B);
    recorder.send(3, 0, 4, 50_KB);
    recorder.send(4, 0, 8, 0_B);
    engine.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{4, 0, 1, 2, 3}));
    EXPECT_EQ(recorder.times[1], recorder.times[0]);
    EXPECT_LE(recorder.times[2], recorder.times[3]);
}

TEST(SlotEngine, KeepsQueuesOfSeveralHandlersAndOfAnySize) {
    SlotEngine engine(build_rotor_fabric(with_bulk({.remainders = Remainders::kRoundRobin})));
    Recorder first(engine);
    Recorder second(engine);
    const std::vector<Bytes> sizes{1_B, 2_GiB, 5_GiB, 2_GiB - 1_B, 3_GiB, 0_B, 4_GiB, 7_B, 8_B};
    std::vector<std::uint64_t> order;
    const auto note = [&](std::uint64_t token) { order.push_back(token); };
    first.react = note;
    second.react = note;
    for (std::uint64_t token = 0; token < sizes.size(); ++token) {
        (token % 4 < 2 ? first : second).send(token, 0, 4, sizes[token]);
    }
    const std::vector<OutstandingMessage> outstanding = engine.describe_outstanding(sizes.size());
    ASSERT_EQ(outstanding.size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        EXPECT_EQ(outstanding[i].size, sizes[i]) << i;
        EXPECT_EQ(outstanding[i].remaining, sizes[i]) << i;
    }
    engine.run();
    EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(first.order, (std::vector<std::uint64_t>{0, 1, 4, 5, 8}));
    EXPECT_EQ(engine.statistics().bytes_delivered, 16_GiB + 15_B);  // 2 + 5 + 2 + 3 + 4, and 1 - 1 + 7 + 8
}

TEST(SlotEngine, AMessageWithoutBytesTakesTheLatency) {
    RotorNetwork network = eight_rack_network();
    network.host_latency = 100_ns;
    SlotEngine engine(build_rotor_fabric(network));
    Recorder recorder(engine);
    recorder.send(0, 0, 28, 0_B);
    recorder.send(1, 0, 1, 0_B);
    engine.run();
    EXPECT_EQ(recorder.times[0], 700_ns);  // 100 + 500 + 100
    EXPECT_EQ(recorder.times[1], 200_ns);
    EXPECT_EQ(engine.counters().installations, 0U);
}

TEST(SlotEngine, HostLatencyDelaysEveryHop) {
    RotorNetwork network = eight_rack_network();
    network.host_latency = 100_ns;
    SlotEngine engine(build_rotor_fabric(network));
    Recorder recorder(engine);
    recorder.send(0, 0, 28, 1_B);
    recorder.send(1, 0, 16, 1_B);
    engine.run();
    EXPECT_EQ(recorder.times[0], kPacket + 200_ns);
    EXPECT_EQ(recorder.times[1], 2 * kSuperslice + kPacket + 200_ns);  // the hop before was in time
}

TEST(SlotEngine, OwnRackMessagesMayGoDirect) {
    SlotEngine engine(build_rotor_fabric(with_bulk({.intra_rack = IntraRack::kDirect})));
    Recorder recorder(engine);
    recorder.send(0, 0, 1, 2 * 1436_B);
    engine.run();
    // The second of two falls due after half the slot, 26.37 us: 54 turns; two links without propagation.
    EXPECT_EQ(recorder.times[0], 54 * 480_ns + 240_ns);
    EXPECT_EQ(engine.counters().intra_rack, 2U);
    EXPECT_EQ(engine.statistics().packet_hops, 4U);
}

TEST(SlotEngine, DirectOnlyNeverRelays) {
    SlotEngine engine(build_rotor_fabric(
        with_bulk({.routing = BulkRouting::kDirectOnly, .intra_rack = IntraRack::kDirect})));
    Recorder recorder(engine);
    // All hosts of rack 0 to all of rack 1, 697 packets each, 2,788 per host: 25 slots of 109 and one of 63;
    // the first in superslice 2, 25 cycles later the last.
    std::uint64_t token = 0;
    for (int i = 0; i < 4; ++i) {
        for (int j = 4; j < 8; ++j) {
            recorder.send(token++, i, j, 1_MB);
        }
    }
    engine.run();
    EXPECT_EQ(engine.counters().first_hops, 0U);
    EXPECT_EQ(engine.counters().direct, 16U * 697);
    const Time last_slot = (2 + 25 * 8) * kSuperslice;
    EXPECT_GT(engine.now(), last_slot);
    EXPECT_LT(engine.now(), last_slot + 52'740_ns);
}

TEST(SlotEngine, CountsWhatLinksCarry) {
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(eight_rack_network());
    SlotEngine engine(fabric);
    Recorder recorder(engine);
    recorder.send(0, 0, 28, 2000_B);  // direct, two packets
    recorder.send(1, 0, 16, 1000_B);  // through rack 7
    engine.run();
    const NetworkStatistics statistics = engine.statistics();
    EXPECT_EQ(statistics.messages, 2U);
    EXPECT_EQ(statistics.bytes_delivered, 3000_B);
    EXPECT_EQ(statistics.packets, 4U);  // the relaying host sends one, too
    EXPECT_EQ(statistics.packet_hops, 12U);
    const LinkId up = fabric->first_link(NodeId(0));
    EXPECT_EQ(statistics.links[up].carried, 3000_B);
    EXPECT_EQ(statistics.links[*fabric->link(fabric->first_link(NodeId(28))).reverse].carried -
                  statistics.links[fabric->first_link(NodeId(28))].carried,
              2000_B);
    Bytes between_racks;
    for (std::size_t i = 0; i < fabric->link_count(); ++i) {
        if (fabric->circuits().is_circuit(LinkId(i))) {
            between_racks += statistics.links[LinkId(i)].carried;
        }
    }
    EXPECT_EQ(between_racks, 4000_B);
}

TEST(SlotEngine, TimersFireWhenAskedAndIdleTimeCostsNothing) {
    SlotEngine engine(build_rotor_fabric(eight_rack_network()));
    Recorder recorder(engine);
    recorder.react = [&](std::uint64_t token) {
        if (token == 1) {
            recorder.send(10, 0, 28, 1_B);
        }
    };
    engine.schedule(7_us, recorder, 0);
    engine.schedule(3600_s, recorder, 1);
    engine.run();
    EXPECT_EQ(recorder.times[0], 7_us);
    EXPECT_EQ(recorder.times[1], 3600_s);
    EXPECT_LT(recorder.times[10], 3600_s + 9 * kSuperslice);
    // A packet, and the superslices until it had a circuit.
    EXPECT_LE(engine.counters().installations, 9U);
}

TEST(SlotEngine, StopEndsTheRunBeforeTimeMovesOnAndRunContinues) {
    SlotEngine engine(build_rotor_fabric(eight_rack_network()));
    Recorder recorder(engine);
    recorder.react = [&](std::uint64_t token) {
        if (token == 10) {
            engine.stop();
        }
    };
    recorder.send(0, 0, 28, 1_MB);
    engine.schedule(kSuperslice, recorder, 10);
    engine.schedule(kSuperslice, recorder, 11);
    engine.run();
    EXPECT_EQ(engine.now(), kSuperslice);
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{10, 11}));
    const std::vector<OutstandingMessage> outstanding = engine.describe_outstanding(10);
    ASSERT_EQ(outstanding.size(), 1U);
    EXPECT_EQ(outstanding[0].source, HostId(0));
    EXPECT_EQ(outstanding[0].destination, HostId(28));
    EXPECT_EQ(outstanding[0].remaining, (697 - 109) * 1436_B);
    EXPECT_TRUE(engine.explain_stall().empty());
    engine.run();
    EXPECT_EQ(engine.outstanding_messages(), 0U);
    EXPECT_EQ(recorder.times[0], 301'820_ns) << "as if it had not stopped";
}

TEST(SlotEngine, SaysWhatNoCircuitTakes) {
    // Two rotors with the same matchings: racks 0 and 2 never meet, and direct traffic waits for ever.
    const Matching pairs{1, 0, 3, 2};
    const Matching idle{0, 1, 2, 3};
    RotorNetwork network = with_bulk({.routing = BulkRouting::kDirectOnly, .intra_rack = IntraRack::kDirect});
    network.schedule = RotorSchedule({{pairs, idle}, {idle, pairs}}, 1, kEightRackTiming);
    SlotEngine engine(build_rotor_fabric(network));
    Recorder recorder(engine);
    recorder.send(0, 0, 8, 3 * 1436_B);
    recorder.send(1, 0, 4, 1_B);
    engine.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{1}));
    EXPECT_EQ(engine.outstanding_messages(), 1U);
    EXPECT_NE(engine.explain_stall().find("3 bulk packets of 1 pair of hosts wait"), std::string::npos)
        << engine.explain_stall();
    // It looked at one cycle of four superslices after the last packet that went.
    EXPECT_LE(engine.counters().installations, 6U);
}

TEST(SlotEngine, StopsAtTheEndOfTime) {
    SlotEngine engine(build_rotor_fabric(eight_rack_network()));
    Recorder recorder(engine);
    recorder.react = [&](std::uint64_t token) {
        if (token == 1) {
            recorder.send(0, 0, 28, 1_B);
        }
    };
    engine.schedule(Time::max() - 10_us, recorder, 1);
    engine.run();
    EXPECT_EQ(engine.outstanding_messages(), 1U);
    EXPECT_EQ(engine.explain_stall(), kBeyondTime);
}

TEST(SlotEngine, RefusesWhatItCannotRun) {
    const auto refusal = [](const RotorNetwork& network) {
        return slot_engine_unsupported(*build_rotor_fabric(network)).value_or("");
    };
    EXPECT_EQ(refusal(eight_rack_network()), "");
    RotorNetwork network = eight_rack_network();
    network.low_latency.cutoff = 1_MB;
    EXPECT_NE(refusal(network).find("no paths"), std::string::npos);
    EXPECT_EQ(refusal(with_low_latency(network, 1_MB)), "");
    network = with_bulk({.routing = BulkRouting::kDirectOnly, .intra_rack = IntraRack::kTwoHops});
    EXPECT_NE(refusal(network).find("intra_rack"), std::string::npos);
    // A turn takes 4 · 1500 B / rate, a slot 52.74 us: none fits below 0.91 Gb/s, and 4 need 3.65 Gb/s.
    network = eight_rack_network();
    network.rate = 900_Mbps;
    EXPECT_NE(refusal(network).find("52.74us"), std::string::npos) << refusal(network);
    network.rate = 3'600_Mbps;
    EXPECT_NE(refusal(network).find("3 packets"), std::string::npos) << refusal(network);
    network.rate = 3'700_Mbps;
    EXPECT_EQ(refusal(network), "");
    // A byte takes 8 ps at 1 Tb/s, a turn 4 of them, and a slot of 4 superslices has 2^31 turns from 4 · 17.2
    // ms on.
    network.rate = Bandwidth(1'000'000'000'000);
    network.bulk.payload = 1_B;
    network.bulk.header = 0_B;
    network.schedule = RotorSchedule(eight_rack_matchings(), 1, {17_ms, Time(0), Time(0)});
    EXPECT_EQ(refusal(network), "");
    network.schedule = RotorSchedule(eight_rack_matchings(), 1, {18_ms, Time(0), Time(0)});
    EXPECT_NE(refusal(network).find("2147483647 packets"), std::string::npos) << refusal(network);
    EXPECT_TRUE(slot_engine_unsupported(*flat()));
    network = eight_rack_network();
    network.rate = 900_Mbps;
    EXPECT_THROW(SlotEngine{build_rotor_fabric(network)}, std::logic_error);
}

TEST(SlotEngine, RefusesWhatBreaksItsContract) {
    SlotEngine engine(build_rotor_fabric(eight_rack_network()));
    Recorder recorder(engine);
    EXPECT_THROW(recorder.send(0, 0, 0, 1_B), std::logic_error);
    EXPECT_THROW(recorder.send(0, 0, 32, 1_B), std::logic_error);
    EXPECT_THROW(recorder.send(0, 0, 1, Bytes(-1)), std::logic_error);
    EXPECT_THROW(engine.send({HostId(0), HostId(1), 1_B, nullptr, 0}), std::logic_error);
    EXPECT_THROW(engine.schedule(Time(-1), recorder, 0), std::logic_error);
}

TEST(SlotEngine, IsTheFluidBackendOfRotorNetworks) {
    Registry<BackendMaker> registry{"backend"};
    register_fluid_backend(registry);
    register_congestion_free_backend(registry);
    const auto read = [&registry](const std::string& yaml) {
        ReadContext context;
        const Result<ConfigNode> node = parse_config(yaml, "backend.yaml");
        return registry.read(node.value(), context)->make();
    };
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(eight_rack_network());
    const BackendMaker maker = read("{kind: fluid}");
    EXPECT_FALSE(maker.unsupported(*fabric));
    EXPECT_FALSE(maker.follows_routes(*fabric));
    const std::unique_ptr<NetworkBackend> backend = maker.make(fabric, 1);
    Recorder recorder(*backend);
    backend->send({HostId(0), HostId(16), 1436_B, &recorder, 0});
    backend->run();
    EXPECT_EQ(recorder.times[0], 2 * kSuperslice + kPacket);
    for (const char* terms : {"latency: false", "framing: {}", "window: 64KiB",
                              "window: 64KiB, incast: {buffer: 1MB, timeout: 1ms}"}) {
        const BackendMaker refused = read("{kind: fluid, " + std::string(terms) + "}");
        EXPECT_TRUE(refused.unsupported(*fabric)) << terms;
        EXPECT_FALSE(refused.unsupported(*flat())) << terms;
    }
    EXPECT_TRUE(read("{kind: congestion_free}").unsupported(*fabric));
}

}  // namespace
}  // namespace astrolabe::network::rotor
