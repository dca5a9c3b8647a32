/// Packets that no circuit will ever carry, in a text for people.
///
/// Model. A run that can go on no more has packets that wait at their hosts, or at hosts that relay them.
/// Either no circuit connects the two racks any more, because of what failed, or one does and something else
/// is in the way (direct circuits only, for instance).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <astrolabe/network/rotor/packet_counts.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

/// How many packets wait for how many pairs of hosts, the first few of them with the reason, by host and
/// destination; empty if none wait. `now` is when nothing moves any more. O(pairs that wait · log).
[[nodiscard]] std::string describe_undeliverable(const RotorNetwork& network, Time now,
                                                 const PacketCounts& own, const PacketCounts& relayed);

/// Source and destination.
using PairOfHosts = std::pair<std::uint32_t, std::uint32_t>;

/// A line for each of the first few pairs, between which low-latency messages were given up, with the rack
/// that is disconnected, if one is, and since when: "host 0 -> host 28: rack 7 is disconnected since 5ms".
[[nodiscard]] std::string describe_given_up(const RotorNetwork& network, Time now,
                                            std::span<const PairOfHosts> pairs);

}  // namespace astrolabe::network::rotor
