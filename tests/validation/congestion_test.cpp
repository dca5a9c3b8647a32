/// How far the formula without congestion is from a network that shares its links, on Flat100G of the HOTI
/// 2020 study: 128 hosts of 100 Gb/s on one switch.
#include "collective_time.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::testing {
namespace {

constexpr std::size_t kRanks = 128;
constexpr double kAlpha = 1000.0;  // ns
constexpr double kBeta = 0.08;     // ns/B

double time_of(const std::string& algorithm, const std::string& size, std::uint32_t chunks,
               std::uint32_t window, const std::string& backend) {
    experiment::CollectiveRequest request;
    request.kind = "all_reduce";
    request.algorithm = algorithm;
    request.sizes = {size};
    request.network = flat_network(kRanks);
    request.backend = backend;
    request.chunks = chunks;
    request.active_chunks = window;
    return to_nanoseconds(run_collective(request).run.execution.total);
}

TEST(Congestion, MakesTheFormulaWrongByALargeFactor) {
    // docs/theory/hoti20-study.md, "Formula against queues". Direct all_reduce: the formula gives 2(α +
    // Sβ/N), sharing a port among N-1 messages 2(α + (N-1)Sβ/N); the ratio tends to N-1 = 127.
    for (const std::string size : {"1MiB", "8MiB", "64MiB"}) {
        const double block =
            static_cast<double>(std::get<Bytes>(parse_bytes(size)).count()) / static_cast<double>(kRanks);
        const double formula = time_of("direct", size, 1, 64, "congestion_free");
        const double shared = time_of("direct", size, 1, 64, "fluid");
        std::printf("direct              %5s: formula %10.3f us, shared links %10.3f us, ratio %7.3f\n",
                    size.c_str(), formula / 1000, shared / 1000, shared / formula);
        EXPECT_NEAR(formula, 2 * (kAlpha + block * kBeta), 1.0);
        EXPECT_NEAR(shared, 2 * (kAlpha + (kRanks - 1) * block * kBeta), 1.0);
    }
}

TEST(Congestion, IsLittleWhereEveryPortCarriesOneMessage) {
    // A ring uses every port once a step: both give 2(N-1)(α + Sβ/N).
    for (const std::string size : {"1MiB", "64MiB"}) {
        EXPECT_NEAR(time_of("ring", size, 1, 64, "fluid"), time_of("ring", size, 1, 64, "congestion_free"),
                    1.0);
    }
}

TEST(Congestion, NeverMakesACollectiveFaster) {
    for (const std::string algorithm : {"double_binary_tree", "halving_doubling", "direct"}) {
        for (const std::uint32_t chunks : {1U, 32U}) {
            const double formula = time_of(algorithm, "8MiB", chunks, 64, "congestion_free");
            const double shared = time_of(algorithm, "8MiB", chunks, 64, "fluid");
            std::printf("%-19s %2u chunks: formula %10.3f us, shared links %10.3f us, ratio %7.3f\n",
                        algorithm.c_str(), chunks, formula / 1000, shared / 1000, shared / formula);
            EXPECT_GE(shared, formula * (1 - 1e-9)) << algorithm;
        }
    }
}

TEST(Congestion, WithPortsTheFormulaIsThatOfTheSharedPorts) {
    // Where a step puts its messages on ports only, shared links and shared ports take the same:
    //     ring               2(N-1)(α + Sβ/N)
    //     direct             2(α + (N-1)Sβ/N)
    //     halving-doubling   2(log2 N · α + (N-1)Sβ/N), steps of S/2, S/4, …, S/N
    const std::string ports = "{kind: congestion_free, sharing: ports}";
    for (const std::string size : {"1MiB", "8MiB", "64MiB"}) {
        const double bytes = static_cast<double>(std::get<Bytes>(parse_bytes(size)).count());
        const double scattered = (kRanks - 1) * bytes / kRanks * kBeta;
        const std::vector<std::pair<std::string, double>> closed_forms{
            {"ring", 2 * ((kRanks - 1) * kAlpha + scattered)},
            {"direct", 2 * (kAlpha + scattered)},
            {"halving_doubling", 2 * (7 * kAlpha + scattered)}};
        for (const auto& [algorithm, closed_form] : closed_forms) {
            const double formula = time_of(algorithm, size, 1, 64, ports);
            std::printf("%-19s %5s: formula with ports %10.3f us\n", algorithm.c_str(), size.c_str(),
                        formula / 1000);
            EXPECT_NEAR(formula, closed_form, 1.0) << algorithm;
            EXPECT_NEAR(formula, time_of(algorithm, size, 1, 64, "fluid"), 1.0) << algorithm;
        }
    }
}

TEST(Congestion, WithPortsNothingBeatsTheNetworkInterface) {
    // Every rank sends and receives 2(N-1)S/N bytes at least, whatever the algorithm and the chunks.
    constexpr double kSize = 8.0 * (1 << 20);
    const double bound = 2 * (kRanks - 1) * kSize / kRanks * kBeta;
    for (const std::string algorithm : {"double_binary_tree", "halving_doubling", "direct"}) {
        for (const std::uint32_t chunks : {1U, 32U}) {
            const double formula =
                time_of(algorithm, "8MiB", chunks, 64, "{kind: congestion_free, sharing: ports}");
            const double shared = time_of(algorithm, "8MiB", chunks, 64, "fluid");
            std::printf(
                "%-19s %2u chunks: formula with ports %10.3f us, shared links %10.3f us, ratio %7.3f\n",
                algorithm.c_str(), chunks, formula / 1000, shared / 1000, shared / formula);
            EXPECT_GE(formula, bound) << algorithm;
        }
    }
}

TEST(Chunks, HurtTheFormulaByNoMoreThanTheirLatency) {
    // docs/theory/hoti20-study.md, "Chunks", without a copy cost. Rounds of W chunks follow one another, each
    // as long as one chunk takes up and down a tree of depth 7: T = ⌈C/W⌉ · 14 · (α + S/C·β). Doubling C from
    // a multiple of W on leaves the bytes as they are and doubles the latencies.
    constexpr double kSize = 8.0 * (1 << 20);
    for (const std::uint32_t window : {64U, 128U}) {
        double before = 0;
        std::uint32_t rounds_before = 0;
        for (const std::uint32_t chunks : {32U, 64U, 128U, 256U, 1024U}) {
            const double time = time_of("double_binary_tree", "8MiB", chunks, window, "congestion_free");
            const std::uint32_t rounds = (chunks + window - 1) / window;
            std::printf("window %3u, %4u chunks: %10.3f us\n", window, chunks, time / 1000);
            EXPECT_NEAR(time, rounds * 14 * (kAlpha + kSize / chunks * kBeta), 1.0);
            if (rounds_before > 0) {
                EXPECT_LE(time, before + 14 * kAlpha * (rounds - rounds_before) + 1.0);
            }
            before = time;
            rounds_before = rounds;
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
