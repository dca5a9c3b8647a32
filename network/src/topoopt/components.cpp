#include "../topologies/direct_connect_schemas.hpp"
#include "../topologies/registration.hpp"
#include "../topologies/topology_schemas.hpp"
#include "topoopt.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <astrolabe/network/components.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::topoopt::Mode> {
    static constexpr std::array<std::pair<std::string_view, network::topoopt::Mode>, 2> kNames{
        {{"paper", network::topoopt::Mode::kPaper}, {"released", network::topoopt::Mode::kReleased}}};
};

template <>
struct EnumNames<network::topoopt::Candidates> {
    static constexpr std::array<std::pair<std::string_view, network::topoopt::Candidates>, 2> kNames{
        {{"all", network::topoopt::Candidates::kAll}, {"primes", network::topoopt::Candidates::kPrimes}}};
};

}  // namespace astrolabe

namespace astrolabe::network {

void register_topoopt(Registry<FabricMaker>& registry) {
    using P = topoopt::TopoOptParameters;
    Schema<P> schema("topoopt",
                     "hosts joined by cables that are chosen for the job of the experiment; hosts forward");
    schema.required("degree", &P::degree, "interfaces of a host", {1, topoopt::kMaxDegree})
        .optional("mode", &P::mode,
                  "as the paper: rings for all-reduces, matchings for the rest; or as the released code: "
                  "rings alone")
        .optional(
            "wiring", &P::wiring,
            "one panel that joins any two ports, a plane for each interface of the hosts that joins hosts "
            "in pairs, or such planes with fibres out and in patched separately, where rings go one way")
        .optional("candidates", &P::candidates,
                  "strides that rings may have: all that visit all hosts, or "
                  "primes alone")
        .optional("repeat_strides", &P::repeat_strides,
                  "of mode released: a stride may be taken again, as in the code of 2024")
        .optional("perfect_matching", &P::perfect_matching,
                  "of mode paper: refuse an odd number of hosts, of which matchings leave one out");
    detail::add_link(schema);
    detail::add_medium(schema);
    detail::add_reconfiguration(schema);
    detail::add_forwarding(schema);
    schema.optional("routing", &P::routing,
                    "as that of direct_connect; unset: by_class in mode paper, random_shortest in mode "
                    "released");
    detail::add_path_counts(schema);
    detail::add_check(schema);
    registry.add<P>(schema, [](const P& parameters) {
        return FabricMaker([parameters](const Demand& demand, std::uint64_t seed) {
            P seeded = parameters;
            seeded.seed = static_cast<std::int64_t>(seed);
            return build_topoopt(seeded, demand);
        });
    });
}

}  // namespace astrolabe::network
