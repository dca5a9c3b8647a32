#include "run_limit.hpp"

#include "../explain/saturation.hpp"

#include <algorithm>

namespace astrolabe::experiment {

using system::OperationId;
using system::RankId;

RunLimit::RunLimit(const system::Program& program, std::size_t simulated, Time most, bool stops_in_drain,
                   system::Executor& executor, const network::NetworkBackend& backend)
    : most_(most),
      executor_(executor),
      ranks_(simulated) {
    for (const system::Operation& operation : program.operations) {
        for (std::size_t rank = 0; operation.is_compute() && rank < simulated; ++rank) {
            ranks_[rank].to_begin += operation.compute().duration[RankId(rank)];
        }
    }
    executor.operation_issued.connect([this, &program](OperationId id, RankId rank, Time now) {
        const system::Operation& operation = program.operations[id];
        if (operation.is_compute()) {
            Rank& own = ranks_[rank.index()];
            foresee(own, now);
            own.to_begin -= operation.compute().duration[rank];
            own.is_computing = true;
        }
    });
    executor.operation_finished.connect([this, &program](OperationId id, RankId rank, Time) {
        ranks_[rank.index()].is_computing &= !program.operations[id].is_compute();
    });
    executor.progressed.connect([this, stops_in_drain, &backend] {
        for (const Rank& rank : ranks_) {
            if (!rank.is_computing && (stops_in_drain || rank.to_begin > Time(0))) {
                foresee(rank, backend.now());
            }
        }
    });
}

void RunLimit::foresee(const Rank& rank, Time now) {
    least_ = std::max(least_, later(now, rank.to_begin));
    if (is_exceeded()) {
        executor_.stop();
    }
}

}  // namespace astrolabe::experiment
