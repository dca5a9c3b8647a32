/// Tables in the READMEs of the studies are those of their records.
#include "markdown_lines.hpp"
#include "recorded_study.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

const std::filesystem::path kHotiPage = ASTROLABE_SOURCE_DIR "/examples/hoti20-dlrm/README.md";
const std::filesystem::path kOperaPage = ASTROLABE_SOURCE_DIR "/examples/opera-dlrm/README.md";

/// The distinct combinations of what is varied beside the systems, in the order of the study.
std::vector<Json> settings_of(const RecordedStudy& study) {
    std::vector<Json> settings;
    for (const Json& row : study.rows()) {
        Json parameters = row["parameters"];
        parameters.erase("cluster");
        parameters.erase("network");
        if (std::find(settings.begin(), settings.end(), parameters) == settings.end()) {
            settings.push_back(parameters);
        }
    }
    return settings;
}

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A line for every setting: what it is, then the four systems' mean iteration in ms, and in brackets what
/// was dropped.
std::vector<std::string> lines_of(const RecordedStudy& study) {
    std::vector<std::string> lines;
    for (const Json& setting : settings_of(study)) {
        std::vector<std::string> cells;
        for (const auto& [name, value] : setting.items()) {
            cells.push_back(text_of(value));
        }
        for (const char* system : {"Flat100G", "Flat800G", "Hier", "HierOpt"}) {
            Json parameters = setting;
            parameters["network"] = system;
            const Json& row = study.row(parameters);
            const std::string time = milliseconds(row["mean_iteration_time_s"].get<double>());
            const auto drops = row["network.drops"].get<std::uint64_t>();
            cells.push_back(drops == 0 ? time : fmt::format("{} ({})", time, drops));
        }
        lines.push_back(table_line(cells));
    }
    return lines;
}

