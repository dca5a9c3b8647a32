#include "direct_connect.hpp"
#include "direct_connect_schemas.hpp"
#include "registration.hpp"

#include <limits>

#include <astrolabe/core/config/section_list.hpp>
#include <astrolabe/network/components.hpp>

namespace astrolabe::network {
namespace {

Schema<RandomCableParameters> random_schema() {
    Schema<RandomCableParameters> schema("random", "a random graph without parallel cables");
    schema
        .optional("degree", &RandomCableParameters::degree, "neighbours of every host; 0: no such cables",
                  {0, kMaxHosts})
        .optional("seed", &RandomCableParameters::seed, "of the graph",
                  {0, std::numeric_limits<std::int64_t>::max()});
    return schema;
}

Schema<DirectLinkParameters> link_schema() {
    Schema<DirectLinkParameters> schema("links", "cables between two hosts");
    schema.required("from", &DirectLinkParameters::from, "a host, numbered from 0", {0, kMaxHosts - 1})
        .required("to", &DirectLinkParameters::to, "another host", {0, kMaxHosts - 1})
        .optional("cables", &DirectLinkParameters::cables, "in parallel", {1, kMaxCables})
        .optional("one_way", &DirectLinkParameters::one_way, "fibres that lead there and not back");
    return schema;
}

}  // namespace

void register_direct_connect(Registry<FabricMaker>& registry) {
    using P = DirectConnectParameters;
    Schema<P> schema(
        "direct_connect",
        "hosts joined by cables or one-way fibres of their own: rings, a torus, random, one by one; hosts "
        "forward");
    schema.required("hosts", &P::hosts, "number of hosts", {1, kMaxHosts});
    detail::add_link(schema);
    detail::add_medium(schema);
    detail::add_reconfiguration(schema);
    detail::add_forwarding(schema);
    schema
        .list("rings", &P::rings, "strides: host i is joined to i + stride, modulo hosts", false,
              {1, kMaxHosts - 1})
        .list("one_way_rings", &P::one_way_rings,
              "strides: a fibre leads from host i to i + stride, modulo hosts, and none back", false,
              {1, kMaxHosts - 1})
        .list("torus", &P::torus, "hosts along each dimension, the fastest-varying first", false,
              {1, kMaxHosts})
        .section("random", &P::random, random_schema(), "a random graph without parallel cables")
        .optional("all_to_all", &P::all_to_all, "cables between every two hosts", {0, kMaxCables});
    add_section_list(schema, "links", &P::links, link_schema(), "cables one by one");
    schema.optional(
        "routing", &P::routing,
        "one shortest path a pair by hash, all of them evenly, one in a random tree of the source, "
        "strides as coins, the same with strides evenly used, the k shortest paths evenly, or these but "
        "for pairs one stride of a ring apart, which keep to what joins them");
    detail::add_path_counts(schema);
    detail::add_check(schema);
    registry.add<P>(schema, [](const P& parameters) -> FabricMaker {
        return [parameters](std::uint64_t seed) {
            P seeded = parameters;
            seeded.seed = static_cast<std::int64_t>(seed);
            return build_direct_connect(seeded);
        };
    });
}

}  // namespace astrolabe::network
