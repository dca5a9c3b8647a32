#include "job_network.hpp"

#include <utility>

#include <astrolabe/network/family.hpp>
#include <astrolabe/system/program/network_demand.hpp>
#include <astrolabe/system/program/padding.hpp>

namespace astrolabe::experiment {

JobNetworks::Built networks_for_job(const Experiment& experiment,
                                    const network::FabricMaker::BuildForJob& build,
                                    const std::string& section, JobNetworks& known) {
    const network::Demand demand = system::network_demand(experiment.program, experiment.cluster.options);
    return known.get(JobNetworks::key_of(section, experiment.seed, demand),
                     [&] { return build(demand, experiment.seed); });
}

void take_network(Experiment& experiment, std::shared_ptr<const network::Fabric> fabric) {
    system::SystemOptions& options = experiment.cluster.options;
    experiment.fabric = std::move(fabric);
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
}

}  // namespace astrolabe::experiment
