// The executor's report at the end: the checked accounts of a finished run, or, of a stalled one, what every
// rank waits for.

#include "implementation.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system {

namespace {

constexpr std::size_t kDescribedRanks = 16;
constexpr std::size_t kDescribedChunks = 4;  // of one rank
constexpr std::size_t kDescribedMessages = 16;

template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

}  // namespace

ExecutionReport Executor::Implementation::report() {
    for (std::size_t index = 0; index < program_.operations.size(); ++index) {
        const OperationId id(index);
        records_[id].stages = collectives_.stages(id);
        for (const StageRecord& stage : records_[id].stages) {
            records_[id].bytes_sent += stage.bytes_sent;
            records_[id].messages += stage.messages;
        }
    }
    ExecutionReport report;
    report.finished = finished_operations() == total_operations();
    report.has_tie = ties_.found();
    if (report.finished) {
        check_totals();
    } else {
        report.stall = describe_stall();
    }
    report.total = report.finished ? Time(0) : backend_.now();
    report.request_bytes = chunks_.request_bytes() * folding_.class_size();
    report.operations = records_;
    for (OperationRecord& record : report.operations) {
        if (record.first_issue == Time::max()) {
            record.first_issue = Time(0);
        }
        if (record.first_start == Time::max()) {
            record.first_start = Time(0);
        }
        report.total = std::max(report.total, record.last_finish);
    }
    report.ranks = ranks_.records(report.total, report.finished);
    return report;
}

void Executor::Implementation::check_totals() {
    ASTROLABE_ASSERT(chunks_.messages_sent() == chunks_.messages_delivered(),
                     "every message is delivered once");
    ASTROLABE_ASSERT(chunks_.chunks_open() == 0, "no chunk is left in flight");
    ASTROLABE_ASSERT(collectives_.instances_open() == 0, "no collective is left in flight");
    ASTROLABE_ASSERT(!chunks_.timers().pending() && !completions_.pending(), "no timer is left");
    ASTROLABE_ASSERT(backend_.outstanding_messages() == 0, "nothing is left in the network");
    for (std::size_t index = 0; index < operations_end_; ++index) {
        const OperationId id(index);
        if (program_.operations[id].is_collective()) {
            ASTROLABE_ASSERT(
                records_[id].bytes_sent == collectives_.expected_bytes(id),
                "a collective sends the bytes of its schedules: " + program_.operations[id].name);
        }
    }
}

bool Executor::Implementation::is_interrupted() const {
    // A backend that was not stopped does not return while it still has timers to notify.
    return was_stopped_ || ranks_.timers().pending() || chunks_.timers().pending() || completions_.pending();
}

bool Executor::Implementation::passes_the_end_of_time() const {
    return ranks_.timers().pass_the_end() || chunks_.timers().pass_the_end() || completions_.pass_the_end();
}

std::string Executor::Implementation::describe_stall() const {
    std::string text;
    const char* what = "stalled (nothing can happen any more)";
    if (is_interrupted()) {
        what = "interrupted";
    } else if (passes_the_end_of_time()) {
        what = "reached the end of simulated time, 2^63 ps or 106 days,";
    } else if (backend_.outstanding_messages() > 0) {
        what = "stalled or interrupted (the network returned with messages in flight)";
    }
    append(text, "{} at {}: {} of {} operations finished, counted on every rank\n", what,
           astrolabe::to_string(backend_.now()), finished_operations(), total_operations());
    std::size_t unfinished = 0;
    for (std::size_t index = 0; index < folding_.representatives; ++index) {
        const RankId rank(index);
        if (ranks_.has_finished_all(rank)) {
            continue;
        }
        if (unfinished++ < kDescribedRanks) {
            describe_rank(rank, text);
        }
    }
    if (unfinished > kDescribedRanks) {
        append(text, "and {} more ranks\n", unfinished - kDescribedRanks);
    }
    if (folding_.representatives < folding_.ranks) {
        append(text, "ranks 0 to {} represent all {}\n", folding_.representatives - 1, folding_.ranks);
    }
    if (options_.start_order == StartOrder::kIndependent) {
        describe_cycle(text);
    }
    describe_network(text);
    return text;
}

void Executor::Implementation::describe_rank(RankId rank, std::string& text) const {
    using Activity = detail::RankEngine::Activity;
    const std::size_t streams = program_.streams.size();
    std::size_t draining = 0;
    for (std::size_t stream = 0; stream < streams; ++stream) {
        const std::string who = streams == 1
                                    ? fmt::format("rank {}", rank.index())
                                    : fmt::format("rank {}, {}", rank.index(), program_.streams[stream]);
        const auto situation = ranks_.situation(rank, stream);
        switch (situation.activity) {
            case Activity::kComputing:
                append(text, "{}: computes '{}'\n", who, program_.operations[situation.operation].name);
                break;
            case Activity::kWaiting:
                append(text, "{}: '{}' waits for '{}'\n", who, program_.operations[situation.operation].name,
                       program_.operations[situation.waits_for].name);
                break;
            case Activity::kDraining:
                ++draining;
                break;
        }
    }
    if (draining == streams) {
        append(text, "rank {}: waits for its last collectives\n", rank.index());
    }
    for (std::size_t index = 0; index < operations_end_; ++index) {
        const OperationId operation(index);
        if (!participants_.include(operation, rank) || ranks_.has_finished(operation, rank)) {
            continue;
        }
        if (program_.operations[operation].is_receive()) {
            describe_receive(operation, rank, text);
        } else if (program_.operations[operation].is_collective()) {
            describe_collective(operation, rank, text);
        }
    }
}

