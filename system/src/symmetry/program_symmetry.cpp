#include "program_symmetry.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/program/characterisation.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::system {

namespace {

/// Beyond this many pairs in all classes, it is as quick to check all pairs.
constexpr std::size_t kListedPairs = std::size_t{1} << 17;

/// Whether the program of `map[rank]` is that of `rank` with peers, and blocks where they may differ, mapped.
bool is_mapped(const CollectiveSchedule& schedule, const std::vector<Position>& map, Position rank) {
    const bool has_pairs = schedule.kind() == CollectiveKind::kAllToAll;
    const Position image = map[rank];
    const RankProgram& own = schedule.program(rank);
    const RankProgram& other = schedule.program(image);
    const auto blocks_match = [&](const Action& a, const Action& b) {
        const auto first = own.blocks_of(a);
        const auto second = other.blocks_of(b);
        return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                          [&](BlockReference x, BlockReference y) {
                              const std::uint64_t from = schedule.resolve(rank, x);
                              const std::uint64_t to = schedule.resolve(image, y);
                              const std::uint64_t columns = schedule.columns();
                              return map[from / columns] == to / columns &&
                                     map[schedule.owner(from % columns)] == schedule.owner(to % columns) &&
                                     from % schedule.parts() == to % schedule.parts();
                          });
    };
    return std::equal(own.actions.begin(), own.actions.end(), other.actions.begin(), other.actions.end(),
                      [&](const Action& a, const Action& b) {
                          return a.kind == b.kind && a.stage == b.stage && a.match == b.match &&
                                 a.block_count == b.block_count &&
                                 map[schedule.resolve(rank, a.peer)] == schedule.resolve(image, b.peer) &&
                                 std::ranges::equal(own.dependencies_of(a), other.dependencies_of(b)) &&
                                 (!has_pairs || blocks_match(a, b));
                      });
}

/// Sizes mostly differ by source or by destination, so neighbours show most differences: O(N), not O(N²).
bool have_equal_sizes(const PairSizes& sizes, const PairSizes& image, const std::vector<Position>& map) {
    const std::size_t n = map.size();
    for (std::size_t distance = 1; distance <= n; ++distance) {
        for (std::size_t source = 0; source < n; ++source) {
            const std::size_t destination = (source + distance) % n;
            if (sizes(source, destination) != image(map[source], map[destination])) {
                return false;
            }
        }
    }
    return true;
}

