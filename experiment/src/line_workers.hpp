/// Workers that are copies of this process, each with a part of one job, and tell of it line by line.
///
/// Unlike run_own_processes a worker begins with everything that its parent has in memory, and what it tells
/// is heard while it works. A worker that crashes concerns no other. Workers end with their parent, whatever
/// ends it, and pay no heed to SIGINT, which is for the parent to answer.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace astrolabe::experiment {

struct WorkerEnd {
    bool started = false;  ///< false: the others were stopped before
    int exit_code = 0;     ///< 128 + signal if it was killed
};

/// Sends a line, without its end, to the parent.
using SendLine = std::function<void(std::string_view)>;

/// Runs `work(place, send)` for place 0 … count-1 in processes of their own, at most `at_once` >= 1 at a
/// time, started in order. `hear(place, line)` is called here for each line, in the order each worker sent
/// them. `stop` is asked ten times a second; when it says so all workers are ended. An exception in a worker
/// is printed on stderr and ends it with code 1. The caller has no other child processes and no threads.
[[nodiscard]] std::vector<WorkerEnd> run_workers(
    std::size_t count, std::size_t at_once, const std::function<void(std::size_t, const SendLine&)>& work,
    const std::function<void(std::size_t, std::string_view)>& hear, const std::function<bool()>& stop);

}  // namespace astrolabe::experiment
