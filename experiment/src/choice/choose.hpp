// Choosing how collectives are carried out (docs/models/algorithm-choice.md).
//
// Of every collective whose method the file leaves open, the candidates (candidates.hpp) are simulated alone
// in ascending order of their estimates, on the fluid engine (with headers, where it takes them, for engines
// that have packets) where that runs the network, else on the experiment's own. Not simulated are those that
// by their bounds can be neither 2 % better than the best so far nor lighter, once two algorithms are known;
// those beyond the twelfth; those that would take the work of the trials over 2^26, once two algorithms are
// known; and those of more work than 2^29. Work is messages times the messages in flight with each, M²/steps,
// of the representatives where ranks fold: 2^26 is about 0.3 s on a torus and a hundredth of that on a
// fat-tree. A trial ends beyond twice the time of the best.
//
// Chosen is, of those within 10 % of the fastest, a light one: what a method puts on all links, over their
// rates, is what others in flight wait for. Of those within 10 % of the least load the fastest algorithm, and
// of its numbers of chunks the one of fewest messages. Where an iteration has no other collective, 2 % take
// the place of the first 10 %. Of a named algorithm other chunks than its default are tried only where bounds
// let them gain 5 %.
//
// Of candidates that are too large to simulate the best estimate is chosen, without a time, where 1.5 times
// the estimate is less than the best trial, or there is none.
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
