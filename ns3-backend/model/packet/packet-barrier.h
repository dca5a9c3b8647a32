// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_BARRIER_H
#define PACKET_BARRIER_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ns3
{

/**
 * A number of threads that wait for one another, again and again. They spin for a while, as the next one is
 * a fraction of a millisecond away where there is enough to do, and then sleep.
 *
 * What a thread wrote before it arrived is seen by all after they have passed.
 */
class PacketBarrier
{
  public:
    explicit PacketBarrier(uint32_t threads)
        : m_threads(threads)
    {
    }

    /// Returns when all have arrived.
    void Arrive();
    /// Returns when all but one have arrived, the caller being the one; what they wrote before is seen.
    void AwaitOthers() const;

  private:
    uint32_t m_threads;
    alignas(64) std::atomic<uint32_t> m_arrived{0};
    alignas(64) std::atomic<uint32_t> m_turn{0};
    std::mutex m_mutex;
    std::condition_variable m_passed;
};

} // namespace ns3

#endif /* PACKET_BARRIER_H */
