#include "candidates.hpp"

#include "../explain/routing_bound.hpp"
#include "../explain/schedule_loads.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <astrolabe/experiment/explain/lower_bound.hpp>
#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::experiment {
namespace {

using system::AlgorithmPointer;
using system::CollectiveOperation;
using system::Partition;
using system::RankId;

constexpr std::uint32_t kMostOpenChunks = 64;
constexpr double kMostPasses = 8;

ConfigNode keys_of(const std::string& algorithm) {
    ConfigNode keys = ConfigNode::mapping();
    keys.set("algorithm", ConfigNode::scalar(algorithm));
    return keys;
}

ConfigNode keys_of(const std::string& algorithm, const std::string& key, const std::string& value) {
    ConfigNode keys = keys_of(algorithm);
    keys.set(key, ConfigNode::scalar(value));
    return keys;
}

/// What every algorithm that is registered may be tried with.
std::vector<ConfigNode> configurations(const Components& components) {
    std::vector<ConfigNode> all;
    for (const std::string& name : components.algorithms.names()) {
        if (name == system::kScheduleFromFile) {
            continue;
        }
        all.push_back(keys_of(name));
        if (name == "multi_ring") {
            all.push_back(keys_of(name, "strides", "network"));
        } else if (name == "hierarchical") {
            all.push_back(keys_of(name, "order", "round_robin"));
        }
    }
    return all;
}

/// The shapes of the groups in which something moves.
std::set<system::Shape> shapes_of(const Experiment& experiment, const CollectiveOperation& work,
                                  const Partition& partition) {
    std::set<system::Shape> shapes;
    for (const std::vector<RankId>& group : partition.groups) {
        if (!work.moves_nothing(group.size())) {
            shapes.insert(system::group_shape(group, experiment.cluster.options));
        }
    }
    return shapes;
}

bool has_dimensions(const system::Shape& shape) {
    return std::ranges::count_if(shape.dimensions(), [](system::Position size) { return size > 1; }) > 1;
}

/// How many ranks pass a block on, on average: 1 for direct, about N/4 for ring.
double passes(const system::CollectiveAlgorithm& algorithm, const CollectiveOperation& work,
              const system::Shape& shape) {
    const system::CollectiveSchedule schedule = algorithm.schedule(work.kind, shape, 0);
    double blocks = 0;
    for (const system::Action& action : schedule.program(0).actions) {
        blocks += action.is_send() ? action.block_count : 0;
    }
    return blocks / std::max(1.0, static_cast<double>(shape.ranks()) - 1);
}

/// Null where it cannot do it.
AlgorithmPointer make_algorithm(const Experiment& experiment, const CollectiveOperation& work,
                                const std::set<system::Shape>& shapes, const ConfigNode& keys,
                                const Components& components) {
    ReadContext context;
    const auto configured = components.algorithms.read(keys, context);
    if (!configured) {
        return nullptr;
    }
    AlgorithmPointer algorithm = configured->make();
    if (algorithm->needs_rings()) {
        const auto rings = experiment.fabric->family().job_rings();
        algorithm = rings && !rings->empty() ? algorithm->on_rings(*rings) : nullptr;
    }
    const bool has_circuits = experiment.cluster.options.circuit_windows != nullptr;
    if (algorithm == nullptr || (!has_circuits && algorithm->circuit_use() != system::CircuitUse::kNone) ||
        std::ranges::any_of(shapes, [&](const system::Shape& shape) {
            return algorithm->unsupported(work.kind, shape).has_value();
        })) {
        return nullptr;
    }
    if (work.is_uneven() && std::ranges::any_of(shapes, [&](const system::Shape& shape) {
            return passes(*algorithm, work, shape) > kMostPasses;
        })) {
        return nullptr;
    }
    return algorithm;
}

/// Numbers of chunks worth trying, the algorithm's default first; those that come to the same once.
std::vector<std::uint32_t> open_chunks(const Experiment& experiment, const CollectiveOperation& work,
                                       std::uint32_t smallest) {
    const Bytes minimum = experiment.cluster.options.minimum_chunk;
    std::vector<std::uint32_t> chunks{smallest};
    if (experiment.cluster.options.circuit_windows != nullptr || work.is_uneven()) {
        return chunks;
    }
    for (const std::uint32_t factor : {4U, 16U, 64U}) {
        const std::uint32_t more = smallest * factor;
        if (more <= kMostOpenChunks && system::chunk_count(work.size, minimum, more) >
                                           system::chunk_count(work.size, minimum, chunks.back())) {
            chunks.push_back(more);
        }
    }
    return chunks;
}

void add_candidates(std::vector<Candidate>& all, const Experiment& experiment,
                    const CollectiveOperation& work, const AlgorithmPointer& algorithm,
                    const ConfigNode& keys, bool chunks_are_open) {
    const auto kind = static_cast<std::size_t>(work.kind);
    const std::vector<std::uint32_t> chunks =
        chunks_are_open ? open_chunks(experiment, work, algorithm->default_chunks())
                        : std::vector{experiment.cluster.options.collectives[kind].chunks};
    for (const std::uint32_t count : chunks) {
        Candidate candidate;
        candidate.method = {keys, count};
        candidate.how = std::make_shared<const system::CollectiveMethod>(
            system::CollectiveMethod{algorithm, count, candidate.method.name()});
        all.push_back(std::move(candidate));
    }
}

/// Time of a byte in picoseconds.
double byte_time(Bandwidth rate) {
    return 8e12 / static_cast<double>(std::max(rate, Bandwidth(1)).count());
}

/// Rates of a host: of all its links together, and of the fastest.
struct PortRates {
    Bandwidth all{1};
    Bandwidth link{1};
};

PortRates fastest_ports(const network::Fabric& fabric, std::size_t ranks, const Placement& placement) {
    PortRates rates;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const network::HostId host = placement[rank];
        rates.all = std::max(rates.all, fabric.egress_rate(host));
        const network::NodeId node = fabric.node_of(host);
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            rates.link =
                std::max(rates.link, fabric.link(network::LinkId(fabric.first_link(node).index() + i)).rate);
        }
    }
    return rates;
}

