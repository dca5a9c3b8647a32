#include "robustness.hpp"

#include "rotor_failures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

namespace {

/// Takes out the part along the vector of ones, and scales to length 1. Returns the length before.
double normalise(std::vector<double>& x) {
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
    double square = 0.0;
    for (double& value : x) {
        value -= mean;
        square += value * value;
    }
    const double length = std::sqrt(square);
    if (length > 0.0) {
        for (double& value : x) {
            value /= length;
        }
    }
    return length;
}

}  // namespace

SpectralGap spectral_gap(const RotorSchedule& schedule, std::uint64_t superslice) {
    std::vector<const Matching*> matchings;
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        if (!schedule.goes_dark(rotor, superslice)) {
            matchings.push_back(&schedule.matching(rotor, schedule.matching_index(rotor, superslice)));
        }
    }
    const auto degree = static_cast<double>(matchings.size());
    RandomStream random(1, "spectral gap");
    std::vector<double> x(schedule.racks());
    for (double& value : x) {
        value = static_cast<double>(random.below(1U << 20));
    }
    normalise(x);
    std::vector<double> next(x.size());
    double lambda = 0.0;
    constexpr int kMostIterations = 10'000;
    constexpr double kPrecision = 1e-9;
    for (int i = 0; i < kMostIterations; ++i) {
        std::ranges::fill(next, 0.0);
        for (const Matching* matching : matchings) {
            for (std::size_t rack = 0; rack < x.size(); ++rack) {
                next[rack] += x[(*matching)[rack]];
            }
        }
        const double before = lambda;
        lambda = normalise(next);
        std::swap(x, next);
        if (lambda - before <= kPrecision * lambda) {
            break;
        }
    }
    const double ideal = matchings.empty() ? 0.0 : degree - 2.0 * std::sqrt(degree - 1.0);
    return {std::max(0.0, degree - lambda), ideal};
}

std::uint32_t count_of(FailingPart part, const RotorSchedule& schedule) {
    switch (part) {
        case FailingPart::kCables:
            return schedule.racks() * schedule.uplinks();
        case FailingPart::kRacks:
            return schedule.racks();
        case FailingPart::kRotors:
            return schedule.uplinks();
    }
    invariant_failed("part is named", "a part that fails is one of three");
}

double worst_disconnected_share(const RotorSchedule& schedule, FailingPart part, std::uint32_t failed,
                                std::uint32_t draws, RandomStream& random) {
    FailureCounts counts;
    (part == FailingPart::kCables  ? counts.cables
     : part == FailingPart::kRacks ? counts.racks
                                   : counts.rotors) = failed;
    double worst = 0.0;
    for (std::uint32_t i = 0; i < draws; ++i) {
        const RotorFailures failures = draw_failures(schedule, counts, random);
        for (std::uint32_t s = 0; s < schedule.superslices(); ++s) {
            worst = std::max(worst, SliceGraph(schedule, s, failures).disconnected_share());
        }
    }
    return worst;
}

}  // namespace astrolabe::network::rotor
