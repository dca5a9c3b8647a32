#include "chakra_traces.hpp"

#include "../rank_graphs/trace_file.hpp"
#include "../rank_graphs/trace_formats.hpp"
#include "node_reader.hpp"
#include "rank_tasks.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/core/limits.hpp>

namespace astrolabe::workload::chakra {

namespace {

using Path = std::filesystem::path;

constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 24U;

/// "all_reduce" and 3 of all_reduce.3.et.
struct FileName {
    std::string prefix;
    std::uint64_t rank = 0;
};

std::optional<FileName> parse_name(const Path& file) {
    std::string name = file.filename().string();
    const auto cut = [&name](std::string_view ending) {
        const bool has = name.ends_with(ending);
        name.resize(name.size() - (has ? ending.size() : 0));
        return has;
    };
    cut(".gz");
    if (!cut(".et") && !cut(".json")) {
        return std::nullopt;
    }
    const std::size_t dot = name.rfind('.');
    const std::string_view digits = std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1);
    std::uint64_t rank = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (failure != std::errc() || end != digits.data() + digits.size() || rank >= kMostRanks) {
        return std::nullopt;
    }
    return FileName{dot == std::string::npos ? std::string() : name.substr(0, dot), rank};
}

Diagnostic set_error(const Path& path, std::string message, std::string hint) {
    return trace_error("chakra.ranks", path.string(), std::move(message), std::move(hint));
}

/// Traces of a folder: the binary ones, or where there are none those in JSON.
std::vector<Path> traces_in(const Path& folder) {
    std::vector<Path> files = files_ending(folder, ".et");
    for (Path& file : files_ending(folder, ".et.gz")) {
        files.push_back(std::move(file));
    }
    if (!files.empty()) {
        return files;
    }
    for (const std::string_view ending : {".json", ".json.gz"}) {
        for (Path& file : files_ending(folder, ending)) {
            if (beginning_of(file).find("workload_graph") != std::string::npos) {
                files.push_back(std::move(file));
            }
        }
    }
    return files;
}

/// Those of one prefix by rank, all of them there.
Result<std::vector<Path>> complete_set(const Path& path,
                                       const std::vector<std::pair<std::uint64_t, Path>>& found) {
    std::map<std::uint64_t, Path> by_rank;
    for (const auto& [rank, file] : found) {
        const auto [other, is_new] = by_rank.try_emplace(rank, file);
        if (!is_new) {
            return set_error(path,
                             fmt::format("rank {} has two files, '{}' and '{}'", rank,
                                         other->second.filename().string(), file.filename().string()),
                             "leave one of them");
        }
    }
    const std::uint64_t ranks = by_rank.rbegin()->first + 1;
    if (by_rank.size() < ranks) {
        std::vector<std::uint64_t> missing;
        constexpr std::size_t kMostNamed = 8;
        for (std::uint64_t rank = 0; rank < ranks && missing.size() < kMostNamed; ++rank) {
            if (!by_rank.contains(rank)) {
                missing.push_back(rank);
            }
        }
        return set_error(
            path,
            fmt::format("{} of {} ranks have a trace; missing: {}{}", by_rank.size(), ranks,
                        fmt::join(missing, ", "), ranks - by_rank.size() > missing.size() ? ", …" : ""),
            "a set has a file for each rank from 0");
    }
    std::vector<Path> files;
    for (auto& [rank, file] : by_rank) {
        files.push_back(std::move(file));
    }
    return files;
}

Result<GroupTable> read_group_file(const Path& path) {
    Result<TraceFile> file = TraceFile::open(path);
    if (!file) {
        return file.error();
    }
    const Result<std::string> text = file->read_all(limits::kFileBytes);
    if (!text) {
        return text.error();
    }
    const auto error = [&](std::string message) {
        return trace_error("chakra.group", path.string(), std::move(message),
                           R"(expected {"1": [0, 1], "2": [2, 3]}: the ranks of each group)");
    };
    const nlohmann::json groups = parse_json<nlohmann::json>(*text);
    if (!groups.is_object()) {
        return error("the file is no JSON object of groups");
    }
    GroupTable table;
    for (const auto& [name, ranks] : groups.items()) {
        std::vector<system::RankId>& members = table[name];
        if (!ranks.is_array() || ranks.empty()) {
            return error(fmt::format("group '{}' is no list of ranks", name));
        }
        for (const nlohmann::json& rank : ranks) {
            if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= kMostRanks) {
                return error(fmt::format("{} in group '{}' is no rank", rank.dump(), name));
            }
            members.emplace_back(rank.get<std::uint32_t>());
        }
    }
    return table;
}

