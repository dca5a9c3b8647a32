/// The same traffic on a k-ary fat-tree for both simulators: 100 Gb/s links, hosts k³/4.
///
/// Models. Both share links max-min fairly and let a message take latency + bytes/rate. SimGrid weighs flows
/// by 1/latency, as TCP does; ours weighs them alike. The two coincide where latencies are 0 or nothing is
/// shared, and the cases are chosen so:
///
///   all_at_once          every host to every other, all started at 0. Latencies 0. SimGrid routes D-mod-k,
///                        ours sprays; with either the hosts' links are the fullest: (N-1)·S/B.
///   one_peer_at_a_time   in step s = 1 … N-1 host i sends to i + s mod N, when its message before has
///                        arrived. Latencies 0. D-mod-k carries shifts without contention, so does spraying.
///   ring                 host i sends to i + 1 as soon as it has what i - 1 sent in the step before. Nothing
///                        is shared; 500 ns a link, paths of 2, 4 and 6 links.
///   uneven               every host to those 1, 2, 4, … further, started at 0, no two sizes alike, each pair
///                        on one path drawn by hash: the very routes of our fabric given to SimGrid. Flows
///                        share links unevenly and each end changes rates. Latencies 0.
#pragma once

#include "network/src/topologies/fat_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::benchmarks {

enum class Pattern { kAllAtOnce, kOnePeerAtATime, kRing, kUneven };

struct PeerCase {
    Pattern pattern{};
    std::int64_t k = 4;     ///< of the fat-tree
    std::size_t steps = 0;  ///< of a ring

    [[nodiscard]] std::size_t hosts() const { return static_cast<std::size_t>(k * k * k / 4); }
    [[nodiscard]] bool sprays() const { return pattern != Pattern::kUneven; }
    [[nodiscard]] Time link_latency() const;
    [[nodiscard]] std::string name() const;
};

/// A message of the patterns that start everything at 0.
struct PeerMessage {
    std::size_t source;
    std::size_t destination;
    Bytes size;
};
[[nodiscard]] std::vector<PeerMessage> messages_at_zero(const PeerCase& peer_case);

/// Of every message but the uneven ones.
inline constexpr Bytes kPeerMessage{65'536};

[[nodiscard]] network::FatTreeParameters fat_tree_of(const PeerCase& peer_case);

struct PeerOutcome {
    double simulated_s = 0;
    double setup_cpu_s = 0;  ///< building the platform
    double cpu_s = 0;        ///< everything after that
    double peak_bytes = 0;   ///< of the process
};

/// Each to be called in a process of its own.
[[nodiscard]] PeerOutcome run_fluid(const PeerCase& peer_case);
[[nodiscard]] PeerOutcome run_simgrid(const PeerCase& peer_case);

/// Of this process so far, user and system.
[[nodiscard]] double processor_seconds();

}  // namespace astrolabe::benchmarks
