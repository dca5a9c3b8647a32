/// Chunks in flight: turns the compiled schedules of started chunks into messages, and delivered messages
/// into progress.
///
/// A chunk has one block of state words for all ranks of its group that are simulated, its representatives.
/// The block is taken from a pool when the first rank starts the chunk and returned when the last one
/// completes it. In a folded run (folding.hpp) a message for any other position arrives at its
/// representative: in a group of 8 with 2 representatives the message from position 1 to position 2 arrives
/// at position 2 mod 2 = 0. A message that reaches a rank before it starts the chunk is recorded as a bit and
/// consumed, in program order, when it does. No allocation per message; a message costs a handful of loads. A
/// message without bytes of an uneven all_to_all never enters the network: it arrives as soon as it is ready.
///
/// All messages that become ready in one notification leave in one `send_batch`. With an injection latency,
/// all that become ready at one instant share one timer instead and leave together when it fires. Example:
/// latency 2 us; messages a and b become ready at 10 us and leave at 12 us with one timer. With serial copies
/// (one timer for each rank that copies, for the message in the copy engine) a leaves at 12 us and b at 14
/// us. The cost of a message at its receiver (end_point_costs.hpp) is a timer of its own, so such costs
/// overlap.
///
/// Circuits. Messages of chunks that use circuits pass circuit_gated_send.hpp on their way to the copy
/// engine.
///
/// Rendezvous. A message of at least the threshold enters the copy engine when it is ready *and* the
/// receiver's request has arrived; of a send, the bit that every action has in the state records that one of
/// the two has happened. A rank sends its requests when it starts the chunk, because data to be added arrive
/// in a buffer of their own. Only a receive that stores may have to wait, until its gate lacks nothing but
/// the message. Requests pass the copy engine at no cost.
///
/// Forwarding (forwarder.hpp). Where end points cost nothing, no tie is watched for and a schedule is a ring
/// (CompiledSchedule::forward_stride), all messages but the last to a rank are forwarded ones.
#pragma once

#include "circuit_gated_send.hpp"
#include "compiled_schedule.hpp"
#include "continuation.hpp"
#include "end_point_costs.hpp"
#include "ring_hops.hpp"
#include "tie_watch.hpp"
#include "timers.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/core/containers/ring_queue.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/forwarder.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

using ChunkIndex = std::uint32_t;

struct Chunk {
    const CompiledSchedule* schedule = nullptr;  // null while in the pool
    const network::HostId* hosts = nullptr;      // by position
    StageRecord* record = nullptr;               // for its traffic
    BlockSizes sizes;
    std::uint32_t run = 0;  // of which this is one stage, in the owner's numbers
    std::uint32_t stage = 0;
    std::uint32_t label = 0;  // of its messages
    std::uint8_t traffic_class = 0;
    bool uses_circuits = false;
    std::uint32_t named_in = 0;    // ChunkEngine::asked_ when the hops of its ring were last named
    Position representatives = 0;  // positions with state
    Position started = 0;
    Position finished = 0;
    std::vector<std::uint32_t> state;
};

/// A rank that has completed its part of a chunk.
struct FinishedChunk {
    ChunkIndex chunk;
    Position position;
};

class ChunkEngine final : public network::Forwarder {
public:
    /// No chunk uses circuits where `windows` is null.
    ChunkEngine(network::NetworkBackend& backend, const EndPoint& end_point,
                std::shared_ptr<const network::CircuitWindows> windows, TieWatch& ties,
                Continuation& continuation);

    struct Description {
        const CompiledSchedule* schedule;
        const network::HostId* hosts;
        StageRecord* record;
        Position representatives;
        BlockSizes sizes;
        std::uint32_t run;
        std::uint32_t stage;
        std::uint32_t label;
        std::uint8_t traffic_class;
        bool uses_circuits;
    };
    [[nodiscard]] ChunkIndex open(const Description& description);
    void start(ChunkIndex chunk, Position position);
    /// Back to the pool; every rank has finished it.
    void close(ChunkIndex chunk);
    [[nodiscard]] Chunk& chunk(ChunkIndex index) { return *chunks_[index]; }
    [[nodiscard]] const Chunk& chunk(ChunkIndex index) const { return *chunks_[index]; }

