/// What a backend remembers of the past while nothing is in flight.
///
/// A backend is *at rest* where no message is outstanding, nothing of an earlier one is left in the network
/// (acknowledgements, retransmissions, frames), and no event is pending but timers of its user. What happens
/// next then depends on what the user does and on what the backend remembers: random streams, windows, the
/// place of circuits in their period. Two instants of one backend at rest that have the same hash are
/// followed by the same, at times that differ by what lies between the two.
#pragma once

#include <cstdint>
#include <optional>

namespace astrolabe::network {

/// A NetworkBackend whose state can be known is one of these, too.
class RestState {
public:
    /// Nothing: something is in flight, or the state of this backend, as it is set up, is not known.
    /// O(links).
    [[nodiscard]] virtual std::optional<std::uint64_t> state_at_rest() const = 0;

protected:
    ~RestState() = default;
};

}  // namespace astrolabe::network
