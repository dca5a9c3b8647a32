#include "demand_matching.hpp"

#include "heaviest_matching.hpp"

#include <algorithm>
#include <cmath>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::topoopt {

namespace {

using detail::WeightedPair;

std::vector<WeightedPair> symmetric_demand(const PairDemand& demand) {
    std::vector<WeightedPair> pairs;
    for (Server a = 0; a < demand.servers(); ++a) {
        for (Server b = a + 1; b < demand.servers(); ++b) {
            const std::uint64_t bytes = demand.at(a, b) + demand.at(b, a);
            if (bytes > 0) {
                pairs.push_back({a, b, static_cast<std::int64_t>(bytes)});
            }
        }
    }
    return pairs;
}

/// The power of 2 that weights are multiplied with; negative where bytes have more than 50 bits.
int scale_of(const std::vector<WeightedPair>& pairs) {
    constexpr int kBits = 50;
    std::int64_t most = 1;
    for (const WeightedPair& pair : pairs) {
        most = std::max(most, pair.weight);
    }
    return kBits - (64 - __builtin_clzll(static_cast<unsigned long long>(most)));
}

/// Matches those who are not, with chords over the list of them.
void match_rest(std::vector<std::uint32_t>& mates) {
    std::vector<Server> rest;
    for (Server server = 0; server < mates.size(); ++server) {
        if (mates[server] == server) {
            rest.push_back(server);
        }
    }
    const std::size_t half = rest.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
        const Server other = rest[rest.size() - half + i];
        mates[rest[i]] = other;
        mates[other] = rest[i];
    }
}

}  // namespace

std::vector<MatchingRound> match_demand(std::uint32_t servers, const PairDemand& demand,
                                        std::uint32_t rounds) {
    ASTROLABE_ASSERT(servers >= 2 && (demand.servers() == servers || demand.servers() == 0),
                     "demand is of the servers to match");
    std::vector<WeightedPair> pairs = symmetric_demand(demand);
    const int scale = scale_of(pairs);
    for (WeightedPair& pair : pairs) {
        pair.weight = scale >= 0 ? pair.weight << scale : pair.weight >> -scale;
    }
    std::vector<MatchingRound> result;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        pairs.erase(std::remove_if(pairs.begin(), pairs.end(),
                                   [](const WeightedPair& pair) { return pair.weight == 0; }),
                    pairs.end());
        std::vector<std::uint32_t> mates = detail::heaviest_matching(servers, pairs);
        match_rest(mates);
        MatchingRound& made = result.emplace_back();
        for (Server server = 0; server < servers; ++server) {
            if (server < mates[server]) {
                made.pairs.emplace_back(server, mates[server]);
            }
        }
        for (WeightedPair& pair : pairs) {
            if (mates[pair.a] == pair.b) {
                made.weight += std::ldexp(static_cast<double>(pair.weight), -scale);
                pair.weight /= 2;
            }
        }
    }
    return result;
}

}  // namespace astrolabe::network::topoopt
