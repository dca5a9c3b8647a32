/// What makes two experiments the same: a hash of an experiment and of the program's version.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::study {

/// Hashes trees. Their name plays no part, and files count by what is in them, not by where they are. Files
/// are read once in the life of the object.
class PointKeys {
public:
    /// Of an experiment as it is written; `set` are the paths that were set since it was read. Values that
    /// happen to name a file beside theirs count as files, which costs nothing but a second look.
    [[nodiscard]] std::string of_written(const ConfigNode& tree, const std::vector<std::string>& set);
    /// Of an experiment as it was resolved, in which files have absolute paths. One in which nothing is drawn
    /// is the same for every seed.
    [[nodiscard]] std::string of_experiment(const experiment::Experiment& experiment);

private:
    void replace_files(ConfigNode& node, bool only_absolute);
    /// A hash of a file, of YAML with what it includes and the files it names; empty if there is none.
    [[nodiscard]] std::string contents_of(const std::filesystem::path& path);

    std::map<std::string, std::string> contents_;  ///< by path; "" of what is no file
};

}  // namespace astrolabe::study
