#include "task_graph.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

namespace astrolabe::workload {

namespace {

constexpr std::uintmax_t kMaxBufferSize = std::uintmax_t{1} << 30;
constexpr std::uint32_t kMaxServers = 1U << 20;
constexpr double kPicosecondsPerMillisecond = 1e9;
/// Half of Time::max(), in ms.
constexpr double kMaxRuntime = 4.6e9;

/// The place of a field's offset in a vtable.
constexpr flatbuffers::voffset_t field(unsigned number) {
    return static_cast<flatbuffers::voffset_t>(4 + 2 * number);
}

// The tables of the format as far as they are used; fields by number, in the order of the format.

struct TaskTable : private flatbuffers::Table {
    [[nodiscard]] std::int16_t type() const { return GetField<std::int16_t>(field(0), 0); }
    [[nodiscard]] std::uint64_t id() const { return GetField<std::uint64_t>(field(1), 0); }
    [[nodiscard]] std::uint64_t device() const { return GetField<std::uint64_t>(field(2), 0); }
    [[nodiscard]] float runtime() const { return GetField<float>(field(3), 0); }
    [[nodiscard]] std::uint64_t size() const { return GetField<std::uint64_t>(field(4), 0); }
    [[nodiscard]] const flatbuffers::Vector<std::uint64_t>* next() const {
        return GetPointer<const flatbuffers::Vector<std::uint64_t>*>(field(5));
    }

    [[nodiscard]] bool Verify(flatbuffers::Verifier& verifier) const {
        return VerifyTableStart(verifier) &&
               VerifyField<std::int16_t>(verifier, field(0), sizeof(std::int16_t)) &&
               VerifyField<std::uint64_t>(verifier, field(1), sizeof(std::uint64_t)) &&
               VerifyField<std::uint64_t>(verifier, field(2), sizeof(std::uint64_t)) &&
               VerifyField<float>(verifier, field(3), sizeof(float)) &&
               VerifyField<std::uint64_t>(verifier, field(4), sizeof(std::uint64_t)) &&
               VerifyOffset(verifier, field(5)) && verifier.VerifyVector(next()) && verifier.EndTable();
    }
};

struct DeviceTable : private flatbuffers::Table {
    [[nodiscard]] std::int16_t type() const { return GetField<std::int16_t>(field(0), 0); }
    [[nodiscard]] std::uint64_t id() const { return GetField<std::uint64_t>(field(1), 0); }
    [[nodiscard]] std::uint64_t node() const { return GetField<std::uint64_t>(field(2), 0); }
    [[nodiscard]] std::uint64_t property() const { return GetField<std::uint64_t>(field(3), 0); }

    [[nodiscard]] bool Verify(flatbuffers::Verifier& verifier) const {
        return VerifyTableStart(verifier) &&
               VerifyField<std::int16_t>(verifier, field(0), sizeof(std::int16_t)) &&
               VerifyField<std::uint64_t>(verifier, field(1), sizeof(std::uint64_t)) &&
               VerifyField<std::uint64_t>(verifier, field(2), sizeof(std::uint64_t)) &&
               VerifyField<std::uint64_t>(verifier, field(3), sizeof(std::uint64_t)) && verifier.EndTable();
    }
};

template <class T>
using Tables = flatbuffers::Vector<flatbuffers::Offset<T>>;

struct TaskGraphTable : private flatbuffers::Table {
    [[nodiscard]] std::uint32_t nodes() const { return GetField<std::uint32_t>(field(1), 0); }
    [[nodiscard]] std::uint32_t switches() const { return GetField<std::uint32_t>(field(2), 0); }
    [[nodiscard]] const Tables<TaskTable>* tasks() const {
        return GetPointer<const Tables<TaskTable>*>(field(8));
    }
    [[nodiscard]] const Tables<DeviceTable>* devices() const {
        return GetPointer<const Tables<DeviceTable>*>(field(9));
    }

