#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include <astrolabe/system/program.hpp>

namespace astrolabe::system {

namespace {

[[noreturn]] void reject(const std::string& message) {
    throw std::logic_error("program: " + message);
}

void check_partition(const Partition& partition, std::size_t ranks) {
    std::vector<bool> seen(ranks, false);
    std::size_t members = 0;
    for (const std::vector<RankId>& group : partition.groups) {
        if (group.empty()) {
            reject(fmt::format("partition '{}' has an empty group", partition.name));
        }
        for (const RankId rank : group) {
            if (rank.index() >= ranks) {
                reject(
                    fmt::format("partition '{}' names rank {} of {}", partition.name, rank.index(), ranks));
            }
            if (seen[rank.index()]) {
                reject(fmt::format("partition '{}' names rank {} twice", partition.name, rank.index()));
            }
            seen[rank.index()] = true;
            ++members;
        }
    }
    if (members != ranks) {
        reject(fmt::format("partition '{}' holds {} of {} ranks", partition.name, members, ranks));
    }
}

void check_compute(const Operation& operation, std::size_t ranks) {
    const PerRank<Time>& duration = operation.compute().duration;
    if (!duration.uniform() && duration.size() != ranks) {
        reject(fmt::format("'{}' has {} durations for {} ranks", operation.name, duration.size(), ranks));
    }
    for (std::size_t rank = 0; rank < (duration.uniform() ? 1 : ranks); ++rank) {
        if (duration[RankId(rank)] < Time(0)) {
            reject(fmt::format("'{}' takes negative time on rank {}", operation.name, rank));
        }
    }
}

void check_collective(const Operation& operation, const Program& program) {
    const CollectiveOperation& collective = operation.collective();
    if (collective.partition.index() >= program.partitions.size()) {
        reject(fmt::format("'{}' names a partition that does not exist", operation.name));
    }
    if (collective.size < Bytes(0)) {
        reject(fmt::format("'{}' has a negative size", operation.name));
    }
    if (collective.completion_delay < Time(0)) {
        reject(fmt::format("'{}' has a negative completion delay", operation.name));
    }
}

}  // namespace

std::string_view to_string(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::kAllReduce:
            return "all_reduce";
        case CollectiveKind::kReduceScatter:
            return "reduce_scatter";
        case CollectiveKind::kAllGather:
            return "all_gather";
        case CollectiveKind::kAllToAll:
            return "all_to_all";
    }
    ASTROLABE_ASSERT(false, "every collective kind has a name");
}

Partition Partition::world(std::size_t ranks) {
    Partition partition{.name = "world", .groups = {{}}};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        partition.groups.front().emplace_back(rank);
    }
    return partition;
}

void Program::check() const {
    if (ranks == 0) {
        reject("no ranks");
    }
    if (iterations < 0) {
        reject("a negative number of iterations");
    }
    for (const Partition& partition : partitions) {
        check_partition(partition, ranks);
    }
    std::set<std::pair<int, std::string_view>> names;
    for (std::size_t index = 0; index < operations.size(); ++index) {
        const Operation& operation = operations[OperationId(index)];
        if (!names.emplace(operation.iteration, operation.name).second) {
            reject(fmt::format("'{}' appears twice in iteration {}", operation.name, operation.iteration));
        }
        if (operation.iteration < 0 || operation.iteration >= iterations) {
            reject(fmt::format("'{}' belongs to iteration {} of {}", operation.name, operation.iteration,
                               iterations));
        }
        for (const OperationId dependency : operation.dependencies) {
            if (dependency.index() >= index) {
                reject(fmt::format("'{}' depends on operation {}, which is not before it ({})",
                                   operation.name, dependency.index(), index));
            }
        }
        if (operation.is_compute()) {
            check_compute(operation, ranks);
        } else {
            check_collective(operation, *this);
        }
    }
}

}  // namespace astrolabe::system
