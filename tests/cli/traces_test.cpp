// Traces of other programs on the command line: validate describes them, export writes them.
#include "process.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kTraces = ASTROLABE_SOURCE_DIR "/inputs/traces/dlrm-mini4";
const std::string kDlrm = ASTROLABE_SOURCE_DIR "/examples/traces/dlrm.yaml";

ProcessResult astrolabe(const std::vector<std::string>& arguments) {
    return run_program(ASTROLABE_PROGRAM, arguments);
}

TEST(ValidateTraces, PrintsWhatASetHolds) {
    const ProcessResult text = astrolabe({"validate", kTraces});
    ASSERT_EQ(text.exit_code, 0) << text.err;
    for (const char* line :
         {"ranks                          4\n", "compute per rank               18.35 us to 29.82 us\n",
          "all_reduce in 'all' (4 ranks)  4, 35840 bytes over all ranks\n"}) {
        EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
    }
    const ProcessResult json = astrolabe({"validate", kTraces + "/dlrm-mini4.2.et", "--json"});
    ASSERT_EQ(json.exit_code, 0) << json.err;
    EXPECT_EQ(Json::parse(json.out)["format"], "chakra");
    EXPECT_EQ(Json::parse(json.out)["facts"]["ranks"], "4");
}

TEST(ValidateTraces, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    std::filesystem::copy(kTraces, folder.path());
    std::filesystem::resize_file(folder.path() / "dlrm-mini4.1.et", 1000);
    const ProcessResult cut = astrolabe({"validate", folder.path().string()});
    EXPECT_EQ(cut.exit_code, 3);
    EXPECT_NE(cut.err.find("dlrm-mini4.1.et: error[chakra.truncated]: record "), std::string::npos)
        << cut.err;
    std::filesystem::remove(folder.path() / "dlrm-mini4.1.et");
    const ProcessResult missing = astrolabe({"validate", folder.path().string()});
    EXPECT_EQ(missing.exit_code, 3);
    EXPECT_NE(missing.err.find("3 of 4 ranks have a trace; missing: 1"), std::string::npos) << missing.err;
    // Of another model, which has fewer bytes in its all_reduces.
    const TemporaryFolder other;
    ASSERT_EQ(astrolabe({"export", kDlrm, "--format", "chakra", "--out", other.path().string(), "--set",
                         "workload.model.top_mlp=[32, 1]"})
                  .exit_code,
              0);
    std::filesystem::copy_file(other.path() / "dlrm-mini4.1.et", folder.path() / "dlrm-mini4.1.et");
    const ProcessResult mismatch = astrolabe({"validate", folder.path().string()});
    EXPECT_EQ(mismatch.exit_code, 3);
    EXPECT_NE(mismatch.err.find("error[trace."), std::string::npos) << mismatch.err;
    EXPECT_EQ(astrolabe({"validate", kTraces, "--set", "a=b"}).exit_code, 2);
}

TEST(ExportTraces, TheExampleIsWhatIsExported) {
    const TemporaryFolder folder;
    const ProcessResult result =
        astrolabe({"export", kDlrm, "--format", "chakra", "--out", folder.path().string()});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("4 files of 4 ranks"), std::string::npos) << result.out;
    for (int rank = 0; rank < 4; ++rank) {
        const std::string name = "dlrm-mini4." + std::to_string(rank) + ".et";
        EXPECT_EQ(read_file(folder.path() / name), read_file(std::filesystem::path(kTraces) / name)) << name;
    }
    // Nothing else is left there but the list of them.
    const std::filesystem::directory_iterator entries(folder.path());
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 4 + 1);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / ".astrolabe-files"));
}

TEST(ExportTraces, RanksOfAnEarlierExportGo) {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const auto has = [&folder](const std::string& name) {
        return std::filesystem::exists(folder.path() / name);
    };
    folder.write("dlrm-mini4.notes.txt", "mine");
    for (const std::string format : {"chakra", "param"}) {
        ASSERT_EQ(astrolabe({"export", kDlrm, "--format", format, "--out", out}).exit_code, 0);
    }
    ASSERT_TRUE(has("dlrm-mini4.3.et") && has("3.json"));
    const ProcessResult fewer =
        astrolabe({"export", kDlrm, "--format", "chakra", "--out", out, "--set", "cluster.ranks=2"});
    ASSERT_EQ(fewer.exit_code, 0) << fewer.err;
    EXPECT_TRUE(has("dlrm-mini4.1.et"));
    EXPECT_FALSE(has("dlrm-mini4.2.et"));
    EXPECT_FALSE(has("dlrm-mini4.3.et"));
    EXPECT_TRUE(has("3.json")) << "of another form";
    EXPECT_TRUE(has("dlrm-mini4.notes.txt"));
    const ProcessResult described = astrolabe({"validate", out + "/dlrm-mini4.0.et"});
    ASSERT_EQ(described.exit_code, 0) << described.err;
    EXPECT_NE(described.out.find("ranks                          2\n"), std::string::npos) << described.out;
    // PARAM's files have no name of an experiment.
    ASSERT_EQ(astrolabe({"export", kDlrm, "--format", "param", "--out", out, "--set", "cluster.ranks=2",
                         "--set", "name=other"})
                  .exit_code,
              0);
    EXPECT_TRUE(has("1.json"));
    EXPECT_FALSE(has("2.json"));
}

TEST(ExportTraces, MessagesParamAndTextAreWrittenOrRefused) {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    ASSERT_EQ(
        astrolabe({"export", kDlrm, "--format", "chakra", "--uneven", "messages", "--out", out}).exit_code,
        0);
    const ProcessResult described = astrolabe({"validate", out});
    ASSERT_EQ(described.exit_code, 0) << described.err;
    // 2 all_to_alls of 4 ranks, 3 peers each.
    EXPECT_NE(described.out.find("24 of "), std::string::npos) << described.out;
    ASSERT_EQ(astrolabe({"export", kDlrm, "--format", "param", "--out", out}).exit_code, 0);
    EXPECT_TRUE(Json::parse(read_file(folder.path() / "3.json")).is_array());
    const ProcessResult refused = astrolabe({"export", kDlrm, "--format", "text", "--out", out});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("'Embedding.forward' is not the same on all ranks"), std::string::npos)
        << refused.err;
    const ProcessResult text =
        astrolabe({"export", ASTROLABE_SOURCE_DIR "/examples/quickstart/experiment.yaml", "--format", "text",
                   "--out", out});
    ASSERT_EQ(text.exit_code, 0) << text.err;
    EXPECT_NE(text.out.find("keyword: HYBRID_DLRM 4\n  passes: 2\n"), std::string::npos) << text.out;
    EXPECT_EQ(astrolabe({"export", kDlrm, "--format", "chakra"}).exit_code, 2);
    EXPECT_EQ(astrolabe({"export", kDlrm, "--format", "chakra", "--out", "/proc/none"}).exit_code, 1);
}

}  // namespace
}  // namespace astrolabe::testing
