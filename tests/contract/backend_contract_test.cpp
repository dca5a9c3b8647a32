/// The contract of backend.hpp, sentence by sentence, on every engine.
#include "engines.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

using testing::ContractEngine;
using testing::NamedEngine;

class Recorder final : public NotificationHandler {
public:
    explicit Recorder(NetworkBackend& backend)
        : backend_(backend) {}

    void notify(std::uint64_t token) override {
        events.emplace_back(token, backend_.now());
        if (react) {
            react(token);
        }
    }
    [[nodiscard]] Message message(int source, int destination, Bytes size, std::uint64_t token) {
        return {HostId(source), HostId(destination), size, this, token};
    }
    void send(int source, int destination, Bytes size, std::uint64_t token) {
        backend_.send(message(source, destination, size, token));
    }
    [[nodiscard]] std::vector<std::uint64_t> tokens() const {
        std::vector<std::uint64_t> all;
        for (const auto& [token, time] : events) {
            all.push_back(token);
        }
        return all;
    }
    [[nodiscard]] Time time_of(std::uint64_t token) const {
        const auto found = std::find_if(events.begin(), events.end(),
                                        [&](const auto& event) { return event.first == token; });
        return found == events.end() ? Time::max() : found->second;
    }

    std::vector<std::pair<std::uint64_t, Time>> events;  ///< tokens and times, in the order notified
    std::function<void(std::uint64_t)> react;

private:
    NetworkBackend& backend_;
};

class BackendContract : public ::testing::TestWithParam<NamedEngine> {
protected:
    [[nodiscard]] const ContractEngine& engine() const { return engine_; }
    [[nodiscard]] std::unique_ptr<NetworkBackend> make() const { return engine_.make(); }
    [[nodiscard]] int host(std::size_t place) const { return engine_.trio.at(place); }

private:
    ContractEngine engine_ = GetParam().build();
};

INSTANTIATE_TEST_SUITE_P(Engines, BackendContract, ::testing::ValuesIn(testing::contract_engines()),
                         [](const auto& tested) { return tested.param.name; });

