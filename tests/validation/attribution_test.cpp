/// What binds a run, against what changing it saves: on hundreds of random experiments, is the resource that
/// attribution names first the one whose doubling saves most, and does its share foretell what a tenth more
/// of it saves?
///
/// A share s of the path foretells of a resource that is made f times as fast a saving of s·(1 - 1/f). The
/// change is made by the experiment's own section `scaled`, so nothing here knows the formulas of
/// attribution. On rotor networks "circuits twice as fast" is a cycle of half the length: all parts of a
/// superslice times 1/2.
#include "process.hpp"

#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

/// Savings that differ by less than this part of the run are as much: where two resources are full together,
/// doubling either saves nothing, and the rest is rounding and the order of ties.
constexpr double kAsMuch = 0.01;

struct Case {
    std::string text;  ///< the file
    std::string name;
    Time eps;  ///< of a rotor network; 0 elsewhere
};

/// Draws experiments; the same ones for the same seed.
class Drawing {
public:
    explicit Drawing(unsigned seed)
        : random_(seed) {}

    // Each draw is a statement of its own: arguments of one call are drawn in an order that is the
    // compiler's.

    [[nodiscard]] Case draw(const std::string& backend) {
        const bool is_packet = backend == "packet";
        const std::vector<std::string> kinds =
            is_packet
                ? std::vector<std::string>{"flat", "leaf_spine", "hierarchical", "torus"}
                : std::vector<std::string>{"flat", "leaf_spine", "hierarchical", "torus", "topoopt", "opera"};
        const std::string kind = pick(kinds);
        const int ranks = is_packet ? 8 : pick(std::vector<int>{8, 16});
        const int rate = pick(std::vector<int>{25, 100, 400});
        const int latency = pick(std::vector<int>{200, 1000, 5000});
        Case drawn;
        const std::string work = workload(ranks);
        const std::string end_points = cluster();
        const std::string fabric = network(kind, ranks, rate, latency, drawn);
        drawn.text = fmt::format(
            "schema: astrolabe/1\n{}cluster:\n  ranks: {}\n{}network: {}\nbackend: {{kind: {}}}\n", work,
            ranks, end_points, fabric, backend);
        drawn.name = fmt::format("{} on {}", kind, backend);
        return drawn;
    }

private:
    template <class T>
    [[nodiscard]] T pick(const std::vector<T>& from) {
        return from[random_() % from.size()];
    }

    [[nodiscard]] std::string workload(int ranks) {
        if (random_() % 5 < 2) {
            collective_ = pick(std::vector<std::string>{"all_reduce", "all_to_all", "all_gather"});
            return fmt::format("workload: {{kind: collective, collective: {}, size: {}}}\n", collective_,
                               pick(std::vector<std::string>{"10kB", "100kB", "1MB", "8MB"}));
        }
        collective_.clear();
        const int bottom = pick(std::vector<int>{64, 256});
        const int top = pick(std::vector<int>{64, 512});
        const int tables = ranks * pick(std::vector<int>{1, 2});
        const int batch = ranks * pick(std::vector<int>{16, 64, 256});
        return fmt::format(
            "workload:\n  kind: dlrm\n  model: {{dense_features: 64, bottom_mlp: [{}, 32], "
            "top_mlp: [{}, 64, 1], tables: {{count: {}, rows: 1000, dimension: 32, pooling: 4}}}}\n"
            "  batch: {{global: {}}}\n  dense_feature_gradient: true\n  iterations: 2\n",
            bottom, top, tables, batch);
    }

