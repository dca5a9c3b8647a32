// Several users of one network: what each sees of it, and when it ends.

#include <functional>
#include <optional>
#include <vector>

#include <fake_backend.hpp>
#include <gtest/gtest.h>

#include <astrolabe/network/shared_backend.hpp>

namespace astrolabe::network {
namespace {

/// Calls what it is told to, with the token.
class Handler final : public NotificationHandler {
public:
    std::function<void(std::uint64_t)> on_notify = [](std::uint64_t) {};
    std::vector<std::uint64_t> tokens;

    void notify(std::uint64_t token) override {
        tokens.push_back(token);
        on_notify(token);
    }
};

Message message(NotificationHandler& handler, std::uint64_t token, Bytes size, std::uint32_t from = 0) {
    Message message{};
    message.source = HostId(from);
    message.destination = HostId(from + 1);
    message.size = size;
    message.on_delivered = &handler;
    message.token = token;
    return message;
}

// A message takes 100 ps and 1 ps a byte.
constexpr testing::FakeBackendOptions kNetwork{.latency = Time(100), .time_per_byte = Time(1)};

TEST(SharedBackend, CountsItsOwnAndPassesTokensBack) {
    testing::FakeBackend network(4, kNetwork);
    Handler first;
    Handler second;
    Handler idle;
    SharedBackend one(network, idle, 1);
    SharedBackend other(network, idle, 2);
    one.send(message(first, 7, Bytes(50)));
    one.send_batch(std::vector{message(first, 8, Bytes(20), 1), message(first, 9, Bytes(30), 2)});
    other.send(message(second, 7, Bytes(500), 2));
    other.schedule(Time(10), second, 70);
    EXPECT_EQ(one.outstanding_messages(), 3U);
    EXPECT_EQ(other.outstanding_messages(), 1U);
    EXPECT_EQ(other.outstanding_timers(), 1U);
    network.run();
    // 120, 130 and 150 ps; 10 and 630 ps behind the 30 bytes of its pair.
    EXPECT_EQ(first.tokens, (std::vector<std::uint64_t>{8, 9, 7}));
    EXPECT_EQ(second.tokens, (std::vector<std::uint64_t>{70, 7}));
    EXPECT_EQ(one.bytes_delivered(), Bytes(100));
    EXPECT_EQ(other.bytes_delivered(), Bytes(500));
    EXPECT_EQ(one.notifications(), 3U);
    EXPECT_EQ(other.notifications(), 2U);
    EXPECT_EQ(one.outstanding_messages() + other.outstanding_messages() + other.outstanding_timers(), 0U);
    // Each is idle once, the first when its last message is there.
    EXPECT_EQ(idle.tokens, (std::vector<std::uint64_t>{1, 2}));
}

TEST(SharedBackend, HasAClockThatStartsWithIt) {
    testing::FakeBackend network(2, kNetwork);
    Handler handler;
    Handler idle;
    std::optional<SharedBackend> later;
    network.schedule(Time(1000), handler, 0);
    handler.on_notify = [&](std::uint64_t token) {
        if (token == 0) {
            later.emplace(network, idle, 5);
            EXPECT_EQ(later->now(), Time(0));
            later->send(message(handler, 1, Bytes(60)));
        } else {
            EXPECT_EQ(later->now(), Time(160));
            EXPECT_EQ(network.now(), Time(1160));
        }
    };
    network.run();
    EXPECT_EQ(handler.tokens, (std::vector<std::uint64_t>{0, 1}));
    EXPECT_EQ(idle.tokens, std::vector<std::uint64_t>{5});
}

TEST(SharedBackend, IsIdleAgainWhenItGoesOn) {
    testing::FakeBackend network(2, kNetwork);
    Handler handler;
    Handler idle;
    SharedBackend shared(network, idle, 3);
    idle.on_notify = [&](std::uint64_t) {
        if (idle.tokens.size() < 3) {
            shared.send(message(handler, idle.tokens.size(), Bytes(10)));
        }
    };
    shared.send(message(handler, 0, Bytes(10)));
    network.run();
    EXPECT_EQ(handler.tokens, (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_EQ(idle.tokens.size(), 3U);
    EXPECT_EQ(network.now(), Time(330));
}

TEST(SharedBackend, OneThatRunsReturnsWithItsOwnOrWithAll) {
    for (const bool with_all : {false, true}) {
        testing::FakeBackend network(4, kNetwork);
        Handler own;
        Handler others;
        SharedBackend runs(network, with_all ? SharedBackend::Ends::kWithAll : SharedBackend::Ends::kWithOwn);
        SharedBackend beside(network, SharedBackend::Ends::kWithOwn);
        runs.send(message(own, 1, Bytes(10)));
        beside.send(message(others, 2, Bytes(1000), 2));
        runs.run();
        EXPECT_EQ(own.tokens.size(), 1U);
        EXPECT_EQ(others.tokens.size(), with_all ? 1U : 0U);
        EXPECT_EQ(runs.now(), with_all ? Time(1100) : Time(110));
    }
}

}  // namespace
}  // namespace astrolabe::network
