/// Every example runs as its README says and gives the recorded result. Runs on every engine are exact, so
/// the records hold on any machine and in any build type.
#include "process.hpp"
#include "sanitizers.hpp"

#include <cstdio>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

/// Within twice and half of what a run took. A run that met a tie simulated all ranks after all.
void expect_predicted(const ProcessResult& validated, const Json& summary) {
    ASSERT_EQ(validated.exit_code, 0) << validated.err;
    const Json prediction = Json::parse(validated.out)["prediction"];
    const Json& engine = summary["engine"];
    const double simulated =
        engine["simulated_ranks"].get<double>() / prediction["simulated_ranks"].get<double>();
    const double events = engine["events"].get<double>() / (prediction["events"].get<double>() * simulated);
    EXPECT_GT(events, 0.5) << summary["name"];
    EXPECT_LT(events, 2.0) << summary["name"];
    const double memory = engine["peak_rss_bytes"].get<double>() / prediction["peak_rss_bytes"].get<double>();
    if (!kHasAddressSanitizer) {
        EXPECT_GT(memory, 0.5) << summary["name"];
        EXPECT_LT(memory, 2.0) << summary["name"];
    }
    EXPECT_GT(prediction["wall_s"].get<double>(), 0) << summary["name"];
    std::printf("%s on %s: events %.2f, memory %.2f of the prediction\n",
                summary["name"].get<std::string>().c_str(),
                summary["backend_kind"].get<std::string>().c_str(), events, memory);
}

/// Record `name` of an example: `<file>.<backend>.json` in its folder expected/.
void expect_recorded(const std::string& example, const std::string& file, const std::string& backend) {
    const std::string folder = ASTROLABE_SOURCE_DIR "/examples/" + example + "/";
    std::vector<std::string> arguments{"run", folder + file + ".yaml", "--json", "--set",
                                       "backend={kind: " + backend + "}"};
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    Json summary = Json::parse(result.out);
    arguments.front() = "validate";
    expect_predicted(run_program(ASTROLABE_PROGRAM, arguments), summary);
    summary.erase("engine");
    const std::filesystem::path record = folder + "expected/" + file + "." + backend + ".json";
    const Json expected = Json::parse(read_file(record), nullptr, false);
    EXPECT_EQ(summary, expected) << "got, for " << record << ":\n" << summary.dump(2);
}

TEST(Examples, QuickstartOnFluid) {
    expect_recorded("quickstart", "experiment", "fluid");
}
TEST(Examples, DlrmFlat16OnFluid) {
    expect_recorded("dlrm-flat", "experiment-16", "fluid");
}
TEST(Examples, Hoti20OnFluid) {
    for (const char* system : {"flat100g", "flat800g", "hier", "hieropt"}) {
        expect_recorded("hoti20-dlrm", std::string("quarter/") + system, "fluid");
    }
}

TEST(Examples, DlrmModelAOnFluid) {
    expect_recorded("dlrm-model-a", "experiment", "fluid");
}
TEST(Examples, DlrmTorchrecOnFluid) {
    expect_recorded("dlrm-torchrec", "experiment", "fluid");
}
TEST(Examples, DlrmOperaStudyOnFluid) {
    expect_recorded("opera-dlrm", "experiment-16", "fluid");
    expect_recorded("opera-dlrm", "experiment-1024", "fluid");
    expect_recorded("opera-dlrm", "opera-16", "fluid");
}
TEST(Examples, TopoOptModelAOnFluid) {
    expect_recorded("topoopt-model-a", "experiment-16", "fluid");
    expect_recorded("topoopt-model-a", "circuits-16", "fluid");
}
TEST(Examples, OwnNetworkOnFluid) {
    expect_recorded("own-network", "experiment", "fluid");
}
TEST(Examples, GpuServersOnFluid) {
    expect_recorded("gpu-servers", "experiment", "fluid");
}
TEST(Examples, FailuresOnFluid) {
    expect_recorded("failures", "experiment", "fluid");
}
TEST(Examples, PipelineOnFluid) {
    expect_recorded("pipeline", "experiment", "fluid");
}
TEST(Examples, FlowsOnFluid) {
    expect_recorded("flows", "experiment", "fluid");
}
TEST(Examples, DlrmWithBackgroundOnFluid) {
    expect_recorded("dlrm-with-background", "experiment", "fluid");
}
TEST(Examples, TracesOnFluid) {
    expect_recorded("traces", "experiment", "fluid");
    expect_recorded("traces", "dlrm", "fluid");
    expect_recorded("traces", "pytorch", "fluid");
}
TEST(Examples, OperaShuffleOnFluid) {
    expect_recorded("opera-shuffle", "experiment", "fluid");
}

#ifdef ASTROLABE_WITH_NS3
TEST(Examples, QuickstartOnPacket) {
    expect_recorded("quickstart", "experiment", "packet");
}
TEST(Examples, QuickstartOnTcp) {
    expect_recorded("quickstart", "experiment", "tcp");
}
#endif

/// The job of examples/why is bound by `resource`, and of all resources more of this one saves most.
void expect_reason(const std::string& job, const std::string& resource, const std::string& change) {
    const std::string file = ASTROLABE_SOURCE_DIR "/examples/why/" + job + ".yaml";
    const ProcessResult run = run_program(ASTROLABE_PROGRAM, {"run", file, "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(Json::parse(run.out)["binding"]["resource"], resource);
    const ProcessResult asked = run_program(
        ASTROLABE_PROGRAM, {"what-if", file, "--only", "links,latency,compute,reconfiguration", "--json"});
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    std::string best;
    double most = 0;
    const Json answer = Json::parse(asked.out);
    for (const Json& tried : answer["changes"]) {
        if (tried["outcome"] == "done" && !tried["at_most"].get<bool>() &&
            tried["saved_share"].get<double>() > most) {
            most = tried["saved_share"].get<double>();
            best = tried["change"].get<std::string>();
        }
    }
    EXPECT_EQ(best, change) << asked.out;
    EXPECT_GT(most, 0.3) << best;
}

TEST(WhyExamples, TheNicBehindLatency) {
    expect_reason("nic-behind-latency", "host-switch links", "host-switch links x2");
}

TEST(WhyExamples, TheNicBehindNvlink) {
    expect_reason("nic-behind-nvlink", "host-scale-out links", "host-scale-out links x2");
}

TEST(WhyExamples, TheSpine) {
    expect_reason("spine", "spine-leaf links", "spine-leaf links x2");
}

#ifdef ASTROLABE_WITH_NS3
TEST(WhyExamples, TheNicOnPackets) {
    expect_reason("nic-on-packets", "host-switch links", "host-switch links x2");
}
#endif

TEST(WhyExamples, WaitingForCircuits) {
    expect_reason("circuits", "circuits", "reconfiguration x1/10");
}

}  // namespace
}  // namespace astrolabe::testing
