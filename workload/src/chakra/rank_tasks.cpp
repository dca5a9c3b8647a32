#include "rank_tasks.hpp"

#include "../rank_graphs/trace_file.hpp"
#include "node_reader.hpp"

#include <algorithm>
#include <limits>
#include <queue>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/json_text.hpp>

namespace astrolabe::workload::chakra {

namespace {

using system::CollectiveKind;
using system::RankId;

constexpr std::uint32_t kNoNode = RankTask::kNone;
constexpr std::size_t kMostFileErrors = 20;
constexpr std::uint64_t kPicosecondsPerMicrosecond = 1'000'000;

CollectiveKind kind_of(CommType type) {
    switch (type) {
        case CommType::kAllReduce:
        case CommType::kBarrier:
            return CollectiveKind::kAllReduce;
        case CommType::kReduce:
            return CollectiveKind::kReduce;
        case CommType::kAllGather:
            return CollectiveKind::kAllGather;
        case CommType::kBroadcast:
            return CollectiveKind::kBroadcast;
        case CommType::kGather:
        case CommType::kScatter:
        case CommType::kAllToAll:
            return CollectiveKind::kAllToAll;
        case CommType::kReduceScatter:
        case CommType::kReduceScatterBlock:
            return CollectiveKind::kReduceScatter;
    }
    invariant_failed("type is known", "every comm_type has a kind");
}

/// The JSON text in the Python text of a list with one text, ['[…]']; or the text itself.
std::string_view json_in(std::string_view values) {
    constexpr std::size_t kQuotes = 2;
    if (values.size() > 2 * kQuotes && (values.starts_with("['") || values.starts_with("[\""))) {
        return values.substr(kQuotes, values.size() - 2 * kQuotes);
    }
    return values;
}

}  // namespace

std::uint16_t SharedState::stream(const StreamKey& key) {
    const auto known = std::find(streams.begin(), streams.end(), key);
    if (known != streams.end()) {
        return static_cast<std::uint16_t>(known - streams.begin());
    }
    streams.push_back(key);
    return static_cast<std::uint16_t>(streams.size() - 1);
}

RankTasks::RankTasks(SharedState& shared, std::size_t rank, const std::filesystem::path& file)
    : shared_(shared),
      rank_(static_cast<std::uint32_t>(rank)),
      file_(file.string()),
      is_json_(is_json_file(file)) {}

void RankTasks::error(std::string code, std::uint64_t id, std::uint64_t place, std::string_view name,
                      const std::string& message, std::string hint) {
    if (errors_.size() < kMostFileErrors) {
        errors_.push_back(trace_error(std::move(code), file_,
                                      fmt::format("node {} '{}' ({} {}): {}", id, name.substr(0, 80),
                                                  is_json_ ? "object" : "record", place, message),
                                      std::move(hint)));
    }
}

void RankTasks::error(std::string code, const ChakraNode& node, const std::string& message,
                      std::string hint) {
    error(std::move(code), node.id, node.place, node.name, message, std::move(hint));
}

void RankTasks::error(std::string code, const Staged& staged, const std::string& message, std::string hint) {
    error(std::move(code), staged.task.id, staged.place, shared_.graphs.names[staged.task.name], message,
          std::move(hint));
}

bool RankTasks::add(const ChakraNode& node) {
    if (staged_.size() >= kNoNode) {
        error("chakra.size", node, fmt::format("more than {} nodes", kNoNode));
        return false;
    }
    Staged staged;
    staged.task.id = node.id;
    staged.task.name = shared_.graphs.name(node.name);
    staged.place = node.place;
    staged.first_dependency = dependencies_.size();
    staged.data_count = static_cast<std::uint32_t>(node.data_dependencies.size());
    staged.control_count = static_cast<std::uint32_t>(node.control_dependencies.size());
    dependencies_.insert(dependencies_.end(), node.data_dependencies.begin(), node.data_dependencies.end());
    dependencies_.insert(dependencies_.end(), node.control_dependencies.begin(),
                         node.control_dependencies.end());
    is_pytorch_ = is_pytorch_ || node.has_record_function;

    const bool is_launch = node.is_cpu_op.value_or(false);
    switch (static_cast<NodeType>(std::min<std::uint64_t>(node.type, kNodeTypes.size()))) {
        case NodeType::kInvalid:
        case NodeType::kMetadata:
            staged.is_task = false;
            read_groups(node);
            break;
        case NodeType::kMemoryLoad:
        case NodeType::kMemoryStore:
        case NodeType::kCompute:
            stage_computation(node, staged);
            break;
        case NodeType::kCollective:
            if (is_launch) {
                stage_computation(node, staged);
            } else if (!node.comm_type && !node.comm_size && node.duration_micros > 0) {
                ++shared_.untyped_collectives;
                stage_computation(node, staged);
            } else {
                stage_collective(node, staged);
            }
            break;
        case NodeType::kSend:
        case NodeType::kReceive:
            if (is_launch) {
                stage_computation(node, staged);
            } else {
                stage_message(node, staged);
            }
            break;
        default:
            error("chakra.type", node, fmt::format("type {} is no type of a node", node.type),
                  "types are 0 to 7: INVALID, METADATA, MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV, "
                  "COMM_COLL");
    }
    stage_own(node, staged);
    staged_.push_back(staged);
    if (shared_.options.keeps_work) {
        work_.resize(staged_.size());
        if (staged.is_task && staged.task.kind == TaskKind::kCompute) {
            work_.back() = {std::max<std::int64_t>(0, node.num_ops.value_or(0)),
                            std::max<std::int64_t>(0, node.tensor_size.value_or(0))};
        }
    }
    return errors_.size() < kMostFileErrors;
}

void RankTasks::stage_computation(const ChakraNode& node, Staged& staged) {
    RankTask& task = staged.task;
    task.kind = TaskKind::kCompute;
    constexpr std::uint64_t kMost =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / kPicosecondsPerMicrosecond;
    if (node.duration_micros > kMost) {
        error("chakra.duration", node,
              fmt::format("duration_micros is {}, at most {}", node.duration_micros, kMost),
              "durations are in microseconds");
        return;
    }
    task.duration = Time(static_cast<std::int64_t>(node.duration_micros * kPicosecondsPerMicrosecond));
    if (node.picoseconds) {
        const auto exact = static_cast<std::uint64_t>(*node.picoseconds);
        const auto whole = static_cast<std::uint64_t>(task.duration.count());
        const std::uint64_t difference = exact > whole ? exact - whole : whole - exact;
        // Further apart, duration_micros was changed after this program had written it.
        if (*node.picoseconds >= 0 && difference < kPicosecondsPerMicrosecond) {
            task.duration = Time(*node.picoseconds);
        }
    }
    for (const auto& [name, value] :
         {std::pair{"num_ops", node.num_ops}, std::pair{"tensor_size", node.tensor_size}}) {
        if (value.value_or(0) < 0) {
            error("chakra.size", node, fmt::format("{} is {}", name, *value), "sizes are not negative");
        }
    }
    StreamKey stream{.is_host = node.is_cpu_op.value_or(false)};
    stream.number = stream.is_host ? node.thread : node.stream ? node.stream : node.thread;
    constexpr std::size_t kMostStreams = 1000;
    if (shared_.streams.size() >= kMostStreams &&
        std::find(shared_.streams.begin(), shared_.streams.end(), stream) == shared_.streams.end()) {
        error("chakra.stream", node, fmt::format("more than {} streams", kMostStreams),
              "attribute stream, else tid, numbers the streams of a device");
        return;
    }
    task.stream = shared_.stream(stream);
    staged.is_on_stream = stream.number.has_value();
}

Bytes RankTasks::size_of(const ChakraNode& node) {
    if (!node.comm_size) {
        error("chakra.size", node, "it has no attribute comm_size", "the bytes that it moves");
    } else if (*node.comm_size < 0) {
        error("chakra.size", node, fmt::format("comm_size is {}", *node.comm_size), "sizes are not negative");
    }
    return Bytes(std::max<std::int64_t>(0, node.comm_size.value_or(0)));
}

void RankTasks::stage_collective(const ChakraNode& node, Staged& staged) {
    RankTask& task = staged.task;
    task.kind = TaskKind::kCollective;
    if (!node.comm_type || *node.comm_type < 0 ||
        *node.comm_type >= static_cast<std::int64_t>(kCommTypes.size())) {
        error("chakra.collective", node,
              node.comm_type ? fmt::format("comm_type {} is no collective", *node.comm_type)
                             : "it has no attribute comm_type",
              "0 to 9: ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, "
              "REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, BARRIER");
        return;
    }
    staged.comm_type = static_cast<CommType>(*node.comm_type);
    task.collective = kind_of(staged.comm_type);
    task.size = staged.comm_type == CommType::kBarrier ? Bytes(0) : size_of(node);

    std::uint64_t bits = 0;
    bool is_partial = false;
    constexpr std::size_t kMostDimensions = 64;
    for (std::size_t i = 0; i < node.involved_dimensions.size(); ++i) {
        is_partial = is_partial || node.involved_dimensions[i] == 0;
        if (node.involved_dimensions[i] != 0 && i < kMostDimensions) {
            bits |= std::uint64_t{1} << i;
        }
    }
    std::string name = node.group;
    if (name.empty() && is_partial) {
        name = fmt::format("\n{}", bits);  // no name that a trace has
    }
    const auto [place, is_new] =
        group_name_places_.try_emplace(name, static_cast<std::uint32_t>(group_names_.size()));
    if (is_new) {
        group_names_.push_back(name);
        if (node.group.empty() && is_partial) {
            involved_[place->second] = bits;
        }
    }
    staged.group_name = place->second;
    staged.is_on_stream = node.stream || node.thread;
    if (staged.is_on_stream) {
        task.stream = shared_.stream({false, node.stream ? node.stream : node.thread});
    }
    if (node.comm_priority.value_or(0) != 0) {
        if (!std::in_range<std::int32_t>(*node.comm_priority)) {
            error("chakra.priority", node, fmt::format("comm_priority is {}", *node.comm_priority),
                  "priorities have 32 bits");
            return;
        }
        task.priority = system::Priority::kExplicit;
        task.explicit_priority = static_cast<std::int32_t>(*node.comm_priority);
    }
}

void RankTasks::stage_message(const ChakraNode& node, Staged& staged) {
    RankTask& task = staged.task;
    const bool sends = node.type == static_cast<std::uint64_t>(NodeType::kSend);
    task.kind = sends ? TaskKind::kSend : TaskKind::kReceive;
    const std::optional<std::int64_t>& peer = sends ? node.comm_destination : node.comm_source;
    const std::string_view key = sends ? "comm_dst" : "comm_src";
    if (!peer) {
        error("chakra.peer", node, fmt::format("it has no attribute {}", key),
              "traces that PyTorch recorded do not name the peer of a message: add it");
    } else if (*peer < 0 || static_cast<std::uint64_t>(*peer) >= shared_.ranks) {
        error("chakra.peer", node,
              fmt::format("{} is {}, and there are traces of {} ranks", key, *peer, shared_.ranks));
    } else {
        task.peer = static_cast<std::uint32_t>(*peer);
    }
    task.size = size_of(node);
    task.match = static_cast<std::uint64_t>(node.comm_tag.value_or(0));
    staged.is_on_stream = node.stream || node.thread;
    if (staged.is_on_stream) {
        task.stream = shared_.stream({false, node.stream ? node.stream : node.thread});
    }
}

void RankTasks::stage_own(const ChakraNode& node, Staged& staged) {
    RankTask& task = staged.task;
    if (node.iteration) {
        if (*node.iteration < 0 || *node.iteration > std::numeric_limits<std::int32_t>::max()) {
            error("chakra.iteration", node, fmt::format("{} is {}", kIterationAttribute, *node.iteration));
            return;
        }
        task.iteration = static_cast<std::int32_t>(*node.iteration);
    }
    if (!staged.is_task || task.kind != TaskKind::kCollective) {
        return;
    }
    for (const auto& [name, value] : {std::pair{kLeastAttribute, node.least_picoseconds},
                                      std::pair{kDelayAttribute, node.delay_picoseconds}}) {
        if (value.value_or(0) < 0) {
            error("chakra.duration", node, fmt::format("{} is {}", name, *value),
                  "durations are not negative");
        }
    }
    task.duration = Time(node.least_picoseconds.value_or(0));
    task.delay = Time(node.delay_picoseconds.value_or(0));
    task.begins_together = node.begins_together.value_or(0) != 0;
    if (node.priority) {
        if (*node.priority < 0 || *node.priority > static_cast<std::int64_t>(system::Priority::kHighest)) {
            error("chakra.priority", node, fmt::format("{} is {}", kPriorityAttribute, *node.priority));
            return;
        }
        task.priority = static_cast<system::Priority>(*node.priority);
    }
    if (!node.splits.empty()) {
        std::vector<Bytes>& splits = splits_.emplace_back();
        for (const std::int64_t bytes : node.splits) {
            if (bytes < 0) {
                error("chakra.size", node, fmt::format("{} has {}", kSplitsAttribute, bytes),
                      "sizes are not negative");
                return;
            }
            splits.emplace_back(bytes);
        }
        task.splits = static_cast<std::uint32_t>(splits_.size() - 1);
    }
}

void RankTasks::read_groups(const ChakraNode& node) {
    if (node.name.find("process_group:init") == std::string::npos || node.input_values.empty()) {
        return;
    }
    const nlohmann::json list = parse_json<nlohmann::json>(json_in(node.input_values));
    // PyTorch cuts long texts off; a group that is then missing is an error where it is used.
    if (!list.is_array()) {
        return;
    }
    for (const nlohmann::json& group : list) {
        if (!group.is_object() || !group.contains("pg_name") || !group.contains("ranks") ||
            !group["pg_name"].is_string() || !group["ranks"].is_array()) {
            error("chakra.group", node, "a process group without pg_name and ranks");
            return;
        }
        std::vector<RankId> members;
        for (const nlohmann::json& rank : group["ranks"]) {
            if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= RankTask::kNone) {
                error("chakra.group", node,
                      fmt::format("{} is no rank of process group {}", rank.dump(), group["pg_name"].dump()));
                return;
            }
            members.emplace_back(rank.get<std::uint32_t>());
        }
        std::uint64_t size = shared_.ranks;
        if (const auto given = group.find("group_size");
            given != group.end() && given->is_number_unsigned()) {
            size = given->get<std::uint64_t>();
        }
        constexpr std::uint64_t kMostMembers = std::uint64_t{1} << 24U;
        for (std::uint64_t rank = 0; group["ranks"].empty() && rank < std::min(size, kMostMembers); ++rank) {
            members.emplace_back(static_cast<std::uint32_t>(rank));
        }
        own_groups_[group["pg_name"].get<std::string>()] = std::move(members);
    }
}

