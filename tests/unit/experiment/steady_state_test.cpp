// The section `steady_state`: what it takes, what is left out, and that the results are those of the full
// run.
#include "small_experiment.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

using How = SkippedIterations::How;
using testing::load_small;

class SteadyStateTest : public ::testing::Test {
protected:
    experiment::Run run(std::vector<std::string> overrides) {
        const Result<Experiment> loaded = load_small(components_, std::move(overrides));
        EXPECT_TRUE(loaded) << render(loaded.error());
        return run_experiment(*loaded, {});
    }
    std::string error_of(std::vector<std::string> overrides) {
        const Result<Experiment> loaded = load_small(components_, std::move(overrides));
        return loaded ? "" : render(loaded.error());
    }
    Components components_ = builtin_components();
};

TEST_F(SteadyStateTest, FluidIsMeasured) {
    const std::vector<std::string> full{"workload.iterations=40"};
    std::vector<std::string> steady = full;
    steady.emplace_back("steady_state={tolerance: 0.5 %}");
    const experiment::Run whole = run(full);
    const experiment::Run some = run(steady);
    EXPECT_FALSE(whole.skipped);
    ASSERT_TRUE(some.skipped);
    EXPECT_EQ(some.skipped->how, How::kMeasured) << some.skipped->reason;
    // Boundaries 1 to 4 are the window of 3, so 5 iterations have begun: of 40 at most 35 in threes, 33.
    EXPECT_EQ(some.skipped->skipped, 33);
    EXPECT_EQ(some.iteration_times.size(), 40U);
    EXPECT_NEAR(mean_iteration_seconds(some) / mean_iteration_seconds(whole), 1.0, 0.005);
    EXPECT_LE(some.skipped->spread(), 0.005);
    // What is sent is known, whatever the times.
    EXPECT_EQ(some.network.messages, whole.network.messages);
    EXPECT_EQ(some.network.bytes_delivered, whole.network.bytes_delivered);
    EXPECT_EQ(some.traffic, whole.traffic);
    EXPECT_LT(some.engine.events, whole.engine.events / 4);
}

TEST_F(SteadyStateTest, ToleratesNothingUnasked) {
    const experiment::Run whole = run({"workload.iterations=12"});
    const experiment::Run some = run({"workload.iterations=12", "steady_state={}"});
    ASSERT_TRUE(some.skipped);
    EXPECT_EQ(some.skipped->how, How::kNone);
    EXPECT_NE(some.skipped->reason.find("does not tell its state"), std::string::npos);
    EXPECT_EQ(some.fingerprint, whole.fingerprint);
    EXPECT_EQ(some.engine.events, whole.engine.events);
}

TEST_F(SteadyStateTest, IterationsThatDifferAreAllSimulated) {
    const std::string jitter = "cluster.jitter={distribution: lognormal, variation: 0.1}";
    if (!error_of({jitter}).empty()) {
        GTEST_FAIL() << error_of({jitter});
    }
    const experiment::Run whole = run({"workload.iterations=12", jitter});
    const experiment::Run some = run({"workload.iterations=12", jitter, "steady_state={tolerance: 10 %}"});
    ASSERT_TRUE(some.skipped);
    EXPECT_EQ(some.skipped->how, How::kNone);
    EXPECT_EQ(some.skipped->reason, "no two of its iterations are alike");
    EXPECT_EQ(some.fingerprint, whole.fingerprint);
}

TEST_F(SteadyStateTest, TooFewIterationsAreAllSimulated) {
    const experiment::Run whole = run({});
    const experiment::Run some = run({"steady_state={tolerance: 1 %}"});
    EXPECT_EQ(some.skipped->reason, "there are too few iterations");
    EXPECT_EQ(some.fingerprint, whole.fingerprint);
}

TEST_F(SteadyStateTest, ObserversSeeAllIterations) {
    class Listener final : public ExecutionObserver {
    public:
        void begin(system::Executor& executor, const network::NetworkBackend&) override {
            executor.operation_finished.connect([this](auto, auto, auto) { ++finished; });
        }
        std::size_t finished = 0;
    } listener;
    const Result<Experiment> loaded =
        load_small(components_, {"workload.iterations=40", "steady_state={tolerance: 1 %}"});
    const experiment::Run observed = run_experiment(*loaded, {}, {.execution = &listener});
    EXPECT_FALSE(observed.skipped);
    EXPECT_EQ(listener.finished, loaded->program.operations.size() * 4);
}

