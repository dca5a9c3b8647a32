#include "run_details.hpp"

#include "detail_rows.hpp"

#include <algorithm>
#include <limits>

#include <astrolabe/experiment/file/cluster.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRanks = 256;
constexpr std::size_t kMostSpanRanks = 16;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

std::string kind_of(const system::Program& program, const system::Operation& operation) {
    return operation.is_collective()
               ? experiment::collective_key(static_cast<std::size_t>(operation.collective().kind))
               : std::string(experiment::kind_name(program, operation));
}

std::string ranks_text(const experiment::Run& run) {
    const std::vector<system::RankRecord>& ranks = run.execution.ranks;
    const std::size_t step = step_of(ranks.size(), kMostRanks);
    Json json = object_of(ranks.size(), step);
    for (std::size_t rank = 0; rank < ranks.size(); rank += step) {
        Time exposed{};
        for (const auto& [unused, time] : ranks[rank].exposed) {
            exposed += time;
        }
        json["rows"].push_back({rank, to_seconds(ranks[rank].compute + ranks[rank].slowed),
                                to_seconds(exposed), to_seconds(ranks[rank].drain)});
    }
    return text_of(json);
}

std::string links_of(const experiment::Experiment& experiment, const experiment::Run& run) {
    const network::Fabric& fabric = *experiment.fabric;
    std::vector<double> used;
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        used.push_back(
            network::utilization(fabric.link(id).rate, run.network.links[id].carried, run.execution.total));
    }
    return links_text(used, [&](std::size_t link) {
        const network::LinkId id(link);
        return std::pair(fabric.node(fabric.source(id)).name, fabric.node(fabric.target(id)).name);
    });
}

std::string tasks_text(const experiment::Experiment& experiment, const experiment::Run& run) {
    const auto& operations = experiment.program.operations;
    const std::size_t step = step_of(operations.size(), kMostOperations);
    Json json = object_of(operations.size(), step);
    Json names = Json::array();
    Names kinds;
    for (std::size_t i = 0; i < operations.size(); i += step) {
        const system::OperationId id(i);
        const system::OperationRecord& record = run.execution.operations[id];
        json["rows"].push_back({i, operations[id].iteration, to_seconds(record.first_issue),
                                to_seconds(record.first_start), to_seconds(record.last_finish),
                                kinds.place_of(kind_of(experiment.program, operations[id]))});
        names.push_back(operations[id].name);
    }
    json["kinds"] = kinds.list();
    json["names"] = std::move(names);
    return text_of(json);
}

struct Exchanged {
    Bytes sent{};
    Bytes received{};
};

/// What the ranks of a group have for each other, without what they have for themselves.
void add_exchange(std::vector<Exchanged>& ranks, const system::CollectiveOperation& work,
                  const std::vector<system::RankId>& group, std::size_t index) {
    for (std::size_t source = 0; source < group.size(); ++source) {
        for (std::size_t destination = 0; destination < group.size(); ++destination) {
            if (source != destination) {
                const Bytes block = work.is_uneven()
                                        ? (*work.pair_sizes)[index](source, destination)
                                        : system::part_size(work.size, group.size(), destination);
                ranks[group[source].index()].sent += block;
                ranks[group[destination].index()].received += block;
            }
        }
    }
}

std::string exchanges_text(const experiment::Experiment& experiment) {
    const system::Program& program = experiment.program;
    std::vector<Exchanged> ranks(experiment.cluster.ranks);
    for (const system::Operation& operation : program.operations) {
        if (!operation.is_collective() || operation.collective().kind != system::CollectiveKind::kAllToAll) {
            continue;
        }
        const system::CollectiveOperation& work = operation.collective();
        const auto& groups = program.partitions[work.partition].groups;
        for (std::size_t index = 0; index < groups.size(); ++index) {
            add_exchange(ranks, work, groups[index], index);
        }
    }
    const std::size_t step = step_of(ranks.size(), kMostRanks);
    Json json = object_of(ranks.size(), step);
    const auto iterations = static_cast<double>(std::max(1, program.iterations));
    for (std::size_t rank = 0; rank < ranks.size(); rank += step) {
        json["rows"].push_back({rank, static_cast<double>(ranks[rank].sent.count()) / iterations,
                                static_cast<double>(ranks[rank].received.count()) / iterations});
    }
    return text_of(json);
}

}  // namespace

std::vector<std::string> wanted_details(const std::vector<std::string>& report) {
    std::vector<std::string> wanted;
    for (const char* kind : {"ranks", "links", "tasks", "gantt", "exchanges"}) {
        if (std::find(report.begin(), report.end(), kind) != report.end()) {
            wanted.emplace_back(kind);
        }
    }
    return wanted;
}

