#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/experiment/lower_bound.hpp>

namespace astrolabe::experiment {
namespace {

using detail::Int128;

/// Bytes that must leave the ranks of one group for a collective of S bytes per rank.
Int128 least_bytes_sent(const system::CollectiveOperation& collective, std::size_t group) {
    const auto ranks = static_cast<Int128>(group);
    const Int128 size = collective.size.count();
    switch (collective.kind) {
        case system::CollectiveKind::kAllReduce:
            return 2 * (ranks - 1) * size;
        case system::CollectiveKind::kReduceScatter:
        case system::CollectiveKind::kAllToAll:
            return (ranks - 1) * size;
        case system::CollectiveKind::kAllGather:
            return ranks * (ranks - 1) * size;
        case system::CollectiveKind::kBroadcast:
        case system::CollectiveKind::kReduce:
        case system::CollectiveKind::kPointToPoint:
            return (ranks - 1) * size;
    }
    invariant_failed("collective kind", "every kind has a bound");
}

/// Bytes no algorithm of ours exceeds: reductions send each block a few times (folding: 4), all-gathers and
/// forwarded all-to-alls each byte at most once per other rank.
Int128 most_bytes_sent(const system::CollectiveOperation& collective, std::size_t group) {
    const auto ranks = static_cast<Int128>(group);
    const bool reduces = collective.kind == system::CollectiveKind::kAllReduce ||
                         collective.kind == system::CollectiveKind::kReduceScatter;
    return ranks * (reduces ? 4 : ranks) * collective.size.count();
}

template <class Count>
Int128 sum_over_collectives(const system::Program& program, Count count) {
    Int128 sum = 0;
    for (const system::Operation& operation : program.operations) {
        if (!operation.is_compute()) {
            for (const auto& group : program.partitions[operation.collective().partition].groups) {
                sum += count(operation.collective(), group.size());
            }
        }
    }
    return sum;
}

/// Serialisation time rounded down, as a lower bound must be; saturates as Time does.
Time least_duration(Int128 bytes, Int128 bits_per_second) {
    constexpr Int128 kBitPicoseconds = 8 * kPicosecondsPerSecond;
    constexpr Int128 kLimit = std::numeric_limits<std::int64_t>::max();
    // The quotient first where the product would leave 128 bits.
    const Int128 duration = bytes < (Int128{1} << 83) ? bytes * kBitPicoseconds / bits_per_second
                                                      : bytes / bits_per_second * kBitPicoseconds;
    return duration < kLimit ? Time(static_cast<std::int64_t>(duration)) : Time::max();
}

/// Least latency between two ranks' hosts: over a link that joins two hosts, or out to a switch and in from
/// one.
Time least_latency(const network::Fabric& fabric, std::size_t ranks) {
    Time direct = Time::max();
    Time up = Time::max();
    Time down = Time::max();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const network::NodeId node = fabric.node_of(network::HostId(rank));
        const network::LinkId first = fabric.first_link(node);
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            const network::LinkId out(first.index() + i);
            const network::LinkId in = fabric.link(out).reverse;
            if (fabric.node(fabric.target(out)).kind == network::NodeKind::kHost) {
                direct = std::min(direct, fabric.link(out).latency);
            } else {
                up = std::min(up, fabric.link(out).latency);
                down = std::min(down, fabric.link(in).latency);
            }
        }
    }
    return up == Time::max() ? direct : std::min(direct, up + down);
}

}  // namespace

Bound lower_bound(const system::Program& program, const network::Fabric& fabric) {
    std::vector<Time> compute(program.ranks);
    for (const system::Operation& operation : program.operations) {
        if (operation.is_compute()) {
            for (std::size_t rank = 0; rank < program.ranks; ++rank) {
                compute[rank] += operation.compute().duration[system::RankId(rank)];
            }
        }
    }
    Bound bound;
    bound.compute = *std::max_element(compute.begin(), compute.end());
    const Int128 sent = sum_over_collectives(program, least_bytes_sent);
    if (sent > 0) {
        // What one rank sends another receives, so the same bytes also enter the ranks' hosts.
        Int128 out = 0;
        Int128 in = 0;
        for (std::size_t rank = 0; rank < program.ranks; ++rank) {
            out += fabric.egress_rate(network::HostId(rank)).count();
            in += fabric.ingress_rate(network::HostId(rank)).count();
        }
        const Time bytes = least_duration(sent, std::min(out, in));
        const Time latency = least_latency(fabric, program.ranks);
        bound.communication = bytes > Time::max() - latency ? Time::max() : bytes + latency;
    }
    return bound;
}

std::optional<std::string> traffic_problem(const system::Program& program) {
    const Int128 bytes = sum_over_collectives(program, most_bytes_sent);
    if (bytes < kMostTraffic.count()) {
        return std::nullopt;
    }
    return fmt::format("the run could send {:.3g} bytes in all, and byte counts end at 2^62",
                       static_cast<double>(bytes));
}

}  // namespace astrolabe::experiment
