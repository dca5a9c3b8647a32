#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/experiment/file/placement.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe {

template <>
struct EnumNames<experiment::PlacementOrder> {
    static constexpr std::array<std::pair<std::string_view, experiment::PlacementOrder>, 4> kNames{
        {{"linear", experiment::PlacementOrder::kLinear},
         {"round_robin", experiment::PlacementOrder::kRoundRobin},
         {"by_rail", experiment::PlacementOrder::kByRail},
         {"random", experiment::PlacementOrder::kRandom}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {
namespace {

using network::HostId;

constexpr Range<std::uint32_t> kHosts{0, (1U << 31) - 1};

std::vector<HostId> round_robin(std::size_t ranks, const network::Fabric& fabric) {
    const std::vector<std::vector<HostId>> groups = host_groups(fabric);
    std::vector<HostId> hosts;
    for (std::size_t round = 0; hosts.size() < ranks; ++round) {
        for (const std::vector<HostId>& group : groups) {
            if (round < group.size() && hosts.size() < ranks) {
                hosts.push_back(group[round]);
            }
        }
    }
    return hosts;
}

std::vector<HostId> by_rail(std::size_t ranks, const network::Fabric& fabric) {
    const network::ServerLayout* servers = fabric.family().servers();
    ASTROLABE_ASSERT(servers != nullptr, "rails are those of servers");
    std::vector<HostId> hosts = Placement().hosts_of(fabric.host_count());
    // Hosts of a server are consecutive, and stay in order.
    std::ranges::stable_sort(hosts, {}, [servers](HostId host) { return servers->rail_of(host); });
    hosts.resize(ranks);
    return hosts;
}

std::vector<HostId> drawn(std::size_t ranks, const network::Fabric& fabric, std::uint64_t seed) {
    std::vector<HostId> hosts = Placement().hosts_of(fabric.host_count());
    RandomStream(seed, "cluster.placement").shuffle(hosts);
    hosts.resize(ranks);
    return hosts;
}

}  // namespace

std::vector<HostId> Placement::hosts_of(std::size_t ranks) const {
    std::vector<HostId> hosts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        hosts.push_back((*this)[rank]);
    }
    return hosts;
}

void read_placement(PlacementKeys& keys, const ConfigNode& node, ReadContext& context) {
    if (node.is_mapping()) {
        context.error("config.type", node.where,
                      "'placement' takes an order or a list of hosts, found mapping",
                      "write placement: round_robin, or placement: [0, 2, 1, 3]");
        return;
    }
    if (node.is_scalar()) {
        keys.order =
            read_scalar<PlacementOrder>(node, "'placement'", context).value_or(PlacementOrder::kLinear);
        return;
    }
    std::map<std::uint32_t, std::size_t> rank_on;
    for (const ConfigNode& item : node.items) {
        const auto host = read_scalar<std::uint32_t>(item, "an item of 'placement'", context, kHosts);
        if (!host) {
            continue;
        }
        const auto [entry, is_new] = rank_on.try_emplace(*host, keys.hosts.size());
        if (!is_new) {
            context.error("config.placement", item.where,
                          fmt::format("host {} is given to rank {} and to rank {}", *host, entry->second,
                                      keys.hosts.size()),
                          "every rank runs on a host of its own");
        }
        keys.hosts.push_back(*host);
    }
    if (node.items.empty()) {
        context.error("config.value", node.where, "'placement' is an empty list",
                      "name a host for every rank, or leave the key out");
    }
}

std::optional<ConfigNode> write_placement(const PlacementKeys& keys) {
    if (keys.is_linear()) {
        return std::nullopt;
    }
    if (keys.hosts.empty()) {
        return ConfigNode::scalar(ValueTraits<PlacementOrder>::format(keys.order));
    }
    std::vector<ConfigNode> items;
    for (const std::uint32_t host : keys.hosts) {
        items.push_back(ConfigNode::scalar(std::to_string(host)));
    }
    return ConfigNode::sequence(std::move(items));
}

ParameterDescriptor placement_parameter() {
    return {"placement",
            ValueTraits<PlacementOrder>::type() + ", or a list of hosts",
            ValueTraits<PlacementOrder>::format(PlacementKeys().order),
            false,
            {},
            "host of every rank: rank i on host i; a rank to every switch that hosts hang on in turn; the "
            "rails of servers one after another; hosts drawn at random; or the hosts of ranks 0, 1, …",
            {}};
}

ValidationErrors placement_errors(const PlacementKeys& keys, std::size_t ranks) {
    ValidationErrors errors;
    if (!keys.hosts.empty() && keys.hosts.size() != ranks) {
        errors.push_back({"placement",
                          fmt::format("{} hosts are listed for {} ranks", keys.hosts.size(), ranks),
                          "name one host for every rank"});
    }
    if (keys.seed && !keys.is_random()) {
        errors.push_back({"placement_seed", "nothing is drawn with this seed",
                          "leave it out, or write placement: random"});
    }
    return errors;
}

Placement place(const PlacementKeys& keys, std::size_t ranks, const network::Fabric& fabric,
                std::uint64_t experiment_seed) {
    if (!keys.hosts.empty()) {
        return Placement(std::vector<HostId>(keys.hosts.begin(), keys.hosts.end()));
    }
    switch (keys.order) {
        case PlacementOrder::kLinear:
            break;
        case PlacementOrder::kRoundRobin:
            return Placement(round_robin(ranks, fabric));
        case PlacementOrder::kByRail:
            return Placement(by_rail(ranks, fabric));
        case PlacementOrder::kRandom:
            return Placement(drawn(ranks, fabric, keys.seed.value_or(experiment_seed)));
    }
    return {};
}

std::vector<std::vector<HostId>> host_groups(const network::Fabric& fabric) {
    std::vector<std::vector<HostId>> groups;
    if (const network::ServerLayout* servers = fabric.family().servers()) {
        groups.resize(servers->size());
        for (std::size_t index = 0; index < fabric.host_count(); ++index) {
            groups[servers->server_of(HostId(index)).index()].emplace_back(index);
        }
        return groups;
    }
    std::map<network::NodeId, std::size_t> number_of;
    for (std::size_t index = 0; index < fabric.host_count(); ++index) {
        const HostId host(index);
        const auto [entry, is_new] = number_of.try_emplace(place_of(fabric, host), groups.size());
        if (is_new) {
            groups.emplace_back();
        }
        groups[entry->second].push_back(host);
    }
    return groups;
}

}  // namespace astrolabe::experiment
