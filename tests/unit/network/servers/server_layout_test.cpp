/// Which NICs a pair of servers' hosts uses.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network {
namespace {

/// Servers of so many GPUs, each with `nics` NICs of its own, on one plane.
ServerLayout layout(const std::vector<std::uint32_t>& gpus, std::uint32_t nics, NicRule rule) {
    ServerLayoutParts parts;
    parts.rule = rule;
    std::uint32_t hosts = 0;
    for (const std::uint32_t count : gpus) {
        const ServerId server(parts.servers.size());
        const auto first_nic = static_cast<std::uint32_t>(parts.nics.size());
        parts.servers.push_back({hosts, count, first_nic, count * nics});
        for (std::uint32_t i = 0; i < count * nics; ++i) {
            parts.nics.push_back({server, i, 0, HostId(first_nic + i), NodeId(0)});
        }
        for (std::uint32_t gpu = 0; gpu < count; ++gpu) {
            std::vector<NicId>& own = parts.nics_of_host.emplace_back();
            for (std::uint32_t i = 0; i < nics; ++i) {
                own.push_back(NicId(first_nic + gpu * nics + i));
            }
        }
        hosts += count;
    }
    return ServerLayout(std::move(parts));
}

std::pair<std::uint32_t, std::uint32_t> between(const ServerLayout& servers, int source, int destination) {
    const auto [from, to] = servers.nics_between(HostId(source), HostId(destination));
    return {from.index(), to.index()};
}

using Nics = std::pair<std::uint32_t, std::uint32_t>;

TEST(ServerLayout, KnowsWhoSharesAServer) {
    const ServerLayout servers = layout({4, 2}, 1, NicRule::kOwn);
    EXPECT_EQ(servers.size(), 2U);
    EXPECT_EQ(servers.server_of(HostId(3)), ServerId(0));
    EXPECT_EQ(servers.server_of(HostId(4)), ServerId(1));
    EXPECT_EQ(servers.position_of(HostId(5)), 1U);
    EXPECT_EQ(servers.hosts_per_server(), 0U);  // 4 and 2
    EXPECT_EQ(layout({4, 4}, 1, NicRule::kOwn).hosts_per_server(), 4U);
}

TEST(ServerLayout, OwnNicsLeadFromGpuToGpu) {
    const ServerLayout servers = layout({4, 4}, 1, NicRule::kOwn);
    EXPECT_EQ(between(servers, 1, 6), Nics(1, 6));
    EXPECT_EQ(between(servers, 6, 1), Nics(6, 1));
}

TEST(ServerLayout, ByRailAMessageLeavesThroughTheRailOfItsDestination) {
    const ServerLayout servers = layout({4, 4}, 1, NicRule::kRail);
    // GPU 6 is number 2 of server 1, so rail 2; GPU 1 is on rail 1.
    EXPECT_EQ(between(servers, 1, 6), Nics(2, 6));
    EXPECT_EQ(between(servers, 6, 1), Nics(5, 1));
}

TEST(ServerLayout, ByRailAServerWithoutTheRailLeavesThroughItsOwnNic) {
    const ServerLayout servers = layout({4, 2}, 1, NicRule::kRail);
    // Server 1 has rails 0 and 1. To GPU 3, rail 3, its GPU 5 leaves through its own NIC 5.
    EXPECT_EQ(between(servers, 5, 3), Nics(5, 3));
    EXPECT_EQ(between(servers, 3, 5), Nics(1, 5));
}

TEST(ServerLayout, SeveralNicsOfAGpuAreTakenInTurnByPeer) {
    const ServerLayout servers = layout({2, 2}, 2, NicRule::kOwn);
    // GPU 0 has NICs 0 and 1, GPU 2 has 4 and 5, GPU 3 has 6 and 7. To 2 number 2 mod 2, from 0 number 0
    // mod 2.
    EXPECT_EQ(between(servers, 0, 2), Nics(0, 4));
    EXPECT_EQ(between(servers, 0, 3), Nics(1, 6));
    EXPECT_EQ(between(servers, 1, 2), Nics(2, 5));
}

}  // namespace
}  // namespace astrolabe::network
