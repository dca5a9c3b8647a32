/// The published list of data-mining flows whole, bulk included.
#include "opera_flows.hpp"

namespace astrolabe::testing {
namespace {

TEST(OperaFlowsLong, BulkOfTheDataMiningListOnSlots) {
    const auto published = published_times(unpacked(opera_data() / "FCT_opera_datamining_1perc.txt.gz"));
    if (published.empty()) {
        GTEST_SKIP() << "the published flows are not at hand";
    }
    std::vector<std::int64_t> sizes;
    for (const auto& [bytes, unused] : published) {
        sizes.push_back(bytes);
    }
    const experiment::Run run =
        run_list(unpacked(opera_data() / "flows_datamining_1perc_648hosts.htsim.gz"), sizes, {});
    ASSERT_TRUE(run.flows);
    EXPECT_EQ(run.flows->delivered, 10'383U);
    constexpr double kCycle = 108 * 99e-6;
    std::map<std::int64_t, double> here;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] >= 15'000'000) {
            here[sizes[i]] = run.flows->classes[i].seconds.mean.value;
            // The last packets of a flow wait for one or two cycles more in the reference, whose relaying
            // hosts each take in turn all that they may hold, which is what two cycles carry on.
            const double more = mean(published.at(sizes[i])) - here[sizes[i]];
            EXPECT_GT(more, kCycle) << sizes[i];
            EXPECT_LT(more, 2 * kCycle) << sizes[i];
        }
    }
    // So that what 750 MB more take is the same to 1 %: a host sends 8,348 packets in a cycle.
    const double there = mean(published.at(1'000'000'000)) - mean(published.at(250'000'000));
    EXPECT_NEAR((here.at(1'000'000'000) - here.at(250'000'000)) / there, 1, 0.01);
}

}  // namespace
}  // namespace astrolabe::testing
