#include "fluid_packets.hpp"

#include "collective_time.hpp"

#include <cmath>

#include <example_run.hpp>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

/// Payload over wire bytes of the packet engine's full packets.
constexpr double kPayloadShare = 4096.0 / (4096 + 82);

enum class Engine { kFluid, kPacket };

std::string rate_for(Engine engine, double gigabits) {
    const double share = engine == Engine::kFluid ? kPayloadShare : 1.0;
    return fmt::format("{}bps", std::llround(gigabits * share * 1e9));
}

struct Network {
    const char* name;
    std::string text;                     ///< with {} for the rate of a link
    std::string dimensions;               ///< of hierarchical collectives
    bool queues_matter = false;           ///< where many small messages are under way
    bool packets_take_one_cable = false;  ///< of several that a host has for the same destination
};

std::vector<Network> networks(std::size_t ranks) {
    const bool is_small = ranks == 16;
    const std::string link = "link: {{rate: {}, latency: 500ns}}}}";
    const std::string groups = is_small ? "4x4" : "16x8";
    const auto leaf_spine = [&](const std::string& spines) {
        return fmt::format("{{{{kind: leaf_spine, load_balancing: spray, hosts: {}, hosts_per_leaf: {}, {}, ",
                           ranks, is_small ? 4 : 16, spines) +
               link;
    };
    const std::string torus =
        is_small ? "{{kind: torus, sizes: [4, 4], " : "{{kind: torus, sizes: [4, 4, 8], ";
    const std::string grid = is_small ? "4x4" : "4x4x8";
    const std::string spines = is_small ? "spines: 4" : "spines: 16";
    const std::string few_spines =
        is_small ? "spines: 2, oversubscription: 3" : "spines: 8, oversubscription: 3";
    std::vector<Network> all{
        {"one switch", fmt::format("{{{{kind: flat, hosts: {}, ", ranks) + link, groups, is_small},
        {"leaf-spine 1:1, sprayed", leaf_spine(spines), groups, is_small},
        {"leaf-spine 3:1, sprayed", leaf_spine(few_spines), groups},
        {"torus, a path for each pair", torus + link, grid}};
    if (is_small) {
        all.push_back({"torus, sprayed", torus + "load_balancing: spray, " + link, grid, false, true});
    }
    return all;
}

struct Collective {
    const char* name;
    const char* kind;
    const char* algorithm;
    std::uint32_t chunks;
    bool over_dimensions = false;
    bool is_of_small_messages = false;
};

const std::vector<Collective> kCollectives{
    {"ring all-reduce", "all_reduce", "ring", 1},
    {"direct all-reduce", "all_reduce", "direct", 1},
    {"direct all-to-all", "all_to_all", "direct", 1},
    {"double binary trees, 64 chunks", "all_reduce", "double_binary_tree", 64},
    {"double binary trees, 1024 chunks", "all_reduce", "double_binary_tree", 1024, false, true},
    {"hierarchical all-reduce, 4 chunks", "all_reduce", "hierarchical", 4, true},
    {"hierarchical all-to-all, 4 chunks", "all_to_all", "hierarchical", 4, true},
};

Outlier outlier(const Network& network, const Collective& collective) {
    if (network.packets_take_one_cable && !collective.over_dimensions) {
        return Outlier::kOneCableAtATime;
    }
    return network.queues_matter && collective.is_of_small_messages ? Outlier::kQueues : Outlier::kNone;
}

Time time_collective(const Network& network, const Collective& collective, std::size_t ranks, Engine engine) {
    experiment::CollectiveRequest request;
    request.kind = collective.kind;
    request.algorithm = collective.algorithm;
    request.sizes = {ranks == 16 ? "16MiB" : "8MiB"};
    request.chunks = collective.chunks;
    request.dimensions = collective.over_dimensions ? network.dimensions : "";
    request.network = fmt::format(fmt::runtime(network.text), rate_for(engine, 100));
    request.backend = engine == Engine::kFluid ? "fluid" : "packet";
    const experiment::Run run = run_collective(request).run;
    if (!run.execution.finished || run.network.drops > 0) {
        throw std::runtime_error(run.execution.stall + "; or packets were lost");
    }
    return run.execution.total;
}

struct Iteration {
    const char* name;
    std::string file;                                   ///< below examples/
    std::vector<std::pair<const char*, double>> rates;  ///< keys, Gb/s
    std::vector<std::string> overrides;
    Outlier outlier = Outlier::kNone;
};

Time time_iteration(const Iteration& iteration, Engine engine) {
    std::vector<std::string> overrides = iteration.overrides;
    overrides.push_back(engine == Engine::kFluid ? "backend={kind: fluid}" : "backend={kind: packet}");
    for (const auto& [key, gigabits] : iteration.rates) {
        overrides.push_back(fmt::format("{}={}", key, rate_for(engine, gigabits)));
    }
    const experiment::Run run = run_example(iteration.file, std::move(overrides));
    if (run.network.drops > 0) {
        throw std::runtime_error("packets were lost");
    }
    return run.execution.total / static_cast<std::int64_t>(run.iteration_times.size());
}

