/// What a study asks of Slurm: the keys of its section `slurm`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::study {

struct SlurmOptions {
    std::int64_t tasks = 16;  ///< of the array, at most; never more than points to compute
    std::int64_t jobs = 1;    ///< points at a time in a task, a processor for each
    std::optional<std::string> partition;
    std::optional<std::string> account;
    std::optional<Time> time;         ///< of the wall, for a task
    std::optional<Bytes> memory;      ///< for a task, all its points together
    std::vector<std::string> sbatch;  ///< further options, as sbatch takes them
};

/// Keys, ranges and what is wrong across them: texts that would break a line of the batch script, and options
/// that the script sets itself.
[[nodiscard]] Schema<SlurmOptions> slurm_schema();

}  // namespace astrolabe::study
