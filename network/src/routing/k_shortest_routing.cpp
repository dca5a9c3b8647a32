#include "k_shortest_routing.hpp"

#include <algorithm>
#include <limits>
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
          lengths_to_(fabric.node_count()),
          arrived_by_(fabric.node_count()),
          length_(fabric.node_count(), 0),
          seen_(fabric.node_count(), 0),
          closed_(fabric.node_count(), 0) {}

    std::vector<Path> find(HostId source, HostId destination) {
        const NodeId from = fabric_.node_of(source);
        to_ = fabric_.node_of(destination);
        to_there_ = &lengths_to(to_);
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
            std::size_t before = 0;  // the length as far as the spur
            for (std::size_t spur = 0; spur < last.size(); before += fabric_.link(last[spur++]).cost) {
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
                std::optional<Path> rest = search(fabric_.source(last[spur]), before);
                if (!rest) {
                    continue;
                }
                Path path(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(spur));
                path.insert(path.end(), rest->begin(), rest->end());
                const bool is_known = std::any_of(candidates.begin(), candidates.end(),
                                                  [&](const auto& one) { return one.second == path; });
                if (!is_known) {
                    const std::size_t length = length_of(path);
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
    static constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

    /// From every node; found when first asked for.
    const std::vector<std::uint32_t>& lengths_to(NodeId destination) {
        std::vector<std::uint32_t>& lengths = lengths_to_[destination.index()];
        if (!lengths.empty()) {
            return lengths;
        }
        lengths.assign(fabric_.node_count(), kFar);
        lengths[destination.index()] = 0;
        std::vector<std::vector<NodeId>> waiting{{destination}};  // by length
        for (std::uint32_t length = 0; length < waiting.size(); ++length) {
            const std::vector<NodeId> nodes = std::move(waiting[length]);
            for (const NodeId node : nodes) {
                if (length > lengths[node.index()] || (node != destination && !fabric_.node(node).forwards)) {
                    continue;  // a shorter way was found since, or none leads through it
                }
                for (const LinkId in : fabric_.links_into(node)) {
                    const NodeId neighbour = fabric_.source(in);
                    const std::uint32_t there = length + fabric_.link(in).cost;
                    if (there < lengths[neighbour.index()]) {
                        lengths[neighbour.index()] = there;
                        waiting.resize(std::max<std::size_t>(waiting.size(), there + 1));
                        waiting[there].push_back(neighbour);
                    }
                }
            }
        }
        return lengths;
    }

    [[nodiscard]] std::size_t length_of(const Path& path) const {
        std::size_t length = 0;
        for (const LinkId link : path) {
            length += fabric_.link(link).cost;
        }
        return length;
    }

    void begin_search() { ++round_; }
    void close(NodeId node) { closed_[node.index()] = round_; }

    /// A shortest way from a node to the destination, without closed nodes and, out of the node itself,
    /// without banned links; nothing if it is longer than paths may be with what is `before` it.
    std::optional<Path> search(NodeId from, std::size_t before) {
        // Nodes wait by the least length of a path through them, which never falls along a way.
        for (auto& bucket : buckets_) {
            bucket.clear();  // their memory is used again
        }
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
                    const std::size_t there = length + fabric_.link(link).cost;
                    const bool is_banned =
                        node == from && std::find(banned_.begin(), banned_.end(), link) != banned_.end();
                    if (is_banned || closed_[next.index()] == round_ ||
                        (next != to_ && !fabric_.node(next).forwards) ||
                        (seen_[next.index()] == round_ && length_[next.index()] <= there)) {
                        continue;
                    }
                    seen_[next.index()] = round_;
                    length_[next.index()] = there;
                    arrived_by_[next.index()] = link;
                    put(next, there);
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
    std::vector<std::vector<std::uint32_t>> lengths_to_;  // by destination, then by node; empty: not known

    // Of the pair in hand.
    NodeId to_;
    const std::vector<std::uint32_t>* to_there_ = nullptr;
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
    : PathRouting(fabric, options.load_balancing, options.seed),
      options_(options),
      search_(std::make_unique<Search>(fabric, options_)),
      known_(fabric) {
    ASTROLABE_ASSERT(options.paths >= 1, "a pair has a path");
}

KShortestRouting::~KShortestRouting() = default;

PathReader KShortestRouting::known_paths(HostId source, HostId destination) const {
    const std::optional<PathReader> known = known_.find(source, destination);
    return known ? *known : known_.add(source, destination, search_->find(source, destination));
}

std::vector<KShortestRouting::Path> KShortestRouting::paths(HostId source, HostId destination) const {
    ASTROLABE_ASSERT(source != destination, "a path leads from one host to another");
    return find_paths(source, destination);
}

std::size_t KShortestRouting::count_paths(HostId source, HostId destination) const {
    const std::scoped_lock lock(finding_);
    return known_paths(source, destination).paths();
}

KShortestRouting::Path KShortestRouting::find_path(std::size_t path, HostId source,
                                                   HostId destination) const {
    const std::scoped_lock lock(finding_);
    PathReader reader = known_paths(source, destination);
    Path found(reader.begin(path));
    std::generate(found.begin(), found.end(), [&reader] { return reader.next(); });
    return found;
}

std::vector<KShortestRouting::Path> KShortestRouting::find_paths(HostId source, HostId destination) const {
    const std::scoped_lock lock(finding_);
    PathReader reader = known_paths(source, destination);
    std::vector<Path> found(reader.paths());
    for (Path& path : found) {
        path.resize(reader.begin());
        std::generate(path.begin(), path.end(), [&reader] { return reader.next(); });
    }
    return found;
}

LinkId KShortestRouting::select_on(std::size_t path, NodeId at, HostId source, HostId destination) const {
    if (load_balancing() == LoadBalancing::kPaths) {  // packets ask at every hop: nothing is copied
        const std::scoped_lock lock(finding_);
        PathReader reader = known_paths(source, destination);
        for (std::size_t hops = reader.begin(path); hops > 0; --hops) {
            if (const LinkId link = reader.next(); fabric().source(link) == at) {
                return link;
            }
        }
    }
    return PathRouting::select_on(path, at, source, destination);
}

}  // namespace astrolabe::network
