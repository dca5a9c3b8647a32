/// Opera and RotorNet as fabrics.
#include "network/src/engines/slots/slot_engine.hpp"
#include "network/src/engines/slots/slot_timing.hpp"
#include "network/src/rotor/opera.hpp"
#include "network/src/rotor/rotor_fabric.hpp"
#include "network/src/rotor/topology_file.hpp"
#include "parameter_keys.hpp"
#include "recorder.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

#include <astrolabe/network/rotor/slice_graph.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::network::rotor {
namespace {

OperaParameters small() {
    OperaParameters p;
    p.racks = 16;
    p.uplinks = 4;
    p.hosts_per_rack = 2;
    return p;
}

TEST(OperaRates, UplinksMayHaveARateOfTheirOwn) {
    OperaParameters p = small();
    p.hosts_per_rack = 1;
    p.link.rate = 400_Gbps;
    p.uplink_rate = 100_Gbps;
    // A packet of 1,500 B takes 30 ns at 400 Gb/s and 120 ns at 100 Gb/s. A host fills four uplinks of a
    // quarter of its rate: in a round of 4 packets it sends one on each.
    const auto fast_hosts = make_rotor_network(p);
    const SlotTiming fast(*fast_hosts);
    EXPECT_EQ(fast.packet(), 30_ns);
    EXPECT_EQ(fast.transmission_slots(1), 120_ns);
    EXPECT_EQ(fast.to_other_rack(), 30_ns + 120_ns + 500_ns + 30_ns);
    EXPECT_EQ(fast.to_intra_rack(), 60_ns);

    p.hosts_per_rack = 3;
    p.link.rate = 250_Gbps;
    // 48 ns; 3 · 250 / 100 = 7.5, so a host has an eighth of its link for each circuit.
    EXPECT_EQ(SlotTiming(*make_rotor_network(p)).transmission_slots(1), 8 * 48_ns);

    p.link.rate = 100_Gbps;
    p.uplink_rate = 400_Gbps;
    // Its own link limits a host: a quarter for each of four circuits.
    const SlotTiming slow(*make_rotor_network(p));
    EXPECT_EQ(slow.transmission_slots(1), 4 * 120_ns);
    EXPECT_EQ(slow.to_other_rack(), 120_ns + 30_ns + 500_ns + 120_ns);
}

TEST(OperaRates, RatesOfHostsAndUplinksAreScaledApart) {
    OperaParameters p = small();
    p.uplink_rate = 50_Gbps;
    const auto fabric = build_opera(p);
    Scaling scaling;
    scaling.links["rack-rack"] = 2;
    const auto scaled = std::get<std::shared_ptr<const Fabric>>(scale(fabric, scaling));
    const RotorNetwork& network = *rotors_of(*scaled);
    EXPECT_EQ(network.rate, 100_Gbps);
    EXPECT_EQ(network.rate_of_host(), 100_Gbps);
    EXPECT_EQ(rotors_of(*fabric)->rate, 50_Gbps);
}

TEST(OperaParameters, WhatIsRefused) {
    struct Case {
        std::function<void(OperaParameters&)> spoil;
        Keys expected;
    };
    const std::vector<Case> cases = {
        {[](OperaParameters& p) { p.racks = 1; }, {"racks"}},
        {[](OperaParameters& p) { p.racks = 513; }, {"racks"}},
        {[](OperaParameters& p) { p.racks = 18; }, {"racks"}},  // 18 matchings, 4 rotors
        {[](OperaParameters& p) { p.uplinks = 0; }, {"uplinks"}},
        {[](OperaParameters& p) { p.radix = 8; }, {"uplinks"}},  // both given
        {[](OperaParameters& p) { p.uplinks = -1; }, {"uplinks"}},
        {[](OperaParameters& p) {
             p.uplinks = 0;
             p.radix = 7;
         },
         {"radix"}},
        {[](OperaParameters& p) { p.hosts_per_rack = -1; }, {"hosts_per_rack"}},
        {[](OperaParameters& p) { p.groups = 3; }, {"groups"}},
        {[](OperaParameters& p) { p.lift_from = 5; }, {"lift_from"}},
        {[](OperaParameters& p) {
             p.link = {Bandwidth(0), Time(-1)};
         },
         {"link.rate", "link.latency"}},
        {[](OperaParameters& p) { p.propagation = Time(-1); }, {"propagation"}},
        {[](OperaParameters& p) { p.reconfiguration_delay = 2'000'000_us; }, {"reconfiguration_delay"}},
        {[](OperaParameters& p) { p.queue = 0; }, {"queue"}},
        {[](OperaParameters& p) { p.link.rate = 1_bps; }, {"queue"}},  // 8 packets take hours
        {[](OperaParameters& p) { p.draws = 0; }, {"draws"}},
        {[](OperaParameters& p) { p.eps = Time(-1); }, {"eps"}},
        {[](OperaParameters& p) { p.del = Time(-1); }, {"del"}},
        {[](OperaParameters& p) {
             p.eps = p.del = Time(0);
             p.reconfiguration_delay = Time(0);
         },
         {"eps"}},
        {[](OperaParameters& p) { p.bulk.payload = Bytes(0); }, {"bulk.payload"}},
        {[](OperaParameters& p) { p.bulk.header = Bytes(-1); }, {"bulk.header"}},
        {[](OperaParameters& p) {
             p.bulk.routing = BulkRouting::kDirectOnly;
             p.bulk.intra_rack = IntraRack::kTwoHops;
         },
         {"bulk.intra_rack"}},
        {[](OperaParameters& p) { p.low_latency.cutoff = Bytes(-1); }, {"low_latency.cutoff"}},
        {[](OperaParameters& p) { p.low_latency.window = 0; }, {"low_latency.window"}},
        {[](OperaParameters& p) { p.low_latency.paths = 0; }, {"low_latency.paths"}},
        {[](OperaParameters& p) { p.failures = {{.cables = 65}}; },
         {"failures.cables"}},  // 16 racks, 4 rotors
        {[](OperaParameters& p) { p.failures = {{.racks = 17}}; }, {"failures.racks"}},
        {[](OperaParameters& p) { p.failures = {{.rotors = -1}}; }, {"failures.rotors"}},
        {[](OperaParameters& p) {
             p.failures = {{.rotors = 3}, {.at = 1_us, .rotors = 2}};
         },
         {"failures.1.rotors"}},
        {[](OperaParameters& p) {
             p.failures = {{.at = 2_us, .racks = 1}, {.at = 1_us, .racks = 1}};
         },
         {"failures.1.at"}},
        {[](OperaParameters& p) { p.failures = {{.at = Time(-1), .racks = 1}}; }, {"failures.0.at"}},
        {[](OperaParameters& p) { p.failures.resize(101); }, {"failures"}},
        {[](OperaParameters& p) {
             p.low_latency.classes = {1, 8};
         },
         {"low_latency.classes"}},
        {[](OperaParameters& p) {
             p.low_latency.classes = {1, 1};
         },
         {"low_latency.classes"}},
        {[](OperaParameters& p) {
             p.low_latency = {.cutoff = 1_MB, .classes = {1, 2}};
             p.bulk.classes = {2};
         },
         {"bulk.classes"}},
        {[](OperaParameters& p) { p.bulk.classes = {2}; }, {"bulk.classes"}},
    };
    EXPECT_EQ(keys(validation_errors(small())), Keys{});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        OperaParameters p = small();
        cases[i].spoil(p);
        EXPECT_EQ(keys(validation_errors(p)), cases[i].expected) << "case " << i;
        EXPECT_THROW((void)build_opera(p), std::logic_error) << "case " << i;
    }
}