    [[nodiscard]] bool Verify(flatbuffers::Verifier& verifier) const {
        return VerifyTableStart(verifier) &&
               VerifyField<std::uint32_t>(verifier, field(1), sizeof(std::uint32_t)) &&
               VerifyField<std::uint32_t>(verifier, field(2), sizeof(std::uint32_t)) &&
               VerifyOffset(verifier, field(8)) && verifier.VerifyVector(tasks()) &&
               verifier.VerifyVectorOfTables(tasks()) && VerifyOffset(verifier, field(9)) &&
               verifier.VerifyVector(devices()) && verifier.VerifyVectorOfTables(devices()) &&
               verifier.EndTable();
    }
};

enum FileTask : std::int16_t {
    kForwardTask = 0,
    kBackwardTask = 1,
    kUpdateTask = 3,
    kNominalCommTask = 5,
    kAllReduceTask = 6
};
enum FileDevice : std::int16_t { kGpuDevice = 0, kNominalNetworkDevice = 14 };

struct GraphDefect {
    Diagnostic diagnostic;
};

class GraphReader {
public:
    GraphReader(std::string_view buffer, const std::string& source)
        : buffer_(buffer),
          source_(std::make_shared<const SourceText>(SourceText{source, {}})) {
        graph_.source = source;
    }

    [[nodiscard]] FlexFlowGraph read() {
        flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(buffer_.data()), buffer_.size(),
                                       64, std::numeric_limits<std::uint32_t>::max());
        if (buffer_.size() < 8 || !verifier.VerifyBuffer<TaskGraphTable>(nullptr)) {
            refuse("no task graph of FlexFlow: offsets lead out of the file",
                   "the file is truncated, or of another format");
        }
        const auto& root = *flatbuffers::GetRoot<TaskGraphTable>(buffer_.data());
        graph_.servers = root.nodes();
        if (graph_.servers == 0 || graph_.servers > kMaxServers) {
            refuse(fmt::format("nnode is {}, expected 1 to {}", graph_.servers, kMaxServers),
                   "it is the number of servers");
        }
        if (root.tasks() == nullptr || root.tasks()->size() == 0) {
            refuse("there are no tasks", "a graph of FlexFlow lists them in 'tasks'");
        }
        nodes_ = std::uint64_t{graph_.servers} + root.switches();
        read_devices(root.devices());
        for (flatbuffers::uoffset_t place = 0; place < root.tasks()->size(); ++place) {
            const TaskTable& task = *root.tasks()->Get(place);
            if (!places_.emplace(task.id(), place).second) {
                refuse(fmt::format("{}: another task has the same id", name(place, task.id())), "");
            }
        }
        for (flatbuffers::uoffset_t place = 0; place < root.tasks()->size(); ++place) {
            count_listed(place, *root.tasks()->Get(place));
            read_task(place, *root.tasks()->Get(place));
        }
        check_servers();
        sort();
        return std::move(graph_);
    }

private:
    struct ReadDevice {
        std::int16_t type = 0;
        std::uint64_t server = 0;
        std::uint64_t property = 0;
        std::uint32_t gpu = 0;
    };

    [[noreturn]] void refuse(std::string message, std::string hint) const {
        throw GraphDefect{{"flexflow.graph", {source_, 0, 0, 1}, std::move(message), std::move(hint), {}}};
    }
    [[nodiscard]] static std::string name(std::size_t place, std::uint64_t id) {
        return fmt::format("task {} (id {})", place, id);
    }

    void read_devices(const Tables<DeviceTable>* devices) {
        std::vector<std::uint32_t> gpus(graph_.servers, 0);
        for (flatbuffers::uoffset_t place = 0; devices != nullptr && place < devices->size(); ++place) {
            const DeviceTable& device = *devices->Get(place);
            ReadDevice read{device.type(), device.node(), device.property(), 0};
            if (read.type == kGpuDevice) {
                if (read.server >= graph_.servers) {
                    refuse(fmt::format("device {} (id {}): a GPU of server {} of {}", place, device.id(),
                                       read.server, graph_.servers),
                           "servers count from 0");
                }
                read.gpu = gpus[read.server]++;
                graph_.gpus_of_a_server = std::max(graph_.gpus_of_a_server, read.gpu + 1);
            }
            if (!devices_.emplace(device.id(), read).second) {
                refuse(fmt::format("device {} (id {}): another device has the same id", place, device.id()),
                       "");
            }
        }
    }

