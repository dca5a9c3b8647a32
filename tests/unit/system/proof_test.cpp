// The proof accepts every algorithm that comes with the project, and rejects each of them once it is broken.

#include "sanitizers.hpp"
#include "schedule_checks.hpp"
#include "system/src/collectives/hierarchical.hpp"
#include "system/src/schedule/proof.hpp"


#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>

namespace astrolabe::system {
namespace {

class BuiltinProof : public ::testing::TestWithParam<CollectiveKind> {};

// Up to 64 ranks; of all_to_alls, whose proof takes most, beyond 32 a sample with powers of two, primes and
// multiples of many numbers (proof_long_test.cpp has them all). Hierarchical schedules, which on one
// dimension are those of the ring, have grids of their own in hierarchical_test.cpp.
TEST_P(BuiltinProof, HoldsForEveryNumberOfRanks) {
    const std::set<Position> sample{36, 41, 48, 63, 64};
    for (const testing::NamedAlgorithm& entry : testing::builtin_algorithms()) {
        for (Position ranks = 2; ranks <= testing::up_to<Position>(64, 24); ++ranks) {
            const bool is_skipped =
                GetParam() == CollectiveKind::kAllToAll && ranks > 32 && sample.count(ranks) == 0;
            if (entry.name == "hierarchical" || is_skipped ||
                entry.algorithm->unsupported(GetParam(), ranks)) {
                continue;
            }
            SCOPED_TRACE(entry.name);
            expect_proven(*entry.algorithm, GetParam(), ranks);
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Kinds, BuiltinProof, ::testing::ValuesIn(kAllKinds),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

/// A schedule taken apart: every rank's actions in absolute numbers, to be changed and put together again.
struct Draft {
    struct Step {
        Action::Kind kind;
        Position peer;
        std::vector<BlockReference> blocks;
        std::vector<ActionIndex> after;
        std::uint16_t stage;
    };
    CollectiveKind kind;
    std::uint64_t block_count;
    std::vector<Stage> stages;
    std::vector<std::vector<Step>> ranks;

    explicit Draft(const CollectiveSchedule& schedule)
        : kind(schedule.kind()),
          block_count(schedule.block_count()),
          stages(schedule.stages()),
          ranks(schedule.ranks()) {
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            const RankProgram& program = schedule.program(rank);
            for (const Action& action : program.actions) {
                Step step{action.kind, schedule.resolve(rank, action.peer), {}, {}, action.stage};
                for (const BlockReference block : program.blocks_of(action)) {
                    const std::uint64_t number = schedule.resolve(rank, block);
                    step.blocks.push_back(kind == CollectiveKind::kAllToAll ? absolute(number)
                                                                            : plain(number));
                }
                const auto dependencies = program.dependencies_of(action);
                step.after.assign(dependencies.begin(), dependencies.end());
                ranks[rank].push_back(std::move(step));
            }
        }
    }

    [[nodiscard]] CollectiveSchedule build() const {
        ScheduleBuilder builder(kind, static_cast<Position>(ranks.size()), block_count, Symmetry::kNone,
                                stages);
        for (Position rank = 0; rank < ranks.size(); ++rank) {
            for (const Step& step : ranks[rank]) {
                builder.begin_stage(step.stage);
                if (step.kind == Action::Kind::kSend) {
                    builder.send(rank, step.peer, step.blocks, step.after);
                } else {
                    builder.receive(rank, step.peer, step.blocks, step.after,
                                    step.kind == Action::Kind::kReceiveReduce);
                }
            }
        }
        return std::move(builder).build();
    }

private:
    [[nodiscard]] BlockReference absolute(std::uint64_t number) const {
        return {static_cast<Position>(number / ranks.size()), static_cast<BlockIndex>(number % ranks.size())};
    }
    [[nodiscard]] static BlockReference plain(std::uint64_t number) {
        return {0, static_cast<BlockIndex>(number)};
    }
};

std::string build_error(const Draft& draft) {
    try {
        static_cast<void>(draft.build());
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "";
}

/// Small schedules in which every dependency is needed.
std::vector<Draft> subjects() {
    return {Draft(testing::algorithm_of("ring")->schedule(CollectiveKind::kReduceScatter, 4, 0)),
            Draft(testing::algorithm_of("ring")->schedule(CollectiveKind::kAllReduce, 4, 0)),
            Draft(testing::algorithm_of("direct")->schedule(CollectiveKind::kReduceScatter, 3, 0)),
            Draft(testing::algorithm_of("direct")->schedule(CollectiveKind::kAllReduce, 4, 0)),
            Draft(testing::algorithm_of("double_binary_tree")->schedule(CollectiveKind::kAllReduce, 6, 0)),
            Draft(testing::algorithm_of("double_binary_tree")->schedule(CollectiveKind::kAllReduce, 7, 1)),
            Draft(testing::algorithm_of("bidirectional_ring")->schedule(CollectiveKind::kAllReduce, 4, 1)),
            Draft(testing::algorithm_of("bruck")->schedule(CollectiveKind::kAllToAll, 7, 0)),
            Draft(testing::algorithm_of("bruck")->schedule(CollectiveKind::kAllGather, 8, 0)),
            Draft(testing::algorithm_of("halving_doubling")->schedule(CollectiveKind::kReduceScatter, 8, 0)),
            Draft(testing::algorithm_of("halving_doubling")->schedule(CollectiveKind::kAllGather, 8, 0)),
            Draft(testing::algorithm_of("recursive_doubling")->schedule(CollectiveKind::kAllReduce, 4, 0)),
            Draft(testing::algorithm_of("recursive_doubling")->schedule(CollectiveKind::kAllReduce, 6, 0))};
}

/// Hierarchical schedules of every kind of phase, with the same and with different inner algorithms.
std::vector<Draft> small_hierarchical_schedules() {
    std::vector<Draft> drafts;
    const auto ring = testing::algorithm_of("ring");
    const auto direct = testing::algorithm_of("direct");
    for (const HierarchicalOptions& options :
         {HierarchicalOptions{.per_dimension = {ring}},
          HierarchicalOptions{.optimisation = HierarchicalOptimisation::kBaseline, .per_dimension = {direct}},
          HierarchicalOptions{.per_dimension = {direct, ring}, .order = DimensionOrder::kRoundRobin},
          HierarchicalOptions{.per_dimension = {testing::algorithm_of("halving_doubling"),
                                                testing::algorithm_of("double_binary_tree")}}}) {
        const auto algorithm = make_hierarchical(options);
        for (const CollectiveKind kind : kUnrootedKinds) {
            for (const Shape& shape : {Shape({2, 2}), Shape({3, 2}), Shape({2, 2, 2})}) {
                if (algorithm->unsupported(kind, shape)) {
                    continue;
                }
                for (unsigned variant = 0; variant < algorithm->variants(kind, shape); ++variant) {
                    drafts.emplace_back(algorithm->schedule(kind, shape, variant));
                }
            }
        }
    }
    return drafts;
}

/// Every algorithm and kind over a few ranks, powers of two and others.
std::vector<Draft> all_small_schedules() {
    std::vector<Draft> drafts = small_hierarchical_schedules();
    for (const testing::NamedAlgorithm& entry : testing::builtin_algorithms()) {
        for (const CollectiveKind kind : kAllKinds) {
            for (const Position ranks : {2U, 4U, 5U, 6U}) {
                if (entry.algorithm->unsupported(kind, ranks)) {
                    continue;
                }
                for (unsigned variant = 0; variant < entry.algorithm->variants(kind, ranks); ++variant) {
                    drafts.emplace_back(entry.algorithm->schedule(kind, ranks, variant));
                }
            }
        }
    }
    return drafts;
}

TEST(Mutation, TakingApartAndPuttingTogetherChangesNothing) {
    for (const Draft& draft : subjects()) {
        EXPECT_FALSE(prove(draft.build()));
    }
    for (const Draft& draft : all_small_schedules()) {
        EXPECT_FALSE(prove(draft.build()));
    }
}

TEST(Mutation, EveryDroppedDependencyIsFound) {
    for (const Draft& draft : subjects()) {
        for (std::size_t rank = 0; rank < draft.ranks.size(); ++rank) {
            for (std::size_t action = 0; action < draft.ranks[rank].size(); ++action) {
                for (std::size_t i = 0; i < draft.ranks[rank][action].after.size(); ++i) {
                    Draft broken = draft;
                    auto& after = broken.ranks[rank][action].after;
                    after.erase(after.begin() + static_cast<std::ptrdiff_t>(i));
                    EXPECT_TRUE(prove(broken.build()))
                        << to_string(draft.kind) << " rank " << rank << " action " << action;
                }
            }
        }
    }
}

TEST(Mutation, EveryFlippedReductionIsFound) {
    for (const Draft& draft : all_small_schedules()) {
        for (std::size_t rank = 0; rank < draft.ranks.size(); ++rank) {
            for (std::size_t action = 0; action < draft.ranks[rank].size(); ++action) {
                Draft broken = draft;
                auto& kind = broken.ranks[rank][action].kind;
                if (kind == Action::Kind::kSend) {
                    continue;
                }
                kind = kind == Action::Kind::kReceive ? Action::Kind::kReceiveReduce : Action::Kind::kReceive;
                EXPECT_TRUE(prove(broken.build()))
                    << to_string(draft.kind) << " rank " << rank << " action " << action;
            }
        }
    }
}

TEST(Mutation, EveryChangedBlockIsFound) {
    // The block is changed at both ends, else putting together fails already.
    for (const Draft& draft : all_small_schedules()) {
        const CollectiveSchedule intact = draft.build();
        if (draft.block_count == 1) {
            continue;
        }
        const auto columns = static_cast<BlockIndex>(
            draft.kind == CollectiveKind::kAllToAll ? draft.ranks.size() : draft.block_count);
        for (Position rank = 0; rank < draft.ranks.size(); ++rank) {
            for (std::size_t action = 0; action < draft.ranks[rank].size(); ++action) {
                Draft broken = draft;
                Draft::Step& step = broken.ranks[rank][action];
                if (step.kind != Action::Kind::kSend) {
                    continue;
                }
                const ActionIndex match = intact.program(rank).actions[action].match;
                step.blocks[0].block = (step.blocks[0].block + 1) % columns;
                broken.ranks[step.peer][match].blocks = step.blocks;
                EXPECT_TRUE(prove(broken.build()))
                    << to_string(draft.kind) << " rank " << rank << " action " << action;
            }
        }
    }
}

/// Takes an action out; what waited for it waits for it no longer.
void erase_action(std::vector<Draft::Step>& steps, ActionIndex action) {
    steps.erase(steps.begin() + action);
    for (Draft::Step& step : steps) {
        std::erase(step.after, action);
        for (ActionIndex& dependency : step.after) {
            dependency -= dependency > action ? 1 : 0;
        }
    }
}

/// Puts a second one right after an action; what waited for it waits for the second.
void double_action(std::vector<Draft::Step>& steps, ActionIndex action) {
    for (Draft::Step& step : steps) {
        for (ActionIndex& dependency : step.after) {
            dependency += dependency >= action ? 1 : 0;
        }
    }
    steps.insert(steps.begin() + action, steps[action]);
}

TEST(Mutation, EveryDroppedMessageIsFound) {
    for (const Draft& draft : all_small_schedules()) {
        const CollectiveSchedule intact = draft.build();
        for (Position rank = 0; rank < draft.ranks.size(); ++rank) {
            for (ActionIndex action = 0; action < draft.ranks[rank].size(); ++action) {
                if (draft.ranks[rank][action].kind != Action::Kind::kSend) {
                    continue;
                }
                Draft broken = draft;
                erase_action(broken.ranks[draft.ranks[rank][action].peer],
                             intact.program(rank).actions[action].match);
                erase_action(broken.ranks[rank], action);
                EXPECT_TRUE(prove(broken.build()))
                    << to_string(draft.kind) << " rank " << rank << " action " << action;
            }
        }
    }
}

TEST(Mutation, EveryEndWithoutTheOtherIsFound) {
    // One end of a message is dropped, or doubled: putting together names an action.
    for (const Draft& draft : all_small_schedules()) {
        for (Position rank = 0; rank < draft.ranks.size(); ++rank) {
            for (ActionIndex action = 0; action < draft.ranks[rank].size(); ++action) {
                Draft without = draft;
                erase_action(without.ranks[rank], action);
                EXPECT_NE(build_error(without).find(" action "), std::string::npos)
                    << to_string(draft.kind) << " rank " << rank << " action " << action;
                Draft doubled = draft;
                double_action(doubled.ranks[rank], action);
                EXPECT_NE(build_error(doubled).find(" action "), std::string::npos)
                    << to_string(draft.kind) << " rank " << rank << " action " << action;
            }
        }
    }
}

TEST(Mutation, EveryDoubledAdditionIsFound) {
    // A message that is added twice is wrong; one that is stored twice is a waste, which the closed forms of
    // messages and bytes find.
    for (const Draft& draft : all_small_schedules()) {
        const CollectiveSchedule intact = draft.build();
        for (Position rank = 0; rank < draft.ranks.size(); ++rank) {
            for (ActionIndex action = 0; action < draft.ranks[rank].size(); ++action) {
                const Draft::Step& step = draft.ranks[rank][action];
                const ActionIndex match = intact.program(rank).actions[action].match;
                if (step.kind != Action::Kind::kSend ||
                    draft.ranks[step.peer][match].kind != Action::Kind::kReceiveReduce) {
                    continue;
                }
                Draft broken = draft;
                double_action(broken.ranks[rank], action);
                double_action(broken.ranks[step.peer], match);
                EXPECT_TRUE(prove(broken.build()))
                    << to_string(draft.kind) << " rank " << rank << " action " << action;
            }
        }
    }
}

TEST(Mutation, EveryChangedPeerIsFound) {
    // One end turns to another peer: putting together names an action. Both ends move, the receive to the end
    // of another rank's program: putting together finds it out of order, or the proof misses it where it was.
    // (Not so where the other way may be right too: a contribution may reach the rank that adds it up sooner,
    // or through a rank that passes it on in the next stage.)
    for (const Draft& draft : all_small_schedules()) {
        const CollectiveSchedule intact = draft.build();
        const auto ranks = static_cast<Position>(draft.ranks.size());
        for (Position rank = 0; rank < ranks && ranks > 2; ++rank) {
            for (ActionIndex action = 0; action < draft.ranks[rank].size(); ++action) {
                Draft broken = draft;
                Draft::Step& step = broken.ranks[rank][action];
                const Position peer = step.peer;
                step.peer = (peer + 1) % ranks == rank ? (peer + 2) % ranks : (peer + 1) % ranks;
                EXPECT_NE(build_error(broken).find(" action "), std::string::npos)
                    << to_string(draft.kind) << " rank " << rank << " action " << action;
                const ActionIndex match = intact.program(rank).actions[action].match;
                std::vector<Draft::Step>& other = broken.ranks[step.peer];
                const bool has_other_ways = draft.kind == CollectiveKind::kReduce ||
                                            draft.kind == CollectiveKind::kReduceScatter ||
                                            draft.stages.size() > 1;
                if (step.kind != Action::Kind::kSend || has_other_ways) {
                    continue;
                }
                Draft::Step receive = draft.ranks[peer][match];
                receive.after.clear();
                other.push_back(receive);
                erase_action(broken.ranks[peer], match);
                EXPECT_TRUE(!build_error(broken).empty() || prove(broken.build()))
                    << to_string(draft.kind) << " rank " << rank << " action " << action;
            }
        }
    }
}

TEST(Mutation, AChangedPeerLeavesASendWithoutReceive) {
    Draft broken(testing::algorithm_of("direct")->schedule(CollectiveKind::kAllToAll, 4, 0));
    broken.ranks[2][1].peer = 3;  // was rank 0
    EXPECT_EQ(build_error(broken), "schedule: rank 0 action 4: the receive has no send");
}

TEST(Mutation, BlocksThatTheTwoEndsDisagreeAboutAreFound) {
    Draft broken(testing::algorithm_of("direct")->schedule(CollectiveKind::kReduceScatter, 4, 0));
    // Rank 0 sends to 1 what it should send to 2, and the other way round.
    std::swap(broken.ranks[0][0].blocks, broken.ranks[0][1].blocks);
    EXPECT_EQ(build_error(broken),
              "schedule: rank 0 action 0: sends other blocks than rank 1 action 3 receives");
}

TEST(ProofFailure, NamesRankActionAndBlock) {
    Draft broken(testing::algorithm_of("ring")->schedule(CollectiveKind::kAllReduce, 4, 0));
    // Rank 1's first receive: block 3 of rank 0, to be added. Stored instead, rank 1's own contribution is
    // lost.
    ASSERT_EQ(broken.ranks[1][1].kind, Action::Kind::kReceiveReduce);
    broken.ranks[1][1].kind = Action::Kind::kReceive;
    const auto failure = prove(broken.build());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->block, 3U);
    EXPECT_EQ(failure->message,
              "all_reduce over 4 ranks: rank 0 block 3: ends without the contribution of rank 1 (eager "
              "sends, oldest "
              "message first)");
}

TEST(ProofFailure, NamesAContributionAddedTwice) {
    Draft broken(testing::algorithm_of("ring")->schedule(CollectiveKind::kAllReduce, 2, 0));
    // Rank 0: send, receive-reduce, send, receive; the last one now adds the sum to the sum.
    broken.ranks[0][3].kind = Action::Kind::kReceiveReduce;
    const auto failure = prove(broken.build());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->rank, 0U);
    EXPECT_EQ(failure->action, 3U);
    EXPECT_EQ(failure->block, 1U);
    EXPECT_NE(failure->message.find("adds the contribution of rank 0 twice"), std::string::npos)
        << failure->message;
}

TEST(ProofFailure, NamesABlockSentWithoutBeingHeld) {
    ScheduleBuilder builder(CollectiveKind::kAllGather, 2, 2, Symmetry::kNone);
    const BlockReference other{.block = 1};
    builder.send(0, 1, {&other, 1}, {});
    builder.receive(1, 0, {&other, 1}, {}, false);
    const auto failure = prove(std::move(builder).build());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->rank, 0U);
    EXPECT_EQ(failure->action, 0U);
    EXPECT_EQ(failure->block, 1U);
}

/// Two ranks that each send only after they have received.
CollectiveSchedule deadlock() {
    ScheduleBuilder builder(CollectiveKind::kAllReduce, 2, 1, Symmetry::kNone);
    const BlockReference whole{};
    for (const Position rank : {0U, 1U}) {
        const ActionIndex received = builder.receive(rank, 1 - rank, {&whole, 1}, {}, true);
        builder.send(rank, 1 - rank, {&whole, 1}, {&received, 1});
    }
    return std::move(builder).build();
}

TEST(ProofFailure, NamesAnActionThatIsNeverReady) {
    const auto failure = prove(deadlock());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->message,
              "all_reduce over 2 ranks: rank 0 action 0: is never ready (eager sends, oldest message first)");
    EXPECT_THROW(static_cast<void>(deadlock().steps()), std::logic_error);
}

TEST(ProofFailure, FindsARaceThatSomeOrdersHide) {
    // Rank 0 should add rank 2's vector before it sends to rank 1, but does not wait for it: right if the
    // send is late, wrong if it is early.
    ScheduleBuilder builder(CollectiveKind::kAllReduce, 3, 1, Symmetry::kNone);
    const BlockReference whole{};
    builder.receive(0, 2, {&whole, 1}, {}, true);
    builder.send(0, 1, {&whole, 1}, {});  // must wait for the receive
    builder.receive(0, 1, {&whole, 1}, {}, false);
    const ActionIndex sum = builder.receive(1, 0, {&whole, 1}, {}, true);
    builder.send(1, 0, {&whole, 1}, {&sum, 1});
    builder.send(1, 2, {&whole, 1}, {&sum, 1});
    builder.send(2, 0, {&whole, 1}, {});
    builder.receive(2, 1, {&whole, 1}, {}, false);
    EXPECT_TRUE(prove(std::move(builder).build()));
}

}  // namespace
}  // namespace astrolabe::system
