#include "tool.hpp"

#include "exit_code.hpp"
#include "memory_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace astrolabe::study {
namespace {

/// In the new process, between fork and exec: only calls that are safe after a fork.
[[noreturn]] void become(const std::vector<char*>& words, const char* folder, int in, int out, int err,
                         pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::signal(SIGPIPE, SIG_DFL);
    if (::getppid() == parent && ::chdir(folder) == 0 && ::dup2(in, STDIN_FILENO) >= 0 &&
        ::dup2(out, STDOUT_FILENO) >= 0 && ::dup2(err, STDERR_FILENO) >= 0) {
        ::execvp(words.front(), words.data());
    }
    ::_exit(kNotStarted);
}

}  // namespace

ToolOutcome run_tool(std::vector<std::string> words, std::string_view input,
                     const std::filesystem::path& folder) {
    MemoryFile in("in");
    const MemoryFile out("out");
    const MemoryFile err("err");
    if (!in.fill(input)) {
        return {1, "", std::strerror(errno)};
    }
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    const std::string where = folder.string();
    const pid_t parent = ::getpid();
    const pid_t id = ::fork();
    if (id == 0) {
        become(pointers, where.c_str(), in.descriptor(), out.descriptor(), err.descriptor(), parent);
    }
    if (id < 0) {
        return {1, "", std::strerror(errno)};
    }
    int status = 0;
    while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    ToolOutcome outcome{exit_code_of(status), out.text(), err.text()};
    if (outcome.exit_code == kNotStarted && outcome.err.empty()) {
        outcome.err = fmt::format("'{}' cannot be started\n", words.front());
    }
    return outcome;
}

std::string failure_text(const ToolOutcome& outcome) {
    std::string text;
    std::istringstream lines(outcome.err);
    for (std::string line; std::getline(lines, line);) {
        text += (text.empty() || line.empty() ? "" : "; ") + line;
    }
    return text.empty() ? "it " + end_text(outcome.exit_code) : text;
}

}  // namespace astrolabe::study