TEST(OperaParameters, PathsMustExistWhereTheyAreNeeded) {
    // Of two rotors one stays up: a rack reaches one other. Slot lengths then cannot be derived, and messages
    // cannot leave at once; with both out of the way the network stands.
    OperaParameters p = small();
    p.uplinks = 2;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"uplinks"});
    p.eps = 5_us;
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
    EXPECT_EQ(make_rotor_network(p)->paths, nullptr);
    p.low_latency.cutoff = 1_MB;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"uplinks"});
}

TEST(OperaParameters, NoPacketIsOnItsWayForMoreThanACycle) {
    // Derived superslices last for the propagation and longer; 16 of 5 + 1 + 10 us do not.
    OperaParameters p = small();
    p.propagation = 1_s;
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
    p.eps = 5_us;
    p.del = 1_us;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"eps"});
    EXPECT_NE(validation_errors(p).front().message.find("1s of propagation"), std::string::npos);
    p = small();
    p.link.latency = 1_ms;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.latency"});
    RotorNetParameters together;
    static_cast<OperaParameters&>(together) = p;
    EXPECT_EQ(keys(validation_errors(together)), Keys{"link.latency"});
    // 3 links of 0.12 us and 0.5 us: 16 ns are too short, 16 * 54 ns are not.
    p = small();
    p.reconfiguration_delay = p.del.emplace(0);
    p.eps = 1_ns;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"eps"});
    p.eps = 54_ns;
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
}

