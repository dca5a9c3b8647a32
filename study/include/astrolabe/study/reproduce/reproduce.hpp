/// Runs a published study and puts what is measured beside what was published.
///
/// Every run is a process of this very program. What several values take from one run is run once. Where a
/// value needs the times of messages or what flows in intervals, the run writes flows.csv or throughput.csv
/// into a temporary folder, from which they are read.
///
/// Calibration: the constant c is bisected between its ends to a sixteenth of its last digit, and rounded to
/// that; the value that it is fitted to must not fall with c. 0.1 ms of 300 to 450 ms are 18 runs.
///
/// Sensitivity of a value x to the constant: ln(x(1.01 c) / x(c)) / ln 1.01, percent for each percent.
///
/// Complexity: that of the runs; for the sensitivities each run in which the constant stands once more.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/study/reproduce/published_study.hpp>

namespace astrolabe::study {

/// What is recorded of a study.
struct ReproductionRecord {
    std::map<std::string, double> measured;     ///< by name of the value
    std::map<std::string, double> sensitivity;  ///< likewise, of those that the constant moves
};

/// Nothing of a study that was never recorded.
[[nodiscard]] Result<std::optional<ReproductionRecord>> read_record(const PublishedStudy& study);
[[nodiscard]] nlohmann::ordered_json record_json(const PublishedStudy& study,
                                                 const ReproductionRecord& record);

struct ReproducedValue {
    std::size_t value = 0;  ///< in the study
    std::optional<double> measured;
    bool is_recorded = false;  ///< not measured now
    std::string reason;        ///< why there is none
    std::optional<double> sensitivity;
    std::optional<double> recorded;  ///< as measured when the study was recorded

    [[nodiscard]] std::optional<double> error(const PublishedStudy& study) const;
    /// By more than the margin since it was recorded.
    [[nodiscard]] bool error_has_grown(const PublishedStudy& study) const;
};

struct FittedConstant {
    double value = 0;     ///< in seconds, or a number
    double measured = 0;  ///< with it, of the value that it is fitted to
    std::size_t runs = 0;
};

struct Reproduction {
    std::vector<ReproducedValue> values;  ///< those that were asked for, in order
    std::optional<FittedConstant> fitted;
};

struct ReproduceOptions {
    enum class Source : std::uint8_t {
        kRuns,       ///< everything is run
        kShortRuns,  ///< long runs are taken from the record
        kRecord      ///< nothing is run
    };
    Source source = Source::kRuns;
    std::string table;  ///< only this one
    bool calibrate = false;
    std::size_t jobs = 1;
    /// Called when a run has ended: how many have, of how many, and which.
    std::function<void(std::size_t ended, std::size_t all, const std::string& name)> observer;
};

/// The caller has no child processes and no threads.
[[nodiscard]] Result<Reproduction> reproduce(const PublishedStudy& study, const ReproduceOptions& options);

/// Adds what was measured to the record.
void update(ReproductionRecord& record, const PublishedStudy& study, const Reproduction& result);

/// A table for each of the study's, the errors' causes, and the commands of all runs.
[[nodiscard]] std::string reproduction_text(const PublishedStudy& study, const Reproduction& result);
/// The tables and causes alone, for pages of documentation.
[[nodiscard]] std::string reproduction_markdown(const PublishedStudy& study, const Reproduction& result);
[[nodiscard]] nlohmann::ordered_json reproduction_json(const PublishedStudy& study,
                                                       const Reproduction& result);

}  // namespace astrolabe::study
