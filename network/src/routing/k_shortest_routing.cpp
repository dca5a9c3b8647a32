#include "k_shortest_routing.hpp"

#include "hop_table.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>

namespace astrolabe::network {

class KShortestRouting::Search {
public:
    Search(const Fabric& fabric, const KShortestOptions& options)
        : fabric_(fabric),
          options_(options),
          hops_(fabric, detail::HopTable::Way::kTo),
          arrived_by_(fabric.node_count()),
          length_(fabric.node_count(), 0),
          seen_(fabric.node_count(), 0),
          closed_(fabric.node_count(), 0) {}

    std::vector<Path> find(HostId source, HostId destination) {
        const NodeId from = fabric_.node_of(source);
        to_ = fabric_.node_of(destination);
        to_there_ = &hops_.of(to_);
        pair_ = mix_bits(mix_bits(options_.seed + kGoldenGamma) ^
                         (std::uint64_t{source.index()} << 32 | destination.index()));
        std::vector<Path> found;
        if ((*to_there_)[from.index()] == kFar) {
            return found;
        }
        most_ = (*to_there_)[from.index()] + options_.detour;
        // Candidates by length, then in the order found; a path is there once.
        std::map<std::pair<std::size_t, std::size_t>, Path> candidates;
        std::size_t order = 0;
        begin_search();
        found.push_back(*search(from, 0));
        while (found.size() < options_.paths) {
            const Path& last = found.back();
            for (std::size_t spur = 0; spur < last.size(); ++spur) {
                begin_search();
                for (std::size_t i = 0; i < spur; ++i) {
                    close(fabric_.source(last[i]));
                }
                banned_.clear();
                for (const Path& path : found) {
                    if (path.size() > spur && std::equal(path.begin(), path.begin() + spur, last.begin())) {
                        banned_.push_back(path[spur]);
                    }
                }
                std::optional<Path> rest = search(fabric_.source(last[spur]), spur);
                if (!rest) {
                    continue;
                }
                Path path(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(spur));
                path.insert(path.end(), rest->begin(), rest->end());
                const bool is_known = std::any_of(candidates.begin(), candidates.end(),
                                                  [&](const auto& one) { return one.second == path; });
                if (!is_known) {
                    const std::size_t length = path.size();
                    candidates.emplace(std::pair(length, order++), std::move(path));
                }
            }
            banned_.clear();
            if (candidates.empty()) {
                break;
            }
            found.push_back(std::move(candidates.begin()->second));
            candidates.erase(candidates.begin());
        }
        return found;
    }

private:
    static constexpr std::uint16_t kFar = detail::HopTable::kFar;

    void begin_search() { ++round_; }
    void close(NodeId node) { closed_[node.index()] = round_; }