/// Streams of computations get their places in the graphs: those of the device first, by number.
void place_streams(SharedState& shared, const std::vector<std::string>& own_names, bool is_first_come) {
    std::vector<bool> is_used(shared.streams.size(), false);
    for (const RankGraph& rank : shared.graphs.ranks) {
        for (const RankTask& task : rank.tasks) {
            if (task.kind == TaskKind::kCompute) {
                is_used[task.stream] = true;
            }
        }
    }
    std::vector<std::uint16_t> order;
    for (std::uint16_t stream = 0; stream < is_used.size(); ++stream) {
        if (is_used[stream]) {
            order.push_back(stream);
        }
    }
    std::sort(order.begin(), order.end(), [&](std::uint16_t one, std::uint16_t other) {
        return shared.streams[one] < shared.streams[other];
    });
    std::vector<std::uint16_t> place_of(is_used.size(), 0);
    std::vector<StreamName> names;
    for (const std::string& name : own_names) {
        names.push_back({name, !is_first_come});
    }
    for (const std::uint16_t stream : order) {
        const StreamKey& key = shared.streams[stream];
        const std::int64_t own = key.number.value_or(0);
        if (own >= 0 && own < static_cast<std::int64_t>(own_names.size())) {
            place_of[stream] = static_cast<std::uint16_t>(own);
            continue;
        }
        place_of[stream] = static_cast<std::uint16_t>(names.size());
        std::string name = key.number ? fmt::format("{} {}", key.is_host ? "thread" : "stream", *key.number)
                                      : std::string(key.is_host ? "host" : "compute");
        // The trace's own names may be of this form.
        while (std::ranges::find(own_names, name) != own_names.end()) {
            name += '+';
        }
        names.push_back({std::move(name), key.number.has_value() && !is_first_come});
    }
    if (!names.empty()) {
        shared.graphs.streams = std::move(names);
    }
    for (RankGraph& rank : shared.graphs.ranks) {
        for (RankTask& task : rank.tasks) {
            task.stream = task.kind == TaskKind::kCompute ? place_of[task.stream] : std::uint16_t{0};
        }
    }
}

}  // namespace

Result<std::vector<Path>> files_of_traces(const Path& path) {
    std::error_code failure;
    const bool is_folder = std::filesystem::is_directory(path, failure);
    const bool is_file = std::filesystem::is_regular_file(path, failure);
    const std::optional<FileName> own = is_file ? parse_name(path) : std::nullopt;
    if (is_file && !own) {
        return std::vector{path};
    }
    const Path folder = is_folder ? path : path.has_parent_path() ? path.parent_path() : Path(".");
    const std::string wanted = own ? own->prefix : path.filename().string();
    std::map<std::string, std::vector<std::pair<std::uint64_t, Path>>> by_prefix;
    for (const Path& file : traces_in(folder)) {
        if (const std::optional<FileName> name = parse_name(file)) {
            by_prefix[name->prefix].emplace_back(name->rank, file);
        }
    }
    if (own && !by_prefix.contains(wanted)) {
        return std::vector{path};
    }
    if (!is_folder) {
        const auto found = by_prefix.find(wanted);
        return found == by_prefix.end() ? Result<std::vector<Path>>(set_error(
                                              path, "no such file or folder, and no traces of this prefix",
                                              "traces are called PREFIX.RANK.et, as all_reduce.0.et"))
                                        : complete_set(path, found->second);
    }
    if (by_prefix.empty()) {
        return set_error(path, "no traces in this folder",
                         "traces are called PREFIX.RANK.et, as all_reduce.0.et");
    }
    if (by_prefix.size() > 1) {
        return set_error(path,
                         fmt::format("traces of {} sets, '{}' and '{}' among them", by_prefix.size(),
                                     by_prefix.begin()->first, std::next(by_prefix.begin())->first),
                         "name one of them by its prefix: FOLDER/PREFIX");
    }
    return complete_set(path, by_prefix.begin()->second);
}

