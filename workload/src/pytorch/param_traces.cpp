#include "param_traces.hpp"

#include "../rank_graphs/json_records.hpp"
#include "../rank_graphs/trace_file.hpp"
#include "../rank_graphs/trace_formats.hpp"
#include "call_book.hpp"
#include "rank_files.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace astrolabe::workload::pytorch {
namespace {

using ParamEntry = nlohmann::json;

enum class EntryKind : std::uint8_t { kCall, kCompute };

/// An entry of a file, checked as far as one rank can be.
struct Entry {
    EntryKind kind = EntryKind::kCall;
    CommCall call;
    std::string request;  ///< as JSON; empty: none
    std::optional<Time> start = std::nullopt;
    std::string name;  ///< of a computation
    Work work;
};

struct RankEntries {
    std::string file;
    std::uint32_t rank = 0;
    std::vector<Entry> entries;
    ProcessGroups groups;
    std::int64_t world_size = 0;
    std::vector<std::string> notes;
};

const ParamEntry* entry_member(const ParamEntry& entry, const char* key) {
    const auto found = entry.find(key);
    return found == entry.end() || found->is_null() ? nullptr : &*found;
}

class ParamReader {
public:
    ParamReader(const RankFile& file, std::uint32_t rank, const ParamOptions& options)
        : options_(options) {
        read_.file = file.path.string();
        read_.rank = rank;
    }

    Result<RankEntries> read(const std::filesystem::path& path) {
        const Result<ParamEntry> rest = read_json_records(path, "", [&](JsonRecord& record) {
            ++number_;
            line_ = record.line;
            take(record.value);
            constexpr std::size_t kMost = 20;
            return errors_.size() < kMost;
        });
        if (!rest) {
            return rest.error();
        }
        if (!errors_.empty()) {
            return errors_;
        }
        return std::move(read_);
    }

private:
    void error(std::string_view code, const std::string& message, std::string hint = {}) {
        errors_.push_back(trace_error(fmt::format("param.{}", code), read_.file,
                                      fmt::format("entry {}: {}", number_, message), std::move(hint), line_));
    }

    /// Reports what is not known, or leaves the entry out.
    void unknown(std::string_view what, const std::string& value) {
        if (options_.lenient) {
            read_.notes.push_back(
                fmt::format("entry {} is left out: {} '{}' is not known", number_, what, value));
        } else {
            error("unknown", fmt::format("{} '{}' is not known", what, value), "lenient: true leaves it out");
        }
    }

    std::optional<std::int64_t> number(const ParamEntry& entry, const char* key, std::int64_t least,
                                       std::optional<std::int64_t> absent = std::nullopt) {
        const ParamEntry* value = entry_member(entry, key);
        if (value == nullptr && absent) {
            return absent;
        }
        const std::optional<std::int64_t> found = value == nullptr ? std::nullopt : whole_number(*value);
        if (!found || *found < least) {
            error("number",
                  value == nullptr ? fmt::format("it has no '{}'", key)
                                   : fmt::format("'{}' is {}", key, value->dump()),
                  fmt::format("expected a whole number from {}", least));
            return std::nullopt;
        }
        return found;
    }

    void take(const ParamEntry& entry) {
        const ParamEntry* comms = entry.is_object() ? entry_member(entry, "comms") : nullptr;
        const ParamEntry* compute = entry.is_object() ? entry_member(entry, "compute") : nullptr;
        if (comms != nullptr && comms->is_string()) {
            take_comms(entry, comms->get_ref<const std::string&>());
        } else if (compute != nullptr && compute->is_string()) {
            take_compute(entry, compute->get_ref<const std::string&>());
        } else {
            error("entry", "it has neither 'comms' nor 'compute'",
                  R"(expected {"comms": "all_reduce", …} or {"compute": "gemm", …})");
        }
    }

    static std::string letters_of(std::string_view name) {
        std::string letters;
        for (const char c : name) {
            if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
                letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            }
        }
        return letters;
    }

