/// The studies of the examples: every point can be run, small ones give what is recorded, and tables of the
/// READMEs are those of the records. The whole studies are run under --long (study_examples_long_test).
#include "recorded_study.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::testing {
namespace {

const std::filesystem::path kExamples = ASTROLABE_SOURCE_DIR "/examples";

std::vector<std::filesystem::path> studies() {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kExamples)) {
        if (entry.path().extension() == ".yaml" && study::is_study(entry.path())) {
            found.push_back(entry.path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

// What `validate` does, but for what points will cost, which takes a minute where they are large.
TEST(StudyExamples, EveryPointIsAnExperiment) {
    const experiment::Components components = experiment::builtin_components();
    const std::vector<std::filesystem::path> all = studies();
    EXPECT_GE(all.size(), 7u);  // codesign-tables, opera-dlrm, and hoti20-dlrm with its sweeps
    for (const std::filesystem::path& path : all) {
        const Result<study::Study> study = study::load_study(path, {});
        ASSERT_TRUE(study) << render(study.error());
        study::PlanOptions options;
        options.jobs = 2;
        options.stop = [] { return false; };
        options.wants_cost = [](const study::StudyPoint&) { return false; };
        const auto plan = study::plan_study(*study, components, nullptr, options);
        ASSERT_TRUE(plan) << render(plan.error());
        EXPECT_TRUE(plan->crashes.empty()) << path;
        std::printf("%s: %zu points\n", path.c_str(), study->points.size());
    }
}

/// Runs the points that have one of these parameters.
void expect_recorded(const std::string& file, const std::vector<Json>& chosen) {
    const RecordedStudy recorded(file);
    const experiment::Components components = experiment::builtin_components();
    const Result<study::Study> study = study::load_study(recorded.path(), {});
    ASSERT_TRUE(study) << render(study.error());
    ASSERT_EQ(study->points.size(), recorded.rows().size()) << "points of " << file;
    std::size_t count = 0;
    for (std::size_t i = 0; i < study->points.size(); ++i) {
        const study::StudyPoint& point = study->points[i];
        ASSERT_EQ(point.parameters, recorded.rows()[i]["parameters"]);
        if (std::none_of(chosen.begin(), chosen.end(), [&](const Json& parameters) {
                return RecordedStudy::has(point.parameters, parameters);
            })) {
            continue;
        }
        const auto loaded = study::experiment_of(*study, point, components);
        ASSERT_TRUE(loaded) << render(loaded.error());
        const experiment::Run run = experiment::run_experiment(*loaded, {});
        EXPECT_EQ(recorded_row(point.parameters, study::scalar_keys(experiment::summary_json(*loaded, run))),
                  recorded.rows()[i])
            << "in " << file;
        ++count;
    }
    EXPECT_GT(count, 0u) << file;
}

Json point(std::initializer_list<std::pair<const char*, Json>> parameters) {
    Json object = Json::object();
    for (const auto& [name, value] : parameters) {
        object[name] = value;
    }
    return object;
}

TEST(StudyExamples, SmallPointsOfTheOperaStudyGiveWhatIsRecorded) {
    expect_recorded("opera-dlrm/study",
                    {point({{"cluster.ranks", 16}, {"network", "fat_tree"}}),
                     point({{"cluster.ranks", 16}, {"network", "topoopt"}}),
                     point({{"cluster.ranks", 16}, {"network", "opera"}, {"workload.batch", 524288}})});
}

TEST(StudyExamples, PointsOfTheCharacterisationsGiveWhatIsRecorded) {
    expect_recorded("dlrm-characterisation/buckets", {point({{"workload.gradient_buckets.size", "5MiB"}})});
    expect_recorded("dlrm-characterisation/fsdp", {point({{"workload.parameter_prefetch", 1}})});
    expect_recorded("dlrm-characterisation/widths", {point({{"workload.sharding.widest_shard", 64}})});
}

// Every iteration time of the page is that of the record, and all of the record are on the page.
TEST(StudyExamples, ThePageOfTheCharacterisationsHasTheRecordedTimes) {
    const std::string page = read_file(kExamples / "dlrm-characterisation/README.md");
    for (const char* study : {"buckets", "fsdp", "widths"}) {
        const RecordedStudy recorded(std::string("dlrm-characterisation/") + study);
        for (const Json& row : recorded.rows()) {
            const double seconds = row["mean_iteration_time_s"].get<double>();
            EXPECT_NE(page.find(fmt::format("{:.3f}", seconds * 1e3)), std::string::npos) << row.dump();
        }
    }
}

TEST(StudyExamples, FailuresGiveWhatIsRecordedAndTheirPageSays) {
    std::vector<Json> all;
    const std::string page = read_file(kExamples / "failures/README.md");
    const RecordedStudy recorded("failures/study");
    for (const Json& row : recorded.rows()) {
        all.push_back(row["parameters"]);
        const double seconds = row["mean_iteration_time_s"].get<double>();
        EXPECT_NE(page.find(fmt::format("{:.3f} ms", seconds * 1e3)), std::string::npos) << row.dump();
        const auto lost = row["network.drops"].get<int>();
        const std::string cost = fmt::format("| {}, {} |", lost, row["network.timeouts"].get<int>());
        EXPECT_TRUE(lost == 0 || page.find(cost) != std::string::npos) << row.dump();
    }
    expect_recorded("failures/study", all);
}

TEST(StudyExamples, NetworksOfServersGiveWhatIsRecordedAndTheirPageSays) {
    std::vector<Json> all;
    const std::string page = read_file(kExamples / "gpu-servers/README.md");
    const RecordedStudy recorded("gpu-servers/study");
    for (const Json& row : recorded.rows()) {
        all.push_back(row["parameters"]);
        const double seconds = row["mean_iteration_time_s"].get<double>();
        EXPECT_NE(page.find(fmt::format("{:.2f} ms", seconds * 1e3)), std::string::npos) << row.dump();
    }
    expect_recorded("gpu-servers/study", all);
}

// The bound is the payload of the incast over one link, times the wire's share, and 2 us of latency: none is
// faster, and all but HPCC, which leaves 5 % of the link free, and CUBIC, which waits for a timer, take less
// than 0.3 % more.
TEST(StudyExamples, TransportsKeepToTheBoundOfAnIncastAndTheirPageSaysSo) {
    const std::string page = read_file(kExamples / "transports/README.md");
    const std::map<std::string, double> wire{{"fluid", 1},
                                             {"credit", 4122. / 4096},
                                             {"roce-dcqcn-pfc", 4178. / 4096},
                                             {"hpcc", 4220. / 4096},
                                             {"dctcp", 1538. / 1460},
                                             {"ndp", 9038. / 8960},
                                             {"tcp-dctcp", 1502. / 1460},
                                             {"tcp-cubic", 1502. / 1460}};
    const RecordedStudy recorded("transports/incast-study");
    ASSERT_EQ(recorded.rows().size(), wire.size());
    for (const Json& row : recorded.rows()) {
        const auto name = row["parameters"]["backend"].get<std::string>();
        const double seconds = row["mean_iteration_time_s"].get<double>();
        const double bound = 48e6 * 8 / 100e9 * wire.at(name) + 2e-6;
        EXPECT_GE(seconds, bound * (1 - 1e-9)) << name;
        EXPECT_LT(seconds, bound * (name == "hpcc" ? 1.10 : name == "tcp-cubic" ? 60 : 1.003)) << name;
        EXPECT_NE(
            page.find(fmt::format("| `{}` | {:.1f} us | {:.0f} us |", name, seconds * 1e6, bound * 1e6)),
            std::string::npos)
            << name << " " << bound;
    }
    expect_recorded("transports/incast-study",
                    {point({{"backend", "fluid"}}), point({{"backend", "credit"}}),
                     point({{"backend", "roce-dcqcn-pfc"}}), point({{"backend", "hpcc"}}),
                     point({{"backend", "dctcp"}}), point({{"backend", "ndp"}})});
}

// What the page explains: pauses and credits hold back flows that pass by, to the pace of the incast; others
// do not.
TEST(StudyExamples, OnlyFlowControlHoldsBackFlowsThatPassBy) {
    const experiment::Components components = experiment::builtin_components();
    const std::string page = read_file(kExamples / "transports/README.md");
    for (const std::string name : {"credit", "roce-dcqcn-pfc", "hpcc", "dctcp", "ndp"}) {
        const auto loaded = experiment::load_experiment(
            kExamples / "transports/incast.yaml",
            {{"backend=" ASTROLABE_SOURCE_DIR "/inputs/backends/" + name + ".yaml"}, std::nullopt},
            components);
        ASSERT_TRUE(loaded) << render(loaded.error());
        const Json summary = experiment::summary_json(*loaded, experiment::run_experiment(*loaded, {}));
        const double passing = summary["flows"]["classes"][0]["time_s"]["mean"].get<double>();
        const bool is_held_back = name == "credit" || name == "roce-dcqcn-pfc";
        // 1 MB takes 80 us of a link, and 960 us at a twelfth of it.
        EXPECT_GT(passing, is_held_back ? 700e-6 : 80e-6) << name;
        EXPECT_LT(passing, is_held_back ? 1.5e-3 : 120e-6) << name;
        EXPECT_NE(page.find(fmt::format(" us | {:.1f} us | ", passing * 1e6)), std::string::npos) << name;
        const Json& network = summary["network"];
        EXPECT_EQ(network["drops"], 0) << name;
        EXPECT_EQ(network["pauses"] > 0, is_held_back) << name;
        EXPECT_EQ(network["trims"] > 0, name == "ndp") << name;
    }
}

TEST(StudyExamples, TransportsOfADlrmGiveWhatIsRecordedAndTheirPageSays) {
    const std::string page = read_file(kExamples / "transports/README.md");
    const RecordedStudy recorded("transports/dlrm-study");
    const double fluid = recorded.seconds({{"backend", "fluid"}});
    for (const Json& row : recorded.rows()) {
        const double seconds = row["mean_iteration_time_s"].get<double>();
        EXPECT_GE(seconds, row["lower_bound_s"].get<double>());
        EXPECT_NE(page.find(fmt::format("| `{}` | {:.1f} us | {:.3f} |",
                                        row["parameters"]["backend"].get<std::string>(), seconds * 1e6,
                                        seconds / fluid)),
                  std::string::npos)
            << row.dump();
    }
    expect_recorded("transports/dlrm-study",
                    {point({{"backend", "fluid"}}), point({{"backend", "credit"}}),
                     point({{"backend", "roce-dcqcn-pfc"}}), point({{"backend", "hpcc"}}),
                     point({{"backend", "dctcp"}}), point({{"backend", "ndp"}})});
}

TEST(StudyExamples, SmallPointsOfTheHotiStudyGiveWhatIsRecorded) {
    expect_recorded("hoti20-dlrm/study", {point({{"network", "Hier-8"}})});
    expect_recorded("hoti20-dlrm/copies",
                    {point({{"network", "Flat800G"}, {"cluster.injection_latency", "100us"}})});
    expect_recorded("hoti20-dlrm/chunks", {point({{"cluster.collectives.all_reduce.chunks", 32}})});
    expect_recorded("hoti20-dlrm/algorithms",
                    {point({{"network", "Flat100G"}, {"cluster.collectives.all_reduce", "A2A"}}),
                     point({{"network", "Flat800G"}, {"cluster.collectives.all_reduce", "A2A"}})});
}

}  // namespace
}  // namespace astrolabe::testing
