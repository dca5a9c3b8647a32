#include "implementation.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::system {

std::uint32_t chunk_count(Bytes size, Bytes minimum_chunk, std::uint32_t chunks) {
    ASTROLABE_ASSERT(size >= Bytes(0) && minimum_chunk > Bytes(0) && chunks > 0,
                     "chunks have a minimum size");
    const std::int64_t full =
        size.count() / minimum_chunk.count() + (size % minimum_chunk > Bytes(0) ? 1 : 0);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(full, 1, chunks));
}

std::uint32_t chunk_count(const CollectiveOperation& collective, const SystemOptions& options) {
    return chunk_count(collective.size, options.minimum_chunk, chosen_chunks(collective, options));
}

namespace {

using detail::CompletedCollective;
using detail::OperationOnRank;

constexpr unsigned kRankBits = 32;

void check_placement(const Program& program, const std::vector<network::HostId>& placement) {
    ASTROLABE_ASSERT(placement.size() == program.ranks, "every rank has a host");
    ASTROLABE_ASSERT(std::set<network::HostId>(placement.begin(), placement.end()).size() == placement.size(),
                     "no two ranks share a host");
}

void check_algorithms(const Program& program, const SystemOptions& options) {
    std::set<std::tuple<CollectiveKind, PartitionId, const CollectiveMethod*>> checked;
    for (const Operation& operation : program.operations) {
        if (!operation.is_collective() || operation.collective().size == Bytes(0) ||
            !checked
                 .emplace(operation.collective().kind, operation.collective().partition,
                          operation.collective().method.get())
                 .second) {
            continue;
        }
        const CollectiveOperation& collective = operation.collective();
        const std::shared_ptr<const CollectiveAlgorithm>& algorithm = chosen_algorithm(collective, options);
        for (const std::vector<RankId>& group : program.partitions[collective.partition].groups) {
            if (group.size() < 2) {
                continue;
            }
            ASTROLABE_ASSERT(algorithm != nullptr && chosen_chunks(collective, options) > 0,
                             "every collective has an algorithm");
            const auto reason = algorithm->unsupported(collective.kind, group_shape(group, options));
            ASTROLABE_ASSERT(!reason, reason.value_or(""));
            ASTROLABE_ASSERT(!collective.is_uneven() || !algorithm->unsupported_uneven(),
                             algorithm->unsupported_uneven().value_or(""));
        }
    }
}

void check_options(const Program& program, const SystemOptions& options) {
    ASTROLABE_ASSERT(options.active_chunks > 0 && options.active_chunks_per_dimension.value_or(1) > 0,
                     "a rank may have a chunk in flight");
    ASTROLABE_ASSERT(!options.dimensions || options.dimensions->ranks() == program.ranks,
                     "the logical dimensions hold every rank");
    ASTROLABE_ASSERT(options.minimum_chunk > Bytes(0), "chunks are not empty");
    check_algorithms(program, options);
}

/// `program`, once it is known to keep its contract.
const Program& checked(const Program& program, const SystemOptions& options,
                       const std::vector<network::HostId>& placement) {
    program.check();
    check_options(program, options);
    check_placement(program, placement);
    return program;
}

const network::Folding& checked(const network::Folding& folding, const Program& program) {
    ASTROLABE_ASSERT(folding.ranks == program.ranks && folding.representatives > 0 &&
                         folding.ranks % folding.representatives == 0,
                     "representatives divide the ranks into classes");
    return folding;
}

}  // namespace

Executor::Implementation::Implementation(Executor& owner, const Program& program, SystemOptions options,
                                         network::NetworkBackend& backend,
                                         const std::vector<network::HostId>& placement,
                                         const network::Folding& folding)
    : owner_(owner),
      program_(checked(program, options, placement)),
      options_(std::move(options)),
      backend_(backend),
      folding_(checked(folding, program)),
      participants_(program),
      records_(program.operations.size(),
               OperationRecord{.first_issue = Time::max(), .first_start = Time::max()}),
      ties_(backend, folding_.representatives < folding_.ranks),
      chunks_(backend, options_.end_point, options_.circuit_windows, ties_, *this),
      collectives_(program, participants_, options_, backend, placement, folding_, chunks_, ties_, records_),
      ranks_(program, participants_, backend, folding_, options_.compute_speeds.get(), records_, *this),
      completion_timer_(*this),
      completions_(backend),
      total_operations_(participants_.total()),
      operations_end_(program.operations.size()) {}

void Executor::Implementation::begin() {
    ASTROLABE_ASSERT(!has_run_, "an executor runs once");
    has_run_ = true;
    if (ranks_.contends()) {
        collectives_.report_entries();
    }
    ranks_.begin();
    settle();
}

ExecutionReport Executor::Implementation::run() {
    begin();
    if (!was_stopped_) {
        backend_.run();
    }
    return report();
}

void Executor::Implementation::stop() {
    was_stopped_ = true;
    backend_.stop();
}

