// SPDX-License-Identifier: GPL-2.0-only
/// ns-3's event queues by themselves, as a simulator of packets uses them: the next event is taken and one
/// set for half a microsecond later and what a packet or two takes at 100 Gb/s (the hold model: Jones, "An
/// empirical comparison of priority-queue and event-set implementations", CACM 29(4), 1986). Argument: events
/// pending, which is the number of busy ports: 700 with 128 hosts on two tiers, 6,144 with 1,024 on three.
#include <cstdint>

#include <benchmark/benchmark.h>
#include <ns3/make-event.h>
#include <ns3/packet-context.h>
#include <ns3/packet-event-scheduler.h>
#include <ns3/priority-queue-scheduler.h>

namespace {

template <class Scheduler>
void hold(benchmark::State& state) {
    const auto scheduler = ns3::CreateObject<Scheduler>();
    const auto event = ns3::Ptr<ns3::EventImpl>(ns3::MakeEvent([] {}), false);
    ns3::PacketRandom random(1);
    std::uint32_t number = 0;
    const auto insert_after = [&](std::uint64_t now) {
        constexpr std::uint64_t kLatency = 500'000;  // ps
        constexpr std::uint64_t kPerByte = 80;       // ps
        constexpr std::uint64_t kMostBytes = 2 * 4096;
        const std::uint64_t delay = kLatency + kPerByte * (random.Next() % kMostBytes);
        scheduler->Insert({ns3::PeekPointer(event), {now + delay, number++, 0}});
    };
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        insert_after(0);
    }
    for (auto _ : state) {
        insert_after(scheduler->RemoveNext().key.m_ts);
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK(hold<ns3::PacketEventScheduler>)->Arg(700)->Arg(6'144)->Arg(65'536);
BENCHMARK(hold<ns3::PriorityQueueScheduler>)->Arg(700)->Arg(6'144)->Arg(65'536);

}  // namespace