    /// Filled by `start` and by notifications, emptied by the owner.
    [[nodiscard]] std::vector<FinishedChunk>& finished() { return finished_; }

    /// Sends what is ready into the network, or to the copy engines.
    void flush();

    void notify(std::uint64_t token) override;  ///< a message was delivered

    [[nodiscard]] std::span<const Hop> hops() override;
    [[nodiscard]] std::optional<Forwarded> forwarded(std::uint64_t token) const override;
    void forward(std::span<const std::uint64_t> tokens, std::span<Caused> caused) override;

    [[nodiscard]] std::uint64_t messages_sent() const { return sent_; }
    [[nodiscard]] std::uint64_t messages_delivered() const { return delivered_; }
    [[nodiscard]] std::size_t chunks_open() const { return chunks_.size() - free_.size(); }
    [[nodiscard]] Bytes request_bytes() const { return request_bytes_; }  ///< of all requests sent
    [[nodiscard]] const Timers& timers() const { return timers_; }

    /// For reports: the first message of a rank's program in a chunk that has not arrived.
    struct Missing {
        std::uint32_t action;  // of the rank's own program
        Position peer;
        Bytes size;
        std::size_t others;  // further messages missing
    };
    [[nodiscard]] bool has_started(ChunkIndex chunk, Position position) const;
    [[nodiscard]] bool in_flight(ChunkIndex chunk, Position position) const;
    [[nodiscard]] std::optional<Missing> first_missing(ChunkIndex chunk, Position position) const;
    /// The representatives of the positions that have yet to send to the rank.
    [[nodiscard]] std::vector<Position> missing_senders(ChunkIndex chunk, Position position) const;
    [[nodiscard]] std::size_t chunk_capacity() const { return chunks_.size(); }

private:
    /// Forwards a notification to one of the engine's functions.
    class Handler final : public network::NotificationHandler {
    public:
        using Function = void (ChunkEngine::*)(std::uint64_t token);
        using Purpose = network::TimerPurpose (ChunkEngine::*)(std::uint64_t token) const;
        Handler(ChunkEngine& engine, Function function, Purpose stands_for)
            : engine_(engine),
              function_(function),
              purpose_(stands_for) {}
        void notify(std::uint64_t token) override { (engine_.*function_)(token); }
        [[nodiscard]] network::TimerPurpose purpose(std::uint64_t token) const override {
            return (engine_.*purpose_)(token);
        }

    private:
        ChunkEngine& engine_;
        Function function_;
        Purpose purpose_;
    };

    using State = RankState<std::uint32_t>;
    [[nodiscard]] static State state_of(Chunk& chunk, Position position) {
        return chunk.schedule->state_of(chunk.state.data(), position, chunk.representatives);
    }
    [[nodiscard]] static RankState<const std::uint32_t> state_of(const Chunk& chunk, Position position) {
        return chunk.schedule->state_of(chunk.state.data(), position, chunk.representatives);
    }
    /// The representative of `position`.
    [[nodiscard]] static Position representative_of(const Chunk& chunk, Position position) {
        return position < chunk.representatives ? position : position % chunk.representatives;
    }
    /// Whether its messages are, while end points cost nothing.
    [[nodiscard]] static bool is_forwarded(const Chunk& chunk);
    /// Of one that is forwarded.
    [[nodiscard]] static RingHops::Ring ring_of(const Chunk& chunk);
    /// Whether its hops are among those that were last asked for.
    [[nodiscard]] bool is_named(const Chunk& chunk) const;
    [[nodiscard]] Caused forward(std::uint64_t token);
    void begin(ChunkIndex index, Position position);
    void deliver(std::uint64_t token);
    void deliver_empty();
    void end_notification();
    void watch_finished();
    void arrive(ChunkIndex index, Position position, std::uint32_t action);
    void received(ChunkIndex index, Position position, State state, std::uint32_t action);
    void take_in(ChunkIndex index, Position position, State state, std::uint32_t action);
    void complete_receive(ChunkIndex index, Position position, State state, std::uint32_t action);
    void complete_opened(ChunkIndex index, Position position, State state);
    void unlock(ChunkIndex index, Position position, State state, const CompiledAction& action);
    void count_towards(ChunkIndex index, Position position, State state, const Gate& gate);
    void post(ChunkIndex index, Position position, State state, std::uint32_t action);
    void dispatch(ChunkIndex index, Position position, State state, std::uint32_t action, Bytes size);
    void request_initial(ChunkIndex index, Position position);
    void request_opened(ChunkIndex index, Position position, const Gate& gate);
    void request(ChunkIndex index, Position position, std::uint32_t action);
    void count_down(ChunkIndex index, Position position, State state);
    void copy_together();
    void copy_in_turn();
    void handed_over(const network::Message& copied);

