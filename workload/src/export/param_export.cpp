/// Basic communication traces of PARAM from a Program (docs/models/traces.md, "PARAM").
///
/// An entry a collective or message of the rank, in program order, each a request; a wait for it stands
/// before the first task that depends on it, and at the end for those that none depends on. Elements are
/// float32 where all sizes of an entry are multiples of 4 bytes, else byte.
///
/// Computations are left out: PARAM knows those of matrix products and embedding lookups alone. startTime_ns
/// is when an entry could start if the network took no time:
///
///     start(t) = max over what t depends on, and the computation before it on its stream, of their ends
///     end(t)   = start(t) + duration; of a collective + its least duration and its completion delay
///
/// A reduce_scatter of S bytes over n ranks, where n does not divide S, is one of n · ⌈S/n⌉. An even
/// all_to_all is an all_to_allv in which member i of n gets the bytes from ⌊i·S/n⌋ to ⌊(i+1)·S/n⌋ of each.
#include "../rank_graphs/program_graphs.hpp"
#include "exports.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace astrolabe::workload {
namespace {

using ParamJson = nlohmann::ordered_json;
using system::CollectiveKind;

/// Bytes of the parts of S that the members of a group have.
std::vector<std::int64_t> even_parts(Bytes size, std::size_t members) {
    std::vector<std::int64_t> parts;
    std::int64_t begin = 0;
    for (std::size_t i = 1; i <= members; ++i) {
        const auto end =
            static_cast<std::int64_t>(static_cast<detail::Int128>(size.count()) *
                                      static_cast<std::int64_t>(i) / static_cast<std::int64_t>(members));
        parts.push_back(end - begin);
        begin = end;
    }
    return parts;
}

/// Sizes of an entry in bytes.
struct EntrySizes {
    std::int64_t in = 0;
    std::int64_t out = 0;
    std::vector<std::int64_t> in_split{};
    std::vector<std::int64_t> out_split{};
};

void put_sizes(ParamJson& entry, const EntrySizes& sizes) {
    constexpr std::int64_t kFloat = 4;
    const auto is_whole = [](std::int64_t bytes) { return bytes % kFloat == 0; };
    const bool are_floats = is_whole(sizes.in) && is_whole(sizes.out) &&
                            std::all_of(sizes.in_split.begin(), sizes.in_split.end(), is_whole) &&
                            std::all_of(sizes.out_split.begin(), sizes.out_split.end(), is_whole);
    const std::int64_t element = are_floats ? kFloat : 1;
    entry["dtype"] = are_floats ? "float32" : "byte";
    entry["in_msg_size"] = sizes.in / element;
    entry["out_msg_size"] = sizes.out / element;
    for (const auto& [key, split] :
         {std::pair{"in_split", &sizes.in_split}, {"out_split", &sizes.out_split}}) {
        if (!split->empty()) {
            ParamJson& list = entry[key] = ParamJson::array();
            for (const std::int64_t bytes : *split) {
                list.push_back(bytes / element);
            }
        }
    }
}

/// The entries of one rank.
class ParamFile {
public:
    ParamFile(const system::Program& program, ExportGroups& groups, std::uint32_t rank)
        : program_(program),
          groups_(groups),
          rank_(rank),
          graph_(rank_graph_of(program, system::RankId(rank), groups.graphs())) {}

    void write(const TraceExport::Append& append) {
        append_ = &append;
        append("[");
        write_group(0, all_ranks());
        for (std::uint32_t group = 0; group < groups_.numbers().size(); ++group) {
            if (groups_.number(group) != 0) {
                write_group(groups_.number(group), groups_.graphs().groups[group]);
            }
        }
        write_tasks();
        append("\n]\n");
    }

private:
    /// What a wait names.
    struct Request {
        std::uint64_t number = 0;  ///< 0: no request, or waited for
        std::uint32_t group = 0;
    };

    void put(const ParamJson& entry) {
        (*append_)((is_first_ ? "\n  " : ",\n  ") + entry.dump());
        is_first_ = false;
    }

    [[nodiscard]] std::vector<system::RankId> all_ranks() const {
        std::vector<system::RankId> all;
        for (std::size_t rank = 0; rank < program_.ranks; ++rank) {
            all.emplace_back(rank);
        }
        return all;
    }

    void write_group(std::uint32_t number, const std::vector<system::RankId>& members) {
        ParamJson ranks = ParamJson::array();
        for (const system::RankId member : members) {
            ranks.push_back(member.index());
        }
        put({{"comms", "init"}, {"pg_id", number}, {"global_ranks", ranks}, {"world_size", members.size()}});
    }

    void wait_for(Request& request) {
        if (request.number != 0) {
            put({{"comms", "wait"}, {"req", request.number}, {"pg_id", request.group}});
            request.number = 0;
        }
    }

    void write_tasks() {
        std::vector<Request> requests(graph_.tasks.size());
        std::vector<Time> ends(graph_.tasks.size());
        std::vector<Time> stream_ends(program_.streams.size());
        for (std::uint32_t place = 0; place < graph_.tasks.size(); ++place) {
            const RankTask& task = graph_.tasks[place];
            Time start;
            for (const std::uint32_t dependency : graph_.dependencies(place)) {
                wait_for(requests[dependency]);
                start = std::max(start, ends[dependency]);
            }
            if (task.kind == TaskKind::kCompute) {
                start = std::max(start, stream_ends[task.stream]);
                stream_ends[task.stream] = ends[place] = start + task.duration;
                continue;
            }
            ends[place] = start + task.duration + task.delay;
            requests[place] = {++last_request_,
                               task.kind == TaskKind::kCollective ? groups_.number(task.group) : 0};
            put(entry_of(task, start, requests[place]));
        }
        for (Request& request : requests) {
            wait_for(request);
        }
    }

