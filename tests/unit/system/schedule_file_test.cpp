// Schedules from files: the ones that come with the project, and what is said about broken ones.

#include "system/src/schedule/schedule_file.hpp"

#include "schedule_checks.hpp"
#include "system/src/program/traffic.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>

namespace astrolabe::system {
namespace {

using Algorithm = std::shared_ptr<const CollectiveAlgorithm>;

Algorithm from_inputs(const std::string& name) {
    const Result<Algorithm> read =
        read_schedule_file(std::filesystem::path(ASTROLABE_SOURCE_DIR) / "inputs" / "schedules" / name);
    EXPECT_TRUE(read) << (read ? "" : render(read.error()));
    return read ? *read : nullptr;
}

/// What is said about a text, all of it.
std::string defects(const std::string& text) {
    const Result<ConfigNode> node = parse_config(text, "x.yaml");
    if (!node) {
        return render(node.error());
    }
    const Result<Algorithm> read = read_schedule(*node);
    return read ? "" : render(read.error());
}

void expect_defect(const std::string& text, const std::string& expected) {
    const std::string said = defects(text);
    EXPECT_NE(said.find(expected), std::string::npos) << said;
}

/// Two ranks exchange their vectors: line 6 is rank 0's send, 7 its receive, 8 and 9 those of rank 1.
std::string exchange(const std::string& last = "{receive: 0, blocks: [0], after: [0], reduce: true}") {
    return "schema: astrolabe/1\n"
           "kind: all_reduce\n"
           "ranks: 2\n"
           "programs:\n"
           "  -\n"
           "    - {send: 1, blocks: [0]}\n"
           "    - {receive: 1, blocks: [0], after: [0], reduce: true}\n"
           "  - - {send: 0, blocks: [0]}\n"
           "    - " +
           last + "\n";
}

TEST(ScheduleFiles, EveryOneInTheInputsIsProvenAgain) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(ASTROLABE_SOURCE_DIR "/inputs/schedules")) {
        const Result<Algorithm> read = read_schedule_file(entry.path());
        ASSERT_TRUE(read) << render(read.error());
        ++files;
    }
    EXPECT_GE(files, 3U);
}

TEST(ScheduleFiles, TheRingIsTheBuiltInOne) {
    const Algorithm file = from_inputs("ring-all-reduce-4.yaml");
    ASSERT_NE(file, nullptr);
    ASSERT_FALSE(file->unsupported(CollectiveKind::kAllReduce, 4));
    expect_proven(*file, CollectiveKind::kAllReduce, 4);
    const CollectiveSchedule ours = testing::algorithm_of("ring")->schedule(CollectiveKind::kAllReduce, 4, 0);
    const CollectiveSchedule theirs = file->schedule(CollectiveKind::kAllReduce, 4, 0);
    EXPECT_EQ(theirs.steps(), ours.steps());
    for (Position rank = 0; rank < 4; ++rank) {
        const RankProgram& program = theirs.program(rank);
        ASSERT_EQ(program.actions.size(), ours.program(rank).actions.size());
        for (std::size_t i = 0; i < program.actions.size(); ++i) {
            const Action& own = ours.program(rank).actions[i];
            EXPECT_EQ(program.actions[i].kind, own.kind);
            EXPECT_EQ(program.actions[i].peer, ours.resolve(rank, own.peer));
            EXPECT_EQ(program.blocks_of(program.actions[i])[0].block,
                      ours.resolve(rank, ours.program(rank).blocks_of(own)[0]));
        }
    }
}

