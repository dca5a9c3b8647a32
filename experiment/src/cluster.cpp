#include "cluster.hpp"

#include <algorithm>

namespace astrolabe {

template <>
struct EnumNames<system::Scheduling> {
    static constexpr std::array<std::pair<std::string_view, system::Scheduling>, 2> kNames{
        {{"lifo", system::Scheduling::kLifo}, {"fifo", system::Scheduling::kFifo}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {
namespace {

using AllCollectives = std::array<CollectiveKeys, system::kCollectiveKinds>;

Schema<CollectiveKeys> collective_schema(const Components& components, std::size_t kind) {
    std::vector<std::string> names;
    for (const system::AlgorithmEntry& entry : components.algorithms) {
        // Two ranks: can the algorithm do this kind at all? Group sizes are known only with the program.
        if (!entry.algorithm->refusal(static_cast<system::CollectiveKind>(kind), 2)) {
            names.push_back(entry.name);
        }
    }
    std::string type = "one of";
    for (const std::string& name : names) {
        type += (&name == &names.front() ? " " : ", ") + name;
    }
    Schema<CollectiveKeys> schema(collective_key(kind), "how this collective is carried out");
    schema
        .field(
            {"algorithm",
             type,
             ClusterKeys().collectives[kind].algorithm,
             false,
             {},
             "collective algorithm",
             {}},
            [names, type](CollectiveKeys& keys, const ConfigNode& node, ReadContext& context) {
                if (!node.is_scalar() || std::find(names.begin(), names.end(), node.text) == names.end()) {
                    context.error("config.value", node.where,
                                  "'algorithm': '" + node.text + "' is not " + type,
                                  suggest(node.text, names));
                    return;
                }
                keys.algorithm = node.text;
            },
            [](const CollectiveKeys& keys) { return std::optional(ConfigNode::scalar(keys.algorithm)); })
        .optional("chunks", &CollectiveKeys::chunks, "chunks a collective is cut in, each run by itself",
                  {1, 1U << 20});
    return schema;
}

Schema<AllCollectives> collectives_schema(const Components& components) {
    Schema<AllCollectives> schema("collectives", "algorithm and chunks of each kind of collective");
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        const Schema<CollectiveKeys> one = collective_schema(components, kind);
        schema.field(
            {collective_key(kind), "mapping", "see its keys", false, {}, one.help(), one.parameters()},
            [one, kind](AllCollectives& all, const ConfigNode& node, ReadContext& context) {
                if (std::optional<CollectiveKeys> keys = one.read(node, context)) {
                    all[kind].chunks = keys->chunks;
                    if (!keys->algorithm.empty()) {
                        all[kind].algorithm = std::move(keys->algorithm);
                    }
                }
            },
            [one, kind](const AllCollectives& all) { return std::optional(one.write(all[kind])); });
    }
    return schema;
}

}  // namespace

ClusterKeys::ClusterKeys() {
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        const auto which = static_cast<system::CollectiveKind>(kind);
        const bool is_direct = which == system::CollectiveKind::kAllToAll || system::has_root(which);
        collectives[kind].algorithm = is_direct ? "direct" : "ring";
    }
}

std::string collective_key(std::size_t kind) {
    return std::string(system::to_string(static_cast<system::CollectiveKind>(kind)));
}

Schema<ClusterKeys> cluster_schema(const Components& components) {
    Schema<ClusterKeys> schema("cluster", "the ranks, their device, and how they carry out collectives");
    const Schema<AllCollectives> collectives = collectives_schema(components);
    schema.required("ranks", &ClusterKeys::ranks, "number of ranks; rank i runs on host i", {1, 1U << 20})
        .field(
            {"device",
             "mapping",
             "",
             true,
             {},
             "what a rank computes on, or the path of a file that holds it",
             {}},
            [&components](ClusterKeys& keys, const ConfigNode& node, ReadContext& context) {
                keys.device = components.devices.read(node, context);
            },
            [](const ClusterKeys& keys) {
                return keys.device ? std::optional(keys.device->resolved) : std::nullopt;
            })
        .field(
            {"collectives",
             "mapping",
             "see its keys",
             false,
             {},
             collectives.help(),
             collectives.parameters()},
            [collectives](ClusterKeys& keys, const ConfigNode& node, ReadContext& context) {
                if (std::optional<AllCollectives> all = collectives.read(node, context)) {
                    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
                        if ((*all)[kind].algorithm.empty()) {
                            (*all)[kind].algorithm = keys.collectives[kind].algorithm;
                        }
                    }
                    keys.collectives = std::move(*all);
                }
            },
            [collectives](const ClusterKeys& keys) {
                return std::optional(collectives.write(keys.collectives));
            })
        .optional("scheduling", &ClusterKeys::scheduling,
                  "which of the waiting collectives starts next: the newest or the oldest")
        .optional("active_chunks", &ClusterKeys::active_chunks, "chunks a rank may have under way",
                  {1, 1U << 20})
        .optional("injection_latency", &ClusterKeys::injection_latency,
                  "copy into the network interface, per message",
                  {Time(0), Time(1000 * kPicosecondsPerSecond)})
        .optional("minimum_chunk", &ClusterKeys::minimum_chunk, "collectives are not cut finer than this",
                  {Bytes(1), {}});
    return schema;
}

const system::AlgorithmEntry& find_algorithm(const Components& components, std::string_view name) {
    const auto found = std::find_if(components.algorithms.begin(), components.algorithms.end(),
                                    [&](const system::AlgorithmEntry& entry) { return entry.name == name; });
    ASTROLABE_ASSERT(found != components.algorithms.end(), "the reader accepts registered algorithms only");
    return *found;
}

Cluster make_cluster(const ClusterKeys& keys, const Components& components) {
    Cluster cluster;
    cluster.ranks = keys.ranks;
    cluster.device = keys.device->make();
    cluster.options.scheduling = keys.scheduling;
    cluster.options.active_chunks = keys.active_chunks;
    cluster.options.end_point.injection_latency = keys.injection_latency;
    cluster.options.minimum_chunk = keys.minimum_chunk;
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        cluster.algorithms[kind] = keys.collectives[kind].algorithm;
        cluster.options.collectives[kind] = {
            find_algorithm(components, keys.collectives[kind].algorithm).algorithm,
            keys.collectives[kind].chunks};
    }
    return cluster;
}

ComponentDescription cluster_description(const Components& components) {
    const Schema<ClusterKeys> schema = cluster_schema(components);
    return {schema.name(), schema.help(), schema.parameters()};
}

}  // namespace astrolabe::experiment
