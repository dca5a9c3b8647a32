#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/network/resources.hpp>

namespace astrolabe::network {

namespace {

/// The name of a node without its numbers: "leaf 3" is a leaf.
std::string kind_of(const Fabric& fabric, NodeId node) {
    std::string name = fabric.node(node).name;
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    while (!name.empty() && (name.back() == ' ' || name.back() == '.' || name.back() == ',')) {
        name.pop_back();
    }
    return name;
}

}  // namespace

Resources::Resources(const Fabric& fabric) {
    for (const char* name : {"compute", "end points", "latency", "network", "circuits", "transport"}) {
        names_.push_back(name);
    }
    std::vector<std::string> kinds;
    for (std::size_t node = 0; node < fabric.node_count(); ++node) {
        kinds.push_back(kind_of(fabric, NodeId(node)));
    }
    std::map<std::pair<std::string, std::string>, ResourceId> classes;
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const LinkId link(i);
        const auto [inner, outer] = std::minmax({fabric.source(link), fabric.target(link)});
        const auto [entry, is_new] = classes.try_emplace({kinds[inner.index()], kinds[outer.index()]});
        if (is_new) {
            entry->second =
                names_.push_back(fmt::format("{}-{} links", entry->first.first, entry->first.second));
        }
        of_link_.push_back(entry->second);
    }
}

}  // namespace astrolabe::network
