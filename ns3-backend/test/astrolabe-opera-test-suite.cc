// SPDX-License-Identifier: GPL-2.0-only
/// Opera as a user of the module sees it: helper, attributes and trace sources by name, and the numbers that
/// follow from rates and lengths alone.
#include "packet-test-case.h"

#include "ns3/opera-helper.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <vector>

using namespace ns3;

namespace
{

constexpr int64_t PACKET_TIME = 120'000;              // ps, 1500 bytes at 100 Gb/s
constexpr int64_t ACROSS = 3 * PACKET_TIME + 500'000; // three links and a circuit

class ScheduleTest : public TestCase
{
  public:
    ScheduleTest()
        : TestCase("cyclic matchings connect all pairs once, and one rotor at a time is dark")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t RACKS = 12;
        constexpr uint32_t ROTORS = 4;
        const OperaSchedule schedule(OperaSchedule::MakeCyclicMatchings(RACKS, ROTORS), 1, {4, 1, 5});
        std::vector<uint32_t> joined(RACKS * RACKS);
        for (uint32_t rotor = 0; rotor < ROTORS; ++rotor)
        {
            for (uint32_t matching = 0; matching < RACKS / ROTORS; ++matching)
            {
                for (uint32_t rack = 0; rack < RACKS; ++rack)
                {
                    ++joined[rack * RACKS + schedule.GetPeer(rotor, matching, rack, 0)];
                }
            }
        }
        for (const uint32_t times : joined)
        {
            NS_TEST_EXPECT_MSG_EQ(times, 1, "a pair is connected in one matching");
        }
        NS_TEST_EXPECT_MSG_EQ(schedule.GetSuperslices(), RACKS, "of a cycle");
        NS_TEST_EXPECT_MSG_EQ(schedule.GetBulkSlot(), 3 * 10 + 4, "(rotors - 1) T + eps");
        for (int64_t when = 0; when < 10 * RACKS; ++when)
        {
            uint32_t dark = 0;
            for (uint32_t rotor = 0; rotor < ROTORS; ++rotor)
            {
                dark += schedule.IsDark(rotor, when) ? 1 : 0;
            }
            NS_TEST_EXPECT_MSG_EQ(dark, (when % 10 >= 5 ? 1 : 0), "in r, which starts after eps + del");
        }
    }
};

/// What the trace sources of a network report.
class OperaTraces
{
  public:
    explicit OperaTraces(const OperaInstallation& opera)
    {
        opera.network->TraceConnectWithoutContext("BulkDelivered", MakeCallback(&OperaTraces::Deliver, this));
        opera.network->TraceConnectWithoutContext("Granted", MakeCallback(&OperaTraces::Grant, this));
        opera.network->TraceConnectWithoutContext("Returned", MakeCallback(&OperaTraces::Return, this));
    }

    void Deliver(const PacketMessage&, Time completion)
    {
        m_completions.push_back(completion.GetPicoSeconds());
    }

    void Grant(uint32_t, const OperaGrant& grant)
    {
        m_granted += grant.packets;
    }

    void Return(uint32_t, const PacketDescriptor&, int64_t)
    {
        ++m_returned;
    }

    std::vector<int64_t> m_completions;
    uint64_t m_granted{0};
    uint64_t m_returned{0};
};

class PacingTest : public PicosecondTestCase
{
  public:
    PacingTest()
        : PicosecondTestCase("granted packets are spread over the slot")
    {
    }

  private:
    void DoRun() override
    {
        OperaHelper helper;
        helper.SetTiming(MicroSeconds(5), NanoSeconds(620), MicroSeconds(10));
        const OperaInstallation opera = helper.Create(8, 2, 4);
        const OperaTraces traces(opera);
        // At 0 rotor 0 installs the matching that connects x with -x: racks 1 and 7. 4 packets fall due at
        // m/4 of the slot, 3 · 15.62 + 5 = 51.86 us, and leave in the slot at or before that, one in 4: the
        // last at ⌊38.895 / 0.48⌋ = 81 · 0.48 us.
        opera.network->Send({2, 14, 4 * 1436, nullptr, 0, 0});
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(traces.m_completions.size(), 1, "it arrives");
        NS_TEST_EXPECT_MSG_EQ(
            traces.m_completions.front(), 81 * 4 * PACKET_TIME + ACROSS, "with its last packet");
        NS_TEST_EXPECT_MSG_EQ(traces.m_granted, 4, "packets");
        NS_TEST_EXPECT_MSG_EQ(traces.m_returned, 0, "none reaches a circuit that is gone");
    }
};

class ShuffleTest : public PicosecondTestCase
{
  public:
    explicit ShuffleTest(uint32_t groups)
        : PicosecondTestCase("a shuffle takes the cycles that its packets need, groups " +
                             std::to_string(groups)),
          m_groups(groups)
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t RACKS = 8;
        constexpr uint32_t HOSTS = 2;
        OperaHelper helper;
        helper.SetTiming(MicroSeconds(20), NanoSeconds(620), MicroSeconds(10));
        helper.SetGroups(m_groups);
        const OperaInstallation opera = helper.Create(RACKS, HOSTS, 4);
        const OperaTraces traces(opera);
        const OperaSchedule& schedule = opera.network->GetSchedule();
        const uint64_t part = opera.network->GetSlotPackets(schedule, HOSTS) / HOSTS;
        for (uint32_t from = 0; from < RACKS * HOSTS; ++from)
        {
            for (uint32_t to = 0; to < RACKS * HOSTS; ++to)
            {
                if (from / HOSTS != to / HOSTS)
                {
                    opera.network->Send({from, to, 2 * part * 1436, nullptr, 0, 0});
                }
            }
        }
        Simulator::Run();
        const uint64_t packets = RACKS * HOSTS * (RACKS - 1) * HOSTS * 2 * part;
        NS_TEST_ASSERT_MSG_EQ(traces.m_completions.size(), packets / (2 * part), "all arrive");
        NS_TEST_EXPECT_MSG_EQ(traces.m_granted, packets, "once each");
        NS_TEST_EXPECT_MSG_EQ(traces.m_returned, 0, "slots end before circuits do");
        const int64_t cycle = schedule.GetLength() * schedule.GetSuperslices();
        NS_TEST_EXPECT_MSG_GT(traces.m_completions.back(), cycle, "half of them need a second cycle");
        NS_TEST_EXPECT_MSG_LT(
            traces.m_completions.back(), 2 * cycle + schedule.GetBulkSlot(), "and no third");
    }

    uint32_t m_groups;
};

class OperaSuite : public TestSuite
{
  public:
    OperaSuite()
        : TestSuite("astrolabe-opera")
    {
        AddTestCase(new ScheduleTest);
        AddTestCase(new PacingTest);
        AddTestCase(new ShuffleTest(1));
        AddTestCase(new ShuffleTest(4));
    }
};

OperaSuite g_operaSuite;

} // namespace
