#include "chunk_engine.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::detail {

namespace {

/// Messages between two progress signals: often enough for a progress line, too seldom to cost anything.
constexpr std::uint64_t kDeliveriesPerBeat = 4096;

// A token names a chunk, a position and an action: of a message, the sender and its send.
constexpr unsigned kPositionBits = 20;
constexpr unsigned kChunkBits = 64 - kActionBits - kPositionBits;

constexpr std::uint64_t pack(ChunkIndex chunk, Position position, std::uint32_t action) {
    return std::uint64_t{chunk} << (kActionBits + kPositionBits) | std::uint64_t{position} << kActionBits |
           action;
}
constexpr ChunkIndex chunk_of(std::uint64_t token) {
    return static_cast<ChunkIndex>(token >> (kActionBits + kPositionBits));
}
constexpr Position position_of(std::uint64_t token) {
    return static_cast<Position>(token >> kActionBits & ((std::uint64_t{1} << kPositionBits) - 1));
}
constexpr std::uint32_t action_of(std::uint64_t token) {
    return static_cast<std::uint32_t>(token & ((std::uint64_t{1} << kActionBits) - 1));
}

/// Beside kStarted: the cost of the start has passed and the rank receives what has arrived.
constexpr std::uint32_t kTakes = kStarted >> 1;

constexpr std::uint32_t left(std::uint32_t first_word) {
    return first_word & ~(kStarted | kTakes);
}

/// Sets the bit of an action of `range`; returns whether it was set before.
bool test_and_set(const ProgramRange& range, const RankState<std::uint32_t>& state, std::uint32_t action) {
    const std::uint32_t own = action - range.first_action;
    std::uint32_t& word = state[range.arrived_word + own / 32];
    const std::uint32_t bit = std::uint32_t{1} << (own % 32);
    const bool was_set = (word & bit) != 0;
    word |= bit;
    return was_set;
}

/// A message without bytes of an uneven all_to_all arrives where it is ready, at no cost.
bool never_leaves(const Chunk& chunk, Bytes size) {
    return size == Bytes(0) && chunk.sizes.pairs != nullptr;
}

}  // namespace

ChunkEngine::ChunkEngine(network::NetworkBackend& backend, const EndPoint& end_point,
                         std::shared_ptr<const network::CircuitWindows> windows, TieWatch& ties,
                         Continuation& continuation)
    : backend_(backend),
      timers_(backend),
      costs_(end_point),
      copy_time_(costs_.copy()),
      pays_receptions_(costs_.has_receptions()),
      ties_(ties),
      continuation_(continuation) {
    backend_.run_ahead_with(*this);
    if (windows != nullptr) {
        gated_send_.emplace(std::move(windows), backend_, copy_time_, timers_, circuit_timer_);
    }
}

ChunkIndex ChunkEngine::open(const Description& description) {
    if (free_.empty()) {
        ASTROLABE_ASSERT(chunks_.size() < std::size_t{1} << kChunkBits,
                         "a token can name every chunk in flight");
        free_.push_back(static_cast<ChunkIndex>(chunks_.size()));
        chunks_.push_back(std::make_unique<Chunk>());
    }
    const ChunkIndex index = free_.back();
    free_.pop_back();
    ASTROLABE_ASSERT(description.representatives <= Position{1} << kPositionBits,
                     "a token can name every position");
    Chunk& chunk = *chunks_[index];
    chunk.schedule = description.schedule;
    chunk.hosts = description.hosts;
    chunk.record = description.record;
    chunk.sizes = description.sizes;
    chunk.run = description.run;
    chunk.stage = description.stage;
    chunk.label = description.label;
    chunk.traffic_class = description.traffic_class;
    chunk.uses_circuits = description.uses_circuits;
    chunk.representatives = description.representatives;
    chunk.named_in = 0;
    chunk.started = 0;
    chunk.finished = 0;
    description.schedule->write_initial_state(description.representatives, chunk.state);
    return index;
}

void ChunkEngine::close(ChunkIndex index) {
    ASTROLABE_ASSERT(chunks_[index]->finished == chunks_[index]->representatives,
                     "a chunk ends on all its ranks");
    chunks_[index]->schedule = nullptr;
    free_.push_back(index);
}

