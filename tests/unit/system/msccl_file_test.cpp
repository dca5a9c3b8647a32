// Schedules of MSCCL: those of the public files, one of our own, and what is said about broken ones.

#include "schedule_checks.hpp"
#include "system/src/executor/compiled_schedule.hpp"
#include "system/src/msccl/msccl_schedule.hpp"
#include "system/src/program/traffic.hpp"
#include "system/src/schedule/schedule_file.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::system {
namespace {

using Algorithm = std::shared_ptr<const CollectiveAlgorithm>;

const std::filesystem::path kData =
    std::filesystem::path(ASTROLABE_SOURCE_DIR).parent_path() / "shared/data/traces";

Result<CollectiveSchedule> schedule_of(const std::string& text) {
    return msccl::schedule_of(std::make_shared<const SourceText>(SourceText{"x.xml", text}));
}

/// What is said about a text.
std::string defect(const std::string& text) {
    const Result<CollectiveSchedule> schedule = schedule_of(text);
    return schedule ? "" : render(schedule.error());
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

void expect_defect(const std::string& text, const std::string& expected) {
    const std::string said = defect(text);
    EXPECT_NE(said.find(expected), std::string::npos) << said;
}

/// Two GPUs, two chunks. GPU 0 receives chunk 0 into its scratch and a block of its own adds it; GPU 1 adds
/// chunk 1 as it arrives. Then each sends its sum.
std::string pair() {
    return R"(<!-- of our own -->
<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1">
<gpu id="0" i_chunks="2" o_chunks="0" s_chunks="1">
<tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
<step s="2" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="1" deps="0" hasdep="0"/>
<step s="3" type="r" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
<tb id="1" send="-1" recv="-1" chan="0">
<step s="0" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="0" deps="1" hasdep="1"/>
</tb>
</gpu>
<gpu id="1" i_chunks="2" o_chunks="0" s_chunks="0">
<tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="rrc" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="3" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
</algo>
)";
}

struct PublicFile {
    std::string path;
    CollectiveKind kind;
    Position gpus;
    std::uint64_t blocks;
    std::uint64_t messages;
    std::uint64_t chain;
};

class PublicMscclFiles : public ::testing::TestWithParam<PublicFile> {};

TEST_P(PublicMscclFiles, AreProvenAndHaveTheirFigures) {
    const PublicFile& expected = GetParam();
    if (!std::filesystem::exists(kData / expected.path)) {
        GTEST_SKIP() << "the files are not here";
    }
    const Result<Algorithm> read = read_schedule_file(kData / expected.path);
    ASSERT_TRUE(read) << render(read.error());
    ASSERT_FALSE((*read)->unsupported(expected.kind, expected.gpus));
    const CollectiveSchedule schedule = (*read)->schedule(expected.kind, expected.gpus, 0);
    EXPECT_EQ(schedule.block_count(), expected.blocks);
    EXPECT_EQ(schedule.message_count(), expected.messages);
    EXPECT_EQ(schedule.steps(), expected.chain);
}
INSTANTIATE_TEST_SUITE_P(
    All, PublicMscclFiles,
    ::testing::Values(
        // Of the all-to-all each of the 16 chunks of each of 8 inputs is a block.
        PublicFile{"msccl/ndv5/a2a2ll.xml", CollectiveKind::kAllToAll, 8, 128, 112, 1},
        PublicFile{"msccl/ndv5/ag-1k-512k.xml", CollectiveKind::kAllGather, 8, 16, 112, 1},
        PublicFile{"msccl/ndv5/ag-32m-1g.xml", CollectiveKind::kAllGather, 8, 256, 1792, 7},
        PublicFile{"msccl/ndv5/ap2ll.xml", CollectiveKind::kAllReduce, 8, 128, 224, 2},
        PublicFile{"msccl/ndv5/r48ll.xml", CollectiveKind::kAllReduce, 8, 64, 896, 14},
        PublicFile{"msccl/ncv4/ag_hier_4_LL.xml", CollectiveKind::kAllGather, 4, 16, 48, 2},
        PublicFile{"msccl/ncv4/ar_hier_12_Simple.xml", CollectiveKind::kAllReduce, 4, 24, 144, 3},
        PublicFile{"chakra/custom_ring_8npus_1MB/custom_allreduce.xml", CollectiveKind::kAllReduce, 8, 8, 112,
                   14}),
    [](const auto& file) {
        std::string name = std::filesystem::path(file.param.path).stem().string();
        std::ranges::replace_if(
            name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
        return name;
    });

TEST(MscclFiles, ThePairIsReadAsWhatItSays) {
    const Result<CollectiveSchedule> schedule = schedule_of(pair());
    ASSERT_TRUE(schedule) << render(schedule.error());
    EXPECT_EQ(schedule->message_count(), 4U);
    EXPECT_EQ(schedule->steps(), 2U);
    // GPU 0: send 1, add 0, send 0, store 1.
    const std::vector<Action>& actions = schedule->program(0).actions;
    ASSERT_EQ(actions.size(), 4U);
    EXPECT_EQ(actions[0].kind, Action::Kind::kSend);
    EXPECT_EQ(actions[1].kind, Action::Kind::kReceiveReduce);
    EXPECT_EQ(actions[2].kind, Action::Kind::kSend);
    EXPECT_EQ(actions[3].kind, Action::Kind::kReceive);
}

/// Two GPUs that send each other `chunks` chunks from `offset` on, at once, on a channel for each.
std::string exchange(const std::string& head, const std::string& source, const std::string& destination,
                     const std::vector<std::vector<int>>& sent, const std::vector<std::vector<int>>& stored,
                     const std::string& copies = "") {
    std::string text = "<algo name=\"x\" ngpus=\"2\" " + head + ">\n";
    for (int gpu = 0; gpu < 2; ++gpu) {
        text += "<gpu id=\"" + std::to_string(gpu) + "\" i_chunks=\"" + (source == "o" ? "0" : "4") +
                "\" o_chunks=\"4\" s_chunks=\"0\">\n";
        int block = 0;
        const std::string peer = std::to_string(1 - gpu);
        const std::string end = "\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/></tb>\n";
        for (int channel = 0; channel < 2; ++channel) {
            const std::string chan = "\" chan=\"" + std::to_string(channel) + "\">";
            text += "<tb id=\"" + std::to_string(block++) + "\" send=\"" + peer + "\" recv=\"-1" + chan +
                    "<step s=\"0\" type=\"s\" srcbuf=\"" + source + "\" srcoff=\"" +
                    std::to_string(sent[gpu][channel]) + end;
            text += "<tb id=\"" + std::to_string(block++) + "\" send=\"-1\" recv=\"" + peer + chan +
                    "<step s=\"0\" type=\"r\" dstbuf=\"" + destination + "\" dstoff=\"" +
                    std::to_string(stored[gpu][channel]) + end;
        }
        if (!copies.empty()) {
            const std::string own = std::to_string(2 * gpu);
            text +=
                "<tb id=\"4\" send=\"-1\" recv=\"-1\" chan=\"0\"><step s=\"0\" type=\"cpy\" srcbuf=\"i\" "
                "srcoff=\"" +
                own + "\" dstbuf=\"o\" dstoff=\"" + own +
                "\" cnt=\"2\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/></tb>\n";
        }
        text += "</gpu>\n";
    }
    return text + "</algo>\n";
}

/// Sizes of messages as the executor has them are those of the schedule, for every small size.
void expect_compiled_sizes(const CollectiveSchedule& schedule) {
    const detail::CompiledSchedule compiled(schedule);
    for (std::int64_t size = 1; size < 40; ++size) {
        Bytes sum;
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            const std::vector<Action>& actions = schedule.program(rank).actions;
            for (std::uint32_t index = 0; index < actions.size(); ++index) {
                const Bytes expected = schedule.message_size(rank, actions[index], Bytes(size));
                EXPECT_EQ(
                    compiled.message_size(rank, compiled.action(compiled.program(rank).first_action + index),
                                          compiled.block_sizes(Bytes(size))),
                    expected)
                    << size;
                sum += actions[index].is_send() ? expected : Bytes(0);
            }
        }
        EXPECT_EQ(compiled.total_bytes(Bytes(size)), sum) << size;
    }
}

TEST(MscclFiles, AnAllGatherHasTwoPartsOfEachRank) {
    const Result<CollectiveSchedule> schedule =
        schedule_of(exchange("coll=\"allgather\" nchunksperloop=\"4\" inplace=\"1\"", "o", "o",
                             {{0, 1}, {3, 2}}, {{3, 2}, {0, 1}}));
    ASSERT_TRUE(schedule) << render(schedule.error());
    EXPECT_EQ(schedule->block_count(), 4U);
    EXPECT_EQ(schedule->parts(), 2U);
    EXPECT_EQ(schedule->owner(3), 1U);
    // 5 bytes of each rank: 3 and 2, sent whole to the other.
    EXPECT_EQ(schedule->block_size(2, Bytes(5)), Bytes(3));
    EXPECT_EQ(schedule->block_size(3, Bytes(5)), Bytes(2));
    EXPECT_EQ(traffic_of(*schedule, Bytes(5)).bytes(), Bytes(10));
    expect_compiled_sizes(*schedule);
}

TEST(MscclFiles, AnAllToAllHasTwoPartsOfEachPair) {
    // GPU 0's chunks 2 and 3 are for GPU 1, whose chunks 0 and 1 are for GPU 0.
    const std::string text = exchange("coll=\"alltoall\" nchunksperloop=\"4\" inplace=\"0\"", "i", "o",
                                      {{2, 3}, {0, 1}}, {{2, 3}, {0, 1}}, "with copies");
    const Result<CollectiveSchedule> schedule = schedule_of(text);
    ASSERT_TRUE(schedule) << render(schedule.error());
    EXPECT_EQ(schedule->block_count(), 8U);
    EXPECT_EQ(schedule->columns(), 4U);
    // 7 bytes of each rank in four columns, 2, 2, 2 and 1: 3 to GPU 1, 4 to GPU 0.
    EXPECT_EQ(traffic_of(*schedule, Bytes(7)).bytes(), Bytes(7));
    expect_compiled_sizes(*schedule);
    // Without its own copy GPU 0's output is not whole.
    expect_defect(changed(text, "type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"2\"",
                          "type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\""),
                  "GPU 0, chunk 1 of its output: ends with nothing in it");
    const std::filesystem::path file = kData / "msccl/ndv5/a2a2ll.xml";
    if (std::filesystem::exists(file)) {
        const Result<Algorithm> read = read_schedule_file(file);
        ASSERT_TRUE(read);
        EXPECT_EQ((*read)->unsupported_uneven(),
                  "a2a2ll.xml cuts what goes from one rank to another in 2 equal parts");
    }
}

TEST(BrokenMscclFiles, AreToldWhatAndWhere) {
    EXPECT_EQ(defect(pair()), "");
    expect_defect(pair().substr(0, 300), "not XML");
    expect_defect("<graphml/>", "x.xml:1:2: error[msccl.file]: <graphml>, expected <algo>");
    expect_defect(changed(pair(), "allreduce", "gather"), "coll=\"gather\", expected one of allreduce");
    expect_defect(changed(pair(), "ngpus=\"2\"", "ngpus=\"3\""), "2 <gpu>, ngpus says 3");
    expect_defect(changed(pair(), "ngpus=\"2\"", "ngpus=\"two\""), "expected an integer from 2 to 4096");
    expect_defect(changed(pair(), "<gpu id=\"1\"", "<gpu id=\"3\""), "GPU 3 where GPU 1 is expected");
    expect_defect(changed(pair(), "<tb id=\"1\"", "<tb id=\"2\""),
                  "thread block 2 of GPU 0 where thread block 1 is expected");
    expect_defect(changed(pair(), "<step s=\"1\"", "<step s=\"2\""),
                  "x.xml:6:2: error[msccl.file]: step 2 where step 1 of thread block 0 of GPU 0 is expected");
    expect_defect(changed(pair(), "type=\"rrc\"", "type=\"rcr\""), "type=\"rcr\", expected one of s, r, rcs");
    expect_defect(changed(pair(), "send=\"1\" recv", "send=\"0\" recv"), "GPU 0 is its own peer");
    expect_defect(changed(pair(), "send=\"1\" recv", "send=\"2\" recv"), "expected an integer from -1 to 1");
    expect_defect(changed(pair(), "send=\"1\" recv", "send=\"-1\" recv"),
                  "step 0 of thread block 0 of GPU 0 sends to nobody");
    expect_defect(changed(pair(), "i_chunks=\"2\"", "i_chunks=\"3\""), "i_chunks=3 of GPU 0, expected 2");
    expect_defect(changed(pair(), "dstbuf=\"s\" dstoff=\"0\"", "dstbuf=\"s\" dstoff=\"1\""),
                  "chunks 1 to 1 of 's', which has 1");
    expect_defect(changed(pair(), "depid=\"0\" deps=\"1\"", "depid=\"0\" deps=\"4\""),
                  "waits for step 4 of thread block 0, which does not exist");
    expect_defect(changed(pair(), "depid=\"0\" deps=\"1\"", "depid=\"0\" deps=\"0\""),
                  "which has hasdep=\"0\"");
}

TEST(BrokenMscclFiles, ConnectionsHaveTwoEnds) {
    // GPU 1's block listens on another channel.
    expect_defect(changed(pair(), "<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">",
                          "<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"1\">"),
                  "sends to GPU 1 on channel 0, which has no thread block for it");
    expect_defect(changed(pair(), "<tb id=\"1\" send=\"-1\"", "<tb id=\"1\" send=\"1\""),
                  "thread blocks 0 and 1 both have the connection from GPU 0 to GPU 1 on channel 0");
    // GPU 0's last send becomes a step without a message.
    expect_defect(changed(pair(), "<step s=\"2\" type=\"s\" srcbuf=\"i\" srcoff=\"1\"",
                          "<step s=\"2\" type=\"nop\" srcbuf=\"i\" srcoff=\"1\""),
                  "from GPU 1 to GPU 0 on channel 0 there are 1 sends and 2 receives");
    expect_defect(changed(pair(),
                          "srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" "
                          "hasdep=\"0\"/>\n<step s=\"1\" type=\"rrc\"",
                          "srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"2\" depid=\"-1\" deps=\"-1\" "
                          "hasdep=\"0\"/>\n<step s=\"1\" type=\"rrc\""),
                  "step 0 of thread block 0 of GPU 1 sends 2 chunks, step 1 of thread block 0 of GPU 0 "
                  "receives 1");
}

TEST(BrokenMscclFiles, ACircleIsNamed) {
    // GPU 0's first send waits for the addition of what its second step receives.
    expect_defect(changed(pair(), "dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"",
                          "dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" depid=\"1\" deps=\"0\""),
                  "steps wait for each other: step 0 of thread block 0 of GPU 0 waits for step 0 of thread "
                  "block 1 of GPU "
                  "0 waits for step 0 of thread block 0 of GPU 0");
}

TEST(BrokenMscclFiles, AWrongResultIsNamedWithStepThreadBlockGpuAndChunk) {
    // GPU 1 stores what it should add.
    expect_defect(
        changed(pair(), "type=\"rrc\"", "type=\"r\""),
        "step 3 of thread block 0 of GPU 0, chunk 1 of its output: ends without the contribution of GPU 1");
    // GPU 0 sends chunk 1 where chunk 0 is due.
    expect_defect(
        changed(pair(), "<step s=\"2\" type=\"s\" srcbuf=\"i\" srcoff=\"0\"",
                "<step s=\"2\" type=\"s\" srcbuf=\"i\" srcoff=\"1\""),
        "step 3 of thread block 0 of GPU 1, chunk 0 of its output: ends with chunk 1, expected chunk 0");
    // A chunk of the scratch buffer that nothing was stored in.
    expect_defect(changed(changed(pair(), "s_chunks=\"1\"", "s_chunks=\"2\""), "srcbuf=\"s\" srcoff=\"0\"",
                          "srcbuf=\"s\" srcoff=\"1\""),
                  "step 0 of thread block 1 of GPU 0, chunk 1 of its scratch buffer: it is used and holds "
                  "nothing");
    // Added a second time.
    expect_defect(
        changed(pair(), "</tb>\n</gpu>\n<gpu id=\"1\"",
                "<step s=\"1\" type=\"re\" srcbuf=\"s\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" "
                "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n</tb>\n</gpu>\n<gpu id=\"1\""),
        "step 1 of thread block 1 of GPU 0, chunk 0 of its input: the contribution of GPU 1 is added "
        "twice");
}

TEST(BrokenMscclFiles, ARaceIsFoundByTheProof) {
    // GPU 1's second thread block sends chunk 1 without waiting until the first has added GPU 0's part. Run
    // thread block by thread block the file is right; where the message is late, GPU 0 gets chunk 1 back
    // without its own part.
    expect_defect(
        R"(<algo name="race" coll="allreduce" nchunksperloop="2" ngpus="2" inplace="1">
<gpu id="0" i_chunks="2" o_chunks="0" s_chunks="0">
<tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="1" cnt="1" depid="-1" deps="-1" hasdep="1"/>
<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="s" srcbuf="i" srcoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
<tb id="1" send="-1" recv="1" chan="1">
<step s="0" type="r" dstbuf="i" dstoff="1" cnt="1" depid="0" deps="0" hasdep="0"/>
</tb>
</gpu>
<gpu id="1" i_chunks="2" o_chunks="0" s_chunks="0">
<tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="rrc" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="r" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
<tb id="1" send="0" recv="-1" chan="1">
<step s="0" type="s" srcbuf="i" srcoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
</algo>
)",
        "x.xml:9:2: error[msccl.proof]: step 0 of thread block 1 of GPU 0, chunk 1: all_reduce over 2 "
        "ranks: rank 0 block 1: ends without the contribution of rank 0");
}

