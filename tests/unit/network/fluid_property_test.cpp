/// What must hold for the fluid engine on any fabric and under any traffic.
#include "network/src/engines/fluid/completion_queue.hpp"
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/host_pair_index.hpp"
#include "random_fabrics.hpp"
#include "random_seed.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/containers/delay_queue.hpp>
#include <astrolabe/network/pair_index.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

/// How long the link has existed at `now`.
Time uptime(const Fabric& fabric, LinkId link, Time now) {
    if (!fabric.circuits().is_circuit(link)) {
        return now;
    }
    Time up_per_period;
    Time up_since;
    Time begin;
    for (std::size_t k = 0; k < fabric.circuits().intervals().size(); ++k) {
        const Time duration = fabric.circuits().intervals()[k].duration;
        if (fabric.circuits().exists(link, k)) {
            up_per_period += duration;
            up_since += std::clamp(now % fabric.circuits().period() - begin, Time(0), duration);
        }
        begin += duration;
    }
    return up_per_period * (now / fabric.circuits().period()) + up_since;
}

struct Sent {
    std::uint32_t source;
    std::uint32_t destination;
    Bytes size;
    Time at;
    Time delivered = Time(-1);
};

/// Random traffic, most of it started from inside notifications: timers and replies to deliveries.
class Traffic final : public NotificationHandler {
public:
    Traffic(FluidBackend& backend, Random random, int messages)
        : backend_(backend),
          random_(random),
          left_(messages) {
        for (int i = 0; i < 5; ++i) {
            backend_.schedule(Time(pick(random_, 0, 3) * 1'000'000), *this, kTimer);
        }
    }

    void notify(std::uint64_t token) override {
        RC_ASSERT(backend_.now() >= last_);
        last_ = backend_.now();
        if (token != kTimer) {
            RC_ASSERT(sent[token].delivered == Time(-1));
            sent[token].delivered = backend_.now();
            delivery_order.push_back(token);
        }
        for (std::int64_t n = pick(random_, 0, 4); n > 0 && left_ > 0; --n) {
            send();
        }
        if (left_ > 0) {
            backend_.schedule(Time(pick(random_, 0, 3) * 1'000'000), *this, kTimer);
        }
    }

    std::vector<Sent> sent;
    std::vector<std::uint64_t> delivery_order;

private:
    static constexpr std::uint64_t kTimer = ~std::uint64_t{0};

    void send() {
        const auto hosts = static_cast<std::int64_t>(backend_.fabric().host_count());
        const std::int64_t source = pick(random_, 0, hosts - 1);
        const std::int64_t destination = (source + pick(random_, 1, hosts - 1)) % hosts;
        // Many equal sizes, so that many ends coincide; some zero, some odd.
        const std::int64_t kind = pick(random_, 0, 9);
        const Bytes size = kind == 0 ? 0_B : kind < 7 ? 64_KiB : Bytes(pick(random_, 1, 1 << 18));
        --left_;
        const std::uint64_t token = sent.size();
        sent.push_back({static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(destination), size,
                        backend_.now()});
        backend_.send({HostId(sent.back().source), HostId(sent.back().destination), size, this, token});
    }

    FluidBackend& backend_;
    Random random_;
    int left_;
    Time last_;
};

