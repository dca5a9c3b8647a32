#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/lower_bound.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::experiment {
namespace {

using detail::Int128;

using system::CollectiveKind;
using system::CollectiveOperation;

/// Bytes that must leave the ranks of one group of N.
Int128 least_bytes_sent(const CollectiveOperation& collective, std::size_t group, std::size_t ranks) {
    const auto n = static_cast<Int128>(ranks);
    const Int128 size = collective.size.count();
    if (collective.is_uneven()) {
        return (*collective.pair_sizes)[group].crossing().count();
    }
    switch (collective.kind) {
        case CollectiveKind::kAllReduce:
            return 2 * (n - 1) * size;
        case CollectiveKind::kAllGather:
            return n * (n - 1) * size;
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kAllToAll:
        case CollectiveKind::kBroadcast:
        case CollectiveKind::kReduce:
        case CollectiveKind::kPointToPoint:
            return (n - 1) * size;
    }
    invariant_failed("collective kind", "every kind has a bound");
}

/// Bytes no algorithm of ours exceeds: reductions send the vector at most log2 N times and three times more
/// where ranks are folded, in every dimension; the others send each byte at most once per other rank.
Int128 most_bytes_sent(const CollectiveOperation& collective, std::size_t ranks, std::size_t dimensions) {
    const bool reduces = collective.kind == CollectiveKind::kAllReduce ||
                         collective.kind == CollectiveKind::kReduceScatter ||
                         collective.kind == CollectiveKind::kReduce;
    const std::size_t times = reduces ? std::bit_width(ranks) + 3 * dimensions : ranks;
    return static_cast<Int128>(ranks) * static_cast<Int128>(times) * collective.size.count();
}

struct PortBytes {
    Int128 out = 0;
    Int128 in = 0;
};

/// What must leave and enter the rank at `position` of one group of N.
PortBytes least_port_bytes(const CollectiveOperation& collective, std::size_t group, std::size_t ranks,
                           std::size_t position, std::uint32_t chunks) {
    const auto n = static_cast<Int128>(ranks);
    const Int128 size = collective.size.count();
    if (collective.is_uneven()) {
        const system::PairSizes& pairs = (*collective.pair_sizes)[group];
        const Bytes own = pairs(position, position);
        return {(pairs.held(position) - own).count(), (pairs.received(position) - own).count()};
    }
    const Int128 part = std::max<Int128>(size / n - chunks, 0);
    const Int128 all_but_own = std::max<Int128>(size - size / n - chunks, 0);
    const bool is_first = position == 0;
    switch (collective.kind) {
        case CollectiveKind::kAllReduce:
            return {size, size};
        case CollectiveKind::kReduceScatter:
            return {all_but_own, part};
        case CollectiveKind::kAllGather:
            return {size, (n - 1) * size};
        case CollectiveKind::kAllToAll:
            return {all_but_own, (n - 1) * part};
        case CollectiveKind::kBroadcast:
        case CollectiveKind::kPointToPoint:
            return is_first ? PortBytes{size, 0} : PortBytes{0, size};
        case CollectiveKind::kReduce:
            return is_first ? PortBytes{0, size} : PortBytes{size, 0};
    }
    invariant_failed("collective kind", "every kind has a bound");
}

/// Calls `visit(collective, group number, group)` for every group of two or more ranks of every collective.
template <class Visit>
void for_each_group(const system::Program& program, const Visit& visit) {
    for (const system::Operation& operation : program.operations) {
        if (!operation.is_collective()) {
            continue;
        }
        const auto& groups = program.partitions[operation.collective().partition].groups;
        for (std::size_t group = 0; group < groups.size(); ++group) {
            if (groups[group].size() >= 2) {
                visit(operation.collective(), group, groups[group]);
            }
        }
    }
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

/// Bytes that must leave the ranks, over all of them.
Int128 least_bytes_sent(const system::Program& program) {
    Int128 sent = 0;
    for_each_group(program, [&](const CollectiveOperation& collective, std::size_t group, const auto& ranks) {
        sent += least_bytes_sent(collective, group, ranks.size());
    });
    return sent;
}

/// Of all ports together.
Time aggregate_bound(Int128 sent, std::size_t ranks, const network::Fabric& fabric,
                     const Placement& placement) {
    // What one rank sends another receives, so the same bytes also enter the ranks' hosts.
    Int128 out = 0;
    Int128 in = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        out += fabric.egress_rate(placement[rank]).count();
        in += fabric.ingress_rate(placement[rank]).count();
    }
    return least_duration(sent, std::min(out, in));
}

/// Of the busiest port.
Time port_bound(const system::Program& program, const system::SystemOptions& options,
                const network::Fabric& fabric, const Placement& placement) {
    std::vector<PortBytes> ports(program.ranks);
    for_each_group(program, [&](const CollectiveOperation& collective, std::size_t group, const auto& ranks) {
        const std::uint32_t chunks = system::chunk_count(collective, options);
        for (std::size_t position = 0; position < ranks.size(); ++position) {
            const PortBytes least = least_port_bytes(collective, group, ranks.size(), position, chunks);
            ports[ranks[position].index()].out += least.out;
            ports[ranks[position].index()].in += least.in;
        }
    });
    Time most;
    for (std::size_t rank = 0; rank < program.ranks; ++rank) {
        const network::HostId host = placement[rank];
        if (ports[rank].out > 0) {
            most = std::max(most, least_duration(ports[rank].out, fabric.egress_rate(host).count()));
        }
        if (ports[rank].in > 0) {
            most = std::max(most, least_duration(ports[rank].in, fabric.ingress_rate(host).count()));
        }
    }
    return most;
}

/// Of the busiest stream of all ranks.
Time busiest_compute(const system::Program& program) {
    const system::Participants participants(program);
    std::vector<std::vector<Time>> compute(program.streams.size(), std::vector<Time>(program.ranks));
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const system::OperationId id(i);
        if (program.operations[id].is_compute()) {
            const system::ComputeOperation& work = program.operations[id].compute();
            std::vector<Time>& of_ranks = compute[work.stream];
            participants.for_each(
                id, [&](system::RankId rank) { of_ranks[rank.index()] += work.duration[rank]; });
        }
    }
    Time most;
    for (const std::vector<Time>& of_ranks : compute) {
        most = std::max(most, *std::max_element(of_ranks.begin(), of_ranks.end()));
    }
    return most;
}

}  // namespace

