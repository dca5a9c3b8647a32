/// Opera and RotorNet as topologies: from a few numbers to a fabric.
///
/// N racks of h hosts hang with one uplink each on u rotor switches, which hold N / u random matchings each
/// (rotor_draw.hpp). In `opera` one rotor of each of G groups reconfigures at a time, in `rotornet` all at
/// once (rotor_schedule.hpp). The lengths of a superslice are derived (rotor_timing.hpp) or given. Or all of
/// this comes from a file of the Opera simulator (topology_file.hpp). All links have one rate.
///
/// Cost. With alpha = cost of a rotor fabric's port over that of a static fabric's, about 1.3 in the paper,
/// Opera with h = u = k/2 costs alpha a host. A static expander costs as much with
/// u' = alpha k / (1 + alpha) uplinks of its k ports (expander.hpp).
///
/// Source: Opera (NSDI 2020), section 3 and 5; RotorNet (SIGCOMM 2017), section 3.
#pragma once

#include "rotor_draw.hpp"
#include "topology_file.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network::rotor {

/// The cable of a host; its rate is that of all links, unless uplinks have one of their own.
struct RackLinkParameters {
    Bandwidth rate = Bandwidth(100'000'000'000);
    Time latency;  ///< one way
};

struct BulkParameters {
    BulkRouting routing = BulkRouting::kRotorLb;
    IntraRack intra_rack = IntraRack::kDirect;
    Remainders remainders = Remainders::kAtRandom;
    Bytes payload{1436};
    Bytes header{64};
    std::vector<std::uint32_t> classes{};  ///< traffic classes that are bulk whatever the size
};

struct LowLatencyParameters {
    Bytes cutoff;                          ///< messages below it are low-latency; 0: none is by its size
    std::vector<std::uint32_t> classes{};  ///< traffic classes that are low-latency whatever the size
    std::int64_t window = 30;
    std::int64_t paths = 12;  ///< most shortest paths a pair of racks uses in a superslice

    friend bool operator==(const LowLatencyParameters&, const LowLatencyParameters&) = default;
};

/// So many more of each fail, drawn at random (rotor_failures.hpp).
struct FailureParameters {
    Time at{};                ///< 0: they are broken from the start
    std::int64_t cables = 0;  ///< between racks and rotors
    std::int64_t racks = 0;
    std::int64_t rotors = 0;
    std::int64_t seed = 1;
};

/// A part that fails by its name rather than by lot.
struct BrokenPart {
    enum class Kind : std::uint8_t { kCable, kRack, kRotor };

    Time at{};
    Kind kind = Kind::kCable;
    std::uint32_t rack = 0;   ///< of a cable or rack
    std::uint32_t rotor = 0;  ///< of a cable or rotor
};

struct OperaParameters {
    std::int64_t racks = 0;           ///< must be given, a multiple of the uplinks; or a file
    std::int64_t radix = 0;           ///< even: ports of a rack's switch, half of them uplinks; or
    std::int64_t uplinks = 0;         ///< this
    std::int64_t hosts_per_rack = 0;  ///< 0: as many as uplinks
    std::int64_t groups = 1;          ///< of rotors that reconfigure in parallel; divides uplinks

    RackLinkParameters link;
    std::optional<Bandwidth> uplink_rate;           ///< and of circuits; unset: link.rate
    Time propagation = Time(500'000);               ///< between racks, one way
    Time reconfiguration_delay = Time(10'000'000);  ///< r
    std::int64_t queue = 8;                         ///< full packets a port holds
    std::optional<Time> eps;                        ///< unset: derived
    std::optional<Time> del;                        ///< unset: derived

    std::int64_t draws = 1;
    std::int64_t lift_from = 0;
    std::int64_t seed = 1;  ///< of the matchings

    std::string file;  ///< where `topology` was read
    /// Has all of the above but rate, host latency, propagation and queue; null: they are given one by one.
    std::shared_ptr<const TopologyFile> topology;

    std::vector<FailureParameters> failures;  ///< by time
    std::vector<BrokenPart> broken;           ///< by time; no key of the network says them
    BulkParameters bulk;
    LowLatencyParameters low_latency;

    std::int64_t run_seed = 1;  ///< of choices while messages run

    /// Of copies together: what was checked is what is built.
    std::shared_ptr<RotorDraws> draws_made = std::make_shared<RotorDraws>();
};

/// `groups`, `file` and `low_latency` have no meaning here and are refused: all rotors switch together, so no
/// path outlasts a superslice.
struct RotorNetParameters : OperaParameters {};

/// Draws the matchings where the rest is right, which building then does not do again: O(draws) hop counts of
/// a cycle.
[[nodiscard]] ValidationErrors validation_errors(const OperaParameters& parameters);
[[nodiscard]] ValidationErrors validation_errors(const RotorNetParameters& parameters);

/// Precondition of all that follow: no problems.
[[nodiscard]] std::shared_ptr<const RotorNetwork> make_rotor_network(const OperaParameters& parameters);
[[nodiscard]] std::shared_ptr<const RotorNetwork> make_rotor_network(const RotorNetParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_opera(const OperaParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_rotornet(const RotorNetParameters& parameters);

}  // namespace astrolabe::network::rotor
