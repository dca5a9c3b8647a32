#include "rank_files.hpp"

#include "../rank_graphs/trace_file.hpp"
#include "../rank_graphs/trace_formats.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace astrolabe::workload::pytorch {
namespace {

constexpr std::string_view kRankMark = "{rank}";

std::optional<std::uint32_t> number_at(std::string_view text) {
    std::uint32_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    constexpr std::uint32_t kMostRank = 1U << 24U;
    return failure == std::errc() && number < kMostRank ? std::optional(number) : std::nullopt;
}

std::string_view without_ending(std::string_view name) {
    for (const std::string_view ending : {".gz", ".json"}) {
        if (name.ends_with(ending)) {
            name.remove_suffix(ending.size());
        }
    }
    return name;
}

std::optional<std::uint32_t> rank_in(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    if (const std::size_t mark = name.find("rank"); mark != std::string::npos) {
        std::size_t at = mark + 4;
        at += at < name.size() && (name[at] == '-' || name[at] == '_' || name[at] == '.') ? 1 : 0;
        if (const auto number = number_at(std::string_view(name).substr(at))) {
            return number;
        }
    }
    const std::string_view plain = without_ending(name);
    std::size_t digits = plain.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(plain[digits - 1])) != 0) {
        --digits;
    }
    // The last part of a version, as in et-1.0.2, is no rank.
    const std::string_view before = plain.substr(0, digits);
    const bool is_version = before.size() > 1 && before.back() == '.' &&
                            std::isdigit(static_cast<unsigned char>(before[before.size() - 2])) != 0;
    return is_version ? std::nullopt : number_at(plain.substr(digits));
}

Diagnostic files_error(const std::string& path, std::string message, std::string hint) {
    return trace_error("pytorch.files", path, std::move(message), std::move(hint));
}

Result<std::vector<RankFile>> files_of_pattern(const std::filesystem::path& pattern) {
    const std::string name = pattern.filename().string();
    const std::size_t mark = name.find(kRankMark);
    if (mark == std::string::npos) {
        return files_error(pattern.string(), "{rank} stands in the name of a folder",
                           "files of all ranks are in one folder");
    }
    const std::string_view before = std::string_view(name).substr(0, mark);
    const std::string_view after = std::string_view(name).substr(mark + kRankMark.size());
    std::vector<RankFile> files;
    const std::filesystem::path folder = pattern.has_parent_path() ? pattern.parent_path() : ".";
    for (const std::filesystem::path& file : files_ending(folder, after)) {
        const std::string found = file.filename().string();
        if (found.size() <= before.size() + after.size() || !found.starts_with(before)) {
            continue;
        }
        const std::string digits = found.substr(before.size(), found.size() - before.size() - after.size());
        const bool is_number = std::all_of(digits.begin(), digits.end(), [](char c) {
            return std::isdigit(static_cast<unsigned char>(c)) != 0;
        });
        if (const auto rank = is_number ? number_at(digits) : std::nullopt) {
            files.push_back({file, rank});
        }
    }
    return files;
}

}  // namespace

Result<std::vector<RankFile>> rank_files(const std::vector<std::string>& paths,
                                         bool (*recognises)(const std::filesystem::path&)) {
    std::vector<RankFile> files;
    std::error_code failure;
    const bool is_one = paths.size() == 1;
    if (is_one && paths.front().find(kRankMark) != std::string::npos) {
        Result<std::vector<RankFile>> found = files_of_pattern(paths.front());
        if (!found) {
            return found.error();
        }
        files = *std::move(found);
    } else if (is_one && std::filesystem::is_directory(paths.front(), failure)) {
        for (const std::filesystem::path& file : files_ending(paths.front(), "")) {
            if (recognises(file)) {
                files.push_back({file, rank_in(file)});
            }
        }
    } else {
        std::set<std::uint32_t> seen;
        bool are_named = true;
        for (const std::string& path : paths) {
            files.push_back({path, rank_in(path)});
            are_named = are_named && files.back().rank && seen.insert(*files.back().rank).second;
        }
        for (std::size_t i = 0; i < files.size() && !are_named; ++i) {
            files[i].rank = files.size() == 1 ? std::nullopt : std::optional(static_cast<std::uint32_t>(i));
        }
    }
    if (files.empty()) {
        return files_error(
            paths.empty() ? "" : paths.front(), "no such traces are there",
            "a folder with a trace for each rank, a pattern as 'traces/et.{rank}.json.gz', or a "
            "list of files");
    }
    std::sort(files.begin(), files.end(),
              [](const RankFile& one, const RankFile& other) { return one.rank < other.rank; });
    for (std::size_t i = 1; i < files.size(); ++i) {
        if (!files[i].rank || files[i].rank == files[i - 1].rank) {
            return files_error(files[i].path.string(),
                               files[i].rank
                                   ? fmt::format("'{}' is of rank {} too",
                                                 files[i - 1].path.filename().string(), *files[i].rank)
                                   : std::string("its name does not say its rank"),
                               "name files as et.0.json, et.1.json, …, or list them by rank");
        }
    }
    return files;
}

}  // namespace astrolabe::workload::pytorch
