// The sweeps of proof_test.cpp and hierarchical_test.cpp without samples: minutes.

#include "schedule_checks.hpp"

#include <algorithms.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace astrolabe::system {
namespace {

TEST(ProofOfEverything, EveryAlgorithmKindAndNumberOfRanks) {
    for (const testing::NamedAlgorithm& entry : testing::builtin_algorithms()) {
        SCOPED_TRACE(entry.name);
        for (const CollectiveKind kind : kAllKinds) {
            for (Position ranks = 2; ranks <= 64; ++ranks) {
                if (!entry.algorithm->unsupported(kind, ranks)) {
                    expect_proven(*entry.algorithm, kind, ranks);
                }
            }
        }
    }
}

TEST(ProofOfEverything, EveryGridOfTwoAndThreeDimensions) {
    for (const std::size_t dimensions : {2U, 3U}) {
        for (const Shape& shape : factorisations(dimensions, 64)) {
            expect_hierarchical_proven(shape, testing::algorithm_of("ring"));
            expect_hierarchical_proven(shape, testing::algorithm_of("direct"));
        }
    }
}

TEST(ProofOfEverything, WindowsAndRings) {
    for (Position ranks = 2; ranks <= 64; ++ranks) {
        for (const Position window : {1U, 3U, 63U}) {
            for (const CollectiveKind kind : kUnrootedKinds) {
                expect_proven(*testing::algorithm_of(fmt::format("windowed_direct, window: {}", window)),
                              kind, ranks);
            }
        }
        for (const CollectiveKind kind :
             {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
            expect_proven(*testing::algorithm_of("multi_ring, rings: 8"), kind, ranks);
        }
    }
}

}  // namespace
}  // namespace astrolabe::system