TEST_F(SteadyStateTest, RefusesWhatDoesNotRepeat) {
    EXPECT_NE(error_of({"steady_state={}",
                        "background={pattern: uniform, sizes: {fixed: 100KB}, load: 0.25, duration: 20ms}"})
                  .find("steady_state"),
              std::string::npos);
    EXPECT_NE(
        error_of(
            {"steady_state={}",
             "workload={kind: flows, pattern: uniform, sizes: {fixed: 100KB}, load: 0.25, duration: 1ms}"})
            .find("a workload of flows has none"),
        std::string::npos);
    EXPECT_NE(error_of({"steady_state={}", "failures={events: [{rank: 1, speed: 0.5, at: 1us}]}"})
                  .find("leave out steady_state or failures"),
              std::string::npos);
}

TEST_F(SteadyStateTest, ChecksItsKeys) {
    EXPECT_NE(error_of({"steady_state={tolerance: 0.5}"}).find("'0.5' is no percentage"), std::string::npos);
    EXPECT_NE(error_of({"steady_state={tolerance: 0.5}"}).find("0.5 %"), std::string::npos);
    EXPECT_NE(error_of({"steady_state={tolerance: 11 %}"}).find("10"), std::string::npos);
    EXPECT_NE(error_of({"steady_state={tolerance: -1 %}"}), "");
    EXPECT_NE(error_of({"steady_state={window: 1}"}), "");
    EXPECT_NE(error_of({"steady_state={tolerence: 1 %}"}).find("tolerance"), std::string::npos);
}

TEST_F(SteadyStateTest, TheResolvedExperimentHasIt) {
    const Result<Experiment> loaded =
        load_small(components_, {"steady_state={tolerance: 0.25 %, window: 5}"});
    const std::string resolved = to_yaml(loaded->resolved);
    EXPECT_NE(resolved.find("0.25 %"), std::string::npos) << resolved;
    const testing::TemporaryFolder folder;
    const Result<Experiment> again =
        load_experiment(folder.write("resolved.yaml", resolved), {}, components_);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(again->steady_state->tolerance.percent, 0.25);
    EXPECT_EQ(again->steady_state->window, 5);
}

TEST_F(SteadyStateTest, ResultsSayWhatWasLeftOut) {
    const Result<Experiment> loaded =
        load_small(components_, {"workload.iterations=40", "steady_state={tolerance: 0.5 %}"});
    const experiment::Run some = run_experiment(*loaded, {});
    const nlohmann::ordered_json json = summary_json(*loaded, some).at("steady_state");
    EXPECT_EQ(json.at("how"), "measured");
    EXPECT_EQ(json.at("simulated_iterations"), 7);
    EXPECT_EQ(json.at("skipped_iterations"), 33);
    EXPECT_EQ(json.at("period_iterations"), 3);
    EXPECT_EQ(json.at("tolerance"), 0.005);
    // Times of alike iterations differ by the rounding of doubles alone.
    EXPECT_LE(json.at("error_if_so").get<double>(), json.at("spread").get<double>() + 1e-12);
    EXPECT_NE(text_summary(*loaded, some).find("33 of 40 iterations left out"), std::string::npos);
}

#ifdef ASTROLABE_WITH_NS3
TEST_F(SteadyStateTest, WithoutAToleranceTheFingerprintIsThatOfTheFullRun) {
    // So slow that all acknowledgements are back before an iteration sends.
    const std::vector<std::string> full{
        "backend={kind: packet}", "workload.iterations=30",
        "cluster.device={kind: roofline, peak: 5GFLOPS, memory_bandwidth: 500MB/s}"};
    std::vector<std::string> steady = full;
    steady.emplace_back("steady_state={}");
    const experiment::Run whole = run(full);
    const experiment::Run some = run(steady);
    ASSERT_TRUE(some.skipped);
    EXPECT_EQ(some.skipped->how, How::kExact) << some.skipped->reason;
    EXPECT_GE(some.skipped->skipped, 20);
    EXPECT_EQ(some.fingerprint, whole.fingerprint);
    EXPECT_EQ(some.iteration_times, whole.iteration_times);
    EXPECT_EQ(some.utilization.max, whole.utilization.max);
    EXPECT_EQ(some.network.packet_hops, whole.network.packet_hops);
    EXPECT_EQ(some.network.ecn_marks, whole.network.ecn_marks);
    for (std::size_t i = 0; i < whole.network.links.size(); ++i) {
        const network::LinkId link(i);
        EXPECT_NEAR(some.network.links[link].queue_mean, whole.network.links[link].queue_mean,
                    1e-9 * whole.network.links[link].queue_mean);
    }
}
#endif

}  // namespace
}  // namespace astrolabe::experiment
