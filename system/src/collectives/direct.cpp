// Direct: every rank exchanges with every other at once (docs/theory/collectives-and-costs.md, "Algorithms").
//
// Sends leave in the order i+1, i+2, …, so that at any moment the ranks address different receivers and a
// crossbar is never contended while they keep step. all_reduce is a reduce_scatter, a barrier on its N-1
// receptions, and an all_gather. Positions and blocks are relative: program 0 serves every rank. A
// broadcast, reduce or point_to_point (between two ranks only) is a star around the root.
//
//     reduce_scatter, all_to_all      α + (N-1)Sβ/N
//     all_gather (S: the result)      α + (N-1)Sβ/N
//     all_reduce                      2[α + (N-1)Sβ/N]
//     broadcast, reduce               α + (N-1)Sβ

#include "direct.hpp"

#include "simple_algorithm.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace astrolabe::system {

namespace detail {

namespace {

class DirectWriter {
public:
    DirectWriter(CollectiveKind kind, Position ranks, Position window, std::vector<Stage> stages = {})
        : kind_(kind),
          ranks_(ranks),
          window_(window),
          builder_(kind, ranks, kind == CollectiveKind::kAllToAll ? std::uint64_t{ranks} * ranks : ranks,
                   Symmetry::kRotation, std::move(stages)) {}

    /// Sends every other rank its block.
    void scatter() {
        const bool reduce = kind_ != CollectiveKind::kAllToAll;
        for (Position distance = 1; distance < ranks_; ++distance) {
            send(distance, {.block = distance});
        }
        for (Position distance = 1; distance < ranks_; ++distance) {
            const Position peer = ranks_ - distance;
            const BlockReference block{.source = reduce ? 0 : peer, .block = 0};
            scattered_.push_back(builder_.receive(0, peer, {&block, 1}, {}, reduce));
        }
    }

    /// Sends every other rank the own block, once all that was scattered has arrived.
    void gather() {
        for (Position distance = 1; distance < ranks_; ++distance) {
            send(distance, {.block = 0});
        }
        for (Position distance = 1; distance < ranks_; ++distance) {
            const Position peer = ranks_ - distance;
            const BlockReference block{.block = peer};
            builder_.receive(0, peer, {&block, 1}, {}, false);
        }
    }

    /// From here on actions wait for those before because they belong to the stage after.
    void begin_stage(std::size_t index) {
        builder_.begin_stage(index);
        scattered_.clear();
        sends_.clear();
    }

    [[nodiscard]] CollectiveSchedule finish() && { return std::move(builder_).build(); }

private:
    void send(Position distance, BlockReference block) {
        std::vector<ActionIndex> after;
        if (distance <= window_) {
            after = scattered_;  // later sends wait for one of these
        }
        if (sends_.size() >= window_) {
            after.push_back(sends_[sends_.size() - window_]);
        }
        sends_.push_back(builder_.send(0, distance, {&block, 1}, after));
    }

    CollectiveKind kind_;
    Position ranks_;
    Position window_;
    ScheduleBuilder builder_;
    std::vector<ActionIndex> sends_;
    std::vector<ActionIndex> scattered_;  // receptions
};

}  // namespace

CollectiveSchedule direct_exchange(CollectiveKind kind, Position ranks, Position window) {
    DirectWriter writer(kind, ranks, window);
    if (kind != CollectiveKind::kAllGather) {
        writer.scatter();
    }
    if (kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather) {
        writer.gather();
    }
    return std::move(writer).finish();
}

CollectiveSchedule staged_direct_all_reduce(Position ranks) {
    DirectWriter writer(CollectiveKind::kAllReduce, ranks, kNoWindow,
                        {{0, CollectiveKind::kReduceScatter}, {0, CollectiveKind::kAllGather}});
    writer.scatter();
    writer.begin_stage(1);
    writer.gather();
    return std::move(writer).finish();
}

}  // namespace detail

namespace {

/// The first rank exchanges one block with every other: broadcast, reduce, point_to_point.
CollectiveSchedule star(CollectiveKind kind, Position ranks) {
    ScheduleBuilder builder(kind, ranks, 1, Symmetry::kNone);
    const bool gathers = kind == CollectiveKind::kReduce;
    const BlockReference whole{};
    for (Position leaf = 1; leaf < ranks; ++leaf) {
        const Position sender = gathers ? leaf : 0;
        const Position receiver = gathers ? 0 : leaf;
        builder.send(sender, receiver, {&whole, 1}, {});
        builder.receive(receiver, sender, {&whole, 1}, {}, gathers);
    }
    return std::move(builder).build();
}

}  // namespace

void register_direct(AlgorithmRegistry& registry) {
    register_simple(registry,
                    "every rank exchanges with every other at once: fewest steps, one incast per rank",
                    {.name = "direct",
                     .schedule =
                         [](CollectiveKind kind, Position ranks, unsigned) {
                             return has_root(kind) ? star(kind, ranks) : detail::direct_exchange(kind, ranks);
                         },
                     .limit = [](CollectiveKind kind, Position ranks) -> std::optional<std::string> {
                         if (kind == CollectiveKind::kPointToPoint && ranks != 2) {
                             return "point_to_point takes two ranks";
                         }
                         return std::nullopt;
                     }});
}

}  // namespace astrolabe::system