TEST(ScheduleFiles, TwoLevelsHaveStagesAndServeTheirGridOnly) {
    const Algorithm file = from_inputs("two-level-all-reduce-2x2.yaml");
    ASSERT_NE(file, nullptr);
    const Shape grid({2, 2});
    ASSERT_FALSE(file->unsupported(CollectiveKind::kAllReduce, grid));
    const CollectiveSchedule schedule = file->schedule(CollectiveKind::kAllReduce, grid, 0);
    EXPECT_EQ(schedule.stages(), (std::vector<Stage>{{0, CollectiveKind::kReduceScatter},
                                                     {1, CollectiveKind::kAllReduce},
                                                     {0, CollectiveKind::kAllGather}}));
    // 1 + 2 + 1 messages one after another, S/2 + S/4 + S/4 + S/2 sent.
    EXPECT_EQ(schedule.steps(), 4U);
    EXPECT_EQ(traffic_of(schedule, Bytes(400)).bytes_sent_max(), Bytes(600));
    EXPECT_NE(file->unsupported(CollectiveKind::kAllReduce, 4)->find("is for groups of 2 x 2 ranks, not 4"),
              std::string::npos);
}

TEST(ScheduleFiles, SizesAreFractionsOfTheCollective) {
    const Algorithm file = from_inputs("star-all-to-all-3.yaml");
    ASSERT_NE(file, nullptr);
    const CollectiveSchedule schedule = file->schedule(CollectiveKind::kAllToAll, 3, 0);
    for (const Bytes size : {Bytes(3), Bytes(3000), Bytes(3'000'000'000'000)}) {
        // Six blocks of S/3, and two of them forwarded.
        EXPECT_EQ(traffic_of(schedule, size).bytes(), size / 3 * 8);
    }
}

TEST(ScheduleFiles, RefuseOtherKindsAndRanks) {
    const Algorithm file = from_inputs("ring-all-reduce-4.yaml");
    ASSERT_NE(file, nullptr);
    EXPECT_NE(
        file->unsupported(CollectiveKind::kAllGather, 4)->find("ring-all-reduce-4.yaml does all_reduce only"),
        std::string::npos);
    EXPECT_NE(file->unsupported(CollectiveKind::kAllReduce, 5)->find("is for groups of 4 ranks, not 5"),
              std::string::npos);
}

TEST(BrokenScheduleFiles, TheExchangeItselfIsRight) {
    EXPECT_EQ(defects(exchange()), "");
}

TEST(BrokenScheduleFiles, UnknownKeysAreNamed) {
    expect_defect(exchange("{recieve: 0, blocks: [0]}"),
                  "x.yaml:9:8: error[config.unknown-key]: 'recieve' is not a key of action");
    expect_defect(exchange("{recieve: 0, blocks: [0]}"), "did you mean 'receive'?");
}

TEST(BrokenScheduleFiles, AnActionIsASendOrAReceive) {
    expect_defect(exchange("{blocks: [0]}"),
                  "x.yaml:9:7: error[config.inconsistent]: an action is a send or a receive");
    expect_defect(exchange("{send: 0, blocks: [0], reduce: true}"), "a send adds nothing");
}

TEST(BrokenScheduleFiles, APeerOrBlockThatDoesNotExistIsLocated) {
    expect_defect(exchange("{receive: 2, blocks: [0]}"),
                  "x.yaml:9:7: error[schedule.build]: rank 1 action 1: peer 2 of 2 ranks");
    expect_defect(exchange("{receive: 0, blocks: [1]}"),
                  "x.yaml:9:7: error[schedule.build]: rank 1 action 1: block (0, 1) does not exist");
    expect_defect(exchange("{receive: 0, blocks: []}"), "rank 1 action 1: names no block");
}

TEST(BrokenScheduleFiles, AMissingReceiveIsLocatedAtItsSend) {
    // Rank 1 now sends twice and receives nothing: rank 0's send is the first without a receive.
    expect_defect(exchange("{send: 0, blocks: [0]}"),
                  "x.yaml:6:7: error[schedule.build]: rank 0 action 0: the send has no receive");
}

TEST(BrokenScheduleFiles, ADependencyOnALaterActionIsLocated) {
    expect_defect(
        exchange("{receive: 0, blocks: [0], after: [1]}"),
        "x.yaml:9:7: error[schedule.build]: rank 1 action 1: waits for action 1, which is not before");
}

