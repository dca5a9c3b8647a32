#include "timeline_fixture.hpp"

#include <algorithm>

#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::experiment {
namespace {

using network::LinkId;
using testing::TraceSlice;

class RotorTimelineTest : public TimelineTest {
protected:
    [[nodiscard]] Experiment load_rotors(const std::vector<std::string>& more) const {
        std::vector<std::string> overrides{"network={kind: opera, racks: 4, radix: 8, link: {rate: 100Gbps}}",
                                           "cluster.ranks=16", "workload.model.tables.count=16"};
        overrides.insert(overrides.end(), more.begin(), more.end());
        return load(overrides);
    }
};

TEST_F(RotorTimelineTest, RotorsHoldTheMatchingsOfTheSchedule) {
    const Experiment experiment = load_rotors({});
    const Traced traced = trace(experiment);
    const network::rotor::RotorSchedule& schedule = network::rotor::rotors_of(*experiment.fabric)->schedule;
    for (network::rotor::Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        const std::vector<TraceSlice>& slices =
            traced.trace.slices.at({"rotor switches", fmt::format("rotor {}", rotor)});
        Time tiled;
        for (const TraceSlice& slice : slices) {
            EXPECT_EQ(slice.from, tiled);
            tiled = slice.to;
            const Time middle = slice.from + (slice.to - slice.from) / 2;
            const auto position = schedule.at(middle);
            const bool is_dark = position.part == network::rotor::RotorSchedule::Part::kReconfiguration &&
                                 schedule.goes_dark(rotor, position.superslice);
            if (is_dark) {
                EXPECT_EQ(slice.name, "reconfiguring");
                continue;
            }
            const std::uint32_t index = schedule.matching_index(rotor, position.superslice);
            EXPECT_EQ(slice.name, fmt::format("matching {}", index));
            const std::string joins = slice.arguments.at("joins");
            const network::rotor::Rack peer = schedule.peer(rotor, 0, position.superslice);
            EXPECT_EQ(joins.rfind(fmt::format("0-{}", peer), 0) == 0, peer != 0) << joins;
        }
        EXPECT_EQ(tiled, traced.run.execution.total);
    }
}

TEST_F(RotorTimelineTest, UplinksCarryWhatTheirCircuitsDo) {
    // Without headers, which counters count and the network does not.
    const Experiment experiment = load_rotors({"network.bulk.header=0B"});
    const Traced traced = trace(experiment);
    double counted = 0;
    for (const auto& [place, steps] : traced.trace.counters) {
        const bool is_uplink = place.second.find(" uplink ") != std::string::npos;
        for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
            EXPECT_GE(steps[i].second, 0.0);
            EXPECT_LE(steps[i].second, 1.0);
            counted +=
                is_uplink ? steps[i].second * to_seconds(steps[i + 1].first - steps[i].first) * 12.5e9 : 0.0;
        }
    }
    double carried = 0;
    for (LinkId link; link.index() < experiment.fabric->link_count(); ++link) {
        const bool is_circuit = experiment.fabric->circuits().is_circuit(link);
        carried += is_circuit ? static_cast<double>(traced.run.network.links[link].carried.count()) : 0.0;
    }
    EXPECT_GT(carried, 0.0);
    EXPECT_NEAR(counted, carried, 16 + 1e-8 * carried);  // a byte for each of 4 x 4 uplinks
}

TEST_F(RotorTimelineTest, FailuresAreMarkedAlsoInCyclesThatAreNotShown) {
    // Of eight racks four have ranks; with this seed one of the others fails.
    const Experiment experiment =
        load_rotors({"network.racks=8", "network.failures=[{at: 50us, racks: 1, seed: 5}]"});
    const Traced whole = trace(experiment);
    EXPECT_TRUE(whole.left_out.empty());
    const Traced least = trace(experiment, fmt::format("{}B", Timeline::least_size(experiment).count()));
    const auto cycles = std::find_if(least.left_out.begin(), least.left_out.end(), [](const auto& note) {
        return note.find(" cycles of the rotor switches") != std::string::npos;
    });
    EXPECT_NE(cycles, least.left_out.end());
    // So many cycles are left out that the failure lies in one of them.
    Time shown;
    for (const auto& [place, slices] : least.trace.slices) {
        shown = place.first == "rotor switches" ? std::max(shown, slices.back().to) : shown;
    }
    EXPECT_LT(shown, Time(50'000'000));
    for (const Traced* traced : {&whole, &least}) {
        EXPECT_EQ(traced->trace.instants,
                  (std::vector<std::pair<Time, std::string>>{{Time(50'000'000), "parts fail"}}));
    }
}

}  // namespace
}  // namespace astrolabe::experiment
