#include "node_names.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/core/limits.hpp>

namespace astrolabe::network {

namespace {

std::optional<std::int64_t> number_of(std::string_view text) {
    const Parsed<std::int64_t> parsed = parse_integer(text);
    const auto* number = std::get_if<std::int64_t>(&parsed);
    return number == nullptr || *number < 0 ? std::nullopt : std::optional(*number);
}

/// "3" is (3, 3), "0..3" is (0, 3).
std::optional<std::pair<std::int64_t, std::int64_t>> numbers_of(std::string_view text) {
    const std::size_t dots = text.find("..");
    const auto first = number_of(text.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : number_of(text.substr(dots + 2));
    return first && last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

}  // namespace

NodeNames::NodeNames(const Graph& graph) {
    for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
        const std::string& name = graph.nodes[node].name;
        const std::size_t blank = name.rfind(' ');
        const auto number =
            blank == std::string::npos ? std::nullopt : number_of(std::string_view(name).substr(blank + 1));
        if (number) {
            add(name.substr(0, blank), *number, node);
        } else {
            add(name, node);
        }
    }
}

void NodeNames::add(const std::string& entry, std::int64_t number, std::uint32_t node) {
    entries_[entry].emplace(number, node);
}

void NodeNames::add(const std::string& name, std::uint32_t node) {
    single_.emplace(name, node);
}

std::variant<std::vector<std::uint32_t>, NodeNames::Unknown> NodeNames::find(const std::string& text,
                                                                             bool with_hint) const {
    std::vector<std::uint32_t> found;
    if (const auto single = single_.find(text); single != single_.end()) {
        return std::vector{single->second};
    }
    if (const auto whole = entries_.find(text); whole != entries_.end()) {
        for (const auto& [number, node] : whole->second) {
            found.push_back(node);
        }
        return found;
    }
    const std::size_t blank = text.rfind(' ');
    const auto entry = blank == std::string::npos ? entries_.end() : entries_.find(text.substr(0, blank));
    const auto range =
        entry == entries_.end() ? std::nullopt : numbers_of(std::string_view(text).substr(blank + 1));
    if (!range) {
        return with_hint ? unknown(text) : Unknown{fmt::format("'{}' is no node", text), ""};
    }
    const auto& [name, nodes] = *entry;
    const auto [first, last] = *range;
    if (first > last || first < nodes.begin()->first || last > nodes.rbegin()->first) {
        return Unknown{fmt::format("'{}', but '{}' has {} nodes, {} to {}", text, name, nodes.size(),
                                   nodes.begin()->first, nodes.rbegin()->first),
                       "a..b are the nodes from a to b"};
    }
    for (std::int64_t number = first; number <= last; ++number) {
        const auto node = nodes.find(number);
        if (node == nodes.end()) {
            return Unknown{fmt::format("'{}', but there is no '{} {}'", text, name, number),
                           "a..b are the nodes from a to b"};
        }
        found.push_back(node->second);
    }
    return found;
}

NodeNames::Unknown NodeNames::unknown(const std::string& text) const {
    std::vector<std::string> names;
    for (const auto& [name, nodes] : entries_) {
        names.push_back(name);
    }
    for (const auto& [name, node] : single_) {
        names.push_back(name);
    }
    return {fmt::format("'{}' is no node", text), suggest(text, names)};
}

std::vector<std::uint32_t> find_nodes(const NodeNames& names, const std::vector<PlacedText>& texts,
                                      Diagnostics& defects) {
    std::vector<std::uint32_t> nodes;
    for (const PlacedText& text : texts) {
        const auto found = names.find(text.text, defects.size() < limits::kErrorsShown);
        if (const auto* unknown = std::get_if<NodeNames::Unknown>(&found)) {
            defects.push_back({"network.graph", text.where, unknown->message, unknown->hint, {}});
            return {};
        }
        const auto& some = std::get<std::vector<std::uint32_t>>(found);
        if (std::ssize(nodes) + std::ssize(some) > kMaxHosts + kMaxSwitches) {
            defects.push_back({"network.graph",
                               text.where,
                               fmt::format("the list has more than {} nodes up to '{}'",
                                           kMaxHosts + kMaxSwitches, text.text),
                               "a list names a node once; parallel cables are a count",
                               {}});
            return {};
        }
        nodes.insert(nodes.end(), some.begin(), some.end());
    }
    return nodes;
}

}  // namespace astrolabe::network