    void take_comms(const ParamEntry& entry, const std::string& name) {
        const std::string letters = letters_of(name);
        if (letters == "init") {
            take_group(entry);
            return;
        }
        if (letters == "batchisendirecv") {
            return;
        }
        const std::optional<CallMeaning> meaning = meaning_of(name);
        if (!meaning) {
            unknown("operation", name);
            return;
        }
        Entry made;
        made.call.id = static_cast<std::uint64_t>(number_);
        made.call.line = line_;
        made.call.name = name;
        made.call.meaning = *meaning;
        if (const ParamEntry* request = entry_member(entry, "req")) {
            made.request = request->dump();
        }
        if (const ParamEntry* markers = entry_member(entry, "markers");
            markers != nullptr && markers->is_array() && !markers->empty() && markers->back().is_string()) {
            made.name = markers->back().get<std::string>();
        }
        const std::size_t errors = errors_.size();
        if (letters == "barrier") {
            made.call.is_barrier = true;
        } else if (!made.call.is_wait()) {
            take_sizes(entry, made.call);
        } else if (made.request.empty()) {
            error("wait", "a wait has no 'req'", "expected that of the call that it waits for");
        }
        if (const ParamEntry* group = entry_member(entry, "pg_id")) {
            made.call.group = group->is_string() ? group->get<std::string>() : group->dump();
        }
        if (options_.timestamps && entry_member(entry, "startTime_ns") != nullptr) {
            constexpr std::int64_t kPicoseconds = 1000;
            if (const auto start = number(entry, "startTime_ns", 0);
                start && *start <= std::numeric_limits<std::int64_t>::max() / kPicoseconds) {
                made.start = Time(*start * kPicoseconds);
            }
        }
        if (errors_.size() == errors && !is_left_out_) {
            read_.entries.push_back(std::move(made));
        }
        is_left_out_ = false;
    }

    void take_group(const ParamEntry& entry) {
        const ParamEntry* group = entry_member(entry, "pg_id");
        const ParamEntry* ranks = entry_member(entry, "global_ranks");
        const std::optional<std::vector<std::int64_t>> members =
            ranks == nullptr ? std::nullopt : whole_numbers(*ranks);
        if (group == nullptr || !members) {
            error("group", "an init without 'pg_id' and a list 'global_ranks'",
                  R"(expected {"comms": "init", "pg_id": 1, "global_ranks": [0, 1]})");
            return;
        }
        std::vector<std::uint32_t> known;
        for (const std::int64_t rank : *members) {
            if (rank < 0 || rank >= kMostRanks) {
                error("group", fmt::format("{} is no rank", rank));
                return;
            }
            known.push_back(static_cast<std::uint32_t>(rank));
            read_.world_size = std::max(read_.world_size, rank + 1);
        }
        read_.groups[group->is_string() ? group->get<std::string>() : group->dump()] =
            GroupRanks(std::move(known));
    }

    void take_sizes(const ParamEntry& entry, CommCall& call) {
        const ParamEntry* type = entry_member(entry, "dtype");
        const std::string text = type != nullptr && type->is_string() ? type->get<std::string>() : "";
        const std::optional<std::int64_t> element = element_bytes(text);
        if (!element) {
            is_left_out_ = options_.lenient;
            unknown("dtype", text);
            return;
        }
        for (const auto& [key, bytes] : {std::pair{"in_msg_size", &call.in}, {"out_msg_size", &call.out}}) {
            const std::optional<std::int64_t> count = number(entry, key, 0);
            const std::optional<Bytes> size = count ? bytes_of(*count, *element) : std::nullopt;
            if (!size) {
                if (count) {
                    error("size", fmt::format("'{}' of {} elements of {} bytes", key, *count, *element),
                          "sizes fit in 62 bits");
                }
                return;
            }
            *bytes = *size;
        }
        call.group_size = number(entry, "world_size", 0, 0).value_or(0);
        read_.world_size = std::max(read_.world_size, call.group_size);
        const bool is_send = call.meaning.kind == CallKind::kSend;
        if (is_send || call.meaning.kind == CallKind::kReceive) {
            call.root = number(entry, is_send ? "dst_rank" : "src_rank", 0).value_or(0);
            return;
        }
        call.root = number(entry, "root", 0, 0).value_or(0);
        for (const auto& [key, bytes, splits] :
             {std::tuple{"in_split", call.in, &call.in_splits}, {"out_split", call.out, &call.out_splits}}) {
            const ParamEntry* list = entry_member(entry, key);
            if (list == nullptr || call.meaning.kind != CallKind::kCollective ||
                call.meaning.collective != system::CollectiveKind::kAllToAll) {
                continue;
            }
            const std::optional<std::vector<std::int64_t>> counts = whole_numbers(*list);
            if (!counts) {
                error("splits", fmt::format("'{}' is {}", key, list->dump()),
                      "expected a list of whole numbers");
                return;
            }
            Splits made = split_bytes(*counts, bytes, *element, 0, key);
            if (!made.error.empty()) {
                error("splits", made.error, "splits are elements for each member of the group");
                return;
            }
            *splits = std::move(made.bytes);
        }
    }

