/// What a transport adds to ideal fluid, term by term. Every term is off unless asked for, but latency.
///
/// Framing. A message of S bytes goes in ⌈S/p⌉ packets of at most p = `mtu` bytes of payload, each with
/// h = `header` bytes besides, so links carry
///
///     w(S) = S + ⌈S/p⌉·h
///
/// bytes for it: a link of rate C takes full packets at C·p/(p+h) of payload. Rates of connections then
/// include headers. What is left out: that a packet arrives whole at every hop (cut-through stays).
///
/// Window. At most W = `window` bytes of payload are sent and not yet acknowledged, so for a connection
///
///     x ≤ 8·w(W) / RTT,      RTT = α_there + α_back + 8·w(p) / B,
///
/// α the latencies of its path there and back, B the rate of its slowest link, w(p) one packet (nothing
/// without framing): what the sender waits for the acknowledgement of a packet if nothing queues. A cap in
/// max_min_solver.hpp. Acknowledgements take no room on the links.
///
/// Slow start. A connection that has been idle starts with w_0 = w(`initial_window`) bytes and doubles every
/// RTT until it fills its path (rate C, the least of its links and its cap) or the message is sent: round
/// i = 0, 1, … sends w_0·2^i and, while that takes less than an RTT, waits for the rest of it. A message that
/// needs K + 1 rounds, K the least with w_0·(2^(K+1) - 1) ≥ w(S), is late by
///
///     δ(S) = Σ_{i<K} max(0, RTT - 8·w_0·2^i / C).
///
/// Source: N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000, sections II-C and
/// II-D, with growth γ = 2 (every packet acknowledged) and no losses. It is spent before the message is
/// served; those behind it in the queue find the window open. What it leaves out: the links are free
/// meanwhile, though a part of the message crosses them; C takes no account of who shares the path.
#pragma once

#include <optional>
#include <vector>

#include <astrolabe/core/parameter_problem.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe::network {

struct TransportParameters {
    bool latency = true;                                 ///< off: as if every cable had none
    std::optional<Bytes> mtu = std::nullopt;             ///< p
    std::optional<Bytes> header = std::nullopt;          ///< h
    std::optional<Bytes> window = std::nullopt;          ///< W
    std::optional<Bytes> initial_window = std::nullopt;  ///< of slow start
};

/// Empty if the parameters make sense together.
[[nodiscard]] std::vector<ParameterProblem> problems(const TransportParameters& parameters);

class Transport {
public:
    /// Precondition: no problems.
    explicit Transport(const TransportParameters& parameters)
        : parameters_(parameters) {}

    [[nodiscard]] bool has_latency() const { return parameters_.latency; }
    /// Whether anything depends on round trips.
    [[nodiscard]] bool needs_round_trip() const {
        return parameters_.window.has_value() || parameters_.initial_window.has_value();
    }
    [[nodiscard]] bool has_slow_start() const { return parameters_.initial_window.has_value(); }
    /// w(S), in bytes. O(1).
    [[nodiscard]] Bytes on_wire(Bytes size) const;
    /// RTT, rounded up; `latency` there and back, `rate` of the slowest link.
    [[nodiscard]] Time round_trip(Time latency, Bandwidth rate) const;
    /// In bit/s; infinite without a window.
    [[nodiscard]] double cap(Time round_trip) const;
    /// δ(S), to the nearest picosecond; `rate` C in bit/s. O(log(RTT·C / w_0)).
    [[nodiscard]] Time slow_start_delay(Bytes size, double rate, Time round_trip) const;

private:
    TransportParameters parameters_;
};

}  // namespace astrolabe::network