void Executor::Implementation::describe_receive(OperationId operation, RankId rank, std::string& text) const {
    const OperationId send = program_.operations[operation].receive().send;
    const detail::Instance* instance = collectives_.find(send, rank);
    if (instance == nullptr || instance->issued_at.back() == detail::kNever) {
        return;
    }
    const RankId sender = collectives_.channel(instance->channel).ranks.front();
    append(text, "rank {}: '{}' waits for '{}' from rank {}, which has {}\n", rank.index(),
           program_.operations[operation].name, program_.operations[send].name, sender.index(),
           instance->issued_at.front() == detail::kNever ? "not sent it" : "sent it");
}

void Executor::Implementation::describe_collective(OperationId operation, RankId rank,
                                                   std::string& text) const {
    const detail::Instance* instance = collectives_.find(operation, rank);
    if (instance == nullptr) {
        return;
    }
    const std::string& name = program_.operations[operation].name;
    const Position position = *collectives_.position(*instance, rank);
    const std::size_t ranks = instance->issued_at.size();
    if (instance->issued_at[position] == detail::kNever) {
        append(text, "rank {}: has not issued '{}', which {} of {} ranks have\n", rank.index(), name,
               instance->issued, ranks);
        return;
    }
    if (instance->plan == nullptr) {
        append(text, "rank {}: '{}' waits to be issued everywhere ({} of {} ranks)\n", rank.index(), name,
               instance->issued, ranks);
        return;
    }
    const std::size_t in_flight = describe_chunks(*instance, rank, position, text);
    const std::size_t waiting = describe_slots(*instance, rank, position, text);
    if (in_flight + waiting == 0) {
        const bool has_barriers =
            chosen_algorithm(program_.operations[operation].collective(), options_)->has_barriers();
        append(text, "rank {}: '{}' has {} of {} chunks to start{}\n", rank.index(), name,
               instance->chunks_left[position], instance->chunks,
               has_barriers ? ", or to go on with when all ranks have come as far" : "");
    }
}

std::string Executor::Implementation::chunk_name(const detail::ChunkRun& run, std::size_t stage) const {
    const detail::Instance& instance = collectives_.instance(run.instance);
    std::string name = fmt::format("'{}' chunk {} of {}", program_.operations[instance.operation].name,
                                   run.number + 1, instance.chunks);
    if (run.stages.size() > 1) {
        const Stage& what = run.schedule->stages[stage];
        append(name, " stage {} of {} ({} in dimension {})", stage + 1, run.stages.size(),
               to_string(what.kind), what.dimension);
    }
    return name;
}

std::size_t Executor::Implementation::describe_chunks(const detail::Instance& instance, RankId rank,
                                                      Position position, std::string& text) const {
    std::size_t in_flight = 0;
    for (detail::ChunkIndex index = 0; index < chunks_.chunk_capacity(); ++index) {
        const detail::Chunk& chunk = chunks_.chunk(index);
        if (chunk.schedule == nullptr ||
            &collectives_.instance(collectives_.run(chunk.run).instance) != &instance ||
            !chunks_.in_flight(index, position) || in_flight++ >= kDescribedChunks) {
            continue;
        }
        append(text, "rank {}: {} ", rank.index(), chunk_name(collectives_.run(chunk.run), chunk.stage));
        if (const auto missing = chunks_.first_missing(index, position)) {
            append(text, "waits for {} from rank {} (action {})", astrolabe::to_string(missing->size),
                   collectives_.channel(instance.channel).ranks[missing->peer].index(), missing->action);
            if (missing->others > 0) {
                append(text, " and {} more messages", missing->others);
            }
            text += '\n';
        } else {
            text += "has received everything and waits to send\n";
        }
    }
    if (in_flight > kDescribedChunks) {
        append(text, "rank {}: '{}' has {} more chunks in flight\n", rank.index(),
               program_.operations[instance.operation].name, in_flight - kDescribedChunks);
    }
    return in_flight;
}