SpanRecorder::SpanRecorder(const experiment::Experiment& experiment)
    : experiment_(experiment),
      rank_step_(step_of(experiment.cluster.ranks, kMostSpanRanks)) {
    const auto& operations = experiment.program.operations;
    std::vector<std::size_t> counts(static_cast<std::size_t>(experiment.program.iterations), 0);
    for (const system::Operation& operation : operations) {
        ++counts[static_cast<std::size_t>(operation.iteration)];
    }
    const std::vector<bool> chosen = chosen_iterations(counts);
    for (std::size_t iteration = 0; iteration < chosen.size(); ++iteration) {
        if (chosen[iteration]) {
            iterations_.push_back(iteration);
            operations_ += counts[iteration];
        }
    }
    operation_step_ = step_of(operations_, kMostOperations);
    std::size_t seen = 0;
    for (const system::Operation& operation : operations) {
        const bool keep =
            chosen[static_cast<std::size_t>(operation.iteration)] && seen++ % operation_step_ == 0;
        places_.push_back(keep ? kept_++ : kNone);
    }
}

void SpanRecorder::begin(system::Executor& executor, const network::NetworkBackend&) {
    using system::OperationId;
    using system::RankId;
    spans_.assign(experiment_.cluster.ranks, {});
    executor.operation_issued.connect(
        [this](OperationId operation, RankId rank, Time time) { issued(operation, rank, time); });
    executor.operation_finished.connect(
        [this](OperationId operation, RankId rank, Time time) { finished(operation, rank, time); });
}

/// A folded run simulates the first ranks only, how many is not known yet.
bool SpanRecorder::wants(system::OperationId operation, system::RankId rank) const {
    return places_[operation.index()] != kNone &&
           (rank.index() < kMostSpanRanks || rank.index() % rank_step_ == 0);
}

void SpanRecorder::issued(system::OperationId operation, system::RankId rank, Time time) {
    if (wants(operation, rank)) {
        std::vector<Span>& spans = spans_[rank.index()];
        spans.resize(kept_);
        spans[places_[operation.index()]].begin = time;
    }
}

void SpanRecorder::finished(system::OperationId operation, system::RankId rank, Time time) {
    if (!wants(operation, rank) || spans_[rank.index()].empty()) {
        return;
    }
    Span& span = spans_[rank.index()][places_[operation.index()]];
    const system::Operation& what = experiment_.program.operations[operation];
    span.end = time;
    span.is_whole = true;
    if (what.is_compute()) {
        span.begin = time - what.compute().duration[rank];
    }
}

std::string SpanRecorder::text(std::size_t simulated) const {
    const bool is_folded = simulated < experiment_.cluster.ranks;
    const std::size_t rank_step = is_folded ? 1 : rank_step_;
    const std::size_t end = is_folded ? std::min(simulated, kMostSpanRanks) : simulated;
    Json json = object_of(operations_, operation_step_);
    json["ranks"] = experiment_.cluster.ranks;
    json["simulated"] = simulated;
    json["drawn"] = (end + rank_step - 1) / rank_step;
    json["rank_step"] = rank_step;
    json["iterations"] = experiment_.program.iterations;
    json["kept"] = iterations_;
    Json names = Json::array();
    Json kinds = Json::array();
    Json of = Json::array();
    for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i] != kNone) {
            const system::Operation& operation = experiment_.program.operations[system::OperationId(i)];
            names.push_back(operation.name);
            kinds.push_back(kind_of(experiment_.program, operation));
            of.push_back(operation.iteration);
        }
    }
    for (std::size_t rank = 0; rank < end; rank += rank_step) {
        for (std::size_t i = 0; i < spans_[rank].size(); ++i) {
            const Span& span = spans_[rank][i];
            if (span.is_whole) {
                json["rows"].push_back({rank, i, to_seconds(span.begin), to_seconds(span.end)});
            }
        }
    }
    json["names"] = std::move(names);
    json["kinds"] = std::move(kinds);
    json["of"] = std::move(of);
    return text_of(json);
}

RunDetails details_of(const std::vector<std::string>& kinds, const experiment::Experiment& experiment,
                      const experiment::Run& run, const SpanRecorder* spans) {
    RunDetails details;
    for (const std::string& kind : kinds) {
        details[kind] = kind == "ranks"       ? ranks_text(run)
                        : kind == "links"     ? links_of(experiment, run)
                        : kind == "tasks"     ? tasks_text(experiment, run)
                        : kind == "exchanges" ? exchanges_text(experiment)
                                              : spans->text(run.engine.simulated_ranks);
    }
    return details;
}

}  // namespace astrolabe::study