    [[nodiscard]] const ReadDevice& device_of(std::size_t place, const TaskTable& task, std::int16_t type,
                                              std::string_view kind) const {
        const auto found = devices_.find(task.device());
        if (found == devices_.end()) {
            refuse(fmt::format("{}: device {} does not exist", name(place, task.id()), task.device()), "");
        }
        if (found->second.type != type) {
            refuse(fmt::format("{}: on a device of type {}, expected {} ({})", name(place, task.id()),
                               found->second.type, type, kind),
                   "GPUs compute, and the nominal network carries transfers from end to end");
        }
        return found->second;
    }

    /// Tasks may share a list, of which each gets a copy: together they are no longer than the file.
    void count_listed(std::size_t place, const TaskTable& task) {
        const std::size_t most = buffer_.size() / sizeof(std::uint64_t);
        listed_ += task.next() == nullptr ? 0 : task.next()->size();
        if (listed_ > most) {
            refuse(
                fmt::format("{}: the tasks up to it list {} ids in 'nexttasks', and {} bytes hold {} at most",
                            name(place, task.id()), listed_, buffer_.size(), most),
                "every task has a list of its own");
        }
    }

    void read_task(std::size_t place, const TaskTable& task) {
        FlexFlowTask read;
        read.id = task.id();
        if (task.size() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 4) {
            refuse(fmt::format("{}: {} bytes", name(place, task.id()), task.size()),
                   "expected less than 2^61");
        }
        switch (task.type()) {
            case kForwardTask:
            case kBackwardTask:
            case kUpdateTask: {
                const ReadDevice& gpu = device_of(place, task, kGpuDevice, "a GPU");
                read.kind = task.type() == kForwardTask    ? FlexFlowTask::Kind::kForward
                            : task.type() == kBackwardTask ? FlexFlowTask::Kind::kBackward
                                                           : FlexFlowTask::Kind::kUpdate;
                read.server = static_cast<std::uint32_t>(gpu.server);
                read.gpu = gpu.gpu;
                read.runtime = runtime_of(place, task);
                read_successors(place, task, read);
                break;
            }
            case kNominalCommTask: {
                const ReadDevice& link = device_of(place, task, kNominalNetworkDevice, "the nominal network");
                const std::uint64_t from = link.property / nodes_;
                const std::uint64_t to = link.property % nodes_;
                if (from >= graph_.servers || to >= graph_.servers || from == to) {
                    refuse(fmt::format("{}: a transfer from server {} to {} of {}", name(place, task.id()),
                                       from, to, graph_.servers),
                           "deviceproperty is from · (nnode + nswitch) + to, of two servers");
                }
                read.kind = FlexFlowTask::Kind::kTransfer;
                read.server = static_cast<std::uint32_t>(from);
                read.receiver = static_cast<std::uint32_t>(to);
                read.size = Bytes(static_cast<std::int64_t>(task.size()));
                read_successors(place, task, read);
                break;
            }
            case kAllReduceTask:
                read.kind = FlexFlowTask::Kind::kAllReduce;
                read.size = Bytes(static_cast<std::int64_t>(task.size()));
                read_members(place, task, read);
                break;
            default:
                refuse(fmt::format("{}: type {}", name(place, task.id()), task.type()),
                       "read are forward (0), backward (1), update (3), nominal comm (5) and all-reduce (6)");
        }
        graph_.tasks.push_back(std::move(read));
    }

    [[nodiscard]] Time runtime_of(std::size_t place, const TaskTable& task) const {
        const double runtime = task.runtime();
        if (!(runtime >= 0) || runtime > kMaxRuntime) {
            refuse(fmt::format("{}: a runtime of {} ms", name(place, task.id()), runtime),
                   "expected a number that is not negative");
        }
        return Time(std::llround(runtime * kPicosecondsPerMillisecond));
    }

    void read_successors(std::size_t place, const TaskTable& task, FlexFlowTask& read) const {
        for (flatbuffers::uoffset_t i = 0; task.next() != nullptr && i < task.next()->size(); ++i) {
            const auto found = places_.find(task.next()->Get(i));
            if (found == places_.end()) {
                refuse(fmt::format("{}: successor {} does not exist", name(place, task.id()),
                                   task.next()->Get(i)),
                       "nexttasks are ids of tasks");
            }
            read.successors.push_back(found->second);
        }
    }

