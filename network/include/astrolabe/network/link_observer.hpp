/// What links carry while they carry it, and what arrives, on any engine: the one source of everything that
/// is said of traffic over time.
///
/// Model. An engine cuts what happens into *pieces*: a link carries `wire` bytes, of which `payload` are
/// bytes of messages, evenly from `from` to `to`. A piece never exceeds the link's rate,
///
///     8 · wire ≤ rate · (to - from),
///
/// but for the rounding of times to a picosecond, and the pieces of a link sum to what it carried.
///
///     fluid    a connection between two changes of its rate, on all links of its route at once, since
///              bits follow each other through all hops; with circuits, what its periodic rate gives
///     slots    what is granted of a slot, evenly over the slot, and shifted by the way to the link; a
///              piece of a low-latency message while the link transmits it
///     packets  a packet from its first bit to its last; headers, acknowledgements and what is sent again
///              are wire bytes like all others, and payload counts each time it crosses the link
///
/// Deliveries are payload that reaches its receiver for the first time: whole packets at their arrival, fluid
/// as it leaves the source but later by the latency of the path. They sum to the payload of all messages.
///
/// An observer does not change what it sees.
#pragma once

#include <cstdint>
#include <span>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

/// Which pieces an engine reports.
enum class LinkReports : std::uint8_t {
    kNothing,
    kDeliveries,  ///< links share nothing, so that none can be said to carry something at some time
    kAll,         ///< the pieces of a link fit into its rate together
    kOverlapping  ///< they may overlap: a service goes before another, or rounding is more than of times
};

/// Bytes of a piece; a fraction where an end of the piece cuts a byte.
struct PieceBytes {
    double wire = 0;
    double payload = 0;
};

class LinkObserver {
public:
    /// Before any piece, of an engine that takes links together: links with one number, by link, always carry
    /// the same, and a piece of one of them is one of each.
    virtual void links_are_alike(std::span<const std::uint32_t> class_of) = 0;
    /// Into how long intervals, from 0 on, the observer cuts the time until `end`. Later it may be a
    /// multiple.
    [[nodiscard]] virtual Time interval(Time end) = 0;

    /// from <= to; a piece without length happens at once.
    virtual void carried(LinkId link, Time from, Time to, const PieceBytes& bytes) = 0;
    virtual void delivered(HostId destination, Time from, Time to, double payload) = 0;

protected:
    ~LinkObserver() = default;
};

}  // namespace astrolabe::network