    /// A shortest way from a node to the destination, without closed nodes and, out of the node itself,
    /// without banned links; nothing if what is `before` it and it are longer than paths may be.
    std::optional<Path> search(NodeId from, std::size_t before) {
        // Nodes wait by the least length of a path through them, which never falls along a way.
        buckets_.clear();
        const auto put = [&](NodeId node, std::size_t length) {
            const std::size_t bound = length + (*to_there_)[node.index()];
            if (before + bound > most_) {
                return;
            }
            if (buckets_.size() <= bound) {
                buckets_.resize(bound + 1);
            }
            buckets_[bound].push_back({node, length});
        };
        length_[from.index()] = 0;
        seen_[from.index()] = round_;
        put(from, 0);
        for (std::size_t bound = 0; bound < buckets_.size(); ++bound) {
            // The last one in is the furthest on.
            while (!buckets_[bound].empty()) {
                const auto [node, length] = buckets_[bound].back();
                buckets_[bound].pop_back();
                if (closed_[node.index()] == round_) {
                    continue;
                }
                if (node == to_) {
                    return way_back(from);
                }
                close(node);
                const std::size_t degree = fabric_.out_degree(node);
                const std::size_t first = mix_bits(pair_ + kGoldenGamma * (node.index() + 1)) % degree;
                for (std::size_t i = 0; i < degree; ++i) {
                    const LinkId link(fabric_.first_link(node).index() + (first + i) % degree);
                    const NodeId next = fabric_.target(link);
                    const bool is_banned =
                        node == from && std::find(banned_.begin(), banned_.end(), link) != banned_.end();
                    if (is_banned || closed_[next.index()] == round_ ||
                        (seen_[next.index()] == round_ && length_[next.index()] <= length + 1)) {
                        continue;
                    }
                    seen_[next.index()] = round_;
                    length_[next.index()] = length + 1;
                    arrived_by_[next.index()] = link;
                    put(next, length + 1);
                }
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] Path way_back(NodeId from) const {
        Path path;
        for (NodeId at = to_; at != from; at = fabric_.source(path.back())) {
            path.push_back(arrived_by_[at.index()]);
        }
        std::reverse(path.begin(), path.end());
        return path;
    }

    const Fabric& fabric_;
    const KShortestOptions& options_;
    detail::HopTable hops_;

    // Of the pair in hand.
    NodeId to_;
    const std::vector<std::uint16_t>* to_there_ = nullptr;
    std::uint64_t pair_ = 0;
    std::size_t most_ = 0;

    // Of the search in hand.
    std::uint64_t round_ = 0;
    std::vector<LinkId> banned_;
    std::vector<std::vector<std::pair<NodeId, std::size_t>>> buckets_;
    std::vector<LinkId> arrived_by_;     // by node
    std::vector<std::size_t> length_;    // by node, from the beginning of the search
    std::vector<std::uint64_t> seen_;    // round, by node
    std::vector<std::uint64_t> closed_;  // round, by node
};

KShortestRouting::KShortestRouting(const Fabric& fabric, const KShortestOptions& options)
    : fabric_(fabric),
      options_(options),
      all_shortest_(fabric, LoadBalancing::kFlowHash, options.seed),
      search_(std::make_unique<Search>(fabric_, options_)) {
    ASTROLABE_ASSERT(options.paths >= 1, "a pair has a path");
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        ASTROLABE_ASSERT(fabric.link(LinkId(i)).cost == 1, "the length of a path is its number of links");
    }
}

KShortestRouting::~KShortestRouting() = default;

const std::vector<KShortestRouting::Path>& KShortestRouting::known_paths(HostId source,
                                                                         HostId destination) const {
    const std::uint64_t pair = std::uint64_t{source.index()} << 32 | destination.index();
    const auto known = known_.find(pair);
    if (known != known_.end()) {
        return known->second;
    }
    constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    if (known_bytes_ > kMostBytes) {
        known_.clear();
        known_bytes_ = 0;
    }
    std::vector<Path> found = search_->find(source, destination);
    known_bytes_ += 64;
    for (const Path& path : found) {
        known_bytes_ += sizeof(Path) + path.size() * sizeof(LinkId);
    }
    return known_.emplace(pair, std::move(found)).first->second;
}

std::vector<KShortestRouting::Path> KShortestRouting::paths(HostId source, HostId destination) const {
    ASTROLABE_ASSERT(source != destination, "a path leads from one host to another");
    const std::scoped_lock lock(finding_);
    return known_paths(source, destination);
}

std::size_t KShortestRouting::path_count(HostId source, HostId destination) const {
    const std::scoped_lock lock(finding_);
    return known_paths(source, destination).size();
}

LinkId KShortestRouting::select_on(std::size_t path, NodeId at, HostId source, HostId destination) const {
    {
        const std::scoped_lock lock(finding_);
        for (const LinkId link : known_paths(source, destination)[path]) {
            if (fabric_.source(link) == at) {
                return link;
            }
        }
    }
    return select(at, source, destination);
}

Route KShortestRouting::route(HostId source, HostId destination) const {
    const std::vector<Path> all = paths(source, destination);
    struct Leg {
        std::size_t hop;
        LinkId link;
        double share;
    };
    std::vector<Leg> legs;
    Route route;
    for (const Path& path : all) {
        Time latency;
        for (std::size_t hop = 0; hop < path.size(); ++hop) {
            latency += hop_latency(fabric_, path[hop], hop == 0);
            const auto known =
                std::find_if(legs.begin(), legs.end(), [&](const Leg& leg) { return leg.link == path[hop]; });
            if (known == legs.end()) {
                legs.push_back({hop, path[hop], 1.0});
            } else {
                known->share += 1.0;
            }
        }
        route.latency = std::max(route.latency, latency);
        route.hops = std::max(route.hops, path.size());
    }
    std::sort(legs.begin(), legs.end(),
              [](const Leg& a, const Leg& b) { return std::pair(a.hop, a.link) < std::pair(b.hop, b.link); });
    for (const Leg& leg : legs) {
        route.legs.push_back({leg.link, leg.share / static_cast<double>(all.size())});
    }
    return route;
}

}  // namespace astrolabe::network