void ChunkEngine::start(ChunkIndex index, Position position) {
    Chunk& chunk = *chunks_[index];
    const State state = state_of(chunk, position);
    ASTROLABE_ASSERT((state[0] & kStarted) == 0, "a rank starts a chunk once");
    ++chunk.started;
    state[0] |= kStarted;
    if (left(state[0]) == 0) {
        finished_.push_back({index, position});
    } else if (costs_.start() > Time(0)) {
        timers_.set(costs_.start(), start_timer_, pack(index, position, 0));
    } else {
        begin(index, position);
    }
}

void ChunkEngine::start_paid(std::uint64_t token) {
    timers_.expired();
    begin(chunk_of(token), position_of(token));
    end_notification();
}

void ChunkEngine::begin(ChunkIndex index, Position position) {
    Chunk& chunk = *chunks_[index];
    const CompiledSchedule& schedule = *chunk.schedule;
    const State state = state_of(chunk, position);
    state[0] |= kTakes;
    if (costs_.has_rendezvous()) {
        request_initial(index, position);
    }
    for (const std::uint32_t action : schedule.initial_sends(position)) {
        post(index, position, state, action);
    }
    if (state[1] != 0) {
        const ProgramRange& range = schedule.program(position);
        for (std::uint32_t own = 0; own < range.action_count; ++own) {
            const std::uint32_t action = range.first_action + own;
            if ((state[range.arrived_word + own / 32] >> (own % 32) & 1) != 0 &&
                !schedule.action(action).is_send) {
                received(index, position, state, action);
            }
        }
    }
    if (!empty_.empty()) {
        deliver_empty();
    }
}

void ChunkEngine::notify(std::uint64_t token) {
    if (++delivered_ % kDeliveriesPerBeat == 0) {
        continuation_.beat();
    }
    deliver(token);
    end_notification();
}

bool ChunkEngine::is_forwarded(const Chunk& chunk) {
    return chunk.schedule != nullptr && chunk.schedule->forward_stride() && chunk.started > 0 &&
           !chunk.uses_circuits && chunk.sizes.pairs == nullptr && chunk.sizes.unit > 0;
}

RingHops::Ring ChunkEngine::ring_of(const Chunk& chunk) {
    return {chunk.hosts, chunk.representatives, *chunk.schedule->forward_stride()};
}

bool ChunkEngine::is_named(const Chunk& chunk) const {
    return chunk.named_in == asked_ || hops_.contains(ring_of(chunk));
}

std::span<const network::Forwarder::Hop> ChunkEngine::hops() {
    hops_.clear();
    ++asked_;
    if (ties_.is_on() || copy_time_ > Time(0) || pays_receptions_ || costs_.has_rendezvous()) {
        return {};
    }
    for (const std::unique_ptr<Chunk>& chunk : chunks_) {
        if (!is_forwarded(*chunk)) {
            continue;
        }
        if (!is_named(*chunk) && !hops_.add(ring_of(*chunk))) {
            hops_.clear();
            return {};
        }
        chunk->named_in = asked_;
    }
    return hops_.hops();
}

std::optional<network::Forwarder::Forwarded> ChunkEngine::forwarded(std::uint64_t token) const {
    const Chunk& chunk = *chunks_[chunk_of(token)];
    if (!is_forwarded(chunk) || !is_named(chunk)) {
        return std::nullopt;
    }
    const std::uint32_t receive = chunk.schedule->action(action_of(token)).match;
    return Forwarded{Bytes(chunk.sizes.unit), chunk.schedule->sent_after(receive) == kNone};
}

void ChunkEngine::forward(std::span<const std::uint64_t> tokens, std::span<Caused> caused) {
    if (delivered_ / kDeliveriesPerBeat != (delivered_ + tokens.size()) / kDeliveriesPerBeat) {
        continuation_.beat();
    }
    delivered_ += tokens.size();
    std::ranges::transform(tokens, caused.begin(), [this](std::uint64_t token) { return forward(token); });
}