    [[nodiscard]] std::string cluster() {
        const int peak = pick(std::vector<int>{1, 10});
        const auto injection = pick(std::vector<std::string>{"0ps", "0ps", "1us"});
        const auto all_reduce =
            pick(std::vector<std::string>{"ring", "halving_doubling", "double_binary_tree"});
        const int all_reduce_chunks = pick(std::vector<int>{1, 2, 4});
        const int all_to_all_chunks = pick(std::vector<int>{1, 2});
        const auto all_gather = pick(std::vector<std::string>{"ring", "direct"});
        const int all_gather_chunks = pick(std::vector<int>{1, 2});
        return fmt::format(
            "  device: {{kind: roofline, peak: {}TFLOPS, memory_bandwidth: 900GB/s}}\n"
            "  injection_latency: {}\n"
            "  collectives:\n    all_reduce: {{algorithm: {}, chunks: {}}}\n"
            "    all_to_all: {{algorithm: direct, chunks: {}}}\n"
            "    all_gather: {{algorithm: {}, chunks: {}}}\n",
            peak, injection, all_reduce, all_reduce_chunks, all_to_all_chunks, all_gather, all_gather_chunks);
    }

    [[nodiscard]] std::string network(const std::string& kind, int ranks, int rate, int latency,
                                      Case& drawn) {
        const std::string link = fmt::format("link: {{rate: {}Gbps, latency: {}ns}}", rate, latency);
        if (kind == "leaf_spine") {
            return fmt::format(
                "{{kind: leaf_spine, hosts: {}, hosts_per_leaf: 4, spines: 2, oversubscription: {}, {}}}",
                ranks, pick(std::vector<int>{1, 2, 4, 8}), link);
        }
        if (kind == "hierarchical") {
            return fmt::format(
                "{{kind: hierarchical, hosts: {}, hosts_per_package: 4, scale_up: {{rate: {}Gbps, "
                "latency: 300ns}}, scale_out: {{rate: {}Gbps, latency: {}ns}}}}",
                ranks, rate * pick(std::vector<int>{2, 6, 12}), rate, latency);
        }
        if (kind == "torus") {
            return fmt::format("{{kind: torus, sizes: [{}, 4], {}}}", ranks / 4, link);
        }
        if (kind == "topoopt") {
            return fmt::format("{{kind: topoopt, degree: {}, mode: paper, {}}}", pick(std::vector<int>{2, 4}),
                               link);
        }
        if (kind == "opera") {
            drawn.eps = Time(60'000'000);
            return fmt::format(
                "{{kind: opera, racks: 8, uplinks: 4, hosts_per_rack: {}, eps: 60us, del: 2us, "
                "reconfiguration_delay: 10us, link: {{rate: {}Gbps, latency: 500ns}}, "
                "bulk: {{intra_rack: two_hops}}}}",
                ranks / 8, rate);
        }
        return fmt::format("{{kind: flat, hosts: {}, {}}}", ranks, link);
    }

    std::mt19937 random_;
    std::string collective_;
};

/// That make a resource `factor` times as fast; empty where no key does.
std::vector<std::string> overrides(const Case& drawn, const std::string& resource, double factor) {
    if (resource == "compute") {
        return {fmt::format("scaled.compute={}", factor)};
    }
    if (resource == "end points") {
        return {fmt::format("scaled.end_points={}", factor)};
    }
    if (resource == "latency") {
        return {fmt::format("scaled.latency={:.12f}", 1 / factor)};
    }
    if (resource == "circuits" && drawn.eps > Time(0)) {
        const auto part = [factor](double picoseconds) {
            return fmt::format("{}ps", std::llround(picoseconds / factor));
        };
        return {"network.eps=" + part(60e6), "network.del=" + part(2e6),
                "network.reconfiguration_delay=" + part(10e6)};
    }
    if (drawn.eps > Time(0) && resource.ends_with(" links")) {  // all links of a rotor network have one rate
        return {fmt::format("scaled.links={{host-rack: {0}, rack-rack: {0}}}", factor)};
    }
    if (const std::size_t end = resource.find(" links"); end != std::string::npos) {
        return {fmt::format("scaled.links={{{}: {}}}", resource.substr(0, end), factor)};
    }
    return {};
}

class Attribution : public ::testing::Test {
protected:
    [[nodiscard]] std::optional<experiment::Run> run(const std::filesystem::path& file,
                                                     const std::vector<std::string>& changes) {
        Result<Experiment> loaded = load_experiment(file, {changes, std::nullopt}, components_);
        if (!loaded) {
            ADD_FAILURE() << render(loaded.error());
            return std::nullopt;
        }
        auto result = run_experiment(*loaded, {}, {.causes = Causes::kAlways});
        program_ = loaded->program;
        return result;
    }

