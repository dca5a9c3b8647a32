#include "collective_work.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <boost/container/flat_set.hpp>

#include <astrolabe/network/routing.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::experiment::wire {
namespace {

constexpr std::size_t kMostEstimatedActions = std::size_t{1}
                                              << 17;  ///< of a schedule whose chains are followed
constexpr std::size_t kMostSampledRanks = 16;         ///< whose paths speak for all, where all send alike
constexpr std::size_t kMostFollowedSends = std::size_t{1} << 16;  ///< that a collective starts with
constexpr std::size_t kMostConnectedRanks = 4096;

/// Whether a host splits what it sends to another over several of its cables.
bool spreads_over_cables(const network::Fabric& fabric, std::size_t ranks, const Placement& placement) {
    if (fabric.routing().load_balancing() != network::LoadBalancing::kSpray) {
        return false;
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (fabric.out_degree(fabric.node_of(placement[rank])) > 1) {
            return true;
        }
    }
    return false;
}

/// Longest chain of messages before every action, and it; by program and action.
std::vector<std::vector<std::uint32_t>> levels_of(const system::CollectiveSchedule& steps) {
    const bool is_alike = steps.symmetry() != system::Symmetry::kNone;
    const Position programs = is_alike ? 1 : steps.ranks();
    std::vector<std::vector<std::uint32_t>> levels(programs);
    for (Position rank = 0; rank < programs; ++rank) {
        levels[rank].assign(steps.program(rank).actions.size(), 0);
    }
    // Programs are lists in an order in which they could run, so few rounds are needed.
    for (bool changes = true; changes;) {
        changes = false;
        for (Position rank = 0; rank < programs; ++rank) {
            const system::RankProgram& program = steps.program(rank);
            std::uint32_t before_stage = 0;
            std::uint32_t so_far = 0;
            for (std::size_t i = 0; i < program.actions.size(); ++i) {
                const Action& action = program.actions[i];
                if (i > 0 && action.stage != program.actions[i - 1].stage) {
                    before_stage = so_far;
                }
                std::uint32_t level = before_stage;
                for (const system::ActionIndex dependency : program.dependencies_of(action)) {
                    level = std::max(level, levels[rank][dependency]);
                }
                if (action.is_send()) {
                    ++level;
                } else {
                    level = std::max(level, levels[is_alike ? 0 : action.peer][action.match]);
                }
                so_far = std::max(so_far, level);
                if (level > levels[rank][i]) {
                    levels[rank][i] = level;
                    changes = true;
                }
            }
        }
    }
    return levels;
}

double message_bytes(const system::CollectiveSchedule& steps, Position rank, const Action& action,
                     const ChunkSchedule& chunk, const system::PairSizes* sizes) {
    if (sizes == nullptr) {
        return chunk.block_bytes * static_cast<double>(action.block_count);
    }
    double bytes = 0;
    for (const system::BlockReference reference : steps.program(rank).blocks_of(action)) {
        const std::uint64_t block = steps.resolve(rank, reference);
        bytes += count_of((*sizes)(block / steps.ranks(), block % steps.ranks()));
    }
    return bytes / static_cast<double>(chunk.chunks);
}

}  // namespace

CollectiveWorks::CollectiveWorks(const Experiment& experiment)
    : experiment_(experiment),
      fabric_(*experiment.fabric),
      traffic_(experiment.program, experiment.cluster.options),
      work_of_(experiment.program.operations.size(), kNone) {
    if (!fabric_.is_static()) {
        omission_ = "circuits of the network come and go";
        return;
    }
    if (!system::Participants(experiment.program).is_spmd()) {
        omission_ = "ranks have operations of their own";
        return;
    }
    const system::SystemOptions& options = experiment.cluster.options;
    loads_ = std::make_unique<ScheduleLoads>(experiment.program, options, fabric_, experiment.placement);
    if (!loads_->omission().empty() || loads_->pairs() > kMostPairs) {
        // Paths are followed pair by pair, also where loads were found without.
        omission_ = loads_->omission().empty() ? too_many_pairs() : loads_->omission();
        return;
    }
    if (spreads_over_cables(fabric_, experiment.program.ranks, experiment.placement)) {
        single_ = std::make_unique<ScheduleLoads>(experiment.program, options, fabric_, experiment.placement,
                                                  network::LoadBalancing::kFlowHash);
    }
    if (experiment.program.ranks <= kMostConnectedRanks) {
        sent_.assign(experiment.program.ranks * experiment.program.ranks, 0);
    }
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        if (experiment.program.operations[OperationId(i)].is_collective()) {
            add(OperationId(i));
        }
    }
    loads_.reset();
    single_.reset();
}

