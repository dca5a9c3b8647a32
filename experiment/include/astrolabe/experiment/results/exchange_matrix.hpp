/// The bytes of one exchange of a program, as nccl-tests' alltoallv_perf reads them: a row for each rank, in
/// it what that rank sends to each, separated by spaces.
///
/// Ranks are those of the whole program: of an exchange in several groups a rank sends nothing to other
/// groups. What a rank has for itself is in the matrix (alltoallv_perf copies it), though no network carries
/// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

struct Exchange {
    std::string name;
    int iteration = 0;
    Bytes sent{};          ///< by all ranks, without what they have for themselves
    Bytes largest_sent{};  ///< by one rank, likewise
};

/// The all_to_alls of a program, in program order.
[[nodiscard]] std::vector<Exchange> exchanges_of(const Experiment& experiment);

/// Errors: no such all_to_all in that iteration, with the names nearest. O(ranks²).
[[nodiscard]] Result<std::string> exchange_matrix(const Experiment& experiment, std::string_view operation,
                                                  int iteration);

}  // namespace astrolabe::experiment
