/// What a fabric of rotor switches has beside its graph: the schedule, and how hosts use it.
///
/// Two services share the links (Opera, NSDI 2020, section 4). *Bulk* messages wait at their host for a
/// circuit to the rack they go to, or take two hops through a third rack where capacity is left over
/// (rotor_lb.hpp). *Low-latency* messages leave at once, over the shortest path of the expander that the
/// circuits of the moment form. Which one a message gets, for all engines, is said by `is_low_latency`.
///
/// Hosts are numbered by rack: host = rack * hosts_per_rack + port. All links of hosts have one rate, and all
/// links between racks. An engine that knows rotors reads this; for all others the fabric's circuits define
/// when which racks are joined, and messages wait for the circuit between their racks.
///
/// Failures. A network starts in one state and passes to others as parts fail (rotor_failures.hpp). From the
/// instant of a failure circuits of what failed carry nothing. Hosts and switches know of it from the start
/// of the next superslice, or at once where one starts in that instant: what RotorLB shares out and which
/// paths low-latency packets take are then those of the new state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/rotor/fair_share.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>

namespace astrolabe::network {
class Fabric;
}

namespace astrolabe::network::rotor {

/// The name under which engines for rotors register (components.hpp).
inline constexpr std::string_view kRotorEngines = "rotor";

class SlicePaths;
struct TopologyFile;

/// How bulk messages reach another rack.
enum class BulkRouting : std::uint8_t {
    kRotorLb,    ///< over the direct circuit, or over a third rack with capacity that is left
    kDirectOnly  ///< over the direct circuit
};

/// How bulk messages between hosts of one rack travel.
enum class IntraRack : std::uint8_t {
    kTwoHops,  ///< through another rack and back, in capacity that is left over, as in Opera's simulator
    kDirect    ///< through their top-of-rack switch
};

/// Some of the traffic classes 0 to 7 of messages.
class TrafficClasses {
public:
    static constexpr std::uint32_t kMost = 7;

    void add(std::uint32_t traffic_class) { bits_ |= 1U << traffic_class; }
    [[nodiscard]] bool contain(std::uint32_t traffic_class) const {
        return (bits_ >> traffic_class & 1) != 0;
    }
    [[nodiscard]] bool empty() const { return bits_ == 0; }

private:
    std::uint32_t bits_ = 0;
};

struct BulkService {
    BulkRouting routing = BulkRouting::kRotorLb;
    IntraRack intra_rack = IntraRack::kDirect;
    Remainders remainders = Remainders::kAtRandom;  ///< of fair shares
    Bytes payload{1436};  ///< of a packet; every packet takes payload + header on the wire
    Bytes header{64};
    TrafficClasses classes{};  ///< bulk whatever their size; none of those of low latency
};

struct LowLatencyService {
    Bytes cutoff{0};           ///< messages below it are low-latency; 0: none is by its size
    std::int64_t queue = 8;    ///< full packets a port holds of data, and again of headers
    std::int64_t window = 30;  ///< packets sent before the first pull
    TrafficClasses classes{};  ///< low-latency whatever their size
};

/// A rotor network from a failure on.
struct RotorState {
    Time from;               ///< above 0
    RotorSchedule schedule;  ///< without the circuits of all that failed so far
    std::shared_ptr<const SlicePaths> paths;
};

struct RotorNetwork {
    RotorSchedule schedule;  ///< at the start
    std::uint32_t hosts_per_rack = 0;
    Bandwidth rate;    ///< of every link between racks
    Time propagation;  ///< between racks, each way
    Time host_latency;
    BulkService bulk;
    LowLatencyService low_latency;
    /// Paths of low-latency packets in every superslice, at the start; null where no message can be one.
    std::shared_ptr<const SlicePaths> paths;
    std::uint64_t seed = 1;  ///< of choices among equal paths and of remainders in fair shares
    /// Where all of the schedule and the paths were read, to be written back as it was; null: drawn, or
    /// something failed since.
    std::shared_ptr<const TopologyFile> file = nullptr;
    std::optional<Bandwidth> host_rate{};  ///< of every link of a host; unset: that of links between racks
    std::vector<RotorState> failing{};     ///< later states, by time; null paths where `paths` are

    [[nodiscard]] Bandwidth rate_of_host() const { return host_rate.value_or(rate); }
    /// Into how many parts a host's link is divided, each as long as a packet takes on it: in a round of them
    /// it sends one packet on each of its u circuits, and no more than its share of a circuit that h hosts
    /// fill, max(u, ⌈h · rate_of_host / rate⌉).
    [[nodiscard]] std::uint32_t parts_of_host() const {
        const auto filling = static_cast<astrolabe::detail::Int128>(hosts_per_rack) * rate_of_host().count();
        const auto shares = static_cast<std::uint32_t>((filling + rate.count() - 1) / rate.count());
        return std::max(schedule.uplinks(), shares);
    }
    /// A whole packet on a link of a host, and on one between racks.
    [[nodiscard]] Time packet_of_host() const { return (bulk.payload + bulk.header) / rate_of_host(); }
    [[nodiscard]] Time packet_between_racks() const { return (bulk.payload + bulk.header) / rate; }

    /// Is a message of this size and traffic class low-latency? By its class where a service lists it, else
    /// by its size; all others are bulk.
    [[nodiscard]] bool is_low_latency(Bytes size, std::uint32_t traffic_class) const {
        return low_latency.classes.contain(traffic_class) ||
               (size < low_latency.cutoff && !bulk.classes.contain(traffic_class));
    }
    /// Can any message be?
    [[nodiscard]] bool has_low_latency() const {
        return low_latency.cutoff > Bytes(0) || !low_latency.classes.empty();
    }
    /// Do messages of this class go by it rather than by their size?
    [[nodiscard]] bool lists(std::uint32_t traffic_class) const {
        return low_latency.classes.contain(traffic_class) || bulk.classes.contain(traffic_class);
    }

    // States by number: 0 is that of the start, then those of `failing`.

    /// The one that circuits are in at `time`.
    [[nodiscard]] std::size_t state_at(Time time) const {
        std::size_t state = failing.size();
        while (state > 0 && time < failing[state - 1].from) {
            --state;
        }
        return state;
    }
    /// The one that hosts and switches know of in `superslice`: that at its start.
    [[nodiscard]] std::size_t state_in(std::uint64_t superslice) const {
        std::size_t state = failing.size();
        while (state > 0 && superslice < first_superslice(state)) {
            --state;
        }
        return state;
    }
    /// The first superslice that starts in this state; > 0.
    [[nodiscard]] std::uint64_t first_superslice(std::size_t state) const {
        const Time length = schedule.timing().superslice();
        const Time from = failing[state - 1].from;
        return static_cast<std::uint64_t>(from / length) + (from % length > Time(0) ? 1 : 0);
    }
    [[nodiscard]] const RotorSchedule& schedule_of(std::size_t state) const {
        return state == 0 ? schedule : failing[state - 1].schedule;
    }
    [[nodiscard]] const SlicePaths* paths_of(std::size_t state) const {
        return (state == 0 ? paths : failing[state - 1].paths).get();
    }
};

/// Of a fabric whose circuits are those of rotor switches, else null.
[[nodiscard]] const RotorNetwork* rotors_of(const Fabric& fabric);

}  // namespace astrolabe::network::rotor
