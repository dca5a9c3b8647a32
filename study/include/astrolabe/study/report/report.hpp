/// The report of a study: figures from its results, as one page, as pictures and as tables.
///
/// A figure is a table and a word on how to draw it: everything that is drawn is a column, so that a figure's
/// CSV file is all there is to it. Which parameter goes where:
///
///     dimensions    parameters with several values that do not follow from others (`zip`, `derived`); the
///                   seed is none: values are means over seeds, with the least and the greatest beside them
///     series        `network` where it varies, else the first dimension of names, else the numeric one with
///                   the fewest values; a value has one colour in all figures
///     scale         of the x axis: `cluster.ranks` where it varies, else the numeric dimension with the most
///                   values, else any
///     panels        every combination of what is left
///
/// Figures of single runs (ranks, links, tasks, gantt) need what only the run knew: details, which a sweep
/// keeps where the study asks for such a figure (result_store.hpp).
///
/// C++ chooses the numbers. JavaScript (study/page/) draws them, with Apache ECharts: in the page, and
/// in node for the pictures.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

/// Names of figures, as `report:` of a study has them.
[[nodiscard]] std::vector<std::string_view> figure_names();

struct Figure {
    std::string name;
    std::string title;
    std::string note;              ///< how to read it, and what was left out
    nlohmann::ordered_json chart;  ///< `form` and the places of columns; for charts.js
    std::vector<std::string> columns;
    std::vector<std::vector<nlohmann::ordered_json>> rows;  ///< numbers, texts, null where there is none
};

/// RFC 4180, with a line of column names. A text that a spreadsheet would take for a formula begins with an
/// apostrophe.
[[nodiscard]] std::string to_csv(const std::vector<std::string>& columns,
                                 const std::vector<std::vector<nlohmann::ordered_json>>& rows);

struct StudyReport {
    std::string study;
    std::vector<StudyRow> rows;
    std::vector<Figure> figures;
    /// Figures that were asked for and cannot be drawn, and why.
    std::vector<std::pair<std::string, std::string>> omitted;
    nlohmann::ordered_json dimensions;  ///< for charts.js: names, values in order, numbers
};

struct ReportOptions {
    std::string study{};     ///< empty: the only one of the folder
    std::string baseline{};  ///< of speed-ups: a value of a dimension, or "path=value"; empty: the first
};

/// Reads the results of a folder: a store of studies, or what `run --out` wrote. Errors: no results there,
/// several studies and none chosen, none finished, a baseline that is none. O(points · summary).
[[nodiscard]] Result<StudyReport> read_report(const std::filesystem::path& folder,
                                              const ReportOptions& options,
                                              const experiment::Components& components);

/// Writes index.html, points.csv and for every figure NAME.csv and NAME.svg (NAME-POINT.svg where there is a
/// picture for each point). The page comes last, each file whole or not at all. Fetches ECharts with npm on
/// first use, into $XDG_CACHE_HOME/astrolabe or ~/.cache/astrolabe. Errors say what is missing.
[[nodiscard]] Diagnostics write_report(const StudyReport& report, const std::filesystem::path& folder);

}  // namespace astrolabe::study
