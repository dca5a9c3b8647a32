#include "engine.hpp"

#include <utility>

#include <astrolabe/system/symmetry/folding.hpp>

namespace astrolabe::experiment {

std::vector<network::HostId> place_ranks(const Experiment& experiment) {
    return experiment.placement.hosts_of(experiment.cluster.ranks);
}

Engine whole_engine(const Experiment& experiment, const std::vector<network::HostId>& placement,
                    std::string refusal) {
    return {experiment.backend.make(experiment.fabric, experiment.seed),
            {.ranks = placement.size(), .representatives = placement.size()},
            std::move(refusal)};
}

Engine make_engine(const Experiment& experiment, const std::vector<network::HostId>& placement,
                   bool is_recorded) {
    const network::BackendMaker& maker = experiment.backend;
    if (!maker.folds()) {  // it carries every message itself, so nobody waits for a reason
        return whole_engine(experiment, placement, "");
    }
    std::string refusal;
    if (experiment.cluster.folding == FoldingMode::kOff) {
        refusal = "folding is off";
    } else if (!experiment.fabric->is_static()) {
        refusal = "circuits of the network come and go";
    } else if (experiment.fabric->failures() != nullptr) {
        refusal = "links of the network fail";
    } else if (experiment.cluster.options.compute_speeds != nullptr) {
        refusal = "ranks compute at different speeds for a time";
    } else if (experiment.cluster.jitter) {
        refusal = "computations of every rank are drawn";
    } else if (experiment.cluster.contention) {
        refusal = "collectives slow down what computes beside them";
    } else if (experiment.flows != nullptr || experiment.background != nullptr) {
        refusal = "flows make every host different";
    } else if (is_recorded) {
        refusal = "what happens on every rank is recorded";
    } else {
        system::FoldedRanks folded =
            system::fold_ranks(experiment.program, experiment.cluster.options, experiment.fabric, placement);
        return {maker.make_folded(std::move(folded.classes), experiment.seed), folded.folding,
                std::move(folded.unsupported)};
    }
    return whole_engine(experiment, placement, std::move(refusal));
}

}  // namespace astrolabe::experiment
