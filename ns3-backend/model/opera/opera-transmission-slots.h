// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_TRANSMISSION_SLOTS_H
#define OPERA_TRANSMISSION_SLOTS_H

#include "ns3/packet-host-scheduler.h"
#include "opera-policy.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * When a host sends the bulk packets that it was granted.
 *
 * The rotors share the host's link round-robin. A round has `parts` transmission slots, each as long as one
 * packet takes; slot i carries packets that were granted through a circuit of rotor i, and those beyond the
 * number of rotors carry none. So a host sends at most 1/parts of its link's rate towards any rotor.
 *
 * The packets of a grant are spread over the time D for which a circuit is used: packet m of n, from 0, is
 * due at start + m·D/n. In a rotor's slot its earliest packet leaves if it is due before that rotor's next
 * slot, ties by order of granting; otherwise the slot stays empty, and its time passes. Rounds start with
 * the first grant after a time without.
 *
 * Example. Slots of 1 us and 3 parts make a round of 3 us. The circuit of rotor 0 is up at 0 for 12 us, and
 * 2 packets are granted, due at 0 and 6 us. The slots of rotor 0 start at 0, 3, 6 and 9 us: the first packet
 * leaves at 0, the slot at 3 us stays empty (6 us is not before the next slot at 6 us), and the second packet
 * leaves at 6 us. Of 4 packets one would leave in each of these slots.
 *
 * Other traffic goes first and delays a slot. Empty slots that follow make up for it by taking less time or
 * none: if a packet of 1 us delays the slot at 6 us to 7 us, the next empty one takes no time. When the delay
 * has grown to a round, one granted packet for each packet's time is given back until it is shorter than a
 * round, the last of the youngest grants. Unlike in the reference simulator other traffic need not wait for
 * the end of an empty slot.
 *
 * O(log grants + parts) a packet.
 *
 * Source: the released simulator of Opera (Mellette et al., NSDI 2020); its commit queues.
 */
class OperaTransmissionSlots
{
  public:
    /// A packet that leaves.
    struct Departure
    {
        uint32_t rotor;
        uint32_t to;
        uint32_t destination;
        bool isRelayed;
    };

    static constexpr int64_t NEVER = PacketSource::NEVER;

    /// \param parts of a round, at least as many as rotors
    /// \param packetTime of a packet on the link, ps \param circuitTime for which a circuit is used, ps
    OperaTransmissionSlots(uint32_t parts, int64_t packetTime, int64_t circuitTime);

    /// Packets may leave through a rotor whose circuit came up at `start`, which is now. Plan has to follow.
    void Commit(uint32_t rotor, int64_t start, const OperaGrant& grant);
    /// The circuit is no longer to be used: what is left of grants through it is appended. Plan has to
    /// follow.
    void Withdraw(uint32_t rotor, uint32_t host, std::vector<OperaGrant>& left);
    /// Finds the next slot that is not empty.
    void Plan();

    /// When the next packet leaves, unless other traffic delays it.
    int64_t GetNext() const
    {
        return m_next;
    }

    bool IsEmpty() const
    {
        return m_left == 0;
    }

    /// The planned packet leaves at `when`, which is its slot or later. What is given back for it is
    /// appended.
    Departure Take(int64_t when, uint32_t host, std::vector<OperaGrant>& back);

  private:
    struct Grant
    {
        int64_t start;
        int64_t due; //!< of packet `next`
        uint64_t order;
        uint32_t next;
        uint32_t end; //!< of those left
        uint32_t of;  //!< that the time of the circuit is divided into
        uint32_t to;
        uint32_t destination;
        bool isRelayed;
    };

    /// The earliest packet of each queue. Side by side they take a cache line or two, and Plan reads them
    /// all.
    struct First
    {
        int64_t start;
        int64_t due{NEVER}; //!< none: the queue is empty
    };

    static bool IsLater(const Grant& a, const Grant& b);
    int64_t GetDue(const Grant& grant, uint32_t packet) const;
    bool IsDue(uint32_t rotor, int64_t slot) const;
    void NoteFirst(uint32_t rotor);
    void GiveBackLast(uint32_t host, std::vector<OperaGrant>& back);

    int64_t m_packetTime; //!< and of a slot
    int64_t m_round;      //!< from one slot of a rotor to the next
    int64_t m_circuitTime;
    std::vector<std::vector<Grant>> m_queues; //!< by rotor, heaps
    std::vector<First> m_firsts;              //!< by rotor
    uint64_t m_order{0};
    uint64_t m_left{0};    //!< packets
    uint32_t m_current{0}; //!< the queue whose slot starts at m_clock
    int64_t m_clock{0};
    int64_t m_delay{0}; //!< of the slots, ps
    int64_t m_next{NEVER};
    uint32_t m_nextRotor{0};
};

} // namespace ns3

#endif /* OPERA_TRANSMISSION_SLOTS_H */
