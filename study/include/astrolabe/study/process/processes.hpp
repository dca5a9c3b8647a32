/// Programs side by side, each in a process of its own: an engine that has room for one simulation in a
/// process, or a run that crashes, then concerns no other.
///
/// What a process prints is kept in memory until it ends. Processes end with the one that started them,
/// whatever ends that one: the system is asked to send them SIGTERM (Linux, prctl(2), PR_SET_PDEATHSIG).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace astrolabe::study {

struct ProcessOutcome {
    int exit_code = 0;  ///< 128 + signal if it was killed, 127 if it could not be started
    std::string out;
    std::string err;
    double wall_seconds = 0;
};

/// Called when a process has ended, with its place in the list.
using ProcessObserver = std::function<void(std::size_t, const ProcessOutcome&)>;

/// Runs this very program once for each list of arguments (without its name), at most `at_once` >= 1 at a
/// time, started in order; outcomes are in the order of the lists. The caller has no other child processes
/// and no threads.
[[nodiscard]] std::vector<ProcessOutcome> run_own_processes(
    std::span<const std::vector<std::string>> arguments, std::size_t at_once,
    const ProcessObserver& observer = {});

}  // namespace astrolabe::study
