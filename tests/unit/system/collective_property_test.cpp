// Every algorithm that comes with the project, carried out over random numbers of ranks, sizes, chunks and
// networks: it ends, and delivers exactly the bytes of its schedules.

#include "program_builder.hpp"
#include "schedule_checks.hpp"
#include "system/src/program/traffic.hpp"

#include <cstdint>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using system::CollectiveKind;
using system::OperationId;
using system::Position;

/// Spread over the whole range whatever RapidCheck's size.
template <class T>
T pick(T low, T end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, end));
}

/// Bytes that a collective must move in all, whatever the algorithm, if no byte is to be missing anywhere.
Bytes least_bytes(CollectiveKind kind, Position ranks, Bytes size) {
    switch (kind) {
        case CollectiveKind::kAllReduce:
            return size * (2 * (ranks - 1));  // N-1 vectors come together, N-1 copies go out
        case CollectiveKind::kReduceScatter:
            return size * (ranks - 1);
        case CollectiveKind::kAllGather:
            return size * ranks * (ranks - 1);
        case CollectiveKind::kAllToAll:
            return size * (ranks - 1);  // all N·S but what stays where it is, the N shares of one vector
        case CollectiveKind::kBroadcast:
        case CollectiveKind::kReduce:
        case CollectiveKind::kPointToPoint:
            return size * (ranks - 1);  // a copy for, or a vector of, everyone but the root
    }
    return {};
}

RC_GTEST_PROP(BuiltinAlgorithms, DeliverExactlyTheBytesOfTheirSchedules, ()) {
    const auto ranks = pick<Position>(2, 25);
    const Bytes size(pick<std::int64_t>(1, 5000));
    const auto chunks = pick<std::uint32_t>(1, 6);
    const auto active_chunks = pick<std::uint32_t>(1, 4);
    const Time injection_latency(*rc::gen::element(0, 300));
    const std::vector<Time> cost = *rc::gen::container<std::vector<Time>>(
        std::size_t{ranks} * ranks, rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 3000)),
                                                 [](int count) { return Time(count); }));
    for (const NamedAlgorithm& entry : builtin_algorithms()) {
        for (const CollectiveKind kind : system::kAllKinds) {
            if (entry.algorithm->unsupported(kind, ranks)) {
                continue;
            }
            FakeBackend backend(ranks, [&](const network::Message& message) {
                return cost[message.source.index() * ranks + message.destination.index()] +
                       Time(message.size.count());
            });
            ProgramBuilder builder(ranks);
            const OperationId alone = builder.collective("alone", {.kind = kind, .size = size});
            system::SystemOptions options = options_with(entry.algorithm, chunks, active_chunks);
            options.end_point.injection_latency = injection_latency;
            system::Executor executor(builder.program(), options, backend, host_of_each_rank(ranks));
            const system::ExecutionReport report = executor.run();
            RC_ASSERT(report.stall == "");
            RC_ASSERT(report.finished);

            const system::Traffic traffic =
                traffic_of(*entry.algorithm, kind, ranks, size,
                           system::chunk_count(size, options.minimum_chunk, chunks));
            RC_ASSERT(report.operations[alone].bytes_sent == traffic.bytes());
            RC_ASSERT(report.operations[alone].messages == traffic.messages());
            RC_ASSERT(backend.statistics().bytes_delivered == traffic.bytes());
            RC_ASSERT(backend.statistics().messages == traffic.messages());
            RC_ASSERT(backend.outstanding_messages() == 0U);
            RC_ASSERT(traffic.bytes() >= least_bytes(kind, ranks, size));
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
