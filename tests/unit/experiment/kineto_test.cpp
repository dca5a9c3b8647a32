/// Kineto traces: the reader, and what recorded steps say (kineto_trace.hpp, recorded_steps.hpp).
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/calibration/kineto_trace.hpp>
#include <astrolabe/experiment/calibration/recorded_steps.hpp>

namespace astrolabe::experiment {
namespace {

using system::CollectiveKind;

Result<KinetoTrace> read_text(const std::string& text) {
    std::istringstream stream(text);
    return read_kineto_trace(stream, "trace.json");
}

std::string event(const std::string& category, const std::string& name, const std::string& start,
                  const std::string& duration, const std::string& arguments = "") {
    return fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": 7, "ts": {}, "dur": {}, "args": {{{}}}}})",
        category, name, start, duration, arguments);
}

std::string trace_of(const std::vector<std::string>& events, int rank = 0) {
    return fmt::format(
        "{{\"deviceProperties\": [{{\"id\": 0, \"name\": \"Some GPU\"}}],\n"
        "\"distributedInfo\": {{\"rank\": {}, \"world_size\": 2}},\n\"traceEvents\": [\n{}\n]}}\n",
        rank, fmt::join(events, ",\n"));
}

TEST(Kineto, ReadsEventsToTheNanosecondAndPassesOverOthers) {
    const Result<KinetoTrace> trace = read_text(trace_of(
        {R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}})",
         R"({"ph": "s", "id": 3, "pid": 1, "tid": 7, "ts": 10, "cat": "ac2g", "name": "ac2g"})",
         event("kernel", "later", "1694128201428473.25", "8", R"("stream": 7, "correlation": 5)"),
         event("kernel", "first", "1694128201428473.1", "0.75", R"("stream": 7, "correlation": 4)"),
         event("gpu_memcpy", "copy", "1694128201428480", "1", R"("stream": 22, "correlation": 6)"),
         event("cuda_runtime", "cudaLaunchKernel", "1694128201428470", "2", R"("correlation": 4)"),
         event("cpu_op", "aten::mm", "1694128201428470", "2"),
         event("cpu_op", "c10d::alltoall_base_", "5", "2",
               R"("Input Dims": [[4, 3], [6], [], []], "Input type": ["float", "long int", "", "Scalar"])"),
         event("kernel", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "1694128201428490", "5",
               R"("stream": 30, "correlation": 9, "Collective name": "all_to_allv", "In msg nelems": 10,
                  "Out msg nelems": 12, "Group size": 2, "dtype": "BFloat16", "In split size": "[3,7]")")}));
    ASSERT_TRUE(trace) << render(trace.error());
    EXPECT_EQ(trace->rank, 0U);
    EXPECT_EQ(trace->ranks, 2U);
    EXPECT_EQ(trace->device, "Some GPU");
    ASSERT_EQ(trace->device_events.size(), 4U);
    EXPECT_EQ(trace->name_of(trace->device_events[0].name), "first") << "by start";
    EXPECT_EQ(trace->device_events[0].start, 1'694'128'201'428'473'100);
    EXPECT_EQ(trace->device_events[0].duration, 750);
    EXPECT_EQ(trace->device_events[1].start, 1'694'128'201'428'473'250);
    EXPECT_FALSE(trace->device_events[2].is_kernel);
    EXPECT_EQ(trace->device_events[3].sent, 20_B);
    EXPECT_EQ(trace->device_events[3].received, 24_B);
    EXPECT_EQ(trace->calls.size(), 1U);
    ASSERT_EQ(trace->collectives.size(), 1U);
    EXPECT_EQ(trace->collectives[0].tensors, (std::vector<Bytes>{48_B, 48_B}));
}

TEST(Kineto, RefusesWhatItDoesNotUnderstandWithThePlace) {
    const std::string kernel = event("kernel", "k", "1", "1", R"("stream": 7, "correlation": 4)");
    for (const auto& [text, line, message] :
         {std::tuple{std::string("{\"traceEvents\": [\n{\"ph\": \"X\",\n"), 3, "this is no JSON"},
          std::tuple{std::string("# a log\n"), 1, "this is no JSON"},
          std::tuple{std::string("{\"schema\": \"1.0\",\n\"nodes\": []}"), 2, "no 'traceEvents'"},
          std::tuple{trace_of({kernel, event("kernel", "k", "1", "1", R"("stream": 7)")}), 5,
                     "an event 'k' of category 'kernel' has no 'correlation'"},
          std::tuple{trace_of({event("kernel", "k", "1", "1", R"("correlation": 7)")}), 4, "has no 'stream'"},
          std::tuple{trace_of({event("cuda_runtime", "c", "1", "-1", R"("correlation": 7)")}), 4,
                     "has no 'dur' that is 0 or more"},
          std::tuple{trace_of({event("kernel", "k", "1e9", "1", R"("stream": 7, "correlation": 4)")}), 4,
                     "'ts' is 1e9 where a number of microseconds is expected"},
          std::tuple{
              trace_of({event("kernel", "k", "1", "1",
                              R"("stream": 7, "correlation": 4, "In msg nelems": 1, "Out msg nelems": 1,
                                        "dtype": "Quaternion")")}),
              5, "elements of type 'Quaternion'"}}) {
        const Result<KinetoTrace> trace = read_text(text);
        ASSERT_FALSE(trace) << text;
        EXPECT_EQ(trace.error().front().where.line, line) << trace.error().front().render();
        EXPECT_EQ(trace.error().front().where.source->name, "trace.json");
        EXPECT_NE(trace.error().front().message.find(message), std::string::npos)
            << trace.error().front().message;
    }
}

/// Of NCCL, that has sent so many floats.
std::string sending(const std::string& elements) {
    return event("kernel", "ncclDevKernel_SendRecv(x)", "1", "1",
                 "\"stream\": 7, \"correlation\": 4, \"Out msg nelems\": 1, \"dtype\": \"Float\", \"In msg "
                 "nelems\": " +
                     elements);
}

// 2^40 floats of 4 bytes are 4 TiB, the most. 4e15 us are 126 years, the latest. 86,400 s are a day, the most
// that all events last.
TEST(Kineto, NumbersThatNoTraceHasAreRefusedWithThePlace) {
    const std::string id = R"("stream": 7, "correlation": 4)";
    EXPECT_EQ(read_text(trace_of({sending("1099511627776")}))->device_events[0].sent,
              Bytes(std::int64_t{4} << 40));
    EXPECT_TRUE(read_text(trace_of({event("kernel", "k", "4000000000000000", "86400000000", id)})));
    for (const auto& [events, line, message] :
         {std::tuple{std::vector{sending("1099511627777")}, 4,
                     "a message of 1099511627777 elements of 4 bytes"},
          std::tuple{std::vector{sending("9223372036854775807")}, 4,
                     "a message of 9223372036854775807 elements"},
          std::tuple{std::vector{sending("-1")}, 4, "a message of -1 elements"},
          std::tuple{std::vector{event("kernel", "k", "4000000000000001", "1", id)}, 4,
                     "'ts' is 4000000000000001 where"},
          std::tuple{std::vector{event("kernel", "k", "1", "9223372036854775", id)}, 4,
                     "'dur' is 9223372036854775 where"},
          std::tuple{
              std::vector{event("kernel", "k", "1", "86400000000", id), event("kernel", "l", "1", "1", id)},
              5, "events up to 'l' last more than a day"},
          std::tuple{std::vector{event("user_annotation", "a", "1", "1",
                                       R"("Input Dims": [[2199023255552, 2]], "Input type": ["bool"])"),
                                 event("user_annotation", "b", "1", "1",
                                       R"("Input Dims": [[2199023255552, 3]], "Input type": ["bool"])")},
                     5, "a tensor with a side of 3"}}) {
        const Result<KinetoTrace> trace = read_text(trace_of(events));
        ASSERT_FALSE(trace) << message;
        EXPECT_EQ(trace.error().front().where.line, line) << trace.error().front().render();
        EXPECT_NE(trace.error().front().message.find(message), std::string::npos)
            << trace.error().front().message;
    }
    const Result<KinetoTrace> world = read_text("{\"distributedInfo\": {\"world_size\": 1048577}}");
    ASSERT_FALSE(world);
    EXPECT_NE(world.error().front().message.find("'world_size' is 1048577"), std::string::npos);
}

TEST(Kineto, WhatIsHeldAtATimeIsBounded) {
    const Result<KinetoTrace> deep = read_text("{\"x\":\n" + std::string(100, '['));
    ASSERT_FALSE(deep);
    EXPECT_NE(deep.error().front().message.find("more than 100 inside each other"), std::string::npos)
        << deep.error().front().message;
    EXPECT_EQ(deep.error().front().where.to_string(), "trace.json:2:100");  // with the object, the 101st
    // 16 MiB, and no more than a buffer of 64 KiB behind them.
    const Result<KinetoTrace> large =
        read_text("{\"traceEvents\": [\n{\"name\": \"" + std::string(17U << 20U, 'x') + "\"}]}");
    ASSERT_FALSE(large);
    EXPECT_NE(large.error().front().message.find("more than 16777216 bytes"), std::string::npos)
        << large.error().front().message;
    EXPECT_GT(large.error().front().where.column, 16 << 20);
    EXPECT_LT(large.error().front().where.column, (16 << 20) + (128 << 10));
    // What is passed over is not held: 34 events of half a mebibyte are read.
    const std::string passed = R"({"ph": "M", "name": ")" + std::string(512U << 10U, 'x') + "\"}";
    EXPECT_TRUE(read_text(trace_of(std::vector<std::string>(34, passed))));
    EXPECT_NE(read_kineto_trace("/dev/null").error().front().message.find("no regular file"),
              std::string::npos);
}

/// A step of 100 us from `start`: forward 10 to 50 us with two launches and 20 us of waiting, an all-reduce
/// that starts `late` us after 60 us.
std::string small_trace(int rank, int start, int late) {
    const auto at = [start](int offset) { return std::to_string(start + offset); };
    return trace_of({event("user_annotation", "ProfilerStep#3", at(0), "100"),
                     event("user_annotation", "## forward ##", at(10), "40"),
                     event("cuda_runtime", "cudaLaunchKernel", at(11), "2", R"("correlation": 1)"),
                     event("cuda_runtime", "cudaStreamSynchronize", at(14), "15", R"("correlation": 2)"),
                     event("cuda_runtime", "cudaMemcpyAsync", at(30), "5", R"("correlation": 3)"),
                     event("cuda_runtime", "cudaLaunchKernel", at(40), "4", R"("correlation": 4)"),
                     event("user_annotation", "nccl:all_reduce", at(55), "5",
                           R"("Input Dims": [[250]], "Input type": ["float"])"),
                     event("cuda_runtime", "cudaLaunchKernelExC", at(57), "2", R"("correlation": 5)"),
                     event("kernel", "before", at(1), "7", R"("stream": 7, "correlation": 99)"),
                     event("kernel", "a", at(20), "3", R"("stream": 7, "correlation": 1)"),
                     event("kernel", "b", at(45), "6", R"("stream": 7, "correlation": 4)"),
                     event("kernel", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", at(60 + late),
                           std::to_string(30 - late), R"("stream": 9, "correlation": 5)")},
                    rank);
}

// Host of the forward: 40 - 15 - 5 = 20 us with 2 launches; compute 3 + 6 us, and one kernel of the step
// before. The all-reduce ends at 90 us on both; rank 1 comes last, at 75 us, so it takes 15 us on its own.
TEST(Kineto, AStepIsItsPhasesItsKernelsAndItsCollectives) {
    std::vector<TraceRecord> records;
    for (const auto& [rank, late] : {std::pair{0, 0}, {1, 15}}) {
        const Result<TraceRecord> record = record_steps(*read_text(small_trace(rank, 1000, late)));
        ASSERT_TRUE(record) << render(record.error());
        records.push_back(*record);
    }
    const StepRecord& step = records[0].steps.at(0);
    EXPECT_EQ(step.duration, 100'000);
    EXPECT_EQ(step.phase(StepPhase::kForward).host, 20'000);
    EXPECT_EQ(step.phase(StepPhase::kForward).blocked, 20'000);
    EXPECT_EQ(step.phase(StepPhase::kForward).launches, 2U);
    EXPECT_FALSE(step.phase(StepPhase::kBackward).is_there);
    EXPECT_EQ(step.compute, 9'000);
    EXPECT_EQ(step.kernels, 3U);
    EXPECT_EQ(records[0].kernels_of_step_before, 1U);

    const Result<std::vector<RecordedCollective>> matched = match_collectives(records);
    ASSERT_TRUE(matched) << render(matched.error());
    ASSERT_EQ(matched->size(), 1U);
    const RecordedCollective& all_reduce = matched->front();
    EXPECT_EQ(all_reduce.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(all_reduce.protocol, "RING_LL");
    EXPECT_EQ(all_reduce.sent, 1000_B);
    EXPECT_EQ(all_reduce.first_start, 60'000);
    EXPECT_EQ(all_reduce.last_start, 75'000);
    EXPECT_EQ(all_reduce.least_pure, 15'000);
    EXPECT_FALSE(all_reduce.waits_for_stragglers);
    EXPECT_FALSE(all_reduce.clocks_disagree);
}

TEST(Kineto, RefusesTracesThatDoNotBelongTogether) {
    const Result<TraceRecord> record = record_steps(*read_text(small_trace(0, 0, 0)));
    EXPECT_NE(match_collectives({*record, *record}).error().front().message.find("rank 0 is there twice"),
              std::string::npos);
    TraceRecord other = *record;
    other.rank = 1;
    other.steps.front().collectives.clear();
    EXPECT_NE(match_collectives({*record, other}).error().front().message.find("missing"), std::string::npos);
    other.steps.clear();
    EXPECT_NE(match_collectives({*record, other}).error().front().message.find("it has 0 steps"),
              std::string::npos);
    EXPECT_NE(record_steps(*read_text(trace_of({}))).error().front().message.find("no step is in it"),
              std::string::npos);
    const std::string overlap = trace_of({event("user_annotation", "ProfilerStep#3", "0", "100"),
                                          event("user_annotation", "ProfilerStep#4", "99", "100")});
    EXPECT_NE(record_steps(*read_text(overlap)).error().front().message.find("begins before"),
              std::string::npos);
    // Clocks of two hosts: the same collective ends 60 us later on one of them.
    TraceRecord later = *record;
    later.rank = 1;
    later.steps.front().collectives.front().end += 60'000;
    EXPECT_TRUE(match_collectives({*record, later})->front().clocks_disagree);
}

// A call of half a day in three phases that overlap is 1.5 days of waiting, where all events last half a day.
TEST(Kineto, PhasesThatCountCallsTooOftenAreRefused) {
    const std::string phase = event("user_annotation", "## forward ##", "1", "10");
    const Result<TraceRecord> record = record_steps(*read_text(trace_of(
        {event("user_annotation", "ProfilerStep#3", "0", "100"), phase, phase, phase,
         event("cuda_runtime", "cudaStreamSynchronize", "2", "43200000000", R"("correlation": 1)")})));
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().front().message, "calls in 'forward' of 'ProfilerStep#3' take more than a day");
}

/// One launch in a forward of `milliseconds`, or as many as are asked for.
TraceRecord forward_of(std::size_t rank, std::int64_t milliseconds, std::size_t launches) {
    TraceRecord record{.file = "trace.json", .fingerprint = "", .device = "", .rank = rank, .steps = {}};
    StepRecord& step = record.steps.emplace_back();
    step.kernels = launches;
    PhaseRecord& forward = step.phases[static_cast<std::size_t>(StepPhase::kForward)];
    forward = {.is_there = true, .host = milliseconds * 1'000'000, .blocked = 0, .launches = launches};
    return record;
}

/// One step of 1 s, all of which is `phases` annotations of the forward pass at once; in it `calls` launches
/// of collectives and as many waits, of 1 ns each.
KinetoTrace overlapping_phases(std::size_t phases, std::size_t calls) {
    KinetoTrace trace;
    trace.rank = 0;
    trace.names = {"ProfilerStep#1",
                   "## forward ##",
                   "cudaLaunchKernel",
                   "cudaStreamSynchronize",
                   "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                   "c10d::allreduce_"};
    trace.annotations.push_back({0, 0, 1'000'000'000});
    for (std::size_t i = 0; i < phases; ++i) {
        trace.annotations.push_back({1, 0, 1'000'000'000});
    }
    for (std::size_t i = 0; i < calls; ++i) {
        const auto start = static_cast<Nanoseconds>(10 * i);
        const auto correlation = static_cast<std::int64_t>(i);
        trace.calls.push_back({2, start + 1, 1, 1, correlation});
        trace.calls.push_back({3, start + 5, 1, 1, -1 - correlation});
        trace.collectives.push_back({5, start, 3, 1});
        trace.device_events.push_back({4, true, start + 2, 1, 1, correlation, Bytes(8), Bytes(8)});
    }
    return trace;
}

// Each of 20,000 phases has all 40,000 calls and 20,000 collectives: one by one they are 1.2e9 steps.
TEST(Kineto, OverlappingPhasesAreCountedInTheTimeOfOne) {
    constexpr std::size_t kMany = 20'000;
    const std::clock_t start = std::clock();
    const Result<TraceRecord> record = record_steps(overlapping_phases(kMany, kMany));
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    ASSERT_TRUE(record) << render(record.error());
    const PhaseRecord& forward = record->steps.at(0).phases[static_cast<std::size_t>(StepPhase::kForward)];
    EXPECT_EQ(forward.launches, kMany * kMany);
    EXPECT_EQ(forward.collectives, kMany * kMany);
    EXPECT_EQ(forward.collective_calls, Nanoseconds{3 * kMany * kMany});
    EXPECT_EQ(forward.blocked, Nanoseconds{kMany * kMany});
    EXPECT_EQ(forward.host, Nanoseconds{kMany * (1'000'000'000 - kMany)});
    EXPECT_LT(taken, 1.5);
}

// Rank 1 has 10,000 launches, rank 0 one of half a day: 10,000 of these are 5,000 days, and a time has at
// most 2^63 ps, 106 days.
TEST(Kineto, HostTimesBeyondTheLongestAreTheLongest) {
    const HostFit fit = fit_host({forward_of(0, 43'200'000, 1), forward_of(1, 10, 10'000)});
    EXPECT_EQ(fit.ranks.at(1).measured, 10_ms);
    EXPECT_EQ(fit.ranks.at(1).fitted, Time(std::numeric_limits<std::int64_t>::max()));
    EXPECT_EQ(fit.ranks.at(0).fitted, 1_us);
}

/// Of a step of eight V100 of which all ranks were traced; empty where the traces are not there.
std::vector<TraceRecord> recorded_v100(const std::vector<int>& ranks) {
    std::vector<TraceRecord> records;
    for (const int rank : ranks) {
        const std::filesystem::path path =
            std::filesystem::path(ASTROLABE_SOURCE_DIR) /
            fmt::format("../shared/data/traces/pytorch/dlrm-8xV100/kineto.{}.json.gz", rank);
        if (!std::filesystem::exists(path)) {
            return {};
        }
        const Result<KinetoTrace> trace = read_kineto_trace(path);
        EXPECT_TRUE(trace) << render(trace.error());
        const Result<TraceRecord> record = record_steps(*trace);
        EXPECT_TRUE(record) << render(record.error());
        records.push_back(*record);
    }
    return records;
}

// As the reference for DLRM training found them independently in the same files: step, kernels, compute,
// received lookups (int32), lookup forward, backward with update, its sort; microseconds.
TEST(Kineto, ARecordedStepOfEightV100HasTheFiguresOfTheReference) {
    const std::vector<TraceRecord> records = recorded_v100({0, 1, 2, 4, 7});
    if (records.empty()) {
        GTEST_SKIP() << "the recorded traces are not here";
    }
    struct Row {
        std::size_t rank;
        std::array<Nanoseconds, 6> figures;
        std::size_t kernels;
        std::int64_t lookups;
    };
    const std::array<Row, 5> rows{{{0, {14'455, 1'034, 7, 74, 12}, 245, 768},
                                   {1, {19'901, 1'246, 9, 91, 14}, 310, 1'792},
                                   {2, {13'017, 1'068, 12, 100, 14}, 246, 2'304},
                                   {4, {17'979, 1'126, 22, 139, 57}, 251, 4'736},
                                   {7, {12'509, 1'059, 9, 96, 12}, 246, 1'920}}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const TraceRecord& record = records[i];
        const StepRecord& step = record.steps.at(0);
        const std::array<Nanoseconds, 6>& us = rows[i].figures;
        EXPECT_EQ(record.rank, rows[i].rank);
        EXPECT_EQ(record.device, "Tesla V100-SXM2-32GB");
        EXPECT_EQ(step.duration, us[0] * 1000);
        EXPECT_EQ(step.kernels + record.kernels_of_step_before, rows[i].kernels);
        EXPECT_EQ(record.kernels_of_step_before, record.rank == 1 ? 64U : 0U);
        EXPECT_EQ(step.compute + record.compute_of_step_before, us[1] * 1000);
        EXPECT_EQ(step.lookup_forward, us[2] * 1000);
        ASSERT_EQ(step.updates.size(), 2U) << "replicated tables, then the others";
        EXPECT_EQ(step.updates[0].optimizer, "dense");
        EXPECT_EQ(step.updates[1].optimizer, "adagrad");
        EXPECT_EQ(step.updates[1].time, us[3] * 1000);
        EXPECT_EQ(step.updates[1].sort, us[4] * 1000);
        ASSERT_EQ(step.collectives.size(), 8U);
        EXPECT_EQ(step.collectives[3].received, Bytes(4 * rows[i].lookups));
        EXPECT_GE(step.host(), 12'133'000);
        EXPECT_LE(step.host(), 12'841'000);
        const auto in_range = [&](StepPhase phase, Nanoseconds low, Nanoseconds high, std::size_t launches) {
            EXPECT_GE(step.phase(phase).host, low * 1000) << to_string(phase);
            EXPECT_LE(step.phase(phase).host, high * 1000) << to_string(phase);
            if (launches > 0) {
                EXPECT_EQ(step.phase(phase).launches, launches) << to_string(phase);
            }
        };
        in_range(StepPhase::kNextBatch, 1'302, 1'553, 0);
        in_range(StepPhase::kForward, 3'238, 3'372, 64);
        in_range(StepPhase::kSparseDataDist, 1'383, 1'442, 11);
        in_range(StepPhase::kBackward, 4'328, 5'288, 0);
        in_range(StepPhase::kOptimizer, 1'397, 1'439, 64);
        EXPECT_GE(step.phase(StepPhase::kBackward).launches, 106U);
        EXPECT_LE(step.phase(StepPhase::kBackward).launches, 112U);
        const Nanoseconds zero =
            step.phase(StepPhase::kZeroGradient).host + step.phase(StepPhase::kWaitForBatch).host;
        EXPECT_GE(zero, 179'000);
        EXPECT_LE(zero, 202'000);
    }
}

// The table of the eight collectives: bytes, starts of the first and the last rank, and the time
// from the last start to the ends.
TEST(Kineto, TheEightRecordedCollectivesHaveTheBytesAndPureTimesOfTheReference) {
    const std::vector<TraceRecord> records = recorded_v100({0, 1, 2, 3, 4, 5, 6, 7});
    if (records.empty()) {
        GTEST_SKIP() << "the recorded traces are not here";
    }
    const Result<std::vector<RecordedCollective>> matched = match_collectives(records);
    ASSERT_TRUE(matched) << render(matched.error());
    struct Row {
        CollectiveKind kind;
        Bytes sent;
        std::array<Nanoseconds, 4> us;  // first start, last start, least and most pure time
    };
    const std::array<Row, 8> rows{{{CollectiveKind::kAllToAll, 24'576_B, {3'101, 10'725, 10, 11}},
                                   {CollectiveKind::kAllToAll, 192_B, {12'404, 13'505, 8, 8}},
                                   {CollectiveKind::kAllToAll, 1'536_B, {13'738, 13'906, 7, 8}},
                                   {CollectiveKind::kAllToAll, 13'568_B, {13'914, 14'039, 7, 8}},
                                   {CollectiveKind::kAllReduce, 1'576'964_B, {15'035, 15'258, 86, 86}},
                                   {CollectiveKind::kAllToAll, 24'576_B, {16'553, 17'087, 10, 11}},
                                   {CollectiveKind::kAllReduce, 448_B, {17'098, 17'682, 20, 23}},
                                   {CollectiveKind::kAllReduce, 907'840_B, {18'179, 19'064, 69, 69}}}};
    ASSERT_EQ(matched->size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const RecordedCollective& one = (*matched)[i];
        EXPECT_EQ(one.kind, rows[i].kind) << i;
        EXPECT_EQ(one.sent, rows[i].sent) << i;
        EXPECT_EQ(one.first_start, rows[i].us[0] * 1000) << i;
        EXPECT_EQ(one.last_start, rows[i].us[1] * 1000) << i;
        // The reference gives the last end; all ranks end within 8 us.
        EXPECT_NEAR(static_cast<double>(one.most_pure), static_cast<double>(rows[i].us[3]) * 1e3, 1e3) << i;
        EXPECT_LE(one.least_pure, rows[i].us[2] * 1000) << i;
        EXPECT_LE(one.most_pure - one.least_pure, 8'000) << i;
        EXPECT_FALSE(one.clocks_disagree) << i;
        EXPECT_EQ(one.waits_for_stragglers, i < 2) << "the profiler's start";
        EXPECT_EQ(one.protocol, one.kind == CollectiveKind::kAllReduce ? "RING_LL" : "RING_SIMPLE") << i;
    }
}

// Of five of the ranks the last start may be missing: no time from the last start is less than that of all.
TEST(Kineto, TimesOfSomeRanksAreUpperBounds) {
    const std::vector<TraceRecord> all = recorded_v100({0, 1, 2, 3, 4, 5, 6, 7});
    const std::vector<TraceRecord> some = recorded_v100({0, 1, 2, 4, 7});
    if (all.empty()) {
        GTEST_SKIP() << "the recorded traces are not here";
    }
    const auto of_all = *match_collectives(all);
    const auto of_some = *match_collectives(some);
    for (std::size_t i = 0; i < of_all.size(); ++i) {
        EXPECT_GE(of_some[i].most_pure + 5'000, of_all[i].most_pure) << "to the clocks' few microseconds";
    }
    EXPECT_GT(of_some[5].least_pure, 5 * of_all[5].least_pure) << "rank 5 came last to the sixth";
}

// The host's time of a rank by the costs of the seven others is within 10 %; launches as the reference has
// them, 41 to 53 us before the calls of collectives are taken out.
TEST(Kineto, HostCostsOfSevenRanksGiveTheHostTimeOfTheEighth) {
    const std::vector<TraceRecord> records = recorded_v100({0, 1, 2, 3, 4, 5, 6, 7});
    if (records.empty()) {
        GTEST_SKIP() << "the recorded traces are not here";
    }
    const HostFit fit = fit_host(records);
    const auto us = [](Time time) { return to_seconds(time) * 1e6; };
    EXPECT_NEAR(us(fit.costs.forward_launch), 52, 2);
    EXPECT_NEAR(us(fit.costs.backward_launch), 41, 4);
    EXPECT_NEAR(us(fit.costs.optimizer_launch), 22, 1);
    EXPECT_NEAR(us(fit.costs.collective), 79, 9) << "70 to 88 us a call";
    EXPECT_NEAR(us(fit.costs.batch), 1'430, 130);
    EXPECT_NEAR(us(fit.kernel), 4.4, 0.3);
    ASSERT_EQ(fit.ranks.size(), 8U);
    for (const HostFit::Rank& rank : fit.ranks) {
        EXPECT_NEAR(us(rank.fitted) / us(rank.measured), 1, 0.1) << rank.rank;
    }
}

// Another machine and a newer profiler, whose kernels of NCCL say their sizes: 21 of them, and 2,679 others.
TEST(Kineto, ReadsATraceThatHasSizesOnItsKernels) {
    const std::filesystem::path path = std::filesystem::path(ASTROLABE_SOURCE_DIR) /
                                       "../shared/data/traces/kineto/resnet_2gpu_rank0_kineto.json.gz";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "the recorded trace is not here";
    }
    const Result<KinetoTrace> trace = read_kineto_trace(path);
    ASSERT_TRUE(trace) << render(trace.error());
    std::size_t nccl = 0;
    std::size_t with_size = 0;
    std::size_t others = 0;
    for (const DeviceEvent& kernel : trace->device_events) {
        if (kernel.is_kernel) {
            const bool is_nccl = trace->name_of(kernel.name).starts_with("nccl");
            nccl += is_nccl ? 1 : 0;
            others += is_nccl ? 0 : 1;
            with_size += kernel.sent ? 1 : 0;
        }
    }
    EXPECT_EQ(nccl, 21U);
    EXPECT_EQ(with_size, 21U);
    EXPECT_EQ(others, 2'679U);
}

}  // namespace
}  // namespace astrolabe::experiment
