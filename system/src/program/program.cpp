#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/system/program/participants.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

namespace {

[[noreturn]] void reject(const std::string& message) {
    throw std::logic_error("program: " + message);
}

void check_partition(const Partition& partition, std::size_t ranks) {
    std::vector<bool> seen(ranks, false);
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
        }
    }
}

void check_rank_set(const std::vector<RankId>& set, std::size_t ranks) {
    if (set.empty()) {
        reject("a set of ranks is empty");
    }
    if (set.back().index() >= ranks) {
        reject(fmt::format("a set of ranks names rank {} of {}", set.back().index(), ranks));
    }
    if (std::ranges::adjacent_find(set, std::greater_equal<>()) != set.end()) {
        reject("a set of ranks is not in ascending order");
    }
}

void check_streams(const Program& program) {
    if (program.streams.empty()) {
        reject("no streams");
    }
    if (std::set<std::string_view>(program.streams.begin(), program.streams.end()).size() !=
        program.streams.size()) {
        reject("two streams have the same name");
    }
    if (program.compute_order == ComputeOrder::kFirstCome && program.streams.size() > 1) {
        reject(fmt::format("{} streams in first-come order, which is one stream's", program.streams.size()));
    }
}

void check_contended(const Operation& operation, std::size_t ranks) {
    const PerRank<Time>& duration = operation.compute().duration;
    const PerRank<Time>& contended = *operation.compute().contended;
    if (!contended.uniform() && contended.size() != ranks) {
        reject(fmt::format("'{}' has {} contended durations for {} ranks", operation.name, contended.size(),
                           ranks));
    }
    const bool is_one = duration.uniform() && contended.uniform();
    for (std::size_t rank = 0; rank < (is_one ? 1 : ranks); ++rank) {
        if (contended[RankId(rank)] < duration[RankId(rank)]) {
            reject(fmt::format("'{}' is faster beside collectives on rank {}", operation.name, rank));
        }
    }
}

void check_compute(const Operation& operation, const Program& program) {
    const std::size_t ranks = program.ranks;
    const PerRank<Time>& duration = operation.compute().duration;
    if (operation.compute().stream >= program.streams.size()) {
        reject(fmt::format("'{}' runs on stream {} of {}", operation.name, operation.compute().stream,
                           program.streams.size()));
    }
    if (operation.compute().ranks && operation.compute().ranks->index() >= program.rank_sets.size()) {
        reject(fmt::format("'{}' names a set of ranks that does not exist", operation.name));
    }
    if (!duration.uniform() && duration.size() != ranks) {
        reject(fmt::format("'{}' has {} durations for {} ranks", operation.name, duration.size(), ranks));
    }
    for (std::size_t rank = 0; rank < (duration.uniform() ? 1 : ranks); ++rank) {
        if (duration[RankId(rank)] < Time(0)) {
            reject(fmt::format("'{}' takes negative time on rank {}", operation.name, rank));
        }
    }
    if (operation.compute().contended) {
        check_contended(operation, ranks);
    }
}

