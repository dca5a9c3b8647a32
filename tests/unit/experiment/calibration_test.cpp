/// Measured collectives: the fit, the logs, and what they do in a run (measured_collectives.hpp).
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/calibration/fit_plot.hpp>
#include <astrolabe/experiment/calibration/nccl_log.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

using system::CollectiveKind;

std::vector<MeasuredPoint> doubling(Bytes from, Bytes to, const std::function<Time(Bytes)>& time) {
    std::vector<MeasuredPoint> points;
    for (Bytes size = from; size <= to; size = size * 2) {
        points.push_back({size, time(size)});
    }
    return points;
}

// Made of two pieces, 10 us + S / 8 Gb/s up to 64 KiB and 30 us + S / 80 Gb/s beyond: no error is left.
TEST(Calibration, FindsThePiecesThatTimesAreMadeOf) {
    const auto points = doubling(1_KiB, 16_MiB, [](Bytes size) {
        return size <= 64_KiB ? 10_us + size / 8_Gbps : 70_us + size / 80_Gbps;
    });
    const MeasuredSeries series = fit_series(CollectiveKind::kAllReduce, 8, points);
    ASSERT_EQ(series.pieces.size(), 2U);
    EXPECT_EQ(series.from, 1_KiB);
    EXPECT_EQ(series.pieces[0].up_to, 64_KiB);
    EXPECT_NEAR(to_seconds(series.pieces[0].latency), 10e-6, 1e-10);
    EXPECT_NEAR(static_cast<double>(series.pieces[0].rate->count()), 8e9, 1e4);
    EXPECT_NEAR(to_seconds(series.pieces[1].latency), 70e-6, 1e-10);
    EXPECT_NEAR(static_cast<double>(series.pieces[1].rate->count()), 80e9, 1e5);
    EXPECT_LT(series.largest_error, 1e-5);
}

// Times that fall with size cannot be a latency and a rate: the least squares of the relative error of a
// constant c are least at Σ(1/t) / Σ(1/t²); of 2, 2 and 1 us that is (0.5 + 0.5 + 1) / (0.25 + 0.25 + 1) =
// 4/3 us.
TEST(Calibration, ARateIsNeverNegative) {
    const MeasuredSeries series =
        fit_series(CollectiveKind::kBroadcast, 2, {{1_KiB, 2_us}, {2_KiB, 2_us}, {4_KiB, 1_us}});
    ASSERT_EQ(series.pieces.size(), 1U);
    EXPECT_FALSE(series.pieces[0].rate);
    EXPECT_NEAR(to_seconds(series.pieces[0].latency), 4e-6 / 3, 1e-12);
    EXPECT_NEAR(series.largest_error, 1.0 / 3, 1e-6);
}

// Any number of points, too few for several pieces included.
TEST(Calibration, FitsAnyNumberOfSizes) {
    for (std::size_t count = 3; count <= 20; ++count) {
        std::vector<MeasuredPoint> points;
        for (std::size_t i = 0; i < count; ++i) {
            points.push_back({Bytes(std::int64_t{1} << i), 1_us + Bytes(std::int64_t{1} << i) / 1_Gbps});
        }
        const MeasuredSeries series = fit_series(CollectiveKind::kAllGather, 4, points);
        EXPECT_LT(series.largest_error, 1e-4) << count;
        EXPECT_EQ(series.pieces.back().up_to, points.back().size);
    }
}

MeasuredCollectives one_series(CollectiveKind kind, std::size_t ranks) {
    return {.machine = "made up",
            .series = {{.kind = kind,
                        .ranks = ranks,
                        .from = 1_KiB,
                        .pieces = {{.up_to = 1_MiB, .latency = 10_us, .rate = 8_Gbps},
                                   {.up_to = 16_MiB, .latency = 50_us, .rate = 80_Gbps}}}}};
}

