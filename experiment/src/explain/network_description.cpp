#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/network_description.hpp>
#include <astrolabe/experiment/file/equal_cost.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::experiment {

namespace {

std::string line(std::string_view name, std::string_view value) {
    return fmt::format("  {:<18}{}\n", name, value);
}

/// As many as people look through, by time.
std::string failure_table(const std::vector<FailureSpan>& failures) {
    constexpr std::size_t kMostListed = 20;
    std::string text;
    if (!failures.empty()) {
        text = fmt::format("  {:<44}{:>16}{:>16}\n", fmt::format("failures, {} in all", failures.size()),
                           "from", "until");
    }
    for (std::size_t i = 0; i < std::min(kMostListed, failures.size()); ++i) {
        const FailureSpan& failure = failures[i];
        text += fmt::format("    {:<42}{:>16}{:>16}\n", failure.what, to_string(failure.from),
                            failure.until == Time::max() ? "for ever" : to_string(failure.until));
    }
    if (failures.size() > kMostListed) {
        text += fmt::format("    and {} more\n", failures.size() - kMostListed);
    }
    return text;
}

}  // namespace

network::Description describe_for_job(const Experiment& experiment) {
    const system::TrafficMatrix traffic =
        system::traffic_matrix(experiment.program, experiment.cluster.options);
    std::vector<network::PairTraffic> job;
    for (std::size_t source = 0; source < traffic.ranks(); ++source) {
        for (std::size_t destination = 0; destination < traffic.ranks(); ++destination) {
            if (source != destination) {
                job.push_back({experiment.placement[source], experiment.placement[destination],
                               static_cast<double>(traffic(source, destination).count())});
            }
        }
    }
    return experiment.fabric->family().describe(*experiment.fabric, job);
}

Result<DescribedNetwork> load_network(const std::string& path, const Components& components) {
    ReadContext context;
    Result<ConfigNode> file = load_config(path, context.usage());
    if (!file) {
        return file.error();
    }
    ConfigNode network = *std::move(file);
    const bool is_experiment = network.find("workload") != nullptr;
    const bool needs_experiment =
        is_experiment && (network.find("scaled") != nullptr || network.find("failures") != nullptr);
    if (ConfigNode* section = network.find("network")) {
        resolve_reference(*section, context);
        ConfigNode inner = std::move(*section);
        network = std::move(inner);
    }
    std::optional<Registry<network::FabricMaker>::Configured> configured;
    if (context.error_count() == 0) {
        configured = read_network(network, components, context, {"schema"});
    }
    if (!configured) {
        return context.errors();
    }
    const network::FabricMaker maker = configured->make();
    if (!maker.needs_job() && !needs_experiment) {
        const std::shared_ptr<const network::Fabric> fabric = maker(1);
        return DescribedNetwork{configured->resolved, fabric, fabric->family().describe(*fabric, {}), {}};
    }
    if (!is_experiment) {
        context.error("config.no-job", network.find("kind")->where,
                      fmt::format("a network of kind '{}' is built for a job, and this file has none",
                                  configured->kind),
                      "name an experiment file with this network");
        return context.errors();
    }
    const Result<Experiment> experiment = load_experiment(path, {}, components);
    if (!experiment) {
        return experiment.error();
    }
    return DescribedNetwork{configured->resolved, experiment->fabric,
                            maker.needs_job()
                                ? describe_for_job(*experiment)
                                : experiment->fabric->family().describe(*experiment->fabric, {}),
                            experiment->failures};
}

nlohmann::ordered_json describe_json(const DescribedNetwork& described) {
    const network::Fabric& fabric = *described.fabric;
    const std::size_t one_way = fabric.one_way_link_count();
    nlohmann::ordered_json object{{"kind", fabric.kind()},
                                  {"hosts", fabric.host_count()},
                                  {"switches", fabric.node_count() - fabric.host_count()},
                                  {"cables", (fabric.link_count() - one_way) / 2}};
    if (one_way > 0) {
        object["one_way_links"] = one_way;
    }
    if (!described.description.key.empty()) {
        object[described.description.key] = described.description.json;
    }
    for (const FailureSpan& failure : described.failures) {
        object["failures"].push_back({{"what", failure.what}, {"from_s", to_seconds(failure.from)}});
        if (failure.until < Time::max()) {
            object["failures"].back()["until_s"] = to_seconds(failure.until);
        }
    }
    return object;
}

std::string describe_text(const DescribedNetwork& described) {
    const network::Fabric& fabric = *described.fabric;
    const network::Description& description = described.description;
    const std::size_t one_way = fabric.one_way_link_count();
    std::string text =
        line("kind", fabric.kind()) + line("hosts", fmt::to_string(fabric.host_count())) +
        line("switches", fmt::to_string(fabric.node_count() - fabric.host_count())) +
        line("cables", fmt::format("{}{}", (fabric.link_count() - one_way) / 2, description.cables));
    if (one_way > 0) {
        text += line("one_way_links", fmt::to_string(one_way));
    }
    for (const auto& [name, value] : description.facts) {
        text += line(name, value);
    }
    return text + description.tables + failure_table(described.failures);
}

}  // namespace astrolabe::experiment
