// SPDX-License-Identifier: GPL-2.0-only
/// What the network layer decides for the ns-3 model of Opera: which bulk packets use a circuit, and which
/// way low-latency packets go.
#pragma once

#include <string>
#include <vector>

#include <ns3/opera-policy.h>
#include <ns3/opera-router.h>
#include <ns3/opera-schedule.h>
#include <ns3/simulator.h>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/bulk_service.hpp>
#include <astrolabe/network/rotor/rotor_lb.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>
#include <astrolabe/network/rotor/undeliverable.hpp>

namespace astrolabe::ns3 {

class RotorLbPolicy final : public ::ns3::OperaBulkPolicy {
public:
    /// `network` outlives it.
    RotorLbPolicy(const network::rotor::RotorNetwork& network, std::uint64_t seed)
        : network_(network),
          own_(network.schedule.racks(), network.hosts_per_rack),
          relayed_(network.schedule.racks(), network.hosts_per_rack),
          lb_(network::rotor::rotor_lb_options(network), seed) {}

    void Add(std::uint32_t host, std::uint32_t destination, std::uint64_t packets, bool is_relayed) override {
        (is_relayed ? relayed_ : own_).add(host, destination, packets);
    }
    void Share(std::uint32_t x, std::uint32_t y, std::vector<::ns3::OperaGrant>& grants) override {
        shared_.clear();
        const Time now(::ns3::Simulator::Now().GetTimeStep());
        lb_.set_index(network::rotor::index_in(network_.schedule, network_.schedule.at(now).superslice));
        lb_.share(x, y, own_, relayed_, shared_);
        for (const network::rotor::Grant& grant : shared_) {
            grants.push_back({grant.from, grant.to, grant.destination, grant.packets,
                              grant.kind == network::rotor::Grant::Kind::kSecondHop});
        }
    }
    void SetState(std::size_t state) override {
        lb_.set_connected(network::rotor::connected_racks(network_.schedule_of(state)));
    }
    [[nodiscard]] std::uint64_t GetWaiting() const override { return own_.total() + relayed_.total(); }
    [[nodiscard]] std::string describe_undeliverable(Time now) const {
        return network::rotor::describe_undeliverable(network_, now, own_, relayed_);
    }

private:
    const network::rotor::RotorNetwork& network_;
    network::rotor::PacketCounts own_;
    network::rotor::PacketCounts relayed_;
    network::rotor::RotorLb lb_;
    std::vector<network::rotor::Grant> shared_;
};

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