network::Forwarder::Caused ChunkEngine::forward(std::uint64_t token) {
    // As `deliver` and what follows from it, of which one thing alone can happen.
    const ChunkIndex index = chunk_of(token);
    Chunk& chunk = *chunks_[index];
    const CompiledSchedule& schedule = *chunk.schedule;
    const CompiledAction& delivered = schedule.action(action_of(token));
    const Position rank = schedule.resolve(position_of(token), delivered.peer);
    const State state = state_of(chunk, rank);
    const bool was_there = test_and_set(schedule.program(rank), state, delivered.match);
    ASTROLABE_ASSERT(!was_there, "a message is delivered once");
    if ((state[0] & kTakes) == 0) {
        ++state[1];
        return {};
    }
    const std::uint32_t next = schedule.sent_after(delivered.match);
    ASTROLABE_ASSERT(next != kNone && left(state[0]) > 2, "a rank that ends is notified");
    state[0] -= 2;  // a receive, and the send that it sets off
    const CompiledAction& send = schedule.action(next);
    const Bytes size = schedule.message_size(rank, send, chunk.sizes);
    chunk.record->bytes_sent += size;
    ++chunk.record->messages;
    ++sent_;
    return {size, pack(index, rank, next), schedule.sent_after(send.match) == kNone};
}

void ChunkEngine::deliver(std::uint64_t token) {
    const ChunkIndex index = chunk_of(token);
    const Position sender = position_of(token);
    Chunk& chunk = *chunks_[index];
    ASTROLABE_ASSERT(chunk.schedule != nullptr, "a message belongs to a chunk in flight");
    const CompiledAction& send = chunk.schedule->action(action_of(token));
    if (send.unlock_count != 0) {
        unlock(index, sender, state_of(chunk, sender), send);
        complete_opened(index, sender, state_of(chunk, sender));
        // The rank is both sender and receiver here; in the whole run those are two ranks, notified one by
        // one.
        ties_.next_notification();
    }
    const Position receiver = chunk.schedule->resolve(sender, send.peer);
    const Position representative = representative_of(chunk, receiver);
    arrive(index, representative,
           representative == receiver ? send.match
                                      : chunk.schedule->same_action(receiver, send.match, representative));
}

void ChunkEngine::deliver_empty() {
    for (std::size_t next = 0; next < empty_.size(); ++next) {  // grows while it is read
        const std::uint64_t token = empty_[next];
        const ChunkIndex index = chunk_of(token);
        const Position sender = position_of(token);
        count_down(index, sender, state_of(*chunks_[index], sender));
        deliver(token);
    }
    empty_.clear();
}

void ChunkEngine::end_notification() {
    if (!empty_.empty()) {
        deliver_empty();
    }
    if (!finished_.empty()) {
        if (ties_.is_on() && finished_.size() > 1) {
            watch_finished();
        }
        continuation_.settle();
    } else {
        flush();
    }
}

void ChunkEngine::watch_finished() {
    std::vector<network::HostId> hosts;
    for (const FinishedChunk& finished : finished_) {
        hosts.push_back(chunks_[finished.chunk]->hosts[finished.position]);
    }
    std::sort(hosts.begin(), hosts.end());
    if (std::adjacent_find(hosts.begin(), hosts.end()) != hosts.end()) {
        ties_.report();
    }
}

void ChunkEngine::arrive(ChunkIndex index, Position position, std::uint32_t action) {
    Chunk& chunk = *chunks_[index];
    const State state = state_of(chunk, position);
    const bool was_there = test_and_set(chunk.schedule->program(position), state, action);
    ASTROLABE_ASSERT(!was_there, "a message is delivered once");
    if ((state[0] & kTakes) == 0) {
        ++state[1];
        return;
    }
    received(index, position, state, action);
}

void ChunkEngine::received(ChunkIndex index, Position position, State state, std::uint32_t action) {
    const CompiledSchedule& schedule = *chunks_[index]->schedule;
    const std::uint32_t own_gate = schedule.action(action).own_gate;
    if (own_gate == kNone) {
        take_in(index, position, state, action);
    } else {
        count_towards(index, position, state, schedule.gate(own_gate));
    }
    complete_opened(index, position, state);
}

