/// Mode best: the estimate of a job's communication, and that no design which was compared has a smaller one.
#include "network/src/topoopt/best_design.hpp"

#include "network/src/topoopt/topoopt.hpp"
#include "network/src/topoopt/topoopt_family.hpp"
#include "random_seed.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network::topoopt {
namespace {

std::vector<Server> spaced_members(std::uint32_t servers, std::uint32_t members, Server first = 0) {
    std::vector<Server> group(members);
    for (std::uint32_t i = 0; i < members; ++i) {
        group[i] = first + servers / members * i;
    }
    return group;
}

TopoOptParameters parameters_of(std::int64_t degree, Mode mode, Wiring wiring = Wiring::kPanel) {
    TopoOptParameters parameters;
    parameters.degree = degree;
    parameters.mode = mode;
    parameters.wiring = wiring;
    parameters.link = {Bandwidth(8'000'000'000), Time(1'000'000)};  // 1 GB/s, 1 us
    return parameters;
}

std::shared_ptr<const Fabric> fabric_of(const TopoOptParameters& parameters, const Demand& demand) {
    auto found = build_topoopt(parameters, demand);
    if (const auto* problems = std::get_if<ValidationErrors>(&found)) {
        ADD_FAILURE() << problems->front().key << ": " << problems->front().message;
        return nullptr;
    }
    return std::get<NetworksForJob>(std::move(found)).front();
}

JobTime time_of(const Fabric& fabric, const Demand& demand) {
    return estimate_job_time(fabric, *topology_of(fabric), demand);
}

double seconds_of(const TopoOptParameters& parameters, const Demand& demand) {
    const auto fabric = fabric_of(parameters, demand);
    return fabric != nullptr ? time_of(*fabric, demand).total() : 0;
}

/// Of a DLRM: every server sends every other what it looked up in its tables for the samples there, and gets
/// the gradients back; what is not in tables is reduced by all, and maybe something by groups of some.
struct Dlrm {
    std::uint32_t servers = 0;
    std::vector<std::uint64_t> table_bytes;  ///< by server, for every other and one batch
    std::uint64_t dense = 0;
    std::uint32_t group = 0;  ///< members; 0: none
    std::uint64_t group_bytes = 0;

    [[nodiscard]] Demand demand(std::uint64_t batch) const {
        Demand demand{.servers = servers,
                      .groups = {{spaced_members(servers, servers), dense, 2}},
                      .point_to_point = PairDemand(servers),
                      .exchanges = 2};
        for (Server first = 0; group > 0 && first < servers / group; ++first) {
            demand.groups.push_back({spaced_members(servers, group, first), group_bytes, 1});
        }
        for (Server a = 0; a < servers; ++a) {
            for (Server b = 0; b < servers; ++b) {
                if (a != b && table_bytes[a] > 0) {
                    demand.point_to_point.add(a, b, batch * table_bytes[a]);
                    demand.point_to_point.add(b, a, batch * table_bytes[a]);
                }
            }
        }
        return demand;
    }
};

Dlrm random_dlrm(std::mt19937_64& random) {
    const auto draw = [&random](std::uint64_t least, std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
    };
    Dlrm dlrm;
    dlrm.servers = static_cast<std::uint32_t>(2 * draw(2, 10));
    dlrm.table_bytes.resize(dlrm.servers);
    for (std::uint64_t& bytes : dlrm.table_bytes) {
        bytes = draw(0, 3) * draw(1, 64) * 512;
    }
    dlrm.dense = draw(0, 1) == 0 ? draw(1, 1'000) * 1'000'000 : draw(1, 1'000) * 1'000;
    if (draw(0, 2) == 0) {
        dlrm.group = 2;
        dlrm.group_bytes = draw(1, 100) * 100'000;
    }
    return dlrm;
}

// docs/models/topoopt.md: bytes over the busiest link's rate, and a latency for every round.
TEST(JobTime, OfARingIsItsLinksTimeAndItsRounds) {
    // 6 MB of 4 members on both ways round: 2·3/4·3 MB = 4.5 MB a link at 1 GB/s, and 6 rounds of 1 us,
    // twice.
    Demand demand{.servers = 4,
                  .groups = {{spaced_members(4, 4), 6'000'000, 2}},
                  .point_to_point = PairDemand(4),
                  .exchanges = 1};
    const auto fabric = fabric_of(parameters_of(2, Mode::kReleased), demand);
    EXPECT_NEAR(time_of(*fabric, demand).all_reduces, 4.5e-3 + 2 * 6e-6, 1e-12);
    EXPECT_EQ(time_of(*fabric, demand).point_to_point, 0.0);
    // Neighbours share a link, 1 MB in 1 ms; 2 MB from 0 to 2 cross two links of one way by random_shortest.
    demand.point_to_point.add(0, 1, 1'000'000);
    EXPECT_NEAR(time_of(*fabric, demand).point_to_point, 1e-3 + 1e-6, 1e-12);
    demand.point_to_point.add(2, 0, 2'000'000);
    EXPECT_NEAR(time_of(*fabric, demand).point_to_point, 2e-3 + 2e-6, 1e-12);
}

TEST(JobTime, OfAGroupWithoutARingGoesByItsOwnOrder) {
    // Groups of 2 of 4 servers, one ring of all: the other member is two links away, by coin change over
    // stride 1. All four pairs, 0 to 2, 1 to 3 and back, go round the same way: 2 routes of 1 MB a link.
    Demand demand{.servers = 4,
                  .groups = {{spaced_members(4, 4), 4'000'000, 1},
                             {spaced_members(4, 2, 0), 1'000'000, 1},
                             {spaced_members(4, 2, 1), 1'000'000, 1}},
                  .point_to_point = {}};
    TopoOptParameters parameters = parameters_of(2, Mode::kReleased);
    parameters.routing = DirectRouting::kByClass;
    // The group of all: 2·3/4·2 MB = 3 MB and 6 rounds; of 2: 2·1/2·1 MB from each, twice, and 2 rounds.
    EXPECT_NEAR(seconds_of(parameters, demand), 3e-3 + 6e-6 + 2e-3 + 2 * 2e-6, 1e-12);
}

TEST(BestDesign, TakesRingsForAnEvenAllToAllAndMatchingsForPairs) {
    // 16 servers, 4 interfaces: rings ±{1, 5} have 8 or 9 routes of an even all-to-all on every link,
    // matchings leave halves that one ring joins (docs/models/topoopt.md). Pairs 8 apart take matchings
    // instead.
    Demand even{.servers = 16,
                .groups = {{spaced_members(16, 16), 1'000'000, 1}},
                .point_to_point = PairDemand(16),
                .exchanges = 1};
    Demand pairs = even;
    for (Server a = 0; a < 16; ++a) {
        for (Server b = 0; b < 16; ++b) {
            if (a != b) {
                even.point_to_point.add(a, b, 1'000'000);
            }
        }
        pairs.point_to_point.add(a, (a + 8) % 16, 100'000'000);
    }
    const auto rings = fabric_of(parameters_of(4, Mode::kBest), even);
    EXPECT_EQ(topology_of(*rings)->split, (DegreeSplit{4, 0}));
    EXPECT_LE(time_of(*rings, even).point_to_point, 9e-3 + 4e-6 + 1e-12);
    const auto matched = fabric_of(parameters_of(4, Mode::kBest), pairs);
    EXPECT_EQ(topology_of(*matched)->split, (DegreeSplit{2, 2}));
    // Both cables of each pair, 50 ms.
    EXPECT_NEAR(time_of(*matched, pairs).point_to_point, 50e-3 + 1e-6, 1e-9);
}

TEST(BestDesign, AGivenRoutingIsTakenAndDesignsThatItCannotServeAreNot) {
    Demand demand{.servers = 8, .groups = {}, .point_to_point = PairDemand(8), .exchanges = 1};
    // A matching of 0 and 3 has no stride that all servers have, as one of 0 and 4 would.
    demand.point_to_point.add(0, 3, 1'000'000'000);
    TopoOptParameters parameters = parameters_of(4, Mode::kBest);
    parameters.routing = DirectRouting::kCoinChange;
    const auto fabric = fabric_of(parameters, demand);
    EXPECT_TRUE(topology_of(*fabric)->matchings.empty());
    for (const ScoredDesign& design : designs_of(*fabric)) {
        EXPECT_EQ(design.routing, DirectRouting::kCoinChange);
    }
    // All interfaces must have a circuit that may move, which rings of an odd degree do not give.
    parameters = parameters_of(3, Mode::kBest);
    parameters.medium = Medium::kCircuitSwitch;
    parameters.reconfiguration = DemandAwareParameters{};
    const auto moving = fabric_of(parameters, demand);
    for (const ScoredDesign& design : designs_of(*moving)) {
        EXPECT_EQ(design.split, (DegreeSplit{2, 1}));
        EXPECT_NE(design.routing, DirectRouting::kBalanced);
    }
}

RC_GTEST_PROP(BestDesign, IsNeverAboveASingleDesignAndHasNoCliff, ()) {
    std::mt19937_64 random(random_seed());
    const Dlrm dlrm = random_dlrm(random);
    const auto degree = static_cast<std::int64_t>(2 + random() % 4);
    const auto wiring = static_cast<Wiring>(random() % 3);
    const std::uint64_t batch = 1 + random() % 4'096;
    const Demand demand = dlrm.demand(batch);
    const TopoOptParameters best = parameters_of(degree, Mode::kBest, wiring);
    const auto fabric = fabric_of(best, demand);
    RC_ASSERT(fabric != nullptr);
    const double time = time_of(*fabric, demand).total();

    // What is shown is what was built, sorted.
    const auto designs = designs_of(*fabric);
    RC_ASSERT(!designs.empty());
    RC_ASSERT(designs.front().time.total() == time);
    RC_ASSERT(designs.front().rings == topology_of(*fabric)->rings);
    RC_ASSERT(std::is_sorted(
        designs.begin(), designs.end(),
        [](const ScoredDesign& a, const ScoredDesign& b) { return a.time.total() < b.time.total(); }));

    // The modes by themselves, with the routings that are open to best.
    for (const Mode mode : {Mode::kPaper, Mode::kReleased}) {
        for (const std::optional<DirectRouting> routing :
             {std::optional<DirectRouting>(), std::optional(DirectRouting::kByClass),
              std::optional(DirectRouting::kRandomShortest)}) {
            TopoOptParameters single = parameters_of(degree, mode, wiring);
            single.routing = routing;
            RC_ASSERT(time <= seconds_of(single, demand));
        }
    }

    // Rings alone of all servers under balanced, as direct_connect has them.
    FinderOptions options{.degree = static_cast<std::uint32_t>(degree), .wiring = wiring};
    for (const Selection selection : {Selection::kNearest, Selection::kAtLeast}) {
        const auto rings = static_cast<std::uint32_t>(degree - degree % 2);
        const auto rest = static_cast<std::uint32_t>(degree % 2);
        const Topology topology = wire_design(demand, options,
                                              {.split = {rings, rest},
                                               .selection = selection,
                                               .shares = RingShares::kWhole,
                                               .full_duplex_rings = true},
                                              match_demand(demand.servers, demand.point_to_point, rest));
        DirectConnectParameters direct;
        direct.hosts = demand.servers;
        direct.link = best.link;
        for (const GroupRings& group : topology.rings) {
            direct.rings.insert(direct.rings.end(), group.strides.begin(), group.strides.end());
        }
        if (rest == 0) {
            direct.routing = DirectRouting::kBalanced;
            RC_ASSERT(time <= estimate_job_time(*build_direct_connect(direct), topology, demand).total() *
                                  (1 + 1e-12));
        }
    }

    // With one design time is a + b·batch, a, b >= 0, and twice the batch at most doubles it; the best design
    // for twice the batch is no worse than the one for once.
    const double doubled = seconds_of(best, dlrm.demand(2 * batch));
    RC_ASSERT(doubled <= 2 * time * (1 + 1e-12));
    RC_ASSERT(doubled >= time * (1 - 1e-12));

    // The same again.
    const auto again = fabric_of(best, demand);
    RC_ASSERT(topology_of(*again)->links == topology_of(*fabric)->links);
}

}  // namespace
}  // namespace astrolabe::network::topoopt
