/// Chakra traces of a Program (docs/models/traces.md, "Chakra").
///
/// A task is a node, its id its place in the list from 1; node 0, where there is one, describes the process
/// groups of the rank. All dependencies are data_deps. Computations of a stream of a program that keeps order
/// depend on the one before, since ASTRA-sim starts whatever is ready. Of a stream called "host" they are
/// CPU operations.
///
/// duration_micros is whole: what is cut off is carried to the next computation of the stream, so sums are
/// exact within a microsecond; the picoseconds of each are an attribute of our own.
#include "../chakra/chakra_node.hpp"
#include "../rank_graphs/program_graphs.hpp"
#include "exports.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

namespace astrolabe::workload {
namespace {

using chakra::CommType;
using chakra::NodeType;
using protozero::pbf_writer;

CommType comm_type_of(system::CollectiveKind kind) {
    switch (kind) {
        case system::CollectiveKind::kAllReduce:
            return CommType::kAllReduce;
        case system::CollectiveKind::kReduceScatter:
            return CommType::kReduceScatter;
        case system::CollectiveKind::kAllGather:
            return CommType::kAllGather;
        case system::CollectiveKind::kAllToAll:
            return CommType::kAllToAll;
        case system::CollectiveKind::kBroadcast:
            return CommType::kBroadcast;
        case system::CollectiveKind::kReduce:
            return CommType::kReduce;
        case system::CollectiveKind::kPointToPoint:
            break;
    }
    invariant_failed("kind is a collective's", "messages are sends and receives");
}

/// A message with its length before it.
void append_record(std::string& file, const std::string& message) {
    protozero::add_varint_to_buffer(&file, message.size());
    file += message;
}

/// The node that is being written.
class NodeWriter {
public:
    NodeWriter(std::uint64_t id, std::string_view name, NodeType type)
        : writer_(message_) {
        if (id != 0) {
            writer_.add_uint64(1, id);
        }
        writer_.add_string(2, name.data(), name.size());
        writer_.add_enum(3, static_cast<std::int32_t>(type));
    }

    void data_dependencies(const std::vector<std::uint64_t>& ids) {
        writer_.add_packed_uint64(5, ids.begin(), ids.end());
    }
    void duration_micros(std::uint64_t duration) {
        if (duration != 0) {
            writer_.add_uint64(7, duration);
        }
    }
    void input_values(std::string_view text) {
        pbf_writer description(writer_, 8);
        description.add_string(1, text.data(), text.size());
    }
    void flag(std::string_view name, bool value) {
        pbf_writer attribute = begin_attribute(name);
        attribute.add_bool(27, value);
    }
    void int32(std::string_view name, std::int64_t value) {
        pbf_writer attribute = begin_attribute(name);
        attribute.add_int32(7, static_cast<std::int32_t>(value));
    }
    void int64(std::string_view name, std::int64_t value) {
        pbf_writer attribute = begin_attribute(name);
        attribute.add_int64(9, value);
    }
    void text(std::string_view name, std::string_view value) {
        pbf_writer attribute = begin_attribute(name);
        attribute.add_string(29, value.data(), value.size());
    }
    void int64_list(std::string_view name, const std::vector<std::int64_t>& values) {
        pbf_writer attribute = begin_attribute(name);
        pbf_writer list(attribute, 10);
        list.add_packed_int64(1, values.begin(), values.end());
    }
    [[nodiscard]] const std::string& message() const { return message_; }

private:
    [[nodiscard]] pbf_writer begin_attribute(std::string_view name) {
        pbf_writer attribute(writer_, 10);
        attribute.add_string(1, name.data(), name.size());
        return attribute;
    }

    std::string message_;
    pbf_writer writer_;
};

/// The nodes of one rank.
class RankFile {
public:
    RankFile(const system::Program& program, const TraceExportOptions& options, ExportGroups& groups,
             std::uint32_t rank)
        : program_(program),
          options_(options),
          groups_(groups),
          rank_(rank),
          graph_(rank_graph_of(program, system::RankId(rank), groups.graphs())),
          last_(program.streams.size(), 0),
          carry_(program.streams.size(), 0) {}

