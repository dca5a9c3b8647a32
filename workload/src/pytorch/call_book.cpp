#include "call_book.hpp"

#include "../rank_graphs/trace_file.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace astrolabe::workload::pytorch {

using system::CollectiveKind;
using system::RankId;

Diagnostic call_error(const std::string& file, const CommCall& call, std::string_view code,
                      const std::string& message, std::string hint) {
    return trace_error(fmt::format("pytorch.{}", code), file,
                       fmt::format("call {} '{}': {}", call.id, call.name, message), std::move(hint),
                       call.line);
}

std::string CallBook::key_of(const CommCall& call, const GroupNames& names) const {
    if (!call.is_address) {
        return call.group;
    }
    const auto found = names.addresses.find(call.group);
    return fmt::format("address {}",
                       found != names.addresses.end() ? found->second : names.addresses.size() + 1);
}

const GroupRanks* CallBook::members_of(const CommCall& call, const GroupNames& names, const RankGraph& graph,
                                       Diagnostics& errors) const {
    const GroupRanks* members = &world_;
    const auto known = call.is_address ? names.groups.end() : names.groups.find(call.group);
    if (known != names.groups.end() && !known->second.empty()) {
        members = &known->second;
    } else if (!call.ranks.empty()) {
        members = &call.ranks;
    } else if (call.group_size != 0 && call.group_size != world_size_) {
        errors.push_back(call_error(
            graph.source, call, "group",
            fmt::format("its group '{}' has {} of {} ranks, and nothing says which", call.group,
                        call.group_size, world_size_),
            "give a trace with process groups, or world_size where not all ranks took part in it"));
        return nullptr;
    }
    if (call.group_size != 0 && call.group_size != static_cast<std::int64_t>(members->size())) {
        errors.push_back(
            call_error(graph.source, call, "group",
                       fmt::format("its group '{}' has {} ranks here, and {} in the list of groups",
                                   call.group, call.group_size, members->size())));
        return nullptr;
    }
    return members;
}

CallBook::Group* CallBook::checked(const GroupRanks& members, const CommCall& call, const GroupNames& names,
                                   const RankGraph& graph, Diagnostics& errors) {
    if (ranks_ != graphs_.ranks.size()) {
        groups_.clear();
        ranks_ = graphs_.ranks.size();
    }
    const GroupRanks::Spacing spacing = members.spacing();
    const GroupKey key(spacing == GroupRanks::Spacing() ? &members : nullptr, spacing);
    if (const auto known = groups_.find(key); known != groups_.end()) {
        return &known->second;
    }
    const bool is_outside = !members.empty() && members.greatest() >= static_cast<std::uint64_t>(world_size_);
    const std::optional<std::uint32_t> wrong =
        is_outside ? std::optional(members.greatest()) : members.repeated();
    if (wrong) {
        errors.push_back(
            call_error(graph.source, call, "group",
                       fmt::format("its group '{}' has rank {} {}", call.group, *wrong,
                                   is_outside ? fmt::format("of {}", world_size_) : std::string("twice")),
                       "is the trace of a rank missing?"));
        return nullptr;
    }
    const std::optional<std::size_t> own = members.position_of(names.rank);
    if (!own) {
        errors.push_back(call_error(graph.source, call, "group",
                                    fmt::format("rank {} is not in its group '{}'", names.rank, call.group),
                                    "a rank takes part only in calls of groups that it is in"));
        return nullptr;
    }
    return &groups_.emplace(key, Group{.own = *own}).first->second;
}

std::uint32_t CallBook::group(std::vector<RankId> members, const std::string& key) {
    const std::size_t before = graphs_.groups.size();
    const bool is_world = members.size() == static_cast<std::size_t>(world_size_);
    std::string name = is_world ? "world" : fmt::format("group {}", key);
    const std::uint32_t place = graphs_.group(std::move(members), name);
    if (place == before) {
        members_ += graphs_.groups[place].size();
        const int others = group_names_[name]++;
        if (others > 0) {
            graphs_.group_names[place] = fmt::format("{} ({})", name, others + 1);
        }
    }
    return place;
}

