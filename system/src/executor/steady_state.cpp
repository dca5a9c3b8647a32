#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor/steady_state.hpp>

namespace astrolabe::system {

namespace {

bool same_times(const PerRank<Time>& a, const PerRank<Time>& b) {
    if (a.uniform() != b.uniform() || a.size() != b.size()) {
        return false;
    }
    for (std::size_t rank = 0; rank < std::max<std::size_t>(a.size(), 1); ++rank) {
        if (a[RankId(rank)] != b[RankId(rank)]) {
            return false;
        }
    }
    return true;
}

bool repeats(const ComputeOperation& a, const ComputeOperation& b) {
    return a.stream == b.stream && a.ranks == b.ranks && a.contended.has_value() == b.contended.has_value() &&
           same_times(a.duration, b.duration) && (!a.contended || same_times(*a.contended, *b.contended));
}

/// Sizes and methods are shared by operations that have the same.
bool repeats(const CollectiveOperation& a, const CollectiveOperation& b) {
    return a.kind == b.kind && a.partition == b.partition && a.size == b.size && a.priority == b.priority &&
           a.explicit_priority == b.explicit_priority && a.completion_delay == b.completion_delay &&
           a.least_duration == b.least_duration && a.begins_together == b.begins_together &&
           a.is_one_sided == b.is_one_sided && a.pair_sizes == b.pair_sizes &&
           a.traffic_class == b.traffic_class && a.method == b.method;
}

/// `b` is `by` operations after `a`.
bool repeats(const Operation& a, const Operation& b, std::size_t by) {
    const auto follows = [by](OperationId first, OperationId second) {
        return first.index() + by == second.index();
    };
    if (a.name != b.name || a.layer != b.layer || a.work.index() != b.work.index() ||
        !std::ranges::equal(a.dependencies, b.dependencies, follows)) {
        return false;
    }
    if (a.is_compute()) {
        return repeats(a.compute(), b.compute());
    }
    return a.is_receive() ? follows(a.receive().send, b.receive().send)
                          : repeats(a.collective(), b.collective());
}

/// Whether iteration `i` and the one after it are.
bool repeats(const Program& program, int i) {
    const std::size_t first = first_of_iteration(program, i).index();
    const std::size_t second = first_of_iteration(program, i + 1).index();
    const std::size_t end = first_of_iteration(program, i + 2).index();
    if (second - first != end - second) {
        return false;
    }
    for (std::size_t index = first; index < second; ++index) {
        if (!repeats(program.operations[OperationId(index)],
                     program.operations[OperationId(index + second - first)], second - first)) {
            return false;
        }
    }
    return true;
}

/// Instants of the cut run on the way to the full one; what never was stays so.
Time later(Time instant, Time by) {
    return instant == Time(0) ? instant : instant + by;
}

OperationRecord later(OperationRecord record, Time by) {
    for (Time* instant : {&record.first_issue, &record.first_start, &record.last_finish}) {
        *instant = later(*instant, by);
    }
    for (StageRecord& stage : record.stages) {
        stage.first_start = later(stage.first_start, by);
        stage.last_finish = later(stage.last_finish, by);
    }
    return record;
}

class Splice {
public:
    explicit Splice(const SkippedPeriods& skipped)
        : skipped_(skipped) {}

    struct Origin {
        int iteration;  // of the cut run
        Time by;
    };
    [[nodiscard]] Origin of(int iteration) const {
        if (iteration < skipped_.to) {
            return {iteration, Time(0)};
        }
        if (iteration >= skipped_.to + skipped_.iterations()) {
            return {iteration - skipped_.iterations(), skipped_.whole_time()};
        }
        const int periods = (iteration - skipped_.from) / skipped_.length();
        return {iteration - periods * skipped_.length(), skipped_.time() * periods};
    }

    /// A sum over time.
    [[nodiscard]] Time sum(Time cut, Time at_from, Time at_to) const {
        return cut + (at_to - at_from) * skipped_.periods;
    }

