// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_PORT_SCHEDULER_H
#define PACKET_PORT_SCHEDULER_H

#include "packet-host-scheduler.h"

#include <array>
#include <cstdint>

namespace ns3
{

/**
 * Which priority is next among those that have something to send.
 *
 * Strict: the most urgent. Weighted: surplus round robin, which needs no packet's size before it is sent
 * (Adiseshu, Parulkar and Varghese, "A reliable and scalable striping protocol", SIGCOMM 1996, section 3): a
 * priority is served while its balance is above zero, each packet is taken off, and each round adds weight ×
 * quantum. Over a time in which a priority always has something to send it gets its share of the link, to
 * within a quantum and a packet. Balances above zero are lost when there is nothing to send.
 *
 * O(1) where the quantum is no smaller than a packet.
 */
class PacketPortScheduler
{
  public:
    /// \param weights of each priority, all at least 1 \param quantum in bytes, at least 1
    void SetWeights(const std::array<uint32_t, PACKET_PRIORITIES>& weights, uint32_t quantum)
    {
        for (uint8_t priority = 0; priority < PACKET_PRIORITIES; ++priority)
        {
            m_share[priority] = int64_t{weights[priority]} * quantum;
        }
        m_isWeighted = true;
    }

    /// Strict.
    static uint8_t PickHighest(uint32_t mask)
    {
        return static_cast<uint8_t>(31 - __builtin_clz(mask));
    }

    /// \param mask the priorities that have something to send, bit by bit, not none of them
    uint8_t Pick(uint32_t mask)
    {
        if ((mask & (mask - 1)) == 0 || !m_isWeighted)
        {
            return PickHighest(mask);
        }
        for (uint8_t priority = 0; priority < PACKET_PRIORITIES; ++priority)
        {
            if ((mask & 1U << priority) == 0 && m_balance[priority] > 0)
            {
                m_balance[priority] = 0;
            }
        }
        while ((mask & 1U << m_turn) == 0 || m_balance[m_turn] <= 0)
        {
            m_turn = static_cast<uint8_t>((m_turn + 1) % PACKET_PRIORITIES);
            if ((mask & 1U << m_turn) != 0)
            {
                m_balance[m_turn] += m_share[m_turn];
            }
        }
        return m_turn;
    }

    void Charge(uint8_t priority, uint32_t bytes)
    {
        if (m_isWeighted)
        {
            m_balance[priority] -= bytes;
        }
    }

  private:
    std::array<int64_t, PACKET_PRIORITIES> m_share{};
    std::array<int64_t, PACKET_PRIORITIES> m_balance{};
    uint8_t m_turn{0};
    bool m_isWeighted{false};
};

} // namespace ns3

#endif /* PACKET_PORT_SCHEDULER_H */
