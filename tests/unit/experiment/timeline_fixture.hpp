/// Runs an experiment with a timeline and reads it.
#pragma once

#include "process.hpp"
#include "small_experiment.hpp"
#include "trace.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/records/packet_sequencer.hpp>
#include <astrolabe/experiment/records/recorder.hpp>

namespace astrolabe::experiment {

inline Time length(const std::vector<testing::TraceSlice>& slices, const std::string& name = {}) {
    Time sum;
    for (const testing::TraceSlice& slice : slices) {
        sum += name.empty() || slice.name == name ? slice.to - slice.from : Time(0);
    }
    return sum;
}

class TimelineTest : public ::testing::Test {
protected:
    struct Traced {
        experiment::Run run;
        testing::Trace trace;
        std::string text;
        std::vector<std::string> left_out;
    };

    [[nodiscard]] Experiment load(std::vector<std::string> overrides) const {
        return *testing::load_small(components_, std::move(overrides));
    }
    [[nodiscard]] Traced trace(const Experiment& experiment, const std::string& size = "200MB") const {
        const testing::TemporaryFolder folder;
        const auto out = OutputFolder::open(folder.path());
        RecorderOptions options;
        options.timeline = true;
        options.timeline_size = size;
        auto recorder = Recorder::open(options, experiment, &*out);
        if (!recorder) {
            ADD_FAILURE() << render(recorder.error());
            return {};
        }
        Traced traced;
        traced.run = run_experiment(experiment, {}, (*recorder)->observers());
        if (!traced.run.execution.finished) {
            ADD_FAILURE() << traced.run.execution.stall;
            return traced;
        }
        const Diagnostics errors = (*recorder)->finish(traced.run);
        EXPECT_TRUE(errors.empty()) << render(errors);
        traced.text = testing::read_gzipped(folder.path() / "timeline.json.gz");
        traced.trace = testing::TraceReader(traced.text).read();
        traced.left_out = (*recorder)->left_out();
        return traced;
    }

    /// On every rank and stream slices sum to what the accounts say, to the picosecond.
    static void expect_accounts(const Traced& traced, const std::vector<std::string>& streams = {"compute"}) {
        for (std::size_t i = 0; i < 4; ++i) {
            const system::RankRecord& rank = traced.run.execution.ranks[i];
            const std::string process = fmt::format("rank {} of 4", i);
            for (std::size_t stream = 0; stream < streams.size(); ++stream) {
                const system::StreamRecord& record = stream == 0 ? rank : rank.other_streams[stream - 1];
                const std::string lane = stream == 0 ? "waits" : streams[stream] + " waits";
                const std::vector<testing::TraceSlice>& waits = traced.trace.slices.at({process, lane});
                EXPECT_EQ(length(traced.trace.slices.at({process, streams[stream]})), record.compute);
                EXPECT_FALSE(record.exposed.empty());
                for (const auto& [cause, time] : record.exposed) {
                    EXPECT_EQ(length(waits, cause), time) << cause;
                }
                EXPECT_EQ(length(waits, "drain"), record.drain);
                // Slices of both lanes tile the run: total = compute + waits, as in the accounting identity.
                EXPECT_EQ(length(waits) + record.compute, traced.run.execution.total);
            }
        }
    }

    /// Every counter lies in [0, 1] and integrates to what its links carried, times `wire` for headers that
    /// the network does not count.
    static void expect_carried(const Experiment& experiment, const Traced& traced, double wire = 1) {
        const network::Fabric& fabric = *experiment.fabric;
        std::size_t busy = 0;
        for (network::LinkId link; link.index() < fabric.link_count(); ++link) {
            const Bytes carried = traced.run.network.links[link].carried;
            const auto found =
                traced.trace.counters.find({"links", link_name(fabric, link) + " utilization"});
            if (carried == Bytes(0)) {
                EXPECT_EQ(found, traced.trace.counters.end());
                continue;
            }
            ++busy;
            ASSERT_NE(found, traced.trace.counters.end()) << link_name(fabric, link);
            const auto& steps = found->second;
            double bytes = 0;
            for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
                EXPECT_GE(steps[i].second, 0.0);
                EXPECT_LE(steps[i].second, 1.0);
                bytes += steps[i].second * to_seconds(steps[i + 1].first - steps[i].first) *
                         to_bytes_per_second(fabric.link(link).rate);
            }
            EXPECT_EQ(steps.back().second, 0.0) << "nothing flows when all is over";
            // Values have nine digits; a byte is what rounding the last of them to a picosecond may cost.
            const double expected = wire * static_cast<double>(carried.count());
            EXPECT_NEAR(bytes, expected, 1 + 1e-8 * expected) << link_name(fabric, link);
        }
        EXPECT_GT(busy, 0U);
    }

    Components components_ = builtin_components();
};

}  // namespace astrolabe::experiment
