#include "scaled.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/network/family.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::experiment {
namespace {

constexpr double kMostTimes = 1e6;
/// Of what costs time.
constexpr Range<double> kTimes{0.0, kMostTimes};
/// Of what saves time.
constexpr Range<Factor> kResources{Factor{1 / kMostTimes}, Factor{std::numeric_limits<double>::infinity()}};

void read_link_factors(ScaledKeys& keys, const ConfigNode& node, ReadContext& context) {
    if (!node.is_mapping()) {
        context.error(
            "config.type", node.where, fmt::format("'links' takes a mapping, found {}", node.kind_name()),
            "write {CLASS: FACTOR}, with the classes of links that the network has: {host-leaf: 2}");
        return;
    }
    for (const ConfigEntry& entry : node.entries) {
        if (const auto factor =
                read_scalar<Factor>(entry.value, "'" + entry.key + "'", context, kResources)) {
            keys.links[entry.key] = factor->times;
        }
    }
}

ConfigNode write_link_factors(const ScaledKeys& keys) {
    ConfigNode node = ConfigNode::mapping();
    for (const auto& [name, factor] : keys.links) {
        node.set(name, ConfigNode::scalar(ValueTraits<Factor>::format(Factor{factor})));
    }
    return node;
}

system::PerRank<Time> divided(const system::PerRank<Time>& times, double by) {
    if (times.uniform()) {
        return network::scaled(times[system::RankId(0)], 1 / by);
    }
    std::vector<Time> each;
    for (std::size_t rank = 0; rank < times.size(); ++rank) {
        each.push_back(network::scaled(times[system::RankId(rank)], 1 / by));
    }
    return system::PerRank<Time>(std::move(each));
}

}  // namespace

Schema<ScaledKeys> scaled_schema() {
    Schema<ScaledKeys> schema("scaled", "resources times factors, whatever the keys of the network");
    schema
        .field({"links",
                "mapping of link classes to numbers or inf",
                "{}",
                false,
                range_text(kResources),
                "rates of the links between two kinds of nodes, by the names that results give them: "
                "{host-leaf: "
                "2}",
                {}},
               read_link_factors,
               [](const ScaledKeys& keys) { return std::optional(write_link_factors(keys)); })
        .optional("latency", &ScaledKeys::latency,
                  "propagation on all links, and the time in which hosts forward", kTimes)
        .optional("compute", &ScaledKeys::compute, "speed of computation on all ranks", kResources)
        .optional("reconfiguration", &ScaledKeys::reconfiguration,
                  "time in which circuits are down when they change", kTimes)
        .optional("end_points", &ScaledKeys::end_points,
                  "speed of copies into the network interface and of additions", kResources);
    return schema;
}

void scale_network(Experiment& experiment, const ScaledKeys& keys, const ConfigNode& section,
                   ReadContext& context) {
    auto scaled = network::scale(
        experiment.fabric,
        {.links = keys.links, .latency = keys.latency, .reconfiguration = keys.reconfiguration});
    if (const auto* errors = std::get_if<ValidationErrors>(&scaled)) {
        report_validation_errors(section, *errors, context);
        return;
    }
    experiment.fabric = std::get<std::shared_ptr<const network::Fabric>>(std::move(scaled));
    experiment.cluster.options.circuit_windows = experiment.fabric->family().circuit_windows();
}

void scale_ranks(Experiment& experiment, const ScaledKeys& keys) {
    const double compute = keys.compute.times;
    for (system::Operation& operation : experiment.program.operations) {
        if (operation.is_compute()) {
            auto& work = std::get<system::ComputeOperation>(operation.work);
            work.duration = divided(work.duration, compute);
            if (work.contended) {
                work.contended = divided(*work.contended, compute);
            }
        } else if (operation.is_collective()) {
            auto& work = std::get<system::CollectiveOperation>(operation.work);
            work.completion_delay = network::scaled(work.completion_delay, 1 / compute);
            work.least_duration = network::scaled(work.least_duration, 1 / keys.end_points.times);
        }
    }
    system::EndPoint& end_point = experiment.cluster.options.end_point;
    end_point.injection_latency = network::scaled(end_point.injection_latency, 1 / keys.end_points.times);
    if (end_point.reduction_bandwidth && std::isinf(keys.end_points.times)) {
        end_point.reduction_bandwidth.reset();
    } else if (end_point.reduction_bandwidth) {
        const double rate =
            static_cast<double>(end_point.reduction_bandwidth->count()) * keys.end_points.times;
        end_point.reduction_bandwidth = rate >= static_cast<double>(Bandwidth::max().count())
                                            ? Bandwidth::max()
                                            : Bandwidth(std::max<std::int64_t>(1, std::llround(rate)));
    }
}

}  // namespace astrolabe::experiment
