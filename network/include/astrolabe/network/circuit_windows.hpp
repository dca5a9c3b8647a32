/// Circuit windows: when the hosts of two places are connected directly, for those who plan traffic on it
/// (NetworkFamily::circuit_windows).
///
/// Model. Hosts are at *places* (racks). A circuit connects two places for a while, again and again: each
/// time is a *window* of the ordered pair. What was handed over to the network at the start of the window or
/// before may leave until its end, and has arrived by then but for the latency of its path. Over one window a
/// host sends at most `packets` packets, of at most `payload` bytes of one message each, and receives as
/// many; so m hosts of one place that all send to the same m hosts of the other have ⌊packets / m⌋ for each
/// pair.
///
/// Example. Circuits connect racks 0 and 1 in [0, 90 us), [400 us, 490 us), … A message of rack 0 for rack 1
/// that is handed over at 50 us leaves in the first window if that has room, else, with no relay, in the
/// second.
///
/// What waits in the network meanwhile is the network's to forward over third places. To be sent in one
/// window and in nothing else a message is handed over within `notice` before its start: no other window of
/// its host starts in that time.
///
/// Places that are never connected have no windows. A place has windows with itself where the network
/// connects its hosts without a circuit.
///
/// Limits: windows are those that are planned. What fails in the course of a run, and what other traffic
/// takes of a circuit, is not in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

using PlaceId = Id<struct PlaceTag>;

struct CircuitWindow {
    Time begin;
    Time end;
};

class CircuitWindows {
public:
    virtual ~CircuitWindows() = default;

    [[nodiscard]] virtual std::size_t places() const = 0;
    [[nodiscard]] virtual PlaceId place_of(HostId host) const = 0;

    /// The first window that starts at or after `time` >= 0; none: there never is one, or not before
    /// time ends. O(windows of the pair in a period).
    [[nodiscard]] virtual std::optional<CircuitWindow> next(PlaceId from, PlaceId to, Time time) const = 0;
    /// After which all windows between different places repeat.
    [[nodiscard]] virtual Time period() const = 0;

    [[nodiscard]] virtual std::uint32_t packets() const = 0;
    [[nodiscard]] virtual Bytes payload() const = 0;
    [[nodiscard]] virtual Time notice() const = 0;
    /// Do messages of this traffic class wait for circuits, whatever their size? Then they may be cut.
    [[nodiscard]] virtual bool wait_for_circuits(std::uint32_t traffic_class) const = 0;
};

}  // namespace astrolabe::network
