// SPDX-License-Identifier: GPL-2.0-only
#include "simulator_scope.hpp"

#include "attributes.hpp"

#include <ns3/node-list.h>
#include <ns3/object-factory.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

constexpr const char* kScheduler = "ns3::PriorityQueueScheduler";
bool g_is_taken = false;

}  // namespace

SimulatorScope::SimulatorScope(std::uint64_t seed) {
    ASTROLABE_ASSERT(!g_is_taken && sim::NodeList::GetNNodes() == 0,
                     "one ns-3 simulation lives in a process at a time");
    g_is_taken = true;
    use_picoseconds();
    sim::RngSeedManager::SetRun(seed);
    sim::ObjectFactory scheduler;
    scheduler.SetTypeId(kScheduler);
    sim::Simulator::SetScheduler(scheduler);
}

SimulatorScope::~SimulatorScope() {
    sim::Simulator::Destroy();
    g_is_taken = false;
}

}  // namespace astrolabe::ns3
