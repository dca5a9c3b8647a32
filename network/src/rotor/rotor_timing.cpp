#include "rotor_timing.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::rotor {

RotorTiming derive_timing(const TimingParameters& parameters) {
    const TimingParameters& p = parameters;
    ASTROLABE_ASSERT(p.most_hops >= 1 && p.queue >= 1, "a path has a hop and a queue holds a packet");
    const std::int64_t packets_waited_for = (p.most_hops - 1) * p.queue + p.queue - 1;
    return {p.propagation * (p.most_hops - 1) + p.packet * packets_waited_for / p.rate,
            p.propagation + p.packet / p.rate, p.reconfiguration};
}

RotorTiming switched_together(const RotorTiming& one_at_a_time, std::uint32_t uplinks) {
    const RotorTiming& t = one_at_a_time;
    return {t.superslice() * uplinks - t.del - t.reconfiguration, t.del, t.reconfiguration};
}

}  // namespace astrolabe::network::rotor