std::size_t Executor::Implementation::describe_slots(const detail::Instance& instance, RankId rank,
                                                     Position position, std::string& text) const {
    const auto& queues = collectives_.channel(instance.channel).queues;
    std::size_t waiting = 0;
    for (std::size_t dimension = 0; dimension < queues.size(); ++dimension) {
        for (const detail::StageQueue::Claim& claim : queues[dimension].waiting(position)) {
            const detail::ChunkRun& run = collectives_.run(claim.run);
            if (&collectives_.instance(run.instance) == &instance && waiting++ < kDescribedChunks) {
                append(text, "rank {}: {} waits for a slot in dimension {}, where {} of {} slots are taken\n",
                       rank.index(), chunk_name(run, claim.stage), dimension,
                       queues[dimension].in_flight(position), *options_.active_chunks_per_dimension);
            }
        }
    }
    if (waiting > kDescribedChunks) {
        append(text, "rank {}: '{}' has {} more chunks that wait for slots\n", rank.index(),
               program_.operations[instance.operation].name, waiting - kDescribedChunks);
    }
    return waiting;
}

std::optional<Executor::Implementation::RankWait> Executor::Implementation::wait_of(RankId rank) const {
    std::optional<RankWait> wait;
    for (detail::ChunkIndex index = 0; index < chunks_.chunk_capacity(); ++index) {
        const detail::Chunk& chunk = chunks_.chunk(index);
        if (chunk.schedule == nullptr) {
            continue;
        }
        const detail::Instance& instance = collectives_.instance(collectives_.run(chunk.run).instance);
        const auto position = collectives_.position(instance, rank);
        if (!position || !chunks_.in_flight(index, *position)) {
            continue;
        }
        for (const Position sender : chunks_.missing_senders(index, *position)) {
            const bool has_started = chunks_.has_started(index, sender);
            if (!wait || (wait->has_started && !has_started)) {
                wait = RankWait{.chunk = index,
                                .sender = collectives_.channel(instance.channel).ranks[sender],
                                .has_started = has_started};
            }
        }
    }
    return wait;
}

void Executor::Implementation::describe_cycle(std::string& text) const {
    // Every rank waits for at most one other here, so following the waits from any rank ends or goes round.
    std::vector<std::optional<RankWait>> waits(folding_.representatives);
    for (std::size_t rank = 0; rank < folding_.representatives; ++rank) {
        waits[rank] = wait_of(RankId(rank));
    }
    std::vector<std::size_t> visited_from(folding_.representatives, folding_.representatives);
    for (std::size_t start = 0; start < folding_.representatives; ++start) {
        std::size_t rank = start;
        while (waits[rank] && visited_from[rank] == folding_.representatives) {
            visited_from[rank] = start;
            rank = waits[rank]->sender.index();
        }
        if (!waits[rank] || visited_from[rank] != start) {
            continue;
        }
        std::vector<RankId> cycle;
        bool has_absent_sender = false;
        do {
            cycle.emplace_back(rank);
            has_absent_sender = has_absent_sender || !waits[rank]->has_started;
            rank = waits[rank]->sender.index();
        } while (RankId(rank) != cycle.front());
        if (has_absent_sender) {
            describe_cycle(cycle, waits, text);
            return;
        }
    }
}

void Executor::Implementation::describe_cycle(const std::vector<RankId>& cycle,
                                              const std::vector<std::optional<RankWait>>& waits,
                                              std::string& text) const {
    text += "ranks wait for one another in a cycle:\n";
    for (const RankId rank : cycle) {
        const RankWait& wait = *waits[rank.index()];
        const detail::Chunk& chunk = chunks_.chunk(wait.chunk);
        append(text, "  rank {} holds {} with {} and waits for rank {}, which has {}\n", rank.index(),
               slots_text(chunk, rank), chunk_name(collectives_.run(chunk.run), chunk.stage),
               wait.sender.index(), wait.has_started ? "started it and waits too" : "not started it");
    }
    text += "  they started chunks in different orders; start_order: agreed keeps all ranks to one order\n";
}

std::string Executor::Implementation::slots_text(const detail::Chunk& chunk, RankId rank) const {
    const detail::ChunkRun& run = collectives_.run(chunk.run);
    const detail::Instance& instance = collectives_.instance(run.instance);
    const detail::Channel& channel = collectives_.channel(instance.channel);
    const Position position = *collectives_.position(instance, rank);
    const std::uint32_t dimension = run.schedule->stages[chunk.stage].dimension;
    if (!channel.queues.empty() &&
        channel.queues[dimension].in_flight(position) == *options_.active_chunks_per_dimension) {
        return fmt::format("{0} of its {0} slots in dimension {1}", *options_.active_chunks_per_dimension,
                           dimension);
    }
    return fmt::format("{} of its {} slots", channel.in_window[position], options_.active_chunks);
}

void Executor::Implementation::describe_network(std::string& text) const {
    const std::uint64_t outstanding = backend_.outstanding_messages();
    for (const network::OutstandingMessage& message : backend_.describe_outstanding(kDescribedMessages)) {
        append(text, "network: {} from host {} to host {}, {} left\n", astrolabe::to_string(message.size),
               message.source.index(), message.destination.index(), astrolabe::to_string(message.remaining));
    }
    if (outstanding > kDescribedMessages) {
        append(text, "network: and {} more messages\n", outstanding - kDescribedMessages);
    }
    if (const std::string reason = backend_.explain_stall(); !reason.empty()) {
        append(text, "network: {}\n", reason);
    }
}

}  // namespace astrolabe::system