TEST(StudyReadmes, SystemsOfTheHotiStudy) {
    struct System {
        const char* name;
        /// Both all-to-alls and all-reduces on the busiest port (docs/theory/hoti20-study.md, "Lower
        /// bounds").
        double derived_us;
    };
    const RecordedStudy study("hoti20-dlrm/study");
    std::vector<std::string> lines;
    for (const System& system : {System{"Flat100G", 2 * 332.92 + 17'050.50},
                                 {"Flat800G", 2 * 41.62 + 2'131.31},
                                 {"Hier", 2 * 293.60 + 17'050.50},
                                 {"HierOpt", 2 * 293.60 + 1'065.66},
                                 {"Hier-8", 2 * 314.57 + 17'050.50},
                                 {"HierOpt-8", 2 * 314.57 + 2'131.31}}) {
        const Json parameters{{"network", system.name}};
        const double iteration = study.seconds(parameters);
        const double compute = study.seconds(parameters, "compute_s") / 2;  // two iterations
        const double drain = study.seconds(parameters, "drain_s") / 2;
        const double links = study.seconds(parameters, "bounds.links_s");
        lines.push_back(table_line({system.name, milliseconds(iteration), milliseconds(compute),
                                    milliseconds(iteration - compute - drain), milliseconds(drain),
                                    milliseconds(links), milliseconds(system.derived_us * 1e-6)}));
        // Bytes over rate; ours adds a latency or two.
        EXPECT_NEAR(links, system.derived_us * 1e-6, 2e-6) << system.name;
    }
    expect_lines(kHotiPage, lines);
}

TEST(StudyReadmes, SweepsOfTheHotiStudy) {
    for (const char* name : {"copies", "chunks", "algorithms", "tcp"}) {
        expect_lines(kHotiPage, lines_of(RecordedStudy(std::string("hoti20-dlrm/") + name)));
    }
}

// docs/theory/hoti20-study.md, "Exposed communication": Flat100G and Hier slowest, Flat800G and HierOpt
// fastest, by a factor of a few. "Injection latency": flat systems lose more by slow copies; time grows with
// them, but for 2 % that are noise.
TEST(StudyReadmes, TrendsOfTheHotiStudyHoldAtFullSize) {
    const RecordedStudy copies("hoti20-dlrm/copies");
    const auto time = [&](const char* system, const char* copy) {
        return copies.seconds({{"network", system}, {"cluster.injection_latency", copy}});
    };
    for (const char* slow : {"Flat100G", "Hier"}) {
        for (const char* fast : {"Flat800G", "HierOpt"}) {
            EXPECT_GT(time(slow, "10ns"), 3 * time(fast, "10ns")) << slow << " " << fast;
        }
    }
    for (const char* system : {"Flat100G", "Flat800G", "Hier", "HierOpt"}) {
        EXPECT_GE(time(system, "1us"), 0.98 * time(system, "10ns"));
        EXPECT_GE(time(system, "10us"), 0.98 * time(system, "1us"));
        EXPECT_GE(time(system, "100us"), 0.98 * time(system, "10us"));
    }
    for (const char* flat : {"Flat100G", "Flat800G"}) {
        for (const char* packages : {"Hier", "HierOpt"}) {
            EXPECT_GT(time(flat, "100us") - time(flat, "10ns"),
                      10 * (time(packages, "100us") - time(packages, "10ns")));
        }
    }
}

// "Switch buffer": without drops the buffer does not matter, and 64 MB drop no less than 1 GB.
TEST(StudyReadmes, BuffersOfTheHotiStudyMatterWhereTheyOverflow) {
    const RecordedStudy study("hoti20-dlrm/tcp");
    const Json& largest = study.rows().back()["parameters"]["network.switch_buffer"];
    ASSERT_EQ(largest, "256MB");
    int lossless = 0;
    for (const Json& row : study.rows()) {
        Json parameters = row["parameters"];
        parameters["network.switch_buffer"] = largest;
        const Json& ample = study.row(parameters);
        EXPECT_EQ(ample["network.drops"], 0);
        if (row["network.drops"] == 0) {
            EXPECT_EQ(row["fingerprint"], ample["fingerprint"]) << row["parameters"];
            ++lossless;
        } else {
            EXPECT_GT(row["mean_iteration_time_s"], ample["mean_iteration_time_s"]) << row["parameters"];
        }
    }
    EXPECT_LT(lossless, static_cast<int>(study.rows().size()));
}

struct Fabric {
    const char* label;  ///< as the study's figures name it
    const char* network;
    const char* all_reduce;
};
const std::vector<Fabric> kFabrics{{"FatTree-Ring", "fat_tree", "ring"},
                                   {"FatTree-DPS", "fat_tree", "dps"},
                                   {"TopoOpt-Ring", "topoopt", "ring"},
                                   {"Opera-DPS", "opera", "dps"}};

Json opera_point(const std::string& model, std::int64_t batch, int nodes, const Fabric& fabric) {
    return {{"workload.model", model},
            {"workload.batch", batch},
            {"cluster.ranks", nodes},
            {"network", fabric.network},
            {"cluster.collectives.all_reduce", fabric.all_reduce}};
}

constexpr std::int64_t kBatch = 524'288;

/// As recorded, or a dash for what the study leaves out.
std::string seconds_or_dash(const RecordedStudy& study, const Json& parameters) {
    const bool is_there = std::any_of(study.rows().begin(), study.rows().end(), [&](const Json& row) {
        return RecordedStudy::has(row["parameters"], parameters);
    });
    return is_there ? fmt::format("{:.3f}", study.seconds(parameters)) : "–";
}

TEST(StudyReadmes, OperaBatchesTablesAndDimensions) {
    const RecordedStudy study("opera-dlrm/study");
    std::vector<std::string> lines;
    for (const char* model : {"A", "I"}) {
        for (const int nodes : {16, 128, 1024}) {
            for (const Fabric& fabric : kFabrics) {
                std::vector<std::string> cells{model, std::to_string(nodes), fabric.label};
                for (const std::int64_t factor : {1, 2, 4}) {
                    cells.push_back(
                        seconds_or_dash(study, opera_point(model, factor * kBatch, nodes, fabric)));
                }
                if (std::count(cells.begin(), cells.end(), "–") < 3) {
                    lines.push_back(table_line(cells));
                }
            }
        }
    }
    for (const int nodes : {16, 128}) {
        for (std::size_t i = 1; i < kFabrics.size(); ++i) {
            std::vector<std::string> cells{std::to_string(nodes), kFabrics[i].label};
            for (const char* model : {"A-250", "A-500", "A", "A-d40", "A-d93"}) {
                cells.push_back(
                    fmt::format("{:.3f}", study.seconds(opera_point(model, kBatch, nodes, kFabrics[i]))));
            }
            lines.push_back(table_line(cells));
        }
    }
    expect_lines(kOperaPage, lines);
}

}  // namespace
}  // namespace astrolabe::testing