void ChunkEngine::complete_opened(ChunkIndex index, Position position, State state) {
    while (!completing_.empty()) {
        const std::uint32_t next = completing_.back();
        completing_.pop_back();
        take_in(index, position, state, next);
    }
}

void ChunkEngine::take_in(ChunkIndex index, Position position, State state, std::uint32_t action) {
    if (pays_receptions_) {
        const Chunk& chunk = *chunks_[index];
        const CompiledAction& receive = chunk.schedule->action(action);
        const Bytes size = chunk.schedule->message_size(position, receive, chunk.sizes);
        const Time cost = never_leaves(chunk, size) ? Time(0) : costs_.reception(size, receive.is_reduction);
        if (cost > Time(0)) {
            timers_.set(cost, reception_timer_, pack(index, position, action));
            return;
        }
    }
    complete_receive(index, position, state, action);
}

void ChunkEngine::reception_paid(std::uint64_t token) {
    timers_.expired();
    const ChunkIndex index = chunk_of(token);
    const Position position = position_of(token);
    const State state = state_of(*chunks_[index], position);
    complete_receive(index, position, state, action_of(token));
    complete_opened(index, position, state);
    end_notification();
}

void ChunkEngine::complete_receive(ChunkIndex index, Position position, State state, std::uint32_t action) {
    count_down(index, position, state);
    unlock(index, position, state, chunks_[index]->schedule->action(action));
}

void ChunkEngine::unlock(ChunkIndex index, Position position, State state, const CompiledAction& action) {
    const CompiledSchedule& schedule = *chunks_[index]->schedule;
    for (const std::uint32_t gate : schedule.unlocks(action)) {
        count_towards(index, position, state, schedule.gate(gate));
    }
}

void ChunkEngine::count_towards(ChunkIndex index, Position position, State state, const Gate& gate) {
    if (gate.counter != kNone) {
        ASTROLABE_ASSERT(state[gate.counter] > 0, "a gate opens once");
        if (--state[gate.counter] > 0) {
            if (state[gate.counter] == 1 && costs_.has_rendezvous()) {
                request_opened(index, position, gate);
            }
            return;
        }
    }
    const CompiledSchedule& schedule = *chunks_[index]->schedule;
    for (const std::uint32_t member : schedule.members(gate)) {
        if (schedule.action(member).is_send) {
            post(index, position, state, member);
        } else {
            completing_.push_back(member);
        }
    }
}

void ChunkEngine::post(ChunkIndex index, Position position, State state, std::uint32_t action) {
    Chunk& chunk = *chunks_[index];
    const CompiledAction& send = chunk.schedule->action(action);
    const Bytes size = chunk.schedule->message_size(position, send, chunk.sizes);
    if (never_leaves(chunk, size)) {
        empty_.push_back(pack(index, position, action));
        return;
    }
    chunk.record->bytes_sent += size;
    ++chunk.record->messages;
    ++sent_;
    if (!costs_.needs_request(size) || test_and_set(chunk.schedule->program(position), state, action)) {
        dispatch(index, position, state, action, size);
    }
}

void ChunkEngine::dispatch(ChunkIndex index, Position position, State state, std::uint32_t action,
                           Bytes size) {
    const Chunk& chunk = *chunks_[index];
    const Position peer = chunk.schedule->resolve(position, chunk.schedule->action(action).peer);
    ties_.sends(chunk.hosts[position], chunk.hosts[peer]);
    (chunk.uses_circuits ? for_circuits_ : outbox_)
        .push_back({.source = chunk.hosts[position],
                    .destination = chunk.hosts[peer],
                    .size = size,
                    .on_delivered = this,
                    .token = pack(index, position, action),
                    .traffic_class = chunk.traffic_class,
                    .label = chunk.label});
    if (copy_time_ == Time(0) && !chunk.uses_circuits) {
        count_down(index, position, state);
    }
}

void ChunkEngine::request_initial(ChunkIndex index, Position position) {
    const CompiledSchedule& schedule = *chunks_[index]->schedule;
    const ProgramRange& range = schedule.program(position);
    for (std::uint32_t own = 0; own < range.action_count; ++own) {
        const CompiledAction& action = schedule.action(range.first_action + own);
        if (!action.is_send && (action.own_gate == kNone || action.is_reduction)) {
            request(index, position, range.first_action + own);
        }
    }
}

