#include "exit_code.hpp"
#include "memory_file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/processes.hpp>

namespace astrolabe::experiment {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
    std::size_t place;
    MemoryFile out{"out"};
    MemoryFile err{"err"};
    Clock::time_point start = Clock::now();
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

/// In the new process, between fork and exec: only calls that are safe after a fork. `program` is a path, or
/// what PATH is searched for.
[[noreturn]] void become(const char* program, const std::vector<char*>& arguments, const Child& child,
                         pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (::getppid() == parent && ::dup2(nothing, STDIN_FILENO) >= 0 &&
        ::dup2(child.out.descriptor(), STDOUT_FILENO) >= 0 &&
        ::dup2(child.err.descriptor(), STDERR_FILENO) >= 0) {
        ::execvp(program, arguments.data());
    }
    ::_exit(kNotStarted);
}

ProcessOutcome not_started() {
    return {kNotStarted, "", fmt::format("no process: {}\n", std::strerror(errno)), 0};
}

ProcessOutcome outcome_of(const Child& child, int status) {
    const double wall = std::chrono::duration<double>(Clock::now() - child.start).count();
    return {exit_code_of(status), child.out.text(), child.err.text(), wall};
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
            const std::vector<char*> pointers = pointers_to(words);
            Child child{.place = next++};
            const pid_t parent = ::getpid();
            const pid_t id = ::fork();
            if (id == 0) {
                become("/proc/self/exe", pointers, child, parent);
            }
            if (id < 0) {
                finish(child.place, not_started());
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
        finish(child.place, outcome_of(child, status));
    }
    return outcomes;
}

ProcessOutcome run_command(std::vector<std::string> words) {
    const std::vector<char*> pointers = pointers_to(words);
    const Child child{.place = 0};
    const pid_t parent = ::getpid();
    const pid_t id = ::fork();
    if (id == 0) {
        become(pointers.front(), pointers, child, parent);
    }
    if (id < 0) {
        return not_started();
    }
    int status = 0;
    while (::waitpid(id, &status, 0) < 0) {
        ASTROLABE_ASSERT(errno == EINTR, "a process that runs can be waited for");
    }
    ProcessOutcome outcome = outcome_of(child, status);
    if (outcome.exit_code == kNotStarted && outcome.err.empty()) {
        outcome.err = fmt::format("'{}' cannot be started\n", words.front());
    }
    return outcome;
}

std::string failure_text(const ProcessOutcome& outcome) {
    std::string text;
    std::istringstream lines(outcome.err);
    for (std::string line; std::getline(lines, line);) {
        text += (text.empty() || line.empty() ? "" : "; ") + line;
    }
    if (!text.empty()) {
        return text;
    }
    return "it " + end_text(outcome.exit_code);
}

}  // namespace astrolabe::experiment