/// Estimates operations of one algorithm.
class Estimator {
public:
    Estimator(const Experiment& alone, const system::Program& program)
        : alone_(alone),
          program_(program),
          loads_(program, alone.cluster.options, *alone.fabric, alone.placement),
          traffic_(program, alone.cluster.options),
          rates_(fastest_ports(*alone.fabric, program.ranks, alone.placement)) {
        const system::EndPoint& end_point = alone.cluster.options.end_point;
        latency_ = saturating_sum(least_latency(*alone.fabric, program.ranks, alone.placement),
                                  end_point.injection_latency);
        if (end_point.reduction_bandwidth) {
            added_byte_time_ = 3 * byte_time(*end_point.reduction_bandwidth);
        }
    }

    void estimate(Candidate& candidate, system::OperationId id) const {
        const Time wait = saturating_sum(latency_, wait_of(*candidate.how->algorithm, id));
        const Time latency = loads_.chain(id, latency_, 0, 0);
        const Time chain = loads_.chain(id, latency_, byte_time(rates_.all), added_byte_time_);
        const auto [links, load] = alone_.backend.shares_links ? links_of(id) : Links{};
        // What waits in the network for a circuit may be relayed, and then takes a second one.
        const bool is_relayed =
            wait > latency_ && candidate.how->algorithm->circuit_use() == system::CircuitUse::kNone;
        candidate.load = is_relayed ? saturating_sum(load, load) : load;
        candidate.messages = traffic_.of(id).messages();
        candidate.steps = static_cast<std::uint64_t>(loads_.chain(id, Time(1), 0, 0).count());
        candidate.bound = alone_.backend.shares_links
                              ? std::max({saturating_sum(links, latency_), latency, chain})
                              : Time(0);
        candidate.estimate = std::max(saturating_sum(links, loads_.chain(id, wait, 0, 0)),
                                      loads_.chain(id, wait, byte_time(rates_.link), added_byte_time_));
    }

private:
    /// For a circuit, by the rule of the file's head.
    [[nodiscard]] Time wait_of(const system::CollectiveAlgorithm& algorithm, system::OperationId id) const {
        const network::CircuitWindows* windows = alone_.cluster.options.circuit_windows.get();
        const CollectiveOperation& work = program_.operations[id].collective();
        const std::uint32_t traffic_class = work.traffic_class.value_or(
            alone_.cluster.options.collectives[static_cast<std::size_t>(work.kind)].traffic_class);
        if (windows == nullptr || !windows->wait_for_circuits(traffic_class)) {
            return Time(0);
        }
        switch (algorithm.circuit_use()) {
            case system::CircuitUse::kNone:
                return windows->period() / 2;
            case system::CircuitUse::kDirect:
                return windows->period();
            case system::CircuitUse::kInOrder:
                break;
        }
        return windows->period() / static_cast<std::int64_t>(std::max<std::size_t>(windows->places(), 1));
    }

