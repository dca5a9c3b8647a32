/// The shuffle of the Opera paper's artefact on the slot engine (docs/theory/opera.md, "Golden numbers"): 108
/// racks of six hosts, 10 Gb/s, 100 kB from every host to all hosts of other racks.
#include "network/src/engines/slots/slot_engine.hpp"
#include "network/src/rotor/opera.hpp"
#include "network/src/rotor/topology_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <paper_shuffle.hpp>
#include <rotor_traffic.hpp>
#include <sys/resource.h>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network::rotor {
namespace {

/// Completion times of the artefact, one path for each pair of racks; none is more than 1 % away.
void expect_times_of_the_artefact(const RotorTraffic& traffic) {
    EXPECT_EQ(traffic.delivered, 416'016U);
    // The first may come with the fifth of the circuits installed at 0; then all come in the sixth cycle:
    // superslices 540 to 647.
    EXPECT_GT(traffic.percentile(0), 4 * 108 * kPaperSuperslice);
    EXPECT_NEAR(to_seconds(traffic.percentile(0.50)), 59.1e-3, 0.01 * 59.1e-3);
    EXPECT_NEAR(to_seconds(traffic.percentile(0.99)), 64.4e-3, 0.01 * 64.4e-3);
    EXPECT_NEAR(to_seconds(traffic.last()), 64.6e-3, 0.01 * 64.6e-3);
    EXPECT_LT(traffic.last(), (6 * 108 + 6) * kPaperSuperslice);
}

TEST(RotorShuffle, HasTheCompletionTimesOfTheArtefact) {
    SlotEngine engine(build_rotor_fabric(paper_network()));
    RotorTraffic traffic(engine, pairs_where(648, [](auto i, auto j) { return i / 6 != j / 6; }), 100_KB);
    engine.run();
    expect_times_of_the_artefact(traffic);
}

TEST(RotorShuffle, TakesAsLongOnItsTopologyFile) {
    // The network of one path for each pair of racks, written as the Opera simulator reads it, and read back.
    RotorNetwork drawn = paper_network();
    const auto paths = std::make_shared<const ShortestSlicePaths>(drawn.schedule, 1, drawn.seed);
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "shuffle-topology.txt";
    {
        std::ofstream out(file);
        write_topology({drawn.schedule, 6, paths, true}, [&out](std::string_view part) { out << part; });
    }
    Result<TopologyFile> topology = load_topology(file);
    std::filesystem::remove(file);
    ASSERT_TRUE(topology) << render(topology.error());
    OperaParameters parameters;
    parameters.topology = std::make_shared<const TopologyFile>(*std::move(topology));
    parameters.link.rate = 10_Gbps;
    parameters.bulk.routing = BulkRouting::kDirectOnly;
    ASSERT_TRUE(validation_errors(parameters).empty());

    SlotEngine engine(build_opera(parameters));
    RotorTraffic traffic(engine, pairs_where(648, [](auto i, auto j) { return i / 6 != j / 6; }), 100_KB);
    engine.run();
    expect_times_of_the_artefact(traffic);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 2 << 20) << "2 GiB, in KiB";
}

TEST(RotorShuffle, SmallMessages) {
    // 10 kB, 7 packets each: 252 of 288 fit into the first circuit of a pair of racks, so nearly all arrive
    // within a cycle and a slot, 6.9 ms, and what relayed packets displace a cycle or two later.
    SlotEngine engine(build_rotor_fabric(drawn_rotor_network(108, 6, 10_Gbps, 5)));
    RotorTraffic traffic(engine, pairs_where(648, [](auto i, auto j) { return i / 6 != j / 6; }), 10_KB);
    engine.run();
    EXPECT_EQ(engine.outstanding_messages(), 0U);
    EXPECT_LT(to_seconds(traffic.last()), 3 * 6.534e-3);
}

}  // namespace
}  // namespace astrolabe::network::rotor
