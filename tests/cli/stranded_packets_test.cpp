/// Failures of rotors and cables at moments when packets are relayed: a run ends, or names what is stranded.
#include "process.hpp"

#include <regex>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

const std::string kCircuits = ASTROLABE_SOURCE_DIR "/examples/why/circuits.yaml";

ProcessResult run_with_failure(const std::string& backend, const std::string& what, int microseconds) {
    return run_program(ASTROLABE_PROGRAM,
                       {"run", kCircuits, "--set", "backend.kind=" + backend, "--set",
                        fmt::format("failures={{events: [{{{}, at: {}us}}]}}", what, microseconds)});
}

TEST(StrandedPackets, RunsEndOrNameWhatIsStranded) {
    int stalled = 0;
    for (const char* backend : {"fluid", "packet"}) {
        for (const char* what : {"switch: rotor 1", "link: rack 3 - rotor 2"}) {
            for (const int at : {20, 200, 410, 640}) {
                const ProcessResult result = run_with_failure(backend, what, at);
                const std::string name = fmt::format("{} on {} at {} us", what, backend, at);
                if (result.exit_code == 0) {
                    continue;
                }
                ASSERT_EQ(result.exit_code, 1) << name << result.err;
                ++stalled;
                // The parts add up: as many packets are stranded as wait at relays whose rack has no circuit
                // to theirs.
                std::smatch total;
                EXPECT_TRUE(std::regex_search(result.err, total, std::regex("(\\d+) bulk packets? of")))
                    << name << result.err;
                std::smatch stranded;
                ASSERT_TRUE(std::regex_search(result.err, stranded,
                                              std::regex("(\\d+) of them (is|are) stranded: relayed before")))
                    << name << result.err;
                EXPECT_LE(std::stoi(stranded[1]), std::stoi(total[1]));
                EXPECT_NE(result.err.find("relayed: racks "), std::string::npos) << name << result.err;
                EXPECT_NE(result.err.find(fmt::format("are not connected since {}us", at)), std::string::npos)
                    << name << result.err;
            }
        }
    }
    EXPECT_GT(stalled, 0) << "no failure met a relayed packet";
}

TEST(StrandedPackets, AFailureFromTheStartStrandsNone) {
    for (const char* backend : {"fluid", "packet"}) {
        const ProcessResult result = run_with_failure(backend, "switch: rotor 1", 0);
        EXPECT_EQ(result.exit_code, 0) << backend << result.err;
    }
}

}  // namespace
}  // namespace astrolabe::testing
