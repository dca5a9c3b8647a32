/// Workers that are copies of this process, each with a part of one job, and report line by line.
///
/// Unlike run_own_processes a worker begins with everything that its parent has in memory, and what it
/// reports is read while it works. A worker that crashes concerns no other. Workers end with their parent,
/// whatever ends it, and ignore SIGINT, which is for the parent to answer.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace astrolabe::study {

/// Sends a line, without its end, to the parent.
using SendLine = std::function<void(std::string_view)>;
/// Called in the parent for each line, in the order each worker sent them.
using LineHandler = std::function<void(std::size_t place, std::string_view line)>;

/// Workers that run now. The caller has no other child processes and no threads.
class Workers {
public:
    struct Running {
        std::size_t place;
        pid_t process;
    };
    struct Ended {
        std::size_t place;
        int exit_code;  ///< 128 + signal if it was killed
    };

    explicit Workers(LineHandler handler);
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    /// Kills those that still run.
    ~Workers();

    /// Does the work of a place in a process of its own. An exception in it is printed on stderr and ends it
    /// with code 1. False: there is no process to be had.
    [[nodiscard]] bool start(std::size_t place, const std::function<void(const SendLine&)>& work);
    /// Reads what workers report within a tenth of a second; a signal ends the wait. Gives those that have
    /// ended, of which everything was read.
    [[nodiscard]] std::vector<Ended> wait();
    void signal(std::size_t place, int number) const;
    void signal_all(int number) const;

    [[nodiscard]] std::vector<Running> running() const;
    [[nodiscard]] std::size_t count() const { return workers_.size(); }

private:
    struct Worker {
        std::size_t place;
        pid_t process;
        int pipe;  // read end
        std::string unfinished{};
    };
    [[nodiscard]] bool listen(Worker& worker) const;

    LineHandler handler_;
    std::vector<Worker> workers_;
};

struct WorkerEnd {
    bool started = false;  ///< false: the others were stopped before
    int exit_code = 0;     ///< 128 + signal if it was killed
};

/// Runs `work(place, send)` for place 0 … count-1 in processes of their own, at most `at_once` >= 1 at a
/// time, started in order. `stop` is asked ten times a second; when it says so all workers are ended.
[[nodiscard]] std::vector<WorkerEnd> run_workers(
    std::size_t count, std::size_t at_once, const std::function<void(std::size_t, const SendLine&)>& work,
    const LineHandler& handler, const std::function<bool()>& stop);

}  // namespace astrolabe::study
