/// Servers over a scale-out network that is built for their job.
///
/// Model. The job is known by ranks, one on each GPU; the scale-out network is built for what NICs put on it:
/// bytes of a pair of ranks in different servers are bytes of the pair of their NICs
/// (ServerLayout::nics_between), bytes inside a server are none. An all-reduce in rings whose members have a
/// NIC each, equally spaced, is an all-reduce of these NICs, whose rings the network chooses; of other
/// all-reduces, with S bytes and k members, each sends 2 (k - 1) S / k to the next one, in their order.
///
/// Example. Two servers of 4 GPUs with one NIC each. An all-reduce of 8 MB in a ring of all 8 ranks sends
/// 2 · 7/8 · 8 MB = 14 MB from GPU 3 to GPU 4, and as many from GPU 7 to GPU 0: 14 MB each way between the
/// NICs. All-reduces of GPUs 0 and 4, 1 and 5, 2 and 6, 3 and 7 are four of both NICs.
#pragma once

#include <variant>

#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/demand.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network::servers {

/// Of the hosts of the only scale-out network; or that it is too much for one, by no key. O(ranks² + members
/// of groups).
[[nodiscard]] std::variant<Demand, ValidationErrors> demand_of_nics(const ServerLayout& layout,
                                                                    const Demand& of_ranks);

}  // namespace astrolabe::network::servers
