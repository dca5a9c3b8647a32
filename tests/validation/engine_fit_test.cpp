/// What is said of an engine that does not fit: the terms by hand, and a part of engine_fit_long_test.cpp.
#include "engine_fit.hpp"

#include "process.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::testing {
namespace {

using experiment::EngineTerm;
using experiment::Experiment;

class EngineTerms : public ::testing::Test {
protected:
    [[nodiscard]] Experiment load(const std::string& workload, const std::string& cluster,
                                  const std::string& network, const std::string& backend) const {
        const TemporaryFolder folder;
        const auto file = folder.write(
            "drawn.yaml",
            fmt::format(
                "schema: astrolabe/1\nworkload: {}\ncluster: {{device: {{kind: roofline, peak: 1TFLOPS, "
                "memory_bandwidth: 100GB/s}}, {}}}\nnetwork: {}\nbackend: {}\n",
                workload, cluster, network, backend));
        auto loaded = experiment::load_experiment(file, {}, components_);
        if (!loaded) {
            throw std::runtime_error(render(loaded.error()));
        }
        return std::move(*loaded);
    }
    [[nodiscard]] static double error_of(const std::vector<EngineTerm>& terms, const std::string& name) {
        const auto term = std::ranges::find(terms, name, &EngineTerm::name);
        return term == terms.end() ? 0 : term->error.value_or(std::nan(""));
    }
    [[nodiscard]] std::vector<EngineTerm> terms(const std::string& workload, const std::string& cluster,
                                                const std::string& network, const std::string& other) const {
        const Experiment own = load(workload, cluster, network, "{kind: fluid}");
        const Experiment with = load(workload, cluster, network, other);
        return experiment::terms_of(own, with.backend_kind, with.backend);
    }

