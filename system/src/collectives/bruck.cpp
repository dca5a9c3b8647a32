// Bruck: all_to_all and all_gather of ⌈log2 N⌉ steps for any number of ranks (Bruck, Ho, Kipnis, Upfal and
// Weathersby, "Efficient algorithms for all-to-all communications in multiport message-passing systems", IEEE
// TPDS 8(11), 1997; radix 2, one port).
//
// Positions and blocks are relative: program 0 serves every rank. Step k works at distance d = 2^k and waits
// for all that earlier steps brought.
//
//   all_to_all  The block for the rank j ahead travels one hop of 2^k for every bit k of j, lowest bit first.
//               Before step k it has come j mod d, so of the blocks that a rank holds then, with sources
//               -(j mod d), those whose j has bit k go to +d, all in one message.
//   all_gather  Before step k a rank holds blocks 0 … d-1. It sends them to -d, as far as that rank lacks
//               them, and gets d … 2d-1 from +d.
//
//     all_to_all, N = 2^k             k(α + Sβ/2); names N log N blocks
//     all_gather (S: the result)      ⌈log2 N⌉α + (N-1)Sβ/N

#include "simple_algorithm.hpp"

#include <algorithm>
#include <vector>

namespace astrolabe::system {

namespace {

CollectiveSchedule bruck_all_to_all(Position ranks) {
    ScheduleBuilder builder(CollectiveKind::kAllToAll, ranks, std::uint64_t{ranks} * ranks,
                            Symmetry::kRotation);
    const auto behind = [ranks](Position steps) { return (ranks - steps) % ranks; };
    std::vector<ActionIndex> arrived;
    for (Position d = 1; d < ranks; d *= 2) {
        std::vector<BlockReference> sent;
        std::vector<BlockReference> received;
        for (Position j = d; j < ranks; ++j) {
            if ((j & d) != 0) {
                const Position before = j % d;
                const Position after = j % (2 * d);
                sent.push_back({.source = behind(before), .block = j - before});
                received.push_back({.source = behind(after), .block = j - after});
            }
        }
        builder.send(0, d, sent, arrived);
        arrived.push_back(builder.receive(0, behind(d), received, {}, false));
    }
    return std::move(builder).build();
}

CollectiveSchedule bruck_all_gather(Position ranks) {
    ScheduleBuilder builder(CollectiveKind::kAllGather, ranks, ranks, Symmetry::kRotation);
    std::vector<ActionIndex> arrived;
    for (Position d = 1; d < ranks; d *= 2) {
        std::vector<BlockReference> sent;
        std::vector<BlockReference> received;
        for (Position block = 0; block < std::min(d, ranks - d); ++block) {
            sent.push_back({.block = block});
            received.push_back({.block = block + d});
        }
        builder.send(0, ranks - d, sent, arrived);
        arrived.push_back(builder.receive(0, d, received, {}, false));
    }
    return std::move(builder).build();
}

}  // namespace

void register_bruck(AlgorithmRegistry& registry) {
    register_simple(registry,
                    "logarithmic steps for any number of ranks; the all_to_all forwards blocks: minimum "
                    "latency, more bytes",
                    {.name = "bruck",
                     .kinds = {CollectiveKind::kAllToAll, CollectiveKind::kAllGather},
                     .schedule = [](CollectiveKind kind, Position ranks, unsigned) {
                         return kind == CollectiveKind::kAllToAll ? bruck_all_to_all(ranks)
                                                                  : bruck_all_gather(ranks);
                     }});
}

}  // namespace astrolabe::system
