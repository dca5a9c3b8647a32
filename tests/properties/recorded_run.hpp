/// One run of an experiment with everything recorded that can be, and what must hold of the records.
#pragma once

#include "invariants.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <process.hpp>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {

/// Files of experiments that are related, and what is loaded from them.
class Bench {
public:
    explicit Bench(const experiment::Components& components)
        : components_(components) {}

    [[nodiscard]] Result<experiment::Experiment> load(const std::string& text,
                                                      std::vector<std::string> set = {}) const;
    [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

private:
    const experiment::Components& components_;
    TemporaryFolder folder_;
};

/// What is wrong with the records of the run, flows.csv before all: an entry for each invariant that does not
/// hold. Nothing is recorded of `run` where the run stalls.
[[nodiscard]] std::vector<Violation> run_recorded(const experiment::Experiment& experiment,
                                                  const Bench& bench, std::optional<experiment::Run>& run);

}  // namespace astrolabe::testing
