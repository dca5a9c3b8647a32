/// What schemas of several topologies have in common, and how a topology is registered.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::LoadBalancing> {
    static constexpr std::array<std::pair<std::string_view, network::LoadBalancing>, 2> kNames{
        {{"flow_hash", network::LoadBalancing::kFlowHash}, {"spray", network::LoadBalancing::kSpray}}};
};

}  // namespace astrolabe

namespace astrolabe::network::detail {

inline constexpr Range<std::int64_t> kSeeds{0, std::numeric_limits<std::int64_t>::max()};

inline Schema<HostLinkParameters> host_link_schema(std::string name = "link") {
    Schema<HostLinkParameters> schema(std::move(name), "the cable of a host");
    schema.optional("rate", &HostLinkParameters::rate, "rate of each direction", {Bandwidth(1), kMaxLinkRate})
        .optional("latency", &HostLinkParameters::latency, "one-way propagation", {Time(0), kMaxLinkLatency});
    return schema;
}

inline Schema<UplinkParameters> uplink_schema(std::string name) {
    Schema<UplinkParameters> schema(std::move(name), "a cable between switches");
    schema
        .optional("rate", &UplinkParameters::rate,
                  "rate of each direction; 0: from the oversubscription, else the tier below",
                  {Bandwidth(0), kMaxLinkRate})
        .optional("latency", &UplinkParameters::latency, "one-way propagation", {Time(0), kMaxLinkLatency});
    return schema;
}

template <class Parameters>
void add_link(Schema<Parameters>& schema) {
    schema.section("link", &Parameters::link, host_link_schema(), "the cable of a host");
}

template <class Parameters>
void add_switch_buffer(Schema<Parameters>& schema) {
    schema.optional("switch_buffer", &Parameters::switch_buffer, "packet memory of each switch; 0: unlimited",
                    {Bytes(0), {}});
}

template <class Parameters>
void add_load_balancing(Schema<Parameters>& schema) {
    schema.optional(
        "load_balancing", &Parameters::load_balancing,
        "which of several shortest paths: one per host pair by hash, or all evenly (ideal spraying)");
}

template <class Parameters>
void add_check(Schema<Parameters>& schema) {
    schema.check([](const Parameters& parameters) { return validation_errors(parameters); });
}

/// Keys every tree has.
template <class Parameters>
void add_common(Schema<Parameters>& schema) {
    add_link(schema);
    add_switch_buffer(schema);
    add_load_balancing(schema);
    add_check(schema);
}

/// Registers the topology that `build` makes of what `schema` reads. `seed` is the parameter that the
/// experiment's seed becomes; null: nothing in it is random.
template <class Parameters>
void add_topology(Registry<FabricMaker>& registry, const Schema<Parameters>& schema,
                  std::shared_ptr<const Fabric> (*build)(const Parameters&),
                  std::type_identity_t<std::int64_t Parameters::*> seed = nullptr) {
    registry.add<Parameters>(schema, [build, seed](const Parameters& parameters) {
        return FabricMaker([build, seed, parameters](std::uint64_t run_seed) {
            Parameters seeded = parameters;
            if (seed != nullptr) {
                seeded.*seed = static_cast<std::int64_t>(run_seed);
            }
            return build(seeded);
        });
    });
}

}  // namespace astrolabe::network::detail
