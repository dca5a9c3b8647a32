#include "spine_layer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::experiment {

ConfigNode SpineLayer::with(std::int64_t switches) const {
    ConfigNode section = frame;
    section.set(key, ConfigNode::scalar(std::to_string(switches)));
    if (cores_each > 0) {
        section.set("cores", ConfigNode::scalar(std::to_string(switches * cores_each)));
    }
    return section;
}

SpineLayer spine_layer(std::string_view kind, const ConfigNode& resolved, const ConfigNode& tree) {
    const auto number = [&](const char* key) {
        return std::get<std::int64_t>(parse_integer(resolved.find(key)->text));
    };
    const auto rate = [&](const char* path) {
        return static_cast<double>(
            std::get<Bandwidth>(parse_bandwidth(resolved.find_path(path)->text)).count());
    };
    const bool is_leaf_spine = kind == "leaf_spine";
    SpineLayer layer{tree, is_leaf_spine ? "spines" : "aggregations_per_pod",
                     is_leaf_spine ? "oversubscription" : "edge_oversubscription"};
    std::int64_t hosts = 0;  // of an edge switch
    if (const std::int64_t k = is_leaf_spine ? 0 : number("k"); k > 0) {
        std::erase_if(layer.frame.entries, [](const ConfigEntry& entry) { return entry.key == "k"; });
        layer.frame.set("pods", ConfigNode::scalar(std::to_string(k)));
        layer.frame.set("edges_per_pod", ConfigNode::scalar(std::to_string(k / 2)));
        layer.frame.set("hosts_per_edge", ConfigNode::scalar(std::to_string(k / 2)));
        hosts = k / 2;
        layer.cores_each = k / 2;
    } else {
        hosts = number(is_leaf_spine ? "hosts_per_leaf" : "hosts_per_edge");
        layer.cores_each = is_leaf_spine ? 0 : number("cores") / number(layer.key);
    }
    const double own_rate = rate(is_leaf_spine ? "uplink.rate" : "edge_uplink.rate");
    const double uplinks = static_cast<double>(number(is_leaf_spine ? "uplinks" : "edge_uplinks"));
    const double even = static_cast<double>(hosts) * rate("link.rate") /
                        (uplinks * (own_rate > 0.0 ? own_rate : rate("link.rate")));
    layer.largest =
        static_cast<std::int64_t>(std::ceil(std::min(even, static_cast<double>(network::kMaxSwitches))));
    return layer;
}

}  // namespace astrolabe::experiment