/// Messages of a job that sends from inside timers: sizes from nothing to several packets, all classes.
std::vector<Message> drawn_messages(std::size_t hosts, Recorder& recorder) {
    std::mt19937_64 random(7);
    const auto pick = [&](std::uint64_t most) { return static_cast<int>(random() % (most + 1)); };
    std::vector<Message> messages;
    for (std::uint64_t token = 0; token < 200; ++token) {
        const int source = pick(hosts - 1);
        const int destination = (source + 1 + pick(hosts - 2)) % static_cast<int>(hosts);
        Message message =
            recorder.message(source, destination, Bytes(pick(3) == 0 ? 0 : pick(20'000)), token);
        message.traffic_class = static_cast<std::uint8_t>(pick(7));
        messages.push_back(message);
    }
    return messages;
}

constexpr std::uint64_t kTimer = 1'000'000;  // tokens of timers begin here
constexpr std::size_t kBatch = 20;

/// Sends the messages twenty at a time, 3 us apart, and runs to the end.
void run_in_batches(NetworkBackend& backend, Recorder& recorder, std::span<const Message> messages,
                    bool as_batch) {
    recorder.react = [&, as_batch](std::uint64_t token) {
        if (token < kTimer) {
            return;
        }
        const auto batch = messages.subspan((token - kTimer) * kBatch, kBatch);
        if (as_batch) {
            backend.send_batch(batch);
        } else {
            std::for_each(batch.begin(), batch.end(), [&](const Message& message) { backend.send(message); });
        }
    };
    for (std::size_t i = 0; i < messages.size() / kBatch; ++i) {
        backend.schedule(3_us * static_cast<std::int64_t>(i), recorder, kTimer + i);
    }
    backend.run();
    std::erase_if(recorder.events, [](const auto& event) { return event.first >= kTimer; });
}

TEST_P(BackendContract, EveryMessageIsDeliveredExactlyOnceAndCounted) {
    const auto backend = make();
    Recorder recorder(*backend);
    const std::vector<Message> messages = drawn_messages(engine().hosts, recorder);
    run_in_batches(*backend, recorder, messages, false);
    std::vector<std::uint64_t> tokens = recorder.tokens();
    std::sort(tokens.begin(), tokens.end());
    ASSERT_EQ(tokens.size(), messages.size());
    Bytes sum;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        EXPECT_EQ(tokens[i], i);
        sum += messages[i].size;
    }
    EXPECT_EQ(backend->outstanding_messages(), 0U);
    EXPECT_TRUE(backend->describe_outstanding(10).empty());
    const NetworkStatistics statistics = backend->statistics();
    EXPECT_EQ(statistics.messages, messages.size());
    EXPECT_EQ(statistics.bytes_delivered, sum);
    EXPECT_EQ(statistics.events, backend->events_processed());
    Bytes carried;
    for (const LinkStatistics& link : statistics.links) {
        carried += link.carried;
    }
    if (engine().no_link_counters.empty()) {
        EXPECT_GE(carried, sum) << "every byte crosses a link";
    } else {
        EXPECT_TRUE(statistics.links.empty()) << engine().no_link_counters;
    }
}

TEST_P(BackendContract, MessagesOfAPairAndClassArriveInTheOrderSent) {
    const auto backend = make();
    Recorder recorder(*backend);
    const std::vector<Message> messages = drawn_messages(engine().hosts, recorder);
    run_in_batches(*backend, recorder, messages, false);
    std::map<std::tuple<HostId, HostId, std::uint8_t>, std::uint64_t> last;
    for (const std::uint64_t token : recorder.tokens()) {
        const Message& message = messages[token];
        const auto [known, is_first] =
            last.try_emplace({message.source, message.destination, message.traffic_class}, token);
        EXPECT_TRUE(is_first || known->second < token) << known->second << " before " << token;
        known->second = token;
    }
}

TEST_P(BackendContract, ABatchMeansItsMessagesOneAfterTheOther) {
    const auto run = [&](bool as_batch) {
        const auto backend = make();
        Recorder recorder(*backend);
        run_in_batches(*backend, recorder, drawn_messages(engine().hosts, recorder), as_batch);
        return recorder.events;
    };
    EXPECT_EQ(run(true), run(false));
}

TEST_P(BackendContract, TheSameRunTwiceGivesTheSameTimesWhateverTheLabels) {
    const auto run = [&](std::uint32_t label) {
        const auto backend = make();
        Recorder recorder(*backend);
        std::vector<Message> messages = drawn_messages(engine().hosts, recorder);
        for (Message& message : messages) {
            message.label = label++;
        }
        run_in_batches(*backend, recorder, messages, false);
        return std::pair(recorder.events, backend->events_processed());
    };
    EXPECT_EQ(run(0), run(1000));
}

TEST_P(BackendContract, AHandlerIsNotifiedWithItsOwnTokens) {
    const auto backend = make();
    Recorder even(*backend);
    Recorder odd(*backend);
    for (std::uint64_t i = 0; i < 10; ++i) {
        (i % 2 == 0 ? even : odd).send(host(0), host(1), Bytes(100), ~i);
    }
    backend->schedule(1_us, odd, 77);
    backend->run();
    EXPECT_EQ(even.tokens(), (std::vector<std::uint64_t>{~0ULL, ~2ULL, ~4ULL, ~6ULL, ~8ULL}));
    EXPECT_EQ(odd.events.size(), 6U);
    EXPECT_EQ(odd.time_of(77), 1_us);
}

TEST_P(BackendContract, AMessageArrivesAfterItsLastByteCouldHave) {
    const auto backend = make();
    Recorder recorder(*backend);
    recorder.react = [&](std::uint64_t) { EXPECT_EQ(backend->outstanding_messages(), 0U); };
    recorder.send(host(0), host(1), 1_MB, 1);
    EXPECT_EQ(backend->outstanding_messages(), 1U);
    backend->run();
    // 80 us at no more than two links of 100 Gb/s a host.
    EXPECT_GE(recorder.time_of(1), engine().latency + 40_us);
    EXPECT_EQ(backend->now(), recorder.time_of(1)) << "the last thing that happens";
}

TEST_P(BackendContract, AMessageOfZeroBytesTakesTheLatencyOfItsPath) {
    const auto backend = make();
    Recorder recorder(*backend);
    recorder.send(host(0), host(1), Bytes(0), 1);
    backend->run();
    if (engine().empty_messages_cost.empty()) {
        EXPECT_EQ(recorder.time_of(1), engine().latency);
    } else {
        EXPECT_GT(recorder.time_of(1), engine().latency) << engine().empty_messages_cost;
        EXPECT_LT(recorder.time_of(1), engine().latency + 1_ms) << engine().empty_messages_cost;
    }
    EXPECT_EQ(backend->statistics().bytes_delivered, Bytes(0));
}

TEST_P(BackendContract, TimersAreExactAndInTheOrderAskedFor) {
    const auto backend = make();
    Recorder recorder(*backend);
    // Two of each time, asked for from the latest to the earliest: 100 ps, 100 ps, 99 ps, …
    std::vector<std::pair<std::uint64_t, Time>> expected;
    for (std::uint64_t i = 0; i < 40; ++i) {
        const Time delay(static_cast<std::int64_t>(100 - i / 2));
        backend->schedule(delay, recorder, i);
        expected.emplace_back(i, delay);
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    // Asked for at 100 ps: due in this instant, after what was asked for before.
    recorder.react = [&](std::uint64_t token) {
        if (token == 0) {
            backend->schedule(Time(0), recorder, 1000);
        }
    };
    expected.emplace_back(1000, Time(100));
    backend->run();
    EXPECT_EQ(recorder.events, expected);
}

TEST_P(BackendContract, ATimerOfTheMiddleOfAMessageIsExact) {
    const auto backend = make();
    Recorder recorder(*backend);
    recorder.send(host(0), host(1), 1_MB, 1);
    backend->schedule(12'345_ps, recorder, 2);
    backend->schedule(12'345'678_ps, recorder, 3);
    backend->run();
    EXPECT_EQ(recorder.time_of(2), 12'345_ps);
    EXPECT_EQ(recorder.time_of(3), 12'345'678_ps);
}

// Two messages to one host, sent by one notification, by two of the same instant, or by one that another of
// the instant asks for: they start together, and end when they would.
TEST_P(BackendContract, WhatAnInstantStartsStartsTogether) {
    const auto run = [&](int way) {
        const auto backend = make();
        Recorder recorder(*backend);
        recorder.react = [&](std::uint64_t token) {
            if (token == kTimer || token == kTimer + 1) {
                recorder.send(host(0), host(1), 100_KB, 1);
            }
            if (token == kTimer && way == 2) {
                backend->schedule(Time(0), recorder, kTimer + 2);
            }
            if (token == kTimer + 1 || token == kTimer + 2) {
                recorder.send(host(2), host(1), 100_KB, 2);
            }
        };
        // kTimer + 1 sends both.
        backend->schedule(5_us, recorder, way == 0 ? kTimer + 1 : kTimer);
        if (way == 1) {
            backend->schedule(5_us, recorder, kTimer + 2);
        }
        backend->run();
        return std::pair(recorder.time_of(1), recorder.time_of(2));
    };
    const auto together = run(0);
    EXPECT_LT(std::max(together.first, together.second), Time::max());
    EXPECT_EQ(run(1), together);
    EXPECT_EQ(run(2), together);
}

TEST_P(BackendContract, HandlersMaySendFromInsideANotification) {
    const auto backend = make();
    Recorder recorder(*backend);
    recorder.react = [&](std::uint64_t token) {
        if (token < 9) {
            // To and fro, and one more in the direction of the message that has just arrived.
            const auto [there, back] = token % 2 == 0 ? std::pair(1, 0) : std::pair(0, 1);
            recorder.send(host(there), host(back), 5000_B, token + 1);
            recorder.send(host(back), host(there), 100_B, 100 + token);
        }
    };
    recorder.send(host(0), host(1), 5000_B, 0);
    backend->run();
    EXPECT_EQ(recorder.events.size(), 10U + 9U);
    EXPECT_EQ(backend->outstanding_messages(), 0U);
}

TEST_P(BackendContract, RunReturnsAtOnceWhenNothingIsOutstanding) {
    const auto backend = make();
    backend->run();
    EXPECT_EQ(backend->now(), Time(0));
    EXPECT_EQ(backend->events_processed(), 0U);
    EXPECT_EQ(backend->statistics().messages, 0U);
    EXPECT_EQ(backend->explain_stall(), "");
}

TEST_P(BackendContract, StopReturnsBeforeTimeMovesOnAndRunContinues) {
    const auto run = [&](bool is_stopped) {
        const auto backend = make();
        Recorder recorder(*backend);
        recorder.react = [&](std::uint64_t token) {
            if (is_stopped && token == 1) {
                backend->stop();
            }
        };
        backend->schedule(3_us, recorder, 1);
        recorder.send(host(0), host(1), 1_MB, 2);
        backend->run();
        if (is_stopped) {
            EXPECT_EQ(backend->now(), 3_us);
            EXPECT_EQ(recorder.tokens(), (std::vector<std::uint64_t>{1}));
            EXPECT_EQ(backend->outstanding_messages(), 1U);
            backend->run();
        }
        EXPECT_EQ(backend->outstanding_messages(), 0U);
        return recorder.events;
    };
    EXPECT_EQ(run(true), run(false)) << "as if it had not stopped";
}

TEST_P(BackendContract, AWatcherIsCalledBetweenEventsAndChangesNothing) {
    class Watcher final : public RunWatcher {
    public:
        explicit Watcher(NetworkBackend& backend)
            : backend_(backend) {}

        std::uint64_t pulse() override {
            EXPECT_GE(backend_.events_processed(), events_ + (pulses == 0 ? 0 : 3)) << "as many as asked for";
            EXPECT_GE(backend_.now(), time_);
            EXPECT_GE(backend_.bytes_delivered(), delivered_);
            EXPECT_EQ(backend_.bytes_delivered(), backend_.statistics().bytes_delivered);
            const PresentLimits limits = backend_.present_limits(2);
            EXPECT_LE(limits.links.size(), std::min<std::size_t>(2, limits.all_links));
            EXPECT_EQ(limits.links.empty(), limits.all_links == 0);
            events_ = backend_.events_processed();
            time_ = backend_.now();
            delivered_ = backend_.bytes_delivered();
            ++pulses;
            return 3;
        }

        std::size_t pulses = 0;

    private:
        NetworkBackend& backend_;
        std::uint64_t events_ = 0;
        Time time_;
        Bytes delivered_;
    };
    const auto run = [&](bool is_watched) {
        const auto backend = make();
        Watcher watcher(*backend);
        if (is_watched) {
            backend->watch(watcher);
        }
        Recorder recorder(*backend);
        recorder.react = [&](std::uint64_t token) {
            if (token < 20) {
                recorder.send(host(token % 3), host((token + 1) % 3), 100_KB, token + 3);
            }
        };
        for (std::uint64_t token = 0; token < 3; ++token) {
            recorder.send(host(token), host((token + 2) % 3), 1_MB, token);
        }
        backend->run();
        EXPECT_EQ(backend->outstanding_messages(), 0U);
        // The fake network of other tests calls nobody.
        EXPECT_EQ(watcher.pulses > 2, is_watched && GetParam().name != testing::kWithoutNetwork)
            << watcher.pulses;
        return std::pair(recorder.events, backend->events_processed());
    };
    EXPECT_EQ(run(true), run(false));
}

TEST_P(BackendContract, OutstandingMessagesAreDescribedInTheOrderSent) {
    const auto backend = make();
    Recorder recorder(*backend);
    recorder.react = [&](std::uint64_t) { backend->stop(); };
    recorder.send(host(0), host(1), 1_MB, 1);
    recorder.send(host(2), host(1), 2_MB, 2);
    recorder.send(host(0), host(1), 3_MB, 3);
    backend->schedule(2_us, recorder, 4);
    backend->run();
    const std::vector<OutstandingMessage> all = backend->describe_outstanding(10);
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].source, HostId(host(i == 1 ? 2 : 0)));
        EXPECT_EQ(all[i].destination, HostId(host(1)));
        EXPECT_EQ(all[i].size, 1_MB * static_cast<std::int64_t>(i + 1));
        EXPECT_LE(all[i].remaining, all[i].size);
        EXPECT_GT(all[i].remaining, all[i].size - 100_KB) << "2 us at 12.5 GB/s are 25 kB a link";
    }
    EXPECT_EQ(backend->describe_outstanding(2).size(), 2U);
}

TEST_P(BackendContract, RunReturnsWhenNothingCanProgressAndSaysWhatIsStuck) {
    const ContractEngine& tested = engine();
    const auto backend = tested.make_stalled();
    Recorder recorder(*backend);
    recorder.send(tested.stuck, tested.unreachable, tested.stuck_size, 1);
    recorder.send(host(2) == tested.unreachable ? 0 : host(2), host(1), 1000_B, 2);
    backend->schedule(1_ms, recorder, 3);
    backend->run();
    std::vector<std::uint64_t> tokens = recorder.tokens();
    std::sort(tokens.begin(), tokens.end());
    EXPECT_EQ(tokens, (std::vector<std::uint64_t>{2, 3})) << "everything else happens";
    EXPECT_EQ(backend->outstanding_messages(), 1U);
    const std::vector<OutstandingMessage> stuck = backend->describe_outstanding(10);
    ASSERT_EQ(stuck.size(), 1U);
    EXPECT_EQ(stuck[0].source, HostId(tested.stuck));
    EXPECT_EQ(stuck[0].destination, HostId(tested.unreachable));
    EXPECT_EQ(stuck[0].size, tested.stuck_size);
    EXPECT_GT(stuck[0].remaining, Bytes(0));
    EXPECT_NE(backend->explain_stall().find(tested.stall_reason), std::string::npos)
        << backend->explain_stall();
}

}  // namespace
}  // namespace astrolabe::network
