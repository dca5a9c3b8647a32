#include "chunk_engine.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::detail {

namespace {

// A message's token names its chunk, the position of its sender and the sender's action.
/// Often enough for a progress line, too seldom to cost anything.
constexpr std::uint64_t kDeliveriesPerBeat = 4096;

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

constexpr std::uint32_t left(const std::uint32_t* state) {
    return state[0] & ~kStarted;
}

}  // namespace

ChunkEngine::ChunkEngine(network::NetworkBackend& backend, Time injection_latency, Continuation& continuation)
    : backend_(backend),
      injection_latency_(injection_latency),
      continuation_(continuation),
      injector_(*this) {}

ChunkIndex ChunkEngine::open(const Description& description) {
    if (free_.empty()) {
        ASTROLABE_ASSERT(chunks_.size() < std::size_t{1} << kChunkBits,
                         "a token can name every chunk under way");
        free_.push_back(static_cast<ChunkIndex>(chunks_.size()));
        chunks_.push_back(std::make_unique<Chunk>());
    }
    const ChunkIndex index = free_.back();
    free_.pop_back();
    ASTROLABE_ASSERT(description.ranks <= Position{1} << kPositionBits, "a token can name every position");
    Chunk& chunk = *chunks_[index];
    chunk.schedule = description.schedule;
    chunk.hosts = description.hosts;
    chunk.record = description.record;
    chunk.sizes = description.sizes;
    chunk.instance = description.instance;
    chunk.number = description.number;
    chunk.ranks = description.ranks;
    chunk.started = 0;
    chunk.finished = 0;
    const std::vector<std::uint32_t>& initial = description.schedule->initial_state();
    chunk.state.assign(initial.begin(), initial.end());
    return index;
}

void ChunkEngine::close(ChunkIndex index) {
    ASTROLABE_ASSERT(chunks_[index]->finished == chunks_[index]->ranks, "a chunk ends on all its ranks");
    chunks_[index]->schedule = nullptr;
    free_.push_back(index);
}

void ChunkEngine::start(ChunkIndex index, Position position) {
    Chunk& chunk = *chunks_[index];
    const CompiledSchedule& schedule = *chunk.schedule;
    std::uint32_t* state = state_of(chunk, position);
    ASTROLABE_ASSERT((state[0] & kStarted) == 0, "a rank starts a chunk once");
    ++chunk.started;
    state[0] |= kStarted;
    if (left(state) == 0) {
        finished_.push_back({index, position});
        return;
    }
    for (const std::uint32_t action : schedule.initial_sends(position)) {
        post(index, position, state, action);
    }
    if (state[1] != 0) {
        const ProgramRange& range = schedule.program(position);
        for (std::uint32_t action = 0; action < range.action_count; ++action) {
            if ((state[range.arrived_word + action / 32] >> (action % 32) & 1) != 0) {
                received(index, position, state, range.first_action + action);
            }
        }
    }
    deliver_empty();
}

void ChunkEngine::notify(std::uint64_t token) {
    if (++delivered_ % kDeliveriesPerBeat == 0) {
        continuation_.beat();
    }
    deliver(token);
    end_notification();
}

void ChunkEngine::deliver(std::uint64_t token) {
    const ChunkIndex index = chunk_of(token);
    const Position sender = position_of(token);
    Chunk& chunk = *chunks_[index];
    ASTROLABE_ASSERT(chunk.schedule != nullptr, "a message belongs to a chunk under way");
    const CompiledAction& send = chunk.schedule->action(action_of(token));
    if (send.unlock_count != 0) {
        unlock(index, sender, state_of(chunk, sender), send);
        complete_opened(index, sender, state_of(chunk, sender));
    }
    arrive(index, chunk.schedule->resolve(sender, send.peer), send.match);
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
    deliver_empty();
    if (!finished_.empty()) {
        continuation_.settle();
    } else {
        flush();
    }
}

void ChunkEngine::arrive(ChunkIndex index, Position position, std::uint32_t action) {
    Chunk& chunk = *chunks_[index];
    std::uint32_t* state = state_of(chunk, position);
    const ProgramRange& range = chunk.schedule->program(position);
    const std::uint32_t own = action - range.first_action;
    const std::uint32_t bit = std::uint32_t{1} << (own % 32);
    std::uint32_t& word = state[range.arrived_word + own / 32];
    ASTROLABE_ASSERT((word & bit) == 0, "a message is delivered once");
    word |= bit;
    if ((state[0] & kStarted) == 0) {
        ++state[1];
        return;
    }
    received(index, position, state, action);
}

void ChunkEngine::received(ChunkIndex index, Position position, std::uint32_t* state, std::uint32_t action) {
    const CompiledSchedule& schedule = *chunks_[index]->schedule;
    const std::uint32_t own_gate = schedule.action(action).own_gate;
    if (own_gate == kNone) {
        complete_receive(index, position, state, action);
    } else {
        count_towards(index, position, state, schedule.gate(own_gate));
    }
    complete_opened(index, position, state);
}

