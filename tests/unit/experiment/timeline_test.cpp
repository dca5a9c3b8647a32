#include "timeline_fixture.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace astrolabe::experiment {
namespace {

using network::LinkId;
using system::OperationId;
using testing::TraceSlice;

TEST_F(TimelineTest, ComputeAndWaitsOfARankAreItsAccounts) {
    // Tables of one rank are larger, so ranks differ.
    const Experiment experiment = load({"workload.model.tables.count=5"});
    const Traced traced = trace(experiment);
    EXPECT_EQ(traced.run.fingerprint, run_experiment(experiment, {}).fingerprint);
    EXPECT_TRUE(traced.left_out.empty());
    expect_accounts(traced);
}

TEST_F(TimelineTest, WaitsAreAttributedInTheOrderOfDependencies) {
    // Computations wait for all collectives before them: the first to end first, so that it has ended when
    // the wait begins, or last.
    Experiment experiment = load({});
    std::vector<OperationId> collectives;
    std::size_t computations = 0;
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        system::Operation& operation = experiment.program.operations[OperationId(i)];
        if (!operation.is_compute()) {
            collectives.emplace_back(i);
        } else if (++computations % 3 == 1) {
            operation.dependencies = collectives;
        } else if (computations % 3 == 2) {
            operation.dependencies.assign(collectives.rbegin(), collectives.rend());
        }
    }
    expect_accounts(trace(experiment));
}

TEST_F(TimelineTest, IterationsAndTheCriticalPathTileTheRun) {
    const Traced traced = trace(load({}));
    for (const char* thread : {"iterations", "critical path"}) {
        const std::vector<TraceSlice>& slices = traced.trace.slices.at({"run", thread});
        Time tiled;
        for (const TraceSlice& slice : slices) {
            EXPECT_EQ(slice.from, tiled) << thread;
            tiled = slice.to;
        }
        EXPECT_EQ(tiled, traced.run.execution.total) << thread;
    }
}

TEST_F(TimelineTest, CollectivesAndPhasesAreSpans) {
    const Experiment experiment =
        load({"cluster.collectives.all_reduce.algorithm=hierarchical", "cluster.dimensions=[2, 2]"});
    const Traced traced = trace(experiment);
    std::multimap<std::string, std::pair<Time, Time>> expected;
    Bytes sent;
    std::uint64_t messages = 0;
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::Operation& operation = experiment.program.operations[OperationId(i)];
        const system::OperationRecord& record = traced.run.execution.operations[OperationId(i)];
        if (!operation.is_compute()) {
            expected.emplace(operation.name, std::pair(record.first_issue, record.last_finish));
            sent += record.bytes_sent;
            messages += record.messages;
        }
        for (const system::StageRecord& stage : record.stages) {
            expected.emplace(fmt::format("{}: dimension {} {}", operation.name, stage.stage.dimension,
                                         system::to_string(stage.stage.kind)),
                             std::pair(stage.first_start, stage.last_finish));
        }
    }
    std::multimap<std::string, std::pair<Time, Time>> found;
    std::size_t phases = 0;
    for (const TraceSlice& span : traced.trace.spans.at("run")) {
        found.emplace(span.name, std::pair(span.from, span.to));
        phases += span.category == "phase" ? 1 : 0;
    }
    EXPECT_EQ(found, expected);
    for (const char* category : {"collective", "phase"}) {
        Bytes of_spans;
        std::uint64_t messages_of_spans = 0;
        for (const TraceSlice& span : traced.trace.spans.at("run")) {
            if (span.category == category) {
                of_spans += Bytes(span.arguments.at("bytes_sent"));
                messages_of_spans += span.arguments.at("messages").get<std::uint64_t>();
            }
        }
        EXPECT_EQ(of_spans, sent) << category;
        EXPECT_EQ(messages_of_spans, messages) << category;
    }
    EXPECT_GT(phases, expected.size() / 2) << "an all-reduce has three";
    // On a rank a collective lasts from its issue to its end there, within what it lasts on all.
    std::map<std::pair<std::string, int>, std::pair<Time, Time>> overall;
    for (const TraceSlice& span : traced.trace.spans.at("run")) {
        if (span.category == "collective") {
            overall[{span.name, span.arguments.at("iteration")}] = {span.from, span.to};
        }
    }
    for (int rank = 0; rank < 4; ++rank) {
        const auto& spans = traced.trace.spans.at(fmt::format("rank {} of 4", rank));
        EXPECT_EQ(spans.size(), overall.size());
        for (const TraceSlice& span : spans) {
            const auto [from, to] = overall.at({span.name, span.arguments.at("iteration")});
            EXPECT_LE(from, span.from);
            EXPECT_LE(span.from, span.to);
            EXPECT_LE(span.to, to);
        }
    }
}

