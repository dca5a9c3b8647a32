// SPDX-License-Identifier: GPL-2.0-only
/// The equations of each congestion control, by hand.
#include <cmath>

#include <gtest/gtest.h>
#include <ns3/packet-dcqcn.h>
#include <ns3/packet-dctcp.h>
#include <ns3/packet-hpcc.h>
#include <ns3/packet-ndp.h>

namespace astrolabe::ns3 {
namespace {

namespace sim = ::ns3;

constexpr std::int64_t kMicrosecond = 1'000'000;
constexpr std::uint64_t kLine = 100'000'000'000;
constexpr std::uint32_t kWindow = 500'000 / 4096;  // packets
constexpr std::uint32_t kPacket = 4096 + 82;

class PacketEquations : public testing::Test {
protected:
    PacketEquations() {
        if (sim::Time::GetResolution() != sim::Time::PS) {
            sim::Time::SetResolution(sim::Time::PS);
        }
    }
};

using PacketDctcpEquations = PacketEquations;
using PacketDcqcnEquations = PacketEquations;
using PacketHpccEquations = PacketEquations;
using PacketNdpEquations = PacketEquations;

// Slow start from 16: 8 acknowledged make 24. A window of data of which a quarter is marked: α = 1 - (1 -
// 1/4)/16 = 61/64, w = 24·(1 - 61/128), and from then on 1/w for each acknowledged.
TEST_F(PacketDctcpEquations, CutByTheShareOfMarks) {
    sim::PacketDctcpParameters parameters;
    sim::PacketDctcpState dctcp;
    dctcp.Start(parameters, kWindow);
    dctcp.Acknowledged(parameters, kWindow, 8, 0, 8, 24);  // ends the round that ended at 0
    EXPECT_EQ(dctcp.window, 24);
    EXPECT_EQ(dctcp.alpha, 1 - 1.0 / 16);
    dctcp.alpha = 1;
    dctcp.Acknowledged(parameters, kWindow, 16, 4, 24, 48);
    // The marks end slow start at 24 before those 16 count, 16/24 of a packet.
    const double grown = 24 + 16.0 / 24;
    EXPECT_DOUBLE_EQ(dctcp.alpha, 61.0 / 64);
    EXPECT_DOUBLE_EQ(dctcp.window, grown * (1 - 61.0 / 128));
    const double before = dctcp.window;
    dctcp.Acknowledged(parameters, kWindow, 4, 0, 28, 50);
    EXPECT_DOUBLE_EQ(dctcp.window, before + 4 / before);
}

// A timeout leaves a window of 1 and slow start to half of what was; a missing packet halves.
TEST_F(PacketDctcpEquations, LossCuts) {
    sim::PacketDctcpParameters parameters;
    sim::PacketDctcpState dctcp;
    dctcp.Start(parameters, kWindow);
    dctcp.TimedOut();
    EXPECT_EQ(dctcp.window, 1);
    EXPECT_EQ(dctcp.threshold, 8);
    dctcp.Lost();
    EXPECT_EQ(dctcp.window, 1);  // never less
    dctcp.Start(parameters, kWindow);
    dctcp.Lost();
    EXPECT_EQ(dctcp.window, 8);
}

// α = 1 at first: the first notification halves 100 Gb/s, R_T stays there; α is then (1 - g) + g = 1. Four
// steps of T, less than F, halve the distance to R_T: 75, 87.5, 93.75, 96.875.
TEST_F(PacketDcqcnEquations, CutAndRecover) {
    sim::PacketDcqcnParameters parameters;
    sim::PacketDcqcnState dcqcn;
    dcqcn.Start(kLine);
    dcqcn.Notify(parameters, 0);
    EXPECT_DOUBLE_EQ(dcqcn.current, 50e9);
    EXPECT_DOUBLE_EQ(dcqcn.target, 100e9);
    EXPECT_DOUBLE_EQ(dcqcn.alpha, 1);
    double rate = 50e9;
    for (int step = 1; step <= 4; ++step) {
        dcqcn.AdvanceTo(parameters, step * 55 * kMicrosecond);
        rate = (rate + 100e9) / 2;
        EXPECT_DOUBLE_EQ(dcqcn.current, rate);
        EXPECT_DOUBLE_EQ(dcqcn.target, 100e9);
        EXPECT_NEAR(dcqcn.alpha, std::pow(255.0 / 256, step), 1e-12);
    }
    // A second notification cuts what there is by α/2 and makes it the target.
    const double alpha = dcqcn.alpha;
    dcqcn.Notify(parameters, 4 * 55 * kMicrosecond + 1);
    EXPECT_DOUBLE_EQ(dcqcn.target, rate);
    EXPECT_DOUBLE_EQ(dcqcn.current, rate * (1 - alpha / 2));
    EXPECT_DOUBLE_EQ(dcqcn.alpha, alpha * 255 / 256 + 1.0 / 256);
}

// Without clamping, a second cut with no step of increase in between leaves the target.
TEST_F(PacketDcqcnEquations, TheTargetMayOutliveASecondCut) {
    sim::PacketDcqcnParameters parameters;
    parameters.clampTarget = false;
    sim::PacketDcqcnState dcqcn;
    dcqcn.Start(kLine);
    dcqcn.Notify(parameters, 0);
    dcqcn.Notify(parameters, 50 * kMicrosecond);
    EXPECT_DOUBLE_EQ(dcqcn.current, 25e9);
    EXPECT_DOUBLE_EQ(dcqcn.target, 100e9);
    parameters.clampTarget = true;
    dcqcn.Notify(parameters, 100 * kMicrosecond);
    EXPECT_DOUBLE_EQ(dcqcn.target, 25e9);
}

// t = 5, b = 0: additive, R_T + 40 Mb/s a step. b = 6 and t = 6: hyper, R_T + (6 - 5)·400 Mb/s, then b = 6, t
// = 7 the same, since min(t, b) counts.
TEST_F(PacketDcqcnEquations, IncreaseIsAdditiveAndThenHyper) {
    sim::PacketDcqcnParameters parameters;
    sim::PacketDcqcnState dcqcn;
    dcqcn.Start(kLine);
    dcqcn.Notify(parameters, 0);
    dcqcn.Notify(parameters, 0);
    dcqcn.Notify(parameters, 0);  // R_T = 25, R_C = 12.5 Gb/s
    dcqcn.AdvanceTo(parameters, 4 * 55 * kMicrosecond);
    EXPECT_DOUBLE_EQ(dcqcn.target, 25e9);
    dcqcn.AdvanceTo(parameters, 6 * 55 * kMicrosecond);
    EXPECT_DOUBLE_EQ(dcqcn.target, 25e9 + 2 * 40e6);
    // 10 MB each, all at that time: b = 1 to 5 are additive steps, since max(t, b) >= F and min(t, b) <= F; b
    // = 6 is hyper.
    for (int step = 1; step <= 6; ++step) {
        dcqcn.Sent(parameters, 10'000'000, 6 * 55 * kMicrosecond);
        const double hyper = step == 6 ? 400e6 : 0;
        EXPECT_DOUBLE_EQ(dcqcn.target, 25e9 + (2 + std::min(step, 5)) * 40e6 + hyper);
    }
    dcqcn.AdvanceTo(parameters, 7 * 55 * kMicrosecond);
    EXPECT_DOUBLE_EQ(dcqcn.target, 25e9 + 7 * 40e6 + 2 * 400e6);
}

// Looking every microsecond or once at the end makes no difference but of rounding; the rate ends as the
// link's.
TEST_F(PacketDcqcnEquations, TimeMayPassUnseen) {
    sim::PacketDcqcnParameters parameters;
    sim::PacketDcqcnState often;
    sim::PacketDcqcnState once;
    for (sim::PacketDcqcnState* dcqcn : {&often, &once}) {
        dcqcn->Start(kLine);
        dcqcn->Notify(parameters, 0);
        dcqcn->Notify(parameters, 3);
    }
    for (std::int64_t now = 0; now <= 3000; ++now) {
        often.AdvanceTo(parameters, now * kMicrosecond);
    }
    once.AdvanceTo(parameters, 3000 * kMicrosecond);
    EXPECT_DOUBLE_EQ(often.current, once.current);
    EXPECT_DOUBLE_EQ(often.target, once.target);
    EXPECT_NEAR(often.alpha, once.alpha, 1e-12);
    once.AdvanceTo(parameters, 1'000'000 * kMicrosecond);
    EXPECT_EQ(once.current, 100e9);
}

// 1250 B at 50 Gb/s take 200 ns; at the link's rate the link itself sets the pace. Never below the least
// rate.
TEST_F(PacketDcqcnEquations, PacketsArePaced) {
    sim::PacketDcqcnParameters parameters;
    sim::PacketDcqcnState dcqcn;
    dcqcn.Start(kLine);
    EXPECT_EQ(dcqcn.Sent(parameters, 1250, 7), 7);
    dcqcn.Notify(parameters, 7);
    EXPECT_EQ(dcqcn.Sent(parameters, 1250, 7), 7 + 200'000);
    for (int i = 0; i < 100; ++i) {
        dcqcn.Notify(parameters, 7);
    }
    EXPECT_EQ(dcqcn.current, 10e6);
}

TEST_F(PacketDcqcnEquations, NotificationsKeepTheirDistance) {
    sim::PacketDcqcnParameters parameters;
    sim::PacketDcqcnState dcqcn;
    dcqcn.Start(kLine);
    EXPECT_TRUE(dcqcn.Marked(parameters, 0));
    EXPECT_FALSE(dcqcn.Marked(parameters, 50 * kMicrosecond - 1));
    EXPECT_TRUE(dcqcn.Marked(parameters, 50 * kMicrosecond));
}

/// A link of 100 Gb/s that has carried `carried` bytes by `when`, with `waiting` behind.
sim::PacketTelemetry noted(std::int64_t when, std::uint64_t carried, std::uint64_t waiting) {
    sim::PacketTelemetry telemetry{};
    telemetry.hops = 1;
    telemetry.hop[0] = {when, waiting, carried, kLine};
    return telemetry;
}

// T = 13 us, so W starts at 12.5 GB/s · 13 us = 162 500 B. In 13 us the link carried all it could, 162 500 B,
// and 16 250 B wait: u = 0.1 + 1, and τ = T makes U = 1.1 at once. W = 162 500·0.95/1.1 + 80.
TEST_F(PacketHpccEquations, AFullLinkCutsInProportion) {
    sim::PacketHpccParameters parameters;
    parameters.baseRtt = 13 * kMicrosecond;  // section 5.1 of the paper
    sim::PacketHpccState hpcc;
    hpcc.Start(parameters, kLine);
    EXPECT_DOUBLE_EQ(hpcc.window, 162'500);
    hpcc.Acknowledged(parameters, noted(0, 0, 20'000), noted(13 * kMicrosecond, 162'500, 16'250), 10, 100);
    EXPECT_DOUBLE_EQ(hpcc.utilization, 1.1);
    EXPECT_DOUBLE_EQ(hpcc.window, 162'500 * 0.95 / 1.1 + 80);
    EXPECT_DOUBLE_EQ(hpcc.reference, hpcc.window);
    // Until packet 100 is acknowledged W is computed from the same W_C: the same news, the same window.
    const double window = hpcc.window;
    hpcc.Acknowledged(parameters, noted(0, 0, 20'000), noted(13 * kMicrosecond, 162'500, 16'250), 50, 120);
    EXPECT_DOUBLE_EQ(hpcc.window, window * 0.95 / 1.1 + 80);
    EXPECT_DOUBLE_EQ(hpcc.reference, window);
    // Packets leave at W/T: 4178 B in 4178·T/W.
    EXPECT_EQ(hpcc.Sent(parameters, 4178, 5),
              5 + static_cast<std::int64_t>(std::ceil(4178 * 13e6 / hpcc.window)));
}

// Half a link's rate over half of T: U = 1/2·1 + 1/2·0.5 = 0.75 < η, so W grows by 80 B, five times, and the
// sixth step is multiplicative.
TEST_F(PacketHpccEquations, AnIdleLinkLetsTheWindowGrow) {
    sim::PacketHpccParameters parameters;
    parameters.baseRtt = 13 * kMicrosecond;  // section 5.1 of the paper
    sim::PacketHpccState hpcc;
    hpcc.Start(parameters, kLine);
    hpcc.reference = 10'000;
    hpcc.window = 10'000;
    const std::int64_t half = 13 * kMicrosecond / 2;
    hpcc.Acknowledged(parameters, noted(0, 0, 0), noted(half, 40'625, 0), 1, 1);
    EXPECT_DOUBLE_EQ(hpcc.utilization, 0.75);
    EXPECT_DOUBLE_EQ(hpcc.window, 10'080);
    for (std::uint64_t round = 2; round <= 5; ++round) {
        hpcc.Acknowledged(parameters, noted(0, 0, 0), noted(half, 40'625, 0), round, round);
    }
    EXPECT_DOUBLE_EQ(hpcc.window, 10'000 + 5 * 80);
    // U = 1/2 + 1/4, 1/2·0.75 + 1/4, … after six looks: 0.5 + 0.5/2^6.
    hpcc.Acknowledged(parameters, noted(0, 0, 0), noted(half, 40'625, 0), 6, 6);
    EXPECT_DOUBLE_EQ(hpcc.window, 10'400 * 0.95 / (0.5 + 0.5 / 64) + 80);
}

// Ten packets and a first window of 4: six pulls, and one more for each header.
TEST_F(PacketNdpEquations, PullsAreWhatTheSenderStillNeeds) {
    sim::PacketNdpParameters parameters;
    parameters.initialWindow = 4;
    sim::PacketNdpState ndp;
    ndp.Start(parameters, kPacket, kLine);
    EXPECT_EQ(ndp.credit, 4U);
    EXPECT_EQ(ndp.gap, 4178 * 80);
    ndp.pulls = 5;
    EXPECT_TRUE(ndp.IsWorthAPull(parameters, 10));
    ndp.owed = 1;
    EXPECT_FALSE(ndp.IsWorthAPull(parameters, 10));
    ndp.headers = 1;
    EXPECT_TRUE(ndp.IsWorthAPull(parameters, 10));
}

// Pulls are counted, so a lost one is made up for by the next; answers carry the last 16 bits of the count.
TEST_F(PacketNdpEquations, PullsAreCumulative) {
    sim::PacketNdpParameters parameters;
    parameters.initialWindow = 4;
    sim::PacketNdpState ndp;
    ndp.Start(parameters, kPacket, kLine);
    ndp.credit = 0;
    ndp.Pulled(parameters, 3, true);
    EXPECT_EQ(ndp.credit, 3U);
    ndp.Pulled(parameters, 2, true);  // an earlier one, late
    EXPECT_EQ(ndp.credit, 3U);
    ndp.Pulled(parameters, 9, false);  // nothing to send: a first window is kept
    EXPECT_EQ(ndp.credit, 4U);
    ndp.pullsReceived = 65'534;
    EXPECT_EQ(ndp.GetCountNear(1), 65'537U);
    EXPECT_EQ(ndp.GetCountNear(65'530), 65'534U);
}

// A line of pulls at one packet in 334.24 ns: the first leaves at once, the others wait their turn.
TEST_F(PacketNdpEquations, PullsLeaveInTurn) {
    sim::PacketPullQueue line;
    EXPECT_TRUE(line.LeavesNow(100, 334'240));
    EXPECT_FALSE(line.LeavesNow(101, 334'240));
    EXPECT_EQ(line.GetFreeTime(), 100 + 334'240);
    line.Wait(7);
    line.Wait(8);
    EXPECT_FALSE(line.LeavesNow(1'000'000, 334'240));  // not before those who wait
    EXPECT_EQ(line.TakeFirst(), 7U);
    line.Wait(7);
    EXPECT_EQ(line.TakeFirst(), 8U);
    EXPECT_EQ(line.TakeFirst(), 7U);
    EXPECT_TRUE(line.IsEmpty());
}

}  // namespace
}  // namespace astrolabe::ns3
