#include <stdexcept>

#include <gtest/gtest.h>

#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;

// 1 TFLOPS and 8 Gbit/s = 1 GB/s: a FLOP takes 1 ps, a byte 1 ns.
const Device kDevice{.peak = 1_TFLOPS, .memory_bandwidth = 8_Gbps};

TEST(Roofline, TakesTheLongerOfComputeAndMemory) {
    // max(5000 · 1 ps, 4 · 1 ns) = 5 ns; max(5000 · 1 ps, 6 · 1 ns) = 6 ns.
    EXPECT_EQ(time_of(kDevice, {.flops = 5000_FLOP, .bytes = 4_B}), 5_ns);
    EXPECT_EQ(time_of(kDevice, {.flops = 5000_FLOP, .bytes = 6_B}), 6_ns);
}

TEST(Roofline, NoWorkTakesNoTime) {
    EXPECT_EQ(time_of(Device{}, {}), 0_ps);
}

TEST(Roofline, RoundsUpToThePicosecond) {
    // 10 FLOP at 3 TFLOPS = 3.33… ps.
    EXPECT_EQ(time_of({.peak = 3_TFLOPS}, {.flops = 10_FLOP}), 4_ps);
}

TEST(Roofline, NeedsOnlyTheRatesOfTheTermsThatCount) {
    EXPECT_EQ(time_of({.peak = 1_TFLOPS}, {.flops = 7_FLOP}), 7_ps);
    EXPECT_EQ(time_of({.memory_bandwidth = 8_Gbps}, {.bytes = 7_B}), 7_ns);
    EXPECT_THROW((void)time_of({.peak = 1_TFLOPS}, {.bytes = 7_B}), std::logic_error);
    EXPECT_THROW((void)time_of({.memory_bandwidth = 8_Gbps}, {.flops = 7_FLOP}), std::logic_error);
}

TEST(MeasuredTime, IsThereForTheLayersAndPassesGiven) {
    Device device = kDevice;
    device.measured["Top_0"] = {.forward = 12_us};
    EXPECT_EQ(device.measured_time("Top_0", &LayerTimes::forward, 512), 12_us);
    EXPECT_EQ(device.measured_time("Top_0", &LayerTimes::weight_gradient, 512), std::nullopt);
    EXPECT_EQ(device.measured_time("Top_1", &LayerTimes::forward, 512), std::nullopt);
}

}  // namespace
}  // namespace astrolabe::workload
