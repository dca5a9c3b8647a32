#include "shortest_path_routing.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include <boost/container/small_vector.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/network/analysis/route_load.hpp>

namespace astrolabe::network {

namespace {

constexpr std::uint64_t kUnreached = std::numeric_limits<std::uint64_t>::max();

std::uint64_t flow_hash(std::uint64_t seed, HostId source, HostId destination, NodeId node) {
    const std::uint64_t pair = (std::uint64_t{source.index()} << 32) | destination.index();
    const std::uint64_t flow = mix_bits(mix_bits(seed + kGoldenGamma) ^ pair);
    return mix_bits(flow + kGoldenGamma * (std::uint64_t{node.index()} + 1));
}

}  // namespace

ShortestPathRouting::ShortestPathRouting(const Fabric& fabric, LoadBalancing load_balancing,
                                         std::uint64_t seed, PathRule rule)
    : fabric_(fabric),
      load_balancing_(load_balancing),
      seed_(seed),
      rule_(rule),
      forwarding_index_(fabric.node_count(), kLeaf),
      leaf_up_(fabric.host_count()),
      leaf_down_(fabric.host_count()) {
    for (std::size_t i = 0; i < fabric.node_count(); ++i) {
        const NodeId node(i);
        if (i < fabric.host_count() && place_of(fabric, HostId(i)) != node) {
            leaf_up_[i] = fabric.first_link(node);
            leaf_down_[i] = *fabric.link(leaf_up_[i]).reverse;
            continue;
        }
        forwarding_index_[node] = static_cast<std::uint32_t>(forwarding_nodes_.size());
        forwarding_nodes_.push_back(node);
    }
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        highest_cost_ = std::max<std::size_t>(highest_cost_, fabric.link(LinkId(i)).cost);
    }
    attachment_ = forwarding_index_;
    for (NodeId host; host.index() < fabric.host_count(); ++host) {
        if (is_leaf_host(host)) {
            attachment_[host] = forwarding_index_[fabric.target(leaf_up_[host.index()])];
        }
    }
    tables_ = std::vector<std::atomic<const std::span<const LinkId>*>>(forwarding_nodes_.size());
}

ShortestPathRouting::~ShortestPathRouting() {
    for (const auto& table : tables_) {
        delete[] table.load(std::memory_order_relaxed);
    }
}

const std::span<const LinkId>* ShortestPathRouting::table_of(std::uint32_t attachment) const {
    auto& slot = tables_[attachment];
    const std::span<const LinkId>* table = slot.load(std::memory_order_acquire);
    if (table == nullptr) {
        const std::lock_guard lock(building_);
        table = slot.load(std::memory_order_relaxed);
        if (table == nullptr) {
            table = make_table(forwarding_nodes_[attachment]).release();
            slot.store(table, std::memory_order_release);
        }
    }
    return table;
}

bool ShortestPathRouting::falls(LinkId link) const {
    return fabric_.node(fabric_.source(link)).tier > fabric_.node(fabric_.target(link)).tier;
}

bool ShortestPathRouting::rises(LinkId link) const {
    return fabric_.node(fabric_.source(link)).tier < fabric_.node(fabric_.target(link)).tier;
}