void RankTasks::sort() {
    const auto by_id = [](const Staged& one, const Staged& other) { return one.task.id < other.task.id; };
    if (std::is_sorted(staged_.begin(), staged_.end(), by_id)) {
        return;
    }
    if (!work_.empty()) {
        std::vector<std::uint32_t> order(staged_.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        std::stable_sort(order.begin(), order.end(), [this](std::uint32_t one, std::uint32_t other) {
            return staged_[one].task.id < staged_[other].task.id;
        });
        std::vector<TaskWork> sorted;
        sorted.reserve(work_.size());
        for (const std::uint32_t node : order) {
            sorted.push_back(work_[node]);
        }
        work_ = std::move(sorted);
    }
    std::stable_sort(staged_.begin(), staged_.end(), by_id);
}

void RankTasks::find_places() {
    for (std::size_t i = 1; i < staged_.size(); ++i) {
        if (staged_[i].task.id == staged_[i - 1].task.id) {
            error("chakra.duplicate", staged_[i],
                  fmt::format("record {} has the same id", staged_[i - 1].place), "ids are unique in a file");
        }
    }
    constexpr std::uint64_t kSparse = 8;
    const std::uint64_t last = staged_.empty() ? 0 : staged_.back().task.id;
    if (last / kSparse <= staged_.size()) {
        place_by_id_.assign(last + 1, kNoNode);
        for (std::uint32_t i = 0; i < staged_.size(); ++i) {
            place_by_id_[staged_[i].task.id] = i;
        }
    }
}

std::uint32_t RankTasks::node_of(std::uint64_t id) const {
    if (!place_by_id_.empty()) {
        return id < place_by_id_.size() ? place_by_id_[id] : kNoNode;
    }
    const auto found =
        std::lower_bound(staged_.begin(), staged_.end(), id,
                         [](const Staged& staged, std::uint64_t wanted) { return staged.task.id < wanted; });
    return found != staged_.end() && found->task.id == id
               ? static_cast<std::uint32_t>(found - staged_.begin())
               : kNoNode;
}

std::vector<RankId> RankTasks::members_along(std::uint64_t dimensions) {
    std::vector<RankId> members;
    const std::vector<std::int64_t>& sizes = shared_.options.dimensions;
    for (std::uint32_t other = 0; other < shared_.ranks; ++other) {
        std::uint64_t mine = rank_;
        std::uint64_t theirs = other;
        bool is_member = true;
        for (std::size_t dimension = 0; dimension < sizes.size(); ++dimension) {
            const auto size = static_cast<std::uint64_t>(sizes[dimension]);
            const bool is_involved = dimension < 64 && ((dimensions >> dimension) & 1U) != 0;
            is_member = is_member && (is_involved || mine % size == theirs % size);
            mine /= size;
            theirs /= size;
        }
        if (is_member) {
            members.emplace_back(other);
        }
    }
    return members;
}

std::uint32_t RankTasks::group_of(const Staged& staged) {
    const std::string& name = group_names_[staged.group_name];
    if (const auto along = involved_.find(staged.group_name); along != involved_.end()) {
        if (shared_.options.dimensions.empty()) {
            error("chakra.group", staged, "involved_dim leaves dimensions out",
                  "say the sizes of the logical dimensions: dimensions");
            return 0;
        }
        std::vector<RankId> members = members_along(along->second);
        std::string label = fmt::format("dimensions {:b} of rank {}", along->second, members.front().index());
        return shared_.graphs.group(std::move(members), label);
    }
    const GroupTable& groups = own_groups_.contains(name) ? own_groups_ : shared_.groups;
    if (const auto known = groups.find(name); known != groups.end()) {
        const std::uint32_t group = shared_.graphs.group(known->second, name);
        // The same name for other members, on another rank.
        std::string& label = shared_.graphs.group_names[group];
        const auto& names = shared_.graphs.group_names;
        if (group + 1 == names.size() &&
            std::find(names.begin(), names.end() - 1, label) != names.end() - 1) {
            label = fmt::format("{} of rank {}", name, rank_);
        }
        return group;
    }
    if (!name.empty() && name != "0") {
        error("chakra.group", staged, fmt::format("nothing says who is in its group '{}'", name),
              "name a JSON file with the ranks of each group: groups");
        return 0;
    }
    std::vector<RankId> all;
    for (std::uint32_t rank = 0; rank < shared_.ranks; ++rank) {
        all.emplace_back(rank);
    }
    return shared_.graphs.group(std::move(all), "all");
}

void RankTasks::complete_collective(Staged& staged) {
    RankTask& task = staged.task;
    const auto [known, is_new] = group_by_name_.try_emplace(staged.group_name, 0);
    if (is_new) {
        known->second = group_of(staged);
    }
    if (!errors_.empty()) {
        return;
    }
    task.group = known->second;
    task.match = next_match_[task.group]++;
    if (staged.comm_type != CommType::kGather && staged.comm_type != CommType::kScatter) {
        return;
    }
    const std::size_t members = shared_.graphs.groups[task.group].size();
    const bool is_root = shared_.graphs.groups[task.group].front() == RankId(rank_);
    std::vector<Bytes>& splits = splits_.emplace_back(members, Bytes(0));
    task.splits = static_cast<std::uint32_t>(splits_.size() - 1);
    if (staged.comm_type == CommType::kGather) {
        splits[0] = task.size;
        return;
    }
    for (std::size_t member = 0; is_root && member < members; ++member) {
        const auto parts = static_cast<std::int64_t>(members);
        const auto share = [&](std::size_t end) {
            return Bytes(static_cast<std::int64_t>(static_cast<detail::Int128>(task.size.count()) *
                                                   static_cast<std::int64_t>(end) / parts));
        };
        splits[member] = share(member + 1) - share(member);
    }
}

void RankTasks::resolve(std::uint32_t node, bool with_control, std::vector<std::uint32_t>& tasks) {
    tasks.clear();
    waiting_.assign(1, node);
    ++round_;
    while (!waiting_.empty()) {
        const std::uint32_t at = waiting_.back();
        waiting_.pop_back();
        const Staged& staged = staged_[at];
        const std::uint64_t* const ids = dependencies_.data() + staged.first_dependency;
        const std::uint64_t count =
            staged.data_count + (with_control ? std::uint64_t{staged.control_count} : 0);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint32_t other = node_of(ids[i]);
            if (other == kNoNode) {
                // Of a node that is folded away it was said when that node was resolved.
                if (at == node) {
                    error("chakra.dependency", staged,
                          fmt::format("it depends on node {}, which is not in the file", ids[i]),
                          i < staged.data_count
                              ? ""
                              : "where ctrl_deps name the enclosing call: ctrl_deps: ignored");
                }
            } else if (staged_[other].is_task) {
                tasks.push_back(task_of_[other]);
            } else if (other == node) {
                error("chakra.circle", staged, "it depends on itself");
                return;
            } else if (std::exchange(seen_[other], round_) != round_) {
                waiting_.push_back(other);
            }
        }
    }
    // Lists of dependencies say in which order waits are accounted for; folding met the last ones first.
    if (std::adjacent_find(tasks.begin(), tasks.end()) != tasks.end()) {
        tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
    }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> RankTasks::stream_order() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> extra;
    std::map<std::uint16_t, const Staged*> last;
    for (const Staged& staged : staged_) {
        if (!staged.is_task || !staged.is_on_stream) {
            continue;
        }
        const Staged*& before = last[staged.task.stream];
        if (before != nullptr &&
            (before->task.kind != TaskKind::kCompute || staged.task.kind != TaskKind::kCompute)) {
            extra.emplace_back(task_of_[&staged - staged_.data()], task_of_[before - staged_.data()]);
        }
        before = &staged;
    }
    return extra;
}