    /// The product, or nothing with an error where it is more than 2^60.
    std::optional<std::int64_t> product(std::initializer_list<std::optional<std::int64_t>> factors) {
        constexpr std::int64_t kMost = std::int64_t{1} << 60U;
        std::int64_t result = 1;
        for (const std::optional<std::int64_t>& factor : factors) {
            if (!factor) {
                return std::nullopt;
            }
            if (*factor != 0 && result > kMost / *factor) {
                error("size", "its work does not fit in 60 bits");
                return std::nullopt;
            }
            result *= *factor;
        }
        return result;
    }

    void take_compute(const ParamEntry& entry, const std::string& name) {
        const ParamEntry* type = entry_member(entry, "dtype");
        const std::string text = type != nullptr && type->is_string() ? type->get<std::string>() : "float";
        const std::optional<std::int64_t> element = element_bytes(text);
        if (!element) {
            unknown("dtype", text);
            return;
        }
        Entry made;
        made.kind = EntryKind::kCompute;
        made.name = name;
        const std::string letters = letters_of(text);
        made.work.precision = letters == "bfloat"                  ? Precision::kBf16
                              : letters == "half" || *element == 2 ? Precision::kFp16
                                                                   : Precision::kFp32;
        const std::optional<std::int64_t> count = number(entry, "count", 0, 1);
        const std::size_t errors = errors_.size();
        if (name == "gemm") {
            take_gemm(entry, *element, count, made.work);
        } else if (name == "emb_lookup") {
            take_lookup(entry, *element, count, made.work);
        } else {
            unknown("computation", name);
            return;
        }
        if (count && errors_.size() == errors) {
            read_.entries.push_back(std::move(made));
        }
    }

    void take_gemm(const ParamEntry& entry, std::int64_t element, std::optional<std::int64_t> count,
                   Work& work) {
        std::optional<std::int64_t> rows;
        std::optional<std::int64_t> inner;
        std::optional<std::int64_t> columns;
        if (entry_member(entry, "mm_dim") != nullptr) {
            rows = inner = columns = number(entry, "mm_dim", 1);
        } else {
            rows = number(entry, "mm0_dim0", 1);
            inner = number(entry, "mm0_dim1", 1);
            columns = number(entry, "mm1_dim1", 1);
            const std::optional<std::int64_t> other = number(entry, "mm1_dim0", 1);
            if (inner && other && *inner != *other) {
                error("size", fmt::format("mm0_dim1 is {} and mm1_dim0 is {}", *inner, *other),
                      "a product needs them equal");
            }
        }
        const std::optional<std::int64_t> operations = product({2, rows, inner, columns, count});
        const std::optional<std::int64_t> left = product({rows, inner, element, count});
        const std::optional<std::int64_t> right = product({inner, columns, element, count});
        const std::optional<std::int64_t> result = product({rows, columns, element, count});
        if (operations && left && right && result) {
            work.flops = Flops(*operations);
            work.bytes = Bytes(*left) + Bytes(*right) + Bytes(*result);
        }
    }