    void examine(const Case& drawn) {
        const testing::TemporaryFolder folder;
        const std::filesystem::path file = folder.write("drawn.yaml", drawn.text);
        const auto base = run(file, {});
        if (!base || !base->execution.finished) {
            ADD_FAILURE() << drawn.text;
            return;
        }
        const auto shares =
            shares_by_resource(shares_by_operation(base->path, base->resources.get(), program_));
        const double total = to_seconds(base->execution.total);
        std::map<std::string, double> saved;
        for (const PathShare& share : shares) {
            const auto changes = overrides(drawn, share.resource, 2);
            if (!changes.empty()) {
                const auto changed = run(file, changes);
                ASSERT_TRUE(changed) << drawn.text;
                saved[share.resource] = 1 - to_seconds(changed->execution.total) / total;
            }
        }
        const std::string& first = shares.front().resource;
        if (!saved.contains(first)) {
            ++unchangeable_;
            return;
        }
        ++cases_;
        const auto best = std::max_element(saved.begin(), saved.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        const bool is_right = best->second <= saved[first] + kAsMuch;
        right_ += is_right ? 1 : 0;
        const auto tenth = run(file, overrides(drawn, first, 1.1));
        ASSERT_TRUE(tenth) << drawn.text;
        const double measured = 1 - to_seconds(tenth->execution.total) / total;
        const double foretold = to_seconds(shares.front().time) / total * (1 - 1 / 1.1);
        const bool is_foretold = std::abs(foretold - measured) <= 0.2 * std::abs(measured);
        const bool is_rotor = drawn.eps > Time(0);
        (is_rotor ? rotor_cases_ : static_cases_) += 1;
        (is_rotor ? rotor_foretold_ : static_foretold_) += is_foretold ? 1 : 0;
        if (!is_right || !is_foretold) {
            std::printf(
                "%s: %s %.1f %%; x2 saves %.1f %%, most %s %.1f %%; x1.1 saves %.2f %%, foretold %.2f %%\n",
                drawn.name.c_str(), first.c_str(), 100 * to_seconds(shares.front().time) / total,
                100 * saved[first], best->first.c_str(), 100 * best->second, 100 * measured, 100 * foretold);
        }
    }

    Components components_ = builtin_components();
    system::Program program_;
    int cases_ = 0;
    int right_ = 0;
    int static_cases_ = 0;
    int static_foretold_ = 0;
    int rotor_cases_ = 0;
    int rotor_foretold_ = 0;
    int unchangeable_ = 0;  ///< bound by what no key changes
};

TEST_F(Attribution, NamesWhatSavesMostAndForetellsHowMuch) {
    // Four samples: the standard error of a share of 90 % is 1.8 % in one of 280, 0.9 % in all of them.
    constexpr int kFluid = 240;
    constexpr int kPackets = 80;
    for (const unsigned seed : {20U, 21U, 22U, 23U}) {
        Drawing drawing(seed);
        for (int i = 0; i < kFluid + kPackets; ++i) {
            examine(drawing.draw(i < kFluid ? "fluid" : "packet"));
        }
    }
    std::printf(
        "%d experiments: the first resource saves most in %d; its share foretells x1.1 in %d of %d, and on "
        "rotor "
        "networks in %d of %d; %d are bound by what no key changes\n",
        cases_, right_, static_foretold_, static_cases_, rotor_foretold_, rotor_cases_, unchangeable_);
    EXPECT_GE(cases_, 1200);
    EXPECT_GE(right_, 0.95 * cases_);
    // What waits for a slot waits for whole slots, so a tenth changes a rotor network's times by steps: there
    // the forecast is reported and not asserted (docs/validation.md, "What binds a run").
    EXPECT_GE(static_foretold_, 0.90 * static_cases_);
}

}  // namespace
}  // namespace astrolabe::experiment
