#include "joint_order.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace astrolabe::workload {
namespace {

/// Mixes values into 64 bits; order counts.
class Mix {
public:
    void add(std::uint64_t value) {
        state_ = (state_ ^ value) * 0xff51afd7ed558ccdULL;
        state_ ^= state_ >> 32;
        state_ = (state_ + 0x9e3779b97f4a7c15ULL) * 0xc4ceb9fe1a85ec53ULL;
        state_ ^= state_ >> 29;
    }
    [[nodiscard]] std::uint64_t value() const { return state_; }

private:
    std::uint64_t state_ = 0x243f6a8885a308d3ULL;
};

/// What a rank's list looks like without its peers.
std::uint64_t own_colour(const RankGraph& rank, const RankGraphs& graphs) {
    Mix mix;
    for (std::size_t i = 0; i < rank.tasks.size(); ++i) {
        const RankTask& task = rank.tasks[i];
        mix.add(static_cast<std::uint64_t>(task.kind));
        mix.add(static_cast<std::uint64_t>(task.iteration));
        if (task.kind == TaskKind::kCompute) {
            mix.add(task.stream);
        } else if (task.kind == TaskKind::kCollective) {
            mix.add(static_cast<std::uint64_t>(task.collective));
            mix.add(graphs.groups[task.group].size());
        }
        const std::span<const std::uint32_t> dependencies = rank.dependencies(i);
        mix.add(dependencies.size());
        for (const std::uint32_t dependency : dependencies) {
            mix.add(dependency);
        }
    }
    return mix.value();
}

std::size_t distinct(const std::vector<std::uint64_t>& colours) {
    return std::unordered_set<std::uint64_t>(colours.begin(), colours.end()).size();
}

bool are_alike(const RankGraph& one, const RankGraph& other) {
    if (one.tasks.size() != other.tasks.size()) {
        return false;
    }
    for (std::size_t i = 0; i < one.tasks.size(); ++i) {
        const RankTask& a = one.tasks[i];
        const RankTask& b = other.tasks[i];
        if (a.kind != b.kind || a.iteration != b.iteration ||
            (a.kind == TaskKind::kCompute && a.stream != b.stream) ||
            (a.kind == TaskKind::kCollective && a.collective != b.collective) ||
            !std::ranges::equal(one.dependencies(i), other.dependencies(i))) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::vector<std::uint32_t> classes_of_ranks(const RankGraphs& graphs, const Matches& matches) {
    const std::size_t ranks = graphs.ranks.size();
    std::vector<std::uint64_t> colours(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        colours[rank] = own_colour(graphs.ranks[rank], graphs);
    }
    std::vector<std::uint64_t> of_collective(matches.collectives.size());
    for (std::size_t known = 0, now = distinct(colours); known != now && now < ranks;) {
        known = now;
        for (std::size_t i = 0; i < matches.collectives.size(); ++i) {
            const std::vector<system::RankId>& group = graphs.groups[matches.collectives[i].group];
            const std::span<const std::uint32_t> tasks = matches.tasks_of(matches.collectives[i], graphs);
            Mix mix;
            for (std::size_t position = 0; position < group.size(); ++position) {
                mix.add(colours[group[position].index()]);
                mix.add(tasks[position]);
            }
            of_collective[i] = mix.value();
        }
        std::vector<std::uint64_t> next(ranks);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            Mix mix;
            mix.add(colours[rank]);
            const std::vector<RankTask>& tasks = graphs.ranks[rank].tasks;
            for (std::uint32_t i = 0; i < tasks.size(); ++i) {
                const std::uint32_t partner = matches.partner[matches.number({rank, i})];
                if (tasks[i].kind == TaskKind::kCollective) {
                    mix.add(of_collective[partner]);
                } else if (tasks[i].kind != TaskKind::kCompute) {
                    const std::uint32_t peer = tasks[i].peer;
                    mix.add(colours[peer]);
                    mix.add(partner - matches.offsets[peer]);
                }
            }
            next[rank] = mix.value();
        }
        colours = std::move(next);
        now = distinct(colours);
    }

    // A class is one colour, and its lists are compared once more: colours are hashes.
    std::unordered_map<std::uint64_t, std::uint32_t> class_of_colour;
    std::vector<std::uint32_t> first_of_class;
    std::vector<std::uint32_t> classes(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto [found, is_new] =
            class_of_colour.try_emplace(colours[rank], static_cast<std::uint32_t>(first_of_class.size()));
        classes[rank] = found->second;
        if (is_new || !are_alike(graphs.ranks[first_of_class[found->second]], graphs.ranks[rank])) {
            classes[rank] = static_cast<std::uint32_t>(first_of_class.size());
            first_of_class.push_back(rank);
        }
    }
    return classes;
}

}  // namespace astrolabe::workload
