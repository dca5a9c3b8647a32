/// Parts that schemas of direct-connect networks have in common.
#pragma once

#include "direct_connect.hpp"
#include "topology_schemas.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace astrolabe {

template <>
struct EnumNames<network::DirectRouting> {
    static constexpr std::array<std::pair<std::string_view, network::DirectRouting>, 7> kNames{
        {{"flow_hash", network::DirectRouting::kFlowHash},
         {"spray", network::DirectRouting::kSpray},
         {"random_shortest", network::DirectRouting::kRandomShortest},
         {"coin_change", network::DirectRouting::kCoinChange},
         {"balanced", network::DirectRouting::kBalanced},
         {"k_shortest", network::DirectRouting::kKShortest},
         {"by_class", network::DirectRouting::kByClass}}};
};

template <>
struct EnumNames<network::DarkCircuits> {
    static constexpr std::array<std::pair<std::string_view, network::DarkCircuits>, 2> kNames{
        {{"moving", network::DarkCircuits::kMoving}, {"all", network::DarkCircuits::kAll}}};
};

}  // namespace astrolabe

namespace astrolabe::network::detail {

template <class Parameters>
void add_medium(Schema<Parameters>& schema) {
    schema.optional("medium", &Parameters::medium,
                    "what a cable is: a fibre, or one from either end to a patch panel, to a panel with a "
                    "second port for the next job, or to an optical circuit switch; it changes the cost, not "
                    "what links carry");
}

template <class Parameters>
void add_reconfiguration(Schema<Parameters>& schema) {
    using P = DemandAwareParameters;
    constexpr Time kShortest{1'000'000};
    constexpr Time kLongest{1'000'000 * kPicosecondsPerSecond};
    Schema<P> reconfiguration("reconfiguration", "circuits that move for what waits, on circuit switches");
    reconfiguration.optional("every", &P::every, "how often the demand is asked for", {kShortest, kLongest})
        .optional("delay", &P::delay, "how long circuits that move carry nothing; less than every",
                  {Time(0), kLongest})
        .optional("forwarding", &P::forwarding,
                  "hosts forward, and a ring that joins all stays; no: pairs without a circuit of their own "
                  "wait for one")
        .optional("dark", &P::dark, "which circuits a change leaves dark: those that move, or all");
    schema.section("reconfiguration", &Parameters::reconfiguration, reconfiguration,
                   "circuits move for what waits while the job runs (needs medium: circuit_switch)");
}

template <class Parameters>
void add_forwarding(Schema<Parameters>& schema) {
    Schema<ForwardingParameters> forwarding("forwarding", "what a host does with traffic for others");
    forwarding.optional("latency", &ForwardingParameters::latency,
                        "from when it has a packet until it queues it to go on", {Time(0), kMaxLinkLatency});
    schema.section("forwarding", &Parameters::forwarding, forwarding,
                   "what a host does with traffic for others");
}

template <class Parameters>
void add_path_counts(Schema<Parameters>& schema) {
    schema
        .optional("paths", &Parameters::paths, "of k_shortest and by_class: how many a pair is split over",
                  {1, 64})
        .optional("detour", &Parameters::detour,
                  "of k_shortest and by_class: most hops beyond the shortest path", {0, 64});
}

}  // namespace astrolabe::network::detail
