// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_REGIONS_H
#define PACKET_REGIONS_H

#include "packet-barrier.h"
#include "packet-calendar.h"
#include "packet-event-scheduler.h"
#include "packet-inlet.h"

#include "ns3/ptr.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

namespace ns3
{

class PacketPort;
struct PacketContext;

/**
 * A fabric simulated by several threads: hosts, with some of the switches, in the simulator's own, region 0;
 * the other switches in regions of their own, each with the calendar of its ports and a thread.
 *
 * Conservative windows of time (Fujimoto, "Parallel discrete event simulation", CACM 33(10), 1990, section
 * "Conservative mechanisms"). A packet that starts over a link between two regions arrives no sooner than the
 * link's latency later. So with L the least latency of such links and T the time of the first event of all
 * that are pending, what arrives from other regions in [T, T + L) has started before T. A window is
 *
 *     advance all ports of links between regions until T, and hand over what arrives before T + L;
 *     all regions: handle the events before T + L.
 *
 * The simulation is the same as by one thread, event by event: what an event does depends on its region and
 * on packets handed to it, and events of one time have an order that all regions know (PacketEventScheduler).
 * Packets are made and given back in region 0 alone, so nothing may be dropped elsewhere.
 *
 * Held windows. The simulation may stop when the last message has arrived, and nothing that would have come
 * after that may have been counted. So where no more packets are due at hosts than have been handed to them,
 * the others wait until region 0 has done its window; a stop in it is theirs too (Settle). Windows with few
 * events are held likewise, and then handled by the one thread: threads that wait for one another cost more.
 *
 * Complexity: a window costs the ports whose links between regions carry something, and two barriers.
 */
class PacketRegions final : public PacketEventGate
{
  public:
    /// A lower bound of the packets that are to arrive at hosts until the simulation may stop.
    using Due = std::function<uint64_t()>;

    /**
     * \param regionOf by node, below `regions`; all hosts are of region 0
     * \param isHost by node
     *
     * Preconditions: nothing has happened yet, links between regions have latencies above 0, and the
     * simulator has a PacketEventScheduler, ports first. Throws std::system_error where no threads are to be
     * had; nothing has changed then.
     */
    PacketRegions(PacketContext& context,
                  const std::vector<uint8_t>& regionOf,
                  const std::vector<bool>& isHost,
                  uint32_t regions,
                  Due due);
    ~PacketRegions() override;
    PacketRegions(const PacketRegions&) = delete;
    PacketRegions& operator=(const PacketRegions&) = delete;

    bool Pass(uint64_t next) override;
    /// All that comes before the present event of the simulator has been handled, but in windows that are not
    /// held, where other regions may be ahead of it by up to a window. They are paused.
    void Settle();
    /// No other region runs until the simulator goes on.
    void Pause();

    /// Events that the simulator did not count, less those that one thread has not; as of the last window, or
    /// of Settle.
    int64_t GetEventsElsewhere() const
    {
        return m_eventsElsewhere;
    }

    // For ports and inlets, in the thread of their region.

    void Schedule(uint32_t region, int64_t when, uint32_t number, EventImpl& event);
    /// The port of a link to another region has something in flight.
    void List(uint32_t region, PacketPort& port);

    /// The event of a port that found its packet handed over: an inlet has another, which is counted.
    void CountCut(uint32_t region)
    {
        ++m_regions[region].cut;
    }

  private:
    /// Events of other regions in a window after which the next is worth its barriers: chosen, not measured;
    /// no result depends on it.
    static constexpr uint64_t THREADED = 192;
    static constexpr uint64_t LAST = std::numeric_limits<int64_t>::max(); //!< of the clock

    struct HandedOver
    {
        PacketInlet* inlet;
        uint32_t packet;
        int64_t arrival;
    };

    struct alignas(64) Region
    {
        PacketCalendar calendar;                       //!< of region 0: empty
        std::vector<PacketPort*> listed;               //!< with something in flight to other regions
        std::vector<std::vector<HandedOver>> outboxes; //!< by region
        uint64_t toHosts{0};                           //!< packets handed over to hosts for this window
        uint64_t handled{0};                           //!< events; of region 0 the simulator counts them
        uint64_t cut{0};                               //!< CountCut
        std::exception_ptr failure;
    };

    enum class Window : uint8_t
    {
        DONE,
        RUNNING, //!< by all threads
        HELD     //!< only region 0 has begun
    };

    void Divide(const std::vector<uint8_t>& regionOf, const std::vector<bool>& isHost);
    void StartThreads();
    void Work(uint32_t region);
    void EndWindow();
    void HandOver(uint32_t region);
    void Take(uint32_t region);
    /// Handles the events before `bound`.
    void Run(uint32_t region, const Scheduler::EventKey& bound);
    bool MayBeLast() const;
    void CountEvents();
    Scheduler::EventKey GetEnd() const; //!< of the window
    /// What `action` throws waits for the end of the window.
    template <class Action>
    void Guarded(uint32_t region, Action action);

    PacketContext& m_context;
    Due m_due;
    uint64_t m_lookahead{LAST};
    std::vector<Region> m_regions;
    std::vector<Ptr<PacketInlet>> m_inlets; //!< by port; null: within a region
    Window m_window{Window::DONE};
    uint64_t m_from{0};          //!< of the window
    uint64_t m_until{0};         //!< of the window
    uint64_t m_dueInWindow{0};   //!< what m_due said when it began
    uint64_t m_handledBefore{0}; //!< events of other regions by the end of the window before the last
    uint64_t m_inWindow{0};      //!< events of other regions in the last window
    int64_t m_eventsElsewhere{0};
    bool m_isOver{false};
    PacketBarrier m_barrier;
    std::vector<std::thread> m_threads;
};

} // namespace ns3

#endif /* PACKET_REGIONS_H */