TEST(RotorNetParameters, WhatItsRotorsDoNotHaveIsRefused) {
    const OperaParameters whole = small();
    const auto refused = [&whole](const std::function<void(OperaParameters&)>& spoil) {
        RotorNetParameters p;
        static_cast<OperaParameters&>(p) = whole;
        spoil(p);
        EXPECT_THROW((void)build_rotornet(p), std::logic_error);
        return keys(validation_errors(p));
    };
    EXPECT_EQ(refused([](OperaParameters& p) { p.groups = 2; }), Keys{"groups"});
    EXPECT_EQ(refused([](OperaParameters& p) { p.low_latency.cutoff = 1_KB; }), Keys{"low_latency"});
    EXPECT_EQ(
        refused([](OperaParameters& p) {
            const std::shared_ptr<const RotorNetwork> drawn = make_rotor_network(small());
            p = {};
            p.topology = std::make_shared<const TopologyFile>(TopologyFile{drawn->schedule, 2, drawn->paths});
        }),
        Keys{"file"});
    EXPECT_EQ(refused([](OperaParameters& p) { p.racks = 18; }), Keys{"racks"});
}

TEST(OperaTopology, LengthsFollowTheMostHops) {
    const std::shared_ptr<const RotorNetwork> network = make_rotor_network(small());
    const auto hops = static_cast<std::int64_t>(HopCounts::of_cycle(network->schedule).worst());
    // eps = (H - 1) (0.5 us + 8 * 0.12 us) + 7 * 0.12 us; del = 0.5 us + 0.12 us
    EXPECT_EQ(network->schedule.timing().eps, 1460_ns * (hops - 1) + 840_ns);
    EXPECT_EQ(network->schedule.timing().del, 620_ns);
    EXPECT_EQ(network->schedule.timing().reconfiguration, 10_us);
    ASSERT_NE(network->paths, nullptr);
    PathList paths;
    network->paths->find(0, 0, 5, paths);
    EXPECT_GE(paths.size(), 1U);
}

TEST(OperaTopology, GivenLengthsStand) {
    OperaParameters p = small();
    p.eps = 90_us;
    p.del = 2_us;
    EXPECT_EQ(make_rotor_network(p)->schedule.timing(), (RotorTiming{90_us, 2_us, 10_us}));
    RotorNetParameters together;
    static_cast<OperaParameters&>(together) = p;
    EXPECT_EQ(make_rotor_network(together)->schedule.timing(), (RotorTiming{90_us, 2_us, 10_us}));
}

TEST(OperaTopology, RadixIsHalfHostsHalfUplinks) {
    OperaParameters p;
    p.racks = 12;
    p.radix = 8;
    const std::shared_ptr<const Fabric> fabric = build_opera(p);
    EXPECT_EQ(fabric->host_count(), 48U);
    EXPECT_EQ(rotor::rotors_of(*fabric)->schedule.uplinks(), 4U);
    EXPECT_EQ(fabric->node_count(), 48U + 12);
    // Two directions of a cable for each host and each pair of racks.
    EXPECT_EQ(fabric->link_count(), 2U * (48 + 12 * 11 / 2));
}

