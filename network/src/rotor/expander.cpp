#include "expander.hpp"

#include "../topologies/checks.hpp"
#include "../topologies/regular_graph.hpp"
#include "../topologies/topology_schemas.hpp"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

namespace {

constexpr std::int64_t kMaxExpanderRacks = 4'096;
constexpr std::int64_t kMaxGraphDraws = 10'000;

struct DrawnGraph {
    std::vector<Rack> neighbours;
    HopCounts hops;
};

DrawnGraph draw(const ExpanderParameters& p) {
    const auto racks = static_cast<std::uint32_t>(p.racks);
    const auto uplinks = static_cast<std::uint32_t>(p.uplinks);
    RandomStream random(static_cast<std::uint64_t>(p.seed), "expander");
    const auto key = [](const HopCounts& hops) {
        return std::tuple(hops.disconnected(), hops.worst(), hops.mean());
    };
    DrawnGraph best;
    for (std::int64_t i = 0; i < p.draws; ++i) {
        DrawnGraph drawn{draw_regular_graph(racks, uplinks, random), {}};
        drawn.hops.add(SliceGraph(racks, uplinks, drawn.neighbours));
        if (i == 0 || key(drawn.hops) < key(best.hops)) {
            best = std::move(drawn);
        }
    }
    return best;
}

ValidationErrors problems_before_drawing(const ExpanderParameters& p) {
    detail::ParameterCheck check;
    check.count("racks", p.racks, 2, kMaxExpanderRacks, "say how many racks there are");
    check.count("hosts_per_rack", p.hosts_per_rack, 1, kMaxHosts / kMaxExpanderRacks,
                "say how many hosts a rack has");
    check.count("draws", p.draws, 1, kMaxGraphDraws, "the best of so many random graphs is taken");
    if (check.sound() &&
        check.count("uplinks", p.uplinks, 1, p.racks - 1, "every uplink of a rack leads to another rack") &&
        p.racks * p.uplinks % 2 != 0) {
        check.report(
            "uplinks",
            fmt::format("{} racks with {} uplinks have an odd number of cable ends", p.racks, p.uplinks),
            "take an even number of racks or of uplinks");
    }
    check.cable("link", p.link);
    check.uplink("uplink", p.uplink);
    check.switch_buffer(p.switch_buffer);
    return std::move(check).take();
}

}  // namespace

ValidationErrors validation_errors(const ExpanderParameters& parameters) {
    ValidationErrors found = problems_before_drawing(parameters);
    if (found.empty()) {
        const DrawnGraph drawn = draw(parameters);
        if (drawn.hops.disconnected() > 0) {
            found.push_back({"uplinks",
                             fmt::format("no draw joins all racks: {} of {} pairs are without a path",
                                         drawn.hops.disconnected(), drawn.hops.pairs()),
                             "take 3 uplinks or more, more draws or another seed"});
        }
    }
    return found;
}

std::shared_ptr<const Fabric> build_expander(const ExpanderParameters& parameters) {
    const ExpanderParameters& p = parameters;
    ASTROLABE_ASSERT(problems_before_drawing(p).empty(), "parameters are checked before a fabric is built");
    const DrawnGraph drawn = draw(p);
    ASTROLABE_ASSERT(drawn.hops.disconnected() == 0, "an expander in parts is refused");
    FabricBuilder builder("expander");
    for (std::int64_t host = 0; host < p.racks * p.hosts_per_rack; ++host) {
        builder.add_host(fmt::format("host {}", host));
    }
    std::vector<NodeId> switches;
    for (std::int64_t rack = 0; rack < p.racks; ++rack) {
        switches.push_back(builder.add_switch(fmt::format("rack {}", rack), p.switch_buffer));
        for (std::int64_t i = 0; i < p.hosts_per_rack; ++i) {
            builder.connect(NodeId(static_cast<std::size_t>(rack * p.hosts_per_rack + i)), switches.back(),
                            {p.link.rate, p.link.latency, Bytes(0)});
        }
    }
    const Bandwidth uplink_rate = p.uplink.rate > Bandwidth(0) ? p.uplink.rate : p.link.rate;
    for (std::size_t i = 0; i < drawn.neighbours.size(); ++i) {
        const std::size_t rack = i / static_cast<std::size_t>(p.uplinks);
        if (rack < drawn.neighbours[i]) {
            builder.connect(switches[rack], switches[drawn.neighbours[i]],
                            {uplink_rate, p.uplink.latency, Bytes(0)});
        }
    }
    return std::move(builder).build(p.load_balancing, static_cast<std::uint64_t>(p.run_seed));
}

}  // namespace astrolabe::network::rotor

namespace astrolabe::network {

void register_expander(Registry<FabricMaker>& registry) {
    using namespace rotor;
    Schema<ExpanderParameters> schema("expander", "racks joined at random, each to equally many others");
    schema.required("racks", &ExpanderParameters::racks, "number of racks", {2, 4'096})
        .required("uplinks", &ExpanderParameters::uplinks, "uplinks of a rack, each to another rack",
                  {1, 4'095})
        .required("hosts_per_rack", &ExpanderParameters::hosts_per_rack, "hosts on a rack", {1, 256})
        .section("uplink", &ExpanderParameters::uplink, detail::uplink_schema("uplink"),
                 "a cable between racks")
        .optional("draws", &ExpanderParameters::draws, "random graphs to take the best of", {1, 10'000})
        .optional("seed", &ExpanderParameters::seed, "of the graph; unset: that of the experiment",
                  detail::kSeeds);
    detail::add_common(schema);
    detail::add_topology(registry, schema, build_expander, &ExpanderParameters::run_seed);
}

}  // namespace astrolabe::network