void ChunkEngine::complete_opened(ChunkIndex index, Position position, std::uint32_t* state) {
    while (!completing_.empty()) {
        const std::uint32_t next = completing_.back();
        completing_.pop_back();
        complete_receive(index, position, state, next);
    }
}

void ChunkEngine::complete_receive(ChunkIndex index, Position position, std::uint32_t* state,
                                   std::uint32_t action) {
    count_down(index, position, state);
    unlock(index, position, state, chunks_[index]->schedule->action(action));
}

void ChunkEngine::unlock(ChunkIndex index, Position position, std::uint32_t* state,
                         const CompiledAction& action) {
    const CompiledSchedule& schedule = *chunks_[index]->schedule;
    for (const std::uint32_t gate : schedule.unlocks(action)) {
        count_towards(index, position, state, schedule.gate(gate));
    }
}

void ChunkEngine::count_towards(ChunkIndex index, Position position, std::uint32_t* state, const Gate& gate) {
    if (gate.counter != kNone) {
        ASTROLABE_ASSERT(state[gate.counter] > 0, "a gate opens once");
        if (--state[gate.counter] > 0) {
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

void ChunkEngine::post(ChunkIndex index, Position position, std::uint32_t* state, std::uint32_t action) {
    Chunk& chunk = *chunks_[index];
    const CompiledAction& send = chunk.schedule->action(action);
    const Bytes size = chunk.schedule->message_size(position, send, chunk.sizes);
    if (size == Bytes(0) && chunk.sizes.pairs != nullptr) {
        empty_.push_back(pack(index, position, action));
        return;
    }
    const Position peer = chunk.schedule->resolve(position, send.peer);
    chunk.record->bytes_sent += size;
    ++chunk.record->messages;
    ++sent_;
    outbox_.push_back({.source = chunk.hosts[position],
                       .destination = chunk.hosts[peer],
                       .size = size,
                       .on_delivered = this,
                       .token = pack(index, position, action)});
    if (injection_latency_ == Time(0)) {
        count_down(index, position, state);
    }
}

void ChunkEngine::count_down(ChunkIndex index, Position position, std::uint32_t* state) {
    ASTROLABE_ASSERT(left(state) > 0, "no more actions complete than there are");
    if (left(&(--state[0])) == 0) {
        finished_.push_back({index, position});
    }
}

void ChunkEngine::flush() {
    if (outbox_.empty()) {
        return;
    }
    if (injection_latency_ == Time(0)) {
        backend_.send_batch(outbox_);
        outbox_.clear();
        return;
    }
    if (open_batch_ == kNone || open_time_ != backend_.now()) {
        if (free_batches_.empty()) {
            free_batches_.push_back(static_cast<std::uint32_t>(batches_.size()));
            batches_.emplace_back();
        }
        open_batch_ = free_batches_.back();
        free_batches_.pop_back();
        open_time_ = backend_.now();
        backend_.schedule(injection_latency_, injector_, open_batch_);
    }
    batches_[open_batch_].insert(batches_[open_batch_].end(), outbox_.begin(), outbox_.end());
    outbox_.clear();
}

void ChunkEngine::inject(std::uint32_t batch) {
    if (open_batch_ == batch) {
        open_batch_ = kNone;
    }
    std::vector<network::Message>& messages = batches_[batch];
    backend_.send_batch(messages);
    for (const network::Message& message : messages) {
        const ChunkIndex index = chunk_of(message.token);
        const Position position = position_of(message.token);
        count_down(index, position, state_of(*chunks_[index], position));
    }
    messages.clear();
    free_batches_.push_back(batch);
    end_notification();
}

bool ChunkEngine::has_started(ChunkIndex index, Position position) const {
    const Chunk& chunk = *chunks_[index];
    return (chunk.state[chunk.schedule->state_offset(position)] & kStarted) != 0;
}

bool ChunkEngine::under_way(ChunkIndex index, Position position) const {
    const Chunk& chunk = *chunks_[index];
    if (chunk.schedule == nullptr) {
        return false;
    }
    const std::uint32_t* state = chunk.state.data() + chunk.schedule->state_offset(position);
    return (state[0] & kStarted) != 0 && left(state) > 0;
}

std::optional<ChunkEngine::Missing> ChunkEngine::first_missing(ChunkIndex index, Position position) const {
    const Chunk& chunk = *chunks_[index];
    const CompiledSchedule& schedule = *chunk.schedule;
    const std::uint32_t* state = chunk.state.data() + schedule.state_offset(position);
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
            missing = Missing{.action = own,
                              .peer = schedule.resolve(position, action.peer),
                              .size = schedule.message_size(position, action, chunk.sizes),
                              .others = 0};
        }
    }
    return missing;
}

}  // namespace astrolabe::system::detail