std::vector<EngineComparison> compare(const std::vector<Iteration>& iterations) {
    std::vector<EngineComparison> rows;
    for (const Iteration& iteration : iterations) {
        rows.push_back({fmt::format("{} | {}", iteration.name, iteration.file),
                        time_iteration(iteration, Engine::kFluid), time_iteration(iteration, Engine::kPacket),
                        0.05, iteration.outlier});
    }
    return rows;
}

std::string table(const char* head, const char* rule, std::span<const EngineComparison> rows) {
    std::string text =
        fmt::format("{} | fluid | packet | fluid/packet | |\n{}---|---|---|---|\n", head, rule);
    for (const EngineComparison& row : rows) {
        text += row.row() + "\n";
    }
    return text;
}

const char* note(Outlier outlier) {
    switch (outlier) {
        case Outlier::kNone:
            return "";
        case Outlier::kQueues:
            return "(1)";
        case Outlier::kOneCableAtATime:
            return "(2)";
    }
    return "";
}

const std::vector<std::pair<const char*, double>> kOneSwitch{{"network.link.rate", 100}};
const std::vector<std::pair<const char*, double>> kPackages{{"network.scale_up.rate", 1200},
                                                            {"network.scale_out.rate", 100}};

}  // namespace

bool EngineComparison::is_as_documented() const {
    return (std::abs(ratio() - 1) <= tolerance) == (outlier == Outlier::kNone);
}

std::string EngineComparison::row() const {
    return fmt::format("| {} | {:.3f} ms | {:.3f} ms | {:.3f} | {} |", question, to_seconds(fluid) * 1e3,
                       to_seconds(packet) * 1e3, ratio(), note(outlier));
}

std::vector<EngineComparison> compare_collectives(std::size_t ranks) {
    std::vector<EngineComparison> rows;
    for (const Network& network : networks(ranks)) {
        for (const Collective& collective : kCollectives) {
            rows.push_back({fmt::format("{} | {} | {}", ranks, network.name, collective.name),
                            time_collective(network, collective, ranks, Engine::kFluid),
                            time_collective(network, collective, ranks, Engine::kPacket), 0.10,
                            outlier(network, collective)});
        }
    }
    return rows;
}

std::vector<EngineComparison> compare_short_iterations() {
    return compare({
        {"quick start, 16 ranks", "quickstart/experiment.yaml", kOneSwitch, {}},
        {"HOTI Flat800G, 32 ranks", "hoti20-dlrm/quarter/flat800g.yaml", {{"network.link.rate", 800}}, {}},
    });
}

std::vector<EngineComparison> compare_long_iterations() {
    const std::string direct = "cluster.collectives.all_reduce={algorithm: direct}";
    const std::string opera = "opera-dlrm/experiment-16.yaml";
    // That of the table in docs/fluid-against-packets.md.
    const std::string backward = "workload.embedding.backward=375.8ms";
    return compare({
        {"HOTI Flat100G, 16 ranks", "dlrm-flat/experiment-16.yaml", kOneSwitch, {}, Outlier::kQueues},
        {"HOTI Flat100G, 32 ranks", "hoti20-dlrm/quarter/flat100g.yaml", kOneSwitch, {}, Outlier::kQueues},
        {"HOTI Hier, 32 ranks", "hoti20-dlrm/quarter/hier.yaml", kPackages, {}},
        {"HOTI HierOpt, 32 ranks", "hoti20-dlrm/quarter/hieropt.yaml", kPackages, {}},
        {"HOTI Flat100G, 128 ranks", "dlrm-flat/experiment.yaml", kOneSwitch, {}, Outlier::kQueues},
        {"Model-A, ring, 16 ranks", opera, kOneSwitch, {"workload.scale_down=64", backward}},
        {"Model-A, direct, 16 ranks", opera, kOneSwitch, {"workload.scale_down=64", backward, direct}},
        {"Model-A, ring, 128 ranks",
         opera,
         kOneSwitch,
         {"workload.scale_down=128", "cluster.ranks=128", "network.k=8", backward}},
        {"Model-A, direct, 128 ranks",
         opera,
         kOneSwitch,
         {"workload.scale_down=128", "cluster.ranks=128", "network.k=8", backward, direct}},
    });
}

std::string collectives_table(std::span<const EngineComparison> rows) {
    return table("| ranks | network | collective", "|---|---|---|", rows);
}

std::string iterations_table(std::span<const EngineComparison> rows) {
    return table("| iteration | examples/", "|---|---|", rows);
}

}  // namespace astrolabe::testing