    void read_members(std::size_t place, const TaskTable& task, FlexFlowTask& read) const {
        for (flatbuffers::uoffset_t i = 0; task.next() != nullptr && i < task.next()->size(); ++i) {
            const std::uint64_t member = task.next()->Get(i);
            if (member >= graph_.servers) {
                refuse(fmt::format("{}: member {} of {} servers", name(place, task.id()), member,
                                   graph_.servers),
                       "nexttasks of an all-reduce are servers, not tasks");
            }
            read.members.push_back(static_cast<std::uint32_t>(member));
        }
        std::ranges::sort(read.members);
        if (read.members.empty()) {
            refuse(fmt::format("{}: an all-reduce without members", name(place, task.id())),
                   "nexttasks of an all-reduce are its servers");
        }
        if (const auto twice = std::ranges::adjacent_find(read.members); twice != read.members.end()) {
            refuse(fmt::format("{}: server {} is a member twice", name(place, task.id()), *twice), "");
        }
    }

    /// What follows a task is where the task ends.
    void check_servers() const {
        for (std::size_t place = 0; place < graph_.tasks.size(); ++place) {
            const FlexFlowTask& task = graph_.tasks[place];
            const std::uint32_t server =
                task.kind == FlexFlowTask::Kind::kTransfer ? task.receiver : task.server;
            for (const std::uint32_t next : task.successors) {
                const FlexFlowTask& successor = graph_.tasks[next];
                const bool is_there = successor.kind == FlexFlowTask::Kind::kAllReduce
                                          ? std::ranges::binary_search(successor.members, server)
                                          : successor.server == server;
                if (!is_there) {
                    refuse(fmt::format("{}: ends on server {}, where its successor {} has no part",
                                       name(place, task.id), server, name(next, successor.id)),
                           "between servers there is a transfer (nominal comm)");
                }
            }
        }
    }

    void sort() {
        std::vector<std::uint32_t> waits_for(graph_.tasks.size(), 0);
        for (const FlexFlowTask& task : graph_.tasks) {
            for (const std::uint32_t next : task.successors) {
                ++waits_for[next];
            }
        }
        std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
        for (std::uint32_t place = 0; place < waits_for.size(); ++place) {
            if (waits_for[place] == 0) {
                ready.push(place);
            }
        }
        while (!ready.empty()) {
            const std::uint32_t place = ready.top();
            ready.pop();
            graph_.order.push_back(place);
            for (const std::uint32_t next : graph_.tasks[place].successors) {
                if (--waits_for[next] == 0) {
                    ready.push(next);
                }
            }
        }
        if (graph_.order.size() < graph_.tasks.size()) {
            report_circle(waits_for);
        }
    }

    /// Of the tasks that never become ready, one that waits for itself: predecessors followed until one
    /// repeats.
    [[noreturn]] void report_circle(const std::vector<std::uint32_t>& waits_for) const {
        std::vector<std::uint32_t> predecessor(graph_.tasks.size(), 0);
        std::uint32_t at = 0;
        for (std::uint32_t place = 0; place < graph_.tasks.size(); ++place) {
            if (waits_for[place] > 0) {
                at = place;
                for (const std::uint32_t next : graph_.tasks[place].successors) {
                    predecessor[next] = place;
                }
            }
        }
        std::vector<bool> seen(graph_.tasks.size(), false);
        while (!seen[at]) {
            seen[at] = true;
            at = predecessor[at];
        }
        std::string circle = name(at, graph_.tasks[at].id);
        std::size_t length = 1;
        for (std::uint32_t before = predecessor[at]; before != at; before = predecessor[before], ++length) {
            if (length < 4) {
                circle += fmt::format(" waits for {}", name(before, graph_.tasks[before].id));
            }
        }
        refuse(fmt::format("{} tasks wait for each other: {}{}", length, circle, length > 4 ? " …" : ""),
               "nexttasks of a task must not lead back to it");
    }

