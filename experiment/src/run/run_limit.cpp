#include "run_limit.hpp"

#include <algorithm>

#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::experiment {

using system::OperationId;
using system::RankId;

RunLimit::RunLimit(const system::Program& program, std::size_t simulated, Time most, bool stops_in_drain,
                   system::Executor& executor, const network::NetworkBackend& backend)
    : most_(most),
      executor_(executor),
      streams_of_rank_(program.streams.size()),
      streams_(simulated * streams_of_rank_) {
    const system::Participants participants(program);
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const system::Operation& operation = program.operations[OperationId(i)];
        if (operation.is_compute()) {
            participants.for_each(OperationId(i), [&](RankId rank) {
                if (rank.index() < simulated) {
                    stream_of(operation, rank).to_begin += operation.compute().duration[rank];
                }
            });
        }
    }
    executor.operation_issued.connect([this, &program](OperationId id, RankId rank, Time now) {
        const system::Operation& operation = program.operations[id];
        if (operation.is_compute()) {
            Stream& own = stream_of(operation, rank);
            foresee(own, now);
            own.to_begin -= operation.compute().duration[rank];
            own.is_computing = true;
        }
    });
    executor.operation_finished.connect([this, &program](OperationId id, RankId rank, Time) {
        const system::Operation& operation = program.operations[id];
        if (operation.is_compute()) {
            stream_of(operation, rank).is_computing = false;
        }
    });
    executor.progressed.connect([this, stops_in_drain, &backend] {
        for (const Stream& stream : streams_) {
            if (!stream.is_computing && (stops_in_drain || stream.to_begin > Time(0))) {
                foresee(stream, backend.now());
            }
        }
    });
}

void RunLimit::foresee(const Stream& stream, Time now) {
    least_ = std::max(least_, saturating_sum(now, stream.to_begin));
    if (is_exceeded()) {
        executor_.stop();
    }
}

}  // namespace astrolabe::experiment
