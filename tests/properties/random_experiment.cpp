#include "random_experiment.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace astrolabe::testing {
namespace {

bool has_rotors(const Tree& network) {
    return network["kind"] == "opera" || network["kind"] == "rotornet";
}

Tree transport_of_fluid(Draw& draw, bool plain) {
    Tree backend{{"kind", "fluid"}};
    if (plain || draw.once_in(2)) {
        return backend;
    }
    if (draw.once_in(6)) {
        backend["latency"] = false;
    }
    if (draw.once_in(3)) {
        backend["framing"] = {{"mtu", draw.of({"256B", "1500B", "4KiB", "9000B"})},
                              {"header", draw.of({"1B", "64B", "82B"})},
                              {"switching", draw.of({"cut_through", "store_and_forward"})}};
    }
    if (draw.once_in(3)) {
        backend["window"] = bytes_text(draw.spread(12, 20));
        if (draw.once_in(3)) {
            backend["incast"] = {{"buffer", bytes_text(draw.spread(14, 20))}, {"timeout", "100us"}};
        }
    }
    if (draw.once_in(5)) {
        backend["slow_start"] = {{"initial_window", bytes_text(draw.spread(11, 16))}};
    }
    if (draw.once_in(5)) {
        backend["rate_interval"] = draw.of({"0ps", "100ns", "1us", "10us"});
    }
    return backend;
}

Tree transport_of_packets(Draw& draw) {
    Tree backend{{"kind", "packet"}};
    if (draw.once_in(3)) {
        backend["mtu"] = draw.of({"512B", "1500B", "9000B", "64KiB"});
    }
    if (draw.once_in(4)) {
        backend["window"] = bytes_text(draw.spread(12, 20));
    }
    if (draw.once_in(5)) {
        backend["connections"] = "per_message";
    }
    if (draw.once_in(5)) {
        backend["recovery"] = "selective";
    }
    if (draw.once_in(2)) {
        backend["congestion_control"] = draw.of({"dctcp", "dcqcn", "hpcc", "ndp"});
    }
    if (draw.once_in(5)) {
        backend["switching"] = "cut_through";
    }
    if (draw.once_in(6)) {
        backend["flow_control"] = "credit";
    }
    return backend;
}

Tree random_device(Draw& draw) {
    return {{"kind", "roofline"},
            {"peak", draw.of({"100GFLOPS", "1TFLOPS", "100TFLOPS"})},
            {"memory_bandwidth", draw.of({"10GB/s", "100GB/s", "1.6TB/s"})}};
}

Tree dlrm(Draw& draw, std::int64_t ranks, std::int64_t largest) {
    const std::int64_t dimension = std::int64_t{4}
                                   << draw.between(0, std::max<std::int64_t>(largest - 14, 0));
    Tree tables{{"count", ranks * draw.between(1, 2)},
                {"rows", draw.of({10, 1000, 100000})},
                {"dimension", dimension},
                {"pooling", draw.between(1, 8)}};
    const std::int64_t width = std::int64_t{1} << draw.between(3, largest / 2);
    Tree model{{"dense_features", draw.between(1, 32)},
               {"bottom_mlp", draw.once_in(2) ? Tree::array({dimension}) : Tree::array({width, dimension})},
               {"top_mlp", draw.once_in(2) ? Tree::array({1}) : Tree::array({width, 1})},
               {"tables", tables}};
    Tree workload{{"kind", "dlrm"}, {"model", model}, {"batch", {{"global", ranks * draw.between(1, 32)}}}};
    if (draw.once_in(3)) {
        workload["parallelism"] = draw.of({"data", "model", "hybrid"});
    }
    if (draw.once_in(2)) {
        workload["iterations"] = draw.between(2, 4);
    }
    if (draw.once_in(4)) {
        workload["embedding_update"] = draw.of({"after_gradients", "before_gradients", "stale"});
    }
    if (draw.once_in(4)) {
        workload["gradient_buckets"] = {{"size", bytes_text(draw.spread(10, 16))}};
    }
    if (draw.once_in(5)) {
        workload["dense_sharding"] = "fsdp";
    }
    return workload;
}

Tree pipeline(Draw& draw, std::int64_t ranks, std::int64_t largest) {
    std::int64_t stages = 1;
    for (const std::int64_t divisor : {4, 3, 2}) {
        if (ranks % divisor == 0 && draw.once_in(2)) {
            stages = divisor;
            break;
        }
    }
    const std::int64_t micro_batches = stages * draw.between(1, 3);
    Tree layer{{"name", "layer"},
               {"count", stages * draw.between(1, 2)},
               {"flops", draw.spread(10, 20)},
               {"parameters", draw.spread(6, largest - 2)},
               {"output", draw.spread(2, largest - 6)}};
    Tree workload{{"kind", "pipeline"},
                  {"model", {{"layers", Tree::array({layer})}}},
                  {"batch", ranks / stages * micro_batches * draw.between(1, 2)},
                  {"schedule", draw.of({"gpipe", "1f1b"})},
                  {"stages", stages},
                  {"micro_batches", micro_batches},
                  {"precision", "fp32"}};
    if (draw.once_in(2)) {
        workload["iterations"] = 2;
    }
    return workload;
}

Tree random_flows(Draw& draw, std::int64_t hosts, std::int64_t largest) {
    Tree flows = Tree::object();
    if (draw.once_in(2)) {
        Tree list = Tree::array();
        const std::int64_t count = draw.between(1, 12);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t source = draw.between(0, hosts - 1);
            Tree flow{{"source", source},
                      {"destination", (source + draw.between(1, hosts - 1)) % hosts},
                      {"bytes", bytes_text(draw.spread(0, largest))}};
            if (draw.once_in(2)) {
                flow["start"] = fmt::format("{}ns", draw.spread(0, 14));
            }
            list.push_back(std::move(flow));
        }
        flows["flows"] = list;
        return flows;
    }
    flows["pattern"] = draw.of({"uniform", "permutation", "shuffle", "incast"});
    // At a load, bytes decide how many messages there are; those of a list above are of any size.
    flows["sizes"] = {{"fixed", bytes_text(draw.spread(6, largest - 2))}};
    if (flows["pattern"] == "incast") {
        flows["senders"] = draw.between(1, hosts - 1);
    }
    if (draw.once_in(2)) {
        flows["load"] = draw.of({0.1, 0.5, 0.9});
        flows["duration"] = draw.of({"1us", "10us"});
    }
    flows["seed"] = draw.between(1, 1000);
    return flows;
}

