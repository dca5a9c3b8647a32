// The least time of a message: no message of a run beats it, on any network.
#include "small_experiment.hpp"

#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/records/flow_table.hpp>
#include <astrolabe/experiment/records/ideal_time.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

class IdealTimeTest : public ::testing::Test {
protected:
    [[nodiscard]] Experiment load(const std::vector<std::string>& overrides) const {
        Result<Experiment> loaded = testing::load_small(components_, overrides);
        EXPECT_TRUE(loaded) << render(loaded.error());
        return *std::move(loaded);
    }
    [[nodiscard]] Time ideal(const std::vector<std::string>& overrides, Bytes size) const {
        const Experiment experiment = load(overrides);
        return IdealTimes(experiment.fabric, experiment.backend)
            .of(network::HostId(0), network::HostId(1), size);
    }
    /// The least slowdown in flows.csv of a run.
    [[nodiscard]] static double least_slowdown(const Experiment& experiment) {
        const testing::TemporaryFolder folder;
        FlowTable flows(experiment, *OutputFile::create(folder.path() / "flows.csv"));
        const experiment::Run run = run_experiment(experiment, {}, {.messages = &flows});
        EXPECT_TRUE(run.execution.finished) << run.execution.stall;
        EXPECT_FALSE(flows.finish());
        std::istringstream rows(testing::read_file(folder.path() / "flows.csv"));
        std::string line;
        std::getline(rows, line);
        double least = 1e9;
        while (std::getline(rows, line)) {
            least = std::min(least, std::stod(line.substr(line.rfind(',') + 1)));
        }
        return least;
    }

    Components components_ = builtin_components();
};

TEST_F(IdealTimeTest, IsLatencyAndBytesOverRate) {
    // Two links of 500 ns, and 10,000 b at 100 Gb/s.
    EXPECT_EQ(ideal({}, 1250_B), 1'100_ns);
    EXPECT_EQ(ideal({"backend.kind=packet"}, 1250_B), 1'100_ns);
    // An engine without latency has none to wait for.
    EXPECT_EQ(ideal({"backend={kind: fluid, latency: false}"}, 1250_B), 100_ns);
}

TEST_F(IdealTimeTest, IsRoundedUpButForAQuarterOfAPicosecond) {
    const std::string fluid = "backend={kind: fluid, latency: false}";
    // 8·10^12 / 7·10^9 = 1142 + 6/7, and twice that 2285 + 5/7.
    EXPECT_EQ(ideal({fluid, "network.link.rate=7Gbps"}, 1_B), 1'143_ps);
    EXPECT_EQ(ideal({fluid, "network.link.rate=7Gbps"}, 2_B), 2'286_ps);
    // Seven bytes take 8·10^12 / 10^9 = 8000 exactly, six of them 6857 + 1/7: the engine may leave the 1/7
    // out.
    EXPECT_EQ(ideal({fluid, "network.link.rate=7Gbps"}, 7_B), 8'000_ps);
    EXPECT_EQ(ideal({fluid, "network.link.rate=7Gbps"}, 6_B), 6'857_ps);
}

// Valiant's paths from host 0 to host 1 of a line of three go over any host: 1 link or, over host 2, 1 again
// as what lies between is left out; of a mesh of 3 by 2 some take 3. A flow on all of them waits for the
// longest, a packet or a connection that drew one may have the shortest: 1 link of 500 ns, by the two
// links of host 0 at 200 Gb/s together, 10,000 b in 50 ns.
TEST_F(IdealTimeTest, IsOfTheShortestPathWhereOneIsDrawn) {
    const std::string mesh =
        "network={kind: mesh, sizes: [3, 2], link: {rate: 100Gbps, latency: 500ns}, routing: valiant, "
        "load_balancing: spray}";
    // Over host 3, one of six: 3 links. The other five go by one link, which so has 5/6: 120 Gb/s, 83 1/3 ns.
    EXPECT_EQ(ideal({mesh}, 1250_B), 1'583'334_ps);
    for (const char* engine : {"packet", "tcp"}) {
        EXPECT_EQ(ideal({mesh, fmt::format("backend.kind={}", engine)}, 1250_B), 550_ns) << engine;
    }
}

TEST_F(IdealTimeTest, NoMessageBeatsItWithoutLatency) {
    // With the latency of the path in it, 1 us, messages of some kilobytes seemed ten times faster than
    // alone.
    EXPECT_GE(least_slowdown(load({"backend={kind: fluid, latency: false}"})), 1.0);
}

TEST_F(IdealTimeTest, NoMessageBeatsItWhereCircuitsMove) {
    // Host 0 of a circulant of 6 reaches host 3 over another, in 1 us of latency, until at 20 us a circuit
    // joins them for the 20 MB that wait; a message the other way then takes 500 ns and its 100 ns, not 1.1
    // us.
    const Experiment moved = load(
        {"workload={kind: flows, flows: [{source: 0, destination: 3, bytes: 20MB}, "
         "{source: 3, destination: 0, bytes: 1250B, start: 200us}]}",
         "cluster={ranks: 6}",
         "network={kind: direct_connect, hosts: 6, rings: [1, 2], link: {rate: 100Gbps, latency: 500ns}, "
         "medium: circuit_switch, reconfiguration: {every: 20us, delay: 1us}}"});
    EXPECT_GE(least_slowdown(moved), 1.0);
}

}  // namespace
}  // namespace astrolabe::experiment
