#include "checks.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

#include <astrolabe/network/family.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::experiment {
namespace {

void check_ranks(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    if (experiment.cluster.ranks <= experiment.fabric->host_count()) {
        return;
    }
    const ConfigNode& ranks = *root.find_path("cluster.ranks");
    const ConfigNode* hosts = root.find_path("network.hosts");
    Diagnostic diagnostic{"config.ranks",
                          ranks.where,
                          fmt::format("cluster has {} ranks but network provides {} hosts",
                                      experiment.cluster.ranks, experiment.fabric->host_count()),
                          "every rank runs on a host of its own: enlarge the network or take fewer ranks",
                          {}};
    diagnostic.notes.emplace_back((hosts != nullptr ? hosts : root.find("network"))->where,
                                  "the hosts come from here");
    context.error(std::move(diagnostic));
}

/// Each once, in program order.
std::vector<std::string> collective_names(const system::Program& program) {
    std::vector<std::string> names;
    for (const system::Operation& operation : program.operations) {
        if (operation.is_collective() && operation.iteration == 0) {
            names.push_back(operation.name);
        }
    }
    return names;
}

void check_traffic_classes(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        const std::string key = "cluster.collectives." + collective_key(kind) + ".traffic_class";
        if (const ConfigNode* given = root.find_path(key)) {
            check_traffic_class(experiment, experiment.cluster.options.collectives[kind].traffic_class,
                                *given, context);
        }
    }
}

/// What waits for circuits needs a network that has them, and what takes its rings one that is made of rings.
void check_circuits_and_rings(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    const auto report = [&](std::string code, const std::optional<ValidationError>& problem) {
        if (problem) {
            Diagnostic diagnostic{std::move(code),
                                  root.find_path("cluster." + problem->key)->where,
                                  problem->message,
                                  problem->hint,
                                  {}};
            diagnostic.notes.emplace_back(root.find("network")->where, "the network comes from here");
            context.error(std::move(diagnostic));
        }
    };
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        report("config.circuits", circuit_problem(experiment, kind));
        report("config.rings", rings_problem(experiment, kind));
    }
}

}  // namespace

void check_traffic_class(const Experiment& experiment, std::uint32_t traffic_class, const ConfigNode& given,
                         ReadContext& context) {
    // A network that is yet to be built for the job leaves classes to engines.
    const std::optional<std::string> ignored = experiment.fabric != nullptr
                                                   ? experiment.fabric->family().ignored_class(traffic_class)
                                                   : std::nullopt;
    const bool is_honoured = ignored ? ignored->empty() : experiment.backend.has_traffic_classes;
    if (traffic_class == 0 || is_honoured) {
        return;
    }
    if (ignored) {
        context.error("config.traffic-class", given.where,
                      fmt::format("'traffic_class' {} has no effect: {}", traffic_class, *ignored),
                      "list it there, or leave it out");
        return;
    }
    context.error(
        "config.traffic-class", given.where,
        fmt::format("'traffic_class' has no effect on backend '{}', which carries all messages alike",
                    experiment.backend_kind),
        "leave it out, or choose a backend that tells classes apart");
}

void apply_operation_rules(Experiment& experiment, const std::vector<OperationRule>& rules,
                           const ConfigNode& root, ReadContext& context) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        // A list of one may be written as a mapping.
        const ConfigNode& list = *root.find_path("cluster.operations");
        const ConfigNode& given = list.is_sequence() ? list.items[i] : list;
        bool is_used = false;
        for (system::Operation& operation : experiment.program.operations) {
            if (!operation.is_collective() ||
                fnmatch(rules[i].name.c_str(), operation.name.c_str(), 0) != 0) {
                continue;
            }
            auto& collective = std::get<system::CollectiveOperation>(operation.work);
            if (!collective.traffic_class) {
                collective.traffic_class = static_cast<std::uint8_t>(rules[i].traffic_class);
                is_used = true;
            }
        }
        if (!is_used) {
            context.error(
                "config.operation", given.find("name")->where,
                fmt::format("'{}' fits no collective of the workload that no entry before it fits",
                            rules[i].name),
                context.is_next_shown() ? suggest(rules[i].name, collective_names(experiment.program)) : "");
        }
        check_traffic_class(experiment, rules[i].traffic_class, *given.find("traffic_class"), context);
    }
}

