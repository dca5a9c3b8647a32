// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_FLOW_CONTROL_H
#define PACKET_FLOW_CONTROL_H

#include "packet-context.h"
#include "packet-host-scheduler.h"

#include <array>
#include <cstdint>
#include <deque>

namespace ns3
{

class PacketPort;

/**
 * Flow control of one link: the node at its far end has so much room for the data that comes over it, in each
 * priority, and stops the near end before it is full. Control packets have room of their own without limit.
 *
 * Pauses (priority flow control, IEEE 802.1Qbb, in IEEE 802.1Q-2018 clause 36). The far end counts the bytes
 * that wait in it and came over the link. When they exceed `pauseAbove` it sends a frame back, before
 * everything else that goes that way, and another one when they have fallen to `resumeBelow`. Until the first
 * has arrived data keeps coming, which takes room above `pauseAbove`: with n the largest packet, p
 * priorities, f the frame, L the latencies of both ways and R the rate, at most
 *
 *     headroom = R·L + 3n + p·f
 *
 * (the packet that was one too many, one that the frame waits for, the frames of the other priorities and its
 * own, both latencies, a packet just started). With that much room nothing is ever dropped.
 *
 * Credits (Agarwal et al., "GARNET: a detailed on-chip network model inside a full-system simulator", ISPASS
 * 2009, section III): the near end may send as long as the room that it has been granted lasts. What a packet
 * took is free again when it starts to leave the far end, and known to the near end one latency of the way
 * back later, on wires of its own.
 *
 * Ports find out late what left them (PacketPort). While the far end has asked for a pause, or the near end
 * waits for credits, the node at the far end is watched: its ports wake for every start.
 */
class PacketFlowControl
{
  public:
    enum class Kind : uint8_t
    {
        PAUSE,
        CREDIT
    };

    struct Parameters
    {
        Kind kind{Kind::PAUSE};
        uint64_t room{0};        //!< bytes, of each priority
        uint64_t pauseAbove{0};  //!< bytes; PAUSE
        uint64_t resumeBelow{0}; //!< bytes, no more than that; PAUSE
        uint32_t frame{84};      //!< of a pause on the wire; PAUSE
        uint32_t largest{0};     //!< packet
    };

    /// Bytes that may come after a pause was decided on, by the formula above; the frames, and the packet
    /// they wait for, take their time at the rate of the way back.
    /// \param latency of both ways, ps
    /// \param frames p·f, bytes
    static uint64_t GetHeadroom(uint64_t bitsPerSecond,
                                uint64_t bitsPerSecondBack,
                                int64_t latency,
                                uint32_t largest,
                                uint64_t frames);

    /// Of the link that a packet came over, or null: control is not subject to it.
    static PacketFlowControl* Before(const PacketContext& context, const PacketDescriptor& packet);

    /// \param port whose link it is
    /// \param reverse the way back
    PacketFlowControl(const Parameters& parameters, PacketPort& port, PacketPort& reverse);

    /// A packet waits in the far end as of `now`. \returns whether there is room.
    bool Hold(uint8_t priority, uint32_t bytes, int64_t now);
    /// A packet starts to leave the far end; `waited`: it was held before.
    void Release(uint8_t priority, uint32_t bytes, int64_t when, bool waited);

    /// The priorities that are not paused, bit by bit.
    uint32_t GetOpenPriorities() const
    {
        return ~m_paused;
    }

    bool UsesCredits() const
    {
        return m_parameters.kind == Kind::CREDIT;
    }

    /// From when on there are credits for a packet, `start` or later; NEVER as far as is known.
    int64_t GetCreditTime(uint8_t priority, uint32_t bytes, int64_t start) const;
    /// A packet is sent at `start`, for which there are credits.
    void TakeCredits(uint8_t priority, uint32_t bytes, int64_t start);
    /// Nothing can be sent from `start` on for want of credits: what leaves the far end is watched.
    void Starve(int64_t start);

    uint32_t GetLargestPacket() const
    {
        return m_parameters.largest;
    }

    /// The priorities held up, bit by bit.
    uint32_t GetPaused() const
    {
        return m_paused;
    }

    bool IsStarved() const
    {
        return m_isStarved;
    }

    /// Times the link was stopped: pauses of a priority, and waits for credits.
    uint64_t GetStops() const
    {
        return m_stops;
    }

    /// How long any priority was stopped until `now`, ps.
    int64_t GetStoppedTime(int64_t now) const;

  private:
    struct Returned
    {
        int64_t when;
        uint32_t bytes;
        uint8_t priority;
    };

    void Ask(uint8_t priority, bool pause);
    void Pause(uint8_t priority, bool pause);
    void Stop(int64_t when);
    void GoOn(int64_t when);

    Parameters m_parameters;
    PacketPort& m_port;
    PacketPort& m_reverse;
    uint32_t m_asked{0};  //!< pauses, at the far end, bit by bit
    uint32_t m_paused{0}; //!< at the near end, bit by bit
    bool m_isStarved{false};
    std::array<uint64_t, PACKET_PRIORITIES> m_held{};    //!< bytes at the far end; PAUSE
    std::array<uint64_t, PACKET_PRIORITIES> m_credits{}; //!< bytes at the near end; CREDIT
    std::deque<Returned> m_returned;                     //!< on their way, or not counted yet
    uint64_t m_stops{0};
    int64_t m_stoppedSince{0}; //!< while any priority is
    int64_t m_stoppedTime{0};  //!< before that
};

} // namespace ns3

#endif /* PACKET_FLOW_CONTROL_H */
