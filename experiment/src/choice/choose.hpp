// Choosing how collectives are carried out (docs/models/algorithm-choice.md).
//
// Of every collective whose method the file leaves open, the candidates (candidates.hpp) are simulated alone
// in ascending order of their estimates, on the fluid engine where that runs the network, else on the
// experiment's own. Not simulated are those that cannot be 1 % faster than the best so far by their bounds,
// once two algorithms are known; those beyond the twelfth; those that would take the messages of the trials
// over 2^20, once two algorithms are known; and those of more than 2^23 messages. A trial ends beyond twice
// the time of the best.
//
// Chosen is the fastest; of those within 1 % of it the one that loads its busiest link least, then the one of
// fewest messages, then the first candidate: what other collectives do at the same time costs it least. Of a
// named algorithm other chunks than its default are tried only where bounds let them gain 5 %.
//
// Where all candidates are too large to simulate, the best estimate is chosen, without a time.
//
// Deterministic: nothing depends on how long anything takes on this computer.
#pragma once

#include <string>
#include <vector>

#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// Gives every collective of the program that is open a method, and the experiment its choices, which replace
/// those it had. `recorded` are taken over where their keys are the same. `experiment.setting` is a hash of
/// network, backend and seed. Cost: the trials, of each collective once for each set of components.
void choose_methods(Experiment& experiment, const std::vector<MethodChoice>& recorded,
                    const Components& components);

}  // namespace astrolabe::experiment
