// SPDX-License-Identifier: GPL-2.0-only
#include "ns3_backend.hpp"

#include "tcp/attributes.hpp"

#include <ns3/node-list.h>
#include <ns3/nstime.h>
#include <ns3/object-factory.h>
#include <ns3/packet-event-scheduler.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

bool g_is_taken = false;
network::RunWatcher* g_watcher = nullptr;  // of the one simulation, while it runs and is watched

/// The scheduler, which the loop of the simulator asks for every event, with a count of them.
class WatchedScheduler final : public sim::PacketEventScheduler {
public:
    static sim::TypeId GetTypeId() {
        static const sim::TypeId type = sim::TypeId("astrolabe::ns3::WatchedScheduler")
                                            .SetParent<sim::PacketEventScheduler>()
                                            .HideFromDocumentation()
                                            .AddConstructor<WatchedScheduler>();
        return type;
    }

    sim::Scheduler::Event RemoveNext() override {
        if (g_watcher != nullptr && --left_ == 0) {
            left_ = g_watcher->pulse();
        }
        return sim::PacketEventScheduler::RemoveNext();
    }

private:
    std::uint64_t left_ = 1;  // events until the next pulse
};

void set_scheduler(const std::string& type) {
    sim::ObjectFactory scheduler;
    scheduler.SetTypeId(type);
    sim::Simulator::SetScheduler(scheduler);
}

}  // namespace

Ns3Backend::Ns3Backend(std::uint64_t seed) {
    ASTROLABE_ASSERT(!g_is_taken && sim::NodeList::GetNNodes() == 0,
                     "one ns-3 simulation lives in a process at a time");
    g_is_taken = true;
    use_picoseconds();
    sim::RngSeedManager::SetRun(seed);
    set_scheduler(sim::PacketEventScheduler::GetTypeId().GetName());
    sim::PacketEventScheduler::OpenGate(false);
    sim::PacketEventScheduler::SetPortsFirst(false);
}

void Ns3Backend::watch(network::RunWatcher& watcher) {
    watcher_ = &watcher;
    set_scheduler(WatchedScheduler::GetTypeId().GetName());
}

Ns3Backend::~Ns3Backend() {
    end();
    g_is_taken = false;
}

void Ns3Backend::end() {
    if (!has_ended_) {
        has_ended_ = true;
        g_watcher = nullptr;  // as it is, unless an invariant broke while it ran
        sim::Simulator::Destroy();
    }
}

Time Ns3Backend::now() const {
    return Time(sim::Simulator::Now().GetTimeStep());
}

void Ns3Backend::stop() {
    sim::PacketEventScheduler::OpenGate(false);
    sim::Simulator::Stop();
}

std::uint64_t Ns3Backend::events_processed() const {
    return sim::Simulator::GetEventCount();
}

void Ns3Backend::schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token) {
    ASTROLABE_ASSERT(delay >= Time(0), "a timer is not in the past");
    ++timers_;
    sim::Simulator::Schedule(sim::TimeStep(static_cast<std::uint64_t>(delay.count())),
                             [this, &handler, token] {
                                 --timers_;
                                 notify(handler, token);
                             });
}

void Ns3Backend::sent(const network::Message& message) {
    ASTROLABE_ASSERT(message.source != message.destination, "a message leaves its host");
    ASTROLABE_ASSERT(message.size >= Bytes(0) && message.on_delivered != nullptr, "a message is whole");
    ++outstanding_;
}

void Ns3Backend::delivered(network::NotificationHandler& handler, std::uint64_t token) {
    --outstanding_;
    notify(handler, token);
}

void Ns3Backend::run() {
    if (outstanding_ > 0 || timers_ > 0) {
        // What is left in the end is taken out unseen when the simulation is destroyed.
        g_watcher = watcher_;
        is_running_ = true;
        sim::PacketEventScheduler::OpenGate(true);
        sim::Simulator::Run();
        sim::PacketEventScheduler::OpenGate(false);
        is_running_ = false;
        g_watcher = nullptr;
    }
}

void Ns3Backend::notify(network::NotificationHandler& handler, std::uint64_t token) {
    // ns-3 lets its clock run over without a word.
    const std::int64_t now = sim::Simulator::Now().GetTimeStep();
    ASTROLABE_ASSERT(now >= latest_, "a simulation ends before ns-3's clock does, after 2^63 ps (106 days)");
    latest_ = now;
    handler.notify(token);
    if (outstanding_ == 0 && timers_ == 0) {
        stop();
    }
}

}  // namespace astrolabe::ns3
