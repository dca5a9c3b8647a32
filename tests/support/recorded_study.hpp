/// Studies of the examples beside what is recorded of them: expected/<name>.json in the folder of the study
/// has a row for every point, with its parameters and the keys below. The fingerprint stands for all others.
#pragma once

#include "process.hpp"

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/study/file/study.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::testing {

using Json = nlohmann::ordered_json;

inline constexpr std::array kRecordedKeys{
    "fingerprint", "mean_iteration_time_s", "lower_bound_s",    "bounds.links_s",   "compute_s",
    "drain_s",     "network.drops",         "network.timeouts", "all_reduce_share",
};

/// A row of the record, from one of `sweep --json` or from the scalar keys of a summary.
inline Json recorded_row(const Json& parameters, const Json& keys) {
    Json row{{"parameters", parameters}};
    for (const char* key : kRecordedKeys) {
        row[key] = keys.value(key, Json());
    }
    return row;
}

class RecordedStudy {
public:
    /// `file` is a path below examples/: "opera-dlrm/study".
    explicit RecordedStudy(const std::string& file)
        : path_(std::filesystem::path(ASTROLABE_SOURCE_DIR) / "examples" / (file + ".yaml")),
          rows_(Json::parse(read_file(record()), nullptr, false)) {
        if (!rows_.is_array()) {
            throw std::runtime_error("no record " + record().string());
        }
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path record() const {
        return path_.parent_path() / "expected" / (path_.stem().string() + ".json");
    }
    [[nodiscard]] const Json& rows() const { return rows_; }

    /// The one point that has these parameters, whatever its others are.
    [[nodiscard]] const Json& row(const Json& parameters) const {
        const Json* found = nullptr;
        for (const Json& one : rows_) {
            if (has(one["parameters"], parameters)) {
                if (found != nullptr) {
                    throw std::runtime_error("several points have " + parameters.dump());
                }
                found = &one;
            }
        }
        if (found == nullptr) {
            throw std::runtime_error("no point has " + parameters.dump());
        }
        return *found;
    }
    [[nodiscard]] double seconds(const Json& parameters,
                                 const std::string& key = "mean_iteration_time_s") const {
        return row(parameters)[key].get<double>();
    }

    [[nodiscard]] static bool has(const Json& all, const Json& some) {
        for (const auto& [name, value] : some.items()) {
            if (!all.contains(name) || all[name] != value) {
                return false;
            }
        }
        return true;
    }

private:
    std::filesystem::path path_;
    Json rows_;
};

}  // namespace astrolabe::testing
