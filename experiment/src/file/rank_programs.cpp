#include "rank_programs.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::experiment {
namespace {

using system::Operation;
using system::OperationId;
using system::PerRank;
using system::Program;
using system::RankId;

constexpr std::int64_t kBillionths = 1'000'000'000;
constexpr std::size_t kMostDrawn = std::size_t{1} << 27;  // durations of 8 bytes: 1 GiB

std::string device_key(std::size_t entry, const char* key) {
    return fmt::format("cluster.devices.{}{}{}", entry, *key == '\0' ? "" : ".", key);
}

/// A list of one may be written as a mapping.
const ConfigNode& place_of_entry(const ConfigNode& root, std::size_t entry, const char* key) {
    for (const std::string& path : {device_key(entry, key), device_key(entry, "")}) {
        if (const ConfigNode* found = root.find_path(path)) {
            return *found;
        }
    }
    return *root.find_path("cluster.devices");
}

bool move_the_same(const system::CollectiveOperation& a, const system::CollectiveOperation& b) {
    if (a.kind != b.kind || a.partition != b.partition || a.size != b.size ||
        a.is_uneven() != b.is_uneven()) {
        return false;
    }
    if (!a.is_uneven() || a.pair_sizes == b.pair_sizes) {
        return true;
    }
    return std::ranges::equal(
        *a.pair_sizes, *b.pair_sizes, [](const system::PairSizes& one, const system::PairSizes& other) {
            if (one.positions() != other.positions()) {
                return false;
            }
            for (std::size_t s = 0; s < one.positions(); ++s) {
                if (one.held(s) != other.held(s) || one.received(s) != other.received(s)) {
                    return false;
                }
            }
            return true;
        });
}

bool differ_in_times_alone(const Operation& a, const Operation& b) {
    if (a.name != b.name || a.iteration != b.iteration || a.dependencies != b.dependencies ||
        a.work.index() != b.work.index()) {
        return false;
    }
    if (a.is_compute()) {
        return a.compute().stream == b.compute().stream && a.compute().ranks == b.compute().ranks;
    }
    return a.is_receive() ? a.receive().send == b.receive().send
                          : move_the_same(a.collective(), b.collective());
}

/// The name of the first operation of the second that is not that of the first, or nothing.
std::optional<std::string> difference(const Program& a, const Program& b) {
    for (std::size_t i = 0; i < std::min(a.operations.size(), b.operations.size()); ++i) {
        if (!differ_in_times_alone(a.operations[OperationId(i)], b.operations[OperationId(i)])) {
            return b.operations[OperationId(i)].name;
        }
    }
    if (a.operations.size() != b.operations.size()) {
        const Program& longer = a.operations.size() > b.operations.size() ? a : b;
        return longer.operations[OperationId(std::min(a.operations.size(), b.operations.size()))].name;
    }
    for (std::size_t i = 0; i < a.partitions.size(); ++i) {
        const system::PartitionId id(i);
        if (i >= b.partitions.size() || a.partitions[id].groups != b.partitions[id].groups) {
            return a.partitions[id].name;
        }
    }
    return std::nullopt;
}

std::vector<Time> time_of_each(const PerRank<Time>& times, std::size_t ranks) {
    std::vector<Time> each;
    each.reserve(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        each.push_back(times[RankId(rank)]);
    }
    return each;
}

PerRank<Time> per_rank(std::vector<Time> each) {
    const bool are_equal = std::ranges::all_of(each, [&](Time time) { return time == each.front(); });
    return are_equal ? PerRank<Time>(each.front()) : PerRank<Time>(std::move(each));
}

/// `times` with those of all ranks replaced by `of(rank, its time)`.
template <class Of>
PerRank<Time> changed(const PerRank<Time>& times, std::size_t ranks, const Of& of) {
    std::vector<Time> each = time_of_each(times, ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        each[rank] = of(RankId(rank), each[rank]);
    }
    return per_rank(std::move(each));
}

/// Changes durations, contended ones included, of all ranks in all computations by `of(id, rank, time)`.
template <class Of>
void change_durations(Program& program, const Of& of) {
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const OperationId id(i);
        if (!program.operations[id].is_compute()) {
            continue;
        }
        auto& work = std::get<system::ComputeOperation>(program.operations[id].work);
        const auto of_rank = [&](RankId rank, Time time) { return of(id, rank, time); };
        work.duration = changed(work.duration, program.ranks, of_rank);
        if (work.contended) {
            work.contended = changed(*work.contended, program.ranks, of_rank);
        }
    }
}

