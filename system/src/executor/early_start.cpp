#include "early_start.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace astrolabe::system::detail {
namespace {

using GroupOfRank = IndexedVector<RankId, std::size_t>;

GroupOfRank group_of_rank(const Partition& partition, std::size_t ranks) {
    GroupOfRank group_of(ranks);
    for (std::size_t group = 0; group < partition.groups.size(); ++group) {
        for (const RankId rank : partition.groups[group]) {
            group_of[rank] = group;
        }
    }
    return group_of;
}

bool are_nested(const Partition& first, const Partition& second, std::size_t ranks) {
    const GroupOfRank group_of_first = group_of_rank(first, ranks);
    const GroupOfRank group_of_second = group_of_rank(second, ranks);
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> common;  // ranks of a group of each
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        ++common[{group_of_first[RankId(rank)], group_of_second[RankId(rank)]}];
    }
    return std::ranges::all_of(common, [&](const auto& entry) {
        const auto& [groups, shared] = entry;
        return shared == first.groups[groups.first].size() || shared == second.groups[groups.second].size();
    });
}

}  // namespace

bool may_start_early(const Program& program, const Participants& participants) {
    if (!participants.is_spmd()) {
        return false;
    }
    std::set<PartitionId> used;
    bool has_rooted = false;
    for (const Operation& operation : program.operations) {
        if (operation.is_collective()) {
            used.insert(operation.collective().partition);
            has_rooted = has_rooted || has_root(operation.collective().kind);
        }
    }
    if (has_rooted && used.size() > 1) {
        return false;
    }
    for (auto first = used.begin(); first != used.end(); ++first) {
        for (auto second = std::next(first); second != used.end(); ++second) {
            if (!are_nested(program.partitions[*first], program.partitions[*second], program.ranks)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace astrolabe::system::detail