TEST(BrokenScheduleFiles, ARaceIsFoundByTheProof) {
    // Rank 1 may add rank 0's vector before it sends its own, and rank 0 would add it to itself.
    expect_defect(exchange("{receive: 0, blocks: [0], reduce: true}"), "error[schedule.proof]");
}

TEST(BrokenScheduleFiles, TheFirstWrongBlockIsLocatedWhereItArrived) {
    // Stored instead of added, rank 1 ends without its own contribution.
    const std::string said = defects(exchange("{receive: 0, blocks: [0], after: [0]}"));
    EXPECT_NE(said.find("x.yaml:9:7: error[schedule.proof]: all_reduce over 2 ranks: rank 1 block 0: ends "
                        "without the contribution of rank 1"),
              std::string::npos)
        << said;
}

TEST(BrokenScheduleFiles, NumbersThatDoNotFitTogetherAreNamed) {
    const std::string body = "programs: [[{send: 1, blocks: [0]}], [{receive: 0, blocks: [0]}]]\n";
    expect_defect("schema: astrolabe/1\nkind: broadcast\nranks: 3\n" + body,
                  "x.yaml:4:11: error[config.inconsistent]: 'programs': 2 programs, expected 3");
    expect_defect("schema: astrolabe/1\nkind: all_gather\nranks: 2\nblocks: 3\n" + body, "is 3, expected 2");
    expect_defect("schema: astrolabe/2\nkind: broadcast\nranks: 2\n" + body, "write schema: astrolabe/1");
    expect_defect("schema: astrolabe/1\nkind: broadcast\nranks: 2\nsymmetry: rotation\n" + body,
                  "the root of a broadcast does what no other rank does");
    expect_defect("schema: astrolabe/1\nkind: all_gather\nranks: 3\nsymmetry: exclusive_or\n" + body,
                  "3 ranks are not a power of two");
    expect_defect("schema: astrolabe/1\nkind: broadcast\nranks: 2\ndimensions: [2, 2]\n" + body,
                  "do not multiply to 2 ranks");
    expect_defect(
        "schema: astrolabe/1\nkind: broadcast\nranks: 2\nstages: [{dimension: 1, kind: broadcast}]\n" + body,
        "there is no dimension 1");
    expect_defect("schema: astrolabe/1\nkind: all_to_all\nranks: 2\n" + body,
                  "x.yaml:4:32: error[schedule.build]: a block of an all_to_all is a pair");
    expect_defect("schema: astrolabe/1\nkind: all_to_all\nranks: 4000\nprograms: []\n", "too many to prove");
}

TEST(BrokenScheduleFiles, AStageStaysInsideItsDimension) {
    const std::string said = defects(
        "schema: astrolabe/1\nkind: all_reduce\nranks: 4\ndimensions: [2, 2]\nsymmetry: exclusive_or\n"
        "stages: [{dimension: 0, kind: all_reduce}, {dimension: 1, kind: all_reduce}]\n"
        "programs:\n"
        "  - - {send: 1, blocks: [0, 1, 2, 3]}\n"
        "    - {receive: 1, blocks: [1, 0, 3, 2], after: [0], reduce: true}\n"
        "    - {stage: 1, send: 3, blocks: [0, 1, 2, 3]}\n"
        "    - {stage: 1, receive: 3, blocks: [3, 2, 1, 0], after: [2], reduce: true}\n");
    EXPECT_NE(said.find("x.yaml:10:7: error[schedule.build]: ranks 0 and 3 differ not only in dimension 1"),
              std::string::npos)
        << said;
}

TEST(BrokenScheduleFiles, AMissingFileIsSaid) {
    const Result<Algorithm> read = read_schedule_file("no-such-file.yaml");
    ASSERT_FALSE(read);
    EXPECT_NE(render(read.error()).find("no-such-file.yaml"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::system
