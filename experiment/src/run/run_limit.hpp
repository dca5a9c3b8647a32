/// Stops a run that surely takes longer than it may (limited_run.hpp).
#pragma once

#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::experiment {

class RunLimit {
public:
    /// Listens to `executor`, which simulates ranks 0 … `simulated` - 1 on `backend`. All of them, and this,
    /// must outlive the run. `stops_in_drain`: ranks that have nothing left to compute count too.
    RunLimit(const system::Program& program, std::size_t simulated, Time most, bool stops_in_drain,
             system::Executor& executor, const network::NetworkBackend& backend);
    RunLimit(const RunLimit&) = delete;
    RunLimit& operator=(const RunLimit&) = delete;

    /// The run was stopped, and takes at least `least` > most.
    [[nodiscard]] bool is_exceeded() const { return least_ > most_; }
    [[nodiscard]] Time least() const { return least_; }

private:
    struct Rank {
        Time to_begin;  ///< W
        bool is_computing = false;
    };

    void foresee(const Rank& rank, Time now);

    Time most_;
    Time least_;
    system::Executor& executor_;
    std::vector<Rank> ranks_;
};

}  // namespace astrolabe::experiment
