/// What links of the examples carry over time, on the engines that run them: shares never exceed 1, and rows
/// sum to what the summary and links.csv say. That no single link exceeds its rate is asserted by the run
/// itself, which records a timeline beside.
#pragma once

#include "process.hpp"
#include "trace.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    for (const char c : line) {
        if (c == ',') {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    return fields;
}

/// Of a table without quotes.
inline std::vector<Row> rows_of(const std::filesystem::path& file) {
    std::istringstream text(read_file(file));
    std::string line;
    std::getline(text, line);
    const std::vector<std::string> names = fields_of(line);
    std::vector<Row> rows;
    while (std::getline(text, line)) {
        const std::vector<std::string> fields = fields_of(line);
        EXPECT_EQ(fields.size(), names.size()) << line;
        Row& row = rows.emplace_back();
        for (std::size_t i = 0; i < names.size(); ++i) {
            row[names[i]] = fields.at(i);
        }
    }
    return rows;
}

/// Whole numbers of less than 2^53.
inline double sum_of(const std::vector<Row>& rows, const std::string& column) {
    double sum = 0;
    for (const Row& row : rows) {
        sum += row.at(column).empty() ? 0.0 : std::stod(row.at(column));
    }
    return sum;
}

/// Of the links whose source's name begins so.
inline double carried_from(const std::vector<Row>& links, const std::string& source) {
    double sum = 0;
    for (const Row& link : links) {
        sum += link.at("source").rfind(source, 0) == 0 ? std::stod(link.at("bytes")) : 0.0;
    }
    return sum;
}

inline double greatest_share(const std::vector<Row>& rows) {
    double greatest = 0;
    for (const Row& row : rows) {
        const double share = row.at("share").empty() ? 0.0 : std::stod(row.at("share"));
        EXPECT_GE(share, 0.0);
        greatest = std::max(greatest, share);
    }
    return greatest;
}

/// An example, of which `backend` runs, recorded in intervals of `interval`.
inline void expect_true_record(const std::string& example, const std::string& backend,
                               const std::string& interval, const std::string& timeline_size = "3MB") {
    SCOPED_TRACE(example + " on " + backend);
    const TemporaryFolder folder;
    const ProcessResult result = run_program(
        ASTROLABE_PROGRAM, {"run", ASTROLABE_SOURCE_DIR "/examples/" + example, "--set",
                            "backend={kind: " + backend + "}", "--throughput", interval, "--timeline",
                            "--timeline-size", timeline_size, "--out", folder.path().string(), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json summary = nlohmann::json::parse(result.out);
    const std::vector<Row> throughput = rows_of(folder.path() / "throughput.csv");
    const auto delivered = summary["network"]["bytes_delivered"].get<double>();
    EXPECT_EQ(sum_of(throughput, "delivered_bytes"), delivered);
    EXPECT_EQ(sum_of(throughput, "completed_bytes"), delivered);
    const Trace trace = TraceReader(read_gzipped(folder.path() / "timeline.json.gz")).read();
    if (backend == "congestion_free") {
        EXPECT_EQ(sum_of(throughput, "wire_bytes"), 0) << "it has no record of links";
        EXPECT_FALSE(std::filesystem::exists(folder.path() / "carried.csv"));
        EXPECT_TRUE(trace.counters.empty());
        return;
    }
    const std::vector<Row> classes = rows_of(folder.path() / "carried.csv");
    EXPECT_LE(greatest_share(throughput), 1.0);
    EXPECT_LE(greatest_share(classes), 1.0);
    for (const auto& [place, steps] : trace.counters) {
        for (const auto& [at, value] : steps) {
            if (place.second.ends_with(" utilization")) {
                EXPECT_GE(value, 0.0) << place.second;
                EXPECT_LE(value, 1.0) << place.second;
            }
        }
    }
    const std::vector<Row> links = rows_of(folder.path() / "links.csv");
    const char* const counted = backend == "fluid" ? "payload_bytes" : "wire_bytes";
    // links.csv rounds what is sprayed to a byte for each link.
    const double of_all = carried_from(links, "");
    EXPECT_NEAR(sum_of(classes, counted), of_all, 0.5 * static_cast<double>(links.size()));
    EXPECT_NEAR(sum_of(throughput, counted), carried_from(links, "host "),
                0.5 * static_cast<double>(links.size()));
    EXPECT_GE(sum_of(classes, "wire_bytes"), sum_of(classes, "payload_bytes"));
    std::printf("%s on %s: at most %.6g of the links out of hosts in %s\n", example.c_str(), backend.c_str(),
                greatest_share(throughput), interval.c_str());
}

}  // namespace astrolabe::testing
