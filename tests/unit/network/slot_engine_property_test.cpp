/// What must hold of any run of the slot engine: random networks, options and messages.
#include "network/src/engines/slots/slot_engine.hpp"
#include "random_seed.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <random_rotors.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <rotor_fabric.hpp>

#include <astrolabe/network/rotor/rotor_links.hpp>

namespace astrolabe::network::rotor {
namespace {

/// Sends each message at its time, in the order listed.
struct Sending {
    Sending(const std::shared_ptr<const Fabric>& fabric, const std::vector<LaterMessage>& messages,
            SlotEngine::Repetitions repetitions = SlotEngine::Repetitions::kFastForwarded)
        : engine(fabric, repetitions),
          recorder(engine),
          starter(engine) {
        starter.react = [this, messages](std::uint64_t token) {
            const LaterMessage& sent = messages[token];
            engine.send({HostId(sent.source), HostId(sent.destination), sent.size, &recorder, token});
        };
        for (std::size_t i = 0; i < messages.size(); ++i) {
            engine.schedule(messages[i].at, starter, i);
        }
        engine.run();
    }

    SlotEngine engine;
    Recorder recorder;
    Recorder starter;
};

RC_GTEST_PROP(SlotEngineProperty, DeliversEverythingOnceInOrderAndWithinTheRatesOfLinks, ()) {
    Random random(random_seed());
    RotorNetwork network = random_network(random);
    if (random(0, 1) == 0) {
        add_low_latency(random, network);
    }
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(network);
    RC_PRE(!slot_engine_unsupported(*fabric));
    const std::int64_t hosts = network.schedule.racks() * network.hosts_per_rack;
    RC_PRE(hosts > 1);
    const std::vector<LaterMessage> messages =
        random_messages(random, hosts, random(0, 1) == 0 ? 5'000 : 300'000);
    Sending run(fabric, messages);
    RC_ASSERT(run.engine.outstanding_messages() == 0U);
    RC_ASSERT(run.recorder.order.size() == messages.size());

    // Bytes of hosts, for bounds: what a host sends and receives passes its link.
    Bytes total;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Time> latest_of_pair;  // of bulk
    std::vector<std::size_t> by_start(messages.size());
    std::iota(by_start.begin(), by_start.end(), std::size_t{0});
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](std::size_t a, std::size_t b) { return messages[a].at < messages[b].at; });
    for (const std::size_t i : by_start) {
        const LaterMessage& sent = messages[i];
        const Time time = run.recorder.times.at(i);
        if (!network.is_low_latency(sent.size, 0)) {
            Time& latest = latest_of_pair[{sent.source, sent.destination}];
            RC_ASSERT(time >= latest);
            latest = time;
        }
        const bool other_rack =
            sent.source / network.hosts_per_rack != sent.destination / network.hosts_per_rack;
        const Time latency = 2 * network.host_latency + (other_rack ? network.propagation : Time(0));
        RC_ASSERT(time >= sent.at + latency + sent.size / network.rate);
        total += sent.size;
    }
    const NetworkStatistics statistics = run.engine.statistics();
    RC_ASSERT(statistics.bytes_delivered == total);
    RC_ASSERT(run.engine.counters().first_hops == run.engine.counters().second_hops);

    // No link carries more than its rate in the time the run took, headers included.
    Bytes into_hosts;
    Bytes out_of_hosts;
    Bytes between_racks;
    for (std::size_t i = 0; i < fabric->link_count(); ++i) {
        const LinkId link(i);
        const Bytes carried = statistics.links[link].carried;
        RC_ASSERT(carried / fabric->link(link).rate <= run.engine.now());
        if (fabric->circuits().is_circuit(link)) {
            between_racks += carried;
        } else if (fabric->source(link).index() < hosts) {
            out_of_hosts += carried;
        } else {
            into_hosts += carried;
        }
    }
    RC_ASSERT(into_hosts == out_of_hosts);
    if (network.low_latency.cutoff == Bytes(0)) {
        RC_ASSERT(between_racks <= out_of_hosts);
    }
    RC_ASSERT(out_of_hosts >= total);
    if (network.low_latency.cutoff == Bytes(0)) {
        RC_ASSERT(out_of_hosts <= 2 * total);
    }

    Sending again(fabric, messages);
    RC_ASSERT(again.recorder.times == run.recorder.times);
    RC_ASSERT(again.recorder.order == run.recorder.order);
}