    experiment::Components components_ = experiment::builtin_components();
    const std::string two_ = "{kind: flat, hosts: 2, link: {rate: 100Gbps, latency: 500ns}}";
};

TEST_F(EngineTerms, HeadersOfALongMessageAreThoseOfItsPackets) {
    // 64 MiB are 16384 packets of 4096 B with 82 B each: 5368.71 us and 107.48 us more, of 5369.71 us with
    // latency.
    const auto found = terms("{kind: collective, collective: point_to_point, size: 64MiB}", "ranks: 2", two_,
                             "{kind: packet}");
    EXPECT_NEAR(error_of(found, "headers"), 107.48 / 5369.71, 1e-5);
    // One packet of 4178 B waits at the switch: 0.334 us.
    EXPECT_EQ(error_of(found, "store_and_forward"), 0) << "less than a thousandth is no term";
    EXPECT_EQ(error_of(found, "window"), 0) << "2.6 us · 100 Gb/s are 33 kB, of a window of 500";
}

TEST_F(EngineTerms, AShortMessageIsStoredAndItsConnectionMade) {
    // 1000 B: 0.08 us and 1 us of latency. On tcp 16 B of its frame header and 42 B of headers: 1058 B,
    // 0.08464 us on each of two links. A handshake is twice the latency, and 2·42 B on both links, 0.01344
    // us: 2.01344 us.
    const auto found =
        terms("{kind: collective, collective: point_to_point, size: 1000B}", "ranks: 2", two_, "{kind: tcp}");
    EXPECT_NEAR(error_of(found, "headers"), 0.00464 / 1.08, 1e-5);
    EXPECT_NEAR(error_of(found, "store_and_forward"), 0.08464 / 1.08, 1e-5);
    EXPECT_NEAR(error_of(found, "connections"), 2.01344 / 1.08, 1e-5);
    EXPECT_EQ(found.front().name, "connections") << "the largest first";
}

TEST_F(EngineTerms, AWindowIsARoundTripsWorth) {
    // A window of 122 packets of 4096 B a round trip: 4·20 us of latency, a packet of 4178 B and an
    // acknowledgement of 84 B on two links, 0.682 us. 64 MiB are 16384/122 = 134.3 windows; when the last may
    // leave, it takes 20 + 20 us of latency, 122·4178 B, and a packet is stored. Without a window 16384·4178
    // B take 5476.2 us.
    const auto found =
        terms("{kind: collective, collective: point_to_point, size: 64MiB}", "ranks: 2",
              "{kind: flat, hosts: 2, link: {rate: 100Gbps, latency: 20us}}", "{kind: packet}");
    constexpr double kByte = 8e-5;  // us
    constexpr double kTrip = 80 + 2 * (4178 + 84) * kByte;
    constexpr double kLast = 40 + 122 * 4178 * kByte + 4178 * kByte;
    constexpr double kLimited = 16384.0 / 122 * kTrip - kTrip + kLast;
    constexpr double kUnlimited = 16384 * 4178 * kByte + 40 + 4178 * kByte;
    constexpr double kFluid = 16384 * 4096 * kByte + 40;
    EXPECT_NEAR(error_of(found, "window"), (kLimited - kUnlimited) / kFluid, 1e-4);
    EXPECT_GT(error_of(found, "window"), 0.9) << "the path holds 80.7 us · 100 Gb/s, two windows";
}

TEST_F(EngineTerms, NothingIsSaidWhereComputationIsTheLimit) {
    const Experiment experiment = load(
        "{kind: dlrm, model: {dense_features: 64, bottom_mlp: [512, 32], top_mlp: [512, 64, 1], "
        "tables: {count: 8, rows: 1000, dimension: 32, pooling: 4}}, batch: {global: 65536}, iterations: 2}",
        "ranks: 8", "{kind: flat, hosts: 8, link: {rate: 400Gbps, latency: 500ns}}", "{kind: fluid}");
    EXPECT_TRUE(experiment::ignored_terms(experiment, components_).empty());
}

TEST_F(EngineTerms, AnIncastIntoAFiniteBufferIsSaidOfBothPacketEngines) {
    // Of eight ranks, seven send 8 MB each to the first: 500 kB of each wait at a port with 1 MB.
    const std::string network =
        "{kind: flat, hosts: 8, link: {rate: 100Gbps, latency: 500ns}, switch_buffer: 8MB}";
    const std::string cluster = "ranks: 8, collectives: {reduce: {algorithm: direct, chunks: 1}}";
    const std::string incast = "{kind: collective, collective: reduce, size: 8MB}";
    const auto told = experiment::ignored_terms(load(incast, cluster, network, "{kind: fluid}"), components_);
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.front().name, "buffers");
    EXPECT_EQ(told.front().engine, "packet");
    EXPECT_NE(told.front().cause.find("switch to host 0, with room for 1 MB"), std::string::npos)
        << told.front().cause;
    EXPECT_TRUE(std::ranges::any_of(
        told, [](const EngineTerm& term) { return term.name == "buffers" && term.engine == "tcp"; }));
    // On packets, which lose as well, the timeouts of tcp are no estimate.
    const auto on_packets =
        experiment::ignored_terms(load(incast, cluster, network, "{kind: packet}"), components_);
    ASSERT_FALSE(on_packets.empty());
    EXPECT_EQ(on_packets.front().name, "buffers");
    EXPECT_FALSE(on_packets.front().error);
    const auto json = experiment::engine_terms_json(on_packets);
    EXPECT_TRUE(json[0]["error"].is_null());
    EXPECT_EQ(json[0]["engine"], "tcp");
    // With memory without end nothing is lost.
    const std::string endless = "{kind: flat, hosts: 8, link: {rate: 100Gbps, latency: 500ns}}";
    for (const EngineTerm& term :
         experiment::ignored_terms(load(incast, cluster, endless, "{kind: fluid}"), components_)) {
        EXPECT_NE(term.name, "buffers");
    }
}

TEST_F(EngineTerms, SharingIsSaidOfTheEngineThatSharesNoLinks) {
    // Seven messages of 8 MB into one port take seven times as long where they share it.
    const Experiment experiment =
        load("{kind: collective, collective: reduce, size: 8MB}",
             "ranks: 8, collectives: {reduce: {algorithm: direct, chunks: 1}}",
             "{kind: flat, hosts: 8, link: {rate: 100Gbps, latency: 500ns}}", "{kind: congestion_free}");
    const auto told = experiment::ignored_terms(experiment, components_);
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.front().name, "sharing");
    EXPECT_EQ(told.front().engine, "fluid");
    EXPECT_NEAR(*told.front().error, 6, 0.01);
}

TEST(EngineFit, SaysWhatDiffersAndNothingWhereEnginesAgree) {
    const Fit fit = judge(compare_engines(44, 8));
    // Too few for shares: one of each may be wrong.
    EXPECT_GE(fit.named, fit.differing - 1);
    EXPECT_GE(fit.quiet, fit.agreeing - 1);
}

}  // namespace
}  // namespace astrolabe::testing
