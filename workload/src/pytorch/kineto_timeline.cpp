#include "kineto_timeline.hpp"

#include "../rank_graphs/json_records.hpp"
#include "../rank_graphs/trace_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::workload::pytorch {
namespace {

const nlohmann::json* kineto_member(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

/// Nanoseconds of microseconds; nothing where they are no number or not within 2^62.
std::optional<Nanoseconds> nanoseconds(const nlohmann::json* value) {
    constexpr std::int64_t kMost = (std::int64_t{1} << 61U) / 1000;
    if (value == nullptr || !value->is_number()) {
        return std::nullopt;
    }
    if (const std::optional<std::int64_t> whole = whole_number(*value)) {
        return *whole > kMost || *whole < -kMost ? std::nullopt : std::optional(*whole * 1000);
    }
    const double number = value->get<double>();
    if (!(std::abs(number) < static_cast<double>(kMost))) {
        return std::nullopt;
    }
    const double whole = std::floor(number);
    return static_cast<Nanoseconds>(whole) * 1000 + std::llround((number - whole) * 1000);
}

class KinetoTimelineReader {
public:
    KinetoTimelineReader(const std::filesystem::path& path, bool is_lenient)
        : is_lenient_(is_lenient) {
        timeline_.file = path.string();
    }

    Result<KinetoTimeline> read(const std::filesystem::path& path) {
        const Result<nlohmann::json> rest = read_json_records(path, "traceEvents", [&](JsonRecord& record) {
            take(record);
            return errors_.size() < kMostErrorsOfTimeline;
        });
        if (!rest) {
            return rest.error();
        }
        if (const nlohmann::json* info = kineto_member(*rest, "distributedInfo");
            info != nullptr && info->is_object()) {
            take_info(*info);
        }
        if (errors_.empty()) {
            check_span();
        }
        if (!errors_.empty()) {
            return errors_;
        }
        const auto by_start = [](const auto& one, const auto& other) {
            return std::tuple(one.start, -one.end) < std::tuple(other.start, -other.end);
        };
        std::stable_sort(timeline_.host.begin(), timeline_.host.end(), by_start);
        std::stable_sort(timeline_.runtime.begin(), timeline_.runtime.end(), by_start);
        std::stable_sort(timeline_.device.begin(), timeline_.device.end(), by_start);
        return std::move(timeline_);
    }

private:
    static constexpr std::size_t kMostErrorsOfTimeline = 20;

    void error(const JsonRecord& record, const std::string& message, std::string hint = {}) {
        errors_.push_back(trace_error("pytorch.event", timeline_.file,
                                      fmt::format("event '{}': {}", event_.substr(0, 60), message),
                                      std::move(hint), record.line));
    }

    /// All events lie within a day: what is further apart is damaged, and would not fit in a Time.
    void check_span() {
        Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
        Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
        std::uint32_t first_name = 0;
        std::uint32_t last_name = 0;
        const auto take_all = [&](const auto& events) {
            for (const auto& event : events) {
                if (event.start < first) {
                    first = event.start;
                    first_name = event.name;
                }
                if (event.end > last) {
                    last = event.end;
                    last_name = event.name;
                }
            }
        };
        take_all(timeline_.host);
        take_all(timeline_.runtime);
        take_all(timeline_.device);
        constexpr Nanoseconds kDay = Nanoseconds{24} * 3600 * 1'000'000'000;
        if (first < last && last - first > kDay) {
            errors_.push_back(trace_error(
                "pytorch.event", timeline_.file,
                fmt::format(
                    "its events lie more than a day apart: event '{}' begins first and event '{}' ends last",
                    timeline_.names[first_name].substr(0, 60), timeline_.names[last_name].substr(0, 60)),
                "is the trace damaged?"));
        }
    }

    void take_info(const nlohmann::json& info) {
        const nlohmann::json* rank = kineto_member(info, "rank");
        if (rank != nullptr && rank->is_number_unsigned()) {
            timeline_.rank = rank->get<std::size_t>();
        }
        const nlohmann::json* size = kineto_member(info, "world_size");
        if (size != nullptr && size->is_number_unsigned()) {
            timeline_.world_size = whole_number(*size).value_or(0);
        }
        if (const nlohmann::json* groups = kineto_member(info, "pg_config")) {
            std::int64_t most = timeline_.world_size;
            add_process_groups(*groups, timeline_.groups, most);
            timeline_.world_size = std::max(timeline_.world_size, most);
        }
    }

    std::uint32_t name_of(const std::string& text) {
        const auto [found, is_new] =
            name_places_.try_emplace(text, static_cast<std::uint32_t>(timeline_.names.size()));
        if (is_new) {
            timeline_.names.push_back(text);
        }
        return found->second;
    }

    [[nodiscard]] static std::optional<std::int64_t> number_in(const nlohmann::json* arguments,
                                                               const char* key) {
        const nlohmann::json* value =
            arguments != nullptr && arguments->is_object() ? kineto_member(*arguments, key) : nullptr;
        return value == nullptr ? std::nullopt : whole_number(*value);
    }

    void take(const JsonRecord& record) {
        const nlohmann::json& event = record.value;
        event_ = "";
        if (!event.is_object()) {
            error(record, "it is no JSON object");
            return;
        }
        const nlohmann::json* phase = kineto_member(event, "ph");
        const nlohmann::json* category = kineto_member(event, "cat");
        if (phase == nullptr || *phase != "X" || category == nullptr || !category->is_string()) {
            return;
        }
        const nlohmann::json* name = kineto_member(event, "name");
        event_ = name != nullptr && name->is_string() ? name->get<std::string>() : "";
        const auto& kind = category->get_ref<const std::string&>();
        const bool is_host = kind == "cpu_op" || kind == "user_annotation";
        const bool is_runtime = kind == "cuda_runtime" || kind == "cuda_driver";
        const bool is_device = kind == "kernel" || kind == "gpu_memcpy" || kind == "gpu_memset";
        const nlohmann::json* arguments = kineto_member(event, "args");
        if (kind == "cuda_sync") {
            take_sync(arguments);
            return;
        }
        if (!is_host && !is_runtime && !is_device) {
            return;
        }
        const std::optional<Nanoseconds> start = nanoseconds(kineto_member(event, "ts"));
        const std::optional<Nanoseconds> duration = nanoseconds(kineto_member(event, "dur"));
        if (!start || !duration || *duration < 0) {
            error(record, fmt::format("its {} is no number of microseconds{}", start ? "'dur'" : "'ts'",
                                      start ? " that is 0 or more" : ""));
            return;
        }
        if (is_device) {
            take_device_event(record, kind == "kernel", *start, *start + *duration, arguments);
            return;
        }
        HostEvent host{.name = name_of(event_), .start = *start, .end = *start + *duration};
        const nlohmann::json* thread = kineto_member(event, "tid");
        host.thread = thread == nullptr ? 0 : whole_number(*thread).value_or(0);
        host.rf_id = static_cast<std::uint64_t>(number_in(arguments, "Record function id").value_or(0));
        host.is_mark = kind == "user_annotation";
        if (is_runtime) {
            host.correlation = number_in(arguments, "correlation").value_or(-1);
            timeline_.runtime.push_back(host);
            return;
        }
        if (event_ == "record_param_comms" && arguments != nullptr && arguments->is_object() &&
            kineto_member(*arguments, "Collective name") != nullptr) {
            host.call = take_call(record, *arguments);
        }
        timeline_.host.push_back(host);
    }

    void take_sync(const nlohmann::json* arguments) {
        const std::optional<std::int64_t> correlation = number_in(arguments, "correlation");
        if (correlation) {
            timeline_.syncs.push_back(
                {*correlation, number_in(arguments, "stream").value_or(-1),
                 number_in(arguments, "wait_on_stream").value_or(-1),
                 number_in(arguments, "wait_on_cuda_event_record_corr_id").value_or(-1)});
        }
    }

    void take_device_event(const JsonRecord& record, bool is_kernel, Nanoseconds start, Nanoseconds end,
                           const nlohmann::json* arguments) {
        const std::optional<std::int64_t> stream = number_in(arguments, "stream");
        const std::optional<std::int64_t> correlation = number_in(arguments, "correlation");
        if (!stream || !correlation) {
            error(record, fmt::format("it has no {}", stream ? "'correlation'" : "'stream'"),
                  "the trace is cut, or of a profiler that is not known");
            return;
        }
        DeviceEvent device{.name = name_of(event_),
                           .stream = *stream,
                           .start = start,
                           .end = end,
                           .correlation = *correlation};
        device.is_collective =
            is_kernel && (event_.starts_with("ncclKernel") || event_.starts_with("ncclDevKernel"));
        if (device.is_collective && kineto_member(*arguments, "Collective name") != nullptr &&
            kineto_member(*arguments, "In msg nelems") != nullptr) {
            device.call = take_call(record, *arguments);
        }
        timeline_.device.push_back(device);
    }

    /// The place of the call that the arguments describe; -1 with an error or a note.
    std::int32_t take_call(const JsonRecord& record, const nlohmann::json& arguments) {
        CommCall call;
        call.line = record.line;
        call.id = static_cast<std::uint64_t>(number_in(&arguments, "External id").value_or(0));
        const nlohmann::json* name = kineto_member(arguments, "Collective name");
        call.name = name->is_string() ? name->get<std::string>() : name->dump();
        const std::optional<CallMeaning> meaning = meaning_of(call.name);
        if (!meaning) {
            if (is_lenient_) {
                timeline_.notes.push_back(
                    fmt::format("line {}: '{}' is left out, which is not known", record.line, call.name));
            } else {
                error(record, fmt::format("operation '{}' is not known", call.name),
                      "lenient: true leaves it out");
            }
            return -1;
        }
        call.meaning = *meaning;
        call.is_barrier = call.name == "barrier";
        call.sequence = number_in(&arguments, "Seq");
        if (!call.is_wait()) {
            take_group(arguments, call);
            if (!call.is_barrier && !take_sizes(record, arguments, call)) {
                return -1;
            }
        }
        timeline_.calls.push_back(std::move(call));
        return static_cast<std::int32_t>(timeline_.calls.size() - 1);
    }

    void take_group(const nlohmann::json& arguments, CommCall& call) {
        const nlohmann::json* group = kineto_member(arguments, "Process Group Name");
        if (group != nullptr) {
            call.group = group->is_string() ? group->get<std::string>() : group->dump();
        }
        call.group_size = std::max<std::int64_t>(number_in(&arguments, "Group size").value_or(0), 0);
        const nlohmann::json* ranks = kineto_member(arguments, "Process Group Ranks");
        const std::optional<std::vector<std::int64_t>> numbers =
            ranks == nullptr ? std::nullopt : whole_numbers(*ranks);
        std::vector<std::uint32_t> members;
        for (const std::int64_t rank : numbers.value_or(std::vector<std::int64_t>{})) {
            if (rank >= 0 && rank < kMostRanks) {
                members.push_back(static_cast<std::uint32_t>(rank));
                timeline_.world_size = std::max(timeline_.world_size, rank + 1);
            }
        }
        call.ranks = GroupRanks(std::move(members));
        timeline_.world_size = std::max(timeline_.world_size, call.group_size);
    }

    bool take_sizes(const JsonRecord& record, const nlohmann::json& arguments, CommCall& call) {
        const nlohmann::json* type = kineto_member(arguments, "dtype");
        const std::string text = type != nullptr && type->is_string() ? type->get<std::string>() : "";
        const std::optional<std::int64_t> element = element_bytes(text);
        if (!element) {
            error(record, fmt::format("elements of type '{}' are not known", text));
            return false;
        }
        for (const auto& [key, bytes] :
             {std::pair{"In msg nelems", &call.in}, {"Out msg nelems", &call.out}}) {
            const std::optional<std::int64_t> count = number_in(&arguments, key);
            const std::optional<Bytes> said = count ? bytes_of(*count, *element) : std::nullopt;
            if (!said) {
                error(record, fmt::format("'{}' is no number of elements that is 0 or more", key));
                return false;
            }
            *bytes = *said;
        }
        if (call.meaning.kind == CallKind::kSend || call.meaning.kind == CallKind::kReceive) {
            call.root = number_in(&arguments, call.meaning.kind == CallKind::kSend ? "Dst Rank" : "Src Rank")
                            .value_or(-1);
        }
        if (call.meaning.kind != CallKind::kCollective ||
            call.meaning.collective != system::CollectiveKind::kAllToAll) {
            return true;
        }
        for (const auto& [key, bytes, splits] : {std::tuple{"In split size", call.in, &call.in_splits},
                                                 {"Out split size", call.out, &call.out_splits}}) {
            const nlohmann::json* list = kineto_member(arguments, key);
            const std::optional<std::vector<std::int64_t>> counts =
                list == nullptr ? std::vector<std::int64_t>() : whole_numbers(*list);
            if (!counts) {
                // Kineto cuts off lists that are long.
                error(record, fmt::format("'{}' is no list of whole numbers: {}", key, list->dump()),
                      "give the execution traces too: they have whole lists");
                return false;
            }
            Splits made = split_bytes(*counts, bytes, *element, kAnyRows, key);
            if (!made.error.empty()) {
                error(record, made.error);
                return false;
            }
            *splits = std::move(made.bytes);
        }
        return true;
    }

    bool is_lenient_;
    KinetoTimeline timeline_;
    Diagnostics errors_;
    std::string event_;  // the name of the one at hand
    std::unordered_map<std::string, std::uint32_t> name_places_;
};

}  // namespace

Result<KinetoTimeline> read_kineto_timeline(const std::filesystem::path& path, bool is_lenient) {
    return KinetoTimelineReader(path, is_lenient).read(path);
}

}  // namespace astrolabe::workload::pytorch