    void take_lookup(const ParamEntry& entry, std::int64_t element, std::optional<std::int64_t> count,
                     Work& work) {
        const ParamEntry* direction = entry_member(entry, "direction");
        const std::string way =
            direction != nullptr && direction->is_string() ? direction->get<std::string>() : "forward";
        if (way != "forward" && way != "backward") {
            error("direction", fmt::format("'direction' is '{}'", way), "forward or backward");
            return;
        }
        const std::optional<std::int64_t> batch = number(entry, "batch_size", 1);
        const std::optional<std::int64_t> tables = number(entry, "num_emb_tables", 1);
        const std::optional<std::int64_t> columns = number(entry, "emb_dim", 1);
        const std::optional<std::int64_t> bag = number(entry, "bag_size", 1);
        const std::optional<std::int64_t> pooled = product({batch, tables, columns, element, count});
        const std::optional<std::int64_t> rows = product({pooled, bag, way == "backward" ? 2 : 1});
        if (pooled && rows) {
            work.bytes = Bytes(*rows + *pooled);
        }
    }

    const ParamOptions& options_;
    RankEntries read_;
    Diagnostics errors_;
    int line_ = 0;
    int number_ = 0;            // of the entry, from 1
    bool is_left_out_ = false;  // the entry, for a type that is not known
};

/// Entries of one rank as tasks.
class ParamReplay {
public:
    ParamReplay(const RankEntries& entries, const ParamOptions& options, CallBook& book, ParamTraces& traces,
                Diagnostics& errors)
        : entries_(entries),
          is_lenient_(options.lenient),
          book_(book),
          traces_(traces),
          errors_(errors),
          world_(GroupRanks::spaced(0, 1, traces.world_size)),
          replay_(traces.graphs, graph_, options.overlap) {
        graph_.source = entries.file;
    }

    void write() {
        find_waits();
        const GroupNames names{entries_.rank, entries_.groups, {}};
        std::vector<std::optional<std::uint32_t>> places(entries_.entries.size());
        replay_.begin_step(0);
        for (std::size_t i = 0; i < entries_.entries.size() && errors_.empty(); ++i) {
            const Entry& entry = entries_.entries[i];
            if (entry.kind == EntryKind::kCompute) {
                const std::uint32_t place = replay_.compute(entry.name, Time(0));
                work_.resize(place + 1);
                work_[place] = entry.work;
            } else if (entry.call.is_wait()) {
                if (targets_[i] && places[*targets_[i]]) {
                    replay_.wait(*places[*targets_[i]]);
                }
            } else {
                places[i] = write_call(entry, names, is_awaited_[i]);
            }
        }
        replay_.end_step();
        work_.resize(graph_.tasks.size());
        traces_.graphs.ranks.push_back(std::move(graph_));
        traces_.work.push_back(std::move(work_));
    }

private:
    void find_waits() {
        const std::vector<Entry>& entries = entries_.entries;
        targets_.resize(entries.size());
        is_awaited_.resize(entries.size());
        std::map<std::string, std::vector<std::size_t>> open;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (entries[i].kind == EntryKind::kCompute || entries[i].request.empty()) {
                continue;
            }
            std::vector<std::size_t>& requests = open[entries[i].request];
            if (!entries[i].call.is_wait()) {
                requests.push_back(i);
            } else if (requests.empty() && is_lenient_) {
                traces_.notes.push_back(
                    fmt::format("rank {}: a wait for request {}, which is not open, is left out",
                                entries_.rank, entries[i].request));
            } else if (requests.empty()) {
                errors_.push_back(call_error(entries_.file, entries[i].call, "wait",
                                             fmt::format("no request {} is open", entries[i].request),
                                             "a wait is for a call before it that has the same req"));
            } else {
                targets_[i] = requests.back();
                is_awaited_[requests.back()] = true;
                requests.pop_back();
            }
        }
    }

    std::optional<std::uint32_t> write_call(const Entry& entry, const GroupNames& names, bool is_awaited) {
        CommCall call = entry.call;
        const auto group = entries_.groups.find(call.group);
        const GroupRanks& members = group != entries_.groups.end() ? group->second : world_;
        if (group != entries_.groups.end()) {
            if (!members.position_of(entries_.rank)) {
                return std::nullopt;  // it is for others
            }
        } else {
            if (!call.group.empty() && call.group != "0") {
                errors_.push_back(call_error(entries_.file, call, "group",
                                             fmt::format("no init made group {}", call.group),
                                             "an init with pg_id and global_ranks comes before it"));
                return std::nullopt;
            }
            // Messages name the ranks of a pair.
            call.group_size = 0;
            call.group.clear();
        }
        const bool has_root = system::has_root(call.meaning.collective) ||
                              call.meaning.kind == CallKind::kGather ||
                              call.meaning.kind == CallKind::kScatter;
        if (has_root) {
            const std::optional<std::size_t> root =
                call.root < kMostRanks ? members.position_of(static_cast<std::uint32_t>(call.root))
                                       : std::nullopt;
            call.root = static_cast<std::int64_t>(root.value_or(members.size()));
        }
        std::optional<RankTask> task = book_.task_of(call, names, graph_, errors_);
        if (!task) {
            return std::nullopt;
        }
        if (!entry.name.empty()) {
            task->name = traces_.graphs.name(entry.name);
        }
        const std::uint32_t place = replay_.call(*task, is_awaited, entry.start);
        if (call.is_barrier) {
            replay_.wait(place);
        }
        book_.placed(call, traces_.graphs.ranks.size(), entries_.rank, place);
        return place;
    }

    const RankEntries& entries_;
    bool is_lenient_;
    CallBook& book_;
    ParamTraces& traces_;
    Diagnostics& errors_;
    GroupRanks world_;
    RankGraph graph_;
    ReplayTasks replay_;
    std::vector<Work> work_;
    std::vector<std::optional<std::size_t>> targets_;  // by entry: the call that a wait is for
    std::vector<bool> is_awaited_;
};

}  // namespace