RC_GTEST_PROP(SlotEngineProperty, WhateverFailsMessagesAreDeliveredOrReportedOnce, ()) {
    Random random(random_seed());
    RotorNetwork network = random_network(random);
    if (random(0, 1) == 0) {
        add_low_latency(random, network);
    }
    fail_at_random(random, network, 500_us);
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(network);
    RC_PRE(!slot_engine_unsupported(*fabric));
    const std::int64_t hosts = network.schedule.racks() * network.hosts_per_rack;
    RC_PRE(hosts > 1);
    const std::vector<LaterMessage> messages = random_messages(random, hosts, 300'000);
    Sending run(fabric, messages);
    const std::vector<OutstandingMessage> outstanding = run.engine.describe_outstanding(messages.size());
    RC_ASSERT(run.recorder.order.size() == run.recorder.times.size());
    RC_ASSERT(run.recorder.order.size() + outstanding.size() == messages.size());
    RC_ASSERT(run.engine.outstanding_messages() == outstanding.size());
    RC_ASSERT(run.engine.explain_stall().empty() == outstanding.empty());
    Bytes delivered;
    for (const auto& [token, time] : run.recorder.times) {
        delivered += messages[token].size;
        RC_ASSERT(time >=
                  messages[token].at + 2 * network.host_latency + messages[token].size / network.rate);
    }
    const NetworkStatistics statistics = run.engine.statistics();
    RC_ASSERT(statistics.bytes_delivered == delivered);
    const SlotCounters& counters = run.engine.counters();
    RC_ASSERT(counters.second_hops <= counters.first_hops);
    RC_ASSERT(!outstanding.empty() || counters.second_hops == counters.first_hops);
    // A circuit carries no bulk packets that come out of it after it failed.
    const RotorLinks links(*fabric);
    for (Rotor rotor = 0; rotor < network.schedule.uplinks(); ++rotor) {
        for (std::uint32_t matching = 0; matching < network.schedule.matchings_per_rotor(); ++matching) {
            for (Rack rack = 0; rack < network.schedule.racks(); ++rack) {
                if (!network.has_low_latency() && network.schedule.matching(rotor, matching)[rack] != rack) {
                    RC_ASSERT(statistics.links[links.circuit(rotor, matching, rack)].carried / network.rate <=
                              failure_of(network, rotor, matching, rack));
                }
            }
        }
    }
    RC_CLASSIFY(!outstanding.empty(), "some are reported");
    RC_CLASSIFY(run.engine.now() > network.failing.front().from, "fails before the end");
}

RC_GTEST_PROP(SlotEngineProperty, CyclesPassedOverAreThoseThatWouldHaveBeenWorkedOut, ()) {
    Random random(random_seed());
    RotorNetwork network = random_network(random);
    network.bulk.remainders = Remainders::kRoundRobin;
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(network);
    RC_PRE(!slot_engine_unsupported(*fabric));
    const std::int64_t hosts = network.schedule.racks() * network.hosts_per_rack;
    RC_PRE(hosts > 1);
    std::vector<LaterMessage> messages = random_messages(random, hosts, 10'000'000);
    for (LaterMessage& message : messages) {
        message.at = message.at * random(1, 20);
    }
    const Sending passed(fabric, messages);
    const Sending worked_out(fabric, messages, SlotEngine::Repetitions::kSimulated);
    RC_ASSERT(passed.recorder.times == worked_out.recorder.times);
    RC_ASSERT(passed.recorder.order == worked_out.recorder.order);
    const SlotCounters& a = passed.engine.counters();
    const SlotCounters& b = worked_out.engine.counters();
    RC_ASSERT(b.passed_over == 0U);
    RC_ASSERT(a.installations + a.passed_over == b.installations);
    RC_ASSERT(std::tie(a.direct, a.intra_rack, a.first_hops, a.second_hops) ==
              std::tie(b.direct, b.intra_rack, b.first_hops, b.second_hops));
    const NetworkStatistics sa = passed.engine.statistics();
    const NetworkStatistics sb = worked_out.engine.statistics();
    RC_ASSERT(sa.packet_hops == sb.packet_hops);
    for (std::size_t i = 0; i < fabric->link_count(); ++i) {
        RC_ASSERT(sa.links[LinkId(i)].carried == sb.links[LinkId(i)].carried);
    }
    RC_CLASSIFY(a.passed_over > a.installations, "most cycles passed over");
}

TEST(SlotEngineRepetition, LongMessagesCostNoMoreForBeingLong) {
    // All to all with 1 MB takes 32 cycles, ten thousand times as much three hundred thousand; what is worked
    // out is the begin, the end, and a few dozen cycles in between.
    RotorNetwork network = eight_rack_network();
    network.bulk.remainders = Remainders::kRoundRobin;
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(network);
    std::vector<LaterMessage> messages;
    for (std::uint32_t source = 0; source < 32; ++source) {
        for (std::uint32_t destination = 0; destination < 32; ++destination) {
            if (source / 4 != destination / 4) {
                messages.push_back({source, destination, Bytes(10'000'000'000), Time(0)});
            }
        }
    }
    const Sending run(fabric, messages);
    EXPECT_EQ(run.engine.outstanding_messages(), 0U);
    const SlotCounters& counters = run.engine.counters();
    // 28 · 10 GB leave each host, at (7/8) · 109 packets a superslice of 15.84 us, 1436 bytes each: within 1
    // %.
    const double superslices = 28 * 10e9 / (1436 * 109 * 7.0 / 8);
    EXPECT_NEAR(static_cast<double>(counters.installations + counters.passed_over), superslices,
                superslices / 100);
    EXPECT_LT(counters.installations, 10'000U);
}

}  // namespace
}  // namespace astrolabe::network::rotor
