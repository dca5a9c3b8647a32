/// The studies of the examples in full: what is recorded, and what their READMEs print, is what they give.
#include "markdown_lines.hpp"
#include "recorded_study.hpp"

#include <cstdio>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

/// What a record would be, beside the test program.
void leave(const RecordedStudy& recorded, const Json& rows) {
    std::string text;
    for (const Json& row : rows) {
        text += (text.empty() ? "[\n" : ",\n") + row.dump();
    }
    const std::string name =
        recorded.path().parent_path().filename().string() + "." + recorded.record().filename().string();
    std::ofstream(name) << text << "\n]\n";
    std::printf("what was measured is in %s\n", std::filesystem::absolute(name).c_str());
}

void expect_recorded(const std::string& file, const std::filesystem::path& out) {
    const RecordedStudy recorded(file);
    const ProcessResult result = run_program(
        ASTROLABE_PROGRAM, {"sweep", recorded.path().string(), "-j", "2", "--out", out.string(), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json table = Json::parse(result.out);
    Json rows = Json::array();
    for (const Json& point : table["points"]) {
        rows.push_back(recorded_row(point["parameters"], point));
    }
    leave(recorded, rows);
    ASSERT_EQ(rows.size(), recorded.rows().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i], recorded.rows()[i]) << "in " << file;
    }
}

TEST(StudyExamplesLong, OperaStudyGivesWhatIsRecorded) {
    const TemporaryFolder folder;
    expect_recorded("opera-dlrm/study", folder.path());
}

TEST(StudyExamplesLong, HotiStudyGivesWhatIsRecorded) {
    const TemporaryFolder folder;  // one for all: they have points in common
    for (const char* file : {"study", "copies", "algorithms", "chunks"}) {
        expect_recorded(std::string("hoti20-dlrm/") + file, folder.path());
    }
}

#ifdef ASTROLABE_WITH_NS3
TEST(StudyExamplesLong, HotiBuffersAndWindowsGiveWhatIsRecorded) {
    const TemporaryFolder folder;
    expect_recorded("hoti20-dlrm/tcp", folder.path());
}

TEST(StudyExamplesLong, TransportsGiveWhatIsRecorded) {
    const TemporaryFolder folder;
    expect_recorded("transports/incast-study", folder.path());
    expect_recorded("transports/dlrm-study", folder.path());
}
#endif

/// From issue to finish, in the first iteration.
double latency_us(const experiment::Experiment& loaded, const experiment::Run& run, const std::string& name) {
    for (std::size_t i = 0; i < loaded.program.operations.size(); ++i) {
        const system::OperationId id(i);
        if (loaded.program.operations[id].name == name) {
            const system::OperationRecord& record = run.execution.operations[id];
            return to_nanoseconds(record.last_finish - record.first_issue) / 1000;
        }
    }
    throw std::runtime_error("no operation " + name);
}

TEST(StudyExamplesLong, LatenciesOfTheHotiStudyAreThoseOfItsReadme) {
    const std::vector<std::string> operations{
        "Embedding.forward.all_to_all",       "Embedding.input_gradient.all_to_all",
        "Top_10.weight_gradient.all_reduce",  "Top_5.weight_gradient.all_reduce",
        "Top_1.weight_gradient.all_reduce",   "Top_0.weight_gradient.all_reduce",
        "Bottom_0.weight_gradient.all_reduce"};
    std::vector<std::vector<std::string>> lines;
    for (const std::string& name : operations) {
        lines.push_back({name});
    }
    const experiment::Components components = experiment::builtin_components();
    const auto study = study::load_study(ASTROLABE_SOURCE_DIR "/examples/hoti20-dlrm/study.yaml", {});
    ASSERT_TRUE(study) << render(study.error());
    for (std::size_t point = 0; point < 4; ++point) {  // those that the study names
        const auto loaded = study::experiment_of(*study, study->points[point], components);
        ASSERT_TRUE(loaded) << render(loaded.error());
        const experiment::Run run = experiment::run_experiment(*loaded, {});
        for (std::size_t i = 0; i < operations.size(); ++i) {
            lines[i].push_back(fmt::format("{:.1f}", latency_us(*loaded, run, operations[i])));
        }
    }
    std::vector<std::string> expected;
    for (const std::vector<std::string>& cells : lines) {
        expected.push_back(table_line(cells));
    }
    expect_lines(ASTROLABE_SOURCE_DIR "/examples/hoti20-dlrm/README.md", expected);
}

const std::string kPage = ASTROLABE_SOURCE_DIR "/examples/hoti20-dlrm/README.md";
const std::string kNetworks = ASTROLABE_SOURCE_DIR "/inputs/networks/";
const char* const kFormulaWithPorts = "{kind: congestion_free, sharing: ports}";

struct Collective {
    double us;
    std::uint64_t drops;
    std::uint64_t timeouts;
};