void check_pair_sizes(const Operation& operation, const Partition& partition) {
    const CollectiveOperation& collective = operation.collective();
    const std::vector<PairSizes>& pair_sizes = *collective.pair_sizes;
    if (collective.kind != CollectiveKind::kAllToAll) {
        reject(fmt::format("'{}' is no all_to_all and has sizes by pair", operation.name));
    }
    if (pair_sizes.size() != partition.groups.size()) {
        reject(fmt::format("'{}' has sizes by pair for {} of {} groups", operation.name, pair_sizes.size(),
                           partition.groups.size()));
    }
    Bytes largest;
    for (std::size_t group = 0; group < pair_sizes.size(); ++group) {
        if (pair_sizes[group].positions() != partition.groups[group].size()) {
            reject(fmt::format("'{}' has sizes by pair of {} ranks for a group of {}", operation.name,
                               pair_sizes[group].positions(), partition.groups[group].size()));
        }
        largest = std::max(largest, pair_sizes[group].largest_held());
    }
    if (collective.size != largest) {
        reject(fmt::format("'{}' has size {} where a rank holds up to {} bytes", operation.name,
                           collective.size.count(), largest.count()));
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
    if (program.partitions[collective.partition].groups.empty()) {
        reject(fmt::format("'{}' is a collective of no ranks", operation.name));
    }
    if (collective.is_one_sided && collective.kind != CollectiveKind::kPointToPoint) {
        reject(fmt::format("'{}' is one-sided and no point_to_point", operation.name));
    }
    if (collective.kind == CollectiveKind::kPointToPoint) {
        for (const std::vector<RankId>& group : program.partitions[collective.partition].groups) {
            if (group.size() > 2 || (collective.is_one_sided && group.size() < 2)) {
                reject(fmt::format("'{}' is point_to_point in a group of {}", operation.name, group.size()));
            }
        }
    }
    if (collective.is_uneven()) {
        check_pair_sizes(operation, program.partitions[collective.partition]);
    }
    if (collective.completion_delay < Time(0) || collective.least_duration < Time(0)) {
        reject(fmt::format("'{}' has a negative completion delay or least duration", operation.name));
    }
}

/// Of operation `index`. `is_received` says by operation whether an earlier one receives it.
void check_receive(const Program& program, std::size_t index, std::vector<bool>& is_received) {
    const Operation& operation = program.operations[OperationId(index)];
    const std::size_t send = operation.receive().send.index();
    if (send >= index) {
        reject(fmt::format("'{}' receives operation {}, which is not before it ({})", operation.name, send,
                           index));
    }
    const Operation& sent = program.operations[OperationId(send)];
    if (!sent.is_collective() || !sent.collective().is_one_sided) {
        reject(fmt::format("'{}' receives '{}', which is no one-sided point_to_point", operation.name,
                           sent.name));
    }
    if (is_received[send]) {
        reject(fmt::format("'{}' is received twice", sent.name));
    }
    is_received[send] = true;
}

void check_all_received(const Program& program, const std::vector<bool>& is_received) {
    for (std::size_t index = 0; index < program.operations.size(); ++index) {
        const Operation& operation = program.operations[OperationId(index)];
        if (operation.is_collective() && operation.collective().is_one_sided && !is_received[index]) {
            reject(fmt::format("'{}' is one-sided and nothing receives it", operation.name));
        }
    }
}

void check_dependencies_are_local(const Program& program) {
    const Participants participants(program);
    if (participants.is_spmd()) {
        return;
    }
    for (std::size_t index = 0; index < program.operations.size(); ++index) {
        const OperationId id(index);
        for (const OperationId dependency : program.operations[id].dependencies) {
            if (!participants.overlap(id, dependency)) {
                reject(fmt::format("'{}' depends on '{}', and no rank takes part in both",
                                   program.operations[id].name, program.operations[dependency].name));
            }
        }
    }
}

}  // namespace

PairSizes::PairSizes(std::size_t positions, std::size_t source_stride, std::size_t destination_stride,
                     std::vector<Bytes> bytes)
    : positions_(positions),
      source_stride_(source_stride),
      destination_stride_(destination_stride),
      bytes_(std::move(bytes)) {
    ASTROLABE_ASSERT(positions_ > 0 && std::ranges::all_of(bytes_, [](Bytes b) { return b >= Bytes(0); }),
                     "pairs have sizes that are not negative");
}

PairSizes PairSizes::by_source(std::vector<Bytes> from) {
    const std::size_t positions = from.size();
    return {positions, 1, 0, std::move(from)};
}

PairSizes PairSizes::by_destination(std::vector<Bytes> to) {
    const std::size_t positions = to.size();
    return {positions, 0, 1, std::move(to)};
}

PairSizes PairSizes::of_pairs(std::size_t positions, std::vector<Bytes> bytes) {
    ASTROLABE_ASSERT(bytes.size() == positions * positions, "every ordered pair has a size");
    return {positions, positions, 1, std::move(bytes)};
}

Bytes PairSizes::held(std::size_t source) const {
    Bytes sum;
    for (std::size_t destination = 0; destination < positions_; ++destination) {
        sum += (*this)(source, destination);
    }
    return sum;
}

Bytes PairSizes::received(std::size_t destination) const {
    Bytes sum;
    for (std::size_t source = 0; source < positions_; ++source) {
        sum += (*this)(source, destination);
    }
    return sum;
}

Bytes PairSizes::largest_held() const {
    Bytes largest;
    for (std::size_t source = 0; source < positions_; ++source) {
        largest = std::max(largest, held(source));
    }
    return largest;
}

Bytes PairSizes::crossing() const {
    Bytes sum;
    for (std::size_t source = 0; source < positions_; ++source) {
        sum += held(source) - (*this)(source, source);
    }
    return sum;
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
    check_streams(*this);
    for (const Partition& partition : partitions) {
        check_partition(partition, ranks);
    }
    for (const std::vector<RankId>& set : rank_sets) {
        check_rank_set(set, ranks);
    }
    std::vector<bool> is_received(operations.size(), false);
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
            check_compute(operation, *this);
        } else if (operation.is_collective()) {
            check_collective(operation, *this);
        } else {
            check_receive(*this, index, is_received);
        }
    }
    check_all_received(*this, is_received);
    check_dependencies_are_local(*this);
}

}  // namespace astrolabe::system
