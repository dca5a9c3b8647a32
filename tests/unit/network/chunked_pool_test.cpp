/// Numbered objects that come and go, and which number is used again.
#include "random_seed.hpp"

#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/containers/chunked_pool.hpp>

namespace astrolabe::network::rotor {
namespace {

TEST(ChunkedPool, NumbersGivenBackComeInOrderOnceTheyAreAnEighth) {
    ChunkedPool<int> pool;
    for (int i = 0; i < 80; ++i) {
        EXPECT_EQ(pool.add(i), static_cast<std::uint32_t>(i));
    }
    for (const std::uint32_t number : {70U, 3U, 66U, 5U, 4U, 9U, 8U, 1U, 2U, 6U}) {
        pool.remove(number);
    }
    EXPECT_EQ(pool.add(80), 80U);  // ten of 80 are no more than an eighth
    pool.remove(50);
    pool.remove(51);
    EXPECT_EQ(pool.add(81), 1U);  // twelve of 81, more than ten, are; after which eleven are
    EXPECT_EQ(pool.add(82), 2U);
    EXPECT_EQ(pool.add(83), 81U);
    EXPECT_EQ(pool[2], 82);
    EXPECT_EQ(pool[7], 7);
    EXPECT_EQ(pool.size(), 82U);
}

TEST(ChunkedPool, LooksForNumbersFromWhereItFoundTheLastOne) {
    ChunkedPool<int> pool;
    for (int i = 0; i < 192; ++i) {  // three words of numbers
        static_cast<void>(pool.add(i));
    }
    for (std::uint32_t number = 64; number < 100; ++number) {
        pool.remove(number);
    }
    EXPECT_EQ(pool.add(0), 64U);
    pool.remove(0);
    EXPECT_EQ(pool.add(0), 65U);
    for (std::uint32_t number = 128; number < 192; ++number) {
        pool.remove(number);
    }
    for (std::uint32_t number = 66; number < 100; ++number) {
        EXPECT_EQ(pool.add(0), number);
    }
    for (std::uint32_t number = 128; number < 168; ++number) {
        EXPECT_EQ(pool.add(0), number);  // 24 are left, and the 0
    }
    EXPECT_EQ(pool.add(0), 168U);  // 25 of 192 are more than 24
    EXPECT_EQ(pool.add(0), 192U);
}

RC_GTEST_PROP(ChunkedPoolProperty, KeepsWhatWasNotGivenBackUnderItsNumber, ()) {
    ChunkedPool<std::uint64_t> pool;
    std::map<std::uint32_t, std::uint64_t> expected;
    std::uint64_t next = 0;
    for (const auto choice :
         *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>())) {
        if (choice % 3 > 0 || expected.empty()) {
            const std::uint32_t number = pool.add(next);
            RC_ASSERT(expected.emplace(number, next++).second);
        } else {
            const auto which =
                std::next(expected.begin(), static_cast<std::ptrdiff_t>(choice / 3 % expected.size()));
            pool.remove(which->first);
            expected.erase(which);
        }
    }
    for (const auto& [number, object] : expected) {
        RC_ASSERT(pool[number] == object);
        RC_ASSERT(number < pool.size());
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