std::optional<RankTask> CallBook::task_of(const CommCall& call, const GroupNames& names, RankGraph& graph,
                                          Diagnostics& errors) {
    const GroupRanks* members = members_of(call, names, graph, errors);
    Group* const own_group = members == nullptr ? nullptr : checked(*members, call, names, graph, errors);
    if (own_group == nullptr) {
        return std::nullopt;
    }
    const auto size = static_cast<std::int64_t>(members->size());
    RankTask task;
    task.kind = TaskKind::kCollective;
    task.collective = call.meaning.collective;
    task.begins_together = size > 1;
    task.name = graphs_.name(call.name);
    task.id = call.id;
    task.size = call.is_barrier ? Bytes(0) : call.in;
    const bool is_message = call.meaning.kind == CallKind::kSend || call.meaning.kind == CallKind::kReceive;
    const bool has_root = system::has_root(call.meaning.collective) ||
                          call.meaning.kind == CallKind::kGather || call.meaning.kind == CallKind::kScatter;
    if (has_root && (call.root < 0 || call.root >= size)) {
        errors.push_back(call_error(graph.source, call, "root",
                                    fmt::format("its {} is {} in a group of {} ranks",
                                                is_message ? "peer" : "root", call.root, size)));
        return std::nullopt;
    }
    if (call.meaning.kind == CallKind::kGather || call.meaning.kind == CallKind::kScatter) {
        shares_ += members->size();
        if (shares_ > limits_.shares) {
            errors.push_back(
                call_error(graph.source, call, "group",
                           fmt::format("gathers and scatters up to this one, of {} ranks, have {} members",
                                       size, shares_),
                           fmt::format("{} are the most in all: give fewer steps", limits_.shares)));
            return std::nullopt;
        }
    }
    std::optional<std::vector<Bytes>> splits;
    switch (call.meaning.kind) {
        case CallKind::kSend:
        case CallKind::kReceive:
            task.kind = call.meaning.kind == CallKind::kSend ? TaskKind::kSend : TaskKind::kReceive;
            task.peer = (*members)[static_cast<std::size_t>(call.root)];
            task.size = task.kind == TaskKind::kSend || call.out == Bytes(0) ? call.in : call.out;
            task.begins_together = false;
            break;
        case CallKind::kGather:
            splits.emplace(members->size());
            (*splits)[static_cast<std::size_t>(call.root)] = call.in;
            break;
        case CallKind::kScatter:
            splits.emplace(members->size(),
                           own_group->own == static_cast<std::size_t>(call.root) ? call.out : Bytes(0));
            break;
        default:
            task.root = static_cast<std::uint32_t>(has_root ? call.root : 0);
            if (call.meaning.collective != CollectiveKind::kAllToAll) {
                break;
            }
            if (!call.has_splits()) {
                if (call.in.count() % size != 0) {
                    errors.push_back(
                        call_error(graph.source, call, "splits",
                                   fmt::format("{} bytes without splits do not divide among {} ranks",
                                               call.in.count(), size)));
                    return std::nullopt;
                }
                break;
            }
            for (const std::vector<std::int64_t>* side : {&call.in_splits, &call.out_splits}) {
                if (!side->empty() && side->size() != members->size()) {
                    errors.push_back(call_error(
                        graph.source, call, "splits",
                        fmt::format("{} splits for a group of {} ranks", side->size(), members->size())));
                    return std::nullopt;
                }
            }
            splits.emplace();
            for (std::size_t member = 0; member < members->size(); ++member) {
                splits->push_back(call.in_splits.empty() ? call.in / size : Bytes(call.in_splits[member]));
            }
            break;
    }
    if (splits) {
        task.splits = static_cast<std::uint32_t>(graph.splits.size());
        graph.splits.push_back(*std::move(splits));
        task.size = Bytes(0);
    }
    const std::string key = key_of(call, names);
    last_key_ = keys_.try_emplace(key, static_cast<std::uint32_t>(keys_.size())).first->second;
    if (is_message) {
        return task;
    }
    if (!own_group->place) {
        std::vector<RankId> ranks;
        ranks.reserve(members->size());
        for (std::size_t member = 0; member < members->size(); ++member) {
            ranks.emplace_back((*members)[member]);
        }
        own_group->place = group(std::move(ranks), key);
        if (members_ > limits_.members) {
            errors.push_back(call_error(
                graph.source, call, "group",
                fmt::format("with its group '{}' of {} ranks all groups have {} members", call.group, size,
                            members_),
                fmt::format("{} are the most in all: are the sizes of groups right?", limits_.members)));
            return std::nullopt;
        }
    }
    task.group = *own_group->place;
    return task;
}