/// Circuits of an interval, as racks they join.
std::set<std::pair<Rack, Rack>> joined(const Fabric& fabric, std::size_t interval) {
    std::set<std::pair<Rack, Rack>> pairs;
    const auto hosts = static_cast<std::uint32_t>(fabric.host_count());
    for (const LinkId link : fabric.circuits().intervals()[interval].links) {
        EXPECT_TRUE(
            pairs.emplace(fabric.source(link).index() - hosts, fabric.target(link).index() - hosts).second);
    }
    return pairs;
}

void expect_circuits_of_schedule(const Fabric& fabric) {
    const RotorSchedule& schedule = rotor::rotors_of(fabric)->schedule;
    ASSERT_EQ(fabric.circuits().intervals().size(), 2U * schedule.superslices());
    EXPECT_EQ(fabric.circuits().period(), schedule.cycle());
    for (std::uint32_t s = 0; s < schedule.superslices(); ++s) {
        std::set<std::pair<Rack, Rack>> up;
        std::set<std::pair<Rack, Rack>> staying;
        for (Rack rack = 0; rack < schedule.racks(); ++rack) {
            for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
                const Rack peer = schedule.peer(rotor, rack, s);
                if (peer != rack) {
                    up.emplace(rack, peer);
                    if (!schedule.goes_dark(rotor, s)) {
                        staying.emplace(rack, peer);
                    }
                }
            }
        }
        EXPECT_EQ(joined(fabric, 2 * s), up);
        EXPECT_EQ(joined(fabric, 2 * s + 1), staying);
        EXPECT_EQ(fabric.circuits().intervals()[2 * s].duration,
                  schedule.timing().eps + schedule.timing().del);
        EXPECT_EQ(fabric.circuits().intervals()[2 * s + 1].duration, schedule.timing().reconfiguration);
    }
}

TEST(OperaTopology, CircuitsAreThoseOfTheSchedule) {
    for (const std::int64_t groups : {1, 2}) {
        OperaParameters p = small();
        p.groups = groups;
        p.eps = 5_us;
        expect_circuits_of_schedule(*build_opera(p));
    }
    RotorNetParameters together;
    static_cast<OperaParameters&>(together) = small();
    const std::shared_ptr<const Fabric> rotornet = build_rotornet(together);
    EXPECT_EQ(rotornet->kind(), "rotornet");
    expect_circuits_of_schedule(*rotornet);
    EXPECT_TRUE(joined(*rotornet, 1).empty());
}

TEST(OperaTopology, NoReconfigurationNoInterval) {
    OperaParameters p = small();
    p.reconfiguration_delay = Time(0);
    EXPECT_EQ(build_opera(p)->circuits().intervals().size(), 16U);
}

TEST(OperaTopology, SeedsOfMatchingsAndOfRunsAreApart) {
    OperaParameters p = small();
    const auto first = [&p] { return make_rotor_network(p)->schedule.matching(0, 0); };
    const Matching matching = first();
    p.run_seed = 2;
    EXPECT_EQ(first(), matching);
    p.seed = 2;
    EXPECT_NE(first(), matching);
}

TEST(OperaTopology, BulkWithinARackTakesItsSwitchUnlessTwoHopsAreAskedFor) {
    OperaParameters p = small();
    for (const BulkRouting routing : {BulkRouting::kRotorLb, BulkRouting::kDirectOnly}) {
        p.bulk.routing = routing;
        EXPECT_EQ(make_rotor_network(p)->bulk.intra_rack, IntraRack::kDirect);
    }
    p.bulk = {.intra_rack = IntraRack::kTwoHops};
    EXPECT_EQ(make_rotor_network(p)->bulk.intra_rack, IntraRack::kTwoHops);
}

TEST(OperaTopology, WhatFailedHasNoCircuits) {
    OperaParameters p = small();
    const std::size_t whole = build_opera(p)->link_count();
    p.failures = {{.rotors = 1}};
    const std::shared_ptr<const Fabric> fabric = build_opera(p);
    // A rotor holds 4 of 16 matchings; its circuits are those of its pairs of racks.
    EXPECT_LT(fabric->link_count(), whole);
    expect_circuits_of_schedule(*fabric);
    // Slices keep the length they have in the whole network.
    EXPECT_EQ(rotor::rotors_of(*fabric)->schedule.timing(), make_rotor_network(small())->schedule.timing());
    // All 64 cables: nobody reaches anybody, which only low-latency messages forbid.
    p.failures = {{.cables = 64}};
    EXPECT_EQ(build_opera(p)->link_count(), 2U * 32);
    EXPECT_EQ(rotor::rotors_of(*build_opera(p))->paths, nullptr);
    p.low_latency.cutoff = 1_MB;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"failures"});
}

