/// Iterations that repeat: which programs have them, and the report of a run from one that left some out.
///
/// Model. Let the operations of iterations i and i + 1 be *alike* for all i from some a on: the same work,
/// the same dependencies, in the same order. Let j and k = j + p, a <= j, be numbers of iterations that have
/// finished at two instants t_j and t_k, at both of which nothing but computations is under way, and let the
/// states of ranks and network be equal then, counted from the instant and from iterations j and k. What
/// follows t_k is then what followed t_j, P = t_k - t_j later, until the last iteration is about to begin:
/// the run has the period p, P. Of n iterations q periods are left out, if the run that has come to t_k goes
/// on as one of n - q·p iterations. That is the same as going on q·P later with q·p iterations done, as long
/// as no operation of the iterations left out had begun.
///
/// With that run's iterations m = 0, 1, … the full run is
///     i < k               iteration i
///     k <= i < k + q·p    iteration j + (i - j) mod p, later by a whole number of P
///     k + q·p <= i        iteration i - q·p, later by q·P
/// and every sum over time X (counters, compute and exposed time of a rank) is X + q·(X(t_k) - X(t_j)).
///
/// Order. Ends of computations at one instant are notified one after another, and that order is part of the
/// state: messages that leave then may meet in a queue. In a ring of N ranks it moves on by some ranks with
/// every iteration, and is the same only after up to N. Two states that differ in nothing else are followed
/// by the same wherever it decides nothing.
///
/// Nothing of it needs equal states but its truth: between instants at which two iterations took about as
/// long, the same gives an estimate.
///
/// What is not known. The state of the ranks is not known where they are slow for a time, messages wait for
/// circuits, costs at end points follow ASTRA-sim 1.0's ticks, slots of dimensions go to stages alternately,
/// or priorities are explicit, which compare with how many collectives there have been.
#pragma once

#include <optional>
#include <string>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

/// The first operation of `iteration` or a later one, of a program in the order of its iterations; the number
/// of operations where there is none. O(log operations).
[[nodiscard]] OperationId first_of_iteration(const Program& program, int iteration);

/// a: from which iteration on all are alike; the last one by itself is, so at most iterations - 1. Nothing
/// where the operations of iterations are not in order. O(operations · ranks).
[[nodiscard]] std::optional<int> alike_from(const Program& program);

/// Why the state of the ranks is never known; nothing where it is at rest.
[[nodiscard]] std::optional<std::string> unknown_state(const Program& program, const SystemOptions& options);

/// What a run left out, in the terms above.
struct SkippedPeriods {
    int from = 0;     ///< j
    int to = 0;       ///< k
    int periods = 0;  ///< q
    AccountsSoFar at_from;
    AccountsSoFar at_to;

    [[nodiscard]] int length() const { return to - from; }             ///< p
    [[nodiscard]] Time time() const { return at_to.at - at_from.at; }  ///< P
    [[nodiscard]] int iterations() const { return periods * length(); }
    [[nodiscard]] Time whole_time() const { return time() * periods; }
};

/// The report of the full run of `program` from that of one that `end_before` cut, and finished.
[[nodiscard]] ExecutionReport with_skipped(const Program& program, const ExecutionReport& cut,
                                           const SkippedPeriods& skipped);

}  // namespace astrolabe::system
