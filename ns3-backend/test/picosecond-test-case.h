// SPDX-License-Identifier: GPL-2.0-only
#ifndef PICOSECOND_TEST_CASE_H
#define PICOSECOND_TEST_CASE_H

#include "ns3/config.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

namespace ns3
{

/// A case that simulates. The clock counts picoseconds, as the engines ask, which can be set only before the
/// first simulation of a process; and the next case starts from ns-3's defaults, whatever this one set.
class PicosecondTestCase : public TestCase
{
  public:
    using TestCase::TestCase;

  private:
    void DoSetup() override
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
    }

    void DoTeardown() override
    {
        Simulator::Destroy();
        Config::Reset();
    }
};

} // namespace ns3

#endif /* PICOSECOND_TEST_CASE_H */
