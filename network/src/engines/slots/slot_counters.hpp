/// What the slot engine decided so far.
#pragma once

#include <cstdint>

#include <astrolabe/network/rotor/rotor_lb.hpp>

namespace astrolabe::network::rotor {

struct SlotCounters {
    std::uint64_t installations = 0;  ///< superslices that were worked out
    std::uint64_t passed_over = 0;    ///< superslices that repeat others
    std::uint64_t direct = 0;         ///< packets that left, by kind of their grant
    std::uint64_t intra_rack = 0;
    std::uint64_t first_hops = 0;
    std::uint64_t second_hops = 0;
    std::uint64_t low_latency = 0;  ///< messages

    void count(Grant::Kind kind, std::uint64_t packets) {
        switch (kind) {
            case Grant::Kind::kSecondHop:
                second_hops += packets;
                break;
            case Grant::Kind::kDirect:
                direct += packets;
                break;
            case Grant::Kind::kIntraRack:
                intra_rack += packets;
                break;
            case Grant::Kind::kFirstHop:
                first_hops += packets;
                break;
        }
    }
    /// Counts `times` again what left between two of its states.
    void repeat(const SlotCounters& from, const SlotCounters& to, std::uint64_t times);
};

}  // namespace astrolabe::network::rotor