Time least_latency(const network::Fabric& fabric, std::size_t ranks, const Placement& placement) {
    Time direct = Time::max();
    Time up = Time::max();
    Time down = Time::max();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const network::NodeId node = fabric.node_of(placement[rank]);
        const network::LinkId first = fabric.first_link(node);
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            const network::LinkId out(first.index() + i);
            if (fabric.node(fabric.target(out)).kind == network::NodeKind::kHost) {
                direct = std::min(direct, fabric.link(out).latency);
            } else {
                up = std::min(up, fabric.link(out).latency);
            }
        }
        for (const network::LinkId in : fabric.links_into(node)) {
            if (fabric.node(fabric.source(in)).kind != network::NodeKind::kHost) {
                down = std::min(down, fabric.link(in).latency);
            }
        }
    }
    return up == Time::max() || down == Time::max() ? direct : std::min(direct, up + down);
}

Bound lower_bound(const system::Program& program, const system::SystemOptions& options,
                  const network::Fabric& fabric, const Placement& placement) {
    Bound bound;
    bound.compute = busiest_compute(program);
    if (const Int128 sent = least_bytes_sent(program); sent > 0) {
        const Time bytes = std::max(aggregate_bound(sent, program.ranks, fabric, placement),
                                    port_bound(program, options, fabric, placement));
        bound.communication = saturating_sum(bytes, least_latency(fabric, program.ranks, placement));
    }
    return bound;
}

std::optional<std::string> time_problem(const Bound& bound) {
    if (bound.value() < Time::max()) {
        return std::nullopt;
    }
    return "the run would last longer than simulated time can count, 2^63 ps or 106 days";
}

std::optional<std::string> traffic_problem(const system::Program& program,
                                           const system::SystemOptions& options) {
    const std::size_t dimensions = options.dimensions ? options.dimensions->size() : 1;
    Int128 bytes = 0;
    for_each_group(program, [&](const CollectiveOperation& collective, std::size_t, const auto& ranks) {
        bytes += most_bytes_sent(collective, ranks.size(), dimensions);
    });
    if (bytes < kMostTraffic.count()) {
        return std::nullopt;
    }
    return fmt::format("the run could send {:.3g} bytes in all, and byte counts end at 2^62",
                       static_cast<double>(bytes));
}

}  // namespace astrolabe::experiment