/// Of a chunk, between different positions.
bool has_empty_messages(const PairSizes& sizes, std::uint32_t chunks) {
    for (std::size_t source = 0; source < sizes.positions(); ++source) {
        for (std::size_t destination = 0; destination < sizes.positions(); ++destination) {
            if (source != destination && sizes(source, destination) < Bytes(chunks)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

ProgramSymmetry::ProgramSymmetry(const Program& program, const SystemOptions& options)
    : program_(program),
      options_(options),
      schedules_(options),
      kinds_(kinds_of(program)) {
    for (const CollectiveOperation* work : kinds_.examples) {
        const auto [entry, is_new] = places_.try_emplace(work->partition);
        if (!is_new) {
            continue;
        }
        Places& places = entry->second;
        places.group.resize(program.ranks);
        places.position.resize(program.ranks);
        for (std::size_t group = 0; group < groups(work->partition).size(); ++group) {
            const std::vector<RankId>& ranks = groups(work->partition)[group];
            for (Position position = 0; position < ranks.size(); ++position) {
                places.group[ranks[position].index()] = group;
                places.position[ranks[position].index()] = position;
            }
        }
    }
}

const std::string& ProgramSymmetry::name_of(std::size_t kind) const {
    const auto first = std::ranges::find(kinds_.kind_of, kind + 1);
    return program_.operations[OperationId(static_cast<std::size_t>(first - kinds_.kind_of.begin()))].name;
}

std::optional<std::string> ProgramSymmetry::asymmetry(const network::Folding& folding) {
    if (auto reason = compute_asymmetry(folding)) {
        return reason;
    }
    for (const auto& [partition, places] : places_) {
        if (auto reason = group_asymmetry(partition, folding)) {
            return reason;
        }
    }
    for (const std::size_t generator : folding.generators()) {
        std::map<PartitionId, Maps> maps;
        for (const auto& [partition, places] : places_) {
            auto found = maps_of(partition, folding, generator);
            if (!found) {
                return fmt::format("groups of ranks ('{}') do not change places when rank 0 becomes rank {}",
                                   program_.partitions[partition].name, folding.image(0, generator));
            }
            maps.emplace(partition, *std::move(found));
        }
        for (std::size_t kind = 0; kind < kinds_.examples.size(); ++kind) {
            if (auto reason = collective_asymmetry(kind, maps.at(kinds_.examples[kind]->partition))) {
                return reason;
            }
        }
    }
    return std::nullopt;
}

std::optional<std::string> ProgramSymmetry::order_dependence() const {
    if (!Participants(program_).is_spmd()) {
        return "ranks have operations of their own";
    }
    const EndPoint& end_point = options_.end_point;
    if (end_point.copy_engine == CopyEngine::kSerial && end_point.injection_latency > Time(0)) {
        return "a copy engine takes messages that are ready at one instant in the order of notifications";
    }
    if (options_.active_chunks_per_dimension) {
        return "slots in a dimension go to stages in the order of notifications";
    }
    if (options_.start_order == StartOrder::kIndependent) {
        return "ranks that start chunks in orders of their own do so in the order of notifications";
    }
    if (program_.compute_order == ComputeOrder::kFirstCome) {
        return "of computations that become ready at one instant the first to be notified starts";
    }
    for (std::size_t kind = 0; kind < kinds_.examples.size(); ++kind) {
        const CollectiveOperation& work = *kinds_.examples[kind];
        if (work.is_uneven() && std::ranges::any_of(*work.pair_sizes, [&](const PairSizes& sizes) {
                return has_empty_messages(sizes, chunk_count(work, options_));
            })) {
            return fmt::format("messages without bytes of '{}' arrive when others are notified",
                               name_of(kind));
        }
    }
    return std::nullopt;
}

std::optional<std::string> ProgramSymmetry::compute_asymmetry(const network::Folding& folding) const {
    for (const Operation& operation : program_.operations) {
        if (!operation.is_compute() || operation.compute().duration.uniform()) {
            continue;
        }
        const PerRank<Time>& duration = operation.compute().duration;
        for (std::size_t rank = folding.representatives; rank < program_.ranks; ++rank) {
            const std::size_t representative = rank % folding.representatives;
            if (duration[RankId(rank)] != duration[RankId(representative)]) {
                return fmt::format("'{}' takes {} on rank {} and {} on rank {}", operation.name,
                                   astrolabe::to_string(duration[RankId(representative)]), representative,
                                   astrolabe::to_string(duration[RankId(rank)]), rank);
            }
        }
    }
    return std::nullopt;
}

std::optional<std::string> ProgramSymmetry::group_asymmetry(PartitionId partition,
                                                            const network::Folding& folding) const {
    for (const std::vector<RankId>& group : groups(partition)) {
        const auto is_representative = [&](RankId rank) { return rank.index() < folding.representatives; };
        const auto representatives =
            static_cast<std::size_t>(std::ranges::count_if(group, is_representative));
        if (representatives == 0) {
            continue;
        }
        bool is_first = std::all_of(
            group.begin(), group.begin() + static_cast<std::ptrdiff_t>(representatives), is_representative);
        for (std::size_t position = representatives; is_first && position < group.size(); ++position) {
            is_first = group[position].index() % folding.representatives ==
                       group[position % representatives].index();
        }
        if (!is_first) {
            return fmt::format("ranks of a group ('{}') do not repeat every {} ranks",
                               program_.partitions[partition].name, folding.representatives);
        }
    }
    return std::nullopt;
}

std::optional<ProgramSymmetry::Maps> ProgramSymmetry::maps_of(PartitionId partition,
                                                              const network::Folding& folding,
                                                              std::size_t generator) const {
    Maps maps;
    for (std::size_t group = 0; group < groups(partition).size(); ++group) {
        auto map = map_of(partition, group, folding, generator);
        if (!map) {
            return std::nullopt;
        }
        maps.push_back(*std::move(map));
    }
    return maps;
}

std::optional<ProgramSymmetry::PositionMap> ProgramSymmetry::map_of(PartitionId partition, std::size_t group,
                                                                    const network::Folding& folding,
                                                                    std::size_t generator) const {
    const std::vector<RankId>& ranks = groups(partition)[group];
    const Places& places = places_.at(partition);
    PositionMap map;
    map.group = places.group[folding.image(ranks.front().index(), generator)];
    const std::vector<RankId>& images = groups(partition)[map.group];
    if (images.size() != ranks.size() || group_shape(images, options_) != group_shape(ranks, options_)) {
        return std::nullopt;
    }
    const auto size = static_cast<Position>(ranks.size());
    for (Position position = 0; position < size; ++position) {
        const std::size_t image = folding.image(ranks[position].index(), generator);
        if (places.group[image] != map.group) {
            return std::nullopt;
        }
        const Position to = places.position[image];
        map.image.push_back(to);
        map.is_identity = map.is_identity && to == position;
        map.is_rotation = map.is_rotation && to == (map.image.front() + position) % size;
        map.is_exclusive_or = map.is_exclusive_or && to == (map.image.front() ^ position);
    }
    return map;
}

std::vector<const CollectiveSchedule*> ProgramSymmetry::schedules_of(const CollectiveOperation& work,
                                                                     std::size_t group) {
    const Shape shape = group_shape(groups(work.partition)[group], options_);
    const std::vector<unsigned> sequence =
        schedules_.algorithm(work).variant_sequence(work.kind, shape, chunk_count(work, options_));
    std::vector<const CollectiveSchedule*> schedules;
    for (const unsigned variant : std::set<unsigned>(sequence.begin(), sequence.end())) {
        schedules.push_back(&schedules_.of(work, shape, variant));
    }
    return schedules;
}

std::optional<std::string> ProgramSymmetry::collective_asymmetry(std::size_t kind, const Maps& maps) {
    const CollectiveOperation& work = *kinds_.examples[kind];
    const std::uint32_t chunks = chunk_count(work, options_);
    for (std::size_t group = 0; group < maps.size(); ++group) {
        const PositionMap& map = maps[group];
        if (work.moves_nothing(map.image.size())) {
            continue;
        }
        const bool is_in_place = map.is_identity && map.group == group;
        if (work.is_uneven() && !is_in_place &&
            !have_equal_sizes((*work.pair_sizes)[group], (*work.pair_sizes)[map.group], map.image)) {
            return fmt::format("ranks have unequal bytes for one another in '{}'", name_of(kind));
        }
        if (map.is_identity) {
            continue;
        }
        if (has_root(work.kind)) {
            return fmt::format("one rank is the root of '{}'", name_of(kind));
        }
        for (const CollectiveSchedule* schedule : schedules_of(work, group)) {
            for (const std::uint32_t chunk : {std::uint32_t{0}, chunks - 1}) {
                const Bytes size = part_size(work.size, chunks, chunk);
                if (!work.is_uneven() && !blocks_are_equal(*schedule, size)) {
                    return fmt::format("a chunk of '{}' has {} bytes, which do not make {} equal blocks",
                                       name_of(kind), size.count(), schedule->block_count());
                }
            }
            if (!carries(*schedule, map)) {
                return fmt::format("the schedule of '{}' is not the same from every rank", name_of(kind));
            }
        }
    }
    return std::nullopt;
}

bool ProgramSymmetry::carries(const CollectiveSchedule& schedule, const PositionMap& map) {
    if (schedule.symmetry() == Symmetry::kRotation) {
        return map.is_rotation;
    }
    if (schedule.symmetry() == Symmetry::kExclusiveOr) {
        return map.is_exclusive_or;
    }
    const auto [entry, is_new] = carried_.try_emplace({&schedule, map.image}, true);
    if (is_new) {
        for (Position rank = 0; rank < schedule.ranks() && entry->second; ++rank) {
            entry->second = is_mapped(schedule, map.image, rank);
        }
    }
    return entry->second;
}

network::RankPairs ProgramSymmetry::pairs(const network::Folding& folding) {
    // Both ends of a message, as requests of rendezvous go back.
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const CollectiveOperation* work : kinds_.examples) {
        for (std::size_t group = 0; group < groups(work->partition).size(); ++group) {
            const std::vector<RankId>& ranks = groups(work->partition)[group];
            if (work->moves_nothing(ranks.size()) || ranks.front().index() >= folding.representatives) {
                continue;
            }
            for (const CollectiveSchedule* schedule : schedules_of(*work, group)) {
                for (Position from = 0; from < ranks.size() && ranks[from].index() < folding.representatives;
                     ++from) {
                    for (const Action& action : schedule->program(from).actions) {
                        const Position to = schedule->resolve(from, action.peer);
                        pairs.emplace(ranks[from].index(), ranks[to].index());
                        if (pairs.size() > kListedPairs / folding.class_size()) {
                            return std::nullopt;
                        }
                    }
                }
            }
        }
    }
    return std::vector(pairs.begin(), pairs.end());
}

}  // namespace astrolabe::system
