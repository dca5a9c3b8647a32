#include "isolated.hpp"

#include <array>
#include <csignal>
#include <exception>
#include <stdexcept>

#include <fmt/format.h>
#include <sanitizers.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace astrolabe::testing {
namespace {

// The sanitizers' shadow memory is reserved beyond any limit.
constexpr rlim_t kMemory = kMemoryCanBeLimited ? rlim_t{4} << 30 : RLIM_INFINITY;

constexpr char kReturned = 'r';
constexpr char kThrew = 't';

[[noreturn]] void answer(int pipe, const std::function<std::string()>& function, unsigned processor_seconds) {
    const rlimit processor{processor_seconds, processor_seconds + 1};
    const rlimit memory{kMemory, kMemory};
    const rlimit core{0, 0};
    ::setrlimit(RLIMIT_CPU, &processor);
    ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CORE, &core);
    std::string text;
    try {
        text = kReturned + function();
    } catch (const std::exception& error) {
        text = kThrew + std::string(error.what());
    }
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t bytes = ::write(pipe, text.data() + sent, text.size() - sent);
        if (bytes <= 0) {
            ::_exit(1);
        }
        sent += static_cast<std::size_t>(bytes);
    }
    ::_exit(0);
}

}  // namespace

Isolated call_isolated(const std::function<std::string()>& function, unsigned processor_seconds) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
        throw std::runtime_error("no pipe to a process of its own");
    }
    const pid_t child = ::fork();
    if (child < 0) {
        throw std::runtime_error("no process of its own");
    }
    if (child == 0) {
        ::close(ends[0]);
        answer(ends[1], function, processor_seconds);
    }
    ::close(ends[1]);
    std::string text;
    std::array<char, 65536> buffer{};
    for (ssize_t bytes = 0; (bytes = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<std::size_t>(bytes));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return {false, signal == SIGXCPU || signal == SIGKILL
                           ? fmt::format("took more than {} s of processor time", processor_seconds)
                           : fmt::format("ended by signal {}", signal)};
    }
    if (WEXITSTATUS(status) != 0 || text.empty()) {
        return {false, fmt::format("ended with exit code {}", WEXITSTATUS(status))};
    }
    return {text.front() == kReturned, text.substr(1)};
}

}  // namespace astrolabe::testing
