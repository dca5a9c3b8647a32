#include "least_durations.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace astrolabe::experiment {
namespace {

/// Names of operations beyond a series, each with its size and ranks.
using Beyond = std::map<const MeasuredSeries*, std::set<std::string>>;

std::vector<RangeWarning> range_warnings(const Beyond& beyond) {
    std::vector<RangeWarning> warnings;
    for (const auto& [series, operations] : beyond) {
        const std::size_t more = operations.size() - 1;
        warnings.push_back(
            {series->where,
             fmt::format("{} of {} ranks was measured from {} to {}; {}{} beyond",
                         system::to_string(series->kind), series->ranks, to_string(series->from),
                         to_string(series->pieces.back().up_to), *operations.begin(),
                         more == 0 ? " is" : fmt::format(" and {} more are", more))});
    }
    std::ranges::sort(warnings, {}, [](const RangeWarning& warning) {
        return std::pair(warning.where.line, warning.message);
    });
    return warnings;
}

/// Gives every collective that moves something the time of `time_for(collective, S, ranks, name)`, where
/// there is one.
template <class TimeFor>
void give_times(system::Program& program, MeasuredUse& use, const TimeFor& time_for) {
    std::set<std::string> unknown;
    for (system::Operation& operation : program.operations) {
        if (!operation.is_collective()) {
            continue;
        }
        auto& work = std::get<system::CollectiveOperation>(operation.work);
        std::size_t ranks = 0;
        for (const auto& group : program.partitions[work.partition].groups) {
            ranks = std::max(ranks, group.size());
        }
        if (work.moves_nothing(ranks)) {
            continue;
        }
        const Bytes size = nccl_size(work.kind, work.size, ranks);
        if (const std::optional<Time> time = time_for(work, size, ranks, operation.name)) {
            work.least_duration = *time;
            ++use.collectives;
        } else {
            unknown.insert(operation.name);
        }
    }
    use.unknown.assign(unknown.begin(), unknown.end());
}

}  // namespace

MeasuredUse set_least_durations(system::Program& program, const MeasuredCollectives& measured) {
    MeasuredUse use{.machine = measured.machine};
    std::set<std::string> extrapolated;
    Beyond beyond;
    give_times(
        program, use,
        [&](const system::CollectiveOperation& work, Bytes size, std::size_t ranks,
            const std::string& name) -> std::optional<Time> {
            const std::optional<MeasuredTime> time = measured_time(measured, work.kind, size, ranks);
            if (!time) {
                return std::nullopt;
            }
            if (time->is_extrapolated) {
                extrapolated.insert(name);
                beyond[time->series].insert(fmt::format(
                    "{} ({}, {} of {} ranks)", name, system::to_string(work.kind), to_string(size), ranks));
            }
            return time->time;
        });
    use.extrapolated.assign(extrapolated.begin(), extrapolated.end());
    use.warnings = range_warnings(beyond);
    return use;
}

MeasuredUse set_least_durations(system::Program& program, const NcclTuning& tuning) {
    MeasuredUse use{.machine = "NCCL's tuning model"};
    give_times(program, use,
               [&tuning](const system::CollectiveOperation& work, Bytes size, std::size_t ranks,
                         const std::string&) -> std::optional<Time> {
                   const std::optional<NcclChoice> choice = nccl_choice(tuning, work.kind, size, ranks);
                   return choice ? std::optional(choice->time) : std::nullopt;
               });
    return use;
}

}  // namespace astrolabe::experiment