    void write(const TraceExport::Append& append) {
        append_ = &append;
        write_metadata();
        write_groups();
        nodes_of_.resize(graph_.tasks.size());
        for (std::uint32_t i = 0; i < graph_.tasks.size(); ++i) {
            write_task(i);
            constexpr std::size_t kPiece = std::size_t{1} << 16U;
            if (file_.size() >= kPiece) {
                flush();
            }
        }
        flush();
    }

private:
    /// The nodes that end a task: one, or those of its messages.
    struct NodeRange {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };

    void flush() {
        (*append_)(file_);
        file_.clear();
    }

    void write_metadata() {
        std::string message;
        pbf_writer metadata(message);
        metadata.add_string(1, "0.0.4");
        {
            pbf_writer attribute(metadata, 2);
            attribute.add_string(1, chakra::kStreamsAttribute.data(), chakra::kStreamsAttribute.size());
            pbf_writer list(attribute, 30);
            for (const std::string& stream : program_.streams) {
                list.add_string(1, stream);
            }
        }
        {
            pbf_writer attribute(metadata, 2);
            attribute.add_string(1, chakra::kIterationsAttribute.data(), chakra::kIterationsAttribute.size());
            attribute.add_int64(9, program_.iterations);
        }
        {
            pbf_writer attribute(metadata, 2);
            attribute.add_string(1, chakra::kOrderAttribute.data(), chakra::kOrderAttribute.size());
            attribute.add_string(29, keeps_order() ? "program" : "first_come");
        }
        append_record(file_, message);
    }

    [[nodiscard]] bool keeps_order() const {
        return program_.compute_order == system::ComputeOrder::kProgram;
    }

    /// Groups of the rank's collectives, as PyTorch describes process groups.
    void write_groups() {
        std::vector<bool> is_used(groups_.numbers().size(), false);
        for (const RankTask& task : graph_.tasks) {
            if (task.kind == TaskKind::kCollective && groups_.number(task.group) != 0) {
                is_used[task.group] = true;
            }
        }
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (std::uint32_t group = 0; group < is_used.size(); ++group) {
            if (is_used[group]) {
                nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
                for (const system::RankId member : groups_.graphs().groups[group]) {
                    ranks.push_back(member.index());
                }
                const std::size_t size = ranks.size();
                list.push_back({{"pg_name", std::to_string(groups_.number(group))},
                                {"pg_desc", plain(groups_.graphs().group_names[group])},
                                {"ranks", std::move(ranks)},
                                {"group_size", size},
                                {"group_count", groups_.count() + 1}});
            }
        }
        if (!list.empty()) {
            NodeWriter node(0, "## process_group:init ##", NodeType::kMetadata);
            node.input_values(fmt::format("['{}']", list.dump()));
            append_record(file_, node.message());
        }
    }

    /// Without what a text of Python in a text of JSON would have to escape.
    [[nodiscard]] static std::string plain(std::string text) {
        for (char& letter : text) {
            const bool is_plain =
                letter >= ' ' && letter <= '~' && letter != '\'' && letter != '"' && letter != '\\';
            letter = is_plain ? letter : '_';
        }
        return text;
    }

    /// Ids of the nodes that a task waits for.
    [[nodiscard]] std::vector<std::uint64_t> dependencies_of(std::uint32_t task) const {
        std::vector<std::uint64_t> ids;
        for (const std::uint32_t dependency : graph_.dependencies(task)) {
            const NodeRange& nodes = nodes_of_[dependency];
            for (std::uint64_t i = 0; i < nodes.count; ++i) {
                ids.push_back(nodes.first + i);
            }
        }
        return ids;
    }

    void write_task(std::uint32_t place) {
        const RankTask& task = graph_.tasks[place];
        std::vector<std::uint64_t> before = dependencies_of(place);
        const std::string& name = groups_.graphs().names[task.name];
        const bool as_messages = task.kind == TaskKind::kCollective && task.splits != RankTask::kNone &&
                                 options_.uneven == UnevenExport::kMessages;
        if (as_messages) {
            write_messages(task, name, before, nodes_of_[place]);
            return;
        }
        nodes_of_[place] = {next_id_, 1};
        switch (task.kind) {
            case TaskKind::kCompute:
                write_computation(task, name, std::move(before));
                break;
            case TaskKind::kCollective:
                write_collective(task, name, before);
                break;
            case TaskKind::kSend:
            case TaskKind::kReceive:
                write_message(task, name, before, task.kind == TaskKind::kSend, task.peer, task.size);
                break;
        }
    }