TEST(BrokenMscclFiles, TwoSumsOfOneChunkAreRefused) {
    // GPU 0 passes on what GPU 1 sent and keeps its own part for GPU 2: two values of one chunk.
    expect_defect(
        R"(<algo name="two" coll="reduce" nchunksperloop="1" ngpus="3" inplace="1">
<gpu id="0" i_chunks="1" o_chunks="0" s_chunks="1">
<tb id="0" send="-1" recv="1" chan="0">
<step s="0" type="r" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
</tb>
<tb id="1" send="2" recv="2" chan="0">
<step s="0" type="s" srcbuf="s" srcoff="0" cnt="1" depid="0" deps="0" hasdep="0"/>
<step s="1" type="s" srcbuf="i" srcoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="r" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
<gpu id="1" i_chunks="1" o_chunks="0" s_chunks="0">
<tb id="0" send="0" recv="-1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
<gpu id="2" i_chunks="1" o_chunks="0" s_chunks="0">
<tb id="0" send="0" recv="0" chan="0">
<step s="0" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="s" srcbuf="i" srcoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
</algo>
)",
        "x.xml:8:2: error[msccl.file]: step 1 of thread block 1 of GPU 0, chunk 0: the GPU has two different "
        "sums of it and uses both");
}

}  // namespace
}  // namespace astrolabe::system
