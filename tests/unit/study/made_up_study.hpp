/// A store of points whose results are made up, and the figures of its report, for tests of them.
#pragma once

#include "process.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<Json>>;

inline constexpr const char* kFlat =
    "network: {kind: flat, hosts: 4, link: {rate: 100Gbps, latency: 500ns}, switch_buffer: 1GB}\n";
inline constexpr const char* kTorus = "network: {kind: torus, sizes: [4], link: {rate: 25Gbps}}\n";

/// Of a run of two iterations that takes `seconds` an iteration: a quarter computes, half of it waits, and
/// the rest drains.
inline Json summary_of(double seconds) {
    return {{"schema", "astrolabe/1"},
            {"name", "s"},
            {"version", "0"},
            {"fingerprint", "f"},
            {"ranks", 4},
            {"hosts", 4},
            {"iteration_time_s", {seconds, seconds}},
            {"mean_iteration_time_s", seconds},
            {"total_time_s", 2 * seconds},
            {"lower_bound_s", seconds / 4},
            {"compute_s", seconds / 2},
            {"exposed_s", {{"a.all_reduce", seconds / 2}, {"b.all_to_all", seconds / 2}}},
            {"drain_s", seconds / 2},
            {"traffic_bytes", {{"all_reduce", 600}, {"all_to_all", 200}, {"all_gather", 0}}},
            {"all_reduce_share", 0.75},
            {"network", {{"mean_link_utilization", 0.25}, {"max_link_utilization", 0.5}}},
            {"collectives",
             {{{"kind", "all_reduce"}, {"count", 20}, {"bytes", 600}, {"exposed_s", seconds / 2}},
              {{"kind", "all_to_all"}, {"count", 4}, {"bytes", 200}, {"exposed_s", seconds / 2}}}}};
}

/// A store of points that are made of parameters and seconds; no seconds: the point failed.
class StudyFigures : public ::testing::Test {
protected:
    void add(Json parameters, std::optional<double> seconds, const std::string& network = kFlat) {
        const std::string key = fmt::format("k{}", study_.points.size() + 1);
        study_.points.push_back({study_.points.size() + 1, std::move(parameters), key, {}, {}});
        StoredResult result;
        result.key = key;
        result.status = seconds ? PointStatus::kDone : PointStatus::kFailed;
        result.error = seconds ? "" : "no route";
        if (seconds) {
            result.summary = summary_of(*seconds);
            result.fingerprint = "f" + key;
            result.resolved = network;
        }
        results_.push_back(std::move(result));
    }

    void clear() {
        study_.points.clear();
        results_.clear();
        folder_.emplace();
    }

    [[nodiscard]] Result<StudyReport> report(std::vector<std::string> figures, ReportOptions options = {}) {
        study_.report = std::move(figures);
        Result<ResultStore> store = ResultStore::open(folder_->path());
        EXPECT_TRUE(store);
        EXPECT_FALSE(store->put(study_));
        for (const StoredResult& result : results_) {
            EXPECT_FALSE(store->put(result));
        }
        return read_report(folder_->path(), options, components_);
    }

    /// The one figure that was asked for.
    [[nodiscard]] Figure figure(const std::string& name, ReportOptions options = {}) {
        const Result<StudyReport> drawn = report({name}, std::move(options));
        EXPECT_TRUE(drawn);
        EXPECT_EQ(drawn->figures.size(), 1U) << (drawn->omitted.empty() ? "" : drawn->omitted[0].second);
        return drawn->figures.empty() ? Figure{} : drawn->figures[0];
    }

    /// Two networks at two scales: 4, 2 s and 8, 1 s.
    void add_grid() {
        add({{"network", "flat"}, {"cluster.ranks", 16}}, 8);
        add({{"network", "flat"}, {"cluster.ranks", 4}}, 4);
        add({{"network", "torus"}, {"cluster.ranks", 16}}, 1, kTorus);
        add({{"network", "torus"}, {"cluster.ranks", 4}}, 2, kTorus);
    }

    std::optional<testing::TemporaryFolder> folder_{std::in_place};
    StudyRecord study_{"s", {}, {}};
    std::vector<StoredResult> results_;
    experiment::Components components_ = experiment::builtin_components();
};

}  // namespace astrolabe::study