    void finish(NodeWriter& node, const RankTask& task) {
        if (task.iteration != 0) {
            node.int64(chakra::kIterationAttribute, task.iteration);
        }
        append_record(file_, node.message());
        ++next_id_;
    }

    void write_computation(const RankTask& task, const std::string& name, std::vector<std::uint64_t> before) {
        NodeWriter node(next_id_, name, NodeType::kCompute);
        std::uint64_t& last = last_[task.stream];
        if (keeps_order() && last != 0 && std::find(before.begin(), before.end(), last) == before.end()) {
            before.push_back(last);
        }
        last = next_id_;
        node.data_dependencies(before);
        constexpr std::int64_t kPicosecondsPerMicro = 1'000'000;
        if (task.duration > Time(0)) {
            std::int64_t& carry = carry_[task.stream];
            const std::int64_t micros = task.duration.count() / kPicosecondsPerMicro;
            carry += task.duration.count() % kPicosecondsPerMicro;
            const bool is_full = carry >= kPicosecondsPerMicro;
            carry -= is_full ? kPicosecondsPerMicro : 0;
            node.duration_micros(static_cast<std::uint64_t>(micros + (is_full ? 1 : 0)));
        }
        const bool is_host = program_.streams[task.stream] == "host";
        node.flag("is_cpu_op", is_host);
        if (program_.streams.size() > 1) {
            node.int64(is_host ? "tid" : "stream", task.stream);
        }
        node.int64(chakra::kPicosecondsAttribute, task.duration.count());
        finish(node, task);
    }

    void write_collective(const RankTask& task, const std::string& name,
                          const std::vector<std::uint64_t>& before) {
        NodeWriter node(next_id_, name, NodeType::kCollective);
        node.data_dependencies(before);
        node.flag("is_cpu_op", false);
        node.int64("comm_type", static_cast<std::int64_t>(comm_type_of(task.collective)));
        node.int64("comm_size", task.size.count());
        if (const std::uint32_t number = groups_.number(task.group); number != 0) {
            node.text("pg_name", std::to_string(number));
        }
        if (task.priority == system::Priority::kExplicit) {
            node.int64("comm_priority", task.explicit_priority);
        }
        if (task.priority != system::Priority::kDefault) {
            node.int64(chakra::kPriorityAttribute, static_cast<std::int64_t>(task.priority));
        }
        if (task.splits != RankTask::kNone) {
            std::vector<std::int64_t> splits;
            for (const Bytes bytes : graph_.splits[task.splits]) {
                splits.push_back(bytes.count());
            }
            node.int64_list(chakra::kSplitsAttribute, splits);
        }
        if (task.duration > Time(0)) {
            node.int64(chakra::kLeastAttribute, task.duration.count());
        }
        if (task.delay > Time(0)) {
            node.int64(chakra::kDelayAttribute, task.delay.count());
        }
        if (task.begins_together) {
            node.int64(chakra::kTogetherAttribute, 1);
        }
        finish(node, task);
    }

    void write_message(const RankTask& task, const std::string& name,
                       const std::vector<std::uint64_t>& before, bool sends, std::uint32_t peer, Bytes size) {
        NodeWriter node(next_id_, name, sends ? NodeType::kSend : NodeType::kReceive);
        node.data_dependencies(before);
        node.flag("is_cpu_op", false);
        node.int64("comm_size", size.count());
        node.int32(sends ? "comm_dst" : "comm_src", peer);
        node.int32("comm_tag", static_cast<std::int64_t>(task.match));
        finish(node, task);
    }