void ChunkEngine::request_opened(ChunkIndex index, Position position, const Gate& gate) {
    const CompiledSchedule& schedule = *chunks_[index]->schedule;
    const std::uint32_t member = schedule.members(gate).front();
    const CompiledAction& action = schedule.action(member);
    if (!action.is_send && !action.is_reduction) {
        request(index, position, member);
    }
}

void ChunkEngine::request(ChunkIndex index, Position position, std::uint32_t action) {
    const Chunk& chunk = *chunks_[index];
    const CompiledAction& receive = chunk.schedule->action(action);
    if (!costs_.needs_request(chunk.schedule->message_size(position, receive, chunk.sizes))) {
        return;
    }
    const Position sender = chunk.schedule->resolve(position, receive.peer);
    const Position representative = representative_of(chunk, sender);
    request_bytes_ += kRequestSize;
    ties_.sends(chunk.hosts[position], chunk.hosts[sender]);
    requests_.push_back({.source = chunk.hosts[position],
                         .destination = chunk.hosts[sender],
                         .size = kRequestSize,
                         .on_delivered = &request_handler_,
                         .token = pack(index, representative,
                                       chunk.schedule->same_action(sender, receive.match, representative)),
                         .traffic_class = chunk.traffic_class,
                         .label = chunk.label});
}

void ChunkEngine::request_arrived(std::uint64_t token) {
    const ChunkIndex index = chunk_of(token);
    const Position sender = position_of(token);
    Chunk& chunk = *chunks_[index];
    const State state = state_of(chunk, sender);
    if (test_and_set(chunk.schedule->program(sender), state, action_of(token))) {
        const CompiledAction& send = chunk.schedule->action(action_of(token));
        dispatch(index, sender, state, action_of(token),
                 chunk.schedule->message_size(sender, send, chunk.sizes));
    }
    end_notification();
}

void ChunkEngine::count_down(ChunkIndex index, Position position, State state) {
    ASTROLABE_ASSERT(left(state[0]) > 0, "no more actions complete than there are");
    if (left(--state[0]) == 0) {
        finished_.push_back({index, position});
    }
}

void ChunkEngine::flush() {
    ties_.next_notification();
    if (!requests_.empty()) {
        backend_.send_batch(requests_);
        requests_.clear();
    }
    if (!for_circuits_.empty()) {
        gated_send_->hold_back(for_circuits_);
    }
    if (outbox_.empty()) {
        return;
    }
    if (copy_time_ == Time(0)) {
        backend_.send_batch(outbox_);
    } else if (costs_.copies_serially()) {
        copy_in_turn();
    } else {
        copy_together();
    }
    outbox_.clear();
}

void ChunkEngine::circuits_come(std::uint64_t token) {
    gated_send_->release(token, outbox_);
    if (copy_time_ == Time(0)) {
        backend_.send_batch(outbox_);
        for (const network::Message& message : outbox_) {
            handed_over(message);
        }
        outbox_.clear();
    }
    end_notification();
}

void ChunkEngine::copy_together() {
    if (open_batch_ == kNone || open_time_ != backend_.now()) {
        if (free_batches_.empty()) {
            free_batches_.push_back(static_cast<std::uint32_t>(batches_.size()));
            batches_.emplace_back();
        }
        open_batch_ = free_batches_.back();
        free_batches_.pop_back();
        open_time_ = backend_.now();
        timers_.set(copy_time_, batch_timer_, open_batch_);
    }
    batches_[open_batch_].insert(batches_[open_batch_].end(), outbox_.begin(), outbox_.end());
}

void ChunkEngine::batch_copied(std::uint64_t batch) {
    timers_.expired();
    if (open_batch_ == batch) {
        open_batch_ = kNone;
    }
    std::vector<network::Message>& messages = batches_[batch];
    backend_.send_batch(messages);
    for (const network::Message& message : messages) {
        handed_over(message);
    }
    messages.clear();
    free_batches_.push_back(static_cast<std::uint32_t>(batch));
    end_notification();
}

