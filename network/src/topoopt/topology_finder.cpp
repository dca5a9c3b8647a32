#include "topology_finder.hpp"

#include <algorithm>
#include <numeric>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::topoopt {

namespace {

/// Groups by size, in the order they first come. What one group of a size reduces is summed over those with
/// its first member, and the most of these counts.
std::vector<GroupRings> group_sizes(const Demand& demand) {
    std::vector<GroupRings> sizes;
    std::vector<std::vector<std::uint64_t>> bytes;  // by size, first member
    for (const AllReduceGroup& group : demand.groups) {
        const auto members = static_cast<std::uint32_t>(group.members.size());
        const auto known = std::find_if(sizes.begin(), sizes.end(),
                                        [&](const GroupRings& rings) { return rings.members == members; });
        const auto index = static_cast<std::size_t>(known - sizes.begin());
        if (known == sizes.end()) {
            sizes.push_back({members, 0, {}});
            bytes.emplace_back(demand.servers / members, 0);
        }
        std::uint64_t& sum = bytes[index][group.members.front()];
        sum += group.bytes;
        sizes[index].bytes = std::max(sizes[index].bytes, sum);
    }
    return sizes;
}

/// Rings for each size; the one of all servers, which is appended if it is not there, gets one at least.
std::vector<std::uint32_t> share_rings(std::vector<GroupRings>& sizes, std::uint32_t servers,
                                       std::uint32_t rings, RingShares rule) {
    std::vector<std::uint32_t> shares;
    std::uint64_t sum = 0;
    for (const GroupRings& size : sizes) {
        sum += size.bytes;
    }
    std::uint32_t left = rings;
    for (const GroupRings& size : sizes) {
        const bool takes_all =
            rule == RingShares::kWhole ? size.members == servers : rule == RingShares::kFirst || sum == 0;
        const std::uint64_t part =
            rule == RingShares::kByTraffic && sum > 0 ? (rings * size.bytes + sum - 1) / sum : 0;
        const std::uint64_t share = takes_all ? left : part;
        shares.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(share, left)));
        left -= shares.back();
    }
    auto all = std::find_if(sizes.begin(), sizes.end(),
                            [&](const GroupRings& size) { return size.members == servers; });
    const auto all_index = static_cast<std::size_t>(all - sizes.begin());
    if (all == sizes.end()) {
        sizes.push_back({servers, 0, {}});
        shares.push_back(0);
    }
    if (shares[all_index] == 0 && left > 0) {
        shares[all_index] = left;  // no group has taken them
    } else if (shares[all_index] == 0) {
        const auto last =
            std::find_if(shares.rbegin(), shares.rend(), [](std::uint32_t share) { return share > 0; });
        ASTROLABE_ASSERT(last != shares.rend(), "there is a ring to give up");
        --*last;
        shares[all_index] = 1;
    }
    return shares;
}

class Wirer {
public:
    explicit Wirer(Topology& topology)
        : topology_(topology) {}

    void add_ring(std::uint32_t stride) {
        const std::uint32_t forward = next_interface_++;
        if (!topology_.full_duplex_rings) {
            for (Server server = 0; server < topology_.servers; ++server) {
                add(server, after(server, stride), forward, forward);
            }
            return;
        }
        const std::uint32_t backward = next_interface_++;
        if (topology_.wiring == Wiring::kSeparateFibres) {
            for (Server server = 0; server < topology_.servers; ++server) {
                add(server, after(server, stride), forward, forward);
                add(after(server, stride), server, backward, backward);
            }
        } else if (topology_.wiring == Wiring::kPanel) {
            for (Server server = 0; server < topology_.servers; ++server) {
                add_both(server, after(server, stride), forward, backward);
            }
        } else {
            const std::uint32_t rings = std::gcd(stride, topology_.servers);
            const std::uint32_t members = topology_.servers / rings;
            for (Server first = 0; first < rings; ++first) {
                Server server = first;
                for (std::uint32_t i = 0; i < members; ++i) {
                    const std::uint32_t plane = i % 2 == 0 ? forward : backward;
                    add_both(server, after(server, stride), plane, plane);
                    server = after(server, stride);
                }
            }
        }
    }

