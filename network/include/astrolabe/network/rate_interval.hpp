/// How far rates that are updated only every so often are from those of the model, which adapt at once.
///
/// With an interval δ rates are updated at most every δ. Until the next update, less than δ later, a
/// connection that starts has rate 0, and one that runs empty keeps its rate, so that no link is ever given
/// more than its capacity. A connection with rate x that runs empty therefore *withholds* x from its links
/// for the rest of the interval, or until it has something to send again, which goes at x at once.
///
/// Error bound, of what the run is exact for. The connections that hold a rate are at every instant those of
/// an exact run in which
///
///     a message that starts a connection is sent later by its wait, which is less than δ, and
///     a connection that runs empty sends x·u/8 bytes more, x its rate and u < δ the time for which it
///     withholds it.
///
/// Max-min fair rates are unique, so that run has the same rates and delivers every message at the same
/// instant: the approximate run is the exact one of an input that differs by these waits and bytes, and they
/// are counted here. Two bounds follow for a link that is the bottleneck of all its connections, such as the
/// port of a host that many send to at a time: what it carries without a pause ends no earlier than in the
/// exact run, and later by at most δ + V, where V = Σ x·u/C is the time for which it was withheld. Where
/// several links limit a connection, or later messages depend on earlier ones, the difference of two such
/// runs is not bounded by their inputs alone: a shared network may be faster for a message that is late.
#pragma once

#include <cstdint>
#include <optional>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

struct RateIntervalReport {
    Time interval;                        ///< δ
    std::uint64_t updates = 0;            ///< of rates
    std::uint64_t starts = 0;             ///< of connections that had run empty or were new
    Time longest_wait;                    ///< of a start, less than δ
    Time waits;                           ///< summed over starts
    Time withheld;                        ///< V of the link where it is largest
    std::optional<LinkId> most_withheld;  ///< that link
};

}  // namespace astrolabe::network
