/// What a transport adds to the fluid model, term by term: each has a key of its own and is off by default,
/// but for latency.
///
/// Limits first. These are averages of what packets do, per connection and per message; none reacts to
/// queues, which the fluid engine does not have. Use the packet engines where queues decide.
///
/// For a message of S bytes over a path of latency α (forward) and α' (back), whose slowest link has rate C,
/// with p the payload and h the header of a packet:
///
/// *latency*    The message is delivered α after its last bit was served. Off: α = 0.
///
/// *framing*    Packets of p bytes carry h bytes more, so that S bytes take
///                  wire(S) = S + h·⌈S/p⌉
///              on every link. Rates are those of the wire; traffic is counted in payload. With
///              *store_and_forward* every node on the way waits for a whole packet before it sends it on:
///              the last packet, of at most s = min(S, p) + h bytes, arrives later by
///                  s · (Σ_l 8/C_l - 8/C),    the mean over paths where it is sprayed.
///
/// *window*     At most W bytes of payload are unacknowledged, so the rate is at most
///                  x ≤ 8·W / RTT,    RTT = α + α' + 8·(p + h)/C,
///              of payload, acknowledgements taking no time but latency; headers come on top, p + h for p
///              (Padhye, Firoiu, Towsley and Kurose, "Modeling TCP throughput", SIGCOMM 1998, section 2: the
///              limit by the receiver's window).
///
/// *slow_start* A connection that sent nothing for `restart_after` begins with a window of I bytes, which
///              doubles each RTT until it fills the path or W. Until then it waits for acknowledgements at
///              the end of each round. With c the payload that full packets bring at the greatest rate, in
///              bytes a second, a message of S loses
///                  delay = Σ_{j<k} (RTT - I·2^j/c) = k·RTT - I·(2^k - 1)/c,
///              k the least number of rounds with I·2^k ≥ c·RTT or I·(2^(k+1) - 1) ≥ S (Cardwell, Savage and
///              Anderson, "Modeling TCP latency", INFOCOM 2000, section II.B, with a growth of 2 per round).
///              The delay is spent before the service begins, during which the connection takes nothing.
///
/// *incast*     Windows into one host that find no room are lost whole and sent again after a timeout. Room
/// is
///              the buffer B in front of the host's link and what the path holds, c·RTT. When the n-th
///              message under way to the host starts with n·W > B + c·RTT, it begins `timeout` later, once
///              (Chen, Griffith, Liu, Katz and Joseph, "Understanding TCP incast throughput collapse", WREN
///              2009, section 4: goodput falls by one timeout per synchronised block).
#pragma once

#include "../../switching.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>

namespace astrolabe::network {

struct Framing {
    Bytes mtu = Bytes(4096);   ///< p, payload of a full packet
    Bytes header = Bytes(82);  ///< h
    Switching switching = Switching::kCutThrough;

    friend bool operator==(const Framing&, const Framing&) = default;
};

struct SlowStart {
    Bytes initial_window = Bytes(10 * 4096);  ///< I
    Time restart_after = Time(1'000'000'000);

    friend bool operator==(const SlowStart&, const SlowStart&) = default;
};

struct Incast {
    Bytes buffer;  ///< B
    Time timeout;

    friend bool operator==(const Incast&, const Incast&) = default;
};

struct TransportTerms {
    bool latency = true;
    std::optional<Framing> framing{};
    std::optional<Bytes> window{};  ///< W
    std::optional<SlowStart> slow_start{};
    std::optional<Incast> incast{};

    friend bool operator==(const TransportTerms&, const TransportTerms&) = default;
};

/// What is wrong with the terms, by key: "framing.mtu", ….
[[nodiscard]] ValidationErrors validation_errors(const TransportTerms& terms);

/// A path as the terms see it.
struct TermPath {
    Time forward;              ///< α
    Time back;                 ///< α'
    Bandwidth slowest;         ///< C
    double serialisation = 0;  ///< Σ_l 8·10^12/C_l: ps a byte needs on all links one after another
};

/// The terms of one connection. Requires terms without problems.
class PathTerms {
public:
    PathTerms(const TransportTerms& terms, const TermPath& path);

    /// Bytes on the wire; 0 for a message without bytes, which needs no packet.
    [[nodiscard]] Bytes wire(Bytes size) const;
    /// From the last bit served to delivery.
    [[nodiscard]] Time delivery_delay(Bytes size) const;
    /// Greatest rate in bit/s, headers included; infinite without a window.
    [[nodiscard]] double cap() const { return cap_; }
    [[nodiscard]] Time latency() const { return latency_; }
    [[nodiscard]] Time round_trip() const { return round_trip_; }
    /// Before the service of a message that finds the connection idle for long enough.
    [[nodiscard]] Time slow_start_delay(Bytes size) const;
    /// Before the service of a message that starts as the n-th under way to its host.
    [[nodiscard]] Time incast_delay(std::uint64_t n) const;

private:
    TransportTerms terms_;
    Time latency_;
    Time round_trip_;
    double extra_pace_ = 0;  ///< ps per byte of a packet, of the nodes that store it
    double held_ = 0;        ///< payload that the path holds at its own rate
    double pipe_ = 0;        ///< c·RTT in bytes
    double cap_;
    double pace_;  ///< 1/c, ps per byte
};

}  // namespace astrolabe::network
