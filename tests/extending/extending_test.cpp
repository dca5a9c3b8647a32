/// The worked examples of docs/extending.md work, and the page shows what is compiled here.
#include "study/src/report/study_figures.hpp"
#include "system/src/schedule/proof.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/system/components.hpp>
#include <astrolabe/workload/components.hpp>

namespace astrolabe::system {
void register_chain(AlgorithmRegistry& registry);
}
namespace astrolabe::network {
void register_line(Registry<FabricMaker>& registry);
std::shared_ptr<const NetworkFamily> row_family();
}  // namespace astrolabe::network
namespace astrolabe::workload {
void register_parameter_push(Registry<Job>& registry);
}
namespace astrolabe::study {
Drawn compute_share_figure(const StudyAxes& axes);
}

namespace astrolabe::testing {
namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(ASTROLABE_SOURCE_DIR "/" + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

template <class Product>
Product made_of(const Registry<Product>& registry, const std::string& text) {
    ReadContext context;
    const auto configured = registry.read(*parse_config(text, "extending.yaml"), context);
    EXPECT_TRUE(configured.has_value());
    return configured->make();
}

TEST(Extending, ThePageShowsWhatIsCompiled) {
    const std::string page = text_of("docs/extending.md");
    for (const char* example : {"chain.cpp", "compute_figure.cpp", "line.cpp", "packet-aimd.h",
                                "packet-aimd.cc", "parameter_push.cpp", "row_family.cpp"}) {
        const std::string source = text_of(std::string("tests/extending/") + example);
        const std::size_t begin = source.find("namespace ");
        const std::string body = source.substr(begin, source.rfind("// namespace") - begin);
        ASSERT_FALSE(body.empty());
        EXPECT_NE(page.find(body), std::string::npos) << "docs/extending.md does not show " << example;
    }
}

TEST(Extending, AChainIsABroadcastOfOneStepFewerThanRanks) {
    system::AlgorithmRegistry registry("algorithm", "algorithm");
    system::register_chain(registry);
    const system::AlgorithmPointer chain = made_of(registry, "{algorithm: chain}");
    for (system::Position ranks = 2; ranks < 20; ++ranks) {
        const auto schedule = chain->schedule(system::CollectiveKind::kBroadcast, system::Shape(ranks), 0);
        EXPECT_FALSE(system::prove(schedule)) << system::prove(schedule)->message;
        EXPECT_EQ(schedule.steps(), ranks - 1U);
    }
    EXPECT_TRUE(chain->unsupported(system::CollectiveKind::kReduce, system::Shape(4)));
}

TEST(Extending, HostsOfALineAreAsFarApartAsTheirNumbers) {
    Registry<network::FabricMaker> registry("network", "kind");
    network::register_line(registry);
    const auto fabric = made_of(registry, "{kind: line, hosts: 5, link: {rate: 100Gbps, latency: 1us}}")(1);
    EXPECT_EQ(fabric->link_count(), 2U * 4);
    EXPECT_EQ(fabric->routing().route(network::HostId(0), network::HostId(4)).hops, 4U);
    EXPECT_EQ(fabric->routing().route(network::HostId(3), network::HostId(1)).hops, 2U);
}

TEST(Extending, AFamilyAddsItsDescriptionAndItsDrawing) {
    network::FabricBuilder builder("row");
    for (const char* name : {"host 0", "host 1", "host 2"}) {
        builder.add_host(name);
    }
    builder.connect(network::NodeId(0), network::NodeId(1), {100_Gbps, 1_us, Bytes(0)});
    builder.connect(network::NodeId(1), network::NodeId(2), {100_Gbps, 1_us, Bytes(0)});
    builder.set_family(network::row_family());
    const auto fabric = std::move(builder).build();
    const network::Description description = fabric->family().describe(*fabric, {});
    EXPECT_EQ(description.json.dump(), R"({"longest_route":2})");
    EXPECT_EQ(description.facts.front().second, "2 links, from end to end");
    EXPECT_TRUE(fabric->family().draw().starts_with("<svg"));
    EXPECT_FALSE(fabric->family().activity()) << "what it does not override is neutral";
}

// The workload on the topology, with the algorithm: the broadcast of 1 MB takes 3 hops of
// 1 MB / 100 Gb/s + 1 us = 81 us, and the last rank computes for 20 us after that.
TEST(Extending, AWorkloadRunsOnTheNewTopologyWithTheNewAlgorithm) {
    experiment::Components components;
    workload::register_parameter_push(components.workloads);
    workload::register_builtin_devices(components.devices);
    network::register_line(components.networks);
    network::register_fluid_backend(components.backends);
    system::register_builtin_algorithms(components.algorithms);
    system::register_chain(components.algorithms);
    ReadContext context;
    const auto experiment = experiment::read_experiment(*parse_config(R"(schema: astrolabe/1
workload: {kind: parameter_push, size: 1MB, compute: 20us}
cluster:
  ranks: 4
  device: {kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}
  collectives: {broadcast: {algorithm: chain, chunks: 1}}
network: {kind: line, hosts: 4, link: {rate: 100Gbps, latency: 1us}}
backend: {kind: fluid}
)",
                                                                      "extending.yaml"),
                                                        {}, "extending", 1, components);
    ASSERT_TRUE(experiment) << render(experiment.error());
    const experiment::Run run = experiment::run_experiment(*experiment, {}, {});
    ASSERT_EQ(run.iteration_times.size(), 1U);
    EXPECT_EQ(run.iteration_times.front(), 3 * (80_us + 1_us) + 20_us);
}

study::StudyRow point(int number, const char* network, nlohmann::ordered_json summary) {
    study::StudyRow row;
    row.point.number = static_cast<std::size_t>(number);
    row.point.parameters = {{"network", network}};
    row.result.status = study::PointStatus::kDone;
    row.result.summary = std::move(summary);
    return row;
}

// 3 s of 4 s and 1 s of 4 s; the third result does not say.
TEST(Extending, AFigureIsATableOfWhatThePointsSay) {
    const std::vector<study::StudyRow> rows{point(1, "flat", {{"compute_s", 3.0}, {"total_time_s", 4.0}}),
                                            point(2, "torus", {{"compute_s", 1.0}, {"total_time_s", 4.0}}),
                                            point(3, "opera", nlohmann::ordered_json::object())};
    const study::Drawn drawn = study::compute_share_figure(study::study_axes(rows));
    ASSERT_TRUE(std::holds_alternative<study::Figure>(drawn));
    const auto& figure = std::get<study::Figure>(drawn);
    EXPECT_EQ(figure.columns, (std::vector<std::string>{"network", "compute_share"}));
    EXPECT_EQ(figure.rows, (std::vector<std::vector<nlohmann::ordered_json>>{{"flat", 0.75}, {"torus", 0.25}}));

    const std::vector<study::StudyRow> silent{rows.back()};
    EXPECT_TRUE(std::holds_alternative<study::Omission>(
        study::compute_share_figure(study::study_axes(silent))));
}

}  // namespace
}  // namespace astrolabe::testing
