/// Bulk packets that no circuit will ever take, said for people.
///
/// Model. A run that can go on no more has packets that wait at their hosts, or at hosts that relay them.
/// Either the two racks meet no more, because of what failed, or they do and something else is in the way
/// (direct circuits only, for instance).
#pragma once

#include <cstdint>
#include <string>

#include <astrolabe/network/opera/packet_counts.hpp>
#include <astrolabe/network/opera/rotor_network.hpp>

namespace astrolabe::network::opera {

/// How many packets wait for how many pairs of hosts, the first few of them with the reason, by host and
/// destination; empty if none wait. `now` is when nothing moves any more. O(pairs that wait · log).
[[nodiscard]] std::string describe_stranded(const RotorNetwork& network, Time now, const PacketCounts& own,
                                            const PacketCounts& relayed);

/// Which rack of the two hosts is cut off and since when, "rack 3 is cut off since 5ms"; empty if neither is.
[[nodiscard]] std::string describe_cut_off(const RotorNetwork& network, Time now, std::uint32_t host,
                                           std::uint32_t destination);

}  // namespace astrolabe::network::opera
