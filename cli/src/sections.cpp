#include "sections.hpp"

#include <fmt/format.h>

#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/study/file/study.hpp>
#include <astrolabe/study/reproduce/published_study.hpp>
#include <astrolabe/study/search/search_study.hpp>

namespace astrolabe::cli {
namespace {

/// Which engine of a backend runs which networks, or why none does.
std::vector<ComponentDescription> engines(const experiment::Components& components) {
    std::vector<ComponentDescription> all;
    for (const std::string& backend : components.backends.names()) {
        ConfigNode node = ConfigNode::mapping();
        node.set("kind", ConfigNode::scalar(backend));
        ReadContext context;
        const auto configured = components.backends.read(node, context);
        for (const network::Engine& engine : configured->make().engines) {
            all.push_back({fmt::format("{} on {}", backend, engine.networks),
                           engine.make ? engine.help : "unsupported: " + engine.help,
                           {}});
        }
    }
    return all;
}

}  // namespace

std::vector<Section> sections(const experiment::Components& components) {
    return {{"file",
             "files",
             {experiment::experiment_description(), experiment::cluster_description(components),
              study::study_description(), study::optimize_description(), study::published_study_description(),
              experiment::equal_cost_description(), experiment::prices_description()}},
            {"workload", "workloads", components.workloads.descriptions()},
            {"device", "devices", components.devices.descriptions()},
            {"network", "networks", components.networks.descriptions()},
            {"backend", "backends", components.backends.descriptions()},
            {"engine", "engines", engines(components)},
            {"algorithm", "algorithms", components.algorithms.descriptions()}};
}

}  // namespace astrolabe::cli
