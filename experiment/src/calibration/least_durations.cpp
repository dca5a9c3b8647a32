#include "least_durations.hpp"

#include <algorithm>
#include <set>

namespace astrolabe::experiment {

MeasuredUse set_least_durations(system::Program& program, const MeasuredCollectives& measured) {
    MeasuredUse use{.machine = measured.machine};
    std::set<std::string> extrapolated;
    std::set<std::string> unknown;
    for (system::Operation& operation : program.operations) {
        if (operation.is_compute()) {
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
        const std::optional<MeasuredTime> time =
            measured_time(measured, work.kind, nccl_size(work.kind, work.size, ranks), ranks);
        if (!time) {
            unknown.insert(operation.name);
            continue;
        }
        work.least_duration = time->time;
        ++use.collectives;
        if (time->is_extrapolated) {
            extrapolated.insert(operation.name);
        }
    }
    use.extrapolated.assign(extrapolated.begin(), extrapolated.end());
    use.unknown.assign(unknown.begin(), unknown.end());
    return use;
}

}  // namespace astrolabe::experiment