    std::string_view buffer_;
    std::shared_ptr<const SourceText> source_;
    FlexFlowGraph graph_;
    std::uint64_t nodes_ = 0;   // servers and switches
    std::uint64_t listed_ = 0;  // ids in `nexttasks` of the tasks so far
    std::unordered_map<std::uint64_t, ReadDevice> devices_;
    std::unordered_map<std::uint64_t, std::uint32_t> places_;  // of tasks, by id
};

constexpr std::string_view task_name(FlexFlowTask::Kind kind) {
    switch (kind) {
        case FlexFlowTask::Kind::kForward:
            return "forward";
        case FlexFlowTask::Kind::kBackward:
            return "backward";
        case FlexFlowTask::Kind::kUpdate:
            return "update";
        case FlexFlowTask::Kind::kTransfer:
            return "transfer";
        case FlexFlowTask::Kind::kAllReduce:
            break;
    }
    return "all_reduce";
}

/// Writes the tasks of one iteration after another to the ranks.
class GraphWriter {
public:
    GraphWriter(const FlexFlowGraph& graph, int iterations)
        : graph_(graph),
          predecessors_(graph.tasks.size()) {
        graphs_.iterations = iterations;
        graphs_.ranks.resize(graph.servers);
        graphs_.streams.clear();
        for (std::uint32_t gpu = 0; gpu < graph.gpus_of_a_server; ++gpu) {
            graphs_.streams.push_back({fmt::format("gpu {}", gpu), true});
        }
        for (RankGraph& rank : graphs_.ranks) {
            rank.source = graph.source;
        }
        for (std::uint32_t place = 0; place < graph.tasks.size(); ++place) {
            for (const std::uint32_t next : graph.tasks[place].successors) {
                predecessors_[next].push_back(place);
            }
        }
        ends_.resize(graph.servers);
    }

    [[nodiscard]] RankGraphs write() && {
        for (int iteration = 0; iteration < graphs_.iterations; ++iteration) {
            places_.assign(graph_.tasks.size(), {});
            if (iteration > 0) {
                end_iteration(iteration);
            }
            for (const std::uint32_t task : graph_.order) {
                write_task(task, iteration);
            }
        }
        return std::move(graphs_);
    }

private:
    /// Of a task of the file, the tasks of ranks that end it, by server: one, or one for each member.
    using Ends = std::map<std::uint32_t, std::uint32_t>;

    /// A computation of no time on every server that waits for all that the iteration has left open.
    void end_iteration(int iteration) {
        for (std::uint32_t server = 0; server < graph_.servers; ++server) {
            RankTask end;
            end.iteration = iteration;
            end.name = graphs_.name("start of the iteration");
            std::vector<std::uint32_t> after = std::exchange(ends_[server], {});
            start_.resize(graph_.servers);
            start_[server] = static_cast<std::uint32_t>(graphs_.ranks[server].tasks.size());
            graphs_.ranks[server].add(end, after);
        }
    }

    /// What a task waits for on each of `servers`, which differ. A predecessor costs the fewer of them and of
    /// its ends.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> before(
        std::uint32_t task, std::span<const std::uint32_t> servers) const {
        std::map<std::uint32_t, std::vector<std::uint32_t>> found;
        for (const std::uint32_t server : servers) {
            found.try_emplace(server);
        }
        for (const std::uint32_t predecessor : predecessors_[task]) {
            const Ends& ends = places_[predecessor];
            if (ends.size() < found.size()) {
                for (const auto& [server, end] : ends) {
                    if (const auto waiting = found.find(server); waiting != found.end()) {
                        waiting->second.push_back(end);
                    }
                }
                continue;
            }
            for (auto& [server, waits] : found) {
                if (const auto end = ends.find(server); end != ends.end()) {
                    waits.push_back(end->second);
                }
            }
        }
        std::vector<std::vector<std::uint32_t>> all;
        for (const std::uint32_t server : servers) {
            all.push_back(std::move(found.at(server)));
            if (all.back().empty() && !start_.empty()) {
                all.back().push_back(start_[server]);
            }
        }
        return all;
    }
    [[nodiscard]] std::vector<std::uint32_t> before(std::uint32_t task, std::uint32_t server) const {
        return before(task, std::span(&server, 1)).front();
    }

    std::uint32_t add(std::uint32_t server, const RankTask& task, const std::vector<std::uint32_t>& after) {
        graphs_.ranks[server].add(task, after);
        return static_cast<std::uint32_t>(graphs_.ranks[server].tasks.size() - 1);
    }

