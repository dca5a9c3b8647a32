#include <algorithm>
#include <vector>

#include <astrolabe/system/program/characterisation.hpp>
#include <astrolabe/system/program/network_demand.hpp>

namespace astrolabe::system {

namespace {

using network::Demand;
using network::PairDemand;
using network::Server;

bool is_regular(const std::vector<RankId>& group, std::size_t ranks) {
    if (ranks % group.size() != 0) {
        return false;
    }
    for (std::size_t i = 1; i < group.size(); ++i) {
        if (group[i].index() != group[i - 1].index() + ranks / group.size()) {
            return false;
        }
    }
    return true;
}

bool is_mutable(const Program& program, const SystemOptions& options, const CollectiveOperation& collective) {
    return chosen_algorithm(collective, options)->needs_rings() &&
           std::ranges::all_of(program.partitions[collective.partition].groups,
                               [&](const auto& group) { return is_regular(group, program.ranks); });
}

/// The mutable or the immutable collectives of a program by themselves.
Program part_of(const Program& program, const SystemOptions& options, bool wants_mutable) {
    Program part{.ranks = program.ranks,
                 .iterations = program.iterations,
                 .operations = {},
                 .partitions = program.partitions};
    for (const Operation& operation : program.operations) {
        if (operation.is_collective() &&
            is_mutable(program, options, operation.collective()) == wants_mutable) {
            part.operations[part.operations.push_back(operation)].dependencies.clear();
        }
    }
    return part;
}

void add_groups(Demand& demand, const Program& program, const SystemOptions& options) {
    const ProgramTraffic traffic(program, options);
    IndexedVector<PartitionId, std::vector<Bytes>> sent(program.partitions.size());  // by rank
    IndexedVector<PartitionId, std::uint64_t> operations(program.partitions.size(), 0);
    std::vector<PartitionId> order;  // of first operations
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const PartitionId partition = program.operations[OperationId(i)].collective().partition;
        if (sent[partition].empty()) {
            sent[partition].resize(program.ranks);
            order.push_back(partition);
        }
        ++operations[partition];
        const std::vector<Bytes>& by_rank = traffic.of(OperationId(i)).sent_by_rank;
        for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
            sent[partition][rank] += by_rank[rank];
        }
    }
    for (const PartitionId partition : order) {
        for (const std::vector<RankId>& group : program.partitions[partition].groups) {
            Bytes bytes;
            std::vector<Server> members;
            for (const RankId rank : group) {
                bytes += sent[partition][rank.index()];
                members.push_back(static_cast<Server>(rank.index()));
            }
            if (bytes > Bytes(0)) {
                const auto rounds = 2 * (static_cast<std::int64_t>(group.size()) - 1);
                demand.groups.push_back({std::move(members),
                                         static_cast<std::uint64_t>(bytes.count() / rounds),
                                         operations[partition]});
            }
        }
    }
}

PairDemand pair_demand(const Program& program, const SystemOptions& options) {
    const TrafficMatrix matrix = traffic_matrix(program, options);
    PairDemand pairs(static_cast<Server>(program.ranks));
    for (Server source = 0; source < program.ranks; ++source) {
        for (Server destination = 0; destination < program.ranks; ++destination) {
            if (const Bytes bytes = matrix(source, destination); bytes > Bytes(0)) {
                pairs.add(source, destination, static_cast<std::uint64_t>(bytes.count()));
            }
        }
    }
    return pairs;
}

}  // namespace

Demand network_demand(const Program& program, const SystemOptions& options) {
    const Program pairs = part_of(program, options, false);
    Demand demand{.servers = static_cast<std::uint32_t>(program.ranks),
                  .groups = {},
                  .point_to_point = pair_demand(pairs, options),
                  .exchanges = pairs.operations.size()};
    add_groups(demand, part_of(program, options, true), options);
    return demand;
}

}  // namespace astrolabe::system
