#include "graph_lists.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network {

namespace {

class GraphLists {
public:
    explicit GraphLists(const HostLinkParameters& link)
        : link_(link) {}

    void add(const NodeGroup& group) {
        if (!entries_.insert(group.name).second) {
            defect(group.where, fmt::format("two entries of nodes have the name '{}'", group.name),
                   "links name their ends, so every entry has a name of its own");
            return;
        }
        if (std::ssize(graph_.nodes) + group.count.value_or(1) > kMaxHosts + kMaxSwitches) {
            defect(group.where, fmt::format("more than {} nodes", kMaxHosts + kMaxSwitches),
                   "give a smaller count");
            is_full_ = true;
            return;
        }
        for (std::int64_t i = 0; i < group.count.value_or(1); ++i) {
            const auto node = static_cast<std::uint32_t>(graph_.nodes.size());
            if (group.count) {
                names_.add(group.name, i, node);
            } else {
                names_.add(group.name, node);
            }
            graph_.nodes.push_back({.name = group.count ? fmt::format("{} {}", group.name, i) : group.name,
                                    .kind = group.kind,
                                    .buffer = group.buffer,
                                    .forwarding = group.forwarding,
                                    .forwards = group.kind == GraphNodeKind::kHost && group.forwards,
                                    .tier = group.tier,
                                    .where = group.where});
        }
    }

    void add(const LinkGroup& group) {
        const std::vector<std::uint32_t> from = find_nodes(names_, group.from, defects_);
        const std::vector<std::uint32_t> to = find_nodes(names_, group.to, defects_);
        if (from.empty() || to.empty()) {
            count_in_vain(from.size() + to.size());
            return;  // reported
        }
        const bool each = group.pairing == LinkPairing::kEach;
        if (each && from.size() != to.size()) {
            defect(group.where, fmt::format("{} nodes are joined to {}, one each", from.size(), to.size()),
                   "with pairing: each both sides have as many nodes; pairing: all joins every pair");
            count_in_vain(from.size() + to.size());
            return;
        }
        const auto pairs = static_cast<std::int64_t>(each ? from.size() : from.size() * to.size());
        if (pairs > (kMaxCables - std::ssize(graph_.links)) / group.count) {
            defect(group.where, fmt::format("more than {} cables", kMaxCables), "use fewer, faster cables");
            is_full_ = true;
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

    /// Whether there are too many nodes or cables, or as many looked at for nothing: what follows is left
    /// out.
    [[nodiscard]] bool is_full() const { return is_full_; }

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

    /// Nodes of links that are refused.
    void count_in_vain(std::size_t nodes) {
        in_vain_ += static_cast<std::int64_t>(nodes);
        is_full_ = is_full_ || in_vain_ > kMaxCables;
    }

    const HostLinkParameters& link_;
    std::set<std::string> entries_;
    NodeNames names_;
    Graph graph_;
    Diagnostics defects_;
    std::int64_t in_vain_ = 0;
    bool is_full_ = false;
};

/// Adds entries until the graph is full.
template <class Entry>
void add_all(GraphLists& lists, const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
        if (lists.is_full()) {
            return;
        }
        lists.add(entry);
    }
}

}  // namespace

std::variant<Graph, Diagnostics> expand(const std::vector<NodeGroup>& nodes,
                                        const std::vector<LinkGroup>& links, const HostLinkParameters& link) {
    GraphLists lists(link);
    add_all(lists, nodes);
    add_all(lists, links);
    return std::move(lists).take();
}

}  // namespace astrolabe::network
