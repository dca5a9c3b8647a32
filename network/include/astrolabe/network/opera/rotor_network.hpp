/// What a fabric of rotor switches has beside its graph: the schedule, and how hosts use it.
///
/// Two services share the links (Opera, NSDI 2020, section 4). *Bulk* messages wait at their host for a
/// circuit to the rack they go to, or take two hops through a third rack where capacity is left over
/// (rotor_lb.hpp). *Low-latency* messages leave at once, over the shortest path of the expander that the
/// circuits of the moment form.
///
/// Hosts are numbered by rack: host = rack * hosts_per_rack + port. All links, of hosts and between racks,
/// have one rate. An engine that knows rotors reads this; for all others the fabric's circuits say when
/// which racks are joined, and messages wait for the circuit between their racks.
#pragma once

#include <cstdint>
#include <memory>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/opera/fair_share.hpp>
#include <astrolabe/network/opera/rotor_schedule.hpp>

namespace astrolabe::network::opera {

class SlicePaths;
struct TopologyFile;

/// How bulk messages reach another rack.
enum class BulkRouting : std::uint8_t {
    kRotorLb,    ///< over the direct circuit, or over a third rack with capacity that is left
    kDirectOnly  ///< over the direct circuit
};

/// How bulk messages between hosts of one rack travel.
enum class OwnRack : std::uint8_t {
    kTwoHops,  ///< through another rack and back, in capacity that is left over, as the reference does
    kDirect    ///< through their top-of-rack switch
};

struct BulkService {
    BulkRouting routing = BulkRouting::kRotorLb;
    OwnRack own_rack = OwnRack::kTwoHops;
    Remainders remainders = Remainders::kAtRandom;  ///< of fair shares
    Bytes payload{1436};  ///< of a packet; every packet takes payload + header on the wire
    Bytes header{64};
};

struct LowLatencyService {
    Bytes cutoff{0};           ///< messages below it are low-latency; 0: all are bulk
    std::int64_t queue = 8;    ///< full packets a port holds of data, and again of headers
    std::int64_t window = 30;  ///< packets sent before the first pull
};

struct RotorNetwork {
    RotorSchedule schedule;
    std::uint32_t hosts_per_rack = 0;
    Bandwidth rate;    ///< of every link
    Time propagation;  ///< between racks, each way
    Time host_latency;
    BulkService bulk;
    LowLatencyService low_latency;
    /// Paths of low-latency packets in every superslice; null where no message can be one.
    std::shared_ptr<const SlicePaths> paths;
    std::uint64_t seed = 1;  ///< of choices among equal paths and of remainders in fair shares
    /// Where all of the schedule and the paths were read, to be written back as it was; null: drawn, or
    /// something failed since.
    std::shared_ptr<const TopologyFile> file = nullptr;
};

}  // namespace astrolabe::network::opera