    void write_task(std::uint32_t place, int iteration) {
        const FlexFlowTask& task = graph_.tasks[place];
        RankTask written;
        written.iteration = iteration;
        written.id = task.id;
        written.name = graphs_.name(fmt::format("{} {}", task_name(task.kind), place));
        Ends& ends = places_[place];
        if (task.is_compute()) {
            written.kind = TaskKind::kCompute;
            written.stream = static_cast<std::uint16_t>(task.gpu);
            written.duration = task.runtime;
            ends[task.server] = add(task.server, written, before(place, task.server));
        } else if (task.kind == FlexFlowTask::Kind::kTransfer) {
            written.size = task.size;
            written.match =
                std::uint64_t{place} + graph_.tasks.size() * static_cast<std::uint64_t>(iteration);
            written.kind = TaskKind::kSend;
            written.peer = task.receiver;
            const std::uint32_t send = add(task.server, written, before(place, task.server));
            ends_[task.server].push_back(send);
            written.kind = TaskKind::kReceive;
            written.peer = task.server;
            std::vector<std::uint32_t> at_start;
            if (!start_.empty()) {
                at_start.push_back(start_[task.receiver]);
            }
            ends[task.receiver] = add(task.receiver, written, at_start);
        } else {
            std::vector<system::RankId> members;
            std::string name = "servers";
            for (const std::uint32_t member : task.members) {
                members.emplace_back(member);
                name += fmt::format("{}{}", name == "servers" ? " " : ",", member);
            }
            if (task.members.size() == graph_.servers) {
                name = "all";
            }
            written.kind = TaskKind::kCollective;
            written.collective = system::CollectiveKind::kAllReduce;
            written.size = task.size;
            written.group = graphs_.group(std::move(members), name);
            written.match =
                std::uint64_t{place} + graph_.tasks.size() * static_cast<std::uint64_t>(iteration);
            const std::vector<std::vector<std::uint32_t>> after = before(place, task.members);
            for (std::size_t member = 0; member < task.members.size(); ++member) {
                ends[task.members[member]] = add(task.members[member], written, after[member]);
            }
        }
        if (task.successors.empty()) {
            for (const auto& [server, end] : ends) {
                ends_[server].push_back(end);
            }
        }
    }

    const FlexFlowGraph& graph_;
    std::vector<std::vector<std::uint32_t>> predecessors_;
    RankGraphs graphs_;
    std::vector<Ends> places_;                      // by task of the file, of this iteration
    std::vector<std::vector<std::uint32_t>> ends_;  // by server, what nothing on it waits for
    std::vector<std::uint32_t> start_;              // by server, of this iteration; empty in the first
};

}  // namespace

Result<FlexFlowGraph> read_flexflow_graph(std::string_view buffer, const std::string& source) {
    try {
        return GraphReader(buffer, source).read();
    } catch (const GraphDefect& defect) {
        return defect.diagnostic;
    }
}

Result<FlexFlowGraph> load_flexflow_graph(const std::filesystem::path& path) {
    const auto refuse = [&path](std::string message, std::string hint) {
        const auto source = std::make_shared<const SourceText>(SourceText{path.string(), {}});
        return Diagnostic{"flexflow.graph", {source, 0, 0, 1}, std::move(message), std::move(hint), {}};
    };
    std::error_code failure;
    const std::uintmax_t size = std::filesystem::file_size(path, failure);
    if (failure) {
        return refuse(fmt::format("cannot be read: {}", failure.message()),
                      "paths are relative to the file that names them");
    }
    if (size > kMaxBufferSize) {
        return refuse(fmt::format("{} bytes, expected at most {}", size, kMaxBufferSize),
                      "is this the right file?");
    }
    std::ifstream file(path, std::ios::binary);
    const std::string buffer((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file && !file.eof()) {
        return refuse("cannot be read", "paths are relative to the file that names them");
    }
    return read_flexflow_graph(buffer, path.string());
}

RankGraphs rank_graphs_of(const FlexFlowGraph& graph, int iterations) {
    return GraphWriter(graph, iterations).write();
}

Time longest_compute_chain(const FlexFlowGraph& graph) {
    std::vector<Time> until(graph.tasks.size());
    Time longest;
    for (const std::uint32_t place : graph.order) {
        const FlexFlowTask& task = graph.tasks[place];
        const Time end = until[place] + (task.is_compute() ? task.runtime : Time());
        longest = std::max(longest, end);
        for (const std::uint32_t next : task.successors) {
            until[next] = std::max(until[next], end);
        }
    }
    return longest;
}

}  // namespace astrolabe::workload
