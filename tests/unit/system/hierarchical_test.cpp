// Hierarchical collectives: what their phases are, what each carries, and that they are right on every grid.

#include "schedule_checks.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/system/collectives.hpp>
#include <astrolabe/system/proof.hpp>

namespace astrolabe::system {
namespace {

using Algorithm = std::shared_ptr<const CollectiveAlgorithm>;

constexpr auto kAware = HierarchicalOptimisation::kLocalBandwidthAware;
constexpr auto kBaseline = HierarchicalOptimisation::kBaseline;

Algorithm over(std::vector<Algorithm> per_dimension, HierarchicalOptimisation optimisation = kAware,
               DimensionOrder order = DimensionOrder::kAscending, std::vector<Bandwidth> bandwidths = {}) {
    return make_hierarchical({.optimisation = optimisation,
                              .per_dimension = std::move(per_dimension),
                              .order = order,
                              .bandwidths = std::move(bandwidths)});
}

TEST(Hierarchical, ProvenOnEveryGridOfTwoDimensions) {
    for (const Algorithm& inner : {make_ring(), make_direct()}) {
        for (const HierarchicalOptimisation optimisation : {kAware, kBaseline}) {
            const Algorithm algorithm = over({inner}, optimisation);
            for (const Shape& shape : factorisations(2, 64)) {
                for (const CollectiveKind kind : kUnrootedKinds) {
                    if (optimisation == kAware || kind == CollectiveKind::kAllReduce) {
                        expect_proven(*algorithm, kind, shape);
                    }
                }
            }
        }
    }
}

TEST(Hierarchical, ProvenOnEveryGridOfThreeDimensions) {
    for (const Algorithm& inner : {make_ring(), make_direct()}) {
        for (const HierarchicalOptimisation optimisation : {kAware, kBaseline}) {
            const Algorithm algorithm = over({inner}, optimisation);
            for (const Shape& shape : factorisations(3, 64)) {
                for (const CollectiveKind kind : kUnrootedKinds) {
                    if (optimisation == kAware || kind == CollectiveKind::kAllReduce) {
                        expect_proven(*algorithm, kind, shape);
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace astrolabe::system