TEST_F(TimelineTest, ArrowsLeadFromIssueToTheLinkOfTheFirstMessage) {
    const Traced traced = trace(load({}));
    std::size_t issued = 0;
    for (int rank = 0; rank < 4; ++rank) {
        issued += traced.trace.slices.at({fmt::format("rank {} of 4", rank), "issued"}).size();
    }
    EXPECT_EQ(traced.trace.arrows.size(), issued);
    EXPECT_GT(issued, 0U);
    for (const testing::TraceArrow& arrow : traced.trace.arrows) {
        EXPECT_LE(arrow.from, arrow.to);
        // "rank 2 of 4" sends from host 2.
        EXPECT_EQ(arrow.to_thread, "host " + arrow.from_process.substr(5, 1) + " -> switch");
    }
    for (int rank = 0; rank < 4; ++rank) {
        for (const TraceSlice& slice :
             traced.trace.slices.at({"links", fmt::format("host {} -> switch", rank)})) {
            EXPECT_EQ(slice.arguments.at("from"), fmt::format("rank {}", rank));
            EXPECT_NE(slice.arguments.at("to"), slice.arguments.at("from"));
            EXPECT_GT(slice.arguments.at("bytes"), 0);
        }
    }
}

TEST_F(TimelineTest, ArrowsEndWhereAllOfAMessageLeaves) {
    // Two cables join a host to the next: one is drawn for every pair, or a message takes both.
    const auto arrows = [&](const char* routing) {
        const Traced traced = trace(load({fmt::format(
            "network={{kind: direct_connect, hosts: 4, rings: [1, 1], routing: {}}}", routing)}));
        std::size_t issued = 0;
        for (int rank = 0; rank < 4; ++rank) {
            issued += traced.trace.slices.at({fmt::format("rank {} of 4", rank), "issued"}).size();
        }
        EXPECT_GT(issued, 0U);
        for (const testing::TraceArrow& arrow : traced.trace.arrows) {
            // "rank 2 of 4" sends from host 2.
            EXPECT_EQ(arrow.to_thread.rfind("host " + arrow.from_process.substr(5, 1) + " -> ", 0), 0U);
        }
        return static_cast<double>(traced.trace.arrows.size()) / static_cast<double>(issued);
    };
    EXPECT_EQ(arrows("flow_hash"), 1);
    EXPECT_EQ(arrows("spray"), 0);
}

TEST_F(TimelineTest, LinksInParallelHaveOneNameEachInThreadsAndCounters) {
    // Two cables to either neighbour, on each of which some pair's messages leave.
    const Traced traced =
        trace(load({"network={kind: direct_connect, hosts: 8, rings: [1, 1]}", "cluster.ranks=8",
                    "workload.model.tables.count=8", "cluster.collectives.all_reduce.algorithm=direct"}));
    std::size_t second = 0;
    for (const testing::TraceArrow& arrow : traced.trace.arrows) {
        EXPECT_TRUE(traced.trace.counters.contains({"links", arrow.to_thread + " utilization"}))
            << arrow.to_thread;
        second += arrow.to_thread.ends_with(" (2)") ? 1 : 0;
    }
    EXPECT_GT(second, 0U);
    EXPECT_LT(second, traced.trace.arrows.size());
}

