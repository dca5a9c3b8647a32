/// Collectives on the fluid engine against the closed forms of docs/theory/collectives-and-costs.md, "Closed
/// forms": full-duplex ports of 100 Gb/s (β = 0.08 ns/B), α = 1 us, one chunk.
///
/// Blocks are whole bytes: where N does not divide S the largest block is m = ⌈S/N⌉, and a ring passes that
/// block through every step, so its exact time is the closed form with m in place of S/N. Both are printed;
/// the difference is at most one byte time (0.08 ns) a step.
#include "collective_time.hpp"

#include <bit>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

using namespace literals;

constexpr double kAlpha = 1000.0;  // ns
constexpr double kBeta = 0.08;     // ns/B

struct Form {
    const char* kind;
    const char* algorithm;
    /// Time in ns from N and the block size m = S/N.
    double (*time)(double n, double m);
    bool powers_of_two_only = false;
};

double ring_phase(double n, double m) {
    return (n - 1) * (kAlpha + m * kBeta);
}
double ring_all_reduce(double n, double m) {
    return 2 * ring_phase(n, m);
}
double ring_all_to_all(double n, double m) {
    return n * (n - 1) / 2 * (kAlpha + m * kBeta);
}
double direct_phase(double n, double m) {
    return kAlpha + (n - 1) * m * kBeta;
}
double direct_all_reduce(double n, double m) {
    return 2 * direct_phase(n, m);
}
double windowed_direct_phase(double n, double m) {
    return std::ceil((n - 1) / 8.0) * kAlpha + (n - 1) * m * kBeta;
}
double windowed_direct_all_reduce(double n, double m) {
    return 2 * windowed_direct_phase(n, m);
}
/// Both directions share a port until one of them alone has a block left, for the rank opposite. Blocks of
/// unequal size let the directions drift apart and hide one's latency behind the other's bytes, so this is
/// exact only where N divides S.
double bidirectional_ring_all_to_all(double n, double m) {
    const double half = n / 2;
    return half * (half - 1) / 2 * (kAlpha + 2 * m * kBeta) + half * (kAlpha + m * kBeta);
}
double bruck_all_to_all(double n, double m) {
    double time = 0;
    for (unsigned bit = 1; bit < n; bit *= 2) {
        time += kAlpha;
        for (unsigned distance = bit; distance < n; ++distance) {
            time += (distance & bit) != 0 ? m * kBeta : 0;
        }
    }
    return time;
}
double logarithmic_phase(double n, double m) {
    return std::ceil(std::log2(n)) * kAlpha + (n - 1) * m * kBeta;
}
double logarithmic_all_reduce(double n, double m) {
    return 2 * logarithmic_phase(n, m);
}
double recursive_doubling_all_reduce(double n, double m) {
    return std::log2(n) * (kAlpha + n * m * kBeta);
}

double star(double n, double m) {
    return kAlpha + (n - 1) * n * m * kBeta;
}
double binomial_tree(double n, double m) {
    return std::ceil(std::log2(n)) * (kAlpha + n * m * kBeta);
}
/// The last message of the halving and the first of the gather start together and share their ports.
double halving_doubling_reduce(double n, double m) {
    return logarithmic_all_reduce(n, m) - kAlpha;
}

class ClosedForm : public ::testing::TestWithParam<Form> {};

