// SPDX-License-Identifier: GPL-2.0-only
#include "packet-barrier.h"

#include <thread>

namespace ns3
{

namespace
{

constexpr uint32_t SPINS = 1U << 14; // some hundred microseconds

void
Pause()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

} // namespace

void
PacketBarrier::Arrive()
{
    const uint32_t turn = m_turn.load(std::memory_order_acquire);
    if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m_threads)
    {
        m_arrived.store(0, std::memory_order_relaxed);
        {
            const std::lock_guard<std::mutex> lock(m_mutex);
            m_turn.store(turn + 1, std::memory_order_release);
        }
        m_passed.notify_all();
        return;
    }
    for (uint32_t i = 0; i < SPINS; ++i)
    {
        if (m_turn.load(std::memory_order_acquire) != turn)
        {
            return;
        }
        Pause();
    }
    std::unique_lock<std::mutex> lock(m_mutex);
    m_passed.wait(lock, [&] { return m_turn.load(std::memory_order_acquire) != turn; });
}

void
PacketBarrier::AwaitOthers() const
{
    for (uint32_t i = 0; m_arrived.load(std::memory_order_acquire) + 1 != m_threads; ++i)
    {
        if (i < SPINS)
        {
            Pause();
        }
        else
        {
            std::this_thread::yield();
        }
    }
}

} // namespace ns3