RC_GTEST_PROP(FluidProperty, EveryByteArrivesOnceInOrderAndNotTooEarly, ()) {
    Random random(random_seed());
    const std::shared_ptr<const Fabric> fabric = random_fabric(random);
    FluidBackend backend(fabric);
    Traffic traffic(backend, random, 300);
    backend.run();

    RC_ASSERT(backend.outstanding_messages() == 0U);
    Bytes total;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Time> last_of_pair;
    std::vector<double> carried(fabric->link_count(), 0.0);
    for (const Sent& message : traffic.sent) {
        total += message.size;
        const Route route = fabric->routing().route(HostId(message.source), HostId(message.destination));
        Bandwidth narrowest = Bandwidth::max();
        for (const RouteLeg& leg : route.legs) {
            carried[leg.link.index()] += leg.share * static_cast<double>(message.size.count());
            if (leg.share == 1.0) {
                narrowest = std::min(narrowest, fabric->link(leg.link).rate);
            }
        }
        RC_ASSERT(message.delivered >= message.at + route.latency + message.size / narrowest);
        Time& last = last_of_pair[{message.source, message.destination}];
        RC_ASSERT(message.delivered >= last);
        last = message.delivered;
    }
    const NetworkStatistics statistics = backend.statistics();
    RC_ASSERT(statistics.messages == traffic.sent.size());
    RC_ASSERT(statistics.bytes_delivered == total);
    for (std::size_t i = 0; i < fabric->link_count(); ++i) {
        const Bytes actual = statistics.links[LinkId(i)].carried;
        // Sums of at most 300 products below 2^18 with shares 1/n; the statistic is rounded to whole bytes.
        RC_ASSERT(std::abs(static_cast<double>(actual.count()) - carried[i]) <= 0.5 + 1e-6);
        // No link carries more than its rate allows while it exists; 1e-9 and one byte cover the rounding of
        // rates and of the statistic.
        const Time up = uptime(*fabric, LinkId(i), backend.now());
        const double capacity = to_bytes_per_second(fabric->link(LinkId(i)).rate) * to_seconds(up);
        RC_ASSERT(static_cast<double>(actual.count()) <= capacity * (1.0 + 1e-9) + 1.0);
    }
}

RC_GTEST_PROP(FluidProperty, TheSameTrafficGivesTheSameTimes, ()) {
    const auto seed = random_seed();
    std::vector<std::uint64_t> order;
    std::vector<Time> times;
    for (int repetition = 0; repetition < 2; ++repetition) {
        Random random(seed);
        FluidBackend backend(random_fabric(random));
        Traffic traffic(backend, random, 200);
        backend.run();
        std::vector<Time> delivered;
        for (const Sent& message : traffic.sent) {
            delivered.push_back(message.delivered);
        }
        if (repetition == 0) {
            order = traffic.delivery_order;
            times = delivered;
        } else {
            RC_ASSERT(order == traffic.delivery_order);
            RC_ASSERT(times == delivered);
        }
    }
}

RC_GTEST_PROP(FluidProperty, RatesByConnectionByLinkAndOfTheWholeNetworkGiveTheSameTimes, ()) {
    // Messages that do not react to deliveries, so that a picosecond cannot change what is sent.
    Random random(random_seed());
    const std::shared_ptr<const Fabric> fabric = random_fabric(random);
    const auto hosts = static_cast<std::int64_t>(fabric->host_count());
    std::vector<Message> messages;
    for (int i = 0; i < 200; ++i) {
        const std::int64_t source = pick(random, 0, hosts - 1);
        const std::int64_t destination = (source + pick(random, 1, hosts - 1)) % hosts;
        messages.push_back({HostId(static_cast<std::size_t>(source)),
                            HostId(static_cast<std::size_t>(destination)), Bytes(pick(random, 1, 1 << 18)),
                            nullptr, static_cast<std::uint64_t>(i)});
    }
    class Times final : public NotificationHandler {
    public:
        Times(FluidBackend& backend, std::size_t count)
            : times(count),
              backend_(backend) {}
        void notify(std::uint64_t token) override { times[token] = backend_.now(); }
        std::vector<Time> times;

    private:
        FluidBackend& backend_;
    };
    std::vector<std::vector<Time>> results;
    const std::vector<FluidOptions> ways{{.rates_kept = RatesKept::kByConnection},
                                         {.strategy = MaxMinSolver::Strategy::kWholeNetwork},
                                         {.rates_kept = RatesKept::kByLink}};
    for (const FluidOptions& way : ways) {
        FluidBackend backend(fabric, way);
        Times times(backend, messages.size());
        for (Message& message : messages) {
            message.on_delivered = &times;
        }
        backend.send_batch(messages);
        backend.run();
        results.push_back(times.times);
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
        // Doubles err by less than what is rounded away around a whole picosecond.
        for (std::size_t way = 1; way < ways.size(); ++way) {
            RC_ASSERT(results[0][i] == results[way][i]);
        }
    }
}

