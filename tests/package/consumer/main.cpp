/// Two hosts on one switch, through the public headers alone.
#include <cstdio>
#include <utility>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/system/program/program.hpp>

int main() {
    using namespace astrolabe;
    using namespace astrolabe::literals;

    network::FabricBuilder builder("pair");
    const auto a = builder.add_host("host 0");
    const auto b = builder.add_host("host 1");
    const auto middle = builder.add_switch("switch");
    const network::LinkParameters cable{.rate = 100_Gbps, .latency = 500_ns, .buffer = 0_B};
    builder.connect(network::NodeId(a.index()), middle, cable);
    builder.connect(network::NodeId(b.index()), middle, cable);
    const auto fabric = std::move(builder).build();

    const auto route = fabric->routing().route(a, b);
    const auto world = system::Partition::world(fabric->host_count());
    std::printf("%zu hops, %s, 64 KiB in %s, %zu ranks\n", route.hops, to_string(route.latency).c_str(),
                to_string(64_KiB / 100_Gbps).c_str(), world.groups.front().size());

    // Two cables of 500 ns; 65,536 B * 8 bit/B / 100 Gbit/s = 5,242,880 ps.
    const bool right = route.hops == 2 && route.latency == 1_us && 64_KiB / 100_Gbps == 5'242'880_ps &&
                       world.groups.front().size() == 2;
    return right ? 0 : 1;
}
