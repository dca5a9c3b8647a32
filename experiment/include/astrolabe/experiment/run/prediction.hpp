/// What a run will cost, before it runs: from counts only, and a short look at how fast this machine is.
///
/// Model, with M messages of which M_0 have no bytes, P packets, h the links a byte crosses on average, C
/// computations × ranks that take time, O operations × ranks, N ranks and U pairs of ranks that send
/// (schedule_loads.hpp, characterisation.hpp):
///
///     flow engines    events = 2·M - M_0 + C (+ M/4 where messages are copied before they leave)
///     engines of a family of networks: what it estimates itself (NetworkFamily::estimate)
///     packet          events = h·(P + max(M, P/16)) + C         one per hop of a packet or acknowledgement
///     tcp             events = 4.6·h·P + C
///     packets         P = Σ over messages of ⌈bytes / payload of a packet⌉, from the histogram of sizes
///     requests        with rendezvous a message of 8 KiB more for each of at least the threshold
///     at least        M - M_0; on tcp no more than bytes / payload, as one segment carries many
///                     messages; half with rendezvous; a part r/N where r ranks stand for all
///     at most         2·M + 2·O timers, of all ranks, as a run that folds may meet a tie; and with P'
///                     packets by the largest size of each bin, on flow engines 3·M, or 6·M with
///                     rendezvous, on packet 4·(2h + 2)·(P' + M), on tcp (2h + 2)·(10·P' + 60·U) and 4
///                     for each link
///     memory          base + what engine and executor keep for hosts, links, pairs and operations, of which
///                     a program has those of all its iterations, and 120 bytes for each of M + C where
///                     causes are followed unasked (run.hpp); on slots, where they wait for circuits, also
///                     for half of the messages of an iteration, since the second round of a direct
///                     all-reduce is sent when the first has arrived
///                     at least: 0.8 of the base, and half of what is beside it
///                     at most:  1.2 of the base, twice what is beside it, and the state of eight messages of
///                     every pair in flight at once, or of all of an iteration where these are fewer
///     wall time       1.2 · events over events a second of processor time, which the beginning of the run
///                     tells: the second half of its first quarter of a second, or of up to a second until
///                     there were 3·U events, as first messages of pairs cost many times what others do;
///                     where U exceeds 2^17, and to begin costs seconds, 0.7 us an event: the 210 s of the
///                     331 M events of Model-A on 1,024 ranks. On slots 0.2 us an event and 0.013 us for
///                     every service of a pair, once a cycle: the beginning of a run, when only the first
///                     messages are there, tells little of it. They give 0.91, 1.9 and 44 s for Model-A on
///                     16, 128 and 1,024 nodes, which take 0.85, 1.3 and 45 s
///
/// Origin of the constants, all in prediction.cpp: two events of a message from fluid_backend.hpp; a quarter
/// of a timer for each copied message and 4.6 events for a hop of TCP measured on the HOTI 2020 and
/// quick-start examples; 1.2 because events cost 1.0 to 1.9 times as much once collectives overlap; an
/// acknowledgement for 16 packets from the packet transport's default; bytes of a pair and of a message under
/// way from fluid_backend.hpp, the others from differences of peak memory.
///
/// Where ranks fold (system/symmetry/folding.hpp), M, M_0, P, C and U are those of the kept ranks: a part
/// r/N.
///
/// Where the beginning of a run is over too soon to be timed, an event takes 0.7 us.
///
/// A folded run that meets a tie is run again with all ranks. Where the look at its beginning meets one, all
/// of this is of that second run, and so is the reason; a tie that comes later only the upper ends foresee.
///
/// Limits: events have an interval where nothing but messages and computations makes any: neither slots, nor
/// circuits that move, nor failures, which go by time, nor flows that are drawn or end with a job. Losses,
/// retransmissions and pauses are not foreseen. Memory leaves out the state of chunks under way, which
/// matters from hundreds of ranks on with many chunks and is in the upper end alone; a folded run that meets
/// a late tie may exceed that. A run that does not go on as it begins takes longer or shorter than said. On
/// slots a run of many small messages takes longer, as each service meets others: the shuffle of 648 hosts,
/// foreseen with 0.13 s, takes 0.9 s.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

struct Prediction {
    double events = 0;
    std::optional<std::pair<double, double>> events_between{};  ///< minimum and maximum, without losses
    double memory_bytes = 0;                                    ///< peak resident set of the process
    double minimum_memory_bytes = 0;                            ///< it is between these two
    double maximum_memory_bytes = 0;  ///< what a machine must have for the run to be started
    double wall_seconds = 0;          ///< on a processor with nothing else to do
    bool was_looked_at = false;       ///< it is from a look at the beginning of the run, on this machine
    double messages = 0;              ///< of one job, of the ranks that are simulated
    double pairs = 0;                 ///< of ranks that send, likewise
    std::size_t simulated_ranks = 0;  ///< the others are images of these
    std::string folding_refusal;      ///< why not fewer, as Run::Engine has it
};

/// Every number is finite and none is negative.
[[nodiscard]] Prediction predict(const Experiment& experiment);

}  // namespace astrolabe::experiment
