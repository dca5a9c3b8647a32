#include "slurm_records.hpp"

#include "../process/text_file.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kShares = "shares.json";
constexpr const char* kJob = "job.json";
constexpr int kRecordLayout = 1;

std::filesystem::path folder_of_all(const std::filesystem::path& folder) {
    return folder / kSlurmFolder;
}

Diagnostic record_error(const std::filesystem::path& file, const std::string& reason) {
    return {"slurm.record",
            {},
            fmt::format("'{}' cannot be used: {}", file.string(), reason),
            fmt::format("once its array has ended, delete '{}': what is missing is submitted again then",
                        file.parent_path().string()),
            {}};
}

std::vector<std::size_t> submissions(const std::filesystem::path& folder) {
    std::vector<std::size_t> numbers;
    std::error_code failure;
    std::filesystem::directory_iterator entries(folder_of_all(folder), failure);
    while (!failure && entries != std::filesystem::directory_iterator()) {
        const std::string name = entries->path().filename().string();
        std::size_t number = 0;
        const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (wrong == std::errc() && end == name.data() + name.size()) {
            numbers.push_back(number);
        }
        entries.increment(failure);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

bool was_made(const std::filesystem::path& folder, std::size_t number) {
    std::error_code failure;
    return std::filesystem::exists(submission_folder(folder, number) / kJob, failure);
}

Json json_of(const SharePoint& point) {
    const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    return {{"point", point.number},
            {"key", point.resolution.key},
            {"wall_s", or_null(point.resolution.predicted_wall_seconds)},
            {"memory_bytes", or_null(point.resolution.predicted_memory_bytes)}};
}

std::optional<double> number_in(const Json& json, const char* key) {
    return json.at(key).is_null() ? std::nullopt : std::optional(json.at(key).get<double>());
}

/// Throws what nlohmann::json and whole_in do.
void read_shares(const Json& json, SlurmArray& array) {
    for (const Json& task : json.at("tasks")) {
        std::vector<SharePoint>& share = array.shares.emplace_back();
        for (const Json& point : task) {
            share.push_back(
                {whole_in<std::size_t>(point.at("point")),
                 {point.at("key"), number_in(point, "wall_s"), number_in(point, "memory_bytes")}});
        }
    }
}

/// Calls `use` with the content of a file; an error says what is wrong with it.
template <class Use>
std::optional<Diagnostic> read_json(const std::filesystem::path& file, const Use& use) {
    const std::optional<std::string> text = text_of_file(file);
    if (!text) {
        return record_error(file, "it is not there, or " + why_not_read(file));
    }
    try {
        if (place_of_deep_nesting(*text)) {
            return record_error(file, "its lists are too many inside each other");
        }
        const Json json = Json::parse(*text);
        if (const int layout = whole_in<int>(json.at("layout")); layout != kRecordLayout) {
            return record_error(
                file, fmt::format("it is of layout {}, this program has {}", layout, kRecordLayout));
        }
        use(json);
    } catch (const nlohmann::json::exception& wrong) {
        return record_error(file, wrong.what());
    } catch (const std::out_of_range& wrong) {
        return record_error(file, wrong.what());
    }
    return std::nullopt;
}

std::optional<Diagnostic> write_json(const std::filesystem::path& folder, const char* name,
                                     const Json& json) {
    const Result<experiment::OutputFolder> files = experiment::OutputFolder::open(folder);
    if (!files) {
        return files.error().front();
    }
    return files->write(name, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

std::filesystem::path submission_folder(const std::filesystem::path& folder, std::size_t number) {
    return folder_of_all(folder) / std::to_string(number);
}

std::size_t next_submission(const std::filesystem::path& folder) {
    const std::vector<std::size_t> numbers = submissions(folder);
    for (const std::size_t number : numbers) {
        if (!was_made(folder, number)) {
            std::error_code ignored;
            std::filesystem::remove(submission_folder(folder, number) / kShares, ignored);
        }
    }
    return numbers.empty() ? 1 : numbers.back() + 1;
}

std::optional<Diagnostic> write_shares(const std::filesystem::path& folder, const SlurmArray& array) {
    Json tasks = Json::array();
    for (const std::vector<SharePoint>& share : array.shares) {
        Json points = Json::array();
        for (const SharePoint& point : share) {
            points.push_back(json_of(point));
        }
        tasks.push_back(std::move(points));
    }
    return write_json(submission_folder(folder, array.number), kShares,
                      {{"layout", kRecordLayout}, {"tasks", std::move(tasks)}});
}

std::optional<Diagnostic> write_job(const std::filesystem::path& folder, const SlurmArray& array) {
    return write_json(submission_folder(folder, array.number), kJob,
                      {{"layout", kRecordLayout}, {"job", array.job}});
}

Result<SlurmArray> read_submission(const std::filesystem::path& folder, std::size_t number) {
    SlurmArray array;
    array.number = number;
    const std::filesystem::path files = submission_folder(folder, number);
    std::optional<Diagnostic> error =
        read_json(files / kShares, [&](const Json& json) { read_shares(json, array); });
    if (!error && was_made(folder, number)) {
        error = read_json(files / kJob, [&](const Json& json) { array.job = json.at("job"); });
    }
    return error ? Result<SlurmArray>(*std::move(error)) : Result<SlurmArray>(std::move(array));
}

Result<std::vector<SlurmArray>> slurm_arrays(const std::filesystem::path& folder) {
    std::vector<SlurmArray> arrays;
    Diagnostics errors;
    for (const std::size_t number : submissions(folder)) {
        if (!was_made(folder, number)) {
            continue;
        }
        Result<SlurmArray> array = read_submission(folder, number);
        if (array) {
            arrays.push_back(*std::move(array));
        } else {
            errors.push_back(array.error().front());
        }
    }
    return errors.empty() ? Result<std::vector<SlurmArray>>(std::move(arrays))
                          : Result<std::vector<SlurmArray>>(std::move(errors));
}

}  // namespace astrolabe::study
