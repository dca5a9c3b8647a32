#include "timeline_fixture.hpp"

#include <map>

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

TEST_F(TimelineTest, ComputeAndWaitsInFirstComeOrderAreTheAccounts) {
    Experiment experiment = load({"workload.model.tables.count=5"});
    const Time in_program_order = run_experiment(experiment, {}).execution.total;
    experiment.program.compute_order = system::ComputeOrder::kFirstCome;
    const Traced traced = trace(experiment);
    EXPECT_NE(traced.run.execution.total, in_program_order);
    expect_accounts(traced);
}

TEST_F(TimelineTest, EveryStreamHasLanesOfItsOwn) {
    Experiment experiment = load({"workload.model.tables.count=5"});
    testing::compute_weight_gradients_aside(experiment);
    const Traced traced = trace(experiment);
    EXPECT_TRUE(traced.left_out.empty());
    expect_accounts(traced, experiment.program.streams);
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
             {}, {tree}, {"workload.iterations=300"}}) {  // with more instants than intervals
        const Experiment experiment = load(overrides);
        SCOPED_TRACE(overrides.empty() ? "" : overrides.front());
        expect_carried(experiment, trace(experiment));
    }
}

TEST_F(TimelineTest, CountersCountHeaders) {
    // All messages are of whole packets: 1 B of header for each byte of payload.
    const Experiment experiment = load({"backend={kind: fluid, framing: {mtu: 1B, header: 1B}}"});
    expect_carried(experiment, trace(experiment), 2);
}

TEST_F(TimelineTest, LinksThatShareNothingHaveNoCounters) {
    const Traced traced = trace(load({"backend={kind: congestion_free}"}));
    EXPECT_TRUE(traced.trace.counters.empty());
    ASSERT_EQ(traced.left_out.size(), 1U);
    EXPECT_NE(traced.left_out.front().find("what links carry over time"), std::string::npos);
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