Time multiplied(Time duration, std::int64_t billionths) {
    return Time(astrolabe::detail::multiply_divide_up(duration.count(), billionths, kBillionths));
}

/// Rounded to the nearest picosecond, so that the mean stays.
Time jittered(Time duration, std::int64_t billionths) {
    const astrolabe::detail::Int128 product = astrolabe::detail::Int128{duration.count()} * billionths;
    const astrolabe::detail::Int128 nearest = (product + kBillionths / 2) / kBillionths;
    return nearest < astrolabe::detail::Int128{Time::max().count()} ? Time(static_cast<std::int64_t>(nearest))
                                                                    : Time::max();
}

/// The job's program for a device, with the times beside collectives where they hold a part of it. Nothing:
/// it is another program then, as was reported at `place`.
std::optional<Program> program_on(const workload::Device& device, const Experiment& experiment,
                                  const ConfigNode& place, ReadContext& context) {
    const Cluster& cluster = experiment.cluster;
    Program program = experiment.job.program(device, cluster.ranks);
    if (!cluster.contention) {
        return program;
    }
    const Program beside =
        experiment.job.program(beside_collectives(device, *cluster.contention), cluster.ranks);
    if (const std::optional<std::string> name = difference(program, beside)) {
        context.error("config.contention", place.where,
                      fmt::format("the program for what collectives leave of the device differs in more than "
                                  "times, first in '{}'",
                                  *name),
                      "what the job decides by its device must not change: give the placement of tables");
        return std::nullopt;
    }
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const OperationId id(i);
        if (program.operations[id].is_compute()) {
            auto& work = std::get<system::ComputeOperation>(program.operations[id].work);
            const PerRank<Time>& slower = beside.operations[id].compute().duration;
            work.contended = changed(work.duration, cluster.ranks,
                                     [&](RankId rank, Time time) { return std::max(time, slower[rank]); });
        }
    }
    return program;
}

/// Of one computation, by rank.
struct ComputeTimes {
    std::vector<Time> duration;
    std::vector<Time> contended;  ///< empty: as without collectives
};

/// Times of all computations while many entries change them: every entry goes through its own ranks alone.
class TimesOfRanks {
public:
    explicit TimesOfRanks(const Program& program)
        : of_operation_(program.operations.size()) {
        for (std::size_t i = 0; i < of_operation_.size(); ++i) {
            if (program.operations[OperationId(i)].is_compute()) {
                const system::ComputeOperation& work = program.operations[OperationId(i)].compute();
                of_operation_[i].duration = time_of_each(work.duration, program.ranks);
                if (work.contended) {
                    of_operation_[i].contended = time_of_each(*work.contended, program.ranks);
                }
            }
        }
    }

    /// Calls `of(id, rank, times)` for some ranks of all computations. O(operations · ranks of the ranges).
    template <class Of>
    void change(const std::vector<RankRange>& ranges, const Of& of) {
        for (std::size_t i = 0; i < of_operation_.size(); ++i) {
            if (of_operation_[i].duration.empty()) {
                continue;
            }
            for (const RankRange& range : ranges) {
                for (std::size_t rank = range.first; rank <= range.last; ++rank) {
                    of(OperationId(i), rank, of_operation_[i]);
                }
            }
        }
    }

    /// Puts them into the program that they came from.
    void write(Program& program) {
        for (std::size_t i = 0; i < of_operation_.size(); ++i) {
            if (of_operation_[i].duration.empty()) {
                continue;
            }
            auto& work = std::get<system::ComputeOperation>(program.operations[OperationId(i)].work);
            work.duration = per_rank(std::move(of_operation_[i].duration));
            if (work.contended) {
                work.contended = per_rank(std::move(of_operation_[i].contended));
            }
        }
    }

private:
    std::vector<ComputeTimes> of_operation_;
};