TEST_F(TimelineTest, CountersIntegrateToWhatLinksCarried) {
    const std::string tree =
        "network={kind: leaf_spine, hosts: 4, hosts_per_leaf: 2, spines: 2, load_balancing: spray}";
    for (const std::vector<std::string>& overrides : std::vector<std::vector<std::string>>{
             {},
             {tree},
             {"backend={kind: fluid, framing: {mtu: 1500B, header: 60B}}"},
             {"workload.iterations=300"}}) {  // with more instants than samples
        const Experiment experiment = load(overrides);
        SCOPED_TRACE(overrides.empty() ? "" : overrides.front());
        expect_carried(experiment, trace(experiment));
    }
}

#ifdef ASTROLABE_WITH_NS3
TEST_F(TimelineTest, CountersOfPacketsHaveQueues) {
    for (const char* backend : {"packet", "tcp"}) {
        const Experiment experiment = load({fmt::format("backend={{kind: {}}}", backend)});
        const Traced traced = trace(experiment);
        expect_carried(experiment, traced);
        EXPECT_EQ(traced.run.fingerprint, run_experiment(experiment, {}).fingerprint);
        if (std::string(backend) == "tcp") {
            continue;  // which does not say what waits
        }
        for (LinkId link; link.index() < experiment.fabric->link_count(); ++link) {
            // Mean over the run times its length is what the steps add up to, thousandths of a byte apart.
            const double total = to_seconds(traced.run.execution.total);
            const double expected = traced.run.network.links[link].queue_mean * total;
            const auto found =
                traced.trace.counters.find({"links", link_name(*experiment.fabric, link) + " waiting_bytes"});
            EXPECT_EQ(found != traced.trace.counters.end(), expected > 0);
            if (expected > 0) {
                double waited = 0;
                for (std::size_t i = 0; i + 1 < found->second.size(); ++i) {
                    const auto& [at, bytes] = found->second[i];
                    EXPECT_GE(bytes, 0.0);
                    waited += bytes * to_seconds(found->second[i + 1].first - at);
                }
                EXPECT_NEAR(waited, expected, 0.001 * total + 1e-8 * expected);
            }
        }
    }
}
#endif

TEST_F(TimelineTest, RanksThatFoldAreAllShown) {
    const Experiment experiment = load({"cluster.padding=true"});
    const auto folded = run_experiment(experiment, {});
    ASSERT_LT(folded.engine.simulated_ranks, 4U);
    const Traced traced = trace(experiment);
    EXPECT_EQ(traced.run.engine.simulated_ranks, 4U);
    EXPECT_EQ(traced.run.fingerprint, folded.fingerprint);
    EXPECT_EQ(traced.trace.processes(), (std::set<std::string>{"links", "rank 0 of 4", "rank 1 of 4",
                                                               "rank 2 of 4", "rank 3 of 4", "run"}));
}

TEST_F(TimelineTest, AHostWithoutLinksHasNoCounters) {
    const Traced traced = trace(load(
        {"network={kind: direct_connect, hosts: 1}", "cluster.ranks=1", "workload.model.tables.count=1"}));
    EXPECT_TRUE(traced.trace.counters.empty());
    EXPECT_EQ(length(traced.trace.slices.at({"rank 0 of 1", "compute"})), traced.run.execution.total);
}

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
                                     "ranks", "samples of links", "the critical path"}));
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

TEST_F(TimelineTest, TheSameRunGivesTheSameFile) {
    const Experiment experiment = load({});
    EXPECT_EQ(trace(experiment).text, trace(experiment).text);
}

TEST_F(TimelineTest, NamesAreText) {
    const Experiment experiment = load({R"(name="a \"b\" \u0001 <script>")"});
    EXPECT_EQ(trace(experiment).trace.facts.at("experiment"), experiment.name);
}

}  // namespace
}  // namespace astrolabe::experiment