TEST(OperaTopology, FailuresAddUp) {
    OperaParameters p = small();
    p.failures = {{.cables = 2, .racks = 1}, {.at = 1_ms, .rotors = 1}, {.at = 1_ms, .racks = 15}};
    const std::shared_ptr<const RotorNetwork> network = make_rotor_network(p);
    // What is there from the start is what it is without what comes later, whichever way it is written.
    OperaParameters from_start = small();
    from_start.failures = {{.cables = 2, .racks = 1}};
    const RotorSchedule first = make_rotor_network(from_start)->schedule;
    ASSERT_EQ(network->failing.size(), 1U) << "what fails at one time makes one state";
    const RotorState& later = network->failing.front();
    EXPECT_EQ(later.from, 1_ms);
    for (Rotor rotor = 0; rotor < 4; ++rotor) {
        for (std::uint32_t index = 0; index < 4; ++index) {
            EXPECT_EQ(network->schedule.matching(rotor, index), first.matching(rotor, index));
            for (Rack rack = 0; rack < 16; ++rack) {
                EXPECT_EQ(later.schedule.matching(rotor, index)[rack], rack) << "all 16 racks have failed";
            }
        }
    }
    // Superslices are those of the whole network; the state is known from the first that begins in it.
    const Time length = first.timing().superslice();
    const std::uint64_t known = network->first_superslice(1);
    EXPECT_GE(length * static_cast<std::int64_t>(known), 1_ms);
    EXPECT_LT(length * static_cast<std::int64_t>(known - 1), 1_ms);
    EXPECT_EQ(network->state_in(known - 1), 0U);
    EXPECT_EQ(network->state_in(known), 1U);
    EXPECT_EQ(network->state_at(1_ms - 1_ps), 0U);
    EXPECT_EQ(network->state_at(1_ms), 1U);
}

/// Tokens of delivered messages of 10 kB among all hosts, by source · hosts + destination.
std::set<std::uint64_t> delivered_among_all(const std::shared_ptr<const Fabric>& fabric) {
    SlotEngine engine(fabric);
    Recorder recorder(engine);
    const auto hosts = static_cast<int>(fabric->host_count());
    for (int source = 0; source < hosts; ++source) {
        for (int destination = 0; destination < hosts; ++destination) {
            if (source != destination) {
                recorder.send(static_cast<std::uint64_t>(source * hosts + destination), source, destination,
                              10_KB);
            }
        }
    }
    engine.run();
    EXPECT_EQ(engine.outstanding_messages() == 0, engine.explain_stall().empty());
    return {recorder.order.begin(), recorder.order.end()};
}

TEST(OperaTopology, RotorLbGoesRoundWhatFailed) {
    OperaParameters p = small();
    // 4 rotors with 4 matchings each: without two cables some racks never meet, but two hops join all.
    p.failures = {{.cables = 2}};
    const std::shared_ptr<const Fabric> cables = build_opera(p);
    EXPECT_LT(cables->link_count(), build_opera(small())->link_count());
    EXPECT_EQ(delivered_among_all(cables).size(), 32U * 31);
    // The two hosts of a failed rack reach one another alone, through its switch; the 30 others are not
    // disturbed.
    p.failures = {{.racks = 1}};
    EXPECT_EQ(delivered_among_all(build_opera(p)).size(), 30U * 29 + 2);
}