/// A host whose cables are slow or down for a while, or a rotor that stays away.
Tree random_failure(Draw& draw, const RandomNetwork& network) {
    Tree event{{"at", fmt::format("{}ns", draw.spread(0, 18))}};
    if (has_rotors(network.section)) {
        event["switch"] =
            fmt::format("rotor {}", draw.between(0, network.section["uplinks"].get<std::int64_t>() - 1));
    } else {
        event["host"] = fmt::format("host {}", draw.between(0, network.hosts - 1));
        if (draw.once_in(2)) {
            event["rate"] = 0.5;
        } else {
            event["until"] = "300us";
        }
    }
    return {{"events", Tree::array({event})}};
}

const char* random_algorithm(Draw& draw, const std::string& collective) {
    if (collective == "all_reduce") {
        return draw.of({"ring", "direct", "double_binary_tree", "halving_doubling", "recursive_doubling",
                        "bidirectional_ring", "multi_ring", "windowed_direct", "barrier_direct"});
    }
    if (collective == "all_to_all") {
        return draw.of({"direct", "pairwise", "bruck", "ring", "bidirectional_ring", "windowed_direct"});
    }
    if (collective == "all_gather") {
        return draw.of({"ring", "direct", "bruck", "halving_doubling", "bidirectional_ring"});
    }
    if (collective == "reduce_scatter") {
        return draw.of({"ring", "direct", "halving_doubling", "windowed_direct"});
    }
    return draw.of({"binomial_tree", "ring", "direct", "halving_doubling"});
}

}  // namespace