template <class Usable>
void ShortestPathRouting::search(Distances& distances, NodeId destination, const Usable& usable) const {
    // Nodes that wait lie at most the highest cost beyond the one in hand, so the buckets can be used in
    // turn; those whose distance is known already are entered when their turn comes.
    std::vector<std::pair<std::uint64_t, NodeId>> known;
    for (std::size_t index = 0; index < distances.size(); ++index) {
        if (distances[index] != kUnreached) {
            known.emplace_back(distances[index], forwarding_nodes_[index]);
        }
    }
    std::ranges::stable_sort(known, {}, &std::pair<std::uint64_t, NodeId>::first);
    std::vector<std::vector<NodeId>> buckets(highest_cost_ + 1);
    std::size_t waiting = known.size();
    auto next_known = known.begin();
    for (std::uint64_t reach = 0; waiting > 0; ++reach) {
        std::vector<NodeId>& bucket = buckets[reach % buckets.size()];
        for (; next_known != known.end() && next_known->first == reach; ++next_known) {
            bucket.push_back(next_known->second);
        }
        for (const NodeId node : bucket) {
            const bool is_between = node != destination;
            if (distances[forwarding_index_[node]] != reach || (is_between && !fabric_.node(node).forwards)) {
                continue;  // a shorter way was found since, or none leads through it
            }
            for (const LinkId in : fabric_.links_into(node)) {  // backwards from the destination
                const NodeId neighbour = fabric_.source(in);
                const std::uint32_t index = forwarding_index_[neighbour];
                if (index == kLeaf || distances[index] <= reach + 1 || !usable(in)) {
                    continue;  // no link costs less than 1
                }
                const std::uint64_t length = reach + fabric_.link(in).cost;
                if (length < distances[index]) {
                    distances[index] = length;
                    buckets[length % buckets.size()].push_back(neighbour);
                    ++waiting;
                }
            }
        }
        waiting -= bucket.size();
        bucket.clear();
    }
}

ShortestPathRouting::Table ShortestPathRouting::make_table(NodeId attachment) const {
    Distances distances(forwarding_nodes_.size(), kUnreached);
    distances[forwarding_index_[attachment]] = 0;
    Distances falling;
    if (rule_ == PathRule::kShortest) {
        search(distances, attachment, [](LinkId) { return true; });
    } else {
        search(distances, attachment, [this](LinkId link) { return falls(link); });
        falling = distances;
        search(distances, attachment, [&](LinkId link) {
            return rises(link) && falling[forwarding_index_[fabric_.source(link)]] == kUnreached;
        });
    }
    const auto is_usable = [&](LinkId link, std::size_t from) {
        return rule_ == PathRule::kShortest || (falling[from] == kUnreached ? rises(link) : falls(link));
    };

    auto table = std::make_unique<std::span<const LinkId>[]>(forwarding_nodes_.size());
    LinkSet links;
    for (std::size_t index = 0; index < forwarding_nodes_.size(); ++index) {
        const NodeId node = forwarding_nodes_[index];
        if (node == attachment || distances[index] == kUnreached) {
            continue;
        }
        const LinkId first = fabric_.first_link(node);
        links.clear();
        for (std::size_t i = 0; i < fabric_.out_degree(node); ++i) {
            const LinkId link(first.index() + i);
            const NodeId target = fabric_.target(link);
            const std::uint32_t next = forwarding_index_[target];
            if (next != kLeaf && (target == attachment || fabric_.node(target).forwards) &&
                distances[next] < distances[index] &&
                distances[next] + fabric_.link(link).cost == distances[index] && is_usable(link, index)) {
                links.push_back(link);
            }
        }
        table[index] = intern(links);
    }
    return table;
}

std::span<const LinkId> ShortestPathRouting::intern(const LinkSet& links) const {
    std::uint64_t hash = links.size();
    for (const LinkId link : links) {
        hash = mix_bits(hash + kGoldenGamma * (std::uint64_t{link.index()} + 1));
    }
    const auto [begin, end] = link_sets_by_hash_.equal_range(hash);
    for (auto candidate = begin; candidate != end; ++candidate) {
        if (*candidate->second == links) {
            return *candidate->second;
        }
    }
    const LinkSet* set = &link_sets_.emplace_back(links);
    link_sets_by_hash_.emplace(hash, set);
    return *set;
}

std::span<const LinkId> ShortestPathRouting::next_links(NodeId at, HostId destination) const {
    const NodeId target = fabric_.node_of(destination);
    if (at == target) {
        return {};
    }
    const std::uint32_t exit = attachment_[target];
    const std::uint32_t entry = attachment_[at];
    if (entry == exit) {
        if (is_leaf_host(at)) {
            return {&leaf_up_[at.index()], 1};
        }
        ASTROLABE_ASSERT(is_leaf_host(target), "two distinct forwarding nodes have distinct attachments");
        return {&leaf_down_[target.index()], 1};
    }
    const std::span<const LinkId> links = table_of(exit)[entry];
    return is_leaf_host(at) && !links.empty() ? std::span(&leaf_up_[at.index()], 1) : links;
}

