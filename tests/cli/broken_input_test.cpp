/// Every file in broken/, of experiments, broken-studies/, of searches, and broken-sweeps/, of studies, is
/// one mistake a user makes. Its last lines say what the answer must contain:
///     # expect: 16:25: error[config.unknown-key]
#include "process.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

std::vector<std::filesystem::path> broken_files() {
    std::vector<std::filesystem::path> files;
    for (const char* folder : {"broken", "broken-studies", "broken-sweeps"}) {
        const std::filesystem::path path = std::filesystem::path(ASTROLABE_SOURCE_DIR "/tests/cli") / folder;
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

class BrokenInput : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BrokenInput, IsAnsweredWithPlaceAndHint) {
    const std::filesystem::path file = GetParam();
    const std::string folder = file.parent_path().filename();
    const std::string command = folder == "broken"           ? "run"
                                : folder == "broken-studies" ? "optimize"
                                                             : "validate";
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, {command, file.string(), "--json"});
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(file.string()), std::string::npos) << result.err;
    std::istringstream lines(read_file(file));
    std::string line;
    int expectations = 0;
    while (std::getline(lines, line)) {
        const std::string mark = "# expect: ";
        if (line.starts_with(mark)) {
            ++expectations;
            EXPECT_NE(result.err.find(line.substr(mark.size())), std::string::npos)
                << "expected " << line.substr(mark.size()) << "\nin:\n"
                << result.err;
        }
    }
    EXPECT_GT(expectations, 0) << "a file without expectations shows nothing";
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenInput, ::testing::ValuesIn(broken_files()), [](const auto& file) {
    std::string name = file.param.parent_path().filename().string() + "_" + file.param.stem().string();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(BrokenInput, ThereAreAtLeastTwenty) {
    EXPECT_GE(broken_files().size(), 20u);
}

}  // namespace
}  // namespace astrolabe::testing
