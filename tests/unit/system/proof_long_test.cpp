// The sweeps of proof_test.cpp and hierarchical_test.cpp without samples: minutes.

#include "schedule_checks.hpp"
#include "system/src/collectives/collectives.hpp"

#include <gtest/gtest.h>

namespace astrolabe::system {
namespace {

TEST(ProofOfEverything, EveryAlgorithmKindAndNumberOfRanks) {
    for (const AlgorithmEntry& entry : builtin_algorithms()) {
        SCOPED_TRACE(entry.name);
        for (const CollectiveKind kind : kAllKinds) {
            for (Position ranks = 2; ranks <= 64; ++ranks) {
                if (!entry.algorithm->refusal(kind, ranks)) {
                    expect_proven(*entry.algorithm, kind, ranks);
                }
            }
        }
    }
}

TEST(ProofOfEverything, EveryGridOfTwoAndThreeDimensions) {
    for (const std::size_t dimensions : {2U, 3U}) {
        for (const Shape& shape : factorisations(dimensions, 64)) {
            expect_hierarchical_proven(shape, make_ring());
            expect_hierarchical_proven(shape, make_direct());
        }
    }
}

TEST(ProofOfEverything, WindowsAndRings) {
    for (Position ranks = 2; ranks <= 64; ++ranks) {
        for (const Position window : {1U, 3U, 63U}) {
            for (const CollectiveKind kind : kUnrootedKinds) {
                expect_proven(*make_windowed_direct(window), kind, ranks);
            }
        }
        for (const CollectiveKind kind :
             {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
            expect_proven(*make_multi_ring({.rings = 8}), kind, ranks);
        }
    }
}

}  // namespace
}  // namespace astrolabe::system