    [[nodiscard]] ParamJson entry_of(const RankTask& task, Time start, const Request& request) {
        ParamJson entry;
        EntrySizes sizes{.in = task.size.count(), .out = task.size.count()};
        if (task.kind == TaskKind::kCollective) {
            const std::vector<system::RankId>& group = groups_.graphs().groups[task.group];
            entry["comms"] = name_of(task.collective);
            entry["pg_id"] = request.group;
            entry["world_size"] = group.size();
            if (system::has_root(task.collective)) {
                entry["root"] = group[task.root].index();
            }
            sizes = sizes_of(task, group);
        } else {
            const bool sends = task.kind == TaskKind::kSend;
            entry["comms"] = sends ? "isend" : "irecv";
            entry["src_rank"] = sends ? rank_ : task.peer;
            entry["dst_rank"] = sends ? task.peer : rank_;
            entry["use_batch"] = false;
            entry["world_size"] = program_.ranks;
        }
        entry["req"] = request.number;
        put_sizes(entry, sizes);
        constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
        entry["startTime_ns"] = start.count() / kPicosecondsPerNanosecond;
        entry["markers"] = ParamJson::array();
        if (program_.iterations > 1) {
            entry["markers"].push_back(fmt::format("iteration {}", task.iteration));
        }
        entry["markers"].push_back(groups_.graphs().names[task.name]);
        return entry;
    }

    [[nodiscard]] static std::string_view name_of(CollectiveKind kind) {
        switch (kind) {
            case CollectiveKind::kAllReduce:
                return "all_reduce";
            case CollectiveKind::kReduceScatter:
                return "reduce_scatter_base";
            case CollectiveKind::kAllGather:
                return "all_gather_base";
            case CollectiveKind::kAllToAll:
                return "all_to_allv";
            case CollectiveKind::kBroadcast:
                return "broadcast";
            case CollectiveKind::kReduce:
                return "reduce";
            case CollectiveKind::kPointToPoint:
                break;
        }
        invariant_failed("kind is a collective's", "messages are sends and receives");
    }

    [[nodiscard]] EntrySizes sizes_of(const RankTask& task, const std::vector<system::RankId>& group) const {
        const std::int64_t size = task.size.count();
        const auto members = static_cast<std::int64_t>(group.size());
        switch (task.collective) {
            case CollectiveKind::kAllGather:
                return {.in = size, .out = size * members};
            case CollectiveKind::kReduceScatter: {
                const std::int64_t part = (size + members - 1) / members;
                return {.in = part * members, .out = part};
            }
            case CollectiveKind::kAllToAll:
                return exchange_of(task, group);
            default:
                return {.in = size, .out = size};
        }
    }

    [[nodiscard]] EntrySizes exchange_of(const RankTask& task,
                                         const std::vector<system::RankId>& group) const {
        const auto own = static_cast<std::size_t>(
            std::find(group.begin(), group.end(), system::RankId(rank_)) - group.begin());
        EntrySizes sizes;
        if (task.splits == RankTask::kNone) {
            sizes.in_split = even_parts(task.size, group.size());
            sizes.out_split.assign(group.size(), sizes.in_split[own]);
        } else {
            const system::CollectiveOperation& work =
                program_.operations[system::OperationId(task.match)].collective();
            const auto& all = program_.partitions[work.partition].groups;
            const system::PairSizes& pairs = (*work.pair_sizes)[static_cast<std::size_t>(
                std::find(all.begin(), all.end(), group) - all.begin())];
            for (std::size_t member = 0; member < group.size(); ++member) {
                sizes.in_split.push_back(pairs(own, member).count());
                sizes.out_split.push_back(pairs(member, own).count());
            }
        }
        for (std::size_t member = 0; member < group.size(); ++member) {
            sizes.in += sizes.in_split[member];
            sizes.out += sizes.out_split[member];
        }
        return sizes;
    }

    const system::Program& program_;
    ExportGroups& groups_;
    std::uint32_t rank_;
    RankGraph graph_;
    const TraceExport::Append* append_ = nullptr;
    bool is_first_ = true;
    std::uint64_t last_request_ = 0;
};

class ParamExport final : public TraceExport {
public:
    explicit ParamExport(const system::Program& program)
        : program_(program),
          groups_(program) {}

    [[nodiscard]] std::size_t files() const override { return program_.ranks; }
    [[nodiscard]] std::string name(std::size_t file) const override { return fmt::format("{}.json", file); }
    void write(std::size_t file, const Append& append) override {
        ParamFile(program_, groups_, static_cast<std::uint32_t>(file)).write(append);
    }

private:
    const system::Program& program_;
    ExportGroups groups_;
};

}  // namespace

MadeExport make_param_export(const system::Program& program, const TraceExportOptions& /*options*/) {
    return std::unique_ptr<TraceExport>(std::make_unique<ParamExport>(program));
}

}  // namespace astrolabe::workload
