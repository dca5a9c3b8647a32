// The executor from iteration to iteration: who is told, what the state at rest is, and the end before the
// rest.

#include "implementation.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/state_hash.hpp>
#include <astrolabe/system/executor/steady_state.hpp>

namespace astrolabe::system {

void Executor::Implementation::report_iterations() {
    settled_at_ = backend_.now();
    while (reported_ended_ < ranks_.computed_iterations()) {
        iteration_observer_->iterations_ended(++reported_ended_);
    }
}

void Executor::Implementation::before_compute_ends() {
    const int whole = ranks_.whole_iterations();
    if (iteration_observer_ == nullptr || whole <= reported_rest_ || collectives_.instances_open() > 0 ||
        chunks_.timers().pending() || completions_.pending() || backend_.outstanding_messages() > 0 ||
        settled_at_ == backend_.now()) {
        return;
    }
    if (iteration_observer_->at_rest(whole)) {
        reported_rest_ = whole;
    }
}

std::optional<StateAtRest> Executor::Implementation::state_at_rest() const {
    if (unknown_state(program_, options_)) {
        return std::nullopt;
    }
    const int whole = ranks_.whole_iterations();
    const OperationId first = first_of_iteration(program_, whole);
    StateHash state;
    StateHash order;
    ranks_.add_state(state, order, first);
    add_records(state, first);
    return StateAtRest{state.value(), order.value()};
}

void Executor::Implementation::add_records(StateHash& hash, OperationId first) const {
    const Time now = backend_.now();
    const std::size_t end = first_of_iteration(program_, ranks_.begun_iterations()).index();
    for (std::size_t index = first.index(); index < end; ++index) {
        const OperationId id(index);
        const OperationRecord& record = records_[id];
        for (const Time time : {record.first_issue, record.first_start}) {
            hash.add(time == Time::max() ? time : time - now);
        }
        hash.add(record.last_finish == Time(0) ? Time::max() : record.last_finish - now);
        hash.add(record.exposed);
        hash.add(std::uint64_t{record.chunks});
        for (const StageRecord& stage : collectives_.stages(id)) {
            hash.add(stage.bytes_sent);
            hash.add(stage.messages);
            hash.add(stage.first_start - now);
            hash.add(stage.last_finish - now);
            hash.add(stage.in_flight);
            hash.add(stage.waiting);
        }
    }
}

AccountsSoFar Executor::Implementation::so_far() const {
    return {backend_.now(), ranks_.records_so_far(), chunks_.request_bytes() * folding_.class_size()};
}

void Executor::Implementation::end_before(int iteration) {
    const OperationId end = first_of_iteration(program_, iteration);
    ASTROLABE_ASSERT(operations_end_ == program_.operations.size(), "a run is cut once");
    for (std::size_t index = end.index(); index < operations_end_; ++index) {
        total_operations_ -= participants_.count(OperationId(index));
    }
    operations_end_ = end.index();
    ranks_.end_before(end, iteration);
}

}  // namespace astrolabe::system
