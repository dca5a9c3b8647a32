#include "graph_routes.hpp"

#include "../../routing/given_routing.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network {

namespace {

std::uint64_t ends_key(std::uint32_t from, std::uint32_t to) {
    return std::uint64_t{from} << 32 | to;
}

class RouteLists {
public:
    RouteLists(const Graph& graph, bool splits)
        : graph_(graph),
          names_(graph),
          splits_(splits) {
        for (const GraphLink& link : graph.links) {
            ++links_[ends_key(link.from, link.to)];
            if (!link.one_way) {
                ++links_[ends_key(link.to, link.from)];
            }
        }
    }

    void add(const RouteGroup& group) {
        const std::size_t before = defects_.size();
        const std::vector<std::uint32_t> from = hosts(group.from, group.where);
        const std::vector<std::uint32_t> to = hosts(group.to, group.where);
        std::vector<Step> path = steps(group);
        if (defects_.size() > before) {
            return;
        }
        if (std::ssize(routes_.pairs) + std::ssize(from) * std::ssize(to) * (group.both_ways ? 2 : 1) >
            kMaxGivenPairs) {
            defect(group.where, fmt::format("more than {} pairs with a path", kMaxGivenPairs),
                   "routes of larger networks follow a rule: choose a routing");
            return;
        }
        if (from.size() == 1 && !path.empty() && path.front().node == from.front()) {
            path.erase(path.begin());
        }
        if (to.size() == 1 && !path.empty() && path.back().node == to.front()) {
            path.pop_back();
        }
        if (!give(group, from, to, path)) {
            return;
        }
        if (group.both_ways) {
            std::ranges::reverse(path);
            static_cast<void>(give(group, to, from, path));
        }
    }

    /// Precondition: nothing is wrong so far.
    void require_all(const SourceRange& where) {
        for (std::uint32_t from = 0; from < graph_.nodes.size(); ++from) {
            for (std::uint32_t to = 0; to < graph_.nodes.size(); ++to) {
                if (from != to && is_host(from) && is_host(to) && !shares_.contains(ends_key(from, to))) {
                    defect(where, fmt::format("no route is given from '{}' to '{}'", name(from), name(to)),
                           "without routes_only pairs that are not given take those of routing");
                    return;
                }
            }
        }
    }

    [[nodiscard]] bool is_sound() const { return defects_.empty(); }
    [[nodiscard]] std::variant<GraphRoutes, Diagnostics> take() && {
        if (!defects_.empty()) {
            return std::move(defects_);
        }
        return std::move(routes_);
    }

private:
    struct Step {
        std::uint32_t node;
        SourceRange where;
    };
    /// Of a pair of hosts.
    struct Ends {
        std::uint32_t source;
        std::uint32_t destination;
    };
    /// In how many equal parts a pair is split: the sum of weights times the least common multiple of the
    /// numbers of parallel links.
    struct Shares {
        std::uint64_t weights = 0;
        std::uint64_t copies = 1;
    };

    void defect(const SourceRange& where, std::string message, std::string hint) {
        defects_.push_back({"network.graph", where, std::move(message), std::move(hint), {}});
    }
    [[nodiscard]] const std::string& name(std::uint32_t node) const { return graph_.nodes[node].name; }
    [[nodiscard]] bool is_host(std::uint32_t node) const {
        return graph_.nodes[node].kind == GraphNodeKind::kHost;
    }

    std::vector<std::uint32_t> hosts(const std::vector<PlacedText>& texts, const SourceRange& where) {
        std::vector<std::uint32_t> found = find_nodes(names_, texts, defects_);
        for (const std::uint32_t node : found) {
            if (!is_host(node)) {
                defect(texts.size() == 1 ? texts.front().where : where,
                       fmt::format("a route ends at '{}', which is no host", name(node)),
                       "routes lead from hosts to hosts; switches are in their path");
                return {};
            }
        }
        return found;
    }

    std::vector<Step> steps(const RouteGroup& group) {
        std::vector<Step> found;
        for (const PlacedText& text : group.path) {
            const std::vector<std::uint32_t> nodes = find_nodes(names_, {text}, defects_);
            if (nodes.size() > 1) {
                defect(text.where, fmt::format("'{}' are {} nodes", text.text, nodes.size()),
                       "a path lists one node after another");
            } else if (!nodes.empty()) {
                found.push_back({nodes.front(), text.where});
            }
        }
        return found;
    }

