// SPDX-License-Identifier: GPL-2.0-only
/// What the network layer decides for the ns-3 model of Opera: which bulk packets use a circuit, and which
/// way low-latency packets go.
#pragma once

#include <vector>

#include <ns3/opera-rotor-lb-policy.h>
#include <ns3/opera-router.h>
#include <ns3/opera-schedule.h>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/bulk_service.hpp>
#include <astrolabe/network/rotor/rotor_lb.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::ns3 {

/// RotorLB as the network asks for it. `schedule` outlives it.
[[nodiscard]] inline ::ns3::OperaRotorLbPolicy rotor_lb_policy(const network::rotor::RotorNetwork& network,
                                                               const ::ns3::OperaSchedule& schedule,
                                                               std::uint64_t seed) {
    const network::rotor::RotorLbOptions options = network::rotor::rotor_lb_options(network);
    return {schedule, options.hosts_per_rack, options.slot,
            ::ns3::OperaRotorLbPolicy::Options{options.two_hops, options.intra_rack_direct,
                                               options.remainders == network::rotor::Remainders::kRoundRobin},
            seed};
}

/// One of the listed paths, all equally likely.
class SlicePathSource final : public ::ns3::OperaPathSource {
public:
    /// `network` has paths, and outlives it.
    SlicePathSource(const network::rotor::RotorNetwork& network, std::uint64_t seed)
        : network_(network),
          random_(seed, "opera path") {}

    bool Find(std::uint64_t superslice, std::uint32_t from, std::uint32_t to,
              std::vector<std::uint16_t>& uplinks) override {
        network_.paths_of(network_.state_in(superslice))->find(superslice, from, to, found_);
        if (found_.size() == 0) {
            return false;
        }
        const auto chosen = found_[random_.below(static_cast<std::uint32_t>(found_.size()))];
        uplinks.assign(chosen.begin(), chosen.end());
        return true;
    }

private:
    const network::rotor::RotorNetwork& network_;
    network::rotor::PathList found_;
    RandomStream random_;
};

[[nodiscard]] inline std::vector<std::vector<::ns3::OperaSchedule::Matching>> matchings_of(
    const network::rotor::RotorSchedule& schedule) {
    std::vector<std::vector<::ns3::OperaSchedule::Matching>> matchings(schedule.uplinks());
    for (network::rotor::Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        for (std::uint32_t index = 0; index < schedule.matchings_per_rotor(); ++index) {
            matchings[rotor].push_back(schedule.matching(rotor, index));
        }
    }
    return matchings;
}

[[nodiscard]] inline ::ns3::OperaSchedule to_ns3(const network::rotor::RotorNetwork& network) {
    const network::rotor::RotorTiming& timing = network.schedule.timing();
    ::ns3::OperaSchedule schedule(matchings_of(network.schedule), network.schedule.groups(),
                                  {timing.eps.count(), timing.del.count(), timing.reconfiguration.count()});
    for (const network::rotor::RotorState& state : network.failing) {
        schedule.Fail(state.from.count(), matchings_of(state.schedule));
    }
    return schedule;
}

}  // namespace astrolabe::ns3
