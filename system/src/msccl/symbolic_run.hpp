/// Runs a schedule of MSCCL over symbols, in one order (msccl_schedule.hpp).
#pragma once

#include "msccl_file.hpp"

#include <cstdint>
#include <vector>

namespace astrolabe::system::msccl {

/// What is known of a step after the run.
struct StepFacts {
    std::vector<std::uint64_t> blocks{};  ///< that it receives or sends
    bool adds = false;                    ///< its receive adds
    /// Of a receive that adds what it stores: the steps by which that happens.
    std::vector<StepId> added_by{};
};

/// By GPU, thread block and step.
using RunFacts = std::vector<std::vector<std::vector<StepFacts>>>;

/// Throws Defect: a step that never runs, uses what is not there or adds twice, an output that ends wrong,
/// and what a CollectiveSchedule cannot say.
[[nodiscard]] RunFacts run(const File& file);

/// "chunk 3 of its input" for people; of an all_to_all "chunk 3 of the input of GPU 1".
[[nodiscard]] std::string chunk_name(const File& file, std::uint64_t block);

}  // namespace astrolabe::system::msccl