void CollectiveWorks::add(OperationId id) {
    const system::CollectiveOperation& collective = experiment_.program.operations[id].collective();
    const Key key{collective.kind, collective.partition, collective.size,
                  static_cast<const void*>(collective.pair_sizes.get()),
                  static_cast<const void*>(collective.method.get())};
    const auto [known, is_new] = known_.try_emplace(key, static_cast<std::uint32_t>(works_.size()));
    if (!is_new) {
        work_of_[id] = known->second;
        return;
    }
    const std::optional<ChunkSchedule> chunk = loads_->first_chunk(id);
    if (!chunk || traffic_.of(id).messages() == 0) {
        known->second = kNone;
        return;
    }
    work_of_[id] = known->second;
    CollectiveWork& work = works_.emplace_back();
    work.first = id;
    work.links = link_loads(*loads_, id);
    if (single_ != nullptr) {
        has_single_ = true;
        work.single = link_loads(*single_, id);
    }
    const system::OperationTraffic& traffic = traffic_.of(id);
    work.messages = message_groups(traffic);
    work.mean_size = count_of(traffic.bytes()) / static_cast<double>(traffic.messages());
    work.chunks = static_cast<double>(chunk->chunks);
    work.steps = static_cast<double>(std::max<std::uint64_t>(chunk->steps->steps(), 1));
    follow(work, *chunk, collective);
}

std::vector<LinkLoad> CollectiveWorks::link_loads(const ScheduleLoads& loads, OperationId id) const {
    IndexedVector<LinkId, double> bytes(fabric_.link_count(), 0);
    for (const ScheduleLoads::Part& part : loads.of(id)) {
        for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
            bytes[LinkId(i)] += part.units * part.load->links[LinkId(i)];
        }
    }
    std::vector<LinkLoad> found;
    for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
        const std::optional<LinkId> reverse = fabric_.link(LinkId(i)).reverse;
        const double back = reverse ? bytes[*reverse] : 0;
        if (bytes[LinkId(i)] > 0 || back > 0) {
            found.push_back({LinkId(i), bytes[LinkId(i)], back});
        }
    }
    return found;
}

/// Paths of the messages of the first chunk, and which of them are the first of their pair in the run.
void CollectiveWorks::follow(CollectiveWork& work, const ChunkSchedule& chunk,
                             const system::CollectiveOperation& collective) {
    const auto& groups = experiment_.program.partitions[collective.partition].groups;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& ranks) {
        return !collective.moves_nothing(ranks.size());
    });
    const system::CollectiveSchedule& steps = *chunk.steps;
    const bool is_alike = steps.symmetry() != system::Symmetry::kNone;
    const Position programs = is_alike ? 1 : steps.ranks();
    std::size_t actions = 0;
    for (Position rank = 0; rank < programs; ++rank) {
        actions += steps.program(rank).actions.size();
    }
    const bool keeps = actions <= kMostEstimatedActions;
    if (keeps && !collective.is_uneven()) {
        work.schedule = std::make_unique<system::CollectiveSchedule>(steps);
        work.block_bytes = chunk.block_bytes;
    }
    const auto alike = static_cast<double>(chunk.alike);
    std::map<std::pair<Position, Position>, std::uint32_t> numbers;
    double sends = 0;
    double starts = 0;
    for (Position rank = 0; rank < programs; ++rank) {
        const system::RankProgram& program = steps.program(rank);
        std::map<std::uint32_t, PairLoad> to_peer;
        std::vector<bool> starts_to(steps.ranks(), false);
        auto& path_of = work.path_of.emplace_back(program.actions.size(), 0);
        auto& before = work.sent_before.emplace_back(program.actions.size(), kEstablished);
        for (std::size_t i = 0; i < program.actions.size(); ++i) {
            const Action& action = program.actions[i];
            if (!action.is_send()) {
                continue;
            }
            const auto [number, is_unknown] =
                numbers.try_emplace({rank, action.peer}, static_cast<std::uint32_t>(work.paths.size()));
            if (is_unknown) {
                add_path(work, steps, *group, rank, action.peer);
            }
            path_of[i] = number->second;
            work.path += work.paths[number->second];
            work.single_path += has_single_ ? work.single_paths[number->second] : Path{};
            ++sends;
            PairLoad& load = to_peer[number->second];
            load.peer = action.peer;
            load.pair = (*group)[rank].index() * experiment_.program.ranks +
                        (*group)[steps.resolve(rank, action.peer)].index();
            load.path = number->second;
            before[i] = sent_before(load.pair) + load.size * alike;
            work.connects = work.connects || before[i] == 0;
            load.size += chunk.block_bytes * static_cast<double>(action.block_count);
            ++load.messages;
            if (action.dependency_count == 0 && action.stage == 0 && !starts_to[action.peer]) {
                starts_to[action.peer] = true;
                ++starts;
            }
        }
        for (auto& [number, load] : to_peer) {
            add_sent(steps, *group, rank, load.peer, std::max(1.0, load.size * alike));
            load.size /= load.messages;
            load.messages *= alike;
            work.pairs.push_back(load);
        }
    }
    find_bursts(work, steps, collective);
    find_peaks(work, chunk, collective);
    work.path = work.path.over(std::max(sends, 1.0));
    work.single_path = work.single_path.over(std::max(sends, 1.0));
    work.concurrent = std::max(1.0, starts / static_cast<double>(programs));
    if (!keeps) {
        work.path_of.clear();
        work.sent_before.clear();
    }
}

