/// How long an experiment takes under a transport, without running it: from the fabric, the schedules and the
/// program's DAG. Not a bound: what matters are ratios of two transports on one experiment (engine_fit.hpp).
///
/// Model. A message of S bytes over a path of latency α forward and α' back, of links of rates C_l of which C
/// is the smallest, in n = ⌈S/p⌉ packets of payload p and header h, takes alone
///     m(S) = α + 8·w/C + stored + connection + window
///     w          = S + message header + n·h
///     stored     = (min(S, p) + h)·(Σ_l 8/C_l - 8/C)     where nodes store packets
///     connection = α + α' + 2h·Σ 8/C_l of a handshake, and Σ_j (R - I·2^j/c) of slow start
///                                                         of the first message of a pair of ranks in the run
///     window     = (S - W)·(R/W - 1/c)                    where that is positive
/// with R the round trip of an empty network and c what a connection has of C where a rank starts several at
/// once. A collective takes
///     T = max( max_l b_l/C_l + tail, ⌈k/A⌉·chain, v·R + last - R )
/// b_l the bytes on link l with their headers and the acknowledgements of what goes the other way, tail what
/// m(S) has beside 8·w/C, chain the heaviest chain of messages and end points of one of its k chunks, of
/// which A are in flight, v the windows (in bytes or in packets) that a pair of ranks sends, last its last
/// one's time. Without sharing of links b_l is left out. Where packets are sprayed over links at random, n on
/// each on average and step, the busiest has √(n/π) more, exactly so for two.
///
/// Cables. Where hosts have several towards a destination and keep a burst on one, the time is the mean of
/// that with one path for each pair and that of ideal spraying: bursts of a pair take different cables.
///
/// Queues. See TransportEstimate's `gains_by_queues`: a measured share, not derived.
///
/// Losses. Messages of one level (collective_work.hpp) leave together. Of those that bring a switch D_l bytes
/// for link l, of D_u over each link u into it,
///     q_l = D_l - C_l·max_u D_u/C_u
/// wait, at most one window for each sender; collectives in flight add up. Above the room of the port packets
/// are lost, and the collective takes a timeout for every time that q_l fills the room.
///
/// DAG. Operations are issued when all they depend on has finished, computations of a rank one after another;
/// collectives share links and windows of pairs, first come first served.
///
/// Limits. Priorities and orders of chunks are left out. How many timeouts a loss costs is an order of
/// magnitude: what is found by later packets costs none, what is lost again costs more.
///
/// Complexity: O(operations · (ranks + links)) for each transport, and a chain for each operation of its own
/// kind.
#pragma once

#include "schedule_loads.hpp"

#include <memory>
#include <string>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/transport.hpp>

namespace astrolabe::experiment {

/// A port that has no room for what may meet there.
struct Overflow {
    network::LinkId link{};
    double senders = 0;  ///< pairs of ranks whose messages meet
    double bytes = 0;    ///< that wait
    double room = 0;
    double times = 0;  ///< that its room passes
    std::string operation;
};

struct TransportTime {
    double seconds = 0;
    std::optional<Overflow> overflow;  ///< the worst
    /// Much of the time is that of messages which a host could split over cables, and does not.
    bool has_cable_choice = false;
};

class TransportEstimate {
public:
    explicit TransportEstimate(const Experiment& experiment);
    ~TransportEstimate();
    TransportEstimate(const TransportEstimate&) = delete;
    TransportEstimate& operator=(const TransportEstimate&) = delete;

    /// Where this is not empty, no time is known, and this is why.
    [[nodiscard]] const std::string& omission() const;
    [[nodiscard]] TransportTime time(const network::Transport& transport) const;

private:
    class Collectives;
    std::unique_ptr<Collectives> collectives_;
};

}  // namespace astrolabe::experiment