void CallBook::placed(const CommCall& call, std::size_t place, std::uint32_t rank, std::uint32_t task) {
    const bool is_message = call.meaning.kind == CallKind::kSend || call.meaning.kind == CallKind::kReceive;
    placed_.push_back({place, rank, task, last_key_, is_message, call.sequence, call.out_splits});
}

bool CallBook::sequences_are_unique() const {
    std::set<std::tuple<std::size_t, std::uint32_t, std::int64_t>> seen;
    return std::all_of(placed_.begin(), placed_.end(), [&](const Placed& one) {
        return one.is_message ||
               (one.sequence && *one.sequence >= 0 && seen.emplace(one.place, one.key, *one.sequence).second);
    });
}

void CallBook::match(Diagnostics& errors) {
    const bool by_sequence = sequences_are_unique();
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> counts;
    constexpr unsigned kKeyShift = 40;
    for (const Placed& one : placed_) {
        if (one.is_message) {
            continue;
        }
        const std::uint64_t number =
            by_sequence ? static_cast<std::uint64_t>(*one.sequence) : counts[{one.place, one.key}]++;
        graphs_.ranks[one.place].tasks[one.task].match = (std::uint64_t{one.key} << kKeyShift) + number;
    }
    check_received(errors);
}

void CallBook::check_received(Diagnostics& errors) const {
    std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, const Placed*> by_rank;
    const auto task_of_placed = [&](const Placed& one) -> const RankTask& {
        return graphs_.ranks[one.place].tasks[one.task];
    };
    for (const Placed& one : placed_) {
        const RankTask& task = task_of_placed(one);
        if (!one.is_message && task.splits != RankTask::kNone) {
            by_rank[{task.group, task.match, one.rank}] = &one;
        }
    }
    constexpr std::size_t kMost = 20;
    for (const Placed& receiver : placed_) {
        const RankTask& task = task_of_placed(receiver);
        if (receiver.is_message || receiver.received.empty()) {
            continue;
        }
        const std::vector<RankId>& group = graphs_.groups[task.group];
        const auto own = static_cast<std::size_t>(
            std::find(group.begin(), group.end(), RankId(receiver.rank)) - group.begin());
        for (std::size_t member = 0; member < group.size() && errors.size() < kMost; ++member) {
            const auto sender = by_rank.find({task.group, task.match, group[member].index()});
            if (sender == by_rank.end()) {
                continue;
            }
            const RankTask& sent = task_of_placed(*sender->second);
            const RankGraph& graph = graphs_.ranks[sender->second->place];
            const std::int64_t bytes = graph.splits[sent.splits][own].count();
            if (bytes != receiver.received[member]) {
                errors.push_back(trace_error(
                    "pytorch.splits", graphs_.ranks[receiver.place].source,
                    fmt::format("call {} '{}': rank {} expects {} bytes of rank {}, which sends {} in its "
                                "call {}",
                                task.id, graphs_.names[task.name], receiver.rank, receiver.received[member],
                                group[member].index(), bytes, sent.id),
                    "are the traces of one run?"));
                break;
            }
        }
    }
}

}  // namespace astrolabe::workload::pytorch
