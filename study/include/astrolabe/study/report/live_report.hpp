/// The page of a report while its sweep runs: index.html is replaced as points finish, and reloads itself.
///
/// An update reads the results, computes the figures and writes the page anew, in the time c. The next one is
/// not before max(2 s, 50·c) have gone by, so that updates take less than 2 % of the sweep; and where no
/// point has finished since then, not before ten seconds have, a heartbeat. The page has the time at which it
/// was written, and how long after it the next one is due: a sweep whose page is older than three times that
/// was killed, which the page then says.
///
/// Node makes a shell of the page once, when it is opened; an update without much data needs no node. Every
/// page is whole, and is written by a process that owns the folder for that long: where another one draws, an
/// update is left out, and where the page is another study's, there are no more of them.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::study {

class LiveReport {
public:
    /// `results` is the folder of the store, `out` that of the report, which is made if need be. The
    /// components must outlive it. Errors are those of `write_report`.
    [[nodiscard]] static Result<LiveReport> open(std::filesystem::path results, std::filesystem::path out,
                                                 std::string study, const experiment::Components& components);

    /// Replaces the page if it is time to. What goes wrong is kept for `failure`, and nothing is written
    /// then.
    void update(const SweepProgress& progress);
    [[nodiscard]] const std::optional<Diagnostic>& failure() const { return failure_; }

    /// The last page of a sweep that ended before its end: `why` is "interrupted", say.
    void stop(const SweepProgress& progress, const std::string& why);

    [[nodiscard]] std::filesystem::path page() const;

private:
    using Clock = std::chrono::steady_clock;

    LiveReport(std::filesystem::path results, std::filesystem::path out, std::string study, std::string shell,
               const experiment::Components& components);
    /// Of what has finished by now; `state` is for the page.
    void write(const SweepProgress& progress, const std::string& state, std::chrono::milliseconds patience);

    std::filesystem::path results_;
    std::filesystem::path out_;
    std::string study_;
    std::string shell_;
    const experiment::Components* components_;
    std::size_t written_points_ = 0;             ///< that had finished at the last page
    bool is_tried_ = false;                      ///< a page was written, or left out
    Clock::time_point last_{};                   ///< when that was
    std::chrono::duration<double> interval_{0};  ///< to the next page
    std::optional<Diagnostic> failure_;
};

}  // namespace astrolabe::study
