#include "pytorch_traces.hpp"

#include "../rank_graphs/trace_file.hpp"
#include "../rank_graphs/trace_formats.hpp"
#include "rank_files.hpp"
#include "timeline_tasks.hpp"
#include "waits.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace astrolabe::workload::pytorch {
namespace {

using Path = std::filesystem::path;

/// What is at hand of one rank.
struct RankInput {
    std::unique_ptr<ExecutionTrace> trace;
    std::unique_ptr<KinetoTimeline> timeline;
    std::uint32_t rank = 0;

    [[nodiscard]] const std::string& file() const { return timeline ? timeline->file : trace->file; }
};

void append(Diagnostics& errors, const Diagnostics& more) {
    errors.insert(errors.end(), more.begin(), more.end());
}

std::optional<std::uint32_t> as_rank(const std::optional<std::size_t>& number) {
    return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

class TraceSet {
public:
    explicit TraceSet(const ReadOptions& options)
        : options_(options) {}

    Result<PytorchTraces> read() {
        if (read_files()) {
            order_ranks();
        }
        if (errors_.empty()) {
            find_world();
        }
        if (errors_.empty()) {
            build();
        }
        if (!errors_.empty()) {
            return errors_;
        }
        return std::move(made_);
    }

private:
    bool read_files() {
        std::map<std::uint32_t, RankInput> by_rank;
        if (!options_.kineto.empty()) {
            const Result<std::vector<RankFile>> files = rank_files(options_.kineto, is_kineto_trace);
            if (!files) {
                append(errors_, files.error());
                return false;
            }
            for (const RankFile& file : *files) {
                Result<KinetoTimeline> timeline = read_kineto_timeline(file.path, options_.lenient);
                if (!timeline) {
                    append(errors_, timeline.error());
                    return false;
                }
                const std::optional<std::uint32_t> said = as_rank(timeline->rank);
                add(by_rank, file, said ? said : file.rank, true).timeline =
                    std::make_unique<KinetoTimeline>(*std::move(timeline));
            }
        }
        if (!options_.execution_traces.empty()) {
            const Result<std::vector<RankFile>> files =
                rank_files(options_.execution_traces, is_execution_trace);
            if (!files) {
                append(errors_, files.error());
                return false;
            }
            for (const RankFile& file : *files) {
                Result<ExecutionTrace> trace = read_execution_trace(file.path, options_.lenient);
                if (!trace) {
                    append(errors_, trace.error());
                    return false;
                }
                // One trace and one timeline are of the same rank, whatever their names say.
                const bool is_only = files->size() == 1 && by_rank.size() == 1;
                const std::optional<std::uint32_t> said = is_only     ? std::optional(by_rank.begin()->first)
                                                          : file.rank ? file.rank
                                                                      : as_rank(trace->rank);
                add(by_rank, file, said, false).trace = std::make_unique<ExecutionTrace>(*std::move(trace));
            }
        }
        for (auto& [rank, input] : by_rank) {
            inputs_.push_back(std::move(input));
        }
        return errors_.empty();
    }

    RankInput& add(std::map<std::uint32_t, RankInput>& by_rank, const RankFile& file,
                   std::optional<std::uint32_t> rank, bool is_timeline) {
        const std::uint32_t number = rank.value_or(0);
        RankInput& input = by_rank[number];
        input.rank = number;
        const bool is_twice = !seen_.insert({number, is_timeline}).second;
        if (is_twice) {
            errors_.push_back(trace_error("pytorch.files", file.path.string(),
                                          fmt::format("there is another trace of rank {}", number),
                                          "give one trace of each rank"));
        }
        return input;
    }

    void order_ranks() {
        for (const RankInput& input : inputs_) {
            if (!options_.kineto.empty() && !input.timeline) {
                errors_.push_back(trace_error("pytorch.files", input.file(),
                                              fmt::format("rank {} has no timeline of Kineto", input.rank),
                                              "give a timeline of every rank, or execution traces alone"));
            } else if (!options_.kineto.empty() && !options_.execution_traces.empty() && !input.trace) {
                errors_.push_back(trace_error("pytorch.files", input.file(),
                                              fmt::format("rank {} has no execution trace", input.rank),
                                              "give an execution trace of every rank, or timelines alone"));
            }
        }
    }

    void find_world() {
        std::int64_t said = 0;
        std::uint32_t last = 0;
        for (const RankInput& input : inputs_) {
            said = std::max({said, input.trace ? input.trace->world_size : 0,
                             input.timeline ? input.timeline->world_size : 0});
            last = std::max(last, input.rank);
        }
        const std::int64_t least = std::max<std::int64_t>(
            {said, static_cast<std::int64_t>(last) + 1, static_cast<std::int64_t>(inputs_.size())});
        if (least > kMostRanks) {
            errors_.push_back(
                trace_error("pytorch.ranks", inputs_.front().file(),
                            fmt::format("a world of {} ranks, and {} is the most", least, kMostRanks)));
            return;
        }
        if (options_.world_size && *options_.world_size < least) {
            errors_.push_back(
                trace_error("pytorch.ranks", inputs_.front().file(),
                            fmt::format("world_size is {}, and the traces are of {} ranks or more",
                                        *options_.world_size, least),
                            fmt::format("set world_size to {}, or leave it out", least)));
            return;
        }
        made_.world_size = static_cast<std::size_t>(options_.world_size.value_or(least));
        for (const RankInput& input : inputs_) {
            made_.ranks.push_back(input.rank);
        }
    }

    void build() {
        CallBook book(made_.graphs, static_cast<std::int64_t>(made_.world_size), {});
        std::size_t steps = 0;
        for (RankInput& input : inputs_) {
            const std::size_t own =
                input.timeline ? add_timeline(input, book) : add_replay(*input.trace, input.rank, book);
            if (!errors_.empty()) {
                return;
            }
            if (steps != 0 && own != steps) {
                errors_.push_back(trace_error(
                    "pytorch.steps", input.file(),
                    fmt::format("it has {} steps, and '{}' has {}", own, inputs_.front().file(), steps),
                    "give traces of the same steps, or choose one with step"));
                return;
            }
            steps = own;
        }
        made_.graphs.iterations = static_cast<int>(steps);
        book.match(errors_);
        for (const auto& [text, ranks] : notes_by_text_) {
            made_.notes.push_back(
                ranks.size() == inputs_.size() && ranks.size() > 1 ? fmt::format("every rank: {}", text)
                : inputs_.size() == 1                              ? text
                                      : fmt::format("rank {}: {}", fmt::join(ranks, ", "), text));
        }
    }

    [[nodiscard]] std::string step_numbers(const std::vector<std::int64_t>& numbers) const {
        return numbers.empty() ? "no steps" : fmt::format("steps {}", fmt::join(numbers, ", "));
    }

    std::size_t add_timeline(RankInput& input, CallBook& book) {
        KinetoTimeline& timeline = *input.timeline;
        if (!join_calls(timeline, input.trace.get(), errors_)) {
            return 0;
        }
        GroupNames names{input.rank, timeline.groups, {}};
        if (input.trace) {
            names.groups.insert(input.trace->groups.begin(), input.trace->groups.end());
            names.addresses = input.trace->group_numbers;
            take_notes(input.rank, input.trace->notes);
        }
        std::vector<TimelineStep> steps = steps_of(timeline);
        if (options_.step) {
            std::vector<std::int64_t> numbers;
            for (const TimelineStep& step : steps) {
                if (step.number >= 0) {
                    numbers.push_back(step.number);
                }
            }
            std::erase_if(steps, [&](const TimelineStep& step) { return step.number != *options_.step; });
            if (steps.empty()) {
                errors_.push_back(trace_error("pytorch.steps", timeline.file,
                                              fmt::format("there is no step {}", *options_.step),
                                              fmt::format("it has {}", step_numbers(numbers))));
                return 0;
            }
        }
        TimelineTasks tasks =
            timeline_tasks(timeline, steps, names, options_.lenient, book, made_.graphs, errors_);
        take_notes(input.rank, timeline.notes);
        take_notes(input.rank, tasks.notes);
        made_.graphs.ranks.push_back(std::move(tasks.graph));
        input.timeline.reset();
        return steps.size();
    }

    std::size_t add_replay(const ExecutionTrace& trace, std::uint32_t rank, CallBook& book) {
        std::vector<std::int64_t> numbers;
        for (const TraceStep& step : trace.steps) {
            numbers.push_back(step.number);
        }
        if (options_.step && std::find(numbers.begin(), numbers.end(), *options_.step) == numbers.end()) {
            errors_.push_back(trace_error("pytorch.steps", trace.file,
                                          fmt::format("there is no step {}", *options_.step),
                                          fmt::format("it has {}", step_numbers(numbers))));
            return 0;
        }
        const GroupNames names{rank, trace.groups, trace.group_numbers};
        RankGraph graph;
        graph.source = trace.file;
        ReplayTasks replay(made_.graphs, graph, options_.overlap);
        const Waits waits = waits_of(trace.calls);
        // Calls before the first step belong to it.
        const std::size_t count = std::max<std::size_t>(trace.steps.size(), 1);
        std::vector<std::optional<std::uint32_t>> places(trace.calls.size());
        std::size_t call = 0;
        std::size_t iteration = 0;
        for (std::size_t step = 0; step < count; ++step) {
            const bool is_wanted = !options_.step || numbers[step] == *options_.step;
            if (is_wanted) {
                replay.begin_step(static_cast<std::int32_t>(iteration++));
            }
            const bool is_last = step + 1 == count;
            for (; call < trace.calls.size() &&
                   (is_last || trace.calls[call].id < trace.steps[step + 1].first_id);
                 ++call) {
                if (is_wanted) {
                    add_call(trace.calls[call], call, waits, names, replay, graph, places, book);
                }
            }
            if (is_wanted) {
                replay.end_step();
            }
        }
        take_notes(rank, trace.notes);
        if (waits.before > 0) {
            take_notes(rank, {fmt::format("{} waits are for requests from before the trace", waits.before)});
        }
        if (waits.open > 0) {
            take_notes(rank, {fmt::format("{} calls are waited for by nothing in the trace", waits.open)});
        }
        made_.graphs.ranks.push_back(std::move(graph));
        return iteration;
    }

    void add_call(const CommCall& call, std::size_t number, const Waits& waits, const GroupNames& names,
                  ReplayTasks& replay, RankGraph& graph, std::vector<std::optional<std::uint32_t>>& places,
                  CallBook& book) {
        if (call.is_wait()) {
            if (waits.target[number] && places[*waits.target[number]]) {
                replay.wait(*places[*waits.target[number]]);
            }
            return;
        }
        const std::optional<RankTask> task = book.task_of(call, names, graph, errors_);
        if (task) {
            places[number] = replay.call(*task, waits.is_awaited[number]);
            if (call.is_barrier) {
                replay.wait(*places[number]);
            }
            book.placed(call, made_.graphs.ranks.size(), names.rank, *places[number]);
        }
    }

    void take_notes(std::uint32_t rank, const std::vector<std::string>& notes) {
        for (const std::string& note : notes) {
            notes_by_text_[note].push_back(rank);
        }
    }

    const ReadOptions& options_;
    std::vector<RankInput> inputs_;
    PytorchTraces made_;
    Diagnostics errors_;
    std::set<std::pair<std::uint32_t, bool>> seen_;  // ranks, and whether their timeline
    std::map<std::string, std::vector<std::uint32_t>> notes_by_text_;
};

}  // namespace

Result<PytorchTraces> read_traces(const ReadOptions& options) {
    return TraceSet(options).read();
}

bool is_execution_trace(const Path& path) {
    const std::string text = beginning_of(path);
    const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
    return !has("\"workload_graph\"") && !has("\"traceEvents\"") &&
           ((has("\"schema\"") && has("\"pid\"")) ||
            (has("\"nodes\"") && (has("\"ctrl_deps\"") || has("\"rf_id\""))));
}

bool is_kineto_trace(const Path& path) {
    const std::string text = beginning_of(path);
    return text.find("\"traceEvents\"") != std::string::npos ||
           (text.find("\"schemaVersion\"") != std::string::npos &&
            text.find("\"distributedInfo\"") != std::string::npos) ||
           text.find("\"deviceProperties\"") != std::string::npos;
}

}  // namespace astrolabe::workload::pytorch