    void add_matching(const MatchingRound& round) {
        const std::uint32_t plane = next_interface_++;
        for (const auto& [a, b] : round.pairs) {
            add_both(a, b, plane, plane);
        }
    }

private:
    [[nodiscard]] Server after(Server server, std::uint32_t stride) const {
        return (server + stride) % topology_.servers;
    }
    void add(Server from, Server to, std::uint32_t from_interface, std::uint32_t to_interface) {
        topology_.links.push_back({from, to, from_interface, to_interface});
    }
    void add_both(Server a, Server b, std::uint32_t a_interface, std::uint32_t b_interface) {
        add(a, b, a_interface, b_interface);
        add(b, a, b_interface, a_interface);
    }

    Topology& topology_;
    std::uint32_t next_interface_ = 0;
};

/// d_A and d_MP, and how many rings that makes.
DegreeSplit split(const Demand& demand, const FinderOptions& options) {
    if (options.mode == Mode::kReleased) {
        return {options.degree - options.degree % 2, 0};
    }
    DegreeSplit split =
        split_degree(options.degree, all_reduce_traffic(demand), demand.point_to_point.total());
    if (rings_go_both_ways(options) && split.all_reduce % 2 != 0) {
        split.all_reduce += split.point_to_point > 0 ? 1 : -1;
        split.point_to_point = options.degree - split.all_reduce;
    }
    return split;
}

}  // namespace

DegreeSplit split_degree(std::uint32_t degree, std::uint64_t mutable_traffic,
                         std::uint64_t immutable_traffic) {
    ASTROLABE_ASSERT(degree >= 1 && degree <= 64, "a degree is from 1 to 64");
    ASTROLABE_ASSERT(std::max(mutable_traffic, immutable_traffic) <= kMaxTraffic, "traffic has a limit");
    if (immutable_traffic == 0) {
        return {degree, 0};
    }
    const std::uint64_t all = mutable_traffic + immutable_traffic;
    const std::uint64_t share = (degree * mutable_traffic + all - 1) / all;
    const auto all_reduce = static_cast<std::uint32_t>(std::max<std::uint64_t>(share, 1));
    return {all_reduce, degree - all_reduce};
}

std::vector<std::uint32_t> directed_strides(const Topology& topology) {
    std::vector<std::uint32_t> strides;
    for (const GroupRings& rings : topology.rings) {
        for (const std::uint32_t stride : rings.strides) {
            strides.push_back(stride);
            if (topology.full_duplex_rings) {
                strides.push_back(topology.servers - stride);
            }
        }
    }
    std::sort(strides.begin(), strides.end());
    return strides;
}

Design design_of_mode(const Demand& demand, const FinderOptions& options) {
    ASTROLABE_ASSERT(options.mode != Mode::kBest, "mode best is not one design");
    Design design;
    design.split = split(demand, options);
    design.full_duplex_rings = rings_go_both_ways(options);
    if (options.mode == Mode::kReleased) {
        design.selection = options.repeat_strides ? Selection::kAtLeastRepeating : Selection::kAtLeast;
        design.shares = RingShares::kFirst;
    }
    return design;
}

Topology wire_design(const Demand& demand, const FinderOptions& options, const Design& design,
                     Span<const MatchingRound> matchings) {
    ASTROLABE_ASSERT(matchings.size() >= design.split.point_to_point, "every matching is found before");
    Topology topology;
    topology.servers = demand.servers;
    topology.degree = options.degree;
    topology.wiring = options.wiring;
    topology.full_duplex_rings = design.full_duplex_rings;
    topology.split = design.split;
    topology.rings = group_sizes(demand);
    const std::vector<std::uint32_t> shares =
        share_rings(topology.rings, demand.servers,
                    design.split.all_reduce / (design.full_duplex_rings ? 2 : 1), design.shares);
    Wirer wirer(topology);
    for (std::size_t i = 0; i < topology.rings.size(); ++i) {
        GroupRings& rings = topology.rings[i];
        const std::vector<std::uint32_t> candidates =
            totient_strides(demand.servers, rings.members, options.candidates);
        rings.strides = select_strides(demand.servers, rings.members, candidates,
                                       {shares[i], design.selection, design.full_duplex_rings});
        for (const std::uint32_t stride : rings.strides) {
            wirer.add_ring(stride);
        }
    }
    topology.matchings.assign(matchings.begin(), matchings.begin() + design.split.point_to_point);
    for (const MatchingRound& round : topology.matchings) {
        wirer.add_matching(round);
    }
    return topology;
}

}  // namespace astrolabe::network::topoopt