TEST(Calibration, TimesAreLatencyAndBytesOverRate) {
    const MeasuredCollectives measured = one_series(CollectiveKind::kAllReduce, 8);
    const auto time = [&](Bytes size, std::size_t ranks) {
        return *measured_time(measured, CollectiveKind::kAllReduce, size, ranks);
    };
    EXPECT_EQ(time(1'000_B, 8).time, 11_us);  // 1 kB at 1 GB/s
    EXPECT_TRUE(time(1'000_B, 8).is_extrapolated) << "1 KiB was the smallest";
    EXPECT_EQ(time(10'000_B, 8).time, 20_us);
    EXPECT_FALSE(time(10'000_B, 8).is_extrapolated);
    EXPECT_EQ(time(2'000'000_B, 8).time, 250_us);  // 2 MB at 10 GB/s
    EXPECT_EQ(time(100'000'000_B, 8).time, 10'050_us);
    EXPECT_TRUE(time(100'000'000_B, 8).is_extrapolated);
    // 2(n-1)/n: 15/8 of 16 ranks over 14/8 of 8.
    EXPECT_EQ(time(2'000'000_B, 16).time, 50_us + Time(std::llround(200e6 * 15 / 14)));
    EXPECT_TRUE(time(2'000'000_B, 16).is_extrapolated);
    EXPECT_FALSE(measured_time(measured, CollectiveKind::kAllToAll, 1_MiB, 8));
    EXPECT_EQ(nccl_size(CollectiveKind::kAllGather, 1_MiB, 8), 8_MiB);
    EXPECT_EQ(nccl_size(CollectiveKind::kReduceScatter, 1_MiB, 8), 1_MiB);
}

// Steps of a ring over two nodes of 8: 2·15 for all_reduce, of them 2·1 across, beside 2·7 inside one node.
//     latency 10 us + (28 - 14)·0.5 us + 2·3 us = 23 us;   bytes 2 MB·15/14 over 10 GB/s = 214.29 us
// A node's eight interfaces of 1 GB/s carry 2 MB·15/8 = 3.75 MB in 468.75 us, which is longer.
TEST(Calibration, OtherNumbersOfRanksFollowByStepsAndInterfaces) {
    MeasuredCollectives measured = one_series(CollectiveKind::kAllReduce, 8);
    measured.series.front().pieces.front().latency = 50_us;
    measured.scaling = GroupScaling{.ranks_per_node = 8, .inside = 500_ns, .across = 3_us};
    const auto time = [&](CollectiveKind kind, Bytes size, std::size_t ranks) {
        return measured_time(measured, kind, size, ranks);
    };
    const Bytes size = 2'000'000_B;
    EXPECT_EQ(time(CollectiveKind::kAllReduce, size, 8)->time, 250_us) << "as it was measured";
    EXPECT_EQ(time(CollectiveKind::kAllReduce, size, 16)->time,
              50_us + 14 * 500_ns + 2 * 3_us + Time(std::llround(200e6 * 15 / 14)));
    measured.scaling->nic = 8_Gbps;
    EXPECT_EQ(time(CollectiveKind::kAllReduce, size, 16)->time, 50_us + 14 * 500_ns + 2 * 3_us + 468'750_ns);
    EXPECT_EQ(time(CollectiveKind::kAllReduce, size, 8)->time, 250_us) << "one node has no interface";
    // 4 ranks: 8 steps fewer.
    EXPECT_EQ(time(CollectiveKind::kAllReduce, size, 4)->time,
              50_us - 8 * 500_ns + Time(std::llround(200e6 * 6 / 7)));

    EXPECT_FALSE(time(CollectiveKind::kReduceScatter, size, 8));
    measured.other_kinds = true;
    // Half the bytes of an all-reduce and 7 of its 14 steps.
    EXPECT_EQ(time(CollectiveKind::kReduceScatter, size, 8)->time, 50_us - 7 * 500_ns + 100_us);
    EXPECT_TRUE(time(CollectiveKind::kReduceScatter, size, 8)->is_extrapolated);
    EXPECT_FALSE(time(CollectiveKind::kAllToAll, size, 8)) << "a ring says nothing of pairs";

    measured.series.front().launch = 30_us;
    EXPECT_EQ(time(CollectiveKind::kAllReduce, size, 8)->time, 250_us);
    measured.launches = true;
    EXPECT_EQ(time(CollectiveKind::kAllReduce, size, 8)->time, 280_us);
}

// Eight interfaces of a node carry (n - 8)/n of what eight ranks hold: with two nodes bus bandwidth is at
// most
//     S·(n-1)/n / (S·(n-8)/n / nic) = nic·15/8, near NIC·nodes/(nodes - 1) = 2 NIC.
TEST(Calibration, AnAllToAllOverNodesHasTheCeilingOfItsInterfaces) {
    MeasuredCollectives measured = one_series(CollectiveKind::kAllToAll, 8);
    measured.scaling = GroupScaling{.ranks_per_node = 8, .nic = 8_Gbps};
    measured.series.front().pieces.back().latency = Time(0);
    const Time time = measured_time(measured, CollectiveKind::kAllToAll, 16'000'000_B, 16)->time;
    EXPECT_EQ(time, 8_ms);
    const double bus_bandwidth = 16e6 * 15 / 16 / to_seconds(time);
    EXPECT_DOUBLE_EQ(bus_bandwidth, 1e9 * 15 / 8);
}

// Times made of 5 us + 0.5 us a step inside and 3 us a step across: both come back.
TEST(Calibration, StepsComeBackFromSeveralNumbersOfRanks) {
    std::vector<MeasuredSeries> series;
    for (const auto& [ranks, inside, across] : {std::tuple{2, 2, 0}, {4, 6, 0}, {8, 14, 0}, {16, 28, 2}}) {
        series.push_back(
            {.kind = CollectiveKind::kAllReduce,
             .ranks = static_cast<std::size_t>(ranks),
             .from = 8_B,
             .pieces = {
                 {.up_to = 1_KiB, .latency = 5_us + inside * 500_ns + across * 3_us, .rate = std::nullopt}}});
    }
    const std::optional<GroupScaling> scaling = fit_scaling(series, 8);
    ASSERT_TRUE(scaling);
    EXPECT_EQ(scaling->inside, 500_ns);
    EXPECT_EQ(scaling->across, 3_us);
    series.resize(1);
    EXPECT_FALSE(fit_scaling(series, 8));
}

// Eight V100 that take rings with LL: 6.6 us + 14·0.6 us = 15.0 us, and bytes at 39 GB/s·8/14. The recorded
// kernels of a step on eight V100, all of that protocol, took 20 to 23, 69 and 86 to 87 us.
TEST(NcclTuning, AllReducesOfARecordedStepAreWithinAThirdOfMeasured) {
    const NcclTuning tuning{.generation = GpuGeneration::kVolta,
                            .algorithms = {NcclAlgorithm::kRing},
                            .protocols = {NcclProtocol::kLl}};
    for (const auto& [size, expected, measured] : {std::tuple{448_B, 15.02, 23.0},
                                                   {907'840_B, 15 + 907.840 / 39 * 14 / 8, 69.0},
                                                   {1'576'964_B, 15 + 1576.964 / 39 * 14 / 8, 87.0}}) {
        const double time = to_seconds(nccl_choice(tuning, CollectiveKind::kAllReduce, size, 8)->time) * 1e6;
        EXPECT_NEAR(time, expected, 0.01) << to_string(size);
        EXPECT_LT(std::abs(time / measured - 1), 0.35) << to_string(size);
    }
}

TEST(NcclTuning, TakesTheLeastOfWhatIsAllowedAndKnowsNoAllToAll) {
    NcclTuning tuning{.generation = GpuGeneration::kAmpere};
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                      CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast}) {
        for (const std::size_t ranks : {2U, 8U, 16U, 64U}) {
            Time before;
            for (Bytes size = 8_B; size < 1_GiB; size = size * 4) {
                const NcclChoice all = *nccl_choice(tuning, kind, size, ranks);
                EXPECT_GE(all.time, before) << "more bytes never take less";
                before = all.time;
                NcclTuning one = tuning;
                one.algorithms = {all.algorithm};
                one.protocols = {all.protocol};
                EXPECT_EQ(nccl_choice(one, kind, size, ranks)->time, all.time);
                one.algorithms = {NcclAlgorithm::kRing};
                for (const NcclProtocol protocol :
                     {NcclProtocol::kLl, NcclProtocol::kLl128, NcclProtocol::kSimple}) {
                    one.protocols = {protocol};
                    EXPECT_GE(nccl_choice(one, kind, size, ranks)->time, all.time);
                }
            }
        }
    }
    EXPECT_FALSE(nccl_choice(tuning, CollectiveKind::kAllToAll, 1_MiB, 8));
    tuning.algorithms = {NcclAlgorithm::kTree};
    EXPECT_FALSE(nccl_choice(tuning, CollectiveKind::kAllGather, 1_MiB, 8));
}

TEST(Calibration, AFileReadsBackAsItWasWritten) {
    MeasuredCollectives measured = one_series(CollectiveKind::kAllToAll, 4);
    measured.series.front().mean_error = 0.25;
    measured.series.front().launch = 27_us;
    measured.scaling = GroupScaling{.ranks_per_node = 8, .inside = 600_ns, .across = 3_us, .nic = 200_Gbps};
    measured.other_kinds = true;
    const auto schema = measured_collectives_schema();
    const std::string text = to_yaml(schema.write(measured));
    ReadContext context;
    const auto read = schema.read(*parse_config(text, "machine.yaml"), context);
    ASSERT_TRUE(read) << render(context.errors());
    EXPECT_EQ(to_yaml(schema.write(*read)), text);

    for (const auto& [wrong, message] :
         {std::pair{"{machine: m, series: [{collective: all_reduce, ranks: 2, from: 1B, pieces: [{up_to: 2B, "
                    "latency: 1us}, {up_to: 2B, latency: 1us}]}]}",
                    "'pieces.1.up_to': a piece ends at 2B, the one before it at 2B"},
          std::pair{
              "{machine: m, series: [{collective: all_reduce, ranks: 2, from: 1B, pieces: {up_to: 2B, "
              "latency: 1us}}, {collective: all_reduce, ranks: 2, from: 1B, pieces: {up_to: 2B, latency: "
              "1us}}]}",
              "'series.1.collective': all_reduce of 2 ranks is there twice"}}) {
        ReadContext errors;
        (void)schema.read(*parse_config(wrong, "machine.yaml"), errors);
        ASSERT_EQ(errors.error_count(), 1U) << wrong;
        EXPECT_EQ(errors.errors().front().message, message);
    }
}

constexpr const char* kLog = R"(+ srun all_reduce_perf_mpi -b 8 -e 4K
0: # nThread 1 nGpus 1 minBytes 8 maxBytes 4096 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 graph: 1
0: # Using devices
0: #  Rank  0 Group  0 Pid 1 on node device  0 [0x1a] Some GPU
0: #  Rank  1 Group  0 Pid 2 on node device  1 [0x40] Some GPU
0: #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
0: #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
node: NCCL INFO something else
0:            0             0      half     sum      -1     1.0    0.00    0.00      0     1.0    0.00    0.00      0
0:         1024           512      half     sum      -1     10.5   0.10    0.10      0     10.0   0.10    0.10      0
0:         2048          1024      half     sum      -1     12.0   0.17    0.17    N/A     11.0   0.17    0.17    N/A
0:         2048          1024      half     sum      -1     14.0   0.15    0.15    N/A     11.0   0.17    0.17    N/A
0: # Avg bus bandwidth    : 1
)";

TEST(NcclLog, ReadsRowsRanksAndMachineWhateverStandsBetween) {
    const Result<NcclLog> log = parse_nccl_log(kLog, "slurm-12.out");
    ASSERT_TRUE(log) << render(log.error());
    EXPECT_EQ(log->kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(log->ranks, 2U);
    EXPECT_EQ(log->machine, "Some GPU");
    EXPECT_TRUE(log->is_graph);
    EXPECT_EQ(log->devices_per_process, 1U);
    ASSERT_EQ(log->points.size(), 2U);  // no row of size 0
    EXPECT_EQ(log->points[0].size, 1_KiB);
    EXPECT_EQ(log->points[0].time, 10_us + 500_ns);
    EXPECT_EQ(log->points[1].time, 13_us) << "the mean of equal sizes";
}

TEST(NcclLog, RefusesWhatItDoesNotUnderstandWithTheLine) {
    const std::string head = "# size count type time algbw busbw error time algbw busbw error\n# (B)\n";
    for (const auto& [rows, line, message] :
         {std::tuple{head + "8 2 float 1.0 0 0\n", 3, "a row of 6 fields, expected at least 11"},
          std::tuple{head + "8 2 float -1.0 0 0 N/A 1 0 0 N/A\n", 3, "'-1.0' where a time"},
          std::tuple{head + "8 2 float nan 0 0 N/A 1 0 0 N/A\n", 3, "'nan' where a time"},
          std::tuple{head + "8 2 float 1 0 0 3 1 0 0 0\n", 3, "the test found the result wrong ('3')"},
          std::tuple{head + "16 2 float 1 0 0 0 1 0 0 0\n8 2 float 1 0 0 0 1 0 0 0\n", 4, "size 8 after 16"},
          std::tuple{std::string("# nThread 9223372036854775807 nGpus 2\n"), 1,
                     "'9223372036854775807' after 1 devices of a process, expected 1 to 1048576"},
          std::tuple{std::string("# a\n# nThread 1024 nGpus 1025\n"), 2, "'1025' after 1024 devices"},
          std::tuple{std::string("# nThread 0 nGpus 1\n"), 1, "'0' after 1 devices"},
          std::tuple{std::string("8 2 float 1 0 0 0 1 0 0 0\n"), 1, "a row before the line with the names"},
          std::tuple{std::string("{\"json\": 1}\n"), 0, "no row of nccl-tests is in it"},
          std::tuple{std::string(), 0, "no row of nccl-tests is in it"}}) {
        const Result<NcclLog> log = parse_nccl_log(rows, "a.log");
        ASSERT_FALSE(log) << rows;
        EXPECT_EQ(log.error().front().where.line, line) << rows;
        EXPECT_NE(log.error().front().message.find(message), std::string::npos)
            << log.error().front().message;
    }
}

std::string shared_log(const std::string& name) {
    std::ifstream file(std::filesystem::path(ASTROLABE_SOURCE_DIR) / "../shared/data/dlrm/nccl-tests" / name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Pieces and errors as the reference for DLRM training found them independently, by least squares of the
// relative error: up to, latency in us, rate in GB/s; mean and largest error.
TEST(NcclLog, MeasuredMachinesAreFittedAsInTheReference) {
    struct Expected {
        const char* file;
        std::vector<std::array<double, 3>> pieces;
        double mean;
        double largest;
    };
    for (const Expected& expected :
         {Expected{"a100-40gb-x8-allreduce.log",
                   {{0x1p19, 35.1, 20.9}, {0x1p23, 64.6, 85.6}, {0x1p33, 104.4, 133.0}},
                   0.014,
                   0.047},
          Expected{"a100-40gb-x8-alltoall.log",
                   {{0x1p20, 87.3, 0}, {0x1p26, 79.0, 210.1}, {0x1p33, 115.0, 255.1}},
                   0.008,
                   0.026},
          Expected{"a100-40gb-x8-allgather.log",
                   {{0x1p19, 34.3, 22.1}, {0x1p24, 67.2, 158.1}, {0x1p33, 129.7, 251.6}},
                   0.018,
                   0.069},
          Expected{"a100-40gb-x8-broadcast.log",
                   {{0x1p19, 34.4, 22.3}, {0x1p23, 71.9, 354}, {0x1p33, 73.2, 228.8}},
                   0.014,
                   0.037}}) {
        const std::string text = shared_log(expected.file);
        if (text.empty()) {
            GTEST_SKIP() << "the measured logs are not here";
        }
        const Result<NcclLog> log = parse_nccl_log(text, expected.file);
        ASSERT_TRUE(log) << render(log.error());
        EXPECT_EQ(log->ranks, 8U);
        EXPECT_EQ(log->machine, "A100-SXM4-40GB");
        const MeasuredSeries series = fit_series(*log->kind, log->ranks, log->points);
        ASSERT_EQ(series.pieces.size(), expected.pieces.size()) << expected.file;
        for (std::size_t i = 0; i < series.pieces.size(); ++i) {
            const auto& [up_to, latency, rate] = expected.pieces[i];
            EXPECT_EQ(static_cast<double>(series.pieces[i].up_to.count()), up_to);
            EXPECT_NEAR(to_seconds(series.pieces[i].latency) * 1e6, latency, 0.06);
            EXPECT_EQ(series.pieces[i].rate.has_value(), rate > 0);
            if (rate > 0) {
                EXPECT_NEAR(to_bytes_per_second(*series.pieces[i].rate) / 1e9, rate, 0.6);
            }
        }
        EXPECT_NEAR(series.mean_error, expected.mean, 0.0005);
        EXPECT_NEAR(series.largest_error, expected.largest, 0.0005);
        EXPECT_LT(series.left_out_error, 0.05);
        EXPECT_LT(series.left_out_geometric_error, 0.10) << "the accuracy that is asked for";
    }
}

std::string experiment_with(const std::string& latency_of_links, const std::string& rate) {
    return fmt::format(R"(schema: astrolabe/1
workload: {{kind: collective, collective: all_reduce, size: 1MB}}
cluster:
  ranks: 4
  device: {{kind: roofline, peak: 1TFLOPS, memory_bandwidth: 1TB/s}}
  collectives: {{all_reduce: {{algorithm: ring, chunks: 1}}}}
  measured_collectives:
    machine: made up
    series: {{collective: all_reduce, ranks: 4, from: 1KB, pieces: {{up_to: 10MB, latency: 20us, rate: 100GB/s}}}}
network: {{kind: flat, hosts: 4, link: {{rate: {}, latency: {}}}}}
backend: {{kind: fluid}}
)",
                       rate, latency_of_links);
}

Experiment read(const std::string& text) {
    Result<Experiment> experiment =
        read_experiment(*parse_config(text, "measured.yaml"), {}, "measured", 1, builtin_components());
    EXPECT_TRUE(experiment) << render(experiment.error());
    return *std::move(experiment);
}

// The network alone needs 6 steps of 250 kB at 10 Tb/s, 0.2 us each and no latency: the machine's 20 us + 1
// MB at 100 GB/s = 30 us are the time. At 10 Gb/s a step takes 200 us: the network's 6 · 200 us are.
TEST(Calibration, ACollectiveTakesNoLessThanMeasuredAndNoLessThanTheNetworkNeeds) {
    const Experiment fast = read(experiment_with("0ns", "10Tbps"));
    const experiment::Run run = run_experiment(fast, {}, {});
    EXPECT_EQ(run.execution.total, 30_us);
    EXPECT_EQ(fast.measured->collectives, 1U);
    EXPECT_TRUE(fast.measured->extrapolated.empty());
    EXPECT_LE(run.bounds.value(), run.execution.total);
    EXPECT_EQ(run.bounds.value(), 30_us) << "what a machine takes at least is a bound";

    EXPECT_EQ(run_experiment(read(experiment_with("0ns", "10Gbps")), {}, {}).execution.total, 6 * 200_us);
}

// What lies beyond a series is named with the line of the series in its file.
TEST(Calibration, ARunBeyondWhatWasMeasuredWarnsWithTheLine) {
    std::string text = experiment_with("0ns", "10Tbps");
    EXPECT_TRUE(read(text).measured->warnings.empty());
    const std::string size = "size: 1MB";
    text.replace(text.find(size), size.size(), "size: 20MB");
    const MeasuredUse use = *read(text).measured;
    ASSERT_EQ(use.warnings.size(), 1U);
    EXPECT_EQ(use.warnings.front().where.to_string(), "measured.yaml:9:13");
    EXPECT_EQ(
        use.warnings.front().message,
        "all_reduce of 4 ranks was measured from 1KB to 10MB; all_reduce (all_reduce, 20MB of 4 ranks) is "
        "beyond");
}

// The tuning model in a run: 2·3 steps of 0.6 us beside 6.6 us, and 1 MB at min(12·20/2, 87.7)·4/6 GB/s.
TEST(NcclTuning, ARunTakesNoLess) {
    std::string text = experiment_with("0ns", "100Tbps");
    const std::size_t from = text.find("  measured_collectives:");
    text.replace(from, text.find("network:") - from,
                 "  nccl_tuning: {generation: ampere, algorithms: [ring], protocols: [ll]}\n");
    const Experiment experiment = read(text);
    EXPECT_EQ(experiment.measured->machine, "NCCL's tuning model");
    const double expected = 6.6 + 6 * 0.6 + 1000 / (87.7 * 4 / 6);
    EXPECT_NEAR(to_seconds(run_experiment(experiment, {}, {}).execution.total) * 1e6, expected, 1e-3);
}

TEST(Calibration, APictureHasEveryPointAndSafeNames) {
    const auto points = doubling(1_KiB, 1_MiB, [](Bytes size) { return 10_us + size / 8_Gbps; });
    const std::string svg =
        fit_plot("<script>&", {{fit_series(CollectiveKind::kAllReduce, 8, points), points}});
    std::size_t circles = 0;
    for (std::size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) {
        ++circles;
    }
    EXPECT_EQ(circles, points.size());
    EXPECT_NE(svg.find("&lt;script&gt;&amp;"), std::string::npos);
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace astrolabe::experiment