Result<ChakraTraces> read_traces(const std::vector<Path>& files, const ReadOptions& options) {
    ChakraTraces traces;
    SharedState shared{
        .options = options, .ranks = files.size(), .groups = {}, .graphs = traces.graphs, .streams = {}};
    std::int64_t product = 1;
    for (const std::int64_t size : options.dimensions) {
        product = size > 0 && product <= static_cast<std::int64_t>(kMostRanks) ? product * size : 0;
    }
    if (!options.dimensions.empty() && product != static_cast<std::int64_t>(files.size())) {
        return set_error(files.front(),
                         fmt::format("dimensions [{}] are {} ranks, and there are {} traces",
                                     fmt::join(options.dimensions, ", "), product, files.size()),
                         "the product of the sizes is the number of ranks");
    }
    if (!options.groups.empty()) {
        Result<GroupTable> groups = read_group_file(options.groups);
        if (!groups) {
            return groups.error();
        }
        shared.groups = *std::move(groups);
    }
    Diagnostics errors;
    std::vector<std::string> own_streams;
    std::int64_t iterations = 1;
    bool is_first_come = false;
    for (std::size_t rank = 0; rank < files.size() && errors.size() < 20; ++rank) {
        RankTasks tasks(shared, rank, files[rank]);
        const Result<ChakraMetadata> metadata =
            read_nodes(files[rank], [&](const ChakraNode& node) { return tasks.add(node); });
        if (!metadata) {
            errors.insert(errors.end(), metadata.error().begin(), metadata.error().end());
            continue;
        }
        Result<RankGraph> graph = tasks.finish(*metadata);
        if (!graph) {
            errors.insert(errors.end(), graph.error().begin(), graph.error().end());
            continue;
        }
        iterations = std::max(iterations, metadata->iterations);
        is_first_come = is_first_come || metadata->is_first_come;
        if (own_streams.size() < metadata->streams.size()) {
            own_streams = metadata->streams;
        }
        traces.graphs.ranks.push_back(*std::move(graph));
        if (options.keeps_work) {
            traces.work.push_back(tasks.take_work());
        }
    }
    if (!errors.empty()) {
        return errors;
    }
    traces.graphs.iterations = static_cast<int>(iterations);
    traces.order = is_first_come ? system::ComputeOrder::kFirstCome : system::ComputeOrder::kProgram;
    place_streams(shared, own_streams, is_first_come);
    if (const std::size_t streams = shared.graphs.streams.size(); is_first_come && streams > 1) {
        return trace_error("chakra.streams", files.front().string(),
                           fmt::format("the file asks for first-come order, which is that of one stream, and "
                                       "there are {} streams",
                                       streams),
                           fmt::format("'{}' is 'program' where there are several", kOrderAttribute));
    }
    if (shared.untyped_collectives > 0) {
        traces.notes.push_back(
            fmt::format("{} collectives have neither comm_type nor comm_size: taken as computations of their "
                        "recorded durations",
                        shared.untyped_collectives));
    }
    if (shared.ignored_control_dependencies > 0) {
        traces.notes.push_back(fmt::format("{} ctrl_deps name enclosing calls: not waited for",
                                           shared.ignored_control_dependencies));
    }
    return traces;
}

}  // namespace astrolabe::workload::chakra
