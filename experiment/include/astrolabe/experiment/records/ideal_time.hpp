/// The least time of a message on a network on which nothing else is: what slowdowns are measured against.
///
///     ideal = l + 8·S / r
///
/// Where links are always there and the engine keeps to the routes of the fabric, l is the latency of the
/// path from source to destination that takes longest, and r the most that the path lets through: the rate of
/// its slowest link, and where it is split, the least of rate over share. That is what the fluid engine gives
/// a message alone. Elsewhere, and where each packet or connection draws one of several paths, l is the least
/// latency of any path over links that exist at some time, and r the smaller one of the source's and the
/// destination's rates. On an engine without latency l is 0.
///
/// No message takes less: packet engines add headers to the payload and wait for whole packets in switches,
/// and circuits have to come. So slowdown = time / ideal is 1 at least, on every engine; but where
/// congestion_free is asked to cut off fractions of nanoseconds as ASTRA-sim does.
///
/// Rounding. l and S are whole. Rates over shares are rounded up to a bit per second, and so is the quotient
/// to a picosecond, unless it is at most 1/4 above one: by as much the fluid engine may end a message early
/// (docs/models/fluid.md, "Numbers"). So a lone message may take a picosecond more than its ideal.
///
/// Cost: a route or an O(links log nodes) search for every source, kept: up to 16 bytes for each pair of
/// hosts that sends, and 8 bytes for each source and node.
#pragma once

#include <memory>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/pair_index.hpp>

namespace astrolabe::experiment {

class IdealTimes {
public:
    IdealTimes(std::shared_ptr<const network::Fabric> fabric, const network::BackendMaker& backend);

    [[nodiscard]] Time of(network::HostId source, network::HostId destination, Bytes size);

private:
    struct Path {
        Time latency;
        Bandwidth rate;
    };

    [[nodiscard]] Path path(network::HostId source, network::HostId destination);
    /// From a host to every node.
    [[nodiscard]] const std::vector<Time>& least_latencies(network::HostId source);

    std::shared_ptr<const network::Fabric> fabric_;
    bool follows_routes_;
    bool has_latency_;
    network::PairIndex pairs_;
    std::vector<Path> paths_;
    std::vector<std::vector<Time>> latencies_;  // by source, where asked for
};

}  // namespace astrolabe::experiment