std::string random_rate(Draw& draw) {
    return draw.of({"1Gbps", "7Gbps", "10Gbps", "25Gbps", "33333333333bps", "40Gbps", "100Gbps", "100Gbps",
                    "100Gbps", "200Gbps", "400Gbps", "800Gbps"});
}

std::string random_latency(Draw& draw) {
    return draw.of({"0ps", "333ps", "10ns", "100ns", "500ns", "500ns", "1us", "5us"});
}

std::string bytes_text(std::int64_t bytes) {
    if (bytes % (1 << 20) == 0) {
        return fmt::format("{}MiB", bytes >> 20);
    }
    return bytes % 1024 == 0 ? fmt::format("{}KiB", bytes >> 10) : fmt::format("{}B", bytes);
}

Tree random_cluster(Draw& draw, std::int64_t ranks, const std::string& network_kind) {
    Tree cluster{{"ranks", ranks}, {"device", random_device(draw)}};
    if (!draw.once_in(4)) {
        Tree collectives = Tree::object();
        for (const char* kind :
             {"all_reduce", "all_to_all", "all_gather", "reduce_scatter", "broadcast", "reduce"}) {
            if (draw.once_in(3)) {
                continue;
            }
            Tree method{{"algorithm", random_algorithm(draw, kind)}};
            if (draw.once_in(2)) {
                method["chunks"] = draw.between(1, 6);
            }
            collectives[kind] = method;
        }
        cluster["collectives"] = collectives;
    }
    if (ranks >= 4 && ranks % 2 == 0 && draw.once_in(4)) {
        cluster["dimensions"] = Tree::array({2, ranks / 2});
        cluster["collectives"]["all_reduce"] = {
            {"algorithm", "hierarchical"},
            {"dimension_algorithms", Tree::array({"ring", draw.of({"ring", "direct"})})}};
    }
    if (draw.once_in(3)) {
        cluster["scheduling"] = draw.of({"lifo", "fifo"});
    }
    if (draw.once_in(3)) {
        cluster["active_chunks"] = draw.between(1, 8);
    }
    if (draw.once_in(5)) {
        cluster["injection_latency"] = draw.of({"1ps", "100ns", "2us"});
    }
    if (draw.once_in(4)) {
        Tree end_point = Tree::object();
        if (draw.once_in(2)) {
            end_point["copy_engine"] = "serial";
        }
        if (draw.once_in(2)) {
            end_point["reduction_bandwidth"] = draw.of({"10GB/s", "900GB/s"});
        }
        if (draw.once_in(2)) {
            end_point["rendezvous_threshold"] = bytes_text(draw.spread(0, 16));
        }
        if (!end_point.empty()) {
            cluster["end_point"] = end_point;
        }
    }
    if (network_kind != "topoopt" && draw.once_in(5)) {
        cluster["placement"] = draw.of({"random", "round_robin"});
    }
    if (draw.once_in(6)) {
        cluster["jitter"] = {{"distribution", draw.of({"uniform", "exponential"})},
                             {"variation", draw.of({0.05, 0.3})}};
    }
    if (draw.once_in(6)) {
        cluster["devices"] = Tree::array({{{"ranks", draw.between(0, ranks - 1)}, {"slowdown", 1.5}}});
    }
    if (draw.once_in(6)) {
        cluster["minimum_chunk"] = "1B";
    }
    return cluster;
}

