/// The report of a study: figures from its results, as one page, as pictures and as tables.
///
/// A figure is a table and a word on how to draw it: everything that is drawn is a column, so that a figure's
/// CSV file is all there is to it. Which parameter goes where:
///
///     dimensions    parameters with several values that do not follow from others (`zip`, `derived`); the
///                   seed is none: values are means over seeds, with the least and the greatest beside them
///     series        `network` where it varies, else the first dimension of names, else the numeric one with
///                   the fewest values; a value has one colour in all figures, a kind of network in all
///                   studies
///     scale         of the x axis: `cluster.ranks` where it varies, else the numeric dimension with the most
///                   values, else any
///     panels        every combination of what is left
///
/// The answer says which value of one parameter, of `network` where it varies, wins in which settings of the
/// others (docs/report.md).
///
/// Figures of single runs (ranks, links, tasks, gantt) need what only the run knew: details, which a sweep
/// keeps where the study asks for such a figure (result_store.hpp).
///
/// C++ chooses the numbers. JavaScript (study/page/) draws them, with Apache ECharts: in the page, and
/// in node for the pictures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
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

/// Which pictures are written as PDF too.
enum class PdfPictures : std::uint8_t {
    kNone,
    kFigures,  ///< one of each figure; none of figures with a picture for each point
    kAll
};

/// For what a picture is made: a paper has columns of 3.5 inches, two of which with the gap between them
/// are 7.16.
struct PictureOptions {
    int columns =
        0;  ///< 1 or 2 of a paper, whose caption is the heading; 0: for a screen, two wide, with a heading
    PdfPictures pdf = PdfPictures::kFigures;
};

struct StudyReport {
    std::string study;
    std::vector<StudyRow> rows;
    std::vector<std::optional<double>> usd_per_host;  ///< of the networks of the rows; none: no price
    nlohmann::ordered_json answer;  ///< who wins where (docs/report.md); null of results without iterations
    std::optional<Figure> winner;   ///< the map of it, where circumstances vary
    std::vector<Figure> figures;
    /// Figures that were asked for and cannot be drawn, and why.
    std::vector<std::pair<std::string, std::string>> omitted;
    /// For charts.js: names, labels, units, values in order, numbers, and kinds of networks by place.
    nlohmann::ordered_json dimensions;
    PictureOptions pictures{};
    std::string repeat;  ///< the command that runs a point again, "{}" for its number
};

struct ReportOptions {
    std::string study{};     ///< empty: the only one of the folder
    std::string baseline{};  ///< of speed-ups: a value of a dimension, or "path=value"; empty: the first
    std::string contest{};   ///< the parameter that is compared; empty: report.hpp chooses
    /// The study runs: no point need have finished, and figures of single runs, which take much reading, are
    /// left out.
    bool is_running = false;
    PictureOptions pictures{};
};

/// Reads the results of a folder: a store of studies, or what `run --out` wrote. Errors: no results there,
/// several studies and none chosen, none finished, a baseline or a contest that is none. O(points · summary).
[[nodiscard]] Result<StudyReport> read_report(const std::filesystem::path& folder,
                                              const ReportOptions& options,
                                              const experiment::Components& components);

/// The answer in words, in lines of Markdown. Empty where there is none.
[[nodiscard]] std::string answer_text(const StudyReport& report);

/// Writes index.html, answer.json, points.csv and for every figure NAME.csv, NAME.svg (NAME-POINT.svg where
/// there is a picture for each point) and, with rsvg-convert, NAME.pdf. The same results give the same bytes,
/// PDF with the same fonts. The page comes last, each file whole or not at all. Fetches ECharts with npm on
/// first use, into $XDG_CACHE_HOME/astrolabe or ~/.cache/astrolabe. Errors say what is missing.
[[nodiscard]] Diagnostics write_report(const StudyReport& report, const std::filesystem::path& folder);

}  // namespace astrolabe::study
