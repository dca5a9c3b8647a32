/// The executor's parts together: the consequences of one notification are completed before the next.
#pragma once

#include "chunk_engine.hpp"
#include "collective_engine.hpp"
#include "rank_engine.hpp"
#include "timers.hpp"

#include <optional>
#include <string>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::system {

class Executor::Implementation final : public detail::Continuation {
public:
    Implementation(Executor& owner, const Program& program, SystemOptions options,
                   network::NetworkBackend& backend, const std::vector<network::HostId>& placement,
                   const network::Folding& folding);

    [[nodiscard]] ExecutionReport run();
    void begin();
    [[nodiscard]] ExecutionReport end() { return report(); }
    void stop();

    [[nodiscard]] std::uint64_t finished_operations() const { return ranks_.finished_count(); }
    [[nodiscard]] std::uint64_t total_operations() const { return total_operations_; }

    [[nodiscard]] std::uint64_t delivered_messages() const {
        return chunks_.messages_delivered() * folding_.class_size();
    }
    [[nodiscard]] RankActivity activity() const { return ranks_.activity(); }

    // Executor, "observe_iterations" to "end_before".
    void observe_iterations(IterationObserver& observer) { iteration_observer_ = &observer; }
    [[nodiscard]] std::optional<StateAtRest> state_at_rest() const;
    [[nodiscard]] AccountsSoFar so_far() const;
    [[nodiscard]] int begun_iterations() const { return ranks_.begun_iterations(); }
    void end_before(int iteration);
    [[nodiscard]] bool ends_early() const { return operations_end_ < program_.operations.size(); }
    void before_compute_ends() override;

    /// Carries consequences through until nothing more happens at this instant: ends of chunks, then of
    /// operations, then issues in program order, then starts of chunks.
    void settle() override;
    void beat() override { owner_.progressed.emit(); }

private:
    /// Fires when a collective's completion delay has passed on a rank.
    class CompletionTimer final : public network::NotificationHandler {
    public:
        explicit CompletionTimer(Implementation& executor)
            : executor_(executor) {}
        void notify(std::uint64_t token) override;
        /// The ranks apply what the collective brought.
        [[nodiscard]] network::TimerPurpose purpose(std::uint64_t token) const override;

    private:
        Implementation& executor_;
    };

    void report_iterations();
    void add_records(StateHash& hash, OperationId first) const;
    void begin_operation(detail::OperationOnRank issued);
    void end_operations();
    void complete(const detail::CompletedCollective& completed);

    [[nodiscard]] ExecutionReport report();
    void check_totals();
    [[nodiscard]] bool is_interrupted() const;
    [[nodiscard]] bool passes_the_end_of_time() const;
    [[nodiscard]] std::string describe_stall() const;
    void describe_rank(RankId rank, std::string& text) const;
    void describe_receive(OperationId operation, RankId rank, std::string& text) const;
    void describe_collective(OperationId operation, RankId rank, std::string& text) const;
    /// Both return how many of the instance's chunks they found on the rank.
    std::size_t describe_chunks(const detail::Instance& instance, RankId rank, Position position,
                                std::string& text) const;
    std::size_t describe_slots(const detail::Instance& instance, RankId rank, Position position,
                               std::string& text) const;
    [[nodiscard]] std::string chunk_name(const detail::ChunkRun& run, std::size_t stage) const;
    void describe_network(std::string& text) const;

    /// A chunk that a rank has in flight, and a rank that has yet to send it something; where there is a
    /// choice, one that has not started the chunk.
    struct RankWait {
        detail::ChunkIndex chunk;
        RankId sender;  // as its representative
        bool has_started;
    };
    [[nodiscard]] std::optional<RankWait> wait_of(RankId rank) const;
    /// Independent orders: ranks whose slots are taken by chunks that others of them have not started.
    void describe_cycle(std::string& text) const;
    void describe_cycle(const std::vector<RankId>& cycle, const std::vector<std::optional<RankWait>>& waits,
                        std::string& text) const;
    [[nodiscard]] std::string slots_text(const detail::Chunk& chunk, RankId rank) const;

    Executor& owner_;
    const Program& program_;
    SystemOptions options_;
    network::NetworkBackend& backend_;
    const network::Folding folding_;
    const Participants participants_;
    IndexedVector<OperationId, OperationRecord> records_;
    detail::TieWatch ties_;
    detail::ChunkEngine chunks_;
    detail::CollectiveEngine collectives_;
    detail::RankEngine ranks_;
    CompletionTimer completion_timer_;
    detail::Timers completions_;
    std::uint64_t total_operations_;
    std::size_t operations_end_;                       // of those that are to run
    IterationObserver* iteration_observer_ = nullptr;  // null: nobody
    int reported_ended_ = 0;                           // iterations
    int reported_rest_ = 0;                            // likewise
    Time settled_at_{-1};                              // where there is an observer
    bool has_run_ = false;
    bool was_stopped_ = false;
};

}  // namespace astrolabe::system