Result<ParamTraces> read_param_traces(const ParamOptions& options) {
    const Result<std::vector<RankFile>> files = rank_files(options.traces, is_param_trace);
    if (!files) {
        return files.error();
    }
    std::vector<RankEntries> ranks;
    std::int64_t world_size = 0;
    for (const RankFile& file : *files) {
        Result<RankEntries> entries = ParamReader(file, file.rank.value_or(0), options).read(file.path);
        if (!entries) {
            return entries.error();
        }
        if (!ranks.empty() && ranks.back().rank == entries->rank) {  // files are sorted by rank
            return trace_error(
                "param.files", entries->file,
                fmt::format("'{}' is a trace of rank {}, too", ranks.back().file, entries->rank),
                "give one trace of each rank");
        }
        world_size = std::max({world_size, entries->world_size, std::int64_t{entries->rank} + 1});
        ranks.push_back(*std::move(entries));
    }
    if (world_size > kMostRanks) {
        return trace_error("param.ranks", ranks.front().file,
                           fmt::format("a world of {} ranks, and {} is the most", world_size, kMostRanks));
    }
    ParamTraces traces;
    traces.world_size = static_cast<std::size_t>(world_size);
    CallBook book(traces.graphs, world_size, {});
    Diagnostics errors;
    for (const RankEntries& entries : ranks) {
        traces.ranks.push_back(entries.rank);
        for (const std::string& note : entries.notes) {
            traces.notes.push_back(fmt::format("rank {}: {}", entries.rank, note));
        }
        ParamReplay(entries, options, book, traces, errors).write();
        if (!errors.empty()) {
            return errors;
        }
    }
    book.match(errors);
    if (!errors.empty()) {
        return errors;
    }
    return traces;
}

bool is_param_trace(const std::filesystem::path& path) {
    const std::string text = beginning_of(path);
    constexpr const char* kBlanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string::npos || text[first] != '[') {
        return false;
    }
    const std::size_t second = text.find_first_not_of(kBlanks, first + 1);
    const bool is_empty = second != std::string::npos && text[second] == ']';
    return is_empty || text.find("\"comms\"") != std::string::npos ||
           text.find("\"compute\"") != std::string::npos;
}

}  // namespace astrolabe::workload::pytorch
