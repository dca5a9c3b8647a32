/// One collective by itself, which every rank waits for: what nccl-tests measures, as a workload.
///
/// Size means what nccl-tests means by it: bytes held per rank before (all_reduce, reduce_scatter,
/// all_to_all, reduce), bytes of the result (all_gather, where each rank contributes size/N; the size is
/// rounded down to a multiple of N), bytes that the root or a sender has (broadcast, point_to_point).
///
/// point_to_point: rank i of the first half sends to rank i + N/2, all pairs at once.
///
/// all_to_all_v, with size the mean over ranks and imbalance R = max/mean: rank 0 holds R times the mean, the
/// others share the rest evenly, and every rank has as much for every one of the N (itself included, which is
/// not sent). The size is rounded down to a multiple of N. With N = 4, 8 MB and R = 3, rank 0 holds 24 MB and
/// has 6 MB for each, the others hold 8/3 MB.
#include "../register.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::workload {
namespace {

enum class MeasuredCollective : std::uint8_t { kAllToAllV = system::kCollectiveKinds };

struct CollectiveParameters {
    MeasuredCollective collective{};
    Bytes size;
    double imbalance = 1.0;

    [[nodiscard]] bool is_uneven() const { return collective == MeasuredCollective::kAllToAllV; }
    [[nodiscard]] system::CollectiveKind kind() const {
        return is_uneven() ? system::CollectiveKind::kAllToAll
                           : static_cast<system::CollectiveKind>(collective);
    }
};

}  // namespace
}  // namespace astrolabe::workload

namespace astrolabe {

template <>
struct EnumNames<workload::MeasuredCollective> {
    using Collective = workload::MeasuredCollective;
    static inline const auto kNames = [] {
        std::array<std::pair<std::string_view, Collective>, system::kCollectiveKinds + 1> names;
        for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
            names[kind] = {system::to_string(static_cast<system::CollectiveKind>(kind)),
                           static_cast<Collective>(kind)};
        }
        names.back() = {"all_to_all_v", Collective::kAllToAllV};
        return names;
    }();
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

/// R as whole millionths; the only place where a number with a fraction enters sizes.
std::int64_t millionths(double imbalance) {
    return std::llround(imbalance * static_cast<double>(kMillion));
}

std::vector<ParameterProblem> problems(const CollectiveParameters& parameters, std::size_t ranks) {
    std::vector<ParameterProblem> found;
    const system::CollectiveKind kind = parameters.kind();
    if (kind == system::CollectiveKind::kPointToPoint && ranks % 2 != 0) {
        found.push_back(
            {"collective", fmt::format("{} ranks do not make pairs", ranks),
             "point_to_point sends from rank i of the first half to rank i + N/2: take an even number"});
    }
    const std::int64_t imbalance = millionths(parameters.imbalance);
    if (imbalance > static_cast<std::int64_t>(ranks) * kMillion) {
        found.push_back({"imbalance",
                         fmt::format("no rank of {} can hold more than {} times the mean", ranks, ranks),
                         "between 1, all alike, and the number of ranks"});
    } else if (imbalance != kMillion && !parameters.is_uneven()) {
        found.push_back(
            {"imbalance", "only all_to_all_v has sizes that differ", "choose all_to_all_v, or leave it out"});
    }
    const bool is_shared_out = parameters.is_uneven() || kind == system::CollectiveKind::kAllGather;
    if (is_shared_out && parameters.size > Bytes(0) && parameters.size / ranks == Bytes(0)) {
        found.push_back(
            {"size",
             fmt::format("{} is less than a byte for each of {} ranks", to_string(parameters.size), ranks),
             "the size is rounded down to a multiple of the ranks, so nothing would be sent"});
    }
    return found;
}

/// Bytes that each rank has for every one.
system::PairSizes uneven_sizes(const CollectiveParameters& parameters, std::size_t ranks) {
    const auto count = static_cast<std::int64_t>(ranks);
    const Bytes mean = parameters.size / count;
    const auto largest =
        static_cast<std::int64_t>(detail::Int128{mean.count()} * millionths(parameters.imbalance) / kMillion);
    std::vector<Bytes> from{std::min(Bytes(largest), mean * count)};
    const Bytes rest = mean * count - from.front();
    for (std::size_t rank = 1; rank < ranks; ++rank) {
        from.push_back(system::part_size(rest, ranks - 1, rank - 1));
    }
    return system::PairSizes::by_source(std::move(from));
}

/// Rank i of the first half beside rank i + N/2.
system::Partition pairs(std::size_t ranks) {
    system::Partition partition{.name = "pairs", .groups = {}};
    for (std::size_t rank = 0; rank < ranks / 2; ++rank) {
        partition.groups.push_back({system::RankId(rank), system::RankId(rank + ranks / 2)});
    }
    return partition;
}

system::Program collective_program(const CollectiveParameters& parameters, std::size_t ranks) {
    const system::CollectiveKind kind = parameters.kind();
    system::Program program;
    program.ranks = ranks;
    program.iterations = 1;
    const bool is_paired = kind == system::CollectiveKind::kPointToPoint && ranks > 1;
    system::CollectiveOperation work{
        .kind = kind,
        .partition = program.partitions.push_back(is_paired ? pairs(ranks) : system::Partition::world(ranks)),
        .size = kind == system::CollectiveKind::kAllGather ? parameters.size / ranks : parameters.size};
    if (parameters.is_uneven()) {
        const system::PairSizes sizes = uneven_sizes(parameters, ranks);
        work.size = sizes.largest_held();
        work.pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(1, sizes);
    }
    const std::string name = ValueTraits<MeasuredCollective>::format(parameters.collective);
    const system::OperationId collective =
        program.operations.push_back({.name = name, .layer = name, .work = std::move(work)});
    program.operations.push_back({.name = name + ".wait",
                                  .layer = name,
                                  .work = system::ComputeOperation{Time(0)},
                                  .dependencies = {collective}});
    return program;
}

Schema<CollectiveParameters> collective_schema() {
    Schema<CollectiveParameters> schema("collective", "one collective by itself, as nccl-tests measures it");
    schema.required("collective", &CollectiveParameters::collective, "what every rank takes part in")
        .required("size", &CollectiveParameters::size,
                  "bytes per rank before, of the result for all_gather, mean for all_to_all_v, that a sender "
                  "has for broadcast and point_to_point",
                  {Bytes(0), {}})
        .optional("imbalance", &CollectiveParameters::imbalance,
                  "all_to_all_v: bytes of the largest rank over the mean", {1.0, 1048576.0});
    return schema;
}

}  // namespace

void register_collective(Registry<Job>& registry) {
    registry.add<CollectiveParameters>(collective_schema(), [](const CollectiveParameters& parameters) {
        Job job;
        job.problems = [parameters](const Device&, std::size_t ranks) { return problems(parameters, ranks); };
        job.device_problems = [](const Device&) { return std::vector<ParameterProblem>{}; };
        job.program = [parameters](const Device&, std::size_t ranks) {
            return collective_program(parameters, ranks);
        };
        job.facts = [parameters](const Device&, std::size_t ranks) {
            const system::Program program = collective_program(parameters, ranks);
            const auto& work = program.operations[system::OperationId(0)].collective();
            std::array<Bytes, system::kCollectiveKinds> traffic{};
            traffic[static_cast<std::size_t>(work.kind)] = work.size;
            Facts facts;
            append_traffic(facts, traffic);
            return facts;
        };
        return job;
    });
}

}  // namespace astrolabe::workload
