#include "graph_lists.hpp"

#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::network {

namespace {

class GraphLists {
public:
    explicit GraphLists(const HostLinkParameters& link)
        : link_(link) {}

    void add(const NodeGroup& group) {
        const auto [place, is_new] = groups_.try_emplace(group.name);
        if (!is_new) {
            defect(group.where, fmt::format("two entries of nodes have the name '{}'", group.name),
                   "links name their ends, so every entry has a name of its own");
            return;
        }
        if (std::ssize(graph_.nodes) + group.count.value_or(1) > kMaxHosts + kMaxSwitches) {
            defect(group.where, fmt::format("more than {} nodes", kMaxHosts + kMaxSwitches),
                   "give a smaller count");
            return;
        }
        for (std::int64_t i = 0; i < group.count.value_or(1); ++i) {
            place->second.push_back(static_cast<std::uint32_t>(graph_.nodes.size()));
            graph_.nodes.push_back({.name = group.count ? fmt::format("{} {}", group.name, i) : group.name,
                                    .kind = group.kind,
                                    .buffer = group.buffer,
                                    .forwarding = group.forwarding,
                                    .forwards = group.kind == NodeKind::kHost && group.forwards,
                                    .tier = group.tier,
                                    .where = group.where});
        }
    }

    void add(const LinkGroup& group) {
        const std::vector<std::uint32_t> from = ends(group.from, group.where);
        const std::vector<std::uint32_t> to = ends(group.to, group.where);
        if (from.empty() || to.empty()) {
            return;  // reported
        }
        const bool each = group.pairing == LinkPairing::kEach;
        if (each && from.size() != to.size()) {
            defect(group.where, fmt::format("{} nodes are joined to {}, one each", from.size(), to.size()),
                   "with pairing: each both sides have as many nodes; pairing: all joins every pair");
            return;
        }
        const auto pairs = static_cast<std::int64_t>(each ? from.size() : from.size() * to.size());
        if (pairs > (kMaxCables - std::ssize(graph_.links)) / group.count) {
            defect(group.where, fmt::format("more than {} cables", kMaxCables), "use fewer, faster cables");
            return;
        }
        for (std::size_t i = 0; i < from.size(); ++i) {
            for (std::size_t j = each ? i : 0; j < (each ? i + 1 : to.size()); ++j) {
                for (std::int64_t n = 0; n < group.count; ++n) {
                    graph_.links.push_back({.from = from[i],
                                            .to = to[j],
                                            .parameters = {group.rate.value_or(link_.rate),
                                                           group.latency.value_or(link_.latency), Bytes(0),
                                                           static_cast<std::uint16_t>(group.cost)},
                                            .one_way = group.one_way,
                                            .where = group.where});
                }
            }
        }
    }

    [[nodiscard]] std::variant<Graph, Diagnostics> take() && {
        if (!defects_.empty()) {
            return std::move(defects_);
        }
        return std::move(graph_);
    }

private:
    void defect(const SourceRange& where, std::string message, std::string hint) {
        defects_.push_back({"network.graph", where, std::move(message), std::move(hint), {}});
    }

    /// "leaf", "leaf 3", "leaf 0..3".
    std::vector<std::uint32_t> ends(const std::vector<std::string>& texts, const SourceRange& where) {
        std::vector<std::uint32_t> found;
        for (const std::string& text : texts) {
            if (const auto whole = groups_.find(text); whole != groups_.end()) {
                found.insert(found.end(), whole->second.begin(), whole->second.end());
                continue;
            }
            const std::size_t blank = text.rfind(' ');
            const auto group =
                blank == std::string::npos ? groups_.end() : groups_.find(text.substr(0, blank));
            const std::optional<std::pair<std::int64_t, std::int64_t>> range =
                group == groups_.end() ? std::nullopt : range_of(std::string_view(text).substr(blank + 1));
            if (!range) {
                defect(where, fmt::format("'{}' is no node", text), suggest(text, names()));
                return {};
            }
            const auto [first, last] = *range;
            if (first > last || last >= std::ssize(group->second)) {
                defect(where,
                       fmt::format("'{}', but '{}' has {} nodes, 0 to {}", text, group->first,
                                   group->second.size(), std::ssize(group->second) - 1),
                       "a..b are the nodes from a to b");
                return {};
            }
            found.insert(found.end(), group->second.begin() + first, group->second.begin() + last + 1);
        }
        return found;
    }

    static std::optional<std::pair<std::int64_t, std::int64_t>> range_of(std::string_view text) {
        const std::size_t dots = text.find("..");
        const Parsed<std::int64_t> first = parse_integer(text.substr(0, dots));
        const Parsed<std::int64_t> last =
            dots == std::string_view::npos ? first : parse_integer(text.substr(dots + 2));
        const auto* a = std::get_if<std::int64_t>(&first);
        const auto* b = std::get_if<std::int64_t>(&last);
        return a == nullptr || b == nullptr || *a < 0 ? std::nullopt : std::optional(std::pair(*a, *b));
    }

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& [name, nodes] : groups_) {
            all.push_back(name);
        }
        return all;
    }

    const HostLinkParameters& link_;
    std::map<std::string, std::vector<std::uint32_t>, std::less<>> groups_;
    Graph graph_;
    Diagnostics defects_;
};

}  // namespace

std::variant<Graph, Diagnostics> expand(const std::vector<NodeGroup>& nodes,
                                        const std::vector<LinkGroup>& links, const HostLinkParameters& link) {
    GraphLists lists(link);
    for (const NodeGroup& group : nodes) {
        lists.add(group);
    }
    for (const LinkGroup& group : links) {
        lists.add(group);
    }
    return std::move(lists).take();
}

}  // namespace astrolabe::network