void RankTasks::add_communication_order(const RankGraph& graph,
                                        std::vector<std::pair<std::uint32_t, std::uint32_t>>& extra) const {
    const std::size_t tasks = graph.tasks.size();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges = extra;  // (after, before)
    std::map<std::uint16_t, std::uint32_t> last;
    for (std::uint32_t i = 0; i < tasks; ++i) {
        for (const std::uint32_t before : graph.dependencies(i)) {
            edges.emplace_back(i, before);
        }
        if (graph.tasks[i].kind == TaskKind::kCompute && is_numbered(graph.tasks[i].stream)) {
            const auto [before, is_first] = last.try_emplace(graph.tasks[i].stream, i);
            if (!is_first) {
                edges.emplace_back(i, std::exchange(before->second, i));
            }
        }
    }
    std::vector<std::uint32_t> missing(tasks, 0);
    std::vector<std::vector<std::uint32_t>> dependents(tasks);
    for (const auto& [after, before] : edges) {
        ++missing[after];
        dependents[before].push_back(after);
    }
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < tasks; ++i) {
        if (missing[i] == 0) {
            ready.push(i);
        }
    }
    std::uint32_t before = kNoNode;
    while (!ready.empty()) {
        const std::uint32_t task = ready.top();
        ready.pop();
        const TaskKind kind = graph.tasks[task].kind;
        if (kind == TaskKind::kCollective || kind == TaskKind::kSend) {
            if (before != kNoNode) {
                extra.emplace_back(task, before);
            }
            before = task;
        }
        for (const std::uint32_t dependent : dependents[task]) {
            if (--missing[dependent] == 0) {
                ready.push(dependent);
            }
        }
    }
}

