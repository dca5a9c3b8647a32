#include "best_design.hpp"

#include <algorithm>
#include <bit>

namespace astrolabe::network::topoopt {

namespace {

bool is_compared(std::uint32_t rings, std::uint32_t most) {
    constexpr std::uint32_t kAll = 8;
    return rings <= kAll || rings == most || std::has_single_bit(rings) ||
           (rings % 3 == 0 && std::has_single_bit(rings / 3));
}

}  // namespace

std::vector<Design> candidate_designs(const Demand& demand, const FinderOptions& options) {
    std::vector<Design> designs;
    const auto add = [&designs](const Design& design) {
        if (std::find(designs.begin(), designs.end(), design) == designs.end()) {
            designs.push_back(design);
        }
    };
    FinderOptions of_mode = options;
    of_mode.mode = Mode::kPaper;
    add(design_of_mode(demand, of_mode));
    const std::uint32_t one_way = options.wiring == Wiring::kSeparateFibres ? 1 : 2;
    if (options.degree >= 2) {
        of_mode.mode = Mode::kReleased;
        add(design_of_mode(demand, of_mode));
    }
    std::vector<RingShares> rules{RingShares::kByTraffic};
    if (std::any_of(demand.groups.begin(), demand.groups.end(),
                    [&](const AllReduceGroup& group) { return group.members.size() != demand.servers; })) {
        rules.push_back(RingShares::kWhole);
    }
    for (std::uint32_t interfaces = one_way; interfaces <= 2; ++interfaces) {
        const std::uint32_t most = options.degree / interfaces;
        const std::uint32_t least = demand.point_to_point.total() > 0 ? 1 : std::max(most, 1U);
        for (std::uint32_t rings = most; rings >= least; --rings) {
            if (!is_compared(rings, most)) {
                continue;
            }
            const std::uint32_t all_reduce = rings * interfaces;
            for (const RingShares shares : rules) {
                for (const Selection selection : {Selection::kNearest, Selection::kAtLeast}) {
                    add({.split = {all_reduce, options.degree - all_reduce},
                         .selection = selection,
                         .shares = shares,
                         .full_duplex_rings = interfaces == 2});
                }
            }
        }
    }
    return designs;
}

}  // namespace astrolabe::network::topoopt