void check_algorithms(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    std::vector<std::string> reported;
    for (const system::Operation& operation : experiment.program.operations) {
        if (!operation.is_collective()) {
            continue;
        }
        const system::CollectiveOperation& collective = operation.collective();
        const auto kind = static_cast<std::size_t>(collective.kind);
        for (const auto& group : experiment.program.partitions[collective.partition].groups) {
            if (group.size() < 2) {
                continue;
            }
            const system::Shape shape = system::group_shape(group, experiment.cluster.options);
            const system::CollectiveAlgorithm& algorithm =
                *experiment.cluster.options.collectives[kind].algorithm;
            std::optional<std::string> refusal = algorithm.unsupported(collective.kind, shape);
            if (!refusal && collective.is_uneven()) {
                refusal = algorithm.unsupported_uneven();
            }
            if (!refusal || std::find(reported.begin(), reported.end(), *refusal) != reported.end()) {
                continue;
            }
            reported.push_back(*refusal);
            const ConfigNode* place = root.find_path("cluster.collectives." + collective_key(kind));
            context.error(
                "config.algorithm", (place != nullptr ? place : root.find("cluster"))->where,
                fmt::format("{} cannot carry out '{}' over {} ranks: {}", experiment.cluster.algorithms[kind],
                            operation.name, shape.text(), *refusal),
                "choose another algorithm (astrolabe list algorithms), or other 'dimensions' of the cluster");
        }
    }
}

void check_placement(const Experiment& experiment, const PlacementKeys& keys, bool network_needs_job,
                     const ConfigNode& root, ReadContext& context) {
    const ConfigNode* given = root.find_path("cluster.placement");
    if (given == nullptr || keys.is_linear()) {
        return;
    }
    if (network_needs_job) {
        Diagnostic diagnostic{"config.placement",
                              given->where,
                              fmt::format("network '{}' is built around the ranks: host i is that of rank i",
                                          experiment.network_kind),
                              "leave 'placement' out",
                              {}};
        diagnostic.notes.emplace_back(root.find("network")->where, "the network comes from here");
        context.error(std::move(diagnostic));
        return;
    }
    if (keys.is_by_rail() && experiment.fabric->family().servers() == nullptr) {
        Diagnostic diagnostic{
            "config.placement",
            given->where,
            fmt::format("network '{}' has no servers, whose NICs make rails", experiment.network_kind),
            "use round_robin, or a network of servers",
            {}};
        diagnostic.notes.emplace_back(root.find("network")->where, "the network comes from here");
        context.error(std::move(diagnostic));
    }
    for (std::size_t rank = 0; rank < keys.hosts.size(); ++rank) {
        if (keys.hosts[rank] >= experiment.fabric->host_count()) {
            Diagnostic diagnostic{
                "config.placement",
                given->items[rank].where,
                fmt::format("rank {} is placed on host {}, and the network has {} hosts", rank,
                            keys.hosts[rank], experiment.fabric->host_count()),
                fmt::format("hosts are numbered from 0 to {}", experiment.fabric->host_count() - 1),
                {}};
            diagnostic.notes.emplace_back(root.find("network")->where, "the hosts come from here");
            context.error(std::move(diagnostic));
        }
    }
}

void check_backend(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    if (const std::optional<std::string> refusal = experiment.backend.unsupported(*experiment.fabric)) {
        context.error(
            "config.backend", root.find("backend")->where,
            fmt::format("backend '{}' cannot run this network: {}", experiment.backend_kind, *refusal),
            "choose another backend or change the network");
    }
}

/// A path crosses no node twice, so that none takes longer than through all nodes that may be between two
/// others, over the slowest link of each. Half of time, so that there and back is one, too.
void check_latencies(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    constexpr double kMost = to_seconds(Time::max()) / 2;
    const network::Fabric& fabric = *experiment.fabric;
    double between = 0;
    Time first;  // from a host that is never between two others
    for (network::NodeId node; node.index() < fabric.node_count(); ++node) {
        Time slowest;
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            const network::LinkId link(fabric.first_link(node).index() + i);
            slowest = std::max(slowest, network::hop_latency(fabric, link, false));
        }
        if (fabric.node(node).forwards && fabric.out_degree(node) > 1) {
            between += to_seconds(slowest);
        } else {
            first = std::max(first, slowest);
        }
    }
    if (const double longest = to_seconds(first) + between; longest > kMost) {
        context.error(
            "config.time", root.find("network")->where,
            fmt::format("a path through all nodes of the network would take {:.3g} s, expected at most "
                        "{:.3g} s, half of what simulated time can count",
                        longest, kMost),
            "check the units of latencies, or take fewer nodes in a row");
    }
}

void check_fabric(const Experiment& experiment, const ConfigNode& root, ReadContext& context) {
    check_ranks(experiment, root, context);
    check_traffic_classes(experiment, root, context);
    check_circuits_and_rings(experiment, root, context);
    check_backend(experiment, root, context);
}

}  // namespace astrolabe::experiment
