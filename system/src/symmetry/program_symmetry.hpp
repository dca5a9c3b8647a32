/// Whether maps of ranks leave a program as it is (folding.hpp).
#pragma once

#include "../program/operation_kinds.hpp"
#include "../schedule/schedules.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/network/folding.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system {

class ProgramSymmetry {
public:
    /// Both must outlive it.
    ProgramSymmetry(const Program& program, const SystemOptions& options);

    /// Why two notifications of one instant may not commute in a way that the executor does not watch
    /// (tie_watch.hpp), so that no folding holds; nothing if all commute. O(pairs) for uneven all_to_alls.
    [[nodiscard]] std::optional<std::string> order_dependence() const;
    /// Why ranks of one class differ, or nothing if none do. Precondition: no order_dependence().
    [[nodiscard]] std::optional<std::string> asymmetry(const network::Folding& folding);
    /// The pairs in which representatives send; all pairs where the list would be long. Precondition: no
    /// asymmetry.
    [[nodiscard]] network::RankPairs pairs(const network::Folding& folding);

private:
    /// Where a map takes the positions of a group.
    struct PositionMap {
        std::size_t group = 0;        // the image
        std::vector<Position> image;  // of each position
        bool is_identity = true;
        bool is_rotation = true;
        bool is_exclusive_or = true;
    };
    struct Places {
        std::vector<std::size_t> group;  // by rank
        std::vector<Position> position;
    };
    using Maps = std::vector<PositionMap>;  // by group

    [[nodiscard]] const std::vector<std::vector<RankId>>& groups(PartitionId partition) const {
        return program_.partitions[partition].groups;
    }
    [[nodiscard]] const std::string& name_of(std::size_t kind) const;
    [[nodiscard]] std::optional<std::string> compute_asymmetry(const network::Folding& folding) const;
    [[nodiscard]] std::optional<std::string> group_asymmetry(PartitionId partition,
                                                             const network::Folding& folding) const;
    [[nodiscard]] std::optional<Maps> maps_of(PartitionId partition, const network::Folding& folding,
                                              std::size_t generator) const;
    [[nodiscard]] std::optional<PositionMap> map_of(PartitionId partition, std::size_t group,
                                                    const network::Folding& folding,
                                                    std::size_t generator) const;
    [[nodiscard]] std::optional<std::string> collective_asymmetry(std::size_t kind, const Maps& maps);
    /// Schedules of the kind's chunks in a group, each once, by variant.
    [[nodiscard]] std::vector<const CollectiveSchedule*> schedules_of(const CollectiveOperation& work,
                                                                      std::size_t group);
    [[nodiscard]] bool carries(const CollectiveSchedule& schedule, const PositionMap& map);

    const Program& program_;
    const SystemOptions& options_;
    Schedules schedules_;
    Kinds kinds_;
    std::map<PartitionId, Places> places_;  // of the partitions that collectives use
    std::map<std::pair<const CollectiveSchedule*, std::vector<Position>>, bool> carried_;
};

}  // namespace astrolabe::system