/// Hosts serve the messages that they start with in turn. Where the turn of many comes to one destination at
/// a time, their packets meet.
void CollectiveWorks::find_bursts(CollectiveWork& work, const system::CollectiveSchedule& steps,
                                  const system::CollectiveOperation& collective) const {
    std::map<std::pair<std::size_t, std::size_t>, double> meeting;  // by link and turn
    std::size_t sends = 0;
    for (const auto& group : experiment_.program.partitions[collective.partition].groups) {
        if (group.size() != steps.ranks() || collective.moves_nothing(group.size())) {
            continue;
        }
        for (Position rank = 0; rank < steps.ranks(); ++rank) {
            std::map<std::size_t, std::size_t> turns;  // by link out of the host
            for (const Action& action : steps.program(rank).actions) {
                if (!action.is_send() || action.dependency_count > 0 || action.stage > 0) {
                    continue;
                }
                const HostId destination =
                    experiment_.placement[group[steps.resolve(rank, action.peer)].index()];
                const network::Route route =
                    fabric_.routing().route(experiment_.placement[group[rank].index()], destination);
                const std::size_t turn = turns[route.legs.front().link.index()]++;
                ++meeting[{route.legs.back().link.index(), turn}];
                if (++sends > kMostFollowedSends) {
                    return;
                }
            }
        }
    }
    std::map<std::size_t, double> most;
    for (const auto& [where, senders] : meeting) {
        most[where.first] = std::max(most[where.first], senders);
    }
    for (const auto& [link, senders] : most) {
        work.bursts.push_back({LinkId(link), senders});
    }
}