    /// Of the busiest link, and of all together.
    struct Links {
        Time busiest;
        Time mean;
    };

    [[nodiscard]] Links links_of(system::OperationId id) const {
        const network::Fabric& fabric = *alone_.fabric;
        if (loads_.omission().empty() && fabric.is_static() && alone_.backend.follows_routes(fabric)) {
            LinkBytes bytes(fabric.link_count(), 0);
            for (const ScheduleLoads::Part& part : loads_.of(id)) {
                add_links(bytes, part);
            }
            double all = 0;
            double rate = 0;
            for (std::size_t i = 0; i < fabric.link_count(); ++i) {
                all += bytes[network::LinkId(i)];
                rate += to_bytes_per_second(fabric.link(network::LinkId(i)).rate);
            }
            return {busiest_link(bytes, fabric).time, carrying_time(all, rate)};
        }
        Time most;
        double all = 0;
        double rate = 0;
        for (std::size_t rank = 0; rank < program_.ranks; ++rank) {
            double sent = 0;
            double received = 0;
            for (const ScheduleLoads::Part& part : loads_.of(id)) {
                sent += part.units * part.load->sent[rank];
                received += part.units * part.load->received[rank];
            }
            const network::HostId host = alone_.placement[rank];
            all += sent;
            rate += to_bytes_per_second(fabric.egress_rate(host));
            most = std::max({most, carrying_time(sent, fabric.egress_rate(host)),
                             carrying_time(received, fabric.ingress_rate(host))});
        }
        return {most, carrying_time(all, rate)};
    }

    const Experiment& alone_;
    const system::Program& program_;
    ScheduleLoads loads_;
    system::ProgramTraffic traffic_;
    PortRates rates_;
    Time latency_;
    double added_byte_time_ = 0;
};

}  // namespace

std::vector<Candidate> candidates_for(const Experiment& experiment, const CollectiveOperation& work,
                                      const Partition& partition, OpenMethod open,
                                      const Components& components) {
    const auto kind = static_cast<std::size_t>(work.kind);
    std::vector<Candidate> all;
    if (!open.algorithm) {
        add_candidates(all, experiment, work, experiment.cluster.options.collectives[kind].algorithm,
                       experiment.cluster.named[kind], open.chunks);
        return all;
    }
    const std::set<system::Shape> shapes = shapes_of(experiment, work, partition);
    const bool is_grid = std::ranges::any_of(shapes, has_dimensions);
    for (const ConfigNode& keys : configurations(components)) {
        if (!is_grid && keys.find("algorithm")->text == "hierarchical") {
            continue;
        }
        if (const AlgorithmPointer algorithm = make_algorithm(experiment, work, shapes, keys, components)) {
            add_candidates(all, experiment, work, algorithm, keys, open.chunks);
        }
    }
    return all;
}

MethodPointer make_method(const Experiment& experiment, const CollectiveOperation& work,
                          const Partition& partition, const Method& method, const Components& components) {
    const AlgorithmPointer algorithm =
        make_algorithm(experiment, work, shapes_of(experiment, work, partition), method.keys, components);
    return algorithm == nullptr ? nullptr
                                : std::make_shared<const system::CollectiveMethod>(
                                      system::CollectiveMethod{algorithm, method.chunks, method.name()});
}

void estimate(std::vector<Candidate>& candidates, const Experiment& alone, const CollectiveOperation& work,
              const Partition& partition) {
    for (std::size_t from = 0; from < candidates.size();) {
        // Those of one algorithm share its loads.
        std::vector<MethodPointer> methods;
        while (from + methods.size() < candidates.size() &&
               candidates[from + methods.size()].how->algorithm == candidates[from].how->algorithm) {
            methods.push_back(candidates[from + methods.size()].how);
        }
        const system::Program program = program_of(alone, work, partition, methods);
        const Estimator estimator(alone, program);
        for (std::size_t i = 0; i < methods.size(); ++i) {
            estimator.estimate(candidates[from + i], system::OperationId(i));
        }
        from += methods.size();
    }
}

}  // namespace astrolabe::experiment