void ChunkEngine::copy_in_turn() {
    for (const network::Message& message : outbox_) {
        const std::size_t host = message.source.index();
        if (host >= copies_.size()) {
            copies_.resize(host + 1);
        }
        const bool is_idle = copies_[host].empty();
        copies_[host].push(message);
        if (is_idle) {
            timers_.set(copy_time_, copy_timer_, host);
        }
    }
}

void ChunkEngine::message_copied(std::uint64_t host) {
    timers_.expired();
    RingQueue<network::Message>& queue = copies_[host];
    const network::Message message = queue.front();
    queue.pop();
    if (!queue.empty()) {
        timers_.set(copy_time_, copy_timer_, host);
    }
    backend_.send(message);
    handed_over(message);
    end_notification();
}

network::TimerPurpose ChunkEngine::of_chunk(std::uint64_t token) const {
    return {network::Resources::kEndPoints, chunks_[chunk_of(token)]->label};
}

network::TimerPurpose ChunkEngine::of_outbox(std::uint64_t /*token*/) const {
    return {network::Resources::kEndPoints, outbox_.front().label};
}

network::TimerPurpose ChunkEngine::of_copies(std::uint64_t host) const {
    return {network::Resources::kEndPoints, copies_[host].front().label};
}

network::TimerPurpose ChunkEngine::of_circuits(std::uint64_t /*token*/) const {
    return {network::Resources::kCircuits};
}

void ChunkEngine::handed_over(const network::Message& copied) {
    const auto message = gated_send_ ? gated_send_->sent(copied) : std::optional(copied);
    if (!message) {
        return;
    }
    const ChunkIndex index = chunk_of(message->token);
    const Position position = position_of(message->token);
    count_down(index, position, state_of(*chunks_[index], position));
}

bool ChunkEngine::has_started(ChunkIndex index, Position position) const {
    const Chunk& chunk = *chunks_[index];
    return (state_of(chunk, position)[0] & kStarted) != 0;
}

bool ChunkEngine::in_flight(ChunkIndex index, Position position) const {
    const Chunk& chunk = *chunks_[index];
    if (chunk.schedule == nullptr) {
        return false;
    }
    const RankState<const std::uint32_t> state = state_of(chunk, position);
    return (state[0] & kStarted) != 0 && left(state[0]) > 0;
}

std::optional<ChunkEngine::Missing> ChunkEngine::first_missing(ChunkIndex index, Position position) const {
    const Chunk& chunk = *chunks_[index];
    const CompiledSchedule& schedule = *chunk.schedule;
    const RankState<const std::uint32_t> state = state_of(chunk, position);
    const ProgramRange& range = schedule.program(position);
    std::optional<Missing> missing;
    for (std::uint32_t own = 0; own < range.action_count; ++own) {
        const CompiledAction& action = schedule.action(range.first_action + own);
        if (action.is_send || (state[range.arrived_word + own / 32] >> (own % 32) & 1) != 0) {
            continue;
        }
        if (missing) {
            ++missing->others;
        } else {
            missing = Missing{.action = range.program_offset + own,
                              .peer = schedule.resolve(position, action.peer),
                              .size = schedule.message_size(position, action, chunk.sizes),
                              .others = 0};
        }
    }
    return missing;
}

std::vector<Position> ChunkEngine::missing_senders(ChunkIndex index, Position position) const {
    const Chunk& chunk = *chunks_[index];
    const CompiledSchedule& schedule = *chunk.schedule;
    const RankState<const std::uint32_t> state = state_of(chunk, position);
    const ProgramRange& range = schedule.program(position);
    std::vector<Position> senders;
    for (std::uint32_t own = 0; own < range.action_count; ++own) {
        const CompiledAction& action = schedule.action(range.first_action + own);
        if (!action.is_send && (state[range.arrived_word + own / 32] >> (own % 32) & 1) == 0) {
            senders.push_back(representative_of(chunk, schedule.resolve(position, action.peer)));
        }
    }
    return senders;
}

}  // namespace astrolabe::system::detail
