/// A DLRM on 16 ranks and five unlike networks, for tests of algorithms that are chosen, and what an
/// exhaustive choice of one algorithm for each kind finds there.
#pragma once

#include "process.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {

struct ChoiceNetwork {
    std::string name;
    std::string section;
    bool has_circuits = false;
    bool has_rings = false;
};

inline std::vector<ChoiceNetwork> choice_networks() {
    const std::string link = "link: {rate: 100Gbps, latency: 500ns}}";
    return {{"flat", "{kind: flat, hosts: 16, " + link},
            {"leaf-spine 4:1",
             "{kind: leaf_spine, hosts: 16, hosts_per_leaf: 4, spines: 1, oversubscription: 4, " + link},
            {"torus", "{kind: torus, sizes: [4, 4], " + link},
            {"Opera", ASTROLABE_SOURCE_DIR "/inputs/networks/opera-study-16.yaml", true},
            {"TopoOpt", "{kind: topoopt, degree: 4, mode: paper, " + link, false, true}};
}

/// `collectives` is the section of that name.
inline Result<experiment::Experiment> load_choice(const experiment::Components& components,
                                                  const ChoiceNetwork& network, int batch,
                                                  const std::string& collectives) {
    const TemporaryFolder folder;
    const auto file = folder.write(
        "choice.yaml",
        fmt::format(
            "schema: astrolabe/1\n"
            "workload: {{kind: dlrm, model: {}/inputs/models/dlrm-mini16.yaml, parallelism: hybrid, "
            "batch: {{global: {}}}, dense_feature_gradient: true, iterations: 1}}\n"
            "cluster: {{ranks: 16, device: {{kind: roofline, peak: 15TFLOPS, memory_bandwidth: 900GB/s}}, "
            "collectives: {}}}\n"
            "network: {}\n"
            "backend: {{kind: fluid}}\n",
            ASTROLABE_SOURCE_DIR, batch, collectives, network.section));
    return experiment::load_experiment(file, {}, components);
}

inline double choice_seconds(const experiment::Components& components, const ChoiceNetwork& network,
                             int batch, const std::string& collectives) {
    const Result<experiment::Experiment> loaded = load_choice(components, network, batch, collectives);
    if (!loaded) {
        throw std::runtime_error(render(loaded.error()));
    }
    const experiment::Run run = experiment::run_experiment(*loaded, {});
    if (!run.execution.finished) {
        throw std::runtime_error(run.execution.stall);
    }
    return to_seconds(run.execution.total);
}

struct ExhaustiveChoice {
    double seconds = std::numeric_limits<double>::infinity();
    std::string collectives;
    std::size_t plans = 0;
};

/// The best of every algorithm of all_reduce in each number of chunks with every one of all_to_all.
inline ExhaustiveChoice exhaustive_choice(const experiment::Components& components,
                                          const ChoiceNetwork& network, int batch,
                                          const std::vector<int>& chunks) {
    std::vector<std::string> reduces{"bidirectional_ring", "direct",         "double_binary_tree",
                                     "halving_doubling",   "ring",           "recursive_doubling",
                                     "windowed_direct",    "barrier_direct", "multi_ring, rings: 4"};
    std::vector<std::string> exchanges{"direct", "pairwise",        "bruck",
                                       "ring",   "windowed_direct", "bidirectional_ring"};
    if (network.has_circuits) {
        reduces.insert(reduces.end(), {"rotor_direct", "rotor_ring"});
        exchanges.emplace_back("rotor_direct");
    }
    if (network.has_rings) {
        reduces.emplace_back("multi_ring, strides: network");
    }
    ExhaustiveChoice best;
    for (const std::string& reduce : reduces) {
        for (const int count : chunks) {
            for (const std::string& exchange : exchanges) {
                const std::string plan = fmt::format(
                    "{{all_reduce: {{algorithm: {}, chunks: {}}}, all_to_all: {{algorithm: {}, chunks: 1}}}}",
                    reduce, reduce.starts_with("multi_ring") ? std::max(count, 4) : count, exchange);
                const double seconds = choice_seconds(components, network, batch, plan);
                ++best.plans;
                if (seconds < best.seconds) {
                    best.seconds = seconds;
                    best.collectives = plan;
                }
            }
        }
    }
    return best;
}

}  // namespace astrolabe::testing
