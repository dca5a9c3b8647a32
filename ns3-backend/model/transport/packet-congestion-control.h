// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_CONGESTION_CONTROL_H
#define PACKET_CONGESTION_CONTROL_H

#include "packet-queue-pair.h"

#include "ns3/packet-context.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

class PacketCongestionControl;
struct PacketTransportCore;
struct PacketTransportParameters;

constexpr double PACKET_BIT_PICOSECONDS = 8e12; ///< in a byte, at 1 bit/s

/// What is known of a congestion control before it runs.
struct PacketControlKind
{
    enum Trait : uint32_t
    {
        IS_WINDOWED = 1,    //!< a window alone holds packets back, neither a rate nor pulls
        IS_PULLED = 2,      //!< the receiver answers every packet, and asks for the next ones
        USES_MARKS = 4,     //!< switches mark packets for it
        USES_TELEMETRY = 8, //!< links note their state on packets that ask for an acknowledgement
        USES_RATES = 16,    //!< Start needs the rates of the pair's links
        HAS_NO_SECTION = 32 //!< its keys are among those of the transport in a configuration file
    };

    const char* name;  //!< as users write it; the names of its attributes start with it
    const char* title; //!< full name and source
    uint32_t traits;
    std::unique_ptr<PacketCongestionControl> (*make)(PacketTransportCore&); //!< MakePacketControl

    constexpr bool Has(Trait trait) const
    {
        return (traits & trait) != 0;
    }
};

template <class Control>
std::unique_ptr<PacketCongestionControl>
MakePacketControl(PacketTransportCore& core)
{
    return std::make_unique<Control>(core);
}

/// The rates of the links at both ends of a queue pair, bit/s; 0 unless USES_RATES.
struct PacketLinkRates
{
    uint64_t out; //!< of the sender
    uint64_t in;  //!< into the receiver
};

/**
 * The congestion control of all queue pairs of a transport: how many packets may be in flight (`allowed` of
 * the pair), after how many the sender asks for an acknowledgement at the latest (`askAfter`), when the next
 * packet may leave, and what the receiver reports.
 *
 * One object serves all pairs and keeps their state in one vector by number (PacketPairStates). Hooks that an
 * algorithm does not need stay as they are here: a window that never changes.
 *
 * To add one: derive from this class in a header and a source of its own, with
 *
 *     using Parameters = …;                      // described by VisitParameters, or PacketNoParameters
 *     static constexpr PacketControlKind KIND{…, MakePacketControl<…>};
 *     explicit …(PacketTransportCore& core);
 *
 * and put it into the list in packet-congestion-controls.h. Its attributes, its section in configuration
 * files with ranges and documentation, and its name in `CongestionControl` follow from these.
 */
class PacketCongestionControl
{
  public:
    explicit PacketCongestionControl(PacketTransportCore& core);
    virtual ~PacketCongestionControl() = default;
    PacketCongestionControl(const PacketCongestionControl&) = delete;
    PacketCongestionControl& operator=(const PacketCongestionControl&) = delete;

    // clang-format off

    /// A pair starts; what it had under an earlier incarnation is over.
    virtual void Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates&) { Open(index, pair); }
    /// A pair may send its first window: when it starts, and when a handshake is done.
    virtual void Open(uint32_t /* index */, PacketQueuePair& pair) { Allow(pair, m_windowPackets); }
    /// A pair is given back.
    virtual void End(uint32_t /* index */) {}
    /// A pair is about to be used: asks for its state.
    virtual void Fetch(uint32_t /* index */) const {}

    // The sender

    /// A message comes to a pair that has sent everything before it.
    virtual void Resume(uint32_t /* index */, PacketQueuePair&) {}
    /// A packet of `bytes` leaves at `when`. \returns when the next may.
    virtual int64_t Sent(uint32_t /* index */, PacketQueuePair&, uint32_t /* bytes */, int64_t when) { return when; }
    /// When the next packet may leave, maybe in the past.
    virtual int64_t GetReadyTime(uint32_t /* index */) const { return 0; }
    /// `packets` more have been acknowledged, `marked` of them marked, with what the links noted, if anything.
    /// \returns whether `telemetry` has been kept.
    virtual bool Acknowledged(uint32_t /* index */, PacketQueuePair&, uint64_t /* packets */,
                              uint64_t /* marked */, uint32_t /* telemetry */) { return false; }
    /// A packet is missing; reported once for each window of data.
    virtual void Lost(uint32_t /* index */, PacketQueuePair&) {}
    /// Nothing was acknowledged in time, so `lost` packets are presumed lost.
    virtual void TimedOut(uint32_t /* index */, PacketQueuePair&, uint64_t /* lost */) {}
    /// The receiver has notified the sender of congestion.
    virtual void Notified(uint32_t /* index */, int64_t /* now */) {}
    /// The rate of a pair in bit/s, for traces; 0: that of its window.
    virtual uint64_t GetRate(uint32_t /* index */) const { return 0; }

    // The receiver

    /// A marked packet has arrived. \returns whether the receiver notifies the sender.
    virtual bool Marked(uint32_t /* index */, int64_t /* now */) { return false; }

    // Pulls, with IS_PULLED. A pair without credit holds NOT_PULLED.

    /// Receiver: a packet has arrived, or its header alone, and is about to be answered.
    virtual void Arrived(uint32_t /* index */, const PacketQueuePair&, bool /* isTrimmed */) {}
    /// Receiver: what every answer carries to the sender.
    virtual uint16_t GetNote(uint32_t /* index */) const { return 0; }
    /// Sender: an answer has come, with that note.
    virtual void Answered(uint32_t /* index */, PacketQueuePair&, uint16_t /* note */) {}
    /// Sender: a pull has come, `count` in all.
    virtual void Pulled(uint32_t /* index */, PacketQueuePair&, uint64_t /* count */) {}
    /// Sender: a packet has come back that found no room on its way.
    virtual void Returned(uint32_t /* index */, PacketQueuePair&) {}

    // clang-format on

  protected:
    /// Sets what a window of `packets`, which may be a fraction, means to the sender.
    void Allow(PacketQueuePair& pair, double packets) const;

    uint32_t GetWindowPackets() const
    {
        return m_windowPackets;
    }

    PacketTransportCore& m_core;
    const PacketTransportParameters& m_parameters;

  private:
    uint32_t m_windowPackets;
};

/// The state of a congestion control for each queue pair, by number.
template <class State>
class PacketPairStates
{
  public:
    /// A pair starts with a new state.
    State& Restart(uint32_t index)
    {
        if (index >= m_states.size())
        {
            m_states.resize(std::size_t{index} + 1);
        }
        return m_states[index] = State();
    }

    /// It is about to be used.
    void Fetch(uint32_t index) const
    {
        __builtin_prefetch(m_states.data() + index, 1);
    }

    State& operator[](uint32_t index)
    {
        return m_states[index];
    }

    const State& operator[](uint32_t index) const
    {
        return m_states[index];
    }

  private:
    std::vector<State> m_states;
};

/// Of a congestion control that has none of its own.
struct PacketNoParameters
{
    template <class Visitor>
    static void VisitParameters(Visitor&&)
    {
    }
};

/// The window never changes.
class PacketFixedWindow final : public PacketCongestionControl
{
  public:
    using Parameters = PacketNoParameters;
    static constexpr PacketControlKind KIND{
        "none", "", PacketControlKind::IS_WINDOWED, MakePacketControl<PacketFixedWindow>};

    using PacketCongestionControl::PacketCongestionControl;
};

} // namespace ns3

#endif /* PACKET_CONGESTION_CONTROL_H */