TEST(OperaTopology, AFileSaysWhatElseParametersSay) {
    OperaParameters p = small();
    const std::shared_ptr<const RotorNetwork> drawn = make_rotor_network(p);
    OperaParameters imported;
    imported.topology =
        std::make_shared<const TopologyFile>(TopologyFile{drawn->schedule, 2, drawn->paths, false});
    EXPECT_EQ(keys(validation_errors(imported)), Keys{});
    const std::shared_ptr<const Fabric> fabric = build_opera(imported);
    EXPECT_EQ(fabric->host_count(), 32U);
    EXPECT_EQ(rotor::rotors_of(*fabric)->schedule.timing(), drawn->schedule.timing());
    EXPECT_EQ(rotor::rotors_of(*fabric)->paths, drawn->paths);
    // Lengths of a file made for links of 100 Gb/s: del = 0.5 + 0.12 us, and a packet takes 1.2 us at 10.
    imported.link.rate = 10_Gbps;
    EXPECT_EQ(keys(validation_errors(imported)), Keys{"link.rate"});
    imported.link.rate = 100_Gbps;
    imported.propagation = 1_us;
    EXPECT_EQ(keys(validation_errors(imported)), Keys{"propagation"});
    imported.propagation = 500_ns;
    // Said again, even if it is the same.
    imported.racks = 16;
    imported.uplinks = 4;
    imported.draws = 2;
    imported.eps = drawn->schedule.timing().eps;
    imported.reconfiguration_delay = 20_us;
    imported.low_latency.paths = 1;
    EXPECT_EQ(keys(validation_errors(imported)),
              (Keys{"racks", "uplinks", "draws", "reconfiguration_delay", "eps", "low_latency.paths"}));
}

/// The golden network with messages that wait for the direct circuit.
std::shared_ptr<const Fabric> direct_only() {
    RotorNetwork network = eight_rack_network();
    network.bulk = {.routing = BulkRouting::kDirectOnly, .intra_rack = IntraRack::kDirect};
    return build_rotor_fabric(std::move(network));
}

TEST(OperaTopology, AMessageWaitsForItsCircuit) {
    // From rack 0, one message each, alone: 125,000 B take 10 us at 100 Gb/s. T = 15.84 us. Rotor 0 joins 0
    // to 7 in superslices 0 … 3: at once. Rotor 1 joins 0 to 6 (the second matching it holds, from superslice
    // 5) in 5 - 8 … 0 of the cycle, so up at once for 15.84 - 10 = 5.84 us, then dark, and again from
    // superslice 5 on: 4.16 us are left then.
    const std::shared_ptr<const Fabric> fabric = direct_only();
    const Time slice = 15'840_ns;
    EXPECT_EQ(deliver_together(fabric, {{0, 28, Bytes(125'000)}})[0], 10_us + 500_ns);
    EXPECT_EQ(deliver_together(fabric, {{0, 24, Bytes(125'000)}})[0], slice * 5 + 4'160_ns + 500_ns);
    // Within the rack, both of its links and no circuit.
    EXPECT_EQ(deliver_together(fabric, {{0, 1, Bytes(125'000)}})[0], 10_us);
    // Rack 0 and rack 1: the first matching of rotor 2, M_4, joins 4 + 3 = 0 (mod 7) with 4 - 3 = 1.
    // Installed at the start of superslice 2.
    EXPECT_EQ(deliver_together(fabric, {{0, 4, Bytes(125'000)}})[0], slice * 2 + 10_us + 500_ns);
}

TEST(OperaTopology, ARackPairGetsItsShareOfACycle) {
    // All 16 host pairs of racks 0 and 7 send over the one circuit between them, 63.36 - 10 = 53.36 us a
    // cycle of 126.72 us at 12.5 GB/s: 667,000 B. In three cycles 3 * 667,000 B; the last byte at the end of
    // the third presence, which begins with the third cycle.
    std::vector<Transfer> transfers;
    for (int i = 0; i < 4; ++i) {
        for (int j = 28; j < 32; ++j) {
            transfers.push_back({i, j, Bytes(3 * 667'000 / 16)});
        }
    }
    // 3 * 667,000 / 16 = 125,062.5: half a byte of each pair is cut off, 8 B or 0.64 ns.
    const std::vector<Time> times = deliver_together(direct_only(), transfers);
    EXPECT_NEAR(static_cast<double>(std::ranges::max(times).count()),
                static_cast<double>((126'720_ns * 2 + 53'360_ns - 640_ps + 500_ns).count()), 20.0);
}

}  // namespace
}  // namespace astrolabe::network::rotor
