/// Dragonflies, meshes and hypercubes on fluid, packets and stock TCP. The fluid has 4096/4178 of a link's
/// rate, which is what headers leave of full packets.
#include <cstdio>
#include <string>

#include <collective_time.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

enum class Cables { kOne, kOfDragonfly };

std::string network(const std::string& text, Cables cables, std::int64_t rate) {
    const std::string cable = fmt::format("{{rate: {}bps, latency: 500ns}}", rate);
    return cables == Cables::kOne
               ? fmt::format("{{{}, link: {}}}", text, cable)
               : fmt::format("{{{0}, link: {1}, local_link: {1}, global_link: {1}}}", text, cable);
}

Time all_to_all(const std::string& on, const char* size, const char* backend) {
    experiment::CollectiveRequest request;
    request.kind = "all_to_all";
    request.algorithm = "direct";
    request.chunks = 1;
    request.sizes = {size};
    request.network = on;
    request.backend = backend;
    return run_collective(request).run.execution.total;
}

constexpr std::int64_t kRate = 100'000'000'000;

/// Messages of a few packets leave a spray uneven, so that sprayed networks get larger ones.
TEST(KindsOnEngines, AllToAllOfFluidAndPacketsWithinFivePercent) {
    struct Case {
        const char* network;
        Cables cables;
        const char* size;
    };
    for (const Case& one :
         {Case{"kind: dragonfly, hosts_per_router: 2, load_balancing: spray", Cables::kOfDragonfly, "16MiB"},
          Case{"kind: dragonfly, hosts_per_router: 2, routing: valiant, load_balancing: spray",
               Cables::kOfDragonfly, "16MiB"},
          Case{"kind: dragonfly, hosts_per_router: 2, routing: valiant", Cables::kOfDragonfly, "1MiB"},
          Case{"kind: mesh, sizes: [4, 4], routing: dimension_order", Cables::kOne, "1MiB"},
          Case{"kind: mesh, sizes: [4, 4], routing: valiant", Cables::kOne, "1MiB"},
          Case{"kind: hypercube, dimensions: 4, routing: dimension_order", Cables::kOne, "1MiB"}}) {
        const Time fluid =
            all_to_all(network(one.network, one.cables, kRate * 4096 / 4178), one.size, "fluid");
        const Time packets = all_to_all(network(one.network, one.cables, kRate), one.size, "packet");
        const double ratio = static_cast<double>(packets.count()) / static_cast<double>(fluid.count());
        std::printf("%s: fluid %.3f us, packets %.3f us, %+.1f %%\n", one.network,
                    static_cast<double>(fluid.count()) * 1e-6, static_cast<double>(packets.count()) * 1e-6,
                    100 * (ratio - 1));
        EXPECT_NEAR(ratio, 1.0, 0.05) << one.network;
    }
}

TEST(KindsOnEngines, TcpRunsWhereAPairHasOnePath) {
    for (const char* routes : {"kind: mesh, sizes: [3, 2], routing: valiant",
                               "kind: hypercube, dimensions: 3, routing: dimension_order"}) {
        const std::string on = network(routes, Cables::kOne, kRate);
        const Time fluid = all_to_all(on, "96KiB", "fluid");
        const Time tcp = all_to_all(on, "96KiB", "tcp");
        // Handshakes, slow start and headers only ever cost time.
        EXPECT_GT(tcp, fluid) << routes;
        EXPECT_LT(tcp, 20 * fluid) << routes;
    }
}

/// Flow control without loss on a mesh: what dimension order delivers, whatever waits for what.
TEST(KindsOnEngines, DimensionOrderDeliversWithoutLossAndWithLittleMemory) {
    const std::string on =
        network("kind: mesh, sizes: [4, 4], routing: dimension_order", Cables::kOne, kRate);
    const Time packets = all_to_all(on, "1MiB", "{kind: packet, flow_control: credit, credit_room: 16KiB}");
    const Time fluid = all_to_all(on, "1MiB", "fluid");
    EXPECT_GT(packets, fluid);
}

}  // namespace
}  // namespace astrolabe::testing
