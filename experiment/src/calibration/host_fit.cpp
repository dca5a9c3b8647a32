/// Host costs by the steps of recorded_steps.hpp.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <astrolabe/experiment/calibration/recorded_steps.hpp>

namespace astrolabe::experiment {
namespace {

/// Sums over steps.
struct HostSums {
    std::array<PhaseRecord, kStepPhases> phases{};
    Nanoseconds stream_wait = 0;
    Nanoseconds copy = 0;
    Nanoseconds compute = 0;
    std::size_t compute_kernels = 0;
    std::size_t steps = 0;

    void add(const StepRecord& step) {
        for (std::size_t i = 0; i < kStepPhases; ++i) {
            phases[i].host += step.phases[i].host;
            phases[i].launches += step.phases[i].launches;
            phases[i].collectives += step.phases[i].collectives;
            phases[i].collective_calls += step.phases[i].collective_calls;
        }
        stream_wait += step.stream_wait;
        copy += step.copy + step.synchronise;
        compute += step.compute;
        compute_kernels += step.kernels - step.collectives.size();
        ++steps;
    }
};

/// The longest that there is, where it would be longer.
Time bounded_time(detail::Int128 picoseconds) {
    constexpr detail::Int128 kMost = std::numeric_limits<std::int64_t>::max();
    return Time(static_cast<std::int64_t>(std::clamp(picoseconds, -kMost, kMost)));
}

Time time_share(Nanoseconds sum, std::size_t count) {
    constexpr detail::Int128 kPicosecondsPerNanosecond = 1000;
    return count == 0 ? Time(0)
                      : bounded_time(sum * kPicosecondsPerNanosecond / static_cast<std::int64_t>(count));
}

constexpr std::array<std::pair<StepPhase, Time workload::HostCosts::*>, 4> kLaunchPhases{
    {{StepPhase::kForward, &workload::HostCosts::forward_launch},
     {StepPhase::kBackward, &workload::HostCosts::backward_launch},
     {StepPhase::kOptimizer, &workload::HostCosts::optimizer_launch},
     {StepPhase::kSparseDataDist, &workload::HostCosts::input_launch}}};

workload::HostCosts costs_of(const HostSums& sums) {
    workload::HostCosts costs;
    std::size_t collectives = 0;
    Nanoseconds calls = 0;
    for (const auto& [which, member] : kLaunchPhases) {
        const PhaseRecord& phase = sums.phases[static_cast<std::size_t>(which)];
        collectives += phase.collectives;
        calls += phase.collective_calls;
        const std::size_t others = phase.launches - std::min(phase.launches, phase.collectives);
        costs.*member = time_share(phase.host - phase.collective_calls, others);
    }
    const auto host_of = [&sums](StepPhase which) {
        return sums.phases[static_cast<std::size_t>(which)].host;
    };
    costs.collective = time_share(calls, collectives);
    costs.wait = time_share(sums.stream_wait, sums.steps);
    costs.iteration =
        time_share(host_of(StepPhase::kZeroGradient) + host_of(StepPhase::kWaitForBatch), sums.steps);
    costs.batch = time_share(host_of(StepPhase::kNextBatch), sums.steps);
    costs.blocking_copy = time_share(sums.copy, sums.steps);
    return costs;
}

/// Host time of a step with this many launches and collectives.
Time host_time(const workload::HostCosts& costs, const HostSums& step) {
    const auto product = [](Time each, std::size_t count) {
        return static_cast<detail::Int128>(each.count()) * static_cast<std::int64_t>(count);
    };
    detail::Int128 time = product(costs.iteration, 1) + product(costs.batch, 1);
    for (const auto& [which, member] : kLaunchPhases) {
        const PhaseRecord& phase = step.phases[static_cast<std::size_t>(which)];
        const std::size_t others = phase.launches - std::min(phase.launches, phase.collectives);
        time += product(costs.*member, others / step.steps) +
                product(costs.collective, phase.collectives / step.steps);
    }
    return bounded_time(time);
}

}  // namespace

HostFit fit_host(const std::vector<TraceRecord>& ranks) {
    const auto sums_without = [&ranks](std::optional<std::size_t> left_out) {
        HostSums sums;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            for (const StepRecord& step : ranks[i].steps) {
                if (i != left_out) {
                    sums.add(step);
                }
            }
        }
        return sums;
    };
    const HostSums all = sums_without(std::nullopt);
    HostFit fit{.costs = costs_of(all), .kernel = time_share(all.compute, all.compute_kernels), .ranks = {}};
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        HostSums own;
        Nanoseconds host = 0;
        for (const StepRecord& step : ranks[i].steps) {
            own.add(step);
            host += step.host();
        }
        const workload::HostCosts others = ranks.size() > 1 ? costs_of(sums_without(i)) : fit.costs;
        fit.ranks.push_back({ranks[i].rank, time_share(host, own.steps), host_time(others, own)});
    }
    return fit;
}

}  // namespace astrolabe::experiment