bool RankTasks::is_numbered(std::uint16_t stream) const {
    return shared_.streams[stream].number.has_value();
}

Result<RankGraph> RankTasks::finish(const ChakraMetadata& metadata) {
    sort();
    find_places();
    const ControlDependencies control = shared_.options.control;
    const bool with_control = control == ControlDependencies::kHonoured ||
                              (control == ControlDependencies::kDetect && !is_pytorch_ && !is_json_);
    task_of_.assign(staged_.size(), kNoNode);
    seen_.assign(staged_.size(), 0);
    std::uint32_t tasks = 0;
    for (std::uint32_t node = 0; node < staged_.size(); ++node) {
        Staged& staged = staged_[node];
        if (staged.is_task) {
            task_of_[node] = tasks++;
        }
        if (staged.task.iteration >= metadata.iterations) {
            error("chakra.iteration", staged,
                  fmt::format("its iteration is {} of {}", staged.task.iteration, metadata.iterations));
        }
        if (!with_control) {
            shared_.ignored_control_dependencies += staged.control_count;
        }
        if (staged.is_task && staged.task.kind == TaskKind::kCollective && errors_.empty()) {
            complete_collective(staged);
        }
    }
    RankGraph graph = make_graph(with_control, tasks);
    if (!errors_.empty()) {
        return errors_;
    }
    return graph;
}

