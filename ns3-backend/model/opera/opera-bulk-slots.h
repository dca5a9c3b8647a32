// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_BULK_SLOTS_H
#define OPERA_BULK_SLOTS_H

#include "opera-layout.h"
#include "opera-policy.h"
#include "opera-schedule.h"
#include "opera-transmission-slots.h"

#include "ns3/event-id.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * The slots of an Opera network's bulk service: what is granted when circuits come up, and taken back when
 * they go or fail. Who has the packets derives from it: OperaBulk for the packets of this module, OperaFabric
 * for frames of ns-3.
 *
 * Packets wait at hosts (Wait). While any do, the policy is asked at the start of each superslice, after all
 * that happens in its instant, to share every circuit that is installed then; what it grants is committed to
 * the transmission slots of the sender. At the end of the circuit what has not left waits again. Hosts are
 * notified of failures when the next superslice starts: what was granted through circuits that are gone waits
 * again then.
 *
 * While nothing waits no event is pending; when nothing could be granted in a whole cycle, nothing is in
 * flight and nothing new came, nothing ever will be, and no event is pending either (IsStuck).
 */
class OperaBulkSlots
{
  public:
    OperaBulkSlots(const OperaBulkSlots&) = delete;
    OperaBulkSlots& operator=(const OperaBulkSlots&) = delete;

    /// Packets wait, and no circuit will ever take one.
    bool IsStuck() const;

  protected:
    /// Both are used until Stop.
    OperaBulkSlots(const OperaLayout& layout, const OperaSchedule& schedule);
    ~OperaBulkSlots();

    /// Nothing is granted or given back any more, whatever waits.
    void Stop();

    static int64_t Now(); //!< ps

    /// Packets wait at a host from now on.
    void Wait(uint32_t host, uint32_t destination, uint64_t packets, bool isRelayed);
    /// The next packet that may leave a host, at a time at which one may; what lost its slot waits again.
    OperaTransmissionSlots::Departure TakeDeparture(uint32_t host, int64_t when);

    /// A packet that left a host has come to another, or back
    void EndFlight()
    {
        --m_inFlight;
    }

  private:
    virtual OperaBulkPolicy& GetBulkPolicy() const = 0;
    virtual uint32_t GetSlotHosts() const = 0;
    virtual OperaTransmissionSlots& GetSlots(uint32_t host) = 0;
    /// The slots of a host are about to change
    virtual void PrepareSlots(uint32_t host) = 0;
    /// They have changed
    virtual void UseSlots(uint32_t host) = 0;
    virtual void NoteGrant(uint32_t rotor, const OperaGrant& grant) = 0;
    /// Something was granted at the start of a superslice
    virtual void NoteSlots() = 0;

    void WakeForSlot();
    void BeginSlots();
    void Grant(uint32_t rotor);
    void EndSlots(uint64_t superslice);
    void LearnOfFailures(uint64_t superslice);
    template <class Is>
    void WithdrawWhere(Is&& isGone); //!< isGone(rack, rotor)
    void GiveBack();

    const OperaLayout& m_slotLayout;
    const OperaSchedule& m_slotSchedule;
    uint64_t m_inFlight{0};           //!< packets between hosts, and granted ones
    uint64_t m_nextSuperslice{0};     //!< the first that has not started
    uint64_t m_lastChange{0};         //!< superslice before which something came or was granted
    bool m_isAwake{false};            //!< the start of a superslice is pending
    int64_t m_notified{0};            //!< when hosts were last notified of failures, ps
    EventId m_begin;                  //!< of slots
    EventId m_end;                    //!< of those granted last
    std::vector<OperaGrant> m_grants; //!< scratch
    std::vector<OperaGrant> m_back;   //!< scratch
    std::vector<uint32_t> m_touched;  //!< scratch
};

} // namespace ns3

#endif /* OPERA_BULK_SLOTS_H */
