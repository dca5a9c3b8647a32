#include "finder_checks.hpp"

#include "../topologies/checks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::topoopt {

namespace {

void check_group(network::detail::ParameterCheck& check, const std::string& key, const AllReduceGroup& group,
                 const Demand& demand, const FinderOptions& options) {
    const std::vector<Server>& members = group.members;
    const std::size_t size = members.size();
    if (size < 2 || size > demand.servers) {
        check.report(key, fmt::format("{} has {} members, expected 2 to {}", key, size, demand.servers),
                     "a group has no more members than there are servers, and an all-reduce has two");
        return;
    }
    if (demand.servers % size != 0) {
        check.report(
            key, fmt::format("{} has {} members, which do not divide {} servers", key, size, demand.servers),
            "rings serve groups whose members are equally spaced over all servers");
        return;
    }
    const auto spacing = static_cast<std::uint32_t>(demand.servers / size);
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t expected = members.front() + std::uint64_t{spacing} * i;
        if (members[i] != expected || expected >= demand.servers) {
            check.report(
                key,
                fmt::format("member {} of {} is server {}, expected {}: {} members of {} servers "
                            "are {} apart",
                            i, key, members[i], expected % demand.servers, size, demand.servers, spacing),
                "rings serve groups of equally spaced servers, in ascending order");
            return;
        }
    }
    if (options.wiring == Wiring::kDuplex && size % 2 != 0 && size != demand.servers) {
        check.report(key,
                     fmt::format("{} has {} members, and a ring of so many cannot alternate between two "
                                 "planes",
                                 key, size),
                     "use wiring separate_fibres or panel, or groups of an even size");
    }
}

void check_shape(network::detail::ParameterCheck& check, const Demand& demand, const FinderOptions& options) {
    check.count("servers", demand.servers, 2, kMaxServers, "a topology joins two servers or more");
    const std::int64_t least = rings_go_both_ways(options) ? 2 : 1;
    check.count("degree", options.degree, least, kMaxDegree,
                least == 2 ? "a ring that goes both ways takes two interfaces of every server"
                           : "some ring joins all servers, and takes an interface of each");
    if (demand.servers % 2 != 0 && options.perfect_matching) {
        check.report(
            "perfect_matching",
            fmt::format("{} servers have no perfect matching, expected an even number", demand.servers),
            "leave perfect_matching out: one server is then idle in each matching");
    }
    if (demand.servers % 2 != 0 && options.wiring == Wiring::kDuplex) {
        check.report("wiring",
                     fmt::format("a ring of {} servers cannot alternate between two planes", demand.servers),
                     "use wiring separate_fibres or panel, or an even number of servers");
    }
}

}  // namespace

ValidationErrors validation_errors(const Demand& demand, const FinderOptions& options) {
    network::detail::ParameterCheck check;
    check_shape(check, demand, options);
    if (check.sound()) {
        for (std::size_t i = 0; i < demand.groups.size(); ++i) {
            check_group(check, fmt::format("groups.{}", i), demand.groups[i], demand, options);
        }
    }
    if (all_reduce_traffic(demand) >= kMaxTraffic) {
        check.report("groups",
                     fmt::format("all-reduces send {} bytes or more in all, expected less", kMaxTraffic),
                     "check the unit of the bytes");
    }
    const std::uint32_t pairs = demand.point_to_point.servers();
    if (pairs != 0 && pairs != demand.servers) {
        check.report(
            "point_to_point",
            fmt::format("point_to_point is a demand of {} servers, expected {}", pairs, demand.servers),
            "give the demand of all servers, or none");
    }
    return std::move(check).take();
}

Topology find_topology(const Demand& demand, const FinderOptions& options) {
    ASTROLABE_ASSERT(validation_errors(demand, options).empty(),
                     "a demand is checked before its topology is found");
    const Design design = design_of_mode(demand, options);
    return wire_design(demand, options, design,
                       match_demand(demand.servers, demand.point_to_point, design.split.point_to_point));
}

}  // namespace astrolabe::network::topoopt