void give_devices(Program& program, const Experiment& experiment, const ConfigNode& root,
                  ReadContext& context) {
    const Cluster& cluster = experiment.cluster;
    if (cluster.devices.empty()) {
        return;
    }
    TimesOfRanks times(program);
    for (std::size_t entry = 0; entry < cluster.devices.size(); ++entry) {
        const RankDevice& given = cluster.devices[entry];
        if (given.device) {
            const ConfigNode& place = place_of_entry(root, entry, "device");
            const std::optional<Program> own = program_on(given.device->make(), experiment, place, context);
            if (!own) {
                continue;
            }
            if (const std::optional<std::string> name = difference(program, *own)) {
                context.error("config.devices", place.where,
                              fmt::format("the program for this device differs from that for "
                                          "'cluster.device' in more than times, first in '{}'",
                                          *name),
                              "what the job decides by its device must be the same for all: give the "
                              "placement of tables, and devices of which both or none have a 'host'");
                continue;
            }
            times.change(given.ranks, [&](OperationId id, std::size_t rank, ComputeTimes& each) {
                const system::ComputeOperation& there = own->operations[id].compute();
                each.duration[rank] = there.duration[RankId(rank)];
                if (!each.contended.empty()) {
                    each.contended[rank] = (*there.contended)[RankId(rank)];
                }
            });
        }
        const std::int64_t slowdown = std::llround(given.slowdown * static_cast<double>(kBillionths));
        if (slowdown != kBillionths) {
            times.change(given.ranks, [slowdown](OperationId, std::size_t rank, ComputeTimes& each) {
                each.duration[rank] = multiplied(each.duration[rank], slowdown);
                if (!each.contended.empty()) {
                    each.contended[rank] = multiplied(each.contended[rank], slowdown);
                }
            });
        }
    }
    times.write(program);
}

void draw_jitter(Program& program, const Experiment& experiment, const ConfigNode& root,
                 ReadContext& context) {
    const Jitter& jitter = *experiment.cluster.jitter;
    const auto computations = static_cast<std::size_t>(
        std::ranges::count_if(program.operations, [](const Operation& each) { return each.is_compute(); }));
    if (computations * program.ranks > kMostDrawn) {
        context.error("config.jitter", root.find_path("cluster.jitter")->where,
                      fmt::format("{} computations of {} ranks are more than the {} whose times can be drawn",
                                  computations, program.ranks, kMostDrawn),
                      "simulate fewer iterations or ranks");
        return;
    }
    const std::uint64_t seed = jitter.seed.value_or(experiment.seed);
    change_durations(program, [&](OperationId id, RankId rank, Time duration) {
        if (duration == Time(0)) {
            return duration;
        }
        const Operation& operation = program.operations[id];
        const std::int64_t factor =
            jitter_factor(jitter, seed, rank.index(), operation.iteration, operation.name);
        return jitter.added ? duration + jittered(*jitter.added, factor) : jittered(duration, factor);
    });
}

/// Reports shares that slow nothing down.
void check_contention(const Program& program, const ConfigNode& root, ReadContext& context) {
    for (const Operation& operation : program.operations) {
        if (!operation.is_compute()) {
            continue;
        }
        for (std::size_t rank = 0; rank < program.ranks; ++rank) {
            if ((*operation.compute().contended)[RankId(rank)] > operation.compute().duration[RankId(rank)]) {
                return;
            }
        }
    }
    context.error("config.contention", root.find_path("cluster.contention")->where,
                  "no computation takes longer on what collectives leave of the device",
                  "times that the workload gives do not follow from the device: leave 'contention' out");
}

}  // namespace

void check_rank_devices(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    const bool is_sound = context.error_count() == 0;  // the job on the cluster's device
    for (std::size_t entry = 0; entry < experiment.cluster.devices.size(); ++entry) {
        const auto& given = experiment.cluster.devices[entry].device;
        if (!given) {
            continue;
        }
        const workload::Device device = given->make();
        const ConfigNode& place = place_of_entry(root, entry, "device");
        const ValidationErrors errors = experiment.job.device_errors(device);
        report_validation_errors(place, errors, context);
        if (errors.empty() && is_sound) {
            for (const ValidationError& error :
                 experiment.job.validation_errors(device, experiment.cluster.ranks)) {
                context.error("config.devices", place.where,
                              fmt::format("the workload on this device: {}{}",
                                          error.key.empty() ? "" : "'" + error.key + "': ", error.message),
                              error.hint);
            }
        }
    }
}

system::Program program_of_ranks(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    const ConfigNode* device = root.find_path("cluster.device");
    std::optional<Program> made =
        program_on(experiment.cluster.device, experiment, device != nullptr ? *device : root, context);
    if (!made) {
        return experiment.job.program(experiment.cluster.device, experiment.cluster.ranks);
    }
    Program program = *std::move(made);
    give_devices(program, experiment, root, context);
    if (experiment.cluster.jitter) {
        draw_jitter(program, experiment, root, context);
    }
    if (experiment.cluster.contention) {
        check_contention(program, root, context);
    }
    return program;
}

}  // namespace astrolabe::experiment
