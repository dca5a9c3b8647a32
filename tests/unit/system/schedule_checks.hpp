// What the tests of collective algorithms share: the kinds, the grids, the proof as an expectation.
#pragma once

#include "system/src/collectives/hierarchical.hpp"
#include "system/src/schedule/proof.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::system {

inline constexpr std::array kUnrootedKinds{CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                           CollectiveKind::kAllGather, CollectiveKind::kAllToAll};
inline constexpr std::array kRootedKinds{CollectiveKind::kBroadcast, CollectiveKind::kReduce,
                                         CollectiveKind::kPointToPoint};
inline constexpr std::array kAllKinds{CollectiveKind::kAllReduce,   CollectiveKind::kReduceScatter,
                                      CollectiveKind::kAllGather,   CollectiveKind::kAllToAll,
                                      CollectiveKind::kBroadcast,   CollectiveKind::kReduce,
                                      CollectiveKind::kPointToPoint};

/// Every grid of `dimensions` dimensions of at least two ranks each with at most `most` ranks.
inline std::vector<Shape> factorisations(std::size_t dimensions, Position most) {
    std::vector<std::vector<Position>> grids{{}};
    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
        std::vector<std::vector<Position>> longer;
        for (const std::vector<Position>& grid : grids) {
            Position ranks = 1;
            for (const Position size : grid) {
                ranks *= size;
            }
            for (Position size = 2; ranks * size <= most; ++size) {
                longer.push_back(grid);
                longer.back().push_back(size);
            }
        }
        grids = std::move(longer);
    }
    std::vector<Shape> shapes;
    for (std::vector<Position>& grid : grids) {
        shapes.emplace_back(std::move(grid));
    }
    return shapes;
}

/// Every variant passes the proof.
inline void expect_proven(const CollectiveAlgorithm& algorithm, CollectiveKind kind, const Shape& shape) {
    for (unsigned variant = 0; variant < algorithm.variants(kind, shape); ++variant) {
        const auto failure = prove(algorithm.schedule(kind, shape, variant));
        EXPECT_FALSE(failure) << shape.text() << " variant " << variant << ": " << failure->message;
    }
}

/// Every kind without a root, with the same algorithm in all dimensions, passes the proof.
inline void expect_hierarchical_proven(const Shape& shape,
                                       const std::shared_ptr<const CollectiveAlgorithm>& inner) {
    const auto aware = make_hierarchical({.per_dimension = {inner}});
    for (const CollectiveKind kind : kUnrootedKinds) {
        expect_proven(*aware, kind, shape);
    }
    const auto baseline =
        make_hierarchical({.optimisation = HierarchicalOptimisation::kBaseline, .per_dimension = {inner}});
    expect_proven(*baseline, CollectiveKind::kAllReduce, shape);
}

}  // namespace astrolabe::system
