/// Flows that are drawn at random, one after another (flows.hpp has the model).
#pragma once

#include <memory>
#include <string>

#include <astrolabe/workload/flows/flows.hpp>

namespace astrolabe::workload {

struct DrawnFlows {
    FlowPattern pattern{};
    SizeDistribution sizes{Bytes(1)};
    Bytes below = Bytes::max();  ///< only smaller flows are sent
    std::uint32_t hosts = 0;
    std::uint32_t group = 1;
    bool intra_group = true;
    std::uint32_t senders = 1;  ///< of an incast
    double hot_share = 0;
    double mean_gap = 0;          ///< between arrivals, ps; 0: one round at time 0
    Time duration = Time::max();  ///< of arrivals
    std::uint64_t seed = 1;
    std::string stream_name;
};

/// Flows of one arrival.
[[nodiscard]] std::uint32_t flows_of_arrival(const DrawnFlows& drawn);
/// Flows of one round.
[[nodiscard]] std::uint64_t flows_of_round(const DrawnFlows& drawn);

[[nodiscard]] std::unique_ptr<system::FlowStream> drawn_stream(const DrawnFlows& drawn);

/// A partner for every host, its own for none, and where `intra_group` is false none of its group: a random
/// permutation, in which pairs that may not be are exchanged with others drawn at random until there are
/// none. Precondition: there is one, which groups of at most half of the hosts leave.
[[nodiscard]] std::vector<std::uint32_t> draw_partners(const DrawnFlows& drawn, RandomStream& random);

/// Exponential with mean 1.
[[nodiscard]] double draw_exponential(RandomStream& random);

}  // namespace astrolabe::workload