RC_GTEST_PROP(DelayQueueProperty, LeavesByTimeThenByOrderOfPushing, ()) {
    Random random(random_seed());
    DelayQueue<int> queue;
    std::vector<std::pair<Time, int>> expected;  // kept sorted by time, then by number
    Time now;
    for (int i = 0; i < 500; ++i) {
        if (queue.empty() || pick(random, 0, 2) > 0) {
            // From few delays to more than there are lanes.
            const Time delay(pick(random, 0, i < 250 ? 4 : 40));
            queue.push(now, delay, i);
            const std::pair<Time, int> item{now + delay, i};
            expected.insert(std::upper_bound(expected.begin(), expected.end(), item), item);
        } else {
            RC_ASSERT(queue.next_time() == expected.front().first);
            now = expected.front().first;
            RC_ASSERT(queue.pop() == expected.front().second);
            expected.erase(expected.begin());
        }
        RC_ASSERT(queue.size() == expected.size());
    }
    std::size_t visited = 0;
    queue.for_each([&](Time, int) { ++visited; });
    RC_ASSERT(visited == expected.size());
}

RC_GTEST_PROP(DelayQueueProperty, TakesOutSomeAndTakesThemBackAtAnyTime, ()) {
    Random random(random_seed());
    DelayQueue<int> queue;
    std::vector<std::pair<Time, int>> expected;
    const auto push = [&](Time now, Time delay, int number) {
        queue.push(now, delay, number);
        expected.insert(std::upper_bound(expected.begin(), expected.end(), std::pair{now + delay, number},
                                         [](const auto& a, const auto& b) { return a.first < b.first; }),
                        {now + delay, number});
    };
    const auto is_taken = [](int number) { return number % 3 == 0; };
    const int most_delays = *rc::gen::element(4, 40);  // fewer or more than there are lanes
    for (int i = 0; i < 300; ++i) {
        push(Time(i), Time(pick(random, 0, most_delays)), i);
        if (pick(random, 0, 40) == 0) {
            std::vector<std::pair<Time, int>> taken;
            queue.take_out(is_taken, [&](Time time, int number) { taken.emplace_back(time, number); });
            std::vector<std::pair<Time, int>> left;
            std::vector<std::pair<Time, int>> expected_taken;
            for (const auto& item : expected) {
                (is_taken(item.second) ? expected_taken : left).push_back(item);
            }
            RC_ASSERT(taken == expected_taken);
            expected = left;
            // Some come back, with a delay from long ago.
            for (const auto& [time, number] : taken) {
                if (pick(random, 0, 1) == 0) {
                    const Time delay(pick(random, 0, most_delays));
                    push(time - delay, delay, number);
                }
            }
        }
    }
    for (const auto& [time, number] : expected) {
        RC_ASSERT(queue.next_time() == time);
        RC_ASSERT(queue.pop() == number);
    }
    RC_ASSERT(queue.empty());
}

RC_GTEST_PROP(DelayQueueProperty, WhatSharesAnEventLeavesAsIfItDidNot, ()) {
    Random random(random_seed());
    DelayQueue<std::vector<int>> queue;
    std::vector<std::pair<Time, int>> expected;
    std::vector<int> order;
    Time now;
    for (int i = 0; i < 500; ++i) {
        const Time delay(pick(random, 0, i < 250 ? 4 : 40));
        std::vector<int>* const newest = queue.newest(now, delay);
        if (newest != nullptr) {
            newest->push_back(i);
        } else {
            queue.push(now, delay, {i});
        }
        expected.emplace_back(now + delay, i);
        while (!queue.empty() && pick(random, 0, 2) == 0) {
            now = queue.next_time();
            const std::vector<int> events = queue.pop();
            order.insert(order.end(), events.begin(), events.end());
        }
    }
    while (!queue.empty()) {
        const std::vector<int> events = queue.pop();
        order.insert(order.end(), events.begin(), events.end());
    }
    std::sort(expected.begin(), expected.end());
    RC_ASSERT(order.size() == expected.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        RC_ASSERT(order[i] == expected[i].second);
    }
}

