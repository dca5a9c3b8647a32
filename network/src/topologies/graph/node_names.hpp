/// Nodes of a graph by what links, circuits and routes call them.
///
/// A text is a node ("gpu 3", "spine"), several ("gpu 0..3"), or all of an entry ("gpu"). Nodes of files
/// whose names end in a number are entries too: "host 0" … "host 7" are of "host".
#pragma once

#include "graph.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace astrolabe::network {

class NodeNames {
public:
    NodeNames() = default;
    explicit NodeNames(const Graph& graph);

    /// A node of an entry, its number in the entry and in the graph. O(log nodes).
    void add(const std::string& entry, std::int64_t number, std::uint32_t node);
    /// A node with a name of its own.
    void add(const std::string& name, std::uint32_t node);

    /// What is wrong with a text, without its place.
    struct Unknown {
        std::string message;
        std::string hint;
    };
    /// In the order of their numbers. O(log nodes + nodes found); a hint for a text that is no node goes
    /// through all names.
    [[nodiscard]] std::variant<std::vector<std::uint32_t>, Unknown> find(const std::string& text,
                                                                         bool with_hint) const;

private:
    using Entry = std::map<std::int64_t, std::uint32_t>;  // number in the entry to that in the graph

    [[nodiscard]] Unknown unknown(const std::string& text) const;

    std::map<std::string, Entry, std::less<>> entries_;
    std::map<std::string, std::uint32_t, std::less<>> single_;
};

/// Nodes of several texts; nothing where one is wrong or they are more than a graph has, which is reported at
/// its place: texts may repeat one another.
[[nodiscard]] std::vector<std::uint32_t> find_nodes(const NodeNames& names,
                                                    const std::vector<PlacedText>& texts,
                                                    Diagnostics& defects);

}  // namespace astrolabe::network
