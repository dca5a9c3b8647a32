/// Examples of the repository, loaded and run with changes; whatever goes wrong is an exception.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {

/// `example` is a path below examples/.
inline experiment::Experiment load_example(const std::string& example, std::vector<std::string> overrides) {
    static const experiment::Components kComponents = experiment::builtin_components();
    Result<experiment::Experiment> loaded = experiment::load_experiment(
        ASTROLABE_SOURCE_DIR "/examples/" + example, {std::move(overrides), std::nullopt}, kComponents);
    if (!loaded) {
        throw std::runtime_error(render(loaded.error()));
    }
    return *std::move(loaded);
}

inline experiment::Run run_to_the_end(const experiment::Experiment& loaded) {
    experiment::Run run = experiment::run_experiment(loaded, {});
    if (!run.execution.finished) {
        throw std::runtime_error(run.execution.stall);
    }
    return run;
}

inline experiment::Run run_example(const std::string& example, std::vector<std::string> overrides) {
    return run_to_the_end(load_example(example, std::move(overrides)));
}

}  // namespace astrolabe::testing
