#include "job_network.hpp"

#include <utility>
#include <variant>

#include <astrolabe/network/family.hpp>
#include <astrolabe/system/program/network_demand.hpp>
#include <astrolabe/system/program/padding.hpp>

namespace astrolabe::experiment {

ValidationErrors build_for_job(Experiment& experiment, const network::FabricMaker::BuildForJob& build) {
    system::SystemOptions& options = experiment.cluster.options;
    auto built = build(system::network_demand(experiment.program, options), experiment.seed);
    if (auto* problems = std::get_if<ValidationErrors>(&built)) {
        return std::move(*problems);
    }
    experiment.fabric = std::get<std::shared_ptr<const network::Fabric>>(std::move(built));
    options.circuit_windows = experiment.fabric->family().circuit_windows();
    experiment.network_is_built_for_job = true;
    const system::RingStrides rings = experiment.fabric->family().job_rings().value_or(network::JobRings{});
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        system::CollectiveChoice& choice = options.collectives[kind];
        if (choice.algorithm != nullptr && choice.algorithm->needs_rings()) {
            choice.algorithm = choice.algorithm->on_rings(rings);
            if (!experiment.cluster.chunks_given[kind]) {
                choice.chunks = choice.algorithm->default_chunks();
            }
        }
    }
    if (experiment.cluster.padding) {
        system::pad_collectives(experiment.program, options);  // of as many chunks as there are rings now
    }
    return {};
}

}  // namespace astrolabe::experiment
