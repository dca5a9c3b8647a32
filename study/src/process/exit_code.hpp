/// How a process ended, as shells have it.
#pragma once

#include <string>

#include <fmt/format.h>
#include <sys/wait.h>

namespace astrolabe::study {

constexpr int kNotStarted = 127;
constexpr int kKilledBySignal = 128;  ///< and the number of the signal

/// Of what waitpid gave.
[[nodiscard]] inline int exit_code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : kKilledBySignal + WTERMSIG(status);
}

/// "was killed by signal 9" or "ended with code 3".
[[nodiscard]] inline std::string end_text(int exit_code) {
    return exit_code > kKilledBySignal ? fmt::format("was killed by signal {}", exit_code - kKilledBySignal)
                                       : fmt::format("ended with code {}", exit_code);
}

}  // namespace astrolabe::study
