/// `--threads N` of commands that run one simulation at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>

#include <CLI/CLI.hpp>

namespace astrolabe::cli {

/// As many as there are processors for this process.
[[nodiscard]] inline std::size_t processors() {
    return std::max(1U, std::thread::hardware_concurrency());
}

inline void add_threads_option(CLI::App& command, std::size_t& threads) {
    command
        .add_option("--threads", threads,
                    "that the packet engine may use where it can; changes no result (default: as many as "
                    "processors)")
        ->check(CLI::Range(1U, 1024U));
}

}  // namespace astrolabe::cli
