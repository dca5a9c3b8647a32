/// A published study as data: values that others published, the experiments that should give them, and the
/// one constant that may be fitted.
///
///     schema: astrolabe/1
///     title: …                  source: …
///     calibration: {path: workload.embedding.backward, value: 369.6ms, from: 300ms, to: 450ms, …}
///     runs:
///       ring-16: {experiment: ring.yaml, set: {cluster.ranks: 16}}
///     values:
///       - {name: …, run: ring-16, quantity: mean_iteration_time_s, published: 30.763466s, …}
///
/// A published value is a number, a percentage or a time, as it was printed; or it is known from one side or
/// between two ends (`at_least`, `at_most`). With x what is measured here and p the published number,
///
///     error = x / p - 1                          of a number
///     error = 0 within the ends, else x / the nearer end - 1
///
/// `margin` is by how much |error| may exceed that of the record before `reproduce` fails.
///
/// One constant may be fitted to one value, and stands in every run that does not say `calibrated: false`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe::study {

/// As it is written: "30.763466s", "0.1182", "98 %".
struct PrintedNumber {
    double number = 0;  ///< as written
    double scale = 1;   ///< of the unit: 1e-3 of ms, 0.01 of %
    std::string unit;   ///< "s", "ms", "us", "ns", "%" or none
    int decimals = 0;   ///< digits behind the point

    [[nodiscard]] double value() const { return number * scale; }
    /// `value` in this unit, with as many decimals.
    [[nodiscard]] std::string text_of(double value) const;
};

/// What is wrong, or the printed.
[[nodiscard]] std::optional<PrintedNumber> parse_printed_number(const std::string& text);

struct Published {
    std::optional<PrintedNumber> number;
    std::optional<PrintedNumber> at_least;
    std::optional<PrintedNumber> at_most;

    /// Of the number, else of an end: the unit in which values are printed.
    [[nodiscard]] const PrintedNumber& printed() const;
    [[nodiscard]] double error(double measured) const;
    [[nodiscard]] std::string text() const;
};

/// The constant that is fitted.
struct Calibration {
    std::string path;     ///< in the experiments
    PrintedNumber value;  ///< that it has
    PrintedNumber from;   ///< between which it is looked for
    PrintedNumber to;
    std::string fitted_to;  ///< name of a value, which grows with the constant
    std::string meaning;
};

struct StudyRun {
    enum class Command : std::uint8_t { kRun, kValidate };
    std::string name;
    std::filesystem::path experiment;    ///< as the program is to find it
    Command command = Command::kRun;     ///< whose JSON is read
    std::vector<std::string> overrides;  ///< "path=value"
    std::string interval;                ///< of throughput.csv; empty: it is not needed
    bool calibrated = true;              ///< the constant is set
    bool is_long = false;                ///< takes more than a few seconds
};

/// Rows of throughput.csv that lie within from … to.
struct Intervals {
    enum class Take : std::uint8_t { kLeast, kLargest, kMean };
    PrintedNumber from;
    PrintedNumber to;
    Take take = Take::kMean;
};

struct PublishedValue {
    std::string name;
    std::string table;  ///< that it stands in; empty: the only one
    std::size_t run = 0;
    std::string quantity;  ///< a path in what the run printed (measures.hpp)
    std::optional<Intervals> intervals;
    std::optional<std::size_t> over;  ///< the run whose same quantity it is divided by
    Published published;
    double margin = 0;  ///< a share
    std::string source;
    std::string cause;  ///< of the error
};

struct PublishedStudy {
    std::string name;  ///< of the file
    std::filesystem::path file;
    std::string title;
    std::string source;
    std::vector<std::string> notes;  ///< what is not compared, and why
    std::optional<Calibration> calibration;
    std::vector<StudyRun> runs;
    std::vector<PublishedValue> values;

    /// In the order of the values.
    [[nodiscard]] std::vector<std::string> tables() const;
    /// Where its record is: expected/<name>.json beside the file.
    [[nodiscard]] std::filesystem::path record() const;
    [[nodiscard]] bool is_calibrated(const StudyRun& run) const { return calibration && run.calibrated; }
};

/// All errors of the file at once.
[[nodiscard]] Result<PublishedStudy> load_published_study(const std::filesystem::path& file);

/// The files of a folder that are studies, by name.
[[nodiscard]] std::vector<std::filesystem::path> published_studies_in(const std::filesystem::path& folder);

/// Keys of the file, for `describe`.
[[nodiscard]] ComponentDescription published_study_description();

}  // namespace astrolabe::study