Tree random_workload(Draw& draw, std::int64_t ranks, std::int64_t hosts, std::int64_t largest) {
    const std::int64_t which = draw.between(0, 9);
    if (which <= 3) {
        return dlrm(draw, ranks, largest);
    }
    if (which == 4) {
        return pipeline(draw, ranks, largest);
    }
    if (which <= 7 || hosts < 2 || ranks < 2) {
        Tree workload{{"kind", "collective"},
                      {"collective", draw.of({"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                              "broadcast", "reduce", "point_to_point", "all_to_all_v"})},
                      {"size", bytes_text(draw.spread(0, largest))}};
        if (workload["collective"] == "all_to_all_v") {
            workload["imbalance"] = draw.of({1, 2});
        }
        return workload;
    }
    if (which == 8) {
        return {{"kind", "messages"}, {"pattern", "all"}, {"size", bytes_text(draw.spread(0, largest - 2))}};
    }
    Tree workload{{"kind", "flows"}};
    workload.update(random_flows(draw, hosts, largest));
    return workload;
}

Tree random_background(Draw& draw, std::int64_t hosts, std::int64_t largest) {
    return random_flows(draw, hosts, largest);
}

Tree random_backend(Draw& draw, const std::string& kind) {
    if (kind == "fluid" || kind == "plain_fluid") {
        return transport_of_fluid(draw, kind == "plain_fluid");
    }
    if (kind == "packet") {
        return transport_of_packets(draw);
    }
    if (kind == "tcp") {
        Tree backend{{"kind", "tcp"}};
        if (draw.once_in(3)) {
            backend["mtu"] = "9000B";
        }
        if (draw.once_in(3)) {
            backend["variant"] = draw.of({"cubic", "dctcp"});
        }
        return backend;
    }
    Tree backend{{"kind", "congestion_free"}};
    if (draw.once_in(3)) {
        backend["switching"] = "store_and_forward";
    }
    if (draw.once_in(3)) {
        backend["sharing"] = "ports";
    }
    return backend;
}

Tree random_experiment(std::uint64_t seed) {
    Draw draw(seed);
    const RandomNetwork network = random_network(draw);
    const bool rotors = has_rotors(network.section);
    const std::string engine =
        draw.of({"fluid", "fluid", "fluid", "packet", "packet", "tcp", "congestion_free"});
    const std::string backend = engine == "fluid" && rotors ? "plain_fluid" : engine;
    // Packets are simulated one by one.
    const std::int64_t largest = engine == "tcp" ? 15 : engine == "packet" ? 18 : 22;
    const bool is_built_for_job = network.section["kind"] == "topoopt";
    const std::int64_t ranks =
        is_built_for_job || draw.once_in(2) ? network.hosts : draw.between(1, network.hosts);
    Tree experiment{{"schema", "astrolabe/1"}};
    experiment["workload"] = random_workload(draw, ranks, network.hosts, largest);
    experiment["cluster"] = random_cluster(draw, ranks, network.section["kind"]);
    if (experiment["workload"]["kind"] == "flows") {
        experiment["cluster"] = {{"ranks", network.hosts}};
    } else if (network.hosts >= 2 && draw.once_in(6)) {
        experiment["background"] = random_background(draw, network.hosts, largest);
    }
    experiment["network"] = network.section;
    experiment["backend"] = random_backend(draw, backend);
    if (draw.once_in(4)) {
        experiment["seed"] = draw.between(0, 1000);
    }
    if (draw.once_in(rotors ? 3 : 8)) {
        experiment["failures"] = random_failure(draw, network);
    }
    return experiment;
}

namespace {

std::string flow_style(const Tree& tree) {
    std::vector<std::string> parts;
    if (tree.is_object()) {
        for (const auto& [key, value] : tree.items()) {
            parts.push_back(fmt::format("{}: {}", key, flow_style(value)));
        }
        return fmt::format("{{{}}}", fmt::join(parts, ", "));
    }
    if (tree.is_array()) {
        for (const Tree& value : tree) {
            parts.push_back(flow_style(value));
        }
        return fmt::format("[{}]", fmt::join(parts, ", "));
    }
    return tree.is_string() ? tree.get<std::string>() : tree.dump();
}

}  // namespace

std::string to_yaml_text(const Tree& experiment) {
    std::string text;
    for (const auto& [key, value] : experiment.items()) {
        text += fmt::format("{}: {}\n", key, flow_style(value));
    }
    return text;
}

}  // namespace astrolabe::testing
