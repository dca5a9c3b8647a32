/// Waits against their definition, and their cost.
#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <workload/src/pytorch/waits.hpp>

namespace astrolabe::workload::pytorch {
namespace {

CommCall call_of(CallKind kind, std::int64_t number, std::string group, bool is_message = false) {
    CommCall call;
    call.meaning.kind = kind;
    call.sequence = number;
    call.group = std::move(group);
    call.is_message = is_message;
    return call;
}

RC_GTEST_PROP(Waits, AreForTheLatestCallThatTheyName, ()) {
    const auto count = *rc::gen::inRange<std::size_t>(0, 60);
    std::vector<CommCall> calls;
    for (std::size_t i = 0; i < count; ++i) {
        const auto kind = *rc::gen::element(CallKind::kCollective, CallKind::kSend, CallKind::kReceive,
                                            CallKind::kWait, CallKind::kWait);
        calls.push_back(call_of(kind, *rc::gen::inRange<std::int64_t>(0, 3),
                                *rc::gen::element<std::string>("", "a", "b"), *rc::gen::arbitrary<bool>()));
    }
    const Waits waits = waits_of(calls);
    std::vector<bool> is_awaited(count, false);
    std::size_t before = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!calls[i].is_wait()) {
            RC_ASSERT(!waits.target[i].has_value());
            continue;
        }
        std::optional<std::size_t> expected;
        for (std::size_t j = 0; j < i; ++j) {
            const CallKind kind = calls[j].meaning.kind;
            const bool is_message = kind == CallKind::kSend || kind == CallKind::kReceive;
            const bool is_named = calls[j].sequence == calls[i].sequence &&
                                  (calls[i].group.empty() || calls[i].group == calls[j].group) &&
                                  (!calls[i].is_message || is_message);
            if (!calls[j].is_wait() && !is_awaited[j] && is_named) {
                expected = j;
            }
        }
        RC_ASSERT(waits.target[i] == expected);
        if (expected) {
            is_awaited[*expected] = true;
        } else {
            ++before;
        }
    }
    RC_ASSERT(waits.is_awaited == is_awaited);
    RC_ASSERT(waits.before == before);
}

// 100,000 calls stay open while as many waits look for those of another group: 1e10 looks at one by one.
TEST(Waits, ThatFindNothingDoNotLookAtEveryCall) {
    constexpr std::size_t kMany = 100'000;
    std::vector<CommCall> calls(kMany, call_of(CallKind::kCollective, -1, "a"));
    calls.resize(2 * kMany, call_of(CallKind::kWait, -1, "b"));
    const std::clock_t start = std::clock();
    const Waits waits = waits_of(calls);
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(waits.before, kMany);
    EXPECT_EQ(waits.open, kMany);
    EXPECT_LT(taken, 2.0);
}

}  // namespace
}  // namespace astrolabe::workload::pytorch
