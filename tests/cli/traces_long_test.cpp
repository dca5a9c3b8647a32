// Sets of traces as large as they come: ten million nodes of one rank, and a thousand ranks of ten thousand.
#include "process.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <tests/unit/workload/chakra_bytes.hpp>

namespace astrolabe::testing {
namespace {

/// Of a shell command, in at most so many KiB of memory.
ProcessResult validate(const std::filesystem::path& traces, std::size_t kibibytes) {
    return run_shell("ulimit -v " + std::to_string(kibibytes) + "; " + quoted(ASTROLABE_PROGRAM) +
                     " validate " + quoted(traces.string()));
}

constexpr std::size_t kEightGibibytes = std::size_t{8} << 20U;

TEST(LargeTraces, TenMillionNodesAreReadInEightGibibytes) {
    const TemporaryFolder folder;
    constexpr std::uint64_t kNodes = 10'000'000;
    {
        std::ofstream file(folder.path() / "t.0.et", std::ios::binary);
        file << kChakraHeader;
        for (std::uint64_t id = 0; id < kNodes; ++id) {
            // Each waits for the one before it and, every tenth, for one a hundred before.
            std::vector<std::uint64_t> before;
            if (id > 0) {
                before.push_back(id - 1);
            }
            if (id % 10 == 0 && id > 100) {
                before.push_back(id - 100);
            }
            file << record(node(id, "k", 4, before, 1));
        }
    }
    const ProcessResult result = validate(folder.path(), kEightGibibytes);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("10000000\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("10 s\n"), std::string::npos) << result.out;  // 10^7 us in one chain
}

TEST(LargeTraces, AThousandRanksOfTenThousandNodesAreReadInEightGibibytes) {
    const TemporaryFolder folder;
    std::string content = kChakraHeader;
    constexpr std::uint64_t kNodes = 10'000;
    for (std::uint64_t id = 0; id < kNodes; ++id) {
        const std::vector<std::uint64_t> before =
            id == 0 ? std::vector<std::uint64_t>{} : std::vector{id - 1};
        content += record(id % 10 == 9 ? node(id, "c" + std::to_string(id), 7, before) +
                                             int64("comm_type", 0) + int64("comm_size", 1024)
                                       : node(id, "k" + std::to_string(id), 4, before, 1));
    }
    constexpr int kRanks = 1024;
    for (int rank = 0; rank < kRanks; ++rank) {
        folder.write("t." + std::to_string(rank) + ".et", content);
    }
    const ProcessResult result = validate(folder.path(), kEightGibibytes);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    // 1,024 · 9,000 computations; 1,000 all_reduces of 1,024 B on each rank.
    EXPECT_NE(result.out.find("9216000\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("1000, 1048576000 bytes over all ranks\n"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace astrolabe::testing
