/// What the replay of the EuroMLSys 2024 study counts, as commands print it. The numbers are derived in
/// tests/unit/workload/flexflow_dlrm_counts_test.cpp; those of Model-A are published.
#include "process.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kOperaStudy = ASTROLABE_SOURCE_DIR "/examples/opera-dlrm/experiment-16.yaml";

struct Study {
    const char* model;
    int nodes;
    int k;  ///< of the fat-tree
    std::int64_t all_reduce;
    std::int64_t slices;
    const char* share;
};

std::vector<std::string> arguments(const Study& study) {
    return {"validate",
            kOperaStudy,
            "--set",
            fmt::format("workload.model={}/inputs/models/dlrm-opera-study-{}.yaml", ASTROLABE_SOURCE_DIR,
                        study.model),
            "--set",
            fmt::format("cluster.ranks={}", study.nodes),
            "--set",
            fmt::format("network.k={}", study.k)};
}

TEST(Replay, SharesOfBothModelsToEveryDigit) {
    for (const Study& study :
         {Study{"a", 16, 4, 84'346'964'480, 629'145'600'000, "0.11821701960057965"},
          Study{"a", 128, 8, 714'134'963'712, 665'845'760'000, "0.5174963326959043"},
          Study{"a", 1024, 16, 5'752'390'246'400, 670'433'280'000, "0.8956170479783089"},
          Study{"i", 16, 4, 7'418'815'936, 261'189'795'840, "0.0276194269682863"},
          Study{"i", 128, 8, 23'738'318'208, 276'425'867'264, "0.07908444563655101"},
          Study{"i", 1024, 16, 190'723'844'096, 278'330'376'192, "0.40661364048466564"}}) {
        std::vector<std::string> command = arguments(study);
        command.emplace_back("--json");
        const ProcessResult result = run_program(ASTROLABE_PROGRAM, command);
        ASSERT_EQ(result.exit_code, 0) << result.err;
        const Json replay = Json::parse(result.out).at("replay");
        EXPECT_EQ(replay.at("all_reduce_bytes"), study.all_reduce) << study.model << study.nodes;
        EXPECT_EQ(replay.at("slice_bytes"), study.slices) << study.model << study.nodes;
        EXPECT_EQ(replay.at("all_reduce_share").dump(), study.share) << study.model << study.nodes;
        EXPECT_NE(replay.at("sent").at("all_reduce_bytes"), study.all_reduce) << study.model << study.nodes;
        EXPECT_NE(replay.at("difference").get<std::string>().find("whole all-reduces"), std::string::npos);
    }
}

TEST(Replay, TheTextOfValidateHasTheShareOfReplayAndRunAndTheReason) {
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, arguments({"i", 128, 8, 0, 0, ""}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    // 62,767,434,536 bytes are 2·127·4·61,778,971.
    EXPECT_NE(result.out.find("# replay: 23738318208 bytes of all-reduces an iteration, 0.07908444563655101 "
                              "of the traffic, where a run sends 62767434536, 0.18504915693473756: "),
              std::string::npos)
        << result.out;
    EXPECT_NE(result.out.find("169 of 170 tensors"), std::string::npos) << result.out;
}

TEST(Replay, ARunThatStopsEarlySendsWhatIsCounted) {
    // With one table in fifty, to be quick.
    const ProcessResult result = run_program(
        ASTROLABE_PROGRAM, {"run", kOperaStudy, "--json", "--set", "workload.replay.early_stop=true", "--set",
                            "workload.model.tables=20"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json summary = Json::parse(result.out);
    const Json& replay = summary.at("replay");
    EXPECT_EQ(replay.at("sent").at("all_reduce_bytes"), replay.at("all_reduce_bytes"));
    std::int64_t sent = 0;
    for (const auto& [kind, bytes] : summary.at("traffic_bytes").items()) {
        sent += bytes.get<std::int64_t>();
    }
    EXPECT_EQ(sent, replay.at("all_reduce_bytes").get<std::int64_t>() +
                        replay.at("slice_bytes").get<std::int64_t>());
}

}  // namespace
}  // namespace astrolabe::testing