/// Messages of one level of all chunks in flight leave together.
void CollectiveWorks::find_peaks(CollectiveWork& work, const ChunkSchedule& chunk,
                                 const system::CollectiveOperation& collective) const {
    const system::CollectiveSchedule& steps = *chunk.steps;
    const auto& groups = experiment_.program.partitions[collective.partition].groups;
    if (steps.message_count() * groups.size() > kMostFollowedSends) {
        return;
    }
    struct Meeting {
        double bytes = 0;
        double senders = 0;
        boost::container::flat_set<std::size_t> feeders;  // links that bring what goes on over this one
    };
    const auto levels = levels_of(steps);
    const bool is_alike = steps.symmetry() != system::Symmetry::kNone;
    std::vector<std::unordered_map<std::size_t, Meeting>> by_level;
    std::vector<std::pair<NodeId, std::size_t>> links_to;  // of a route, by the node they lead to
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const auto& group = groups[g];
        if (group.size() != steps.ranks() || collective.moves_nothing(group.size())) {
            continue;
        }
        const system::PairSizes* sizes = collective.is_uneven() ? &(*collective.pair_sizes)[g] : nullptr;
        for (Position rank = 0; rank < steps.ranks(); ++rank) {
            const system::RankProgram& program = steps.program(rank);
            for (std::size_t i = 0; i < program.actions.size(); ++i) {
                const Action& action = program.actions[i];
                if (!action.is_send()) {
                    continue;
                }
                const std::size_t level = levels[is_alike ? 0 : rank][i];
                by_level.resize(std::max(by_level.size(), level + 1));
                const double bytes = message_bytes(steps, rank, action, chunk, sizes);
                const HostId destination =
                    experiment_.placement[group[steps.resolve(rank, action.peer)].index()];
                const network::Route route =
                    fabric_.routing().route(experiment_.placement[group[rank].index()], destination);
                links_to.clear();
                for (const network::RouteLeg& leg : route.legs) {
                    links_to.emplace_back(fabric_.target(leg.link), leg.link.index());
                }
                std::sort(links_to.begin(), links_to.end());
                for (const network::RouteLeg& leg : route.legs) {
                    Meeting& meeting = by_level[level][leg.link.index()];
                    meeting.bytes += bytes * leg.share;
                    meeting.senders += bytes > 0 ? 1 : 0;
                    const NodeId from = fabric_.source(leg.link);
                    for (const auto& [node, link] : std::ranges::equal_range(
                             links_to, from, {}, &std::pair<NodeId, std::size_t>::first)) {
                        meeting.feeders.insert(link);
                    }
                }
            }
        }
    }
    const auto active = static_cast<double>(experiment_.cluster.options.active_chunks);
    const auto chunks = static_cast<double>(chunk.chunks);
    const double at_once = static_cast<double>(chunk.alike) * std::min(1.0, active / chunks);
    std::map<std::size_t, Meeting> most;
    for (const auto& level : by_level) {
        for (const auto& [link, meeting] : level) {
            if (fabric_.node(fabric_.source(LinkId(link))).kind == network::NodeKind::kHost) {
                continue;
            }
            double brought = 0;  // seconds
            for (const std::size_t feeder : meeting.feeders) {
                brought = std::max(brought, level.at(feeder).bytes * byte_seconds(fabric_, LinkId(feeder)));
            }
            const double waiting = at_once * (meeting.bytes - brought / byte_seconds(fabric_, LinkId(link)));
            if (waiting > most[link].bytes) {
                most[link] = {waiting, meeting.senders, {}};
            }
        }
    }
    for (const auto& [link, meeting] : most) {
        if (meeting.bytes > 0) {
            work.peaks.push_back({LinkId(link), meeting.bytes, meeting.senders});
        }
    }
}

/// Mean over those that send alike.
void CollectiveWorks::add_path(CollectiveWork& work, const system::CollectiveSchedule& steps,
                               const std::vector<system::RankId>& ranks, Position rank, Position peer) const {
    const bool is_alike = steps.symmetry() != system::Symmetry::kNone;
    const Position stride =
        is_alike ? static_cast<Position>(1 + (steps.ranks() - 1) / kMostSampledRanks) : steps.ranks();
    Path sum;
    Path single;
    Path longest;
    double count = 0;
    for (Position from = is_alike ? 0 : rank; from < steps.ranks(); from += stride) {
        const HostId source = experiment_.placement[ranks[from].index()];
        const HostId destination = experiment_.placement[ranks[steps.resolve(from, peer)].index()];
        const Path own = path_between(fabric_, source, destination, false);
        longest = own.forward + own.back > longest.forward + longest.back ? own : longest;
        sum += own;
        if (has_single_) {
            single += path_between(fabric_, source, destination, true);
        }
        ++count;
    }
    // A chain of as many messages as there are ranks passes all of them; a shorter one waits for the longest
    // path.
    work.paths.push_back(work.steps >= static_cast<double>(steps.ranks()) ? sum.over(count) : longest);
    work.longest_paths.push_back(longest);
    if (has_single_) {
        work.single_paths.push_back(single.over(count));
    }
}

double CollectiveWorks::sent_before(std::size_t pair) const {
    return sent_.empty() ? 0 : static_cast<double>(sent_[pair]);
}

void CollectiveWorks::add_sent(const system::CollectiveSchedule& steps,
                               const std::vector<system::RankId>& ranks, Position rank, Position peer,
                               double bytes) {
    if (sent_.empty()) {
        return;
    }
    const auto add_from = [&](Position from) {
        sent_[ranks[from].index() * experiment_.program.ranks + ranks[steps.resolve(from, peer)].index()] +=
            static_cast<float>(bytes);
    };
    if (steps.symmetry() == system::Symmetry::kNone) {
        add_from(rank);
        return;
    }
    for (Position from = 0; from < steps.ranks(); ++from) {
        add_from(from);
    }
}

}  // namespace astrolabe::experiment::wire
