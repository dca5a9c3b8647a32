/// Collectives on servers that forward for each other, on fluid and packet by packet (docs/theory/topoopt.md,
/// "Times on rings"): 16 servers with four cables of 100 Gb/s and 1 us, of strides 1 and 5 both ways round. A
/// byte takes 80 ps, a full packet of 4096 + 82 B takes 334 240 ps.
#include <cstdint>
#include <string>

#include <collective_time.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/network/analysis/route_report.hpp>

namespace astrolabe::testing {
namespace {

using namespace literals;

constexpr Time kFull = 334'240_ps;
constexpr Time kLatency = 1_us;

experiment::CollectiveRequest request(const char* kind, const char* algorithm, const std::string& routing) {
    experiment::CollectiveRequest request;
    request.kind = kind;
    request.algorithm = algorithm;
    if (std::string(algorithm).find("strides") == std::string::npos) {
        request.chunks = 1;
    }
    request.sizes = {"4MiB"};
    request.ranks = 16;
    request.network = fmt::format(
        "{{kind: topoopt, degree: 4, mode: released, routing: {}, link: {{rate: 100Gbps, latency: 1us}}}}",
        routing);
    return request;
}

Time time_on(experiment::CollectiveRequest request, const char* backend) {
    request.backend = backend;
    return run_collective(request).run.execution.total;
}

TEST(DirectConnectEngines, AnAllReduceOnRingsUsesAllLinksOfAServer) {
    // 2·15 rounds of 4 MiB / (4 · 16) = 65,536 B, 16 full packets.
    const auto all_reduce = request("all_reduce", "{algorithm: multi_ring, strides: network}", "balanced");
    const Time fluid = time_on(all_reduce, "fluid");
    EXPECT_GE(fluid, 30 * (kLatency + 65'536 * 80_ps));
    EXPECT_LE(fluid, 30 * (kLatency + 65'536 * 80_ps) + 30_ps);  // a message ends on a whole picosecond
    const Time packet = time_on(all_reduce, "packet");
    EXPECT_GE(packet, 30 * (kLatency + 16 * kFull));
    // The ring the other way round acknowledges over the same link, 84 B for 16 packets: two a round at most,
    // as the end of one round's and the beginning of the next one's may meet.
    EXPECT_LE(packet, 30 * (kLatency + 16 * kFull + 2 * 6'720_ps));
}

TEST(DirectConnectEngines, AnAllReduceOnOneWayRingsUsesAllLinksOfAServer) {
    // Mode paper on separate fibres: strides 1, 3, 5 and 7, one way each; the same rounds.
    auto all_reduce = request("all_reduce", "{algorithm: multi_ring, strides: network}", "balanced");
    all_reduce.network =
        "{kind: topoopt, degree: 4, mode: paper, wiring: separate_fibres, link: {rate: 100Gbps, latency: 1us}}";
    const Time fluid = time_on(all_reduce, "fluid");
    EXPECT_GE(fluid, 30 * (kLatency + 65'536 * 80_ps));
    EXPECT_LE(fluid, 30 * (kLatency + 65'536 * 80_ps) + 30_ps);
    const Time packet = time_on(all_reduce, "packet");
    EXPECT_GE(packet, 30 * (kLatency + 16 * kFull));
    // Acknowledgements go back over three rings: of offsets 15, 13, 11 and 9 there are 12 hops, so that a
    // link carries three times as many as where rings go both ways if they spread, and twelve times if they
    // do not.
    EXPECT_LE(packet, 30 * (kLatency + 16 * kFull + 12 * 2 * 6'720_ps));
}

TEST(DirectConnectEngines, AnAllToAllOverOneWayRingsTakesTheBusiestLink) {
    // 4 MiB / 16 = 262,144 B a pair, 64 full packets. With balanced routes over strides 1, 3, 5 and 7 mean
    // hops are 2.0000: 240 · 2 / 64 = 7.5 routes a link on average.
    auto all_to_all = request("all_to_all", "direct", "balanced");
    all_to_all.network =
        "{kind: direct_connect, hosts: 16, one_way_rings: [1, 3, 5, 7], routing: balanced, link: {rate: "
        "100Gbps, latency: 1us}}";
    static const experiment::Components kComponents = experiment::builtin_components();
    const auto prepared = experiment::CollectiveRun::prepare(all_to_all, kComponents);
    ASSERT_TRUE(prepared);
    const auto routes = static_cast<std::int64_t>(
        network::report_uniform_routes(*prepared->setting().fabric, 1.0).busiest_load);
    EXPECT_EQ(routes, 8);
    const Time fluid = time_on(all_to_all, "fluid");
    EXPECT_GE(fluid, routes * (262'144 * 80_ps));
    EXPECT_LE(fluid, routes * (262'144 * 80_ps) + 3 * kLatency);  // 3 links at most
    const Time packet = time_on(all_to_all, "packet");
    EXPECT_GE(packet, routes * (64 * kFull));
    const double framed = static_cast<double>(fluid.count()) * 4178 / 4096;
    EXPECT_NEAR(static_cast<double>(packet.count()) / framed, 1.0, 0.10);
}

TEST(DirectConnectEngines, AnAllToAllTakesTheBusiestLink) {
    for (const char* routing : {"balanced", "random_shortest"}) {
        // 4 MiB / 16 = 262,144 B a pair, 64 full packets.
        const auto all_to_all = request("all_to_all", "direct", routing);
        static const experiment::Components kComponents = experiment::builtin_components();
        const auto prepared = experiment::CollectiveRun::prepare(all_to_all, kComponents);
        ASSERT_TRUE(prepared);
        const auto routes = static_cast<std::int64_t>(
            network::report_uniform_routes(*prepared->setting().fabric, 1.0).busiest_load);
        EXPECT_GE(routes, 9);  // 240 pairs · 2.1333 hops / 64 links is 8, which no shortest ways reach
        const Time fluid = time_on(all_to_all, "fluid");
        EXPECT_GE(fluid, routes * (262'144 * 80_ps));
        EXPECT_LE(fluid, routes * (262'144 * 80_ps) + 4 * kLatency) << routing;  // 4 links at most
        const Time packet = time_on(all_to_all, "packet");
        EXPECT_GE(packet, routes * (64 * kFull));
        // Engines agree within 10 % on every collective (docs/fluid-against-packets.md).
        const double framed = static_cast<double>(fluid.count()) * 4178 / 4096;
        EXPECT_NEAR(static_cast<double>(packet.count()) / framed, 1.0, 0.10) << routing;
    }
}

}  // namespace
}  // namespace astrolabe::testing