    /// An uneven all_to_all, to and from the next ranks of the group first.
    void write_messages(const RankTask& task, const std::string& name,
                        const std::vector<std::uint64_t>& before, NodeRange& nodes) {
        const std::vector<system::RankId>& group = groups_.graphs().groups[task.group];
        const std::vector<Bytes>& splits = graph_.splits[task.splits];
        const auto own = static_cast<std::size_t>(
            std::find(group.begin(), group.end(), system::RankId(rank_)) - group.begin());
        const system::PairSizes& sizes = pair_sizes(task, group);
        nodes.first = next_id_;
        for (std::size_t step = 1; step < group.size(); ++step) {
            const std::size_t to = (own + step) % group.size();
            if (splits[to] > Bytes(0)) {
                write_message(task, fmt::format("{} to {}", name, group[to].index()), before, true,
                              group[to].index(), splits[to]);
            }
        }
        for (std::size_t step = 1; step < group.size(); ++step) {
            const std::size_t from = (own + group.size() - step) % group.size();
            if (sizes(from, own) > Bytes(0)) {
                write_message(task, fmt::format("{} from {}", name, group[from].index()), before, false,
                              group[from].index(), sizes(from, own));
            }
        }
        nodes.count = next_id_ - nodes.first;
        if (nodes.count == 0) {
            // Who waits for it waits for what it waits for itself.
            NodeWriter node(next_id_, name, NodeType::kMetadata);
            node.data_dependencies(before);
            node.flag("is_cpu_op", false);
            nodes.count = 1;
            finish(node, task);
        }
    }

    [[nodiscard]] const system::PairSizes& pair_sizes(const RankTask& task,
                                                      const std::vector<system::RankId>& group) const {
        const system::CollectiveOperation& work =
            program_.operations[system::OperationId(task.match)].collective();
        const auto& all = program_.partitions[work.partition].groups;
        return (*work.pair_sizes)[static_cast<std::size_t>(std::find(all.begin(), all.end(), group) -
                                                           all.begin())];
    }

    const system::Program& program_;
    const TraceExportOptions& options_;
    ExportGroups& groups_;
    std::uint32_t rank_;
    RankGraph graph_;
    const TraceExport::Append* append_ = nullptr;
    std::string file_;  // what is not handed over yet
    std::uint64_t next_id_ = 1;
    std::vector<NodeRange> nodes_of_;  // by task
    std::vector<std::uint64_t> last_;  // by stream: the computation before
    std::vector<std::int64_t> carry_;  // by stream: picoseconds that durations left out
};

class ChakraExport final : public TraceExport {
public:
    ChakraExport(const system::Program& program, TraceExportOptions options)
        : program_(program),
          options_(std::move(options)),
          groups_(program) {}

    [[nodiscard]] std::size_t files() const override {
        return program_.ranks + (groups_.count() > 0 ? 1 : 0);
    }
    [[nodiscard]] std::string name(std::size_t file) const override {
        return file < program_.ranks ? fmt::format("{}.{}.et", options_.prefix, file) : "groups.json";
    }
    void write(std::size_t file, const Append& append) override {
        if (file < program_.ranks) {
            RankFile(program_, options_, groups_, static_cast<std::uint32_t>(file)).write(append);
        } else {
            write_group_file(append);
        }
    }

private:
    void write_group_file(const Append& append) {
        append("{");
        std::string text;
        for (std::uint32_t group = 0; group < groups_.numbers().size(); ++group) {
            if (groups_.number(group) == 0) {
                continue;
            }
            text =
                fmt::format("{}\n  \"{}\": [", groups_.number(group) == 1 ? "" : ",", groups_.number(group));
            const std::vector<system::RankId>& members = groups_.graphs().groups[group];
            for (std::size_t i = 0; i < members.size(); ++i) {
                text += fmt::format("{}{}", i == 0 ? "" : ", ", members[i].index());
            }
            append(text + "]");
        }
        append("\n}\n");
    }

    const system::Program& program_;
    TraceExportOptions options_;
    ExportGroups groups_;
};

}  // namespace

MadeExport make_chakra_export(const system::Program& program, const TraceExportOptions& options) {
    if (program.operations.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        return export_error(fmt::format("{} operations are more than tags of messages have numbers",
                                        program.operations.size()),
                            "export fewer iterations");
    }
    for (const system::Operation& operation : program.operations) {
        if (options.uneven == UnevenExport::kMessages && operation.is_collective() &&
            operation.collective().is_uneven() &&
            (operation.collective().completion_delay > Time(0) ||
             operation.collective().least_duration > Time(0))) {
            return export_error(fmt::format("'{}' has a delay or a least duration, which messages cannot say",
                                            operation.name),
                                "export its splits");
        }
    }
    return std::unique_ptr<TraceExport>(std::make_unique<ChakraExport>(program, options));
}

}  // namespace astrolabe::workload
