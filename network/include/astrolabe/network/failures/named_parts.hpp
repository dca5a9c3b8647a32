/// Parts of a network that fail by rules of its family (family.hpp), by their names, where the links of the
/// fabric are not what fails: circuits of switches that turn, of which a cable carries many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network {

enum class PartKind : std::uint8_t { kCable, kSwitch, kHost };

struct NamedPart {
    PartKind kind = PartKind::kCable;
    std::string name;
    std::string other;       ///< of a cable: its ends in the other order
    std::string part_class;  ///< of a cable: "host-rack"
};

/// Of a named part: it runs at `factor` of its rate from `from` on and before `until`.
struct PartFailure {
    std::size_t part = 0;  ///< its place in NetworkFamily::named_parts
    Time from;
    Time until = Time::max();  ///< for ever
    double factor = 0;         ///< 0: it is down
};

/// What a family cannot break, and why.
struct PartProblem {
    std::size_t failure = 0;  ///< its place among those given
    std::string message;
    std::string hint;
};

}  // namespace astrolabe::network
