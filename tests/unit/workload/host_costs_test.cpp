/// The keys of a device that say what its host costs (host_costs.hpp).
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;

/// The device, or what is wrong, of a description.
std::pair<Device, std::string> read(const std::string& keys) {
    Registry<Device> registry("device");
    register_builtin_devices(registry);
    ReadContext context;
    const auto device = registry.read(*parse_config(keys, "device.yaml"), context);
    return device ? std::pair(device->make(), to_yaml(device->resolved))
                  : std::pair(Device(), render(context.errors()));
}

TEST(HostCosts, AreThereWhereAskedForAndReadBack) {
    const std::string keys =
        "kind: roofline\npeak: 1TFLOPS\n"
        "host: {forward_launch: 52us, backward_launch: 44us, collective: 80us, batch: 1.4ms}\nkernel: 4us\n";
    const auto [device, resolved] = read(keys);
    ASSERT_TRUE(device.host.has_value()) << resolved;
    EXPECT_EQ(*device.host,
              (HostCosts{
                  .forward_launch = 52_us, .backward_launch = 44_us, .collective = 80_us, .batch = 1400_us}));
    EXPECT_EQ(device.kernel, 4_us);
    EXPECT_EQ(read(resolved).second, resolved);
}

TEST(HostCosts, AreNotModelledUnlessGiven) {
    const auto [device, resolved] = read("kind: roofline\npeak: 1TFLOPS\n");
    EXPECT_FALSE(device.host.has_value());
    EXPECT_FALSE(device.kernel.has_value());
    EXPECT_EQ(resolved, "kind: roofline\npeak: 1TFLOPS\n");
}

TEST(HostCosts, AreTimesThatAreNotNegative) {
    EXPECT_NE(read("kind: roofline\nhost: {wait: -1us}\n").second.find("'wait'"), std::string::npos);
    EXPECT_NE(read("kind: roofline\nhost: {colective: 1us}\n").second.find("did you mean 'collective'"),
              std::string::npos);
    EXPECT_NE(read("kind: roofline\nkernel: 3\n").second.find("kernel"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::workload
