// SPDX-License-Identifier: GPL-2.0-only
/// Collectives over ns-3's sockets: what every rank sends, and that it is carried out.
#include "picosecond-test-case.h"

#include "ns3/collective-application.h"
#include "ns3/collective-helper.h"
#include "ns3/collective-plan.h"
#include "ns3/config.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/opera-classifier.h"
#include "ns3/opera-helper.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/topoopt-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t RANKS = 8;

const std::vector<std::string> KINDS{
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce"};

std::string
WhyNot(const std::string& kind, const std::string& algorithm, const CollectivePlan::Parameters& parameters)
{
    try
    {
        CollectivePlan(kind, algorithm, {RANKS}, 1'000'000, 0, parameters);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

bool
Contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

class PlanTest : public TestCase
{
  public:
    PlanTest()
        : TestCase("what every rank sends")
    {
    }

  private:
    void ExpectSent(const CollectivePlan& plan, uint64_t messages, uint64_t bytes)
    {
        NS_TEST_EXPECT_MSG_EQ(plan.GetMessages(), plan.GetRanks() * messages, "messages");
        for (uint32_t rank = 0; rank < plan.GetRanks(); ++rank)
        {
            NS_TEST_EXPECT_MSG_EQ(plan.GetSentBytes(rank), bytes, "bytes of rank " << rank);
        }
    }

    void ExpectMatched(const CollectivePlan& plan)
    {
        for (uint32_t rank = 0; rank < plan.GetRanks(); ++rank)
        {
            const std::vector<CollectiveAction>& actions = plan.GetActions(rank);
            for (uint32_t i = 0; i < actions.size(); ++i)
            {
                const CollectiveAction& action = actions[i];
                const CollectiveAction& other = plan.GetActions(action.peer)[action.match];
                NS_TEST_ASSERT_MSG_EQ(other.peer, rank, "the other end names this rank");
                NS_TEST_ASSERT_MSG_EQ(other.match, i, "and this action");
                NS_TEST_ASSERT_MSG_EQ(other.bytes, action.bytes, "and the same bytes");
                NS_TEST_ASSERT_MSG_EQ(other.chunk, action.chunk, "of the same chunk");
                const bool isSend = action.kind == CollectiveAction::SEND;
                const bool meetsReceive = other.kind != CollectiveAction::SEND;
                NS_TEST_ASSERT_MSG_EQ(isSend, meetsReceive, "a send meets a receive");
                for (const uint32_t before : action.after)
                {
                    NS_TEST_ASSERT_MSG_LT(before, i, "what it comes after is earlier");
                }
            }
        }
    }

    void DoRun() override
    {
        // A vector of 1,000,000 bytes over 8 ranks is 8 blocks of 125,000. Every rank of a ring sends 7 of
        // them to add up and 7 to gather; halving-doubling the same bytes in 3 + 3 messages; direct one block
        // to each of the others.
        ExpectSent(CollectivePlan("all_reduce", "ring", {RANKS}, 1'000'000), 14, 1'750'000);
        ExpectSent(CollectivePlan("all_reduce", "halving_doubling", {RANKS}, 1'000'000), 6, 1'750'000);
        ExpectSent(CollectivePlan("all_to_all", "direct", {RANKS}, 1'000'000), 7, 875'000);
        // Of two chunks each has 14 messages, of half the bytes.
        ExpectSent(CollectivePlan("all_reduce", "bidirectional_ring", {RANKS}, 1'000'000, 2), 28, 1'750'000);
        // Rings of 2 x 4: of 1,000,000 bytes 1 send of a half, then of that half 3 sends of a quarter and 3
        // more, then the half again: 2 (500,000 + 375,000).
        ExpectSent(CollectivePlan("all_reduce", "hierarchical", {2, 4}, 1'000'000), 8, 1'750'000);
        // 7 bytes over 8 blocks: one of them is empty, and bytes still add up: rank by rank 14 - 2 where the
        // empty block is sent in both halves, so over all ranks 2 x 7 x 7.
        const CollectivePlan tiny("all_reduce", "ring", {RANKS}, 7);
        uint64_t sent = 0;
        for (uint32_t rank = 0; rank < RANKS; ++rank)
        {
            sent += tiny.GetSentBytes(rank);
        }
        NS_TEST_EXPECT_MSG_EQ(sent, 98, "2 (N - 1) S");
        uint32_t plans = 0;
        for (const std::string& algorithm : CollectivePlan::GetAlgorithms())
        {
            for (const std::string& kind : KINDS)
            {
                if (WhyNot(kind, algorithm, {}).empty())
                {
                    ExpectMatched(CollectivePlan(kind, algorithm, {RANKS}, 999'999));
                    ++plans;
                }
            }
        }
        NS_TEST_EXPECT_MSG_GT(plans, 30, "kinds of the algorithms");

        const auto why = WhyNot;
        NS_TEST_EXPECT_MSG_EQ(
            Contains(why("all_reduce", "ringg", {}), "did you mean 'ring'"), true, "a name");
        NS_TEST_EXPECT_MSG_EQ(Contains(why("allreduce", "ring", {}), "is no collective"), true, "a kind");
        NS_TEST_EXPECT_MSG_EQ(
            Contains(why("all_reduce", "pairwise", {}), "does all_to_all only"), true, "both");
        NS_TEST_EXPECT_MSG_EQ(Contains(why("all_reduce", "rotor_ring", {}), "timetable"), true, "circuits");
        NS_TEST_EXPECT_MSG_EQ(Contains(why("all_reduce", "multi_ring", {{"strides", "[2]"}}), "stride 2"),
                              true,
                              "2 and 8 have a common divisor");
        NS_TEST_EXPECT_MSG_EQ(
            why("all_reduce", "multi_ring", {{"strides", "[1, 3]"}}), "", "1 and 3 have none");
    }
};

/// On circuits of 10 Gb/s and 1 us between 8 servers.
class RunTest : public PicosecondTestCase
{
  public:
    RunTest()
        : PicosecondTestCase("ranks carry collectives out over TCP")
    {
    }

  private:
    Time RunPlan(const CollectivePlan& plan, uint32_t degree)
    {
        TopoOptHelper topo;
        topo.SetDegree(degree);
        topo.SetLink(DataRate("10Gbps"), MicroSeconds(1));
        topo.AddAllReduce(1);
        NodeContainer servers;
        servers.Create(plan.GetRanks());
        topo.Install(servers);
        InternetStackHelper().Install(servers);
        CollectiveHelper helper(plan);
        ApplicationContainer ranks = helper.Install(servers, topo.AssignAddresses("10.0.0.1"));
        ranks.Start(Seconds(0));
        Simulator::Stop(Seconds(10));
        Simulator::Run();
        const Ptr<CollectiveGroup> group = helper.GetGroup();
        NS_TEST_EXPECT_MSG_EQ(group->IsFinished(), true, "all ranks are done");
        for (uint32_t rank = 0; rank < plan.GetRanks(); ++rank)
        {
            uint64_t expected = 0;
            for (const CollectiveAction& action : plan.GetActions(rank))
            {
                expected += action.kind == CollectiveAction::SEND ? 0 : action.bytes;
            }
            const auto application = DynamicCast<CollectiveApplication>(ranks.Get(rank));
            NS_TEST_EXPECT_MSG_EQ(application->GetReceivedBytes(), expected, "rank " << rank);
        }
        const Time finish = group->GetFinish();
        Simulator::Destroy();
        return finish;
    }

    void DoRun() override
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
        for (const std::string& algorithm : CollectivePlan::GetAlgorithms())
        {
            for (const std::string& kind : KINDS)
            {
                if (WhyNot(kind, algorithm, {}).empty())
                {
                    const Time finish = RunPlan(CollectivePlan(kind, algorithm, {RANKS}, 100'003), 4);
                    NS_TEST_EXPECT_MSG_GT(finish, MicroSeconds(1), kind << " by " << algorithm);
                }
            }
        }
        RunPlan(CollectivePlan("all_reduce", "ring", {RANKS}, 7), 4);

        // A ring on a ring: 14 steps of 1 MB, in segments of 1,448 bytes and frames of 1,502 (TCP 32, IP 20,
        // PPP 2), and 1 us each: 14 x 829.8 us + 14 us = 11.63 ms. Slow start and the last acknowledgements
        // of a step come on top.
        const Time ring = RunPlan(CollectivePlan("all_reduce", "ring", {RANKS}, 8'000'000), 2);
        NS_TEST_EXPECT_MSG_GT(ring, MicroSeconds(11'630), "no faster than its circuits");
        NS_TEST_EXPECT_MSG_LT(ring, MicroSeconds(12'800), "within a tenth of them");
        // Both ways round carry half each.
        const Time both =
            RunPlan(CollectivePlan("all_reduce", "bidirectional_ring", {RANKS}, 8'000'000, 2), 2);
        NS_TEST_EXPECT_MSG_GT(both, MicroSeconds(5'815), "no faster than its circuits");
        NS_TEST_EXPECT_MSG_LT(both, MicroSeconds(7'000), "about half of one way");
    }
};

/// On Opera, whose rotors turn.
class ServiceTest : public PicosecondTestCase
{
  public:
    ServiceTest()
        : PicosecondTestCase("what is marked as bulk waits for circuits")
    {
    }

  private:
    /// \returns bulk frames that left hosts
    uint64_t Run(uint8_t tos)
    {
        NodeContainer hosts;
        hosts.Create(RANKS);
        OperaHelper opera;
        opera.SetSize(RANKS, 4);
        opera.SetDscpService(Ipv4Header::DSCP_CS1, OperaService::BULK);
        const NetDeviceContainer devices = opera.Install(hosts);
        InternetStackHelper().Install(hosts);
        Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
        CollectiveHelper helper(CollectivePlan("all_reduce", "ring", {RANKS}, 80'000));
        helper.SetAttribute("Tos", UintegerValue(tos));
        helper.Install(hosts).Start(Seconds(0));
        Simulator::Stop(Seconds(2));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(helper.GetGroup()->IsFinished(), true, "all ranks are done");
        const uint64_t hops = opera.GetFabric()->GetCounters().bulkHops;
        Simulator::Destroy();
        return hops;
    }

    void DoRun() override
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1430));
        NS_TEST_EXPECT_MSG_EQ(Run(0), 0, "all is low-latency");
        // 8 ranks send 14 messages of 10,000 bytes, in 7 segments each at least.
        NS_TEST_EXPECT_MSG_GT(Run(Ipv4Header::DSCP_CS1 << 2), 8 * 14 * 7 - 1, "segments use circuits");
    }
};

class CollectiveSuite : public TestSuite
{
  public:
    CollectiveSuite()
        : TestSuite("astrolabe-collective")
    {
        AddTestCase(new PlanTest);
        AddTestCase(new RunTest);
        AddTestCase(new ServiceTest);
    }
};

CollectiveSuite g_collectiveSuite;

} // namespace
