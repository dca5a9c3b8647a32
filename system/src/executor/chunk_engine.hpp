/// Chunks under way: turns the compiled schedules of started chunks into messages and messages into progress.
///
/// A chunk has one block of state words for all ranks of its group, taken from a pool when the first rank
/// starts it and given back when the last one is done. Messages that reach a rank before it starts the chunk
/// are kept as bits and consumed in program order when it does. No allocation per message; a message costs a
/// handful of loads. A message without bytes of an uneven all_to_all never leaves: it arrives as soon as it is
/// ready.
///
/// What becomes ready in one notification leaves in one `send_batch`. With an injection latency, what becomes
/// ready at one instant shares one timer instead and leaves together when it fires.
#pragma once

#include "compiled_schedule.hpp"
#include "continuation.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/system/executor.hpp>

namespace astrolabe::system::detail {

using ChunkIndex = std::uint32_t;

struct Chunk {
    const CompiledSchedule* schedule = nullptr;  // null while in the pool
    const network::HostId* hosts = nullptr;      // by position
    StageRecord* record = nullptr;               // for its traffic
    BlockSizes sizes;
    std::uint32_t instance = 0;
    std::uint32_t number = 0;  // of the chunk in its collective
    Position ranks = 0;
    Position started = 0;
    Position finished = 0;
    std::vector<std::uint32_t> state;
};

/// A rank that has done its part of a chunk.
struct FinishedChunk {
    ChunkIndex chunk;
    Position position;
};

class ChunkEngine final : public network::NotificationHandler {
public:
    ChunkEngine(network::NetworkBackend& backend, Time injection_latency, Continuation& continuation);

    struct Description {
        const CompiledSchedule* schedule;
        const network::HostId* hosts;
        StageRecord* record;
        Position ranks;
        BlockSizes sizes;
        std::uint32_t instance;
        std::uint32_t number;
    };
    [[nodiscard]] ChunkIndex open(const Description& description);
    void start(ChunkIndex chunk, Position position);
    /// Back to the pool; every rank has finished it.
    void close(ChunkIndex chunk);
    [[nodiscard]] Chunk& chunk(ChunkIndex index) { return *chunks_[index]; }
    [[nodiscard]] const Chunk& chunk(ChunkIndex index) const { return *chunks_[index]; }

    /// Filled by `start` and by notifications, emptied by the owner.
    [[nodiscard]] std::vector<FinishedChunk>& finished() { return finished_; }

    /// Hands what is ready to the network, or to the injection timer.
    void flush();

    void notify(std::uint64_t token) override;  ///< a message was delivered

    [[nodiscard]] std::uint64_t messages_sent() const { return sent_; }
    [[nodiscard]] std::uint64_t messages_delivered() const { return delivered_; }
    [[nodiscard]] std::size_t chunks_open() const { return chunks_.size() - free_.size(); }
    [[nodiscard]] bool timers_pending() const { return batches_.size() != free_batches_.size(); }

    /// For reports: what a rank still has to do in a chunk, and the first message of its program that has not
    /// arrived.
    struct Missing {
        std::uint32_t action;  // of the rank's own program
        Position peer;
        Bytes size;
        std::size_t others;  // further messages missing
    };
    [[nodiscard]] bool has_started(ChunkIndex chunk, Position position) const;
    [[nodiscard]] bool under_way(ChunkIndex chunk, Position position) const;
    [[nodiscard]] std::optional<Missing> first_missing(ChunkIndex chunk, Position position) const;
    [[nodiscard]] std::size_t chunk_capacity() const { return chunks_.size(); }

private:
    /// Fires when a batch of messages has waited its injection latency.
    class Injector final : public network::NotificationHandler {
    public:
        explicit Injector(ChunkEngine& engine)
            : engine_(engine) {}
        void notify(std::uint64_t token) override { engine_.inject(static_cast<std::uint32_t>(token)); }

    private:
        ChunkEngine& engine_;
    };

    [[nodiscard]] std::uint32_t* state_of(Chunk& chunk, Position position) const {
        return chunk.state.data() + chunk.schedule->state_offset(position);
    }
    void deliver(std::uint64_t token);
    void deliver_empty();
    void end_notification();
    void arrive(ChunkIndex index, Position position, std::uint32_t action);
    void received(ChunkIndex index, Position position, std::uint32_t* state, std::uint32_t action);
    void complete_receive(ChunkIndex index, Position position, std::uint32_t* state, std::uint32_t action);
    void complete_opened(ChunkIndex index, Position position, std::uint32_t* state);
    void unlock(ChunkIndex index, Position position, std::uint32_t* state, const CompiledAction& action);
    void count_towards(ChunkIndex index, Position position, std::uint32_t* state, const Gate& gate);
    void post(ChunkIndex index, Position position, std::uint32_t* state, std::uint32_t action);
    void count_down(ChunkIndex index, Position position, std::uint32_t* state);
    void inject(std::uint32_t batch);

    network::NetworkBackend& backend_;
    Time injection_latency_;
    Continuation& continuation_;
    Injector injector_;

    std::vector<std::unique_ptr<Chunk>> chunks_;
    std::vector<ChunkIndex> free_;
    std::vector<FinishedChunk> finished_;
    std::vector<network::Message> outbox_;
    std::vector<std::uint64_t> empty_;       // tokens of messages without bytes, not yet delivered
    std::vector<std::uint32_t> completing_;  // receives whose gates opened, not yet acted on

    std::vector<std::vector<network::Message>> batches_;
    std::vector<std::uint32_t> free_batches_;
    std::uint32_t open_batch_ = kNone;
    Time open_time_;

    std::uint64_t sent_ = 0;
    std::uint64_t delivered_ = 0;
};

}  // namespace astrolabe::system::detail
