/// What varies between the points of a study, and which part each parameter has in figures (report.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

struct Dimension {
    std::string name;                   ///< as the study has it: "workload.batch.global"
    std::string label{};                ///< in words: "global batch" (parameter_labels.hpp)
    std::string unit{};                 ///< "samples", "bit/s"; empty of a number alone and of names
    std::vector<std::string> values{};  ///< ascending where they are numbers, else as the study has them
    std::vector<double> numbers{};      ///< of the values, in one unit; empty where they are names

    [[nodiscard]] bool is_numeric() const { return !numbers.empty(); }
};

/// A point that is done, and where it is.
struct Place {
    const StudyRow* row;
    std::vector<std::size_t> at;  ///< by dimension, the place of its value
};

struct StudyAxes {
    std::vector<Dimension> dimensions;
    std::vector<Place> places;          ///< in the study's order
    std::optional<std::size_t> series;  ///< a dimension
    std::optional<std::size_t> scale;   ///< another one
    bool has_seeds = false;

    /// All dimensions but these.
    [[nodiscard]] std::vector<std::size_t> without(const std::vector<std::optional<std::size_t>>& some) const;
    /// Of the values of a point.
    [[nodiscard]] std::vector<nlohmann::ordered_json> labels(const std::vector<std::size_t>& at) const;
    [[nodiscard]] std::vector<std::string> names() const;
};

/// Whether a parameter is the network or part of it.
[[nodiscard]] bool is_of_network(const std::string& parameter);

/// Parameters of all points, in the order in which they first occur.
[[nodiscard]] std::vector<std::string> parameters_of(const std::vector<StudyRow>& rows);

/// The rows must outlive what is given back. O(points · parameters²).
[[nodiscard]] StudyAxes study_axes(const std::vector<StudyRow>& rows);

}  // namespace astrolabe::study
