/// The lists of flows that were published with Opera's simulator, what it made of them, and the same lists
/// here.
#pragma once

#include "process.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {

inline std::filesystem::path opera_data() {
    return std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/networks/opera";
}

inline std::string unpacked(const std::filesystem::path& path) {
    std::string text;
    gzFile file = gzopen(path.c_str(), "rb");
    if (file != nullptr) {
        std::array<char, 65536> part{};
        for (int count = 0; (count = gzread(file, part.data(), part.size())) > 0;) {
            text.append(part.data(), static_cast<std::size_t>(count));
        }
        gzclose(file);
    }
    return text;
}

/// Times in seconds, ascending, by size: of lines "FCT source destination bytes milliseconds start".
inline std::map<std::int64_t, std::vector<double>> published_times(const std::string& text) {
    std::map<std::int64_t, std::vector<double>> times;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string what;
        std::int64_t source = 0;
        std::int64_t destination = 0;
        std::int64_t bytes = 0;
        double milliseconds = 0;
        if (words >> what >> source >> destination >> bytes >> milliseconds && what == "FCT") {
            times[bytes].push_back(milliseconds / 1e3);
        }
    }
    for (auto& [bytes, all] : times) {
        std::ranges::sort(all);
    }
    return times;
}

inline double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The lines of a list whose flows are smaller.
inline std::string flows_below(const std::string& list, std::int64_t bytes) {
    std::string kept;
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::int64_t number = 0;
        if (words >> number >> number >> number && number < bytes) {
            kept += line + "\n";
        }
    }
    return kept;
}

/// A list on the paper's network, with a size class for each of `sizes`; `more` are overrides.
inline experiment::Run run_list(const std::string& list, const std::vector<std::int64_t>& sizes,
                                std::vector<std::string> more) {
    const TemporaryFolder folder;
    static_cast<void>(folder.write("list.htsim", list));
    std::string limits;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        limits += fmt::format("{}{}B", i == 0 ? "" : ", ", sizes[i]);
    }
    const auto file = folder.write(
        "list.yaml",
        fmt::format(
            "schema: astrolabe/1\n"
            "workload: {{kind: flows, file: list.htsim, size_classes: [{}]}}\n"
            "cluster: {{ranks: 648}}\n"
            "network: {{kind: opera, racks: 108, radix: 12, link: {{rate: 10Gbps}}, draws: 10, eps: 87.3us, "
            "del: 1.7us, low_latency: {{cutoff: 15MB}}}}\n"
            "backend: {{kind: fluid}}\n",
            limits));
    static const experiment::Components kComponents = experiment::builtin_components();
    const auto loaded = experiment::load_experiment(file, {std::move(more), std::nullopt}, kComponents);
    EXPECT_TRUE(loaded) << render(loaded.error());
    return loaded ? experiment::run_experiment(*loaded, {}) : experiment::Run{};
}

}  // namespace astrolabe::testing
