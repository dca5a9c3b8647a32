#include "graph_circuits.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network {

namespace {

class CircuitJoiner {
public:
    explicit CircuitJoiner(const Graph& graph)
        : graph_(graph),
          names_(graph),
          partners_(2 * graph.links.size()),
          circuits_of_(2 * graph.links.size()) {
        for (std::uint32_t link = 0; link < graph.links.size(); ++link) {
            for (const std::uint32_t end : {2 * link, 2 * link + 1}) {
                if (is_circuit_switch(node_of(end))) {
                    free_[{node_of(end), node_of(other(end))}].push_back(end);
                }
            }
        }
    }

    void add(const CircuitGroup& group) {
        const std::size_t before = defects_.size();
        const std::vector<std::uint32_t> at = find_nodes(names_, group.at, defects_);
        const std::vector<std::uint32_t> from = find_nodes(names_, group.from, defects_);
        const std::vector<std::uint32_t> to = find_nodes(names_, group.to, defects_);
        if (defects_.size() > before) {
            return;
        }
        if (at.size() != 1 || !is_circuit_switch(at.front())) {
            defect(group.at.empty() ? group.where : group.at.front().where,
                   at.size() == 1 ? fmt::format("'{}' is no circuit switch", name(at.front()))
                                  : fmt::format("a circuit at {} nodes", at.size()),
                   "a circuit is in one node of kind: circuit_switch");
            return;
        }
        if (from.size() != to.size()) {
            defect(group.where, fmt::format("{} nodes have circuits to {}", from.size(), to.size()),
                   "circuits join the first to the first, the second to the second: give as many on both "
                   "sides");
            return;
        }
        for (std::size_t i = 0; i < from.size(); ++i) {
            for (std::int64_t n = 0; n < group.count; ++n) {
                const auto one = take(at.front(), from[i], group.where);
                const auto two = one ? take(at.front(), to[i], group.where) : std::nullopt;
                if (!two) {
                    return;
                }
                partners_[*one] = *two;
                partners_[*two] = *one;
                circuits_of_[*one] = circuits_of_[*two] = group.where;
            }
        }
    }

    [[nodiscard]] std::variant<JoinedGraph, Diagnostics> join() && {
        if (defects_.empty()) {
            copy_nodes();
            for (std::uint32_t link = 0; link < graph_.links.size() && defects_.empty(); ++link) {
                follow(link);
            }
        }
        if (!defects_.empty()) {
            return std::move(defects_);
        }
        count_ports();
        return std::move(joined_);
    }

private:
    // The ends of link l are 2·l, at `from`, and 2·l + 1, at `to`.
    [[nodiscard]] const GraphLink& link_of(std::uint32_t end) const { return graph_.links[end / 2]; }
    [[nodiscard]] std::uint32_t node_of(std::uint32_t end) const {
        return end % 2 == 0 ? link_of(end).from : link_of(end).to;
    }
    static std::uint32_t other(std::uint32_t end) { return end ^ 1U; }
    [[nodiscard]] bool is_circuit_switch(std::uint32_t node) const {
        return graph_.nodes[node].kind == GraphNodeKind::kCircuitSwitch;
    }
    [[nodiscard]] const std::string& name(std::uint32_t node) const { return graph_.nodes[node].name; }
    /// Of what is sent from this end.
    [[nodiscard]] Bytes buffer_of(std::uint32_t end) const {
        return end % 2 == 0 ? link_of(end).parameters.buffer : link_of(end).buffer_back;
    }
    void defect(const SourceRange& where, std::string message, std::string hint) {
        defects_.push_back({"network.graph", where, std::move(message), std::move(hint), {}});
    }

    /// The first port of the switch on a cable to the node that is in no circuit.
    std::optional<std::uint32_t> take(std::uint32_t at, std::uint32_t node, const SourceRange& where) {
        const auto found = free_.find({at, node});
        if (found == free_.end()) {
            defect(where, fmt::format("no cable joins '{}' and '{}'", name(node), name(at)),
                   "a circuit joins two cables that end at its switch: add links");
            return std::nullopt;
        }
        std::size_t& used = used_[found->first];
        if (used == found->second.size()) {
            defect(where,
                   fmt::format("all {} ports of '{}' to '{}' are in circuits already", used, name(at),
                               name(node)),
                   "a port is in one circuit; cables have a count");
            return std::nullopt;
        }
        return found->second[used++];
    }

    void copy_nodes() {
        numbers_.resize(graph_.nodes.size());
        for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
            if (!is_circuit_switch(node)) {
                numbers_[node] = static_cast<std::uint32_t>(joined_.graph.nodes.size());
                joined_.graph.nodes.push_back(graph_.nodes[node]);
            }
        }
    }

