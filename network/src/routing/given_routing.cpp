#include "given_routing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

std::uint64_t two_ids(std::size_t from, std::size_t to) {
    return std::uint64_t{from} << 32 | to;
}

/// At most kMostShares + 1, which stands for any more.
std::uint64_t limited_lcm(std::uint64_t a, std::uint64_t b) {
    return std::min(std::lcm(a, b), kMostShares + 1);
}

}  // namespace

std::uint32_t GivenPaths::add_path(std::vector<NodeId> between) {
    paths_.push_back(std::move(between));
    return static_cast<std::uint32_t>(paths_.size() - 1);
}

void GivenPaths::give(HostId source, HostId destination, std::uint32_t path, std::uint32_t weight) {
    choices_[two_ids(source.index(), destination.index())].push_back({path, weight});
}

std::span<const GivenPaths::Choice> GivenPaths::of(HostId source, HostId destination) const {
    const auto found = choices_.find(two_ids(source.index(), destination.index()));
    return found == choices_.end() ? std::span<const Choice>() : std::span<const Choice>(found->second);
}

ParallelLinks::ParallelLinks(const Fabric& fabric) {
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        links_[two_ids(fabric.source(link).index(), fabric.target(link).index())].push_back(link);
    }
}

std::span<const LinkId> ParallelLinks::of(NodeId from, NodeId to) const {
    const auto found = links_.find(two_ids(from.index(), to.index()));
    return found == links_.end() ? std::span<const LinkId>() : std::span<const LinkId>(found->second);
}

GivenRouting::GivenRouting(const Fabric& fabric, std::shared_ptr<const GivenPaths> given,
                           LoadBalancing load_balancing, std::uint64_t seed, PathRule rule)
    : PathRouting(fabric, load_balancing, seed, rule),
      given_(std::move(given)),
      links_(fabric) {}

std::uint64_t GivenRouting::copies(std::span<const GivenPaths::Choice> choices, HostId source,
                                   HostId destination) const {
    std::uint64_t copies = 1;
    if (load_balancing() != LoadBalancing::kPaths) {
        return copies;
    }
    for (const GivenPaths::Choice& choice : choices) {
        NodeId at = fabric().node_of(source);
        const auto go_on_to = [&](NodeId next) {
            copies = std::lcm(copies, std::uint64_t{links_.of(at, next).size()});
            at = next;
        };
        for (const NodeId next : given_->between(choice.path)) {
            go_on_to(next);
        }
        go_on_to(fabric().node_of(destination));
    }
    return copies;
}

std::size_t GivenRouting::count_paths(HostId source, HostId destination) const {
    if (const std::span<const GivenPaths::Choice> choices = given_->of(source, destination);
        !choices.empty()) {
        const std::uint64_t weights = std::accumulate(
            choices.begin(), choices.end(), std::uint64_t{0},
            [](std::uint64_t sum, const GivenPaths::Choice& choice) { return sum + choice.weight; });
        return weights * copies(choices, source, destination);
    }
    if (next_links(fabric().node_of(source), destination).empty()) {
        return 0;
    }
    if (load_balancing() == LoadBalancing::kFlowHash) {
        return 1;
    }
    const std::scoped_lock lock(counting_);
    return std::min(count_spread(fabric().node_of(source), destination), kMostShares);
}

std::uint64_t GivenRouting::count_spread(NodeId at, HostId destination) const {
    if (at == fabric().node_of(destination)) {
        return 1;
    }
    const std::uint64_t key = two_ids(at.index(), destination.index());
    if (const auto known = spread_counts_.find(key); known != spread_counts_.end()) {
        return known->second;
    }
    const std::span<const LinkId> next = next_links(at, destination);
    std::uint64_t count = 1;
    for (const LinkId link : next) {
        count = limited_lcm(count, count_spread(fabric().target(link), destination));
    }
    count = std::min<std::uint64_t>(count * next.size(), kMostShares + 1);
    spread_counts_.emplace(key, count);
    return count;
}

PathRouting::Path GivenRouting::find_path(std::size_t path, HostId source, HostId destination) const {
    if (!given_->of(source, destination).empty()) {
        return given_path(path, source, destination);
    }
    return load_balancing() == LoadBalancing::kFlowHash ? shortest_path(source, destination)
                                                        : spread_path(path, source, destination);
}

PathRouting::Path GivenRouting::given_path(std::size_t number, HostId source, HostId destination) const {
    const std::span<const GivenPaths::Choice> choices = given_->of(source, destination);
    const std::uint64_t of_each = copies(choices, source, destination);
    auto choice = choices.begin();
    while (number >= choice->weight * of_each) {
        number -= choice->weight * of_each;
        ++choice;
    }
    Path path;
    NodeId at = fabric().node_of(source);
    const auto go_on_to = [&](NodeId next) {
        const std::span<const LinkId> parallel = links_.of(at, next);
        ASTROLABE_ASSERT(!parallel.empty(), "links join the nodes of a given path");
        const std::size_t taken = load_balancing() == LoadBalancing::kPaths
                                      ? number % parallel.size()
                                      : choose(source, destination, at.index() + 1, parallel.size());
        path.push_back(parallel[taken]);
        at = next;
    };
    for (const NodeId next : given_->between(choice->path)) {
        go_on_to(next);
    }
    go_on_to(fabric().node_of(destination));
    return path;
}

PathRouting::Path GivenRouting::spread_path(std::size_t number, HostId source, HostId destination) const {
    const NodeId target = fabric().node_of(destination);
    bool is_drawn = false;
    {
        const std::scoped_lock lock(counting_);
        is_drawn = count_spread(fabric().node_of(source), destination) > kMostShares;
    }
    Path path;
    std::size_t digits = number;
    for (NodeId at = fabric().node_of(source); at != target; at = fabric().target(path.back())) {
        const std::span<const LinkId> next = next_links(at, destination);
        const std::uint64_t salt = std::uint64_t{number + 1} << 32 | at.index();
        path.push_back(
            next[is_drawn ? choose(source, destination, salt, next.size()) : digits % next.size()]);
        digits /= next.size();
    }
    return path;
}

}  // namespace astrolabe::network
