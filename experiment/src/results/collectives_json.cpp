#include <algorithm>

#include <nlohmann/json.hpp>

#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

/// Total length of the union of time intervals.
Time covered(std::vector<std::pair<Time, Time>> intervals) {
    std::sort(intervals.begin(), intervals.end());
    Time sum;
    Time end;
    for (const auto& [start, finish] : intervals) {
        sum += std::max(finish, end) - std::max(start, end);
        end = std::max(end, finish);
    }
    return sum;
}

Json sizes_json(const system::MessageSizes& sizes) {
    Json list = Json::array();
    for (std::size_t width = 0; width < sizes.size(); ++width) {
        if (sizes[width] > 0) {
            const std::uint64_t least = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
            list.push_back({{"at_least_bytes", least}, {"messages", sizes[width]}});
        }
    }
    return list;
}

/// The stages of one (dimension, kind) of all operations of a kind.
struct Phase {
    system::StageTraffic traffic;
    std::vector<std::pair<Time, Time>> intervals;
    MeanTime under_way;
    MeanTime waiting;
};

void add_stages(std::vector<Phase>& phases, const system::OperationTraffic& counted,
                const system::OperationRecord& record) {
    for (const system::StageTraffic& stage : counted.stages) {
        const auto is_same = [&](const auto& other) { return other.stage == stage.stage; };
        auto phase = std::find_if(phases.begin(), phases.end(),
                                  [&](const Phase& known) { return is_same(known.traffic); });
        if (phase == phases.end()) {
            phases.emplace_back();
            phase = phases.end() - 1;
            phase->traffic.stage = stage.stage;
        }
        phase->traffic.add(stage);
        const auto ran = std::find_if(record.stages.begin(), record.stages.end(), is_same);
        if (ran != record.stages.end()) {
            phase->intervals.emplace_back(ran->first_start, ran->last_finish);
            phase->under_way.add(ran->in_flight);
            phase->waiting.add(ran->waiting);
        }
    }
}

/// What the operations of one kind of collective did together.
Json collective_json(const Experiment& experiment, const Run& run, std::size_t kind) {
    std::uint64_t count = 0;
    std::uint64_t messages = 0;
    std::vector<std::pair<Time, Time>> intervals;
    std::vector<Phase> phases;
    MeanTime exposed;
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        const system::Operation& operation = experiment.program.operations[id];
        if (!operation.is_collective() || static_cast<std::size_t>(operation.collective().kind) != kind) {
            continue;
        }
        const system::OperationRecord& record = run.execution.operations[id];
        ++count;
        messages += record.messages;
        intervals.emplace_back(record.first_issue, record.last_finish);
        exposed.add(record.exposed);
        add_stages(phases, run.traffic_counts.of(id), record);
    }
    const std::size_t ranks = experiment.cluster.ranks;
    const double total = to_seconds(run.execution.total);
    const auto share = [total](double seconds) { return total > 0 ? seconds / total : 0.0; };
    Json phase_list = Json::array();
    for (const Phase& phase : phases) {
        const double time = to_seconds(covered(phase.intervals));
        phase_list.push_back({{"dimension", phase.traffic.stage.dimension},
                              {"kind", std::string(system::to_string(phase.traffic.stage.kind))},
                              {"bytes", phase.traffic.bytes.count()},
                              {"messages", phase.traffic.messages},
                              {"time_s", time},
                              {"share", share(time)},
                              {"chunk_time_s", phase.under_way.seconds(ranks)},
                              {"chunk_wait_s", phase.waiting.seconds(ranks)},
                              {"message_sizes", sizes_json(phase.traffic.sizes)}});
    }
    const double time = to_seconds(covered(std::move(intervals)));
    return {{"kind", collective_key(kind)},
            {"algorithm", experiment.cluster.algorithms[kind]},
            {"count", count},
            {"bytes", run.traffic[kind].count()},
            {"messages", messages},
            {"time_s", time},
            {"share", share(time)},
            {"exposed_s", exposed.seconds(ranks)},
            {"phases", std::move(phase_list)}};
}

}  // namespace

Json collectives_json(const Experiment& experiment, const Run& run) {
    std::array<bool, system::kCollectiveKinds> occurs{};
    for (const system::Operation& operation : experiment.program.operations) {
        if (operation.is_collective()) {
            occurs[static_cast<std::size_t>(operation.collective().kind)] = true;
        }
    }
    Json list = Json::array();
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        if (occurs[kind]) {
            list.push_back(collective_json(experiment, run, kind));
        }
    }
    return list;
}

}  // namespace astrolabe::experiment
