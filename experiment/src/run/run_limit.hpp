/// Stops a run that surely takes longer than it may (limited_run.hpp).
#pragma once

#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::experiment {

class RunLimit {
public:
    /// Listens to `executor`, which simulates ranks 0 … `simulated` - 1 on `backend`. All of them, and this,
    /// must outlive the run. `stops_in_drain`: streams that have nothing left to compute count too.
    RunLimit(const system::Program& program, std::size_t simulated, Time most, bool stops_in_drain,
             system::Executor& executor, const network::NetworkBackend& backend);
    RunLimit(const RunLimit&) = delete;
    RunLimit& operator=(const RunLimit&) = delete;

    /// The run was stopped, and takes at least `least` > most.
    [[nodiscard]] bool is_exceeded() const { return least_ > most_; }
    [[nodiscard]] Time least() const { return least_; }

private:
    struct Stream {
        Time to_begin;  ///< W
        bool is_computing = false;
    };

    [[nodiscard]] Stream& stream_of(const system::Operation& operation, system::RankId rank) {
        return streams_[rank.index() * streams_of_rank_ + operation.compute().stream];
    }
    void foresee(const Stream& stream, Time now);

    Time most_;
    Time least_;
    system::Executor& executor_;
    std::size_t streams_of_rank_;
    std::vector<Stream> streams_;  ///< by rank, then stream
};

}  // namespace astrolabe::experiment