RC_GTEST_PROP(CompletionQueueProperty, TakesWhatIsEarliestHoweverOftenItWasPlannedAnew, ()) {
    Random random(random_seed());
    constexpr std::uint32_t kConnections = 40;
    CompletionQueue queue;
    for (std::uint32_t i = 0; i < kConnections; ++i) {
        queue.add_connection();
    }
    std::map<std::uint32_t, Time> expected;
    const std::int64_t latest = pick(random, 1, 1000);
    const std::int64_t rarity = pick(random, 1, 2000);  // of looking; enough for stale entries to pile up
    for (int i = 0; i < 5000; ++i) {
        const auto connection = static_cast<std::uint32_t>(pick(random, 0, kConnections - 1));
        if (pick(random, 0, 2) > 0) {
            const Time time(pick(random, 0, latest));
            queue.set(connection, time);
            expected[connection] = time;
        } else {
            queue.remove(connection);
            expected.erase(connection);
        }
        RC_ASSERT(queue.contains(connection) == (expected.count(connection) == 1));
        if (pick(random, 0, rarity) > 0) {
            continue;
        }
        Time earliest = Time::max();
        for (const auto& [number, time] : expected) {
            earliest = std::min(earliest, time);
        }
        RC_ASSERT(queue.next_time() == earliest);
        std::vector<std::uint32_t> due;
        for (const auto& [number, time] : expected) {
            if (time == earliest) {
                due.push_back(number);
            }
        }
        const auto taken = queue.take();
        RC_ASSERT(std::vector<std::uint32_t>(taken.begin(), taken.end()) == due);
        for (const std::uint32_t number : due) {
            RC_ASSERT(!queue.contains(number));
            expected.erase(number);
        }
    }
}

RC_GTEST_PROP(CompletionQueueProperty, BoundsBecomeEndsBeforeTheEarliestEndIsTaken, ()) {
    Random random(random_seed());
    constexpr std::uint32_t kConnections = 40;
    CompletionQueue queue;
    for (std::uint32_t i = 0; i < kConnections; ++i) {
        queue.add_connection();
    }
    std::map<std::uint32_t, Time> ends;
    const std::int64_t latest = pick(random, 1, 300);
    for (int i = 0; i < 3000; ++i) {
        const auto connection = static_cast<std::uint32_t>(pick(random, 0, kConnections - 1));
        const std::int64_t end = pick(random, 0, latest);
        ends[connection] = Time(end);
        if (pick(random, 0, 2) > 0) {
            queue.set(connection, Time(pick(random, 0, end)));
            queue.loosen(connection);
        } else {
            queue.set(connection, Time(end));
        }
        if (pick(random, 0, 20) > 0) {
            continue;
        }
        Time earliest = Time::max();
        for (const auto& [number, time] : ends) {
            earliest = std::min(earliest, time);
        }
        const Time limit(pick(random, 0, latest));
        const Time next = queue.next_end(limit, [&](std::uint32_t number) { return ends.at(number); });
        if (earliest > limit) {
            RC_ASSERT(next > limit);
            RC_ASSERT(next <= earliest);
            continue;
        }
        RC_ASSERT(next == earliest);
        std::vector<std::uint32_t> due;
        for (const auto& [number, time] : ends) {
            if (time == earliest) {
                due.push_back(number);
            }
        }
        const auto taken = queue.take();
        RC_ASSERT(std::vector<std::uint32_t>(taken.begin(), taken.end()) == due);
        for (const std::uint32_t number : due) {
            ends.erase(number);
        }
    }
}

template <class Index>
void expect_every_pair_is_found(Index index) {
    std::uint32_t number = 0;
    for (std::uint32_t s = 0; s < 80; ++s) {
        for (std::uint32_t d = 0; d < 80; ++d) {
            EXPECT_EQ(index.find(HostId(s), HostId(d)), PairIndex::kNone);
            index.insert(HostId(s), HostId(d), number++);
        }
    }
    for (std::uint32_t s = 0; s < 80; ++s) {
        for (std::uint32_t d = 0; d < 80; ++d) {
            EXPECT_EQ(index.find(HostId(s), HostId(d)), s * 80 + d);
        }
    }
    EXPECT_EQ(index.find(HostId(80), HostId(0)), PairIndex::kNone);
}

TEST(PairIndex, FindsEveryPairThroughItsGrowth) {
    expect_every_pair_is_found(PairIndex());
}

TEST(PairIndex, FindsEveryPairOfFewHostsAndOfMany) {
    expect_every_pair_is_found(HostPairIndex(81));
    expect_every_pair_is_found(HostPairIndex(100'000));
}

}  // namespace
}  // namespace astrolabe::network
