/// Bounds of links: of everything that a program sends, on the routes in use and on the best there are.
#pragma once

#include "schedule_loads.hpp"

#include <optional>
#include <vector>

#include <astrolabe/experiment/explain/bounds.hpp>

namespace astrolabe::experiment {

using LinkBytes = IndexedVector<network::LinkId, double>;

struct Busiest {
    Time time;  ///< bytes over rate, rounded down
    std::optional<network::LinkId> link;
};

[[nodiscard]] Busiest busiest_link(const LinkBytes& bytes, const network::Fabric& fabric);

/// Adds what a part of a collective puts on links.
void add_links(LinkBytes& bytes, const ScheduleLoads::Part& part);

/// Everything a program sends, in bytes.
struct TotalLoad {
    std::vector<double> sent;  ///< by rank
    std::vector<double> received;
    LinkBytes links;
    std::vector<network::PlaceTraffic> places;  ///< by source and destination
};

[[nodiscard]] TotalLoad total_load(const system::Program& program, const ScheduleLoads& loads,
                                   const network::Fabric& fabric);

/// Is the link between different places? Hosts on one cable are inside their place, and so is the cable.
[[nodiscard]] bool is_between_places(const network::Fabric& fabric, network::LinkId id);

/// The time that the best routing takes, without latency; `in_use` is that of one that is known. Looks for
/// more than ports, cuts around single places and even spreading only where these leave a gap, and no link
/// comes and goes: those are taken as always there, so that no routing is found.
[[nodiscard]] RoutingBound routing_bound(const TotalLoad& total, Time in_use, const network::Fabric& fabric,
                                         const Placement& placement);

}  // namespace astrolabe::experiment