RankGraph RankTasks::make_graph(bool with_control, std::uint32_t tasks) {
    RankGraph graph;
    graph.source = file_;
    graph.tasks.reserve(tasks);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> extra = stream_order();
    std::vector<std::uint32_t> before;
    const auto add_all = [&] {
        std::sort(extra.begin(), extra.end());
        auto next = extra.cbegin();
        for (std::uint32_t node = 0; node < staged_.size(); ++node) {
            resolve(node, with_control, before);
            if (!staged_[node].is_task) {
                continue;
            }
            for (; next != extra.cend() && next->first == task_of_[node]; ++next) {
                if (std::find(before.begin(), before.end(), next->second) == before.end()) {
                    before.push_back(next->second);
                }
            }
            graph.add(staged_[node].task, before);
        }
    };
    add_all();
    if (shared_.options.collectives == CollectiveOrder::kInOrder && errors_.empty()) {
        add_communication_order(graph, extra);
        graph = RankGraph();
        graph.source = file_;
        add_all();
    }
    graph.splits = std::move(splits_);
    if (!work_.empty()) {
        std::size_t kept = 0;
        for (std::uint32_t node = 0; node < staged_.size(); ++node) {
            if (staged_[node].is_task) {
                work_[kept++] = work_[node];
            }
        }
        work_.resize(kept);
    }
    return graph;
}

}  // namespace astrolabe::workload::chakra
