/// What a run gave, as paths of a study name it.
///
///     a.b.0.c                 of the JSON that the command printed: keys, and places in lists; a key may
///                             have dots ("network.message_time_s.p99.9")
///     messages.first_s        least time of a message from sending to delivery, of flows.csv;
///     messages.mean_s         their mean;
///     messages.p99.9_s        the least time that 99.9 % of the messages do not exceed;
///     messages.last_s         the largest
///     throughput.COLUMN       of throughput.csv, over the intervals within `from` … `to` (Intervals)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/study/reproduce/published_study.hpp>

namespace astrolabe::study {

/// Whether it is a time of messages, or of what flows in intervals.
[[nodiscard]] bool is_of_messages(std::string_view quantity);
[[nodiscard]] bool is_of_intervals(std::string_view quantity);

/// What is wrong with a quantity, whatever the run; empty: nothing.
[[nodiscard]] std::string quantity_error(std::string_view quantity);

class RunOutput {
public:
    /// `folder` holds the tables of the run, where values need them.
    RunOutput(nlohmann::json printed, std::filesystem::path folder)
        : printed_(std::move(printed)),
          folder_(std::move(folder)) {}

    /// A number, or why there is none.
    [[nodiscard]] std::variant<double, std::string> measure(const std::string& quantity,
                                                            const std::optional<Intervals>& intervals);

private:
    [[nodiscard]] std::variant<double, std::string> of_messages(std::string_view which);
    [[nodiscard]] std::variant<double, std::string> of_intervals(const std::string& column,
                                                                 const Intervals& intervals) const;

    nlohmann::json printed_;
    std::filesystem::path folder_;
    std::optional<std::vector<double>> times_;  ///< of messages, ascending
};

}  // namespace astrolabe::study
