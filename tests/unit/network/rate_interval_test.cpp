/// Rates that are updated only every so often (rate_interval.hpp), or only where there is enough to gain
/// (rate_slack.hpp). A byte takes 1 ns on every link, and 500
/// ns of latency.
#include "fluid_reference.hpp"
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/flat.hpp"
#include "random_seed.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/rate_interval.hpp>
#include <astrolabe/network/resources.hpp>

namespace astrolabe::network {
namespace {

using Random = std::mt19937_64;

constexpr Time kPathLatency = 1_us;  // of a path, two links

std::int64_t pick(Random& random, std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

std::shared_ptr<const Fabric> star(std::int64_t hosts) {
    FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {8_Gbps, 500_ns};
    return build_flat(parameters);
}

/// Sends messages at their times; delivery times by message, and the report of the interval.
struct Delivered {
    std::vector<Time> times;
    std::optional<RateIntervalReport> report;
};
Delivered deliver(const std::shared_ptr<const Fabric>& fabric, Time interval,
                  const std::vector<ReferenceMessage>& messages, double slack = 0.0) {
    class Sender final : public NotificationHandler {
    public:
        Sender(NetworkBackend& backend, const std::vector<ReferenceMessage>& messages)
            : recorder(backend),
              messages_(messages) {
            for (std::size_t i = 0; i < messages.size(); ++i) {
                backend.schedule(messages[i].sent, *this, i);
            }
        }
        void notify(std::uint64_t token) override {
            const ReferenceMessage& message = messages_[token];
            recorder.send(token, static_cast<int>(message.source.index()),
                          static_cast<int>(message.destination.index()), message.size);
        }
        Recorder recorder;

    private:
        const std::vector<ReferenceMessage>& messages_;
    };
    FluidBackend backend(fabric, {.rate_interval = interval, .rate_slack = slack});
    Sender sender(backend, messages);
    backend.run();
    Delivered delivered;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        delivered.times.push_back(sender.recorder.times.at(i));
    }
    delivered.report = backend.statistics().rate_interval;
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    return delivered;
}

ReferenceMessage message(Time sent, std::size_t source, std::size_t destination, Bytes size) {
    return {sent, HostId(source), HostId(destination), size};
}

TEST(RateInterval, IsOffByDefault) {
    EXPECT_FALSE(FluidBackend(star(2)).statistics().rate_interval.has_value());
}

TEST(RateInterval, WhatRunsEmptyKeepsItsRateUntilTheNextUpdate) {
    // Hosts 0 and 1 send to host 2 at half its rate each. 2,500 B of host 0 end at 5 us; the rates of 0 us
    // stay until 10 us, when 5,000 of the 10,000 B of host 1 are left for 5 us: it ends at 15 us, not at 12.5
    // us. Host 0 has withheld half of the port for 5 us, which is the whole port for 2.5 us: as much as host
    // 1 is late. The port of host 0 itself was withheld by half of its rate for as long.
    const Delivered delivered =
        deliver(star(3), 10_us, {message(0_us, 0, 2, 2500_B), message(0_us, 1, 2, 10000_B)});
    EXPECT_EQ(delivered.times, (std::vector<Time>{5_us + kPathLatency, 15_us + kPathLatency}));
    ASSERT_TRUE(delivered.report.has_value());
    EXPECT_EQ(delivered.report->interval, 10_us);
    EXPECT_EQ(delivered.report->withheld, Time(2'500'000));
    EXPECT_EQ(delivered.report->starts, 2U);
    EXPECT_EQ(delivered.report->waits, 0_us);
    EXPECT_EQ(delivered.report->updates, 2U);
}

TEST(RateInterval, WhatSendsAgainInTimeGoesOnAtItsRate) {
    // As above, and host 0 sends 1,000 B more at 7 us, which take 2 us at its rate of before. It withholds
    // half of the port from 5 to 7 and from 9 to 10 us: 1.5 us of the whole.
    const Delivered delivered =
        deliver(star(3), 10_us,
                {message(0_us, 0, 2, 2500_B), message(0_us, 1, 2, 10000_B), message(7_us, 0, 2, 1000_B)});
    EXPECT_EQ(delivered.times,
              (std::vector<Time>{5_us + kPathLatency, 15_us + kPathLatency, 9_us + kPathLatency}));
    EXPECT_EQ(delivered.report->withheld, Time(1'500'000));
    EXPECT_EQ(delivered.report->starts, 2U);
}

TEST(RateInterval, WhatStartsWaitsForTheNextUpdate) {
    // Host 0 sends 20,000 B from 0 us on. Host 1 starts at 3 us and waits until 10 us. Then 10,000 B are left
    // of host 0 and both have half a port: 1,000 B of host 1 take 2 us.
    const Delivered delivered =
        deliver(star(3), 10_us, {message(0_us, 0, 2, 20000_B), message(3_us, 1, 2, 1000_B)});
    EXPECT_EQ(delivered.times[1], 12_us + kPathLatency);
    EXPECT_EQ(delivered.report->longest_wait, 7_us);
    EXPECT_EQ(delivered.report->waits, 7_us);
    // Host 1 withholds its half from 12 us to 20 us, when 10,000 - 5,000 B are left of host 0: 25 us.
    EXPECT_EQ(delivered.times[0], 25_us + kPathLatency);
    EXPECT_EQ(delivered.report->withheld, 4_us);
}

TEST(RateInterval, AnIdleNetworkIsNotWaitedFor) {
    // The last update is longer ago than the interval: a start is served at once.
    const Delivered delivered =
        deliver(star(2), 10_us, {message(0_us, 0, 1, 1000_B), message(30_us, 0, 1, 1000_B)});
    EXPECT_EQ(delivered.times, (std::vector<Time>{1_us + kPathLatency, 31_us + kPathLatency}));
    EXPECT_EQ(delivered.report->longest_wait, 0_us);
}

TEST(RateInterval, IsTheExactRunOfMessagesThatWaitAndOfBytesThatAreWithheld) {
    // Host 0 runs empty at 5 us and withholds its half of the port of host 2 until 10 us; host 3 starts at 4
    // us.
    const Delivered approximate =
        deliver(star(4), 10_us,
                {message(0_us, 0, 2, 2500_B), message(0_us, 1, 2, 11000_B), message(4_us, 3, 2, 3000_B)});
    // Exact: host 0 sends the 2,500 B that it withheld from 5 to 10 us, host 3 starts at 10 us. From then on
    // host 1, with 6,000 B, and host 3 have a half each: 3,000 B of host 3 end at 16 us, and until 20 us it
    // withholds 2,000 B. At 20 us 1,000 B of host 1 are left.
    const Delivered exact =
        deliver(star(4), Time(0),
                {message(0_us, 0, 2, 2500_B), message(0_us, 1, 2, 11000_B), message(10_us, 3, 2, 3000_B),
                 message(0_us, 0, 2, 2500_B), message(10_us, 3, 2, 2000_B)});
    EXPECT_EQ(approximate.times[1], 21_us + kPathLatency);
    EXPECT_EQ(approximate.times[2], 16_us + kPathLatency);
    for (std::size_t i = 0; i < approximate.times.size(); ++i) {
        EXPECT_EQ(approximate.times[i], exact.times[i]) << i;
    }
    EXPECT_EQ(approximate.report->withheld, Time((2500 + 2000) * 1000));
    EXPECT_EQ(approximate.report->longest_wait, 6_us);
}

std::vector<ReferenceMessage> random_messages(Random& random, std::int64_t hosts, bool into_host_0) {
    std::vector<ReferenceMessage> messages;
    for (std::int64_t count = pick(random, 1, 60); count > 0; --count) {
        const std::int64_t source = pick(random, into_host_0 ? 1 : 0, hosts - 1);
        const std::int64_t destination = into_host_0 ? 0 : (source + pick(random, 1, hosts - 1)) % hosts;
        messages.push_back(message(Time(pick(random, 0, 60) * 1'000'000), static_cast<std::size_t>(source),
                                   static_cast<std::size_t>(destination),
                                   pick(random, 0, 1) == 0 ? 2048_B : Bytes(pick(random, 1, 8000))));
    }
    std::stable_sort(messages.begin(), messages.end(),
                     [](const auto& a, const auto& b) { return a.sent < b.sent; });
    return messages;
}

RC_GTEST_PROP(RateIntervalProperty, OfAPicosecondIsExact, ()) {
    // Two instants are a picosecond apart at least.
    Random random(random_seed());
    const std::int64_t hosts = pick(random, 2, 9);
    const auto messages = random_messages(random, hosts, false);
    const Delivered exact = deliver(star(hosts), Time(0), messages);
    const Delivered approximate = deliver(star(hosts), Time(1), messages);
    RC_ASSERT(approximate.times == exact.times);
    RC_ASSERT(approximate.report->longest_wait == Time(0));
    RC_ASSERT(approximate.report->withheld == Time(0));
}

RC_GTEST_PROP(RateIntervalProperty, OneBottleneckEndsWithinTheBound, ()) {
    Random random(random_seed());
    const std::int64_t hosts = pick(random, 2, 9);
    const auto messages = random_messages(random, hosts, true);
    const Time interval(pick(random, 1, 20'000'000));
    const Delivered exact = deliver(star(hosts), Time(0), messages);
    const Delivered approximate = deliver(star(hosts), interval, messages);
    const Time last = *std::max_element(exact.times.begin(), exact.times.end());
    const Time last_approximate = *std::max_element(approximate.times.begin(), approximate.times.end());
    // Every end is rounded to a picosecond.
    const Time rounding(static_cast<std::int64_t>(messages.size()));
    RC_ASSERT(last_approximate >= last - rounding);
    RC_ASSERT(last_approximate <= last + interval + approximate.report->withheld + rounding);
    RC_ASSERT(approximate.report->longest_wait < interval);
}

RC_GTEST_PROP(RateIntervalProperty, NothingIsFasterThanItsLink, ()) {
    Random random(random_seed());
    const std::int64_t hosts = pick(random, 2, 9);
    const auto messages = random_messages(random, hosts, false);
    const Delivered delivered = deliver(star(hosts), Time(pick(random, 1, 20'000'000)), messages);
    std::vector<Bytes> into(static_cast<std::size_t>(hosts));
    for (std::size_t i = 0; i < messages.size(); ++i) {
        RC_ASSERT(delivered.times[i] >= messages[i].sent + kPathLatency + 1_ns * messages[i].size.count());
        into[messages[i].destination.index()] += messages[i].size;
    }
    const Time last = *std::max_element(delivered.times.begin(), delivered.times.end());
    for (const Bytes bytes : into) {
        // Every end is rounded to a picosecond.
        const Time rounding(static_cast<std::int64_t>(messages.size()));
        RC_ASSERT(last >= kPathLatency + 1_ns * bytes.count() - rounding);
    }
}

TEST(RateSlack, ALinkKeepsRatesUntilThereIsEnoughToGain) {
    // 24 hosts send to host 0, each at 0.95 / 24 of the 1,000 B/us of its port: half of the slack is kept
    // back. The 950 B of one end at 24 us. For the others there is 24 / (23 · 0.95) of what they have, 9.8 %
    // more: they keep it and end their 9,500 B at 240 us. Exactly, the port takes (950 + 23 · 9,500) B /
    // 1,000 B/us = 219.45 us.
    std::vector<ReferenceMessage> messages{message(0_us, 1, 0, 950_B)};
    for (std::size_t source = 2; source <= 24; ++source) {
        messages.push_back(message(0_us, source, 0, 9500_B));
    }
    const Delivered approximate = deliver(star(25), Time(0), messages, 0.1);
    const Delivered exact = deliver(star(25), Time(0), messages);
    for (std::size_t i = 1; i < messages.size(); ++i) {
        EXPECT_EQ(approximate.times[i], 240_us + kPathLatency);
        EXPECT_EQ(exact.times[i], 219450_ns + kPathLatency);
    }
}

TEST(RateSlack, IsStatedAndNotAppliedWhereDelaysAreAccounted) {
    EXPECT_FALSE(FluidBackend(star(2)).statistics().rate_slack.has_value());
    const std::shared_ptr<const Fabric> fabric = star(2);
    FluidBackend backend(fabric, {.rate_slack = 0.001});
    ASSERT_TRUE(backend.statistics().rate_slack.has_value());
    EXPECT_TRUE(backend.statistics().rate_slack->is_applied);
    EXPECT_DOUBLE_EQ(backend.statistics().rate_slack->longer_at_most(), 1.0 / 999.0);  // 0.001 / 0.999
    const Resources resources(*fabric);
    ASSERT_TRUE(backend.account_delays(resources));
    EXPECT_FALSE(backend.statistics().rate_slack->is_applied);
}

TEST(RateSlack, AnUnevenAllToAllIsNearTheExactOne) {
    // 16 hosts, 240 messages of 32 to 96 KiB. No theorem bounds several bottlenecks, but at a slack of 0.1 %
    // the last one of these is as late as one bottleneck's could be.
    std::vector<ReferenceMessage> messages;
    std::uint64_t draw = 1;
    for (std::size_t source = 0; source < 16; ++source) {
        for (std::size_t step = 1; step < 16; ++step) {
            draw = draw * 6364136223846793005U + 1442695040888963407U;
            messages.push_back(message(0_us, source, (source + step) % 16,
                                       32_KiB + Bytes(static_cast<std::int64_t>((draw >> 33) % (1U << 16)))));
        }
    }
    const Delivered exact = deliver(star(16), Time(0), messages);
    const Delivered approximate = deliver(star(16), Time(0), messages, 0.001);
    const auto last = [](const Delivered& delivered) {
        return static_cast<double>(std::max_element(delivered.times.begin(), delivered.times.end())->count());
    };
    EXPECT_LE(last(approximate), last(exact) / (1.0 - 0.001));
    EXPECT_GE(last(approximate), last(exact) * (1.0 - 0.001));
}

RC_GTEST_PROP(RateSlackProperty, OneBottleneckIsLongerByTheSlackAtMost, ()) {
    // What arrives at a port from any instant on is served at (1 - slack) of its rate at least.
    Random random(random_seed());
    const std::int64_t hosts = pick(random, 2, 9);
    const auto messages = random_messages(random, hosts, true);
    const double slack = 0.001 * static_cast<double>(pick(random, 1, 100));
    const Delivered exact = deliver(star(hosts), Time(0), messages);
    const Delivered approximate = deliver(star(hosts), Time(0), messages, slack);
    const auto last = [](const Delivered& delivered) {
        const Time time = *std::max_element(delivered.times.begin(), delivered.times.end());
        return static_cast<double>((time - kPathLatency).count());
    };
    // Every end is rounded to a picosecond.
    const auto rounding = static_cast<double>(messages.size());
    RC_ASSERT(last(approximate) >= last(exact) - rounding);
    RC_ASSERT(last(approximate) <= last(exact) / (1.0 - slack) + rounding);
}

}  // namespace
}  // namespace astrolabe::network
