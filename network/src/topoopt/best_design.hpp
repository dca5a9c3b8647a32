/// The designs that mode best compares.
///
/// Model. Of d interfaces r rings take d_A, and matchings the rest: r from as many as there is room for down
/// to the one that connects all servers, without traffic between pairs as many as there is room for alone.
/// Every r comes with
///   - strides by the rule of the paper and by that of the released code (strides.hpp),
///   - rings shared out by traffic, and, where not all groups have all servers, all to rings of all servers,
///   - on separate fibres rings that go one way and rings that go both ways.
/// The designs of mode paper and mode released come first; equal ones count once. Beyond 8 rings r takes
/// powers of two and three times these.
///
/// Each is estimated (job_time.hpp) under each routing that the section leaves open: by_class, balanced on
/// rings alone where circuits do not move, random_shortest. The smallest estimate is best, of equal ones the
/// first.
///
/// What follows. The smallest estimate is never above that of rings alone, and against the batch it has no
/// cliff that the demand does not have (job_time.hpp). Who knows the job compares it with the other modes.
///
/// Complexity: O(d) designs, for each routing an estimate; the matchings are found once for all.
#pragma once

#include "../topologies/direct_connect.hpp"
#include "job_time.hpp"
#include "topology_finder.hpp"

#include <vector>

namespace astrolabe::network::topoopt {

/// In a fixed order, without equals. Precondition: no problems.
[[nodiscard]] std::vector<Design> candidate_designs(const Demand& demand, const FinderOptions& options);

/// What a design became, and what it is estimated to take.
struct ScoredDesign {
    DegreeSplit split;
    bool full_duplex_rings = false;
    std::vector<GroupRings> rings;
    DirectRouting routing = DirectRouting::kByClass;
    JobTime time;
};

}  // namespace astrolabe::network::topoopt