    // What handlers call.
    void start_paid(std::uint64_t token);       // chunk and position
    void batch_copied(std::uint64_t batch);     // all copies of an instant
    void message_copied(std::uint64_t host);    // the first in the host's queue
    void reception_paid(std::uint64_t token);   // of a receive
    void request_arrived(std::uint64_t token);  // for a send
    void circuits_come(std::uint64_t token);    // for messages held back

    // What timers are for: the end points of a chunk, those of the chunks that copy together or in turn, the
    // wait for circuits.
    [[nodiscard]] network::TimerPurpose of_chunk(std::uint64_t token) const;
    [[nodiscard]] network::TimerPurpose of_outbox(std::uint64_t token) const;
    [[nodiscard]] network::TimerPurpose of_copies(std::uint64_t host) const;
    [[nodiscard]] network::TimerPurpose of_circuits(std::uint64_t token) const;

    network::NetworkBackend& backend_;
    Timers timers_;
    const EndPointCosts costs_;
    const Time copy_time_;
    const bool pays_receptions_;
    TieWatch& ties_;
    Continuation& continuation_;
    Handler start_timer_{*this, &ChunkEngine::start_paid, &ChunkEngine::of_chunk};
    Handler batch_timer_{*this, &ChunkEngine::batch_copied, &ChunkEngine::of_outbox};
    Handler copy_timer_{*this, &ChunkEngine::message_copied, &ChunkEngine::of_copies};
    Handler reception_timer_{*this, &ChunkEngine::reception_paid, &ChunkEngine::of_chunk};
    Handler request_handler_{*this, &ChunkEngine::request_arrived, &ChunkEngine::of_chunk};
    Handler circuit_timer_{*this, &ChunkEngine::circuits_come, &ChunkEngine::of_circuits};
    std::optional<CircuitGatedSend> gated_send_;

    std::vector<std::unique_ptr<Chunk>> chunks_;
    std::vector<ChunkIndex> free_;
    std::vector<FinishedChunk> finished_;
    std::vector<network::Message> outbox_;
    std::vector<network::Message> for_circuits_;
    std::vector<network::Message> requests_;
    std::vector<std::uint64_t> empty_;       // tokens of messages without bytes, not yet delivered
    std::vector<std::uint32_t> completing_;  // receives whose gates opened, not yet acted on

    std::vector<std::vector<network::Message>> batches_;
    std::vector<std::uint32_t> free_batches_;
    std::uint32_t open_batch_ = kNone;
    Time open_time_;
    std::vector<RingQueue<network::Message>> copies_;  // by host; the first is in the copy engine

    RingHops hops_;            // when they were last asked for
    std::uint32_t asked_ = 0;  // how often
    Bytes request_bytes_;
    std::uint64_t sent_ = 0;
    std::uint64_t delivered_ = 0;
};

}  // namespace astrolabe::system::detail
