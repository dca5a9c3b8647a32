// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_TURNS_H
#define OPERA_TURNS_H

#include "opera-policy.h"
#include "ns3/packet-offers.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * When a host sends the bulk packets it was granted.
 *
 * What was granted through a rotor's circuit waits in a queue of that rotor. The m-th of n packets of a
 * grant, from 0, falls due at
 *
 *     begin of the slot + m · slot / n.
 *
 * The link visits the queues in turn, for the time of one packet each, and others that stay empty if there
 * are more parts of it than rotors; what falls due before the next visit to the same queue leaves, the
 * earliest first, then by order of granting. A visit without such is a dummy: its time passes. So a host
 * sends no faster than its share of the link towards any rotor. Turns begin with the first grant after a time
 * without.
 *
 * Other traffic goes first and delays a visit; the delay is made up for by dummies that take less time or
 * none. For each packet's time of it beyond parts - 1 dummies one granted packet is given back, the last of
 * the youngest grants. Unlike in the reference simulator other traffic need not wait for the end of a dummy.
 *
 * O(log grants + parts) a packet.
 *
 * Source: the released simulator of Opera (Mellette et al., NSDI 2020); its commit queues.
 */
class OperaTurns
{
  public:
    /// A packet that leaves.
    struct Turn
    {
        uint32_t rotor;
        uint32_t to;
        uint32_t destination;
        bool isRelayed;
    };

    static constexpr int64_t NEVER = PacketSource::NEVER;

    /// \param parts of the link, at least as many as rotors
    /// \param turn time of a packet on the link, ps \param slot that of a circuit, ps
    OperaTurns(uint32_t parts, int64_t turn, int64_t slot);

    /// Packets may leave through a rotor whose circuit came up at `begin`, which is now. Plan has to follow.
    void Commit(uint32_t rotor, int64_t begin, const OperaGrant& grant);
    /// The circuit is no longer to be used: what is left of grants through it is appended. Plan has to
    /// follow.
    void Withdraw(uint32_t rotor, uint32_t host, std::vector<OperaGrant>& left);
    /// Finds the next visit that is not a dummy.
    void Plan();

    /// When the next packet leaves, unless other traffic delays it.
    int64_t
    GetNext() const
    {
        return m_next;
    }

    bool
    IsEmpty() const
    {
        return m_left == 0;
    }

    /// The packet planned leaves at `when`, then or later. What is given back in turn is appended.
    Turn Take(int64_t when, uint32_t host, std::vector<OperaGrant>& back);

  private:
    struct Grant
    {
        int64_t begin;
        int64_t due; //!< of packet `next`
        uint64_t order;
        uint32_t next;
        uint32_t end; //!< of those left
        uint32_t of;  //!< that the slot is divided into
        uint32_t to;
        uint32_t destination;
        bool isRelayed;
    };

    /// What is planned by, of each queue side by side: a look at all of them is one at a cache line or two.
    struct First
    {
        int64_t begin;
        int64_t due{NEVER}; //!< none: the queue is empty
    };

    static bool IsLater(const Grant& a, const Grant& b);
    int64_t GetDue(const Grant& grant, uint32_t packet) const;
    bool IsDue(uint32_t rotor, int64_t visit) const;
    void NoteFirst(uint32_t rotor);
    void GiveBackLast(uint32_t host, std::vector<OperaGrant>& back);

    int64_t m_turn;
    int64_t m_round; //!< from one visit of a queue to the next
    int64_t m_slot;
    std::vector<std::vector<Grant>> m_queues; //!< by rotor, heaps
    std::vector<First> m_firsts;              //!< by rotor
    uint64_t m_order{0};
    uint64_t m_left{0};    //!< packets
    uint32_t m_visited{0}; //!< the queue whose visit begins at m_clock
    int64_t m_clock{0};
    int64_t m_behind{0}; //!< the visits are, ps
    int64_t m_next{NEVER};
    uint32_t m_nextRotor{0};
};

} // namespace ns3

#endif /* OPERA_TURNS_H */