    /// But for the drain. \returns all that is accounted for, beside it.
    Time account(StreamRecord& stream, const StreamRecord& at_from, const StreamRecord& at_to) const {
        stream.compute = sum(stream.compute, at_from.compute, at_to.compute);
        stream.slowed = sum(stream.slowed, at_from.slowed, at_to.slowed);
        Time accounted = stream.compute + stream.slowed;
        const auto at = [](const StreamRecord& record, const std::string& name) {
            const auto found = record.exposed.find(name);
            return found == record.exposed.end() ? Time(0) : found->second;
        };
        for (const auto& [name, time] : at_to.exposed) {
            Time& exposed = stream.exposed[name];
            exposed = sum(exposed, at(at_from, name), time);
        }
        std::erase_if(stream.exposed, [](const auto& wait) { return wait.second == Time(0); });
        for (const auto& [name, time] : stream.exposed) {
            accounted += time;
        }
        return accounted;
    }

private:
    const SkippedPeriods& skipped_;
};

}  // namespace

OperationId first_of_iteration(const Program& program, int iteration) {
    std::size_t first = 0;
    std::size_t end = program.operations.size();
    while (first < end) {
        const std::size_t middle = first + (end - first) / 2;
        if (program.operations[OperationId(middle)].iteration < iteration) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return OperationId(first);
}

std::optional<int> alike_from(const Program& program) {
    for (std::size_t index = 1; index < program.operations.size(); ++index) {
        if (program.operations[OperationId(index)].iteration <
            program.operations[OperationId(index - 1)].iteration) {
            return std::nullopt;
        }
    }
    int from = std::max(program.iterations - 1, 0);
    while (from > 0 && repeats(program, from - 1)) {
        --from;
    }
    return from;
}

std::optional<std::string> unknown_state(const Program& program, const SystemOptions& options) {
    if (options.compute_speeds != nullptr) {
        return "ranks are slow for a time";
    }
    if (options.circuit_windows != nullptr) {
        return "circuits turn while ranks compute";
    }
    if (options.end_point.timing != EndPointTiming::kPerMessage) {
        return "costs at end points follow the ticks of a clock";
    }
    if (options.active_chunks_per_dimension && options.stage_order == StageOrder::kAlternate) {
        return "slots of dimensions go to stages alternately";
    }
    if (std::ranges::any_of(program.operations, [](const Operation& operation) {
            return operation.is_collective() && operation.collective().priority == Priority::kExplicit;
        })) {
        return "explicit priorities compare with the number of collectives so far";
    }
    return std::nullopt;
}

ExecutionReport with_skipped(const Program& program, const ExecutionReport& cut,
                             const SkippedPeriods& skipped) {
    ASTROLABE_ASSERT(cut.finished && skipped.periods > 0 && skipped.length() > 0 && skipped.time() > Time(0),
                     "whole periods of a finished run are left out");
    const Splice splice(skipped);
    ExecutionReport report = cut;
    report.total = cut.total + skipped.whole_time();
    report.request_bytes += (skipped.at_to.request_bytes - skipped.at_from.request_bytes) * skipped.periods;
    for (std::size_t index = first_of_iteration(program, skipped.to).index();
         index < program.operations.size(); ++index) {
        const OperationId id(index);
        const int iteration = program.operations[id].iteration;
        const Splice::Origin origin = splice.of(iteration);
        const std::size_t place = index - first_of_iteration(program, iteration).index();
        report.operations[id] =
            later(cut.operations[OperationId(first_of_iteration(program, origin.iteration).index() + place)],
                  origin.by);
    }
    for (std::size_t index = 0; index < report.ranks.size(); ++index) {
        RankRecord& rank = report.ranks[index];
        const RankRecord& at_from = skipped.at_from.ranks[index];
        const RankRecord& at_to = skipped.at_to.ranks[index];
        rank.end = later(rank.end, skipped.whole_time());
        rank.drain = report.total - splice.account(rank, at_from, at_to);
        for (std::size_t stream = 0; stream < rank.other_streams.size(); ++stream) {
            StreamRecord& other = rank.other_streams[stream];
            other.drain = report.total -
                          splice.account(other, at_from.other_streams[stream], at_to.other_streams[stream]);
        }
        const std::vector<Time> ends = std::exchange(rank.iteration_ends, {});
        for (int iteration = 0; iteration < program.iterations; ++iteration) {
            const Splice::Origin origin = splice.of(iteration);
            rank.iteration_ends.push_back(later(ends[static_cast<std::size_t>(origin.iteration)], origin.by));
        }
    }
    return report;
}

}  // namespace astrolabe::system