TEST_P(ClosedForm, IsMetToOneNanosecondForTwoToSixteenRanks) {
    const Form& form = GetParam();
    for (const Bytes size : {4096_B, 16_MiB}) {
        for (std::size_t n = 2; n <= 16; ++n) {
            if (form.powers_of_two_only && !std::has_single_bit(n)) {
                continue;
            }
            experiment::CollectiveRequest request;
            request.kind = form.kind;
            request.algorithm = form.algorithm;
            request.chunks = 1;
            request.sizes = {to_string(size)};
            request.network = flat_network(n);
            const experiment::CollectivePoint point = run_collective(request);
            const double count = static_cast<double>(n);
            const double bytes = static_cast<double>(point.size.count());
            const double time = to_nanoseconds(point.run.execution.total);
            const double whole_blocks = form.time(count, std::ceil(bytes / count));
            const double fractional = form.time(count, bytes / count);
            std::printf("%-14s %-6s N=%2zu S=%-9lld %16.3f ns, closed form %16.3f, with whole bytes %16.3f\n",
                        form.kind, form.algorithm, n, static_cast<long long>(point.size.count()), time,
                        fractional, whole_blocks);
            // Direct algorithms send N-1 different blocks, of which only S mod N are the larger ones.
            EXPECT_LE(time, whole_blocks + 1.0) << form.kind << " N=" << n;
            EXPECT_GE(time, fractional - 1.0) << form.kind << " N=" << n;
            if (point.size.count() % static_cast<std::int64_t>(n) == 0) {
                EXPECT_NEAR(time, fractional, 1.0) << form.kind << " N=" << n;
            }
            EXPECT_GE(point.run.execution.total, point.lower_bound);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Section5, ClosedForm,
    ::testing::Values(
        Form{"reduce_scatter", "ring", ring_phase}, Form{"all_gather", "ring", ring_phase},
        Form{"all_reduce", "ring", ring_all_reduce}, Form{"all_to_all", "ring", ring_all_to_all},
        Form{"reduce_scatter", "direct", direct_phase}, Form{"all_gather", "direct", direct_phase},
        Form{"all_to_all", "direct", direct_phase}, Form{"all_reduce", "direct", direct_all_reduce},
        Form{"reduce_scatter", "windowed_direct", windowed_direct_phase},
        Form{"all_gather", "windowed_direct", windowed_direct_phase},
        Form{"all_to_all", "windowed_direct", windowed_direct_phase},
        Form{"all_reduce", "windowed_direct", windowed_direct_all_reduce},
        Form{"all_reduce", "bidirectional_ring", ring_all_reduce},
        Form{"all_to_all", "bidirectional_ring", bidirectional_ring_all_to_all, true},
        Form{"all_to_all", "pairwise", ring_phase}, Form{"all_to_all", "bruck", bruck_all_to_all},
        Form{"all_gather", "bruck", logarithmic_phase},
        Form{"reduce_scatter", "halving_doubling", logarithmic_phase, true},
        Form{"all_gather", "halving_doubling", logarithmic_phase, true},
        Form{"all_reduce", "halving_doubling", logarithmic_all_reduce, true},
        Form{"all_reduce", "recursive_doubling", recursive_doubling_all_reduce, true},
        Form{"broadcast", "ring", ring_all_reduce}, Form{"reduce", "ring", ring_all_reduce},
        Form{"broadcast", "direct", star}, Form{"reduce", "direct", star},
        Form{"broadcast", "binomial_tree", binomial_tree},
        Form{"reduce", "binomial_tree", binomial_tree, true},
        Form{"broadcast", "halving_doubling", logarithmic_all_reduce, true},
        Form{"reduce", "halving_doubling", halving_doubling_reduce, true}),
    [](const auto& form) { return std::string(form.param.algorithm) + "_" + form.param.kind; });

TEST(WorkedValues, OfSection5) {
    // N, S, and the table's microseconds for ring RS, ring AR, direct A2A, direct AR, halving-doubling RS and
    // AR, ring A2A.
    struct Row {
        std::size_t ranks;
        Bytes size;
        double ring_rs, ring_ar, direct_a2a, direct_ar, halving_rs, halving_ar, ring_a2a;
    };
    for (const Row& row :
         {Row{8, 16_MiB, 1181.405, 2362.810, 1175.405, 2350.810, 1177.405, 2354.810, 4725.620},
          Row{128, 8_MiB, 792.846, 1585.692, 666.846, 1333.692, 672.846, 1345.692, 50742.129}}) {
        const auto microseconds = [&row](const char* kind, const char* algorithm) {
            experiment::CollectiveRequest request;
            request.kind = kind;
            request.algorithm = algorithm;
            request.chunks = 1;
            request.sizes = {to_string(row.size)};
            request.network = flat_network(row.ranks);
            return to_nanoseconds(run_collective(request).run.execution.total) / 1000;
        };
        // The table has three decimals of a microsecond.
        EXPECT_NEAR(microseconds("reduce_scatter", "ring"), row.ring_rs, 0.001);
        EXPECT_NEAR(microseconds("all_reduce", "ring"), row.ring_ar, 0.001);
        EXPECT_NEAR(microseconds("all_to_all", "direct"), row.direct_a2a, 0.001);
        EXPECT_NEAR(microseconds("all_reduce", "direct"), row.direct_ar, 0.001);
        EXPECT_NEAR(microseconds("reduce_scatter", "halving_doubling"), row.halving_rs, 0.001);
        EXPECT_NEAR(microseconds("all_reduce", "halving_doubling"), row.halving_ar, 0.001);
        EXPECT_NEAR(microseconds("all_to_all", "ring"), row.ring_a2a, 0.001);
    }
}

TEST(BidirectionalRing, LoadsBothDirectionsOfARingOfHosts) {
    // Neighbours are one link apart, α = 500 ns, and each direction has a link of its own; m = S/N.
    //   all_to_all, one chunk: H(H+1)/2 (α + mβ), H = ⌊N/2⌋; one way round it is N(N-1)/2 (α + mβ)
    //   all_reduce, two chunks of S/2, one per direction: 2(N-1)(α + mβ/2)
    constexpr double kLink = 500.0;
    constexpr double kBlock = 65536;
    for (std::size_t n = 3; n <= 12; ++n) {
        experiment::CollectiveRequest request;
        request.algorithm = "bidirectional_ring";
        request.sizes = {fmt::format("{}B", n * 65536)};
        request.network =
            fmt::format("{{kind: ring, hosts: {}, link: {{rate: 100Gbps, latency: 500ns}}}}", n);
        const auto nanoseconds = [&request](const char* kind, std::uint32_t chunks) {
            request.kind = kind;
            request.chunks = chunks;
            return to_nanoseconds(run_collective(request).run.execution.total);
        };
        const auto half = static_cast<double>(n / 2);
        EXPECT_NEAR(nanoseconds("all_to_all", 1), half * (half + 1) / 2 * (kLink + kBlock * kBeta), 1.0) << n;
        EXPECT_NEAR(nanoseconds("all_reduce", 2),
                    2 * static_cast<double>(n - 1) * (kLink + kBlock / 2 * kBeta), 1.0)
            << n;
    }
}

TEST(DoubleBinaryTree, PipelinesTowardsItsBound) {
    // N = 8, S = 16 MiB. One chunk, contention-free part: 2k(α + Sβ) with k = 3 is a lower bound of 8059 us
    // for one chunk; parents receive two children through one port, which gives at most 2kα + 2(2k-1)Sβ = 13
    // 428 us. Many chunks: at least 2Sβ = 2684.35 us, and no slower than the single chunk.
    const auto microseconds = [](std::uint32_t chunks) {
        experiment::CollectiveRequest request;
        request.kind = "all_reduce";
        request.algorithm = "double_binary_tree";
        request.sizes = {"16MiB"};
        request.network = flat_network(8);
        request.chunks = chunks;
        request.active_chunks = 1024;
        return to_nanoseconds(run_collective(request).run.execution.total) / 1000;
    };
    const double one = microseconds(1);
    EXPECT_GE(one, 8059.0);
    EXPECT_LE(one, 13'428.0);
    double previous = one;
    for (const std::uint32_t chunks : {2U, 4U, 8U, 16U, 64U, 1024U}) {
        const double time = microseconds(chunks);
        std::printf("double binary tree, %4u chunks: %10.2f us\n", chunks, time);
        EXPECT_GE(time, 2684.35);
        EXPECT_LE(time, previous);
        previous = time;
    }
}

TEST(Monotonicity, MoreBandwidthIsNeverSlowerAndMoreLatencyNeverFaster) {
    for (const char* algorithm : {"ring", "direct", "double_binary_tree"}) {
        Time previous_rate = Time::max();
        Time previous_latency;
        for (int step = 1; step <= 8; step *= 2) {
            experiment::CollectiveRequest request;
            request.kind = "all_reduce";
            request.algorithm = algorithm;
            request.sizes = {"1MiB"};
            request.chunks = 4;
            request.network = flat_network(6);
            request.overrides = {fmt::format("network.link.rate={}Gbps", 50 * step)};
            const Time faster = run_collective(request).run.execution.total;
            EXPECT_LE(faster, previous_rate) << algorithm;
            previous_rate = faster;
            request.overrides = {fmt::format("network.link.latency={}us", step)};
            const Time later = run_collective(request).run.execution.total;
            EXPECT_GE(later, previous_latency) << algorithm;
            previous_latency = later;
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