/// One of 8 MiB.
Collective collective(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"collective", "--size", "8MiB", "--json"});
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Json row = Json::parse(result.out)[0];
    return {row["time_s"].get<double>() * 1e6, row["network"]["drops"], row["network"]["timeouts"]};
}

TEST(StudyExamplesLong, CopiesOfOneAllReduceAreThoseOfTheReadme) {
    const std::vector<std::string> trees{"--kind",   "all-reduce", "--algorithm", "double_binary_tree",
                                         "--chunks", "1024",       "--network"};
    const auto time = [](std::vector<std::string> arguments, const std::string& latency) {
        arguments.insert(arguments.end(), {"--injection-latency", latency});
        return collective(std::move(arguments)).us;
    };
    const auto on = [&](const char* network) {
        std::vector<std::string> arguments = trees;
        arguments.push_back(kNetworks + network);
        return arguments;
    };
    const std::vector<std::string> packages{
        "--kind",
        "all-reduce",
        "--algorithm",
        "{algorithm: hierarchical, optimisation: local_bandwidth_aware, dimension_algorithms: [direct, "
        "double_binary_tree]}",
        "--dimensions",
        "16x8",
        "--chunks",
        "128",
        "--network",
        kNetworks + "hier-l16.yaml"};
    std::vector<std::string> lines;
    for (const auto& [latency, us] : {std::pair{"1us", 1}, {"10us", 10}, {"100us", 100}}) {
        const auto longer = [&, copy = latency](const std::vector<std::string>& arguments) {
            return fmt::format("{:.1f} us", time(arguments, copy) - time(arguments, "0"));
        };
        // Flat: 1024/64 waves of 2·log2 128 = 14 messages; hierarchical: 128/64 of 1 + 2·log2 8 + 1 = 8.
        lines.push_back(
            table_line({latency, fmt::format("{} us", 16 * 14 * us), longer(on("flat100g.yaml")),
                        longer(on("flat800g.yaml")), fmt::format("{} us", 2 * 8 * us), longer(packages)}));
    }
    expect_lines(kPage, lines);
}

TEST(StudyExamplesLong, FormulaAndSharedLinksAreThoseOfTheReadme) {
    std::vector<std::string> lines;
    for (const auto& [name, algorithm, chunks] :
         {std::tuple{"128 ranks, direct", "direct", "1"},
          {"128 ranks, double binary trees, 32 chunks", "double_binary_tree", "32"}}) {
        const auto on = [&, how = algorithm, parts = chunks](const char* backend) {
            return collective({"--kind", "all-reduce", "--algorithm", how, "--chunks", parts, "--network",
                               kNetworks + "flat100g.yaml", "--backend", backend})
                .us;
        };
        const double formula = on("congestion_free");
        const double with_ports = on(kFormulaWithPorts);
        const double shared = on("fluid");
        lines.push_back(
            table_line({name, fmt::format("{:#.4g} us", formula), fmt::format("{:.1f} us", with_ports),
                        fmt::format("{:.1f} us", shared), fmt::format("{:#.4g}", shared / formula),
                        fmt::format("{:#.4g}", shared / with_ports)}));
    }
    expect_lines(kPage, lines);
}

#ifdef ASTROLABE_WITH_NS3
TEST(StudyExamplesLong, PacketsBesideTheFormulaAreThoseOfTheReadme) {
    const auto text = [](const Collective& measured) {
        const std::string time = measured.us < 2000 ? fmt::format("{:.1f} us", measured.us)
                                                    : fmt::format("{:#.4g} ms", measured.us / 1000);
        if (measured.drops == 0) {
            return time;
        }
        const std::string drops = fmt::format("{}: {} drops", time, measured.drops);
        return measured.timeouts == 0 ? drops : fmt::format("{}, {} timeouts", drops, measured.timeouts);
    };
    struct Question {
        const char* name;
        const char* kind;
        const char* algorithm;
        const char* chunks;
    };
    std::vector<std::string> lines;
    for (const Question& question :
         {Question{"one flow each", "point-to-point", "direct", "1"},
          {"direct all-reduce", "all-reduce", "direct", "1"},
          {"double binary trees, 32 chunks", "all-reduce", "double_binary_tree", "32"},
          {"31 into one port", "reduce", "direct", "1"}}) {
        const auto on = [&](const char* backend, const char* buffer) {
            return text(collective({"--kind", question.kind, "--algorithm", question.algorithm, "--chunks",
                                    question.chunks, "--backend", backend, "--network",
                                    fmt::format("{{kind: flat, hosts: 32, link: {{rate: 100Gbps, latency: "
                                                "500ns}}, switch_buffer: {}}}",
                                                buffer)}));
        };
        constexpr const char* kTcp = "{kind: tcp, mtu: 9000B}";
        lines.push_back(table_line({question.name, on("congestion_free", "256MB"),
                                    on(kFormulaWithPorts, "256MB"), on(kTcp, "256MB"), on(kTcp, "4MB")}));
    }
    expect_lines(kPage, lines);
}
#endif

}  // namespace
}  // namespace astrolabe::testing
