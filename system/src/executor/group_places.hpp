/// Where ranks are in the groups of a partition.
///
/// Memory: 8 bytes for every rank of the program where the partition holds all of them, else 12 for every
/// rank that it holds; a look-up is O(1), else O(log ranks held).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <astrolabe/system/program/program.hpp>
#include <astrolabe/system/schedule/shape.hpp>

namespace astrolabe::system::detail {

struct GroupPlace {
    std::uint32_t group = 0;
    Position position = 0;
};

class GroupPlaces {
public:
    /// Of a program of `ranks` ranks.
    GroupPlaces(const Partition& partition, std::size_t ranks) {
        std::vector<std::pair<RankId, GroupPlace>> held;
        for (std::uint32_t group = 0; group < partition.groups.size(); ++group) {
            for (Position position = 0; position < partition.groups[group].size(); ++position) {
                held.push_back({partition.groups[group][position], {group, position}});
            }
        }
        std::ranges::sort(held, {}, &std::pair<RankId, GroupPlace>::first);
        for (const auto& [rank, place] : held) {
            places_.push_back(place);
            if (held.size() < ranks) {
                held_.push_back(rank);
            }
        }
    }

    /// None: the rank is in no group.
    [[nodiscard]] std::optional<GroupPlace> find(RankId rank) const {
        if (held_.empty()) {
            return places_[rank.index()];
        }
        const auto found = std::ranges::lower_bound(held_, rank);
        return found != held_.end() && *found == rank
                   ? std::optional(places_[static_cast<std::size_t>(found - held_.begin())])
                   : std::nullopt;
    }

private:
    std::vector<RankId> held_;  // ascending; empty: all ranks
    std::vector<GroupPlace> places_;
};

}  // namespace astrolabe::system::detail
