#include "network/src/engines/fluid/fluid_backend.hpp"

#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "recorder.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/analysis/link_utilization.hpp>

namespace astrolabe::network {
namespace {

/// Hosts at 100 Gb/s, 80 ps per byte, 1 us from host to host.
std::shared_ptr<const Fabric> flat(int hosts, Bandwidth rate = 100_Gbps) {
    FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {rate, 500_ns};
    return build_flat(parameters);
}

constexpr Time kLatency = 1_us;

TEST(FluidBackend, ALoneMessageTakesLatencyPlusSizeOverRate) {
    for (const std::int64_t size : {1LL, 8192LL, 1LL << 20, 1LL << 40}) {
        FluidBackend backend(flat(2));
        Recorder recorder(backend);
        recorder.send(7, 0, 1, Bytes(size));
        backend.run();
        // 2^40 B take 8.8e13 ps, 88 s.
        EXPECT_EQ(recorder.times[7], kLatency + Time(80 * size));
        EXPECT_EQ(backend.outstanding_messages(), 0U);
    }
}

TEST(FluidBackend, ALoneMessageIsExactAtRatesThatDoNotDivide) {
    // ceil(8e12·S / B) with B = 33,333,333,334 bit/s; in doubles some of these would fall on the wrong side.
    const Bandwidth rate(33'333'333'334);
    for (std::int64_t size = 1; size < 3'000'000; size = size * 7 + 3) {
        FluidBackend backend(flat(2, rate));
        Recorder recorder(backend);
        recorder.send(0, 0, 1, Bytes(size));
        backend.run();
        EXPECT_EQ(recorder.times[0], kLatency + Bytes(size) / rate) << size;
    }
}

TEST(FluidBackend, SendersToOneReceiverGetEqualParts) {
    // k messages of S bytes through one port: each at B/k, all done at alpha + k·S·beta.
    for (const int k : {1, 2, 3, 7, 64}) {
        FluidBackend backend(flat(k + 1));
        Recorder recorder(backend);
        for (int i = 1; i <= k; ++i) {
            recorder.send(static_cast<std::uint64_t>(i), i, 0, 1_MiB);
        }
        backend.run();
        for (const auto& [token, time] : recorder.times) {
            EXPECT_EQ(time, kLatency + 80_ps * (k << 20)) << "sender " << token << " of " << k;
        }
    }
}

TEST(FluidBackend, APermutationRunsAtFullRate) {
    FluidBackend backend(flat(16));
    Recorder recorder(backend);
    for (int i = 0; i < 16; ++i) {
        recorder.send(static_cast<std::uint64_t>(i), i, (i + 5) % 16, 1_MiB);
    }
    backend.run();
    for (const auto& [token, time] : recorder.times) {
        EXPECT_EQ(time, kLatency + 80_ps * (1 << 20));
    }
}

TEST(FluidBackend, DirectAllToAllTakesTheClosedForm) {
    // alpha + (N-1)·S·beta/N with S/N = 4096 B per pair.
    for (int n = 2; n <= 16; ++n) {
        FluidBackend backend(flat(n));
        Recorder recorder(backend);
        std::vector<Message> messages;
        for (int i = 0; i < n; ++i) {
            for (int step = 1; step < n; ++step) {
                messages.push_back({HostId(i), HostId((i + step) % n), 4096_B, &recorder, messages.size()});
            }
        }
        backend.send_batch(messages);
        backend.run();
        ASSERT_EQ(recorder.order.size(), messages.size());
        for (const auto& [token, time] : recorder.times) {
            EXPECT_EQ(time, kLatency + 80_ps * (4096 * (n - 1))) << "N = " << n;
        }
        // Everything starts and ends together: one update for the start, of two flows that are alone or of
        // all; the end frees nobody.
        EXPECT_EQ(backend.rate_updates().alone, n == 2 ? 2U : 0U);
        EXPECT_EQ(backend.rate_updates().whole_network, n == 2 ? 0U : 1U);
    }
}

TEST(FluidBackend, RingStepsFollowOneAnother) {
    // Ring all-reduce, N = 8, S = 16 MiB: 14 steps of alpha + S·beta/N, each started by the delivery before
    // it.
    constexpr int kRanks = 8;
    constexpr int kSteps = 2 * (kRanks - 1);
    FluidBackend backend(flat(kRanks));
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t token) {
        const int step = static_cast<int>(token) / kRanks + 1;
        const int rank = (static_cast<int>(token) + 1) % kRanks;
        if (step < kSteps) {
            recorder.send(static_cast<std::uint64_t>(step * kRanks + rank), rank, (rank + 1) % kRanks, 2_MiB);
        }
    };
    for (int rank = 0; rank < kRanks; ++rank) {
        recorder.send(static_cast<std::uint64_t>(rank), rank, (rank + 1) % kRanks, 2_MiB);
    }
    backend.run();
    EXPECT_EQ(recorder.order.size(), static_cast<std::size_t>(kSteps * kRanks));
    // 14·(1 us + 2,097,152·80 ps) = 14·168,772,160 ps = 2,362.810 us, the worked value of the ring.
    EXPECT_EQ(backend.now(), Time(14 * 168'772'160LL));
}

TEST(FluidBackend, UnequalMessagesArePiecewiseLinear) {
    // Into host 0: 1 MB from 1, 2 MB from 2, 4 MB from 3, at 12.5 GB/s in all.
    //   first  done when 3·1 MB are served:              3 MB · 80 ps/B = 240 us
    //   second 1 MB more, two share:      240 us + 2·1 MB·80 ps/B        = 400 us
    //   third  2 MB more, alone:          400 us + 2 MB·80 ps/B          = 560 us
    FluidBackend backend(flat(4));
    Recorder recorder(backend);
    recorder.send(1, 1, 0, 1_MB);
    recorder.send(2, 2, 0, 2_MB);
    recorder.send(3, 3, 0, 4_MB);
    backend.run();
    EXPECT_EQ(recorder.times[1], kLatency + 240_us);
    EXPECT_EQ(recorder.times[2], kLatency + 400_us);
    EXPECT_EQ(recorder.times[3], kLatency + 560_us);
}

TEST(FluidBackend, ALateArrivalHalvesTheRateFromThenOn) {
    // 1 -> 0 alone for 40 us: 0.5 MB of 1 MB. Then 2 -> 0 joins with 1 MB: the first needs 0.5 MB at half
    // rate, 80 us more, until 120 us; the second has then served 0.5 MB and has 0.5 MB left at full rate: 160
    // us.
    FluidBackend backend(flat(3));
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t token) {
        if (token == 99) {
            recorder.send(2, 2, 0, 1_MB);
        }
    };
    recorder.send(1, 1, 0, 1_MB);
    backend.schedule(40_us, recorder, 99);
    backend.run();
    EXPECT_EQ(recorder.times[99], 40_us);
    EXPECT_EQ(recorder.times[1], kLatency + 120_us);
    EXPECT_EQ(recorder.times[2], kLatency + 160_us);
}

TEST(FluidBackend, WhatIsLeftForAFewPicosecondsEndsAtTheOneItEndsAt) {
    // Three share the port of 0, 240 ps per byte: 20,000 B need 4,800,000 ps. 3 ps before, 3/240 = 1/80 B are
    // left; then a fourth joins, and they take 320/80 = 4 ps more, at 320 ps per byte. As doubles they are
    // 0.0125000000007 B, from 20,000 B that the subtraction rounds, and take 4 ps and 2.3·10^-10 ps, which is
    // more than 2^-36 of 4 ps, and no reason to count a fifth.
    for (const RatesKept rates_kept : {RatesKept::kByConnection, RatesKept::kByLink}) {
        FluidBackend backend(flat(5), {.rates_kept = rates_kept});
        Recorder recorder(backend);
        recorder.react = [&](std::uint64_t token) {
            if (token == 99) {
                recorder.send(4, 4, 0, 1_MB);
            }
        };
        recorder.send(1, 1, 0, 20_KB);
        recorder.send(2, 2, 0, 1_MB);
        recorder.send(3, 3, 0, 1_MB);
        backend.schedule(Time(4'799'997), recorder, 99);
        backend.run();
        EXPECT_EQ(recorder.times[1], kLatency + Time(4'800'001));
    }
}

TEST(FluidBackend, MessagesEndOneAfterAnotherBeyondTheEndOfVirtualTime) {
    // 2^50 B at 10^15 bit/s take 9.0072 s. Those after 2^63 B of one connection end at the same virtual time.
    constexpr std::uint64_t kMessages = 8'200;
    constexpr std::int64_t kSpacing = 16;  // of doubles from 2^56 on, in ps
    std::vector<Time> ends;
    for (const RatesKept rates_kept : {RatesKept::kByConnection, RatesKept::kByLink}) {
        FluidBackend backend(flat(2, Bandwidth(1'000'000'000'000'000)), {.rates_kept = rates_kept});
        Recorder recorder(backend);
        for (std::uint64_t i = 0; i < kMessages; ++i) {
            recorder.send(i, 0, 1, Bytes(std::int64_t{1} << 50));
        }
        backend.run();
        EXPECT_EQ(backend.bytes_delivered(), Bytes::max());  // of 2^63 + 2^53
        ends.push_back(recorder.times[kMessages - 1]);
        const Time last = recorder.times[kMessages - 1] - recorder.times[kMessages - 2];
        EXPECT_NEAR(static_cast<double>(last.count()), 9'007'199'254'741.0, kSpacing);
    }
    EXPECT_EQ(ends[0], ends[1]);
    // 8,200 · 2^50 · 8·10^12 / 10^15 ps, rounded up.
    EXPECT_LE(std::abs((ends[0] - kLatency).count() - 73'859'033'888'876'135), kSpacing);
}

TEST(FluidBackend, ABottleneckElsewhereLeavesRoomForOthers) {
    // 1 -> 0, 2 -> 0, 3 -> 0 share the port of 0: B/3 each. 1 -> 4 shares the port of 1 with the first and
    // takes the rest, 2B/3. Sizes so that all end together: 2 MB and three times 1 MB: 1 MB·240 ps/B = 240
    // us.
    FluidBackend backend(flat(5));
    Recorder recorder(backend);
    recorder.send(1, 1, 0, 1_MB);
    recorder.send(2, 2, 0, 1_MB);
    recorder.send(3, 3, 0, 1_MB);
    recorder.send(4, 1, 4, 2_MB);
    backend.run();
    for (const auto& [token, time] : recorder.times) {
        EXPECT_EQ(time, kLatency + 240_us) << token;
    }
}

TEST(FluidBackend, MessagesOfAPairAreServedInTurn) {
    FluidBackend backend(flat(2));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 1000_B);
    recorder.send(1, 0, 1, 1_B);
    recorder.send(2, 0, 1, 500_B);
    backend.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_EQ(recorder.times[0], kLatency + 80'000_ps);
    EXPECT_EQ(recorder.times[1], kLatency + 80'080_ps);
    EXPECT_EQ(recorder.times[2], kLatency + 120'080_ps);
    // One start; no update in between; the end concerns nobody else.
    EXPECT_EQ(backend.rate_updates().updates, 1U);
}

TEST(FluidBackend, RoundingDoesNotAddUpOverATrainOfMessages) {
    // At 300 Gb/s a byte takes 80/3 ps. Message j of 1 B ends at ceil(80·j/3), not at j·ceil(80/3) = 27·j.
    FluidBackend backend(flat(2, 300_Gbps));
    Recorder recorder(backend);
    constexpr std::int64_t kMessages = 30'000;
    for (std::int64_t j = 1; j <= kMessages; ++j) {
        recorder.send(static_cast<std::uint64_t>(j), 0, 1, 1_B);
    }
    backend.run();
    for (const std::int64_t j : {1, 2, 3, 29'999, 30'000}) {
        EXPECT_EQ(recorder.times[static_cast<std::uint64_t>(j)], kLatency + Time((80 * j + 2) / 3)) << j;
    }
}

TEST(FluidBackend, AMessageSentWhenTheLastOneEndsStartsThenAndNotEarlier) {
    // Latency 0, so the delivery is in the instant the service ends: ceil(80/3) = 27 ps. The next byte starts
    // at 27 ps, not at the 26.67 ps at which the fluid ran out: 54 ps.
    FlatParameters parameters;
    parameters.hosts = 2;
    parameters.link = {300_Gbps, Time(0)};
    FluidBackend backend(build_flat(parameters));
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t token) {
        if (token == 0) {
            recorder.send(1, 0, 1, 1_B);
        }
    };
    recorder.send(0, 0, 1, 1_B);
    backend.run();
    EXPECT_EQ(recorder.times[0], 27_ps);
    EXPECT_EQ(recorder.times[1], 54_ps);
    // The connection never stopped sharing: one update, to start.
    EXPECT_EQ(backend.rate_updates().updates, 1U);
}

TEST(FluidBackend, MessagesWithoutBytesTakeTheLatencyInOrder) {
    FluidBackend backend(flat(2));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 0_B);
    recorder.send(1, 0, 1, 100_B);
    recorder.send(2, 0, 1, 0_B);
    recorder.send(3, 0, 1, 100_B);
    recorder.send(4, 0, 1, 0_B);
    backend.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(recorder.times[0], kLatency);
    EXPECT_EQ(recorder.times[1], kLatency + 8'000_ps);
    EXPECT_EQ(recorder.times[2], kLatency + 8'000_ps);
    EXPECT_EQ(recorder.times[3], kLatency + 16'000_ps);
    EXPECT_EQ(recorder.times[4], kLatency + 16'000_ps);
}

TEST(FluidBackend, OutstandingMessagesAreDescribedInTheOrderSent) {
    FluidBackend backend(flat(3));
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t) { backend.stop(); };
    recorder.send(10, 0, 1, 100_B);  // served at 8,000 ps, on the wire at 8,100 ps
    recorder.send(11, 2, 0, 1_MB);
    recorder.send(12, 0, 1, 2_MB);
    backend.schedule(8'100_ps, recorder, 99);
    backend.run();
    ASSERT_EQ(backend.outstanding_messages(), 3U);
    const std::vector<OutstandingMessage> all = backend.describe_outstanding(10);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].size, 100_B);
    EXPECT_EQ(all[0].remaining, 0_B);
    EXPECT_EQ(all[1].source, HostId(2));
    // 8,100 ps / 80 ps per byte = 101.25 B served: 999,899 whole bytes are not.
    EXPECT_EQ(all[1].remaining, Bytes(999'899));
    EXPECT_EQ(all[2].size, 2_MB);
    EXPECT_EQ(all[2].remaining, Bytes(1'999'999));
    EXPECT_EQ(backend.describe_outstanding(1).size(), 1U);
}

TEST(FluidBackend, ATransferBeyondTheEndOfTimeIsAStall) {
    // 2^40 B at 1 bit/s take 8.8e24 ps; time ends at 9.2e18.
    FluidBackend backend(flat(2, Bandwidth(1)));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, Bytes(1LL << 40));
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    EXPECT_TRUE(recorder.order.empty());
}

TEST(FluidBackend, AtLengthsOfDaysATimeIsAsExactAsADouble) {
    // k messages of 100,000 B at B/k each end at k·8e17/B ps, at most 2.7e18 ps, 31 days. Rate, time per byte
    // and their product with the size are rounded once each: relative 3·2^-53, 900 ps.
    for (const int k : {3, 7, 10}) {
        const Bandwidth rate(k == 7 ? 5 : 3);
        FluidBackend backend(flat(k + 1, rate));
        Recorder recorder(backend);
        for (int i = 1; i <= k; ++i) {
            recorder.send(static_cast<std::uint64_t>(i), i, 0, Bytes(100'000));
        }
        backend.run();
        const Time exact = kLatency + Bytes(100'000 * k) / rate;
        const Time error(static_cast<std::int64_t>(static_cast<double>(exact.count()) * 3 * 0x1p-53));
        ASSERT_EQ(recorder.times.size(), static_cast<std::size_t>(k));
        for (const auto& [token, time] : recorder.times) {
            EXPECT_GE(time, exact - error - 1_ps) << token << " of " << k;  // 1 ps: both were rounded up
            EXPECT_LE(time, exact + error + 1_ps) << token << " of " << k;
        }
    }
}

TEST(FluidBackend, StatisticsInTheMiddleOfAMessageCountWhatWasServed) {
    // 1000 B to each of two hosts share a port of 12.5 B/ns: at 60 ns each has 375 B of what takes it 160 ns.
    // At 160 ns all are served, and at 200 ns they have not arrived.
    const std::shared_ptr<const Fabric> fabric = flat(3);
    FluidBackend backend(fabric);
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 1000_B);
    recorder.send(1, 0, 2, 1000_B);
    recorder.send(2, 0, 2, 0_B);
    class Look final : public NotificationHandler {
    public:
        explicit Look(const FluidBackend& backend)
            : backend_(backend) {}
        void notify(std::uint64_t link) override {
            EXPECT_EQ(backend_.statistics().messages, 0U);
            carried.push_back(backend_.statistics().links[LinkId(link)].carried);
        }
        std::vector<Bytes> carried;

    private:
        const FluidBackend& backend_;
    };
    const LinkId up = fabric->first_link(NodeId(0));
    const LinkId down = fabric->link(fabric->first_link(NodeId(1))).reverse.value();
    Look look(backend);
    for (const Time time : {60_ns, 160_ns, 200_ns}) {
        backend.schedule(time, look, up.index());
        backend.schedule(time, look, down.index());
    }
    backend.run();
    EXPECT_EQ(look.carried, (std::vector<Bytes>{750_B, 375_B, 2000_B, 1000_B, 2000_B, 1000_B}));
}

TEST(FluidBackend, StatisticsCountWholeMessagesPerLink) {
    const std::shared_ptr<const Fabric> fabric = flat(3);
    FluidBackend backend(fabric);
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 1000_B);
    recorder.send(1, 0, 2, 500_B);
    recorder.send(2, 2, 1, 0_B);
    backend.run();
    const NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(statistics.messages, 3U);
    EXPECT_EQ(statistics.bytes_delivered, 1500_B);
    const auto up = [&](int host) { return fabric->first_link(NodeId(host)); };
    const auto down = [&](int host) { return *fabric->link(up(host)).reverse; };
    EXPECT_EQ(statistics.links[up(0)].carried, 1500_B);
    EXPECT_EQ(statistics.links[down(1)].carried, 1000_B);
    EXPECT_EQ(statistics.links[down(2)].carried, 500_B);
    EXPECT_EQ(statistics.links[up(2)].carried, 0_B);
    EXPECT_EQ(statistics.events, backend.events_processed());
    // Two services, three deliveries.
    EXPECT_EQ(statistics.events, 5U);
    // 1500 B of the 12.5 GB/s · 1.12 us = 14,000 B on the busiest of 6 links; 3000 B carried in all.
    EXPECT_EQ(backend.now(), kLatency + 120'000_ps);
    const LinkUtilization utilization = link_utilization(*fabric, statistics, backend.now());
    EXPECT_NEAR(utilization.max, 1500.0 / 14'000.0, 1e-15);
    EXPECT_NEAR(utilization.mean, 3000.0 / (6 * 14'000.0), 1e-15);
}

TEST(FluidBackend, SprayingUsesAllSpinesWhereAHashUsesOne) {
    // Two leaves of 4 hosts, 4 spines, uplinks at a quarter of the host rate. One message between leaves:
    // sprayed, the four uplinks carry a quarter each: full rate; hashed, one uplink: a quarter of it.
    LeafSpineParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_leaf = 4;
    parameters.spines = 4;
    parameters.uplink.rate = 25_Gbps;
    for (const bool spray : {true, false}) {
        parameters.load_balancing = spray ? LoadBalancing::kSpray : LoadBalancing::kFlowHash;
        const std::shared_ptr<const Fabric> fabric = build_leaf_spine(parameters);
        FluidBackend backend(fabric);
        Recorder recorder(backend);
        recorder.send(0, 0, 4, 1_MB);
        backend.run();
        // Four links of 500 ns; 80 us at 100 Gb/s, 320 us at 25 Gb/s.
        EXPECT_EQ(recorder.times[0], 2_us + (spray ? 80_us : 320_us));
        const NetworkStatistics statistics = backend.statistics();
        Bytes carried;
        for (const LinkStatistics& link : statistics.links) {
            carried += link.carried;
        }
        EXPECT_EQ(carried, 4 * 1_MB) << "four hops of every byte, however they are spread";
    }
}

TEST(FluidBackend, AnOversubscribedLeafLimitsWhatLeavesIt) {
    // 4 hosts at 100 Gb/s behind 200 Gb/s of sprayed uplinks (2:1): four flows to the other leaf get 50 Gb/s
    // each.
    LeafSpineParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_leaf = 4;
    parameters.spines = 2;
    parameters.oversubscription = 2.0;
    parameters.load_balancing = LoadBalancing::kSpray;
    FluidBackend backend(build_leaf_spine(parameters));
    Recorder recorder(backend);
    for (int i = 0; i < 4; ++i) {
        recorder.send(static_cast<std::uint64_t>(i), i, 4 + i, 1_MB);
    }
    backend.run();
    for (const auto& [token, time] : recorder.times) {
        EXPECT_EQ(time, 2_us + 160_us);
    }
}

TEST(FluidBackend, LatencyIsThatOfTheHopsTaken) {
    FatTreeParameters parameters;
    parameters.k = 4;
    FluidBackend backend(build_fat_tree(parameters));
    Recorder recorder(backend);
    recorder.send(2, 0, 1, 0_B);  // same edge switch: 2 links
    recorder.send(4, 0, 2, 0_B);  // same pod: 4
    recorder.send(6, 0, 4, 0_B);  // another pod: 6
    backend.run();
    for (const auto& [hops, time] : recorder.times) {
        EXPECT_EQ(time, 500_ns * hops);
    }
}

TEST(FluidBackend, PresentLimitsAreTheBottlenecksOfPairs) {
    // Hosts 0 and 1 on one switch, 2 and 3 on another, and 50 Gb/s between them. 0 -> 2 and 1 -> 3 share
    // these, 25 Gb/s each, and 0 -> 1 takes the 75 that are left of host 0's 100.
    FabricBuilder builder("thin");
    for (const char* name : {"h0", "h1", "h2", "h3"}) {
        builder.add_host(name);
    }
    const NodeId left = builder.add_switch("left");
    const NodeId right = builder.add_switch("right");
    for (std::size_t host = 0; host < 4; ++host) {
        builder.connect(NodeId(host), host < 2 ? left : right, {100_Gbps, 500_ns, Bytes(0)});
    }
    builder.connect(left, right, {50_Gbps, 500_ns, Bytes(0)});
    const std::shared_ptr<const Fabric> fabric = std::move(builder).build();
    FluidBackend backend(fabric);
    class Watcher final : public RunWatcher {
    public:
        explicit Watcher(NetworkBackend& backend)
            : backend_(backend) {}
        std::uint64_t pulse() override {
            if (limits.flows == 0) {
                limits = backend_.present_limits(1);
            }
            return 1;
        }
        PresentLimits limits;

    private:
        NetworkBackend& backend_;
    };
    Watcher watcher(backend);
    backend.watch(watcher);
    Recorder recorder(backend);
    recorder.send(0, 0, 2, 1_MB);
    recorder.send(1, 1, 3, 1_MB);
    recorder.send(2, 0, 1, 1_MB);
    backend.run();
    EXPECT_EQ(watcher.limits.flows, 3U);
    EXPECT_EQ(watcher.limits.all_links, 2U);
    EXPECT_EQ(watcher.limits.circuit_waits, 0U);
    ASSERT_EQ(watcher.limits.links.size(), 1U) << "as many as asked for";
    EXPECT_EQ(watcher.limits.links[0].flows, 2U);
    EXPECT_EQ(fabric->node(fabric->source(watcher.limits.links[0].link)).name, "left");
    EXPECT_EQ(fabric->node(fabric->target(watcher.limits.links[0].link)).name, "right");
}

TEST(FluidBackend, PresentLimitsKnowWhoWaitsForACircuit) {
    FluidBackend backend(star_with_a_circuit(10_us, 90_us, 500_ns));
    class Watcher final : public RunWatcher {
    public:
        explicit Watcher(NetworkBackend& backend)
            : backend_(backend) {}
        std::uint64_t pulse() override {
            waits.push_back(backend_.present_limits(4).circuit_waits);
            return 1;
        }
        std::vector<std::uint64_t> waits;

    private:
        NetworkBackend& backend_;
    };
    Watcher watcher(backend);
    backend.watch(watcher);
    Recorder recorder(backend);
    // At 20 us the circuit of host 0 is down, and host 1 is not on one.
    recorder.react = [&](std::uint64_t token) {
        if (token == 9) {
            recorder.send(0, 0, 1, 1000_B);
            recorder.send(1, 1, 2, 1000_B);
        }
    };
    backend.schedule(20_us, recorder, 9);
    backend.run();
    EXPECT_EQ(std::ranges::max(watcher.waits), 1U);
    EXPECT_EQ(watcher.waits.front(), 0U);
}

TEST(FluidBackend, RefusesWhatBreaksItsContract) {
    FluidBackend backend(flat(2));
    Recorder recorder(backend);
    EXPECT_THROW(recorder.send(0, 1, 1, 1_B), std::logic_error);
    EXPECT_THROW(recorder.send(0, 0, 2, 1_B), std::logic_error);
    EXPECT_THROW(recorder.send(0, 0, 1, Bytes(-1)), std::logic_error);
    EXPECT_THROW(backend.send({HostId(0), HostId(1), 1_B, nullptr, 0}), std::logic_error);
    EXPECT_THROW(backend.schedule(Time(-1), recorder, 0), std::logic_error);
}

}  // namespace
}  // namespace astrolabe::network
