/// What a sample of a run says (progress.hpp), and how it reads.
#include "experiment/src/run/run_watch.hpp"
#include "small_experiment.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace astrolabe::experiment {
namespace {

using network::HostId;

/// Takes samples at times that it is asked for.
class Sampler final : public network::NotificationHandler {
public:
    explicit Sampler(std::vector<std::string> overrides = {})
        : experiment_(*testing::load_small(components_, std::move(overrides))),
          backend_(experiment_.backend.make(experiment_.fabric, 1)),
          watch_(observer_, {experiment_, *experiment_.fabric, *backend_, 1, RunWatch::Clock::now(),
                             [this] { return standing; }}) {}

    void send(std::size_t source, std::size_t destination, Bytes size) {
        backend_->send({HostId(source), HostId(destination), size, &arrivals_, 0});
    }
    /// What is sampled at this time of what was sent at 0.
    Progress at(Time time) {
        backend_->schedule(time, *this, 0);
        backend_->run();
        return sampled_;
    }
    /// Of a run that has ended.
    Progress end(Time total) {
        watch_.end(total, true);
        return sampled_;
    }
    void notify(std::uint64_t /*token*/) override {
        watch_.end(Time(0), false);
        backend_->stop();
    }

    JobStanding standing;

private:
    class Arrivals final : public network::NotificationHandler {
        void notify(std::uint64_t /*token*/) override {}
    };
    Components components_ = builtin_components();
    Experiment experiment_;
    Progress sampled_;
    ProgressObserver observer_ = [this](const Progress& progress) { sampled_ = progress; };
    Arrivals arrivals_;
    std::unique_ptr<network::NetworkBackend> backend_;
    RunWatch watch_;
};

TEST(ProgressTest, NothingInFlightIsComputationOrEndPoints) {
    Sampler sampler;
    sampler.standing = {.computing_ranks = 4};
    EXPECT_EQ(sampler.at(1_us).bottleneck.kind, BottleneckKind::kCompute);
    EXPECT_EQ(bottleneck_text(sampler.at(1_us)), "computing");
    sampler.standing = {.computing_ranks = 1, .waiting_ranks = 3};
    EXPECT_EQ(sampler.at(1_us).bottleneck.kind, BottleneckKind::kCompute);
    sampler.standing = {.waiting_ranks = 4};
    EXPECT_EQ(sampler.at(1_us).bottleneck.kind, BottleneckKind::kEndPoints);
}

TEST(ProgressTest, AFlowIsLimitedByItsPortAndThenByLatency) {
    // 1 MB at 12.5 GB/s leaves in 80 us and arrives 1 us later.
    Sampler sampler;
    sampler.send(0, 1, 1_MB);
    sampler.standing = {.computing_ranks = 1, .waiting_ranks = 3};
    const Progress early = sampler.at(10_us);
    EXPECT_EQ(early.simulated, 10_us);
    EXPECT_EQ(early.bottleneck.kind, BottleneckKind::kHostPorts);
    EXPECT_EQ(early.bottleneck.flows, 1U);
    EXPECT_EQ(early.bottleneck.all_links, 1U);
    EXPECT_TRUE(early.bottleneck.are_full);
    ASSERT_EQ(early.bottleneck.links.size(), 1U);
    EXPECT_EQ(early.bottleneck.links[0], "host 0 -> switch");
    EXPECT_EQ(bottleneck_text(early), "host port host 0 -> switch is full, 1 of 4 ranks compute");
    // All ranks that have something to do compute: what is in flight beside them holds nobody up now.
    sampler.standing = {.computing_ranks = 4};
    EXPECT_EQ(sampler.at(10_us).bottleneck.kind, BottleneckKind::kCompute);
    sampler.standing = {.waiting_ranks = 4};
    const Progress late = sampler.at(60'500_ns);
    EXPECT_EQ(late.simulated, 80'500_ns);
    EXPECT_EQ(late.bottleneck.kind, BottleneckKind::kLatency);
    EXPECT_EQ(late.delivered, Bytes(0));
    const Progress last = sampler.at(1_us);
    EXPECT_EQ(last.delivered, 1_MB);
}

TEST(ProgressTest, WhereLinksAreNotSharedNoneIsNamed) {
    Sampler sampler({"backend={kind: congestion_free}"});
    sampler.send(0, 1, 1_MB);
    sampler.standing = {.waiting_ranks = 4};
    EXPECT_EQ(sampler.at(10_us).bottleneck.kind, BottleneckKind::kNetwork);
}

#ifdef ASTROLABE_WITH_NS3
TEST(ProgressTest, OfPacketsItIsTheLinkThatWasBusy) {
    // Three senders to host 3: its port is busy all the while, and each of theirs a third of it.
    Sampler sampler({"backend={kind: packet}"});
    sampler.standing = {.waiting_ranks = 4};
    for (std::size_t source = 0; source < 3; ++source) {
        sampler.send(source, 3, 1_MB);
    }
    static_cast<void>(sampler.at(40_us));  // from the start, where windows are sent at once
    const Progress progress = sampler.at(40_us);
    EXPECT_EQ(progress.bottleneck.kind, BottleneckKind::kHostPorts);
    ASSERT_FALSE(progress.bottleneck.links.empty());
    EXPECT_EQ(progress.bottleneck.links[0], "switch -> host 3");
    EXPECT_TRUE(progress.bottleneck.are_full);
    EXPECT_GT(progress.bottleneck.waiting, Bytes(0));
}
#endif

TEST(ProgressTest, TimeLeftIsUnknownUntilItCanBeSaid) {
    Sampler sampler;
    sampler.standing = {.finished_iterations = 1, .iterations = 4, .done = 0.25, .waiting_ranks = 4};
    EXPECT_FALSE(sampler.at(1_us).left_seconds) << "after less than half a second";
    EXPECT_NE(
        progress_text(sampler.at(1_us), 0).find("1 of 4 iterations, 25.0 %, 0 events/s, time left unknown"),
        std::string::npos);
    std::this_thread::sleep_for(std::chrono::milliseconds(510));
    const Progress quarter = sampler.at(1_us);
    ASSERT_TRUE(quarter.left_seconds);
    EXPECT_NEAR(*quarter.left_seconds, 3 * quarter.simulation_seconds, 1e-9) << "a quarter is done";
    sampler.standing.done = 0.01;
    EXPECT_FALSE(sampler.at(1_us).left_seconds) << "of a hundredth nothing follows";
    EXPECT_TRUE(progress_json(sampler.at(1_us), 0)["time_left_s"].is_null());
    sampler.standing.done.reset();
    EXPECT_FALSE(sampler.at(1_us).left_seconds);
    const Progress end = sampler.end(20_us);
    EXPECT_EQ(end.done, 1.0);
    EXPECT_EQ(end.left_seconds, 0.0);
    EXPECT_EQ(end.simulated, 20_us);
    EXPECT_EQ(end.finished_iterations, 4);
}

TEST(ProgressTest, TextNamesWhatLimitsMostAndCountsTheRest) {
    Progress progress{.bottleneck = {.kind = BottleneckKind::kLinks,
                                     .links = {"leaf 0 -> spine 1", "leaf 1 -> spine 1"},
                                     .all_links = 8,
                                     .are_full = true,
                                     .flows = 32}};
    EXPECT_EQ(bottleneck_text(progress), "links leaf 0 -> spine 1 and 7 more are full");
    const nlohmann::ordered_json json = progress_json(progress, 0)["bottleneck"];
    EXPECT_EQ(json["kind"], "links");
    EXPECT_EQ(json["all_links"], 8);
    EXPECT_EQ(json["flows"], 32);
    EXPECT_EQ(json["links"].size(), 2U);
    progress.bottleneck.are_full = false;
    progress.bottleneck.flows = 0;
    progress.bottleneck.waiting = 52_KB;
    EXPECT_EQ(bottleneck_text(progress), "the longest queue, 52 KB, is in front of leaf 0 -> spine 1");
    EXPECT_EQ(progress_json(progress, 0)["bottleneck"]["waiting_bytes"], 52'000);
}

}  // namespace
}  // namespace astrolabe::experiment