    /// False where something is wrong.
    [[nodiscard]] bool give(const RouteGroup& group, const std::vector<std::uint32_t>& from,
                            const std::vector<std::uint32_t>& to, const std::vector<Step>& path) {
        std::uint64_t copies = 1;
        std::unordered_set<std::uint32_t> visited;
        for (std::size_t i = 0; i < path.size(); ++i) {
            const Step& step = path[i];
            if (is_host(step.node) && !graph_.nodes[step.node].forwards) {
                defect(step.where, fmt::format("'{}' is a host that does not forward", name(step.node)),
                       "hosts are between others only where they say forwards: true");
                return false;
            }
            if (!visited.insert(step.node).second) {
                defect(step.where, fmt::format("the path visits '{}' twice", name(step.node)),
                       "a path visits no node twice");
                return false;
            }
            const auto links =
                i == 0 ? std::optional(std::uint64_t{1}) : join(path[i - 1].node, step.node, step.where);
            if (!links) {
                return false;
            }
            copies = std::lcm(copies, *links);
        }
        const auto number = static_cast<std::uint32_t>(routes_.paths.size());
        std::vector<std::uint32_t>& nodes = routes_.paths.emplace_back();
        for (const Step& step : path) {
            nodes.push_back(step.node);
        }
        for (const std::uint32_t source : from) {
            for (const std::uint32_t destination : to) {
                if (source != destination && (is_visited(visited, path, {source, destination}) ||
                                              !give(group, {source, destination}, path, copies, number))) {
                    return false;
                }
            }
        }
        return true;
    }

    /// Whether an end of the pair is a node of the path, which is reported.
    [[nodiscard]] bool is_visited(const std::unordered_set<std::uint32_t>& visited,
                                  const std::vector<Step>& path, const Ends& ends) {
        if (!visited.contains(ends.source) && !visited.contains(ends.destination)) {
            return false;
        }
        const auto step = std::ranges::find_if(path, [&ends](const Step& other) {
            return other.node == ends.source || other.node == ends.destination;
        });
        defect(step->where, fmt::format("the path visits '{}' twice{}", name(step->node), of_path(&ends)),
               "a path lists the nodes between its ends");
        return true;
    }

    [[nodiscard]] bool give(const RouteGroup& group, const Ends& ends, const std::vector<Step>& path,
                            std::uint64_t copies, std::uint32_t number) {
        const auto& [source, destination] = ends;
        const auto in = join(source, path.empty() ? destination : path.front().node,
                             path.empty() ? group.where : path.front().where, &ends);
        const auto out =
            path.empty() || !in ? in : join(path.back().node, destination, path.back().where, &ends);
        if (!out) {
            return false;
        }
        Shares& shares = shares_[ends_key(source, destination)];
        shares.weights += static_cast<std::uint64_t>(group.weight);
        shares.copies = splits_ ? std::lcm(shares.copies, std::lcm(copies, std::lcm(*in, *out))) : 1;
        if (shares.weights > kMostShares || shares.copies > kMostShares / shares.weights) {
            defect(group.where,
                   fmt::format("the paths from '{}' to '{}' are {} equal shares, expected at most {}",
                               name(source), name(destination), shares.weights * shares.copies, kMostShares),
                   "a share is a unit of weight on one of parallel links: give smaller weights");
            return false;
        }
        routes_.pairs.push_back({source, destination, number, static_cast<std::uint32_t>(group.weight)});
        return true;
    }

    /// Null: of no pair alone.
    [[nodiscard]] std::string of_path(const Ends* ends) const {
        return ends == nullptr ? ""
                               : fmt::format(", of the path from '{}' to '{}'", name(ends->source),
                                             name(ends->destination));
    }

    /// How many links lead from one node to the next; nothing where none does, which is reported.
    std::optional<std::uint64_t> join(std::uint32_t from, std::uint32_t to, const SourceRange& where,
                                      const Ends* of_pair = nullptr) {
        const auto found = links_.find(ends_key(from, to));
        if (found == links_.end()) {
            defect(where,
                   fmt::format("no link leads from '{}' to '{}'{}", name(from), name(to), of_path(of_pair)),
                   "a path goes from node to node over links of the graph");
            return std::nullopt;
        }
        return found->second;
    }

    const Graph& graph_;
    NodeNames names_;
    bool splits_;
    std::unordered_map<std::uint64_t, std::uint64_t> links_;  // how many, by their ends
    std::unordered_map<std::uint64_t, Shares> shares_;        // by the ends of the pair
    GraphRoutes routes_;
    Diagnostics defects_;
};

}  // namespace

std::variant<GraphRoutes, Diagnostics> expand_routes(const Graph& graph,
                                                     const std::vector<RouteGroup>& groups, bool only,
                                                     bool splits, const SourceRange& where) {
    RouteLists lists(graph, splits);
    for (const RouteGroup& group : groups) {
        lists.add(group);
    }
    if (only && lists.is_sound()) {
        lists.require_all(where);
    }
    return std::move(lists).take();
}

}  // namespace astrolabe::network