LinkId ShortestPathRouting::select(NodeId at, HostId source, HostId destination) const {
    const std::span<const LinkId> links = next_links(at, destination);
    ASTROLABE_ASSERT(!links.empty(), "a link is selected only where there is one");
    if (links.size() == 1) {
        return links.front();
    }
    const std::uint64_t upper = flow_hash(seed_, source, destination, at) >> 32;
    return links[static_cast<std::size_t>((upper * links.size()) >> 32)];
}

Route ShortestPathRouting::route(HostId source, HostId destination) const {
    ASTROLABE_ASSERT(source != destination, "a route leads from one host to another");
    if (next_links(fabric_.node_of(source), destination).empty()) {
        return {};
    }
    return load_balancing_ == LoadBalancing::kFlowHash ? single_path(source, destination)
                                                       : spread(source, destination);
}

Route ShortestPathRouting::single_path(HostId source, HostId destination) const {
    Route route;
    const NodeId target = fabric_.node_of(destination);
    for (NodeId at = fabric_.node_of(source); at != target;) {
        const LinkId link = select(at, source, destination);
        route.legs.push_back({link, 1.0});
        route.latency = saturating_sum(route.latency, hop_latency(fabric_, link, route.legs.size() == 1));
        at = fabric_.target(link);
    }
    route.hops = route.legs.size();
    return route;
}

Route ShortestPathRouting::spread(HostId source, HostId destination) const {
    struct Arrival {
        std::uint64_t length;  // from the source, the same on all paths to a node
        NodeId node;
        std::uint32_t order;
        double share;
        Time latency;
        std::size_t hops;
    };
    // By distance from the source. Links cost something, so a stage is complete before it is entered.
    constexpr std::size_t kArrivalsExpected = 32;
    boost::container::small_vector<Arrival, kArrivalsExpected> arrivals;
    boost::container::small_vector<Arrival, kArrivalsExpected> stage;
    const NodeId target = fabric_.node_of(destination);
    arrivals.push_back({0, fabric_.node_of(source), 0, 1.0, Time(0), 0});
    std::uint32_t order = 0;
    Route route;
    while (true) {
        const std::uint64_t length = std::ranges::min(arrivals, {}, &Arrival::length).length;
        const auto later = std::partition(arrivals.begin(), arrivals.end(), [length](const Arrival& arrival) {
            return arrival.length == length;
        });
        stage.assign(arrivals.begin(), later);
        arrivals.erase(arrivals.begin(), later);
        std::sort(stage.begin(), stage.end(), [](const Arrival& a, const Arrival& b) {
            return a.node != b.node ? a.node < b.node : a.order < b.order;
        });
        for (std::size_t i = 0; i < stage.size();) {
            Arrival here = stage[i];
            for (++i; i < stage.size() && stage[i].node == here.node; ++i) {
                here.share += stage[i].share;
                here.latency = std::max(here.latency, stage[i].latency);
                here.hops = std::max(here.hops, stage[i].hops);
            }
            if (here.node == target) {
                route.latency = here.latency;
                route.hops = here.hops;
                return route;
            }
            const std::span<const LinkId> links = next_links(here.node, destination);
            const double share = here.share / static_cast<double>(links.size());
            for (const LinkId id : links) {
                const Link& link = fabric_.link(id);
                route.legs.push_back({id, share});
                const Time latency = saturating_sum(here.latency, hop_latency(fabric_, id, here.hops == 0));
                arrivals.push_back(
                    {length + link.cost, fabric_.target(id), ++order, share, latency, here.hops + 1});
            }
        }
    }
}

}  // namespace astrolabe::network
