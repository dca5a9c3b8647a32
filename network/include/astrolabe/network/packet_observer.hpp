/// What a packet engine reports of every packet, to those who ask: traces and queue series are written from
/// it.
///
/// An observer sees the output queue in front of every link, and the link:
///     enqueued   the packet came into the queue behind others, or while the link was busy
///     started    its first bit left; `time` is exact
///     dropped    there was no room, or the link lost it
///     marked     the queue set its congestion-experienced bit
///     trimmed    its payload was cut off for want of room; `size` is what is left
///     arrived    it is at the other end: of its header, where the node there cuts through
///
/// Order. `time` is when it happened, exactly, but it may be reported later: an engine that keeps one event a
/// packet and link finds out about a start when it next looks at the port, at most the latency of the link
/// and the serialisation of one packet afterwards. Events of one link and kind are reported in order; those
/// of different links, or of different kinds, are not.
///
/// Observers do not change what they see: a run with one has the fingerprint of a run without.
#pragma once

#include <cstdint>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

enum class PacketEventKind : std::uint8_t { kEnqueued, kStarted, kDropped, kMarked, kTrimmed, kArrived };

enum class PacketKind : std::uint8_t {
    kData,
    kAcknowledgement,
    kNegativeAcknowledgement,
    kCongestionNotification,
    kPull  ///< the receiver asks for more
};

struct PacketEvent {
    Time time;
    LinkId link;
    HostId source;  ///< of the packet, wherever it is
    HostId destination;
    Bytes size;     ///< on the wire, headers included
    Bytes waiting;  ///< in the queue of the link after the event; what is being sent no longer waits
    std::uint64_t sequence = 0;  ///< of data in its queue pair; of others, what they are about
    std::uint32_t queue_pair = 0;
    PacketEventKind what = PacketEventKind::kStarted;
    PacketKind kind = PacketKind::kData;
    std::uint8_t priority = 0;  ///< 0 to 7, the greater the more urgent
    bool is_marked = false;     ///< carries the congestion-experienced bit
    bool is_trimmed = false;    ///< only the header is left
    bool is_repeated = false;   ///< was sent before
};

class PacketObserver {
public:
    virtual void packet(const PacketEvent& event) = 0;

protected:
    ~PacketObserver() = default;
};

}  // namespace astrolabe::network
