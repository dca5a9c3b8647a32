/// Rotor networks of all sizes, lengths and options, small enough to run hundreds of them.
#pragma once

#include "network/src/rotor/failures/rotor_failures.hpp"
#include "network/src/rotor/rotor_draw.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::network::rotor {

class Random {
public:
    explicit Random(std::uint64_t seed)
        : engine_(seed) {}
    std::int64_t operator()(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
    }

private:
    std::mt19937_64 engine_;
};

/// A message that is to be sent at a time.
struct LaterMessage {
    std::uint32_t source;
    std::uint32_t destination;
    Bytes size;
    Time at;
};

/// 1 to 60 messages between `hosts` > 1 hosts, most at 0 and some without bytes.
inline std::vector<LaterMessage> random_messages(Random& random, std::int64_t hosts, std::int64_t largest) {
    std::vector<LaterMessage> messages(static_cast<std::size_t>(random(1, 60)));
    for (LaterMessage& message : messages) {
        message.source = static_cast<std::uint32_t>(random(0, hosts - 1));
        message.destination = static_cast<std::uint32_t>((message.source + random(1, hosts - 1)) % hosts);
        message.size = Bytes(random(0, 4) == 0 ? 0 : random(1, largest));
        message.at = random(0, 2) == 0 ? Time(random(0, 200'000'000)) : Time(0);
    }
    return messages;
}

inline RotorNetwork random_network(Random& random) {
    const auto uplinks = static_cast<std::uint32_t>(random(1, 4));
    const auto racks = uplinks * static_cast<std::uint32_t>(random(uplinks == 1 ? 2 : 1, 4));
    const bool together = random(0, 3) == 0;
    const std::vector<std::vector<Matching>> matchings =
        draw_rotors({.racks = racks, .uplinks = uplinks, .seed = static_cast<std::uint64_t>(random(1, 1000))})
            .matchings;
    const RotorTiming timing{Time(random(5'000'000, 20'000'000)), Time(random(0, 1'000'000)),
                             Time(random(0, 10'000'000))};
    RotorNetwork network{.schedule = RotorSchedule(matchings, together ? uplinks : 1, timing),
                         .hosts_per_rack = static_cast<std::uint32_t>(random(1, 4)),
                         .rate = Bandwidth(random(20, 400) * 1'000'000'000),
                         .propagation = Time(random(0, 2'000'000)),
                         .host_latency = Time(random(0, 200'000)),
                         .bulk = {},
                         .low_latency = {},
                         .paths = nullptr,
                         .seed = static_cast<std::uint64_t>(random(1, 1000))};
    network.bulk.routing = random(0, 3) == 0 ? BulkRouting::kDirectOnly : BulkRouting::kRotorLb;
    network.bulk.intra_rack = network.bulk.routing == BulkRouting::kDirectOnly || random(0, 1) == 0
                                  ? IntraRack::kDirect
                                  : IntraRack::kTwoHops;
    return network;
}

/// Makes small messages low-latency.
inline void add_low_latency(Random& random, RotorNetwork& network) {
    network.low_latency.cutoff = Bytes(random(1, 100'000));
    network.low_latency.queue = random(1, 8);
    network.low_latency.window = random(1, 30);
    network.paths = std::make_shared<ShortestSlicePaths>(network.schedule, 4, network.seed);
}

/// Lets up to three times something fail, from 1 ps to `latest`.
inline void fail_at_random(Random& random, RotorNetwork& network, Time latest) {
    const RotorSchedule& whole = network.schedule;
    RotorFailures failed;
    Time at;
    for (std::int64_t left = random(1, 3); left > 0 && at < latest; --left) {
        at = Time(random(at.count() + 1, latest.count()));
        const auto seed = static_cast<std::uint64_t>(random(1, 1000));
        RandomStream stream(seed, "failures");
        const std::int64_t kind = random(0, 2);
        const auto one_if = [&](std::int64_t which, const std::vector<std::uint8_t>& before, std::size_t of) {
            const auto gone = static_cast<std::size_t>(std::count(before.begin(), before.end(), 1));
            return static_cast<std::uint32_t>(kind == which && gone < of ? 1 : 0);
        };
        const FailureCounts counts{one_if(0, failed.cables, std::size_t{whole.racks()} * whole.uplinks()),
                                   one_if(1, failed.racks, whole.racks()),
                                   one_if(2, failed.rotors, whole.uplinks())};
        failed = draw_failures(whole, counts, stream, failed);
        RotorState state{at, without_failed(whole, failed), nullptr};
        if (network.paths != nullptr) {
            state.paths = std::make_shared<ShortestSlicePaths>(state.schedule, 4, network.seed);
        }
        network.failing.push_back(std::move(state));
    }
}

/// When the circuit of this matching fails; Time::max(): never. What failed stays so.
inline Time failure_of(const RotorNetwork& network, Rotor rotor, std::uint32_t matching, Rack rack) {
    for (const RotorState& state : network.failing) {
        if (state.schedule.matching(rotor, matching)[rack] == rack) {
            return state.from;
        }
    }
    return Time::max();
}

}  // namespace astrolabe::network::rotor
