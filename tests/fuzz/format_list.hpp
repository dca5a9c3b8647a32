/// Lists of formats by what they are for.
#pragma once

#include "format.hpp"

#include <filesystem>
#include <initializer_list>
#include <vector>

#include <process.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::fuzzing {

template <class T>
Verdict verdict_of(const Result<T>& result) {
    ASTROLABE_ASSERT(result || !result.error().empty(), "a refusal says something");
    return result ? Verdict{} : result.error();
}

inline std::vector<Seed> files(const std::filesystem::path& root, std::initializer_list<const char*> names) {
    std::vector<Seed> seeds;
    for (const char* name : names) {
        seeds.push_back({name, testing::read_file(root / name)});
    }
    return seeds;
}

[[nodiscard]] inline const experiment::Components& components() {
    static const experiment::Components kComponents = experiment::builtin_components();
    return kComponents;
}

/// Traces of jobs and lists of flows.
void add_traces(std::vector<Format>& formats, const std::filesystem::path& root);
/// What `calibrate` reads.
void add_measurements(std::vector<Format>& formats, const std::filesystem::path& root);
/// What the program wrote and reads again: stores, spools, records of submissions, folders of runs.
void add_results(std::vector<Format>& formats, const std::filesystem::path& root);

}  // namespace astrolabe::fuzzing
