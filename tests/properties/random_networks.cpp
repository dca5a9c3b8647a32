#include "random_experiment.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::testing {
namespace {

Tree cable(Draw& draw) {
    Tree link{{"rate", random_rate(draw)}};
    if (!draw.once_in(4)) {
        link["latency"] = random_latency(draw);
    }
    return link;
}

void balance(Draw& draw, Tree& network) {
    if (draw.once_in(3)) {
        network["load_balancing"] = draw.of({"spray", "flow_hash"});
    }
}

RandomNetwork flat(Draw& draw) {
    const std::int64_t hosts = draw.between(1, 12);
    return {{{"kind", "flat"}, {"hosts", hosts}, {"link", cable(draw)}}, hosts};
}

RandomNetwork leaf_spine(Draw& draw) {
    const std::int64_t per_leaf = draw.between(1, 4);
    const std::int64_t hosts = per_leaf * draw.between(1, 4);
    Tree network{{"kind", "leaf_spine"},
                 {"hosts", hosts},
                 {"hosts_per_leaf", per_leaf},
                 {"spines", draw.between(1, 3)},
                 {"link", cable(draw)}};
    if (draw.once_in(3)) {
        network["uplinks"] = draw.between(1, 3);
    }
    if (draw.once_in(2)) {
        network["oversubscription"] = draw.of({1, 2, 3});
    } else if (draw.once_in(2)) {
        network["uplink"] = cable(draw);
    }
    balance(draw, network);
    return {network, hosts};
}

RandomNetwork fat_tree(Draw& draw) {
    if (draw.once_in(2)) {
        const std::int64_t k = draw.of({2, 4});
        Tree network{{"kind", "fat_tree"}, {"k", k}, {"link", cable(draw)}};
        balance(draw, network);
        return {network, k * k * k / 4};
    }
    const std::int64_t pods = draw.between(1, 3);
    const std::int64_t edges = draw.between(1, 2);
    const std::int64_t per_edge = draw.between(1, 3);
    const std::int64_t aggregations = draw.between(1, 2);
    Tree network{{"kind", "fat_tree"},
                 {"pods", pods},
                 {"edges_per_pod", edges},
                 {"hosts_per_edge", per_edge},
                 {"aggregations_per_pod", aggregations},
                 {"cores", aggregations * draw.between(1, 2)},
                 {"link", cable(draw)}};
    balance(draw, network);
    return {network, pods * edges * per_edge};
}

RandomNetwork ring(Draw& draw) {
    const std::int64_t hosts = draw.between(2, 9);
    Tree network{{"kind", "ring"}, {"hosts", hosts}, {"link", cable(draw)}};
    balance(draw, network);
    return {network, hosts};
}

RandomNetwork grid(Draw& draw, const char* kind) {
    const std::int64_t dimensions = draw.between(1, 3);
    Tree sizes = Tree::array();
    std::int64_t hosts = 1;
    for (std::int64_t i = 0; i < dimensions; ++i) {
        const std::int64_t size = draw.between(1, dimensions == 1 ? 8 : 4 - i);
        sizes.push_back(size);
        hosts *= size;
    }
    Tree network{{"kind", kind}, {"sizes", sizes}, {"link", cable(draw)}};
    if (draw.once_in(2)) {
        network["routing"] = draw.of({"minimal", "dimension_order", "valiant"});
    }
    balance(draw, network);
    return {network, hosts};
}

RandomNetwork hypercube(Draw& draw) {
    const std::int64_t dimensions = draw.between(1, 4);
    Tree network{{"kind", "hypercube"}, {"dimensions", dimensions}, {"link", cable(draw)}};
    if (draw.once_in(2)) {
        network["routing"] = draw.of({"minimal", "dimension_order", "valiant"});
    }
    balance(draw, network);
    return {network, std::int64_t{1} << dimensions};
}

RandomNetwork dragonfly(Draw& draw) {
    const std::int64_t per_router = draw.between(1, 2);
    const std::int64_t routers = draw.between(1, 2);
    const std::int64_t groups = draw.between(2, 3);
    Tree network{{"kind", "dragonfly"},
                 {"hosts_per_router", per_router},
                 {"routers_per_group", routers},
                 {"global_links_per_router", 2},
                 {"groups", groups},
                 {"link", cable(draw)},
                 {"local_link", cable(draw)},
                 {"global_link", cable(draw)}};
    if (draw.once_in(3)) {
        network["routing"] = "valiant";
    }
    balance(draw, network);
    return {network, per_router * routers * groups};
}

RandomNetwork fully_connected(Draw& draw) {
    const std::int64_t hosts = draw.between(2, 8);
    return {{{"kind", "fully_connected"}, {"hosts", hosts}, {"link", cable(draw)}}, hosts};
}

RandomNetwork hierarchical(Draw& draw) {
    const std::int64_t per_package = draw.between(1, 4);
    const std::int64_t hosts = per_package * draw.between(1, 3);
    Tree scale_up = cable(draw);
    scale_up["kind"] = draw.of({"switch", "fully_connected"});
    return {{{"kind", "hierarchical"},
             {"hosts", hosts},
             {"hosts_per_package", per_package},
             {"scale_up", scale_up},
             {"scale_out", cable(draw)}},
            hosts};
}

RandomNetwork servers(Draw& draw) {
    const std::int64_t gpus = draw.of({1, 2, 4});
    const std::int64_t count = draw.between(1, 3);
    Tree scale_up = cable(draw);
    scale_up["kind"] = draw.of({"switch", "mesh", "ring"});
    Tree scale_out =
        draw.once_in(2)
            ? Tree{{"kind", "flat"}, {"link", cable(draw)}}
            : Tree{{"kind", "leaf_spine"}, {"hosts_per_leaf", gpus}, {"spines", draw.between(1, 2)}};
    Tree network{{"kind", "servers"},
                 {"servers", {{"count", count}, {"gpus", gpus}, {"scale_up", scale_up}}},
                 {"scale_out", scale_out}};
    if (draw.once_in(3)) {
        network["rails"] = draw.of({"aligned", "separate"});
    }
    return {network, gpus * count};
}

/// Hosts on two or three switches that are joined in a line, with a shortcut now and then.
RandomNetwork graph(Draw& draw) {
    const std::int64_t switches = draw.between(2, 3);
    const std::int64_t hosts = draw.between(2, 8);
    Tree links = Tree::array();
    for (std::int64_t host = 0; host < hosts; ++host) {
        Tree link{{"from", fmt::format("host {}", host)}, {"to", fmt::format("switch {}", host % switches)}};
        if (draw.once_in(3)) {
            link.update(cable(draw));
        }
        links.push_back(link);
    }
    for (std::int64_t i = 1; i < switches; ++i) {
        Tree link{{"from", fmt::format("switch {}", i - 1)}, {"to", fmt::format("switch {}", i)}};
        if (draw.once_in(2)) {
            link["count"] = draw.between(1, 3);
        }
        links.push_back(link);
    }
    if (switches == 3 && draw.once_in(2)) {
        links.push_back({{"from", "switch 0"}, {"to", "switch 2"}, {"rate", random_rate(draw)}});
    }
    Tree network{{"kind", "graph"},
                 {"nodes",
                  {{{"name", "host"}, {"count", hosts}},
                   {{"name", "switch"}, {"kind", "switch"}, {"count", switches}}}},
                 {"links", links},
                 {"link", cable(draw)}};
    if (draw.once_in(3)) {
        network["routing"] = "k_shortest";
        network["detour"] = 1;
    }
    balance(draw, network);
    return {network, hosts};
}

RandomNetwork direct_connect(Draw& draw) {
    const std::int64_t hosts = draw.between(3, 9);
    Tree network{{"kind", "direct_connect"}, {"hosts", hosts}, {"link", cable(draw)}};
    if (draw.once_in(2)) {
        network["rings"] = draw.once_in(2) ? Tree::array({1}) : Tree::array({1, 2});
    } else if (draw.once_in(2)) {
        network["one_way_rings"] = draw.once_in(2) ? Tree::array({1}) : Tree::array({1, 2});
    } else {
        network["all_to_all"] = draw.between(1, 2);
    }
    if (draw.once_in(2)) {
        network["routing"] = draw.of(
            {"flow_hash", "spray", "random_shortest", "coin_change", "balanced", "k_shortest", "by_class"});
        if (network["routing"] == "k_shortest" && draw.once_in(2)) {
            network["detour"] = draw.between(0, 2);
        }
    }
    if (draw.once_in(4)) {
        network["forwarding"] = {{"latency", random_latency(draw)}};
    }
    return {network, hosts};
}

RandomNetwork chosen_for_job(Draw& draw) {
    const std::int64_t hosts = draw.between(3, 8);
    Tree network{{"kind", "topoopt"}, {"degree", draw.between(1, 4)}, {"link", cable(draw)}};
    if (draw.once_in(2)) {
        network["mode"] = draw.of({"best", "paper", "released"});
    }
    if (draw.once_in(3)) {
        network["medium"] = "circuit_switch";
        network["reconfiguration"] = {{"every", draw.of({"20us", "100us", "1ms"})},
                                      {"delay", draw.of({"0ps", "1us", "10us"})}};
        if (draw.once_in(2)) {
            network["reconfiguration"]["forwarding"] = draw.once_in(2);
        }
    }
    return {network, hosts};
}

RandomNetwork rotors(Draw& draw, const char* kind) {
    const std::int64_t uplinks = draw.of({2, 2, 4});
    const std::int64_t racks = uplinks * (uplinks == 4 ? 1 : draw.between(1, 3));
    const std::int64_t per_rack = draw.between(1, 3);
    Tree network{{"kind", kind},
                 {"racks", racks},
                 {"uplinks", uplinks},
                 {"hosts_per_rack", per_rack},
                 {"link", {{"rate", draw.of({"10Gbps", "40Gbps", "100Gbps"})}}}};
    if (draw.once_in(3)) {
        network["reconfiguration_delay"] = draw.of({"0ps", "1us", "20us"});
    }
    if (draw.once_in(3)) {
        network["propagation"] = random_latency(draw);
    }
    Tree bulk = Tree::object();
    if (draw.once_in(3)) {
        bulk["routing"] = "direct";
    } else if (draw.once_in(3)) {
        bulk["intra_rack"] = "two_hops";
    }
    if (draw.once_in(3)) {
        bulk["remainders"] = "in_turn";
    }
    if (!bulk.empty()) {
        network["bulk"] = bulk;
    }
    if (std::string_view(kind) == "opera" && draw.once_in(2)) {
        network["low_latency"] = {{"cutoff", draw.of({"1KiB", "64KiB", "1MiB"})}};
    }
    return {network, racks * per_rack};
}

RandomNetwork expander(Draw& draw) {
    const std::int64_t racks = draw.between(3, 6);
    const std::int64_t per_rack = draw.between(1, 2);
    Tree network{{"kind", "expander"},
                 {"racks", racks},
                 {"uplinks", racks % 2 == 0 ? 3 : 2},
                 {"hosts_per_rack", per_rack},
                 {"link", cable(draw)}};
    balance(draw, network);
    return {network, racks * per_rack};
}

}  // namespace

RandomNetwork random_network(Draw& draw) {
    switch (draw.between(0, 16)) {
        case 0:
            return flat(draw);
        case 1:
            return leaf_spine(draw);
        case 2:
            return fat_tree(draw);
        case 3:
            return ring(draw);
        case 4:
            return grid(draw, "torus");
        case 5:
            return grid(draw, "mesh");
        case 6:
            return hypercube(draw);
        case 7:
            return dragonfly(draw);
        case 8:
            return fully_connected(draw);
        case 9:
            return hierarchical(draw);
        case 10:
            return servers(draw);
        case 11:
            return graph(draw);
        case 12:
            return direct_connect(draw);
        case 13:
            return chosen_for_job(draw);
        case 14:
            return rotors(draw, "opera");
        case 15:
            return rotors(draw, "rotornet");
        default:
            return expander(draw);
    }
}

}  // namespace astrolabe::testing
