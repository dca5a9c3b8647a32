/// Queues of messages that share lines of the cache: what goes in comes out in order, whatever shares a line.
#include "network/src/message_queues.hpp"

#include "random_seed.hpp"

#include <cstdint>
#include <deque>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network {
namespace {

using Waiting = MessageQueues::Waiting;

class Nobody final : public NotificationHandler {
public:
    void notify(std::uint64_t /*token*/) override {}
};

/// But for the number, which may be less.
void expect_same(const Waiting& message, const Waiting& sent) {
    EXPECT_EQ(message.handler, sent.handler);
    EXPECT_EQ(message.token, sent.token);
    EXPECT_EQ(message.size, sent.size);
}

TEST(MessageQueues, KeepWhatTheLargestNumbersNeed) {
    Nobody nobody;
    MessageQueues queues;
    MessageQueues::Queue queue;
    const Waiting large{&nobody, ~std::uint64_t{0}, Bytes(std::int64_t{1} << 62), 0xffffffffU};
    const Waiting at_limit{&nobody, std::uint64_t{1} << 32, Bytes(std::int64_t{1} << 31), 1};
    const Waiting below{&nobody, 0xffffffffU, Bytes((std::int64_t{1} << 31) - 1), 2};
    for (const Waiting& message : {large, at_limit, below}) {
        queues.append(queue, message);
    }
    for (const Waiting& message : {large, at_limit, below}) {
        expect_same(queues.first(queue), message);
        EXPECT_EQ(queues.first_size(queue), message.size);
        queues.remove_first(queue);
    }
    EXPECT_TRUE(queue.empty());
}

TEST(MessageQueues, NumbersAreExactUpTo255MessagesApart) {
    Nobody nobody;
    MessageQueues queues;
    MessageQueues::Queue queue;
    // Four to a line: 1000 counts as 11 + 255, of 1002 the 736 from there as 255, and 2000 begins a line.
    for (const std::uint32_t number : {10U, 11U, 1000U, 1002U, 2000U, 2255U, 2511U}) {
        queues.append(queue, {&nobody, number, Bytes(1), number});
    }
    std::vector<std::uint32_t> numbers;
    queues.for_each(queue, [&](const Waiting& message) { numbers.push_back(message.sent_as); });
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{10, 11, 266, 521, 2000, 2255, 2510}));
}

RC_GTEST_PROP(MessageQueuesProperty, AreAsManyQueuesOfTheirOwn, ()) {
    std::vector<Nobody> handlers(3);
    MessageQueues queues;
    std::vector<MessageQueues::Queue> tested(4);
    std::vector<std::deque<Waiting>> expected(tested.size());
    const auto steps = *rc::gen::inRange(1, 300);
    const auto apart = *rc::gen::element(1, 100, 1000);
    for (int step = 0; step < steps; ++step) {
        const auto at = *rc::gen::inRange<std::size_t>(0, tested.size());
        RC_ASSERT(tested[at].empty() == expected[at].empty());
        if (*rc::gen::inRange(0, 5) < 2 && !expected[at].empty()) {
            const Waiting first = queues.first(tested[at]);
            RC_ASSERT(first.token == expected[at].front().token);
            RC_ASSERT(first.size == expected[at].front().size);
            RC_ASSERT(first.handler == expected[at].front().handler);
            queues.remove_first(tested[at]);
            expected[at].pop_front();
        } else {
            const Bytes size(std::int64_t{1} << *rc::gen::inRange(0, 62));
            Nobody& handler = handlers[*rc::gen::inRange<std::size_t>(0, handlers.size())];
            const Waiting message{&handler, *rc::gen::arbitrary<std::uint64_t>(), size,
                                  static_cast<std::uint32_t>(step * apart)};
            queues.append(tested[at], message);
            expected[at].push_back(message);
        }
    }
    for (std::size_t at = 0; at < tested.size(); ++at) {
        std::size_t seen = 0;
        std::uint32_t last = 0;
        queues.for_each(tested[at], [&](const Waiting& message) {
            const Waiting& sent = expected[at].at(seen);
            RC_ASSERT(message.token == sent.token);
            RC_ASSERT(message.size == sent.size);
            RC_ASSERT(message.sent_as <= sent.sent_as);
            RC_ASSERT(message.sent_as >= last);
            last = message.sent_as;
            ++seen;
        });
        RC_ASSERT(seen == expected[at].size());
    }
}

}  // namespace
}  // namespace astrolabe::network
