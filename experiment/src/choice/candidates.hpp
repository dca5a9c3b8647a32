// The methods that a collective may be carried out by, and estimates of their times.
//
// Candidates are the registered algorithms with their defaults, multi_ring on the rings of a network that was
// built of rings, and hierarchical in round-robin order where groups have several dimensions; all but those
// that do not do the kind over the shapes of the groups, wait for circuits where there are none, or whose
// schedules are in files; of an uneven all_to_all, whose bytes are counted pair by pair, also but those that
// pass a block on more than 8 times. Chunks, where they are open: 1, 4, 16 and 64 times those that carry all
// variants alike, at most 64; of an uneven all_to_all, and on circuits, which cut messages by themselves,
// only the first.
//
// Estimates. With α the least latency between hosts, L_l the bytes that a method puts on link l of rate C_l,
// and a chain of messages of its first chunk (explain/schedule_loads.hpp):
//     bound     max( max_l L_l/C_l + α, Σ_chain α, Σ_chain (α + bytes/egress rate of a host) )
//     estimate  max( max_l L_l/C_l + Σ_chain (α + w), Σ_chain (α + w + bytes/rate of a link) )
// No run of the method beats its bound; the estimate orders. Costs of end points count as α does. w is the
// wait for a circuit: half a period, a period for those that send on direct circuits only, and the period
// over the number of places for those that go through them in order. Where links come and go or the engine
// does not keep to routes, the ports of ranks take the place of links; where the engine shares no links, the
// bound is 0 and links are left out.
#pragma once

#include "alone.hpp"

#include <vector>

#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

struct Candidate {
    Method method;
    MethodPointer how;
    Time bound{};
    Time estimate{};
    Time load{};  ///< Σ_l L_l / Σ_l C_l, doubled where messages are relayed: what it takes from others
                  ///< meanwhile
    std::uint64_t messages = 0;
    std::uint64_t steps = 0;  ///< messages of the longest chain
};

/// What of a method is open.
struct OpenMethod {
    bool algorithm = false;
    bool chunks = false;
};

/// Not yet estimated. Where the algorithm is named, it is the only one, with the chunks that are open;
/// the first candidate is the one with its default chunks.
[[nodiscard]] std::vector<Candidate> candidates_for(const Experiment& experiment,
                                                    const system::CollectiveOperation& work,
                                                    const system::Partition& partition, OpenMethod open,
                                                    const Components& components);

/// The method that a file or a record names; nothing where it cannot carry out the collective.
[[nodiscard]] MethodPointer make_method(const Experiment& experiment, const system::CollectiveOperation& work,
                                        const system::Partition& partition, const Method& method,
                                        const Components& components);

/// Fills in bounds, estimates, loads and messages of candidates, whose methods `alone` can do. O(links +
/// pairs that send) an algorithm, O(links) a number of chunks.
void estimate(std::vector<Candidate>& candidates, const Experiment& alone,
              const system::CollectiveOperation& work, const system::Partition& partition);

}  // namespace astrolabe::experiment
