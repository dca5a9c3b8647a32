#include "line_workers.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::experiment {
namespace {

struct Worker {
    std::size_t place;
    pid_t process;
    int pipe;  // read end
    std::string unfinished{};
};

void write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            ::_exit(1);
        }
    }
}

[[noreturn]] void become(std::size_t place, int descriptor, pid_t parent,
                         const std::function<void(std::size_t, const SendLine&)>& work) {
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGTERM, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) {
        ::_exit(1);
    }
    try {
        work(place, [descriptor](std::string_view line) { write_all(descriptor, std::string(line) + "\n"); });
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "astrolabe: worker %zu: %s\n", place, failure.what());
        ::_exit(1);
    }
    ::_exit(0);
}

int wait_for(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0) {
        ASTROLABE_ASSERT(errno == EINTR, "a worker can be waited for");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Hears what there is; false at the end.
bool listen(Worker& worker, const std::function<void(std::size_t, std::string_view)>& hear) {
    std::array<char, 1 << 16> block;
    const ssize_t count = ::read(worker.pipe, block.data(), block.size());
    if (count < 0) {
        return errno == EINTR;
    }
    worker.unfinished.append(block.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end; (end = worker.unfinished.find('\n', begin)) != std::string::npos; begin = end + 1) {
        hear(worker.place, std::string_view(worker.unfinished).substr(begin, end - begin));
    }
    worker.unfinished.erase(0, begin);
    return count > 0;
}

}  // namespace

std::vector<WorkerEnd> run_workers(std::size_t count, std::size_t at_once,
                                   const std::function<void(std::size_t, const SendLine&)>& work,
                                   const std::function<void(std::size_t, std::string_view)>& hear,
                                   const std::function<bool()>& stop) {
    ASTROLABE_ASSERT(at_once >= 1, "workers run one at a time or more");
    std::vector<WorkerEnd> ends(count);
    std::vector<Worker> running;
    bool stopped = false;
    for (std::size_t next = 0; (next < count && !stopped) || !running.empty();) {
        if (!stopped && next < count && running.size() < at_once) {
            std::array<int, 2> ends_of_pipe{-1, -1};
            std::fflush(nullptr);
            const pid_t parent = ::getpid();
            const pid_t process = ::pipe(ends_of_pipe.data()) == 0 ? ::fork() : -1;
            if (process == 0) {
                ::close(ends_of_pipe[0]);
                become(next, ends_of_pipe[1], parent, work);
            }
            ::close(ends_of_pipe[1]);
            ends[next].started = true;
            if (process < 0) {
                ::close(ends_of_pipe[0]);
                ends[next].exit_code = 1;
            } else {
                running.push_back({next, process, ends_of_pipe[0]});
            }
            ++next;
            continue;
        }
        if (!stopped && stop()) {
            stopped = true;
            for (const Worker& worker : running) {
                ::kill(worker.process, SIGTERM);
            }
        }
        std::vector<pollfd> pipes;
        for (const Worker& worker : running) {
            pipes.push_back({worker.pipe, POLLIN, 0});
        }
        constexpr int kMilliseconds = 100;
        if (::poll(pipes.data(), pipes.size(), kMilliseconds) <= 0) {
            continue;
        }
        for (std::size_t i = pipes.size(); i-- > 0;) {
            if (pipes[i].revents != 0 && !listen(running[i], hear)) {
                ::close(running[i].pipe);
                ends[running[i].place].exit_code = wait_for(running[i].process);
                running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
    }
    return ends;
}

}  // namespace astrolabe::experiment