void Executor::Implementation::settle() {
    for (;;) {
        for (const detail::FinishedChunk& finished : chunks_.finished()) {
            collectives_.chunk_finished(finished);
        }
        chunks_.finished().clear();
        for (const CompletedCollective& completed : collectives_.completed()) {
            complete(completed);
        }
        collectives_.completed().clear();
        end_operations();
        if (ranks_.has_ready()) {
            const OperationOnRank next = ranks_.take_ready();
            begin_operation(next);
            collectives_.issue(next.operation, next.rank);
        } else if (collectives_.wants_to_start()) {
            collectives_.start_chunks();
            for (const OperationOnRank& entered : collectives_.entered()) {
                ranks_.collective_started(entered);
            }
            collectives_.entered().clear();
        } else if (!collectives_.let_a_group_go_on()) {
            break;
        }
    }
    chunks_.flush();
    if (iteration_observer_ != nullptr) {
        report_iterations();
    }
    if (ties_.found() && !was_stopped_) {
        stop();
    }
}

void Executor::Implementation::end_operations() {
    std::vector<OperationOnRank>& started = ranks_.started();
    std::vector<OperationOnRank>& ended = ranks_.ended();
    for (std::size_t next = 0;; ++next) {
        for (const OperationOnRank operation : started) {
            records_[operation.operation].first_start =
                std::min(records_[operation.operation].first_start, backend_.now());
            begin_operation(operation);
        }
        started.clear();
        if (next == ended.size()) {
            break;
        }
        // Finishing may end further operations at once: the list grows while it is read.
        const OperationOnRank finished = ended[next];
        ranks_.finish(finished);
        owner_.operation_finished.emit(finished.operation, finished.rank, backend_.now());
    }
    ended.clear();
}

void Executor::Implementation::begin_operation(OperationOnRank issued) {
    OperationRecord& record = records_[issued.operation];
    record.first_issue = std::min(record.first_issue, backend_.now());
    owner_.operation_issued.emit(issued.operation, issued.rank, backend_.now());
}

void Executor::Implementation::complete(const CompletedCollective& completed) {
    const Operation& operation = program_.operations[completed.operation];
    const Time delay = std::max(completed.not_before - backend_.now(), Time(0)) +
                       (operation.is_collective() ? operation.collective().completion_delay : Time(0));
    if (delay == Time(0)) {
        ranks_.ended().push_back({completed.operation, completed.rank});
        return;
    }
    completions_.set(delay, completion_timer_,
                     std::uint64_t{completed.operation.index()} << kRankBits | completed.rank.index());
}

void Executor::Implementation::CompletionTimer::notify(std::uint64_t token) {
    executor_.completions_.expired();
    executor_.ranks_.ended().push_back({OperationId(static_cast<std::uint32_t>(token >> kRankBits)),
                                        RankId(static_cast<std::uint32_t>(token))});
    executor_.settle();
}

network::TimerPurpose Executor::Implementation::CompletionTimer::purpose(std::uint64_t token) const {
    const auto operation = static_cast<std::uint32_t>(token >> kRankBits);
    const Operation& what = executor_.program_.operations[OperationId(operation)];
    const bool lasts = what.is_receive() || what.collective().least_duration > Time(0);
    return {lasts ? network::Resources::kEndPoints : network::Resources::kCompute, operation};
}

Executor::Executor(const Program& program, SystemOptions options, network::NetworkBackend& backend,
                   const std::vector<network::HostId>& placement,
                   const std::optional<network::Folding>& folding)
    : implementation_(std::make_unique<Implementation>(
          *this, program, std::move(options), backend, placement,
          folding.value_or(network::Folding{.ranks = program.ranks, .representatives = program.ranks}))) {}

Executor::~Executor() = default;

ExecutionReport Executor::run() {
    return implementation_->run();
}

void Executor::begin() {
    implementation_->begin();
}

ExecutionReport Executor::end() {
    return implementation_->end();
}

void Executor::stop() {
    implementation_->stop();
}

void Executor::observe_iterations(IterationObserver& observer) {
    implementation_->observe_iterations(observer);
}

std::optional<StateAtRest> Executor::state_at_rest() const {
    return implementation_->state_at_rest();
}

AccountsSoFar Executor::so_far() const {
    return implementation_->so_far();
}

int Executor::begun_iterations() const {
    return implementation_->begun_iterations();
}

void Executor::end_before(int iteration) {
    implementation_->end_before(iteration);
}

bool Executor::ends_early() const {
    return implementation_->ends_early();
}

std::uint64_t Executor::finished_operations() const {
    return implementation_->finished_operations();
}

std::uint64_t Executor::total_operations() const {
    return implementation_->total_operations();
}

std::uint64_t Executor::delivered_messages() const {
    return implementation_->delivered_messages();
}

RankActivity Executor::activity() const {
    return implementation_->activity();
}

}  // namespace astrolabe::system
