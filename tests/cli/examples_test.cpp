/// Every example runs as its README says and gives the recorded result. Runs on every engine are exact, so
/// the records hold on any machine and in any build type.
#include "process.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

/// Record `name` of an example: `<file>.<backend>.json` in its folder expected/.
void expect_recorded(const std::string& example, const std::string& file, const std::string& backend) {
    const std::string folder = ASTROLABE_SOURCE_DIR "/examples/" + example + "/";
    std::vector<std::string> arguments{"run", folder + file + ".yaml", "--json", "--set",
                                       "backend={kind: " + backend + "}"};
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    Json summary = Json::parse(result.out);
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
        expect_recorded("hoti20", system, "fluid");
    }
}

TEST(Examples, DlrmModelAOnFluid) {
    expect_recorded("dlrm-model-a", "experiment", "fluid");
}
TEST(Examples, DlrmOperaStudyOnFluid) {
    expect_recorded("dlrm-opera-study", "experiment-16", "fluid");
}

#ifdef ASTROLABE_WITH_NS3
TEST(Examples, QuickstartOnPacket) {
    expect_recorded("quickstart", "experiment", "packet");
}
TEST(Examples, QuickstartOnTcp) {
    expect_recorded("quickstart", "experiment", "tcp");
}
#endif

}  // namespace
}  // namespace astrolabe::testing
