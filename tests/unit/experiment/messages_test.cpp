/// Workload `messages`: which ranks send to which, when, and what is refused.
#include "small_experiment.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

using Pairs = std::set<std::pair<std::size_t, std::size_t>>;

Result<experiment::Experiment> load_messages(const std::string& keys) {
    static const experiment::Components kComponents = experiment::builtin_components();
    return load_small(kComponents, {"workload={kind: messages, size: 1MB, " + keys + "}"});
}

/// Of four ranks.
Pairs pairs_of(const std::string& keys) {
    const Result<experiment::Experiment> loaded = load_messages(keys);
    EXPECT_TRUE(loaded) << render(loaded.error());
    Pairs pairs;
    for (const system::Operation& operation : loaded->program.operations) {
        if (operation.is_compute()) {
            continue;
        }
        const system::PairSizes& sizes = operation.collective().pair_sizes->front();
        for (std::size_t from = 0; from < 4; ++from) {
            for (std::size_t to = 0; to < 4; ++to) {
                if (sizes(from, to) > Bytes(0)) {
                    EXPECT_EQ(sizes(from, to), Bytes(1'000'000));
                    pairs.emplace(from, to);
                }
            }
        }
    }
    return pairs;
}

TEST(Messages, GoBetweenThePairsOfTheirPattern) {
    EXPECT_EQ(pairs_of("pattern: all").size(), 12U);
    EXPECT_EQ(pairs_of("pattern: other_groups, group: 2"),
              (Pairs{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {3, 0}, {3, 1}}));
    EXPECT_EQ(pairs_of("pattern: own_group, group: 2"), (Pairs{{0, 1}, {1, 0}, {2, 3}, {3, 2}}));
    EXPECT_EQ(pairs_of("pattern: next_group, group: 2"), (Pairs{{0, 2}, {1, 3}, {2, 0}, {3, 1}}));
    EXPECT_EQ(pairs_of("pattern: next_group"), (Pairs{{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
    EXPECT_EQ(pairs_of("pattern: pairs, pairs: [{from: 3, to: 0}, {from: 1, to: 2}]"),
              (Pairs{{3, 0}, {1, 2}}));
    // All pairs are those of other groups and those of the own one.
    Pairs both = pairs_of("pattern: other_groups, group: 2");
    both.merge(pairs_of("pattern: own_group, group: 2"));
    EXPECT_EQ(both, pairs_of("pattern: all"));
}

TEST(Messages, TakeTheTimeOfOneMessageEach) {
    const auto messages_run = [](const std::string& keys) {
        const Result<experiment::Experiment> loaded = load_messages(keys);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return experiment::run_experiment(*loaded, {});
    };
    // 1 MB at 100 Gb/s is 80 us, and two cables of 0.5 us: 81 us, 5 us later where it starts later. Nothing
    // but the message is sent.
    const experiment::Run one = messages_run("pattern: pairs, pairs: [{from: 0, to: 3}]");
    EXPECT_EQ(one.execution.total, Time(81'000'000));
    EXPECT_EQ(one.network.messages, 1U);
    EXPECT_EQ(messages_run("pattern: pairs, pairs: [{from: 0, to: 3}], start: 5us").execution.total,
              Time(86'000'000));
    // Three into one port share it: 240 us.
    const experiment::Run incast =
        messages_run("pattern: pairs, pairs: [{from: 1, to: 0}, {from: 2, to: 0}, {from: 3, to: 0}]");
    EXPECT_EQ(incast.execution.total, Time(241'000'000));
    EXPECT_EQ(incast.network.bytes_delivered, Bytes(3'000'000));
}

TEST(Messages, RefuseWhatMeansNothing) {
    for (const auto& [keys, part] : {
             std::pair{"pattern: pairs", "needs 'pairs'"},
             std::pair{"pattern: all, pairs: [{from: 0, to: 1}]", "only pattern 'pairs' has 'pairs'"},
             std::pair{"pattern: pairs, pairs: [{from: 0, to: 0}]", "rank 0 sends to itself"},
             std::pair{"pattern: pairs, pairs: [{from: 0, to: 1}, {from: 0, to: 1}]", "is there twice"},
             std::pair{"pattern: pairs, pairs: [{from: 0, to: 4}]", "among 4 ranks"},
             std::pair{"pattern: own_group", "nobody to send to"},
             std::pair{"pattern: other_groups, group: 3", "4 ranks are no groups of 3"},
             std::pair{"pattern: other_groups, group: 4", "no other to send to"},
             std::pair{"pattern: everyone", "'everyone' is not one of all, other_groups"},
         }) {
        const Result<experiment::Experiment> loaded = load_messages(keys);
        ASSERT_FALSE(loaded) << keys;
        EXPECT_NE(render(loaded.error()).find(part), std::string::npos) << keys << "\n"
                                                                        << render(loaded.error());
    }
}

}  // namespace
}  // namespace astrolabe::testing
