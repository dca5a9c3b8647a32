#include "network/src/topoopt/strides.hpp"

#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network::topoopt {
namespace {

using Strides = std::vector<std::uint32_t>;

/// Of one group of all servers.
Strides select(std::uint32_t servers, const StrideChoice& choice) {
    return select_strides(servers, servers, totient_strides(servers, servers), choice);
}

Strides paper(std::uint32_t servers, std::uint32_t degree) {
    return select(servers, {degree, Selection::kNearest, false});
}

Strides released(std::uint32_t servers, std::uint32_t degree) {
    return select(servers, {degree / 2, Selection::kAtLeast, true});
}

Strides ring(std::uint32_t servers, std::uint32_t stride) {
    Strides visited = {0};
    for (std::uint32_t at = stride % servers; at != 0; at = (at + stride) % servers) {
        visited.push_back(at);
    }
    return visited;
}

TEST(TotientStrides, AreNumbersWithoutCommonDivisor) {
    EXPECT_EQ(totient_strides(8, 8), (Strides{1, 3, 5, 7}));
    EXPECT_EQ(totient_strides(12, 12), (Strides{1, 5, 7, 11}));
    EXPECT_EQ(totient_strides(16, 16), (Strides{1, 3, 5, 7, 9, 11, 13, 15}));
    EXPECT_EQ(totient_strides(24, 24), (Strides{1, 5, 7, 11, 13, 17, 19, 23}));
    // φ of a power of 2 is half of it.
    EXPECT_EQ(totient_strides(32, 32).size(), 16U);
    EXPECT_EQ(totient_strides(64, 64).size(), 32U);
    EXPECT_EQ(totient_strides(128, 128).size(), 64U);
    EXPECT_EQ(totient_strides(1024, 1024).size(), 512U);
}

TEST(TotientStrides, PrimesAloneKeepOne) {
    EXPECT_EQ(totient_strides(12, 12, Candidates::kPrimes), (Strides{1, 5, 7, 11}));
    EXPECT_EQ(totient_strides(16, 16, Candidates::kPrimes), (Strides{1, 3, 5, 7, 11, 13}));
    // 31 primes below 128 and 172 below 1,024; 2 divides both.
    EXPECT_EQ(totient_strides(128, 128, Candidates::kPrimes).size(), 30U + 1U);
    EXPECT_EQ(totient_strides(1024, 1024, Candidates::kPrimes).size(), 171U + 1U);
}

TEST(TotientStrides, OfGroupsAreMultiplesOfTheirSpacing) {
    // Groups of 4 among 24 stand 6 apart: 6 · {1, 3}.
    EXPECT_EQ(totient_strides(24, 4), (Strides{6, 18}));
    EXPECT_EQ(totient_strides(24, 2), (Strides{12}));
    EXPECT_EQ(totient_strides(2, 2), (Strides{1}));
}

TEST(TotientStrides, MakeOneRingOfAllServers) {
    EXPECT_EQ(ring(12, 5), (Strides{0, 5, 10, 3, 8, 1, 6, 11, 4, 9, 2, 7}));
    EXPECT_EQ(ring(12, 7), (Strides{0, 7, 2, 9, 4, 11, 6, 1, 8, 3, 10, 5}));
    EXPECT_EQ(ring(16, 3), (Strides{0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13}));
    EXPECT_EQ(ring(16, 7), (Strides{0, 7, 14, 5, 12, 3, 10, 1, 8, 15, 6, 13, 4, 11, 2, 9}));
    for (std::uint32_t servers = 2; servers <= 256; ++servers) {
        for (const std::uint32_t stride : totient_strides(servers, servers)) {
            ASSERT_EQ(ring(servers, stride).size(), servers) << stride;
        }
    }
}

TEST(SelectStrides, OfThePaperAreNearestToAGeometricSequence) {
    EXPECT_EQ(paper(12, 2), (Strides{1, 5}));  // 12^½ = 3.46: 5 is nearer than 1, which is taken
    EXPECT_EQ(paper(12, 3), (Strides{1, 5, 7}));
    EXPECT_EQ(paper(12, 4), (Strides{1, 5, 7, 11}));
    EXPECT_EQ(paper(16, 2), (Strides{1, 3}));  // 16^½ = 4, as near to 3 as to 5
    EXPECT_EQ(paper(16, 3), (Strides{1, 3, 7}));
    EXPECT_EQ(paper(16, 4), (Strides{1, 3, 5, 7}));
    EXPECT_EQ(paper(16, 8), totient_strides(16, 16));
    EXPECT_EQ(paper(32, 2), (Strides{1, 5}));
    EXPECT_EQ(paper(32, 3), (Strides{1, 3, 11}));
    EXPECT_EQ(paper(32, 4), (Strides{1, 3, 5, 13}));
    EXPECT_EQ(paper(32, 8), (Strides{1, 3, 5, 7, 9, 11, 13, 21}));
    EXPECT_EQ(paper(128, 2), (Strides{1, 11}));
    EXPECT_EQ(paper(128, 3), (Strides{1, 5, 25}));
    EXPECT_EQ(paper(128, 4), (Strides{1, 3, 11, 39}));
    EXPECT_EQ(paper(128, 8), (Strides{1, 3, 5, 7, 11, 21, 39, 69}));
    EXPECT_EQ(paper(1024, 2), (Strides{1, 31}));
    EXPECT_EQ(paper(1024, 3), (Strides{1, 11, 101}));
    EXPECT_EQ(paper(1024, 4), (Strides{1, 5, 33, 181}));
    EXPECT_EQ(paper(1024, 8), (Strides{1, 3, 5, 13, 31, 77, 181, 431}));
}

TEST(SelectStrides, OfTheReleasedCodeAreTheNextOnes) {
    EXPECT_EQ(released(8, 2), (Strides{1}));
    EXPECT_EQ(released(8, 4), (Strides{1, 3}));
    EXPECT_EQ(released(12, 2), (Strides{1}));
    EXPECT_EQ(released(12, 4), (Strides{1, 5}));
    EXPECT_EQ(released(16, 2), (Strides{1}));
    EXPECT_EQ(released(16, 4), (Strides{1, 5}));  // 15^½ = 3.87
    EXPECT_EQ(released(16, 6), (Strides{1, 3, 7}));
    EXPECT_EQ(released(16, 8), (Strides{1, 3, 5, 9}));
    EXPECT_EQ(released(32, 2), (Strides{1}));
    EXPECT_EQ(released(32, 4), (Strides{1, 7}));
    EXPECT_EQ(released(32, 6), (Strides{1, 5, 11}));
    EXPECT_EQ(released(32, 8), (Strides{1, 3, 7, 15}));
    EXPECT_EQ(released(128, 2), (Strides{1}));
    EXPECT_EQ(released(128, 4), (Strides{1, 13}));
    EXPECT_EQ(released(128, 6), (Strides{1, 7, 27}));
    EXPECT_EQ(released(128, 8), (Strides{1, 5, 13, 39}));
    EXPECT_EQ(released(1024, 2), (Strides{1}));
    EXPECT_EQ(released(1024, 4), (Strides{1, 33}));
    EXPECT_EQ(released(1024, 6), (Strides{1, 11, 103}));
    EXPECT_EQ(released(1024, 8), (Strides{1, 7, 33, 181}));
}

TEST(SelectStrides, OneWayRingsOfTheReleasedRuleReachTheGreatestCandidate) {
    // 15^{i/(c-1)}: 1 and 15; then 1, 15^½ = 3.87 and 15.
    EXPECT_EQ(select(16, {1, Selection::kAtLeast, false}), (Strides{1}));
    EXPECT_EQ(select(16, {2, Selection::kAtLeast, false}), (Strides{1, 15}));
    EXPECT_EQ(select(16, {3, Selection::kAtLeast, false}), (Strides{1, 5, 15}));
}

TEST(SelectStrides, TheReleasedRuleSkipsWhatIsTakenAndItsForkDoesNot) {
    // 12 servers have {1, 5, 7, 11}; targets are 1, 11^⅓ = 2.2 and 11^⅔ = 4.9, for both of which 5 is next.
    EXPECT_EQ(select(12, {3, Selection::kAtLeast, true}), (Strides{1, 5, 7}));
    EXPECT_EQ(select(12, {3, Selection::kAtLeastRepeating, true}), (Strides{1, 5, 5}));
    // 6 servers have {1, 5}: one-way targets 1, 5^½ = 2.2 and 5; when both are taken, they are there again.
    EXPECT_EQ(select(6, {3, Selection::kAtLeast, false}), (Strides{1, 5, 5}));
    // 8 servers have {1, 3, 5, 7}. One-way targets are 7^{i/3} = 1, 1.9, 3.7, 7 and find each once; with six,
    // 7^{i/5} = 1, 1.5, 2.2, 3.2, 4.7 and 7: takes 1, 3, 5, 7, then all are there again: 5 and 7.
    EXPECT_EQ(select(8, {4, Selection::kAtLeast, false}), (Strides{1, 3, 5, 7}));
    EXPECT_EQ(select(8, {6, Selection::kAtLeast, false}), (Strides{1, 3, 5, 5, 7, 7}));
}

TEST(SelectStrides, NoStrideIsTakenMuchMoreOftenThanAnother) {
    for (const Selection selection : {Selection::kNearest, Selection::kAtLeast}) {
        for (std::uint32_t servers = 3; servers <= 40; ++servers) {
            const Strides candidates = totient_strides(servers, servers);
            for (std::uint32_t count = 1; count <= 12; ++count) {
                const Strides chosen = select(servers, {count, selection, false});
                ASSERT_EQ(chosen.size(), count);
                const std::multiset<std::uint32_t> times(chosen.begin(), chosen.end());
                for (const std::uint32_t stride : candidates) {
                    const std::size_t least = count / candidates.size();
                    ASSERT_GE(times.count(stride), least);
                    ASSERT_LE(times.count(stride), least + 1);
                }
            }
        }
    }
}

TEST(SelectStrides, ThatGoBothWaysAreDifferentRings) {
    // Of s and 16 - s the smaller, {1, 3, 5, 7}: 16^½ = 4 is as near to 3 as to 5; eight are each twice.
    EXPECT_EQ(select(16, {2, Selection::kNearest, true}), (Strides{1, 3}));
    EXPECT_EQ(select(16, {4, Selection::kNearest, true}), (Strides{1, 3, 5, 7}));
    EXPECT_EQ(select(16, {8, Selection::kNearest, true}), (Strides{1, 1, 3, 3, 5, 5, 7, 7}));
    EXPECT_EQ(select(2, {2, Selection::kNearest, true}), (Strides{1, 1}));
}

TEST(SelectStrides, OfGroupsCountInTheirSteps) {
    // Groups of 16 among 64 stand 4 apart: as among 16 servers, 4 times as far.
    const Strides candidates = totient_strides(64, 16);
    EXPECT_EQ(select_strides(64, 16, candidates, {3, Selection::kNearest, false}), (Strides{4, 12, 28}));
    EXPECT_EQ(select_strides(64, 16, candidates, {2, Selection::kAtLeast, true}), (Strides{4, 20}));
}

}  // namespace
}  // namespace astrolabe::network::topoopt
