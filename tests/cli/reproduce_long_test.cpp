/// All values of the studies of reproduce/, those of long runs too.
#include "process.hpp"

#include <filesystem>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

TEST(PublishedStudies, LongRunsHaveTheErrorsThatAreRecorded) {
    for (const auto& entry : std::filesystem::directory_iterator(ASTROLABE_SOURCE_DIR "/reproduce")) {
        if (entry.path().extension() == ".yaml") {
            const ProcessResult result = run_program(ASTROLABE_PROGRAM, {"reproduce", entry.path().string()});
            EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
