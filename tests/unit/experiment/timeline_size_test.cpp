/// What a timeline shows where not everything has room.
#include "timeline_fixture.hpp"

#include <algorithm>
#include <set>

namespace astrolabe::experiment {
namespace {

using network::LinkId;
using testing::TraceSlice;

/// What is named as left out is not there, and all else is; returns the notes without their numbers.
std::set<std::string> expect_notes(const Experiment& experiment, const Run& run, const testing::Trace& trace,
                                   const std::vector<std::string>& notes) {
    const auto is_named = [&notes](const std::string& note) {
        return std::find(notes.begin(), notes.end(), note) != notes.end();
    };
    std::size_t phases = 0;
    for (const TraceSlice& span : trace.spans.at("run")) {
        phases += span.category == "phase" ? 1 : 0;
    }
    EXPECT_NE(is_named("phases of collectives"), phases > 0);
    EXPECT_NE(is_named("the critical path"), trace.slices.contains({"run", "critical path"}));
    std::size_t busy = 0;
    std::size_t shown = 0;
    double least_shown = 1;
    double most_hidden = 0;
    for (LinkId link; link.index() < experiment.fabric->link_count(); ++link) {
        const double seconds =
            to_seconds(run.network.links[link].carried / experiment.fabric->link(link).rate);
        const double used = seconds / to_seconds(run.execution.total);
        busy += used > 0 ? 1 : 0;
        if (trace.counters.contains({"links", link_name(*experiment.fabric, link) + " utilization"})) {
            ++shown;
            least_shown = std::min(least_shown, used);
        } else {
            most_hidden = std::max(most_hidden, used);
        }
    }
    EXPECT_GE(least_shown, most_hidden);
    EXPECT_EQ(
        is_named(fmt::format("{} of {} links that carried something, the least busy", busy - shown, busy)),
        shown < busy);
    std::set<std::string> kinds;
    for (const std::string& note : notes) {
        kinds.insert(note.substr(note.find_first_not_of("0123456789 of")));
    }
    return kinds;
}

TEST_F(TimelineTest, ASizeIsKeptAndWhatHasNoRoomIsNamed) {
    // 136 links, which differ, as one rank has more tables.
    const Experiment experiment =
        load({"workload.iterations=20", "workload.model.tables.count=5",
              "network={kind: leaf_spine, hosts: 4, hosts_per_leaf: 1, spines: 16, load_balancing: spray}"});
    std::set<std::string> kinds;
    const std::int64_t least = Timeline::least_size(experiment).count();
    const auto whole = static_cast<std::int64_t>(trace(experiment).text.size());
    ASSERT_GT(whole, 2 * least);
    std::size_t fewest = 4;
    for (const std::int64_t size : {least, 3 * least / 2, 2 * least, 4 * least, whole}) {
        const Traced traced = trace(experiment, fmt::format("{}B", size));
        EXPECT_LE(static_cast<std::int64_t>(traced.text.size()), size);
        EXPECT_EQ(traced.trace.facts.at("left_out"), traced.left_out);
        kinds.merge(expect_notes(experiment, traced.run, traced.trace, traced.left_out));
        const std::size_t ranks = traced.trace.facts.at("ranks_shown");
        std::size_t processes = 0;
        for (const std::string& process : traced.trace.processes()) {
            processes += process.rfind("rank ", 0) == 0 ? 1 : 0;
        }
        EXPECT_EQ(processes, ranks);
        fewest = std::min(fewest, ranks);
        if (size == least) {
            EXPECT_EQ(ranks, 1U);
            EXPECT_EQ(traced.left_out.front(), "3 of 4 ranks");
        }
        // What is there is there from begin to end.
        const std::vector<TraceSlice>& waits = traced.trace.slices.at({"rank 0 of 4", "waits"});
        const std::vector<TraceSlice>& compute = traced.trace.slices.at({"rank 0 of 4", "compute"});
        EXPECT_EQ(length(waits) + length(compute), traced.run.execution.total);
        for (const auto& [place, steps] : traced.trace.counters) {
            EXPECT_EQ(steps.front().first, Time(0)) << place.second;
            EXPECT_GE(steps.back().first, traced.run.execution.total - traced.run.execution.total / 100);
        }
    }
    EXPECT_EQ(fewest, 1U);
    EXPECT_EQ(kinds,
              (std::set<std::string>{"links that carried something, the least busy", "phases of collectives",
                                     "intervals of links", "ranks", "the critical path"}));
}

TEST_F(TimelineTest, OfManyLinksTheBusiestAreShown) {
    // 8 links of hosts and 4 x 40 x 2 to spines, over all of which messages spread.
    const Experiment experiment =
        load({"network={kind: leaf_spine, hosts: 4, hosts_per_leaf: 1, spines: 40, load_balancing: spray}"});
    const Traced traced = trace(experiment);
    EXPECT_EQ(traced.trace.counters.size(), 256U);
    EXPECT_EQ(traced.left_out,
              std::vector<std::string>{"72 of 328 links that carried something, the least busy"});
    expect_notes(experiment, traced.run, traced.trace, traced.left_out);
}

TEST_F(TimelineTest, ASizeThatIsNoneOrTooSmallIsNamed) {
    const Experiment experiment = load({});
    const testing::TemporaryFolder folder;
    const auto out = OutputFolder::open(folder.path());
    RecorderOptions options;
    options.timeline = true;
    const auto refused = [&](const std::string& size) {
        options.timeline_size = size;
        const auto opened = Recorder::open(options, experiment, &*out);
        return opened ? "" : opened.error().front().code;
    };
    const std::int64_t least = Timeline::least_size(experiment).count();
    EXPECT_EQ(refused("huge"), "record.size");
    EXPECT_EQ(refused("0"), "record.size");
    EXPECT_EQ(refused(fmt::format("{}B", least - 1)), "record.size");
    EXPECT_EQ(refused(fmt::format("{}B", least)), "");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing has a name before the end";
}

}  // namespace
}  // namespace astrolabe::experiment