    /// Adds the link that begins with a cable at a node that is no circuit switch, where it is not added yet.
    void follow(std::uint32_t link) {
        const std::uint32_t begin = is_circuit_switch(node_of(2 * link)) ? 2 * link + 1 : 2 * link;
        if (is_circuit_switch(node_of(begin))) {
            return;  // in the middle
        }
        GraphLink whole = graph_.links[link];
        std::uint32_t end = other(begin);
        bool is_alike = true;
        while (is_circuit_switch(node_of(end))) {
            const std::optional<std::uint32_t> next = partners_[end];
            if (!next) {
                return;  // dark
            }
            const GraphLink& cable = link_of(*next);
            const SourceRange& where = circuits_of_[end];
            if (cable.parameters.rate != whole.parameters.rate) {
                defect(where,
                       fmt::format("a circuit joins cables of {} and {}", to_string(whole.parameters.rate),
                                   to_string(cable.parameters.rate)),
                       "a circuit switch does not store: both cables have the same rate");
                return;
            }
            is_alike =
                is_alike && cable.one_way == whole.one_way && (!cable.one_way || *next % 2 == begin % 2);
            if (!is_alike) {
                defect(where, "a circuit joins cables that do not lead the same way",
                       "both cables go both ways, or both in the direction of the circuit");
                return;
            }
            whole.parameters.latency = saturating_sum(whole.parameters.latency, cable.parameters.latency);
            whole.parameters.cost = std::max(whole.parameters.cost, cable.parameters.cost);
            end = other(*next);
        }
        if (end / 2 < link) {
            return;  // added from its other end
        }
        if (end / 2 > link && node_of(end) == node_of(begin)) {
            defect(circuits_of_[other(begin)],
                   fmt::format("a circuit joins '{}' to itself", name(node_of(begin))),
                   "a link joins two different nodes");
            return;
        }
        const bool is_forward = begin % 2 == 0;
        const std::uint32_t first = is_forward || !whole.one_way ? begin : end;
        const std::uint32_t last = first == begin ? end : begin;
        whole.from = numbers_[node_of(first)];
        whole.to = numbers_[node_of(last)];
        whole.parameters.buffer = buffer_of(first);
        whole.buffer_back = buffer_of(last);
        joined_.graph.links.push_back(whole);
    }

    void count_ports() {
        std::map<std::uint32_t, JoinedGraph::Ports> by_node;
        for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
            if (is_circuit_switch(node)) {
                by_node[node].name = name(node);
            }
        }
        for (const auto& [ends, ports] : free_) {
            JoinedGraph::Ports& all = by_node[ends.first];
            for (const std::uint32_t port : ports) {
                all.rate = std::max(all.rate, link_of(port).parameters.rate);
                ++all.count;
                all.unused += partners_[port] ? 0 : 1;
            }
        }
        for (auto& [node, ports] : by_node) {
            joined_.switches.push_back(std::move(ports));
        }
    }

    const Graph& graph_;
    NodeNames names_;
    std::vector<std::optional<std::uint32_t>> partners_;  // by end, at circuit switches
    std::vector<SourceRange> circuits_of_;                // the same
    /// Ends at a circuit switch by it and the node at the other end of the cable, and how many have circuits.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> free_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> used_;
    std::vector<std::uint32_t> numbers_;  // in the joined graph, by node
    JoinedGraph joined_;
    Diagnostics defects_;
};

}  // namespace

std::variant<JoinedGraph, Diagnostics> join_circuits(const Graph& graph,
                                                     const std::vector<CircuitGroup>& circuits) {
    Diagnostics defects;
    const auto defect = [&defects](const SourceRange& where, std::string message, std::string hint) {
        defects.push_back({"network.graph", where, std::move(message), std::move(hint), {}});
    };
    for (const GraphNode& node : graph.nodes) {
        if (node.kind == GraphNodeKind::kCircuitSwitch &&
            (node.buffer != Bytes(0) || node.tier || node.forwards || node.forwarding != Time(0))) {
            defect(node.where, fmt::format("circuit switch '{}' has a buffer, a tier or forwards", node.name),
                   "a circuit switch joins ports and does nothing else");
        }
    }
    for (const GraphLink& link : graph.links) {
        if (link.from == link.to && graph.nodes[link.from].kind == GraphNodeKind::kCircuitSwitch) {
            defect(link.where, fmt::format("'{}' is joined to itself", graph.nodes[link.from].name),
                   "a link joins two different nodes");
        }
    }
    if (!defects.empty()) {
        return defects;
    }
    CircuitJoiner joiner(graph);
    for (const CircuitGroup& group : circuits) {
        joiner.add(group);
    }
    return std::move(joiner).join();
}

}  // namespace astrolabe::network
