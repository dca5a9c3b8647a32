#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::system {

namespace {

/// Which ranks of a partition's groups.
enum class Members : std::uint8_t { kEvery, kFirst, kSecond };

std::vector<RankId> ranks_of(const Partition& partition, Members which) {
    std::vector<RankId> ranks;
    for (const std::vector<RankId>& group : partition.groups) {
        if (which == Members::kEvery) {
            ranks.insert(ranks.end(), group.begin(), group.end());
        } else {
            ranks.push_back(which == Members::kFirst ? group.front() : group.back());
        }
    }
    std::ranges::sort(ranks);
    return ranks;
}

}  // namespace

Participants::Participants(const Program& program)
    : ranks_(program.ranks) {
    std::map<RankSetId, std::uint32_t> sets;
    std::map<std::pair<PartitionId, Members>, std::uint32_t> partitions;
    const auto number_of = [this](std::vector<RankId> ranks) {
        if (ranks.size() == ranks_) {
            return kAll;
        }
        lists_.push_back(std::move(ranks));
        return static_cast<std::uint32_t>(lists_.size() - 1);
    };
    const auto of_partition = [&](PartitionId partition, Members which) {
        const auto [entry, is_new] = partitions.try_emplace({partition, which}, kAll);
        if (is_new) {
            entry->second = number_of(ranks_of(program.partitions[partition], which));
        }
        return entry->second;
    };
    list_of_.reserve(program.operations.size());
    for (const Operation& operation : program.operations) {
        std::uint32_t list = kAll;
        if (operation.is_compute()) {
            if (const std::optional<RankSetId> set = operation.compute().ranks) {
                const auto [entry, is_new] = sets.try_emplace(*set, kAll);
                if (is_new) {
                    entry->second = number_of(program.rank_sets[*set]);
                }
                list = entry->second;
            }
        } else if (operation.is_collective()) {
            const CollectiveOperation& work = operation.collective();
            list = of_partition(work.partition, work.is_one_sided ? Members::kFirst : Members::kEvery);
        } else {
            const Operation& send = program.operations[operation.receive().send];
            list = of_partition(send.collective().partition, Members::kSecond);
        }
        list_of_.push_back(list);
        is_spmd_ = is_spmd_ && list == kAll;
        total_ += list == kAll ? ranks_ : lists_[list].size();
    }
}

std::optional<std::size_t> Participants::place(OperationId operation, RankId rank) const {
    if (are_all(operation)) {
        return rank.index();
    }
    const std::vector<RankId>& ranks = list(operation);
    const auto found = std::ranges::lower_bound(ranks, rank);
    return found != ranks.end() && *found == rank
               ? std::optional(static_cast<std::size_t>(found - ranks.begin()))
               : std::nullopt;
}

bool Participants::overlap(OperationId first, OperationId second) const {
    if (are_all(first) || are_all(second) || list_of_[first] == list_of_[second]) {
        return true;
    }
    const bool is_first_smaller = count(first) < count(second);
    const OperationId other = is_first_smaller ? second : first;
    return std::ranges::any_of(list(is_first_smaller ? first : second),
                               [&](RankId rank) { return include(other, rank); });
}

}  // namespace astrolabe::system
