#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/experiment/file/jobs.hpp>

namespace astrolabe::experiment {
namespace {

using FreeGroups = std::vector<std::vector<network::HostId>>;

std::vector<network::HostId> first_of_groups(const FreeGroups& groups, std::size_t ranks) {
    std::vector<network::HostId> hosts;
    for (const std::vector<network::HostId>& group : groups) {
        for (std::size_t i = 0; i < group.size() && hosts.size() < ranks; ++i) {
            hosts.push_back(group[i]);
        }
    }
    return hosts;
}

std::vector<network::HostId> in_turn(const FreeGroups& groups, std::size_t ranks) {
    std::vector<network::HostId> hosts;
    for (std::size_t round = 0; hosts.size() < ranks; ++round) {
        for (const std::vector<network::HostId>& group : groups) {
            if (round < group.size() && hosts.size() < ranks) {
                hosts.push_back(group[round]);
            }
        }
    }
    return hosts;
}

std::vector<network::HostId> in_few_groups(FreeGroups groups, std::size_t ranks) {
    const auto suffices = [ranks](const std::vector<network::HostId>& group) { return group.size() >= ranks; };
    const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    if (std::any_of(groups.begin(), groups.end(), suffices)) {
        std::erase_if(groups, [&](const auto& group) { return !suffices(group); });
        return first_of_groups({*std::min_element(groups.begin(), groups.end(), by_size)}, ranks);
    }
    std::stable_sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) { return by_size(b, a); });
    return first_of_groups(groups, ranks);
}

}  // namespace

FreeHosts::FreeHosts(const network::Fabric& fabric, std::uint64_t seed)
    : groups_(host_groups(fabric)),
      free_(fabric.host_count(), true),
      count_(fabric.host_count()),
      seed_(seed) {}

void FreeHosts::take(network::HostId host) {
    ASTROLABE_ASSERT(is_free(host), "no host has two ranks");
    free_[host.index()] = false;
    --count_;
}

void FreeHosts::release(network::HostId host) {
    ASTROLABE_ASSERT(!is_free(host), "a host is released once");
    free_[host.index()] = true;
    ++count_;
}

FreeGroups FreeHosts::groups() const {
    FreeGroups free = groups_;
    for (std::vector<network::HostId>& group : free) {
        std::erase_if(group, [this](network::HostId host) { return !is_free(host); });
    }
    return free;
}

std::vector<network::HostId> FreeHosts::take(std::size_t ranks, JobPlacement placement, std::size_t job) {
    ASTROLABE_ASSERT(ranks <= count_, "there is a free host for every rank");
    std::vector<network::HostId> hosts;
    switch (placement) {
        case JobPlacement::kPacked:
            hosts = first_of_groups(groups(), ranks);
            break;
        case JobPlacement::kSpread:
            hosts = in_turn(groups(), ranks);
            break;
        case JobPlacement::kByRack:
            hosts = in_few_groups(groups(), ranks);
            break;
        case JobPlacement::kRandom:
            hosts = first_of_groups(groups(), count_);
            RandomStream(seed_, fmt::format("jobs.placement {}", job)).shuffle(hosts);
            hosts.resize(ranks);
            break;
    }
    for (const network::HostId host : hosts) {
        take(host);
    }
    return hosts;
}

}  // namespace astrolabe::experiment
