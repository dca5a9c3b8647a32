// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_EVENT_SCHEDULER_H
#define PACKET_EVENT_SCHEDULER_H

#include "packet-calendar.h"

#include "ns3/scheduler.h"

#include <cstdint>
#include <limits>

namespace ns3
{

/// Who has more for the simulator than the events that it was given (PacketRegions).
class PacketEventGate
{
  public:
    virtual ~PacketEventGate() = default;
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

    /// The next event that the simulator has is at `next`, not before the horizon, or there is none. What
    /// comes from elsewhere before the new horizon has been inserted afterwards.
    ///
    /// \returns whether anything is left, here or elsewhere
    virtual bool Pass(uint64_t next) = 0;

    /// Events before it may be taken.
    uint64_t GetHorizon() const
    {
        return m_horizon;
    }

  protected:
    uint64_t m_horizon{0};
};

/**
 * The events of a simulation of packets in a PacketCalendar: by time, and at one time in the order in which
 * they were set, as by ns-3's own schedulers; or, if asked for, first those of ports, by the numbers of their
 * ports, and then all others as they were set.
 *
 * With that, which of two packets comes first that reach a node at one time follows from the links they come
 * over, and not from what has been scheduled when, which only a simulation by one thread could tell.
 */
class PacketEventScheduler : public Scheduler
{
  public:
    static TypeId GetTypeId();

    PacketEventScheduler();
    ~PacketEventScheduler() override;

    void Insert(const Event& event) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    /// O(n).
    void Remove(const Event& event) override;

    // Of all schedulers of this type, as there is one simulator.

    /// Whether events of ports come first, by number: before any event is set.
    static void SetPortsFirst(bool isFirst);
    /// Whether there is one, and they do.
    static bool HasPortsFirst();
    /// Null: none.
    static void SetGate(PacketEventGate* gate);
    /// While the gate is shut events are taken as they are: before the simulator runs, and from when it is
    /// told to stop, as it asks once more whether there are any.
    static void OpenGate(bool isOpen);
    /// The key, as ordered here, of the event that was taken last.
    static EventKey GetLastKey();
    /// The key of an event of a port at a time.
    static EventKey KeyOf(uint64_t when, uint32_t port);
    /// Of such a key.
    static uint64_t TimeOf(const EventKey& key);

  private:
    static Event Ordered(const Event& event);

    PacketCalendar m_calendar; //!< in halves of a unit of time: ports at the first, others at the second
    uint32_t m_lastOther{0};   //!< ns-3's number of the last event taken that was no port's
    static uint32_t g_count;
    static PacketEventGate* g_gate;
    static bool g_isOpen;
    static bool g_hasPortsFirst;
    static EventKey g_last;
};

} // namespace ns3

#endif /* PACKET_EVENT_SCHEDULER_H */
