#include "exit_code.hpp"
#include "memory_file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/study/process/processes.hpp>

namespace astrolabe::study {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
    std::size_t place;
    MemoryFile out{"out"};
    MemoryFile err{"err"};
    Clock::time_point start = Clock::now();
};

/// In the new process, between fork and exec: only calls that are safe after a fork.
[[noreturn]] void become(const std::vector<char*>& arguments, const Child& child, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (::getppid() == parent && ::dup2(nothing, STDIN_FILENO) >= 0 &&
        ::dup2(child.out.descriptor(), STDOUT_FILENO) >= 0 &&
        ::dup2(child.err.descriptor(), STDERR_FILENO) >= 0) {
        ::execv("/proc/self/exe", arguments.data());
    }
    ::_exit(kNotStarted);
}

}  // namespace

std::vector<ProcessOutcome> run_own_processes(std::span<const std::vector<std::string>> arguments,
                                              std::size_t at_once, const ProcessObserver& observer) {
    ASTROLABE_ASSERT(at_once >= 1, "processes run one at a time or more");
    std::vector<ProcessOutcome> outcomes(arguments.size());
    std::map<pid_t, Child> running;
    const auto finish = [&](std::size_t place, ProcessOutcome outcome) {
        outcomes[place] = std::move(outcome);
        if (observer) {
            observer(place, outcomes[place]);
        }
    };
    for (std::size_t next = 0; next < arguments.size() || !running.empty();) {
        if (next < arguments.size() && running.size() < at_once) {
            std::vector<std::string> words = arguments[next];
            words.insert(words.begin(), "astrolabe");
            std::vector<char*> pointers;
            for (std::string& word : words) {
                pointers.push_back(word.data());
            }
            pointers.push_back(nullptr);
            Child child{.place = next++};
            const pid_t parent = ::getpid();
            const pid_t id = ::fork();
            if (id == 0) {
                become(pointers, child, parent);
            }
            if (id < 0) {
                finish(child.place,
                       {kNotStarted, "", fmt::format("no process: {}\n", std::strerror(errno)), 0});
            } else {
                running.emplace(id, std::move(child));
            }
            continue;
        }
        int status = 0;
        const pid_t id = ::waitpid(-1, &status, 0);
        const auto ended = running.find(id);
        if (ended == running.end()) {
            ASTROLABE_ASSERT(id >= 0 || errno == EINTR, "a process that runs can be waited for");
            continue;
        }
        const Child child = std::move(ended->second);
        running.erase(ended);
        const double wall = std::chrono::duration<double>(Clock::now() - child.start).count();
        finish(child.place, {exit_code_of(status), child.out.text(), child.err.text(), wall});
    }
    return outcomes;
}

}  // namespace astrolabe::study
