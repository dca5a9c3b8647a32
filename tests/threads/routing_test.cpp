/// Routes that several threads ask a network for: what it finds out at the first question is kept for all.
#include "network/src/topologies/fat_tree.hpp"

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

TEST(Routing, MayBeAskedFromSeveralThreadsAtOnce) {
    FatTreeParameters parameters;
    parameters.k = 8;
    const std::shared_ptr<const Fabric> shared = build_fat_tree(parameters);
    const std::shared_ptr<const Fabric> alone = build_fat_tree(parameters);
    constexpr std::uint32_t kThreads = 4;
    std::vector<std::vector<LinkId>> choices(kThreads);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint32_t d = 1; d < 128; ++d) {
                for (const RouteLeg& leg : shared->routing().route(HostId(0), HostId(d)).legs) {
                    choices[t].push_back(leg.link);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::vector<LinkId> expected;
    for (std::uint32_t d = 1; d < 128; ++d) {
        for (const RouteLeg& leg : alone->routing().route(HostId(0), HostId(d)).legs) {
            expected.push_back(leg.link);
        }
    }
    for (const std::vector<LinkId>& choice : choices) {
        EXPECT_EQ(choice, expected);
    }
}

}  // namespace
}  // namespace astrolabe::network
