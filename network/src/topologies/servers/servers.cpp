#include "../checks.hpp"
#include "../flat.hpp"
#include "../topology_schemas.hpp"
#include "composition.hpp"
#include "job_servers.hpp"
#include "server_parameters.hpp"
#include "split_servers.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/network/family.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::servers::ScaleUp> {
    using Kind = network::servers::ScaleUp;
    static constexpr std::array<std::pair<std::string_view, Kind>, 6> kNames{{{"switch", Kind::kSwitch},
                                                                              {"mesh", Kind::kMesh},
                                                                              {"ring", Kind::kRing},
                                                                              {"hypercube", Kind::kHypercube},
                                                                              {"pcie", Kind::kPcie},
                                                                              {"none", Kind::kNone}}};
};
template <>
struct EnumNames<network::servers::NicShare> {
    using Share = network::servers::NicShare;
    static constexpr std::array<std::pair<std::string_view, Share>, 3> kNames{
        {{"gpu", Share::kGpu}, {"pair", Share::kPair}, {"server", Share::kServer}}};
};
template <>
struct EnumNames<network::servers::Attach> {
    using Attach = network::servers::Attach;
    static constexpr std::array<std::pair<std::string_view, Attach>, 4> kNames{
        {{"gpu", Attach::kGpu},
         {"pcie", Attach::kPcie},
         {"scale_up", Attach::kScaleUp},
         {"integrated", Attach::kIntegrated}}};
};
template <>
struct EnumNames<network::servers::Rails> {
    using Rails = network::servers::Rails;
    static constexpr std::array<std::pair<std::string_view, Rails>, 3> kNames{
        {{"none", Rails::kNone}, {"aligned", Rails::kAligned}, {"separate", Rails::kSeparate}}};
};
template <>
struct EnumNames<network::NicRule> {
    static constexpr std::array<std::pair<std::string_view, network::NicRule>, 2> kNames{
        {{"spine", network::NicRule::kOwn}, {"nvlink_first", network::NicRule::kRail}}};
};

}  // namespace astrolabe

namespace astrolabe::network::servers {

namespace {

using Networks = Registry<FabricMaker>;

struct ServersParameters {
    std::vector<ServerParameters> servers;
    Rails rails = Rails::kNone;
    std::optional<NicRule> rail_policy;
    ConfigNode given;  ///< scale_out as it is in the file
    /// As completed for each plane.
    std::vector<Networks::Configured> planes;
    bool gives_hosts = false;
    bool is_split = false;  ///< messages leave through their own NICs, whatever rails there are
};

Schema<ServerParameters> server_schema() {
    Schema<ScaleUpParameters> scale_up("scale_up", "the network between the GPUs of a server");
    scale_up.optional("kind", &ScaleUpParameters::kind, "how GPUs are joined")
        .optional("rate", &ScaleUpParameters::rate, "rate of each direction of a cable",
                  {Bandwidth(1), kMaxLinkRate})
        .optional("latency", &ScaleUpParameters::latency, "one-way propagation", {Time(0), kMaxLinkLatency})
        .optional("switch_buffer", &ScaleUpParameters::switch_buffer,
                  "packet memory of the switch; 0: unlimited", {Bytes(0), {}});
    Schema<PcieParameters> pcie("pcie", "the bus of a server");
    pcie.optional("rate", &PcieParameters::rate, "rate of each direction of a cable",
                  {Bandwidth(1), kMaxLinkRate})
        .optional("latency", &PcieParameters::latency, "one-way propagation", {Time(0), kMaxLinkLatency})
        .optional("gpus_per_switch", &PcieParameters::gpus_per_switch,
                  "GPUs on a PCIe switch; 0: as many as share a NIC, for scale_up: pcie at least 2",
                  {0, kMaxGpusOfServer})
        .optional("processors", &PcieParameters::processors, "of a server with scale_up: pcie",
                  {1, kMaxProcessors})
        .optional("socket_rate", &PcieParameters::socket_rate, "rate between two processors",
                  {Bandwidth(1), kMaxLinkRate})
        .optional("socket_latency", &PcieParameters::socket_latency, "one way between two processors",
                  {Time(0), kMaxLinkLatency});
    Schema<NicParameters> nics("nics", "the network interfaces of a server");
    nics.optional("count", &NicParameters::count, "NICs of a GPU, pair or server", {1, kMaxNicsOfGroup})
        .optional("per", &NicParameters::per, "who shares them")
        .optional("attach", &NicParameters::attach, "what they hang on")
        .optional("rate", &NicParameters::rate,
                  "of the cable into the scale-out network; unset: that network says it",
                  {Bandwidth(1), kMaxLinkRate})
        .optional("latency", &NicParameters::latency, "one way of the same cable", {Time(0), kMaxLinkLatency})
        .optional("buffer", &NicParameters::buffer, "packet memory of a NIC; 0: unlimited", {Bytes(0), {}});
    Schema<ServerParameters> schema("servers", "servers that are alike");
    schema.required("count", &ServerParameters::count, "number of servers", {1, kMaxHosts})
        .optional("gpus", &ServerParameters::gpus, "GPUs of a server; 0: as many as the topology file has",
                  {0, kMaxGpusOfServer})
        .field(
            {"topology",
             "path",
             "unset",
             false,
             {},
             "NCCL's XML of what is inside a server; relative to the file that names it",
             {}},
            [](ServerParameters& server, const ConfigNode& node, ReadContext& context) {
                if (const auto given = read_scalar<std::string>(node, "'topology'", context)) {
                    // Absolute, so that a resolved experiment finds it from anywhere.
                    server.topology =
                        std::filesystem::absolute(directory_of(node) / *given).lexically_normal().string();
                }
            },
            [](const ServerParameters& server) -> std::optional<ConfigNode> {
                return server.topology.empty() ? std::nullopt
                                               : std::optional(ConfigNode::scalar(server.topology));
            })
        .section("scale_up", &ServerParameters::scale_up, scale_up, "the network between their GPUs")
        .section("pcie", &ServerParameters::pcie, pcie, "their bus")
        .section("nics", &ServerParameters::nics, nics, "their network interfaces")
        .check([](const ServerParameters& p) { return validation_errors(p); })
        .complete(read_topology);
    return schema;
}

void read_servers(ServersParameters& p, const ConfigNode& node, ReadContext& context) {
    const std::vector<ConfigNode> items = node.is_sequence() ? node.items : std::vector{node};
    for (const ConfigNode& item : items) {
        if (std::optional<ServerParameters> one = server_schema().read(item, context)) {
            p.servers.push_back(*std::move(one));
        }
    }
    if (items.empty()) {
        context.error("config.value", node.where, "there are no servers", "write {count: 8, gpus: 8}");
    }
}

NicRule rule_of(const ServersParameters& p) {
    const NicRule usual = p.rails == Rails::kNone || p.is_split ? NicRule::kOwn : NicRule::kRail;
    return p.rail_policy.value_or(usual);
}

ValidationErrors cross_errors(const ServersParameters& p) {
    ValidationErrors errors;
    std::int64_t gpus = 0;
    std::int64_t cables = 0;
    for (const ServerParameters& server : p.servers) {
        gpus += server.count * server.gpus;
        cables += server.count * cables_of_server(server);
    }
    require(errors, gpus <= kMaxHosts && cables <= kMaxCables, "servers",
            fmt::format("the servers have {} GPUs and about {} cables, expected at most {} and {}", gpus,
                        cables, kMaxHosts, kMaxCables),
            "use fewer or smaller servers");
    require(errors, p.rails != Rails::kNone || !p.rail_policy, "rail_policy",
            "there are no rails that it could choose", "give rails: aligned or separate");
    require(errors, p.rails != Rails::kSeparate || rule_of(p) == NicRule::kRail, "rail_policy",
            "separate rails have no spine between them", "use nvlink_first, or rails: aligned");
    if (!errors.empty() || rule_of(p) != NicRule::kRail) {
        return errors;  // of servers that are refused already no graph is made
    }
    require(errors,
            std::ranges::all_of(
                p.servers,
                [](const ServerParameters& server) {
                    return ServerPaths(make_graph(server), LoadBalancing::kFlowHash, 1).is_connected();
                }),
            "servers", "GPUs of a server do not reach every rail inside it",
            "give a scale_up that joins them, or rails: aligned with rail_policy: spine");
    return errors;
}

/// Of servers, all whose NICs have one rate or leave it to the scale-out network.
template <class T>
std::optional<T> common(const ServersParameters& p, std::optional<T> NicParameters::*member,
                        std::string_view key, const ConfigNode& node, ReadContext& context) {
    const std::optional<T> first = p.servers.front().nics.*member;
    for (const ServerParameters& server : p.servers) {
        if (server.nics.*member != first) {
            context.error("network.servers", node.find("servers")->where,
                          fmt::format("NICs of different servers have different nics.{}", key),
                          "the cables of one scale-out network are alike: give all servers the same");
            return std::nullopt;
        }
    }
    return first;
}

/// Gives the cable of a host what NICs say, where the network does not say it itself.
template <class T>
void give_link(ConfigNode& network, const std::vector<ParameterDescriptor>& known, std::string_view key,
               const std::optional<T>& value, ReadContext& context) {
    if (!value) {
        return;
    }
    const std::string name(key);
    const std::string text = ValueTraits<T>::format(*value);
    if (std::ranges::none_of(known, [](const ParameterDescriptor& one) { return one.key == "link"; })) {
        context.error(
            "network.servers", network.where,
            fmt::format("nics.{} is given, and this network has no 'link' that it could be of", key),
            "leave it out, and give the network its rates");
        return;
    }
    ConfigNode link = network.find("link") != nullptr ? *network.find("link") : ConfigNode::mapping();
    link.where = network.find("link") != nullptr ? link.where : network.where;
    if (const ConfigNode* given = link.find(name)) {
        const Parsed<T> parsed = ValueTraits<T>::parse(given->text);
        if (!std::holds_alternative<T>(parsed) || std::get<T>(parsed) != *value) {
            context.error("network.servers", given->where,
                          fmt::format("the cable of a NIC has {} {} here, and nics.{} is {}", key,
                                      given->text, key, text),
                          "give it once");
        }
        return;
    }
    ConfigNode scalar = ConfigNode::scalar(text);
    scalar.where = network.where;
    link.set(name, std::move(scalar));
    network.set("link", std::move(link));
}

/// What makes a scale-out network of `nics` hosts no part of servers; empty: nothing.
std::optional<std::pair<std::string, std::string>> plane_defect(const Fabric& plane, std::size_t nics,
                                                                bool has_integrated_nics) {
    using Defect = std::pair<std::string, std::string>;
    if (plane.host_count() != nics) {
        return Defect{fmt::format("the scale-out network has {} hosts, and the servers have {} NICs for it",
                                  plane.host_count(), nics),
                      "its hosts are the NICs: make both numbers the same"};
    }
    if (plane.demand_aware_circuits() != nullptr) {
        return Defect{fmt::format("servers take networks whose links are always there or follow a schedule, "
                                  "and a controller moves those of '{}'",
                                  plane.kind()),
                      "leave out reconfiguration"};
    }
    if (plane.one_way_link_count() > 0) {
        return Defect{"the scale-out network has one-way links, and NICs have full-duplex cables",
                      "use links that go both ways"};
    }
    for (NodeId host; host.index() < plane.host_count(); ++host) {
        const Node& node = plane.node(host);
        if (node.forwarding > Time(0)) {
            return Defect{fmt::format("{} of the scale-out network takes {} to forward, and NICs forward at "
                                      "once",
                                      node.name, to_string(node.forwarding)),
                          "leave the forwarding latency out, or add it to that of the links"};
        }
        if (has_integrated_nics && node.forwards && plane.out_degree(host) > 1) {
            return Defect{
                "hosts of the scale-out network forward what is for others, and NICs are parts of "
                "GPUs",
                "give servers NICs of their own, nics: {attach: gpu}"};
        }
    }
    return std::nullopt;
}

IndexedVector<ServerId, std::shared_ptr<const ServerPaths>> paths_of(const ServersParameters& p,
                                                                     LoadBalancing load_balancing,
                                                                     std::uint64_t seed) {
    IndexedVector<ServerId, std::shared_ptr<const ServerPaths>> servers;
    for (const ServerParameters& alike : p.servers) {
        const auto paths = std::make_shared<const ServerPaths>(
            make_graph(alike),
            load_balancing == LoadBalancing::kSpray ? load_balancing : LoadBalancing::kFlowHash, seed);
        for (std::int64_t i = 0; i < alike.count; ++i) {
            servers.push_back(paths);
        }
    }
    return servers;
}

bool has_integrated_nics(const ServersParameters& p) {
    return std::ranges::any_of(
        p.servers, [](const ServerParameters& server) { return server.nics.attach == Attach::kIntegrated; });
}

/// What makes servers no part of a network whose links come and go; empty: nothing.
std::optional<std::pair<std::string, std::string>> split_defect(
    const ServersParameters& p, const Fabric& plane,
    const IndexedVector<ServerId, std::shared_ptr<const ServerPaths>>& servers) {
    using Defect = std::pair<std::string, std::string>;
    if (p.rails == Rails::kSeparate) {
        return Defect{
            fmt::format("links of '{}' come and go, and rails would each have a schedule of its own",
                        plane.kind()),
            "use rails: aligned or none"};
    }
    if (p.rail_policy == NicRule::kRail) {
        return Defect{fmt::format("rail_policy is nvlink_first, and links of '{}' come and go: they are "
                                  "simulated apart from those inside servers",
                                  plane.kind()),
                      "use rail_policy: spine, or a network whose links are always there"};
    }
    std::set<const ServerPaths*> checked;
    for (const auto& server : servers) {
        if (checked.insert(server.get()).second) {
            if (auto defect = leg_defect(*server, plane.egress_rate(HostId(0)))) {
                return defect;
            }
        }
    }
    return std::nullopt;
}

void check_planes(ServersParameters& p, ReadContext& context) {
    const auto servers = paths_of(p, LoadBalancing::kFlowHash, 1);
    const std::vector<std::size_t> hosts = hosts_of_planes(servers, p.rails);
    const auto refuse = [&](std::string message, std::string hint) {
        context.error("network.servers", p.given.where, std::move(message), std::move(hint));
    };
    for (std::size_t plane = 0; plane < p.planes.size(); ++plane) {
        const FabricMaker maker = p.planes[plane].make();
        if (maker.needs_job()) {
            if (p.rails == Rails::kSeparate) {
                refuse(fmt::format("a network of kind '{}' is built for a job, and rails would share the job",
                                   p.planes[plane].kind),
                       "use rails: aligned or none");
            }
            return;
        }
        const std::shared_ptr<const Fabric> fabric = maker(1);
        if (const auto defect = plane_defect(*fabric, hosts[plane], has_integrated_nics(p))) {
            return refuse(defect->first, defect->second);
        }
        p.is_split = is_split(*fabric);
        if (const auto defect = p.is_split ? split_defect(p, *fabric, servers) : std::nullopt) {
            return refuse(defect->first, defect->second);
        }
        const bool has_choice = std::ranges::any_of(servers, [](const auto& server) {
            for (std::uint32_t gpu = 0; gpu < server->gpus(); ++gpu) {
                if (server->nics_of(gpu).size() > 1) {
                    return true;
                }
            }
            return false;
        });
        if (has_choice && fabric->routing().load_balancing() == LoadBalancing::kSpray) {
            return refuse(
                "a GPU has several NICs, and switches that spray cannot tell which of them a "
                "message is for",
                "use load_balancing: flow_hash, or one NIC with the rates of all");
        }
    }
}

void read_planes(ServersParameters& p, const ConfigNode& node, ReadContext& context,
                 const Networks& networks) {
    const std::size_t before = context.error_count();
    const std::vector<std::size_t> hosts = hosts_of_planes(paths_of(p, LoadBalancing::kFlowHash, 1), p.rails);
    const auto rate = common(p, &NicParameters::rate, "rate", node, context);
    const auto latency = common(p, &NicParameters::latency, "latency", node, context);
    const ConfigNode* kind = p.given.find(networks.discriminator());
    std::vector<ParameterDescriptor> known;
    for (const ComponentDescription& one : networks.descriptions()) {
        if (kind != nullptr && one.name == kind->text) {
            known = one.parameters;
        }
    }
    p.gives_hosts = p.given.find("hosts") != nullptr ||
                    std::ranges::none_of(
                        known, [](const ParameterDescriptor& parameter) { return parameter.key == "hosts"; });
    for (const std::size_t count : hosts) {
        ConfigNode network = p.given;
        if (!p.gives_hosts) {
            ConfigNode value = ConfigNode::scalar(std::to_string(count));
            value.where = p.given.where;
            network.set("hosts", std::move(value));
        }
        if (!known.empty()) {
            give_link(network, known, "rate", rate, context);
            give_link(network, known, "latency", latency, context);
        }
        if (context.error_count() == before) {
            if (auto configured = networks.read(network, context)) {
                p.planes.push_back(*std::move(configured));
            }
        }
        if (context.error_count() != before) {
            return;
        }
    }
    check_planes(p, context);
}

Schema<ServersParameters> servers_schema(const Networks& networks) {
    Schema<ServersParameters> schema("servers", "servers of GPUs and NICs over a scale-out network");
    schema.field({"servers",
                  "mapping, or list of mappings",
                  "",
                  true,
                  {},
                  "servers that are alike, or a list of such",
                  server_schema().parameters()},
                 read_servers, [](const ServersParameters& p) -> std::optional<ConfigNode> {
                     std::vector<ConfigNode> items;
                     for (const ServerParameters& server : p.servers) {
                         ConfigNode written = server_schema().write(server);
                         leave_out_topology(server, written);
                         items.push_back(std::move(written));
                     }
                     return items.size() == 1 ? items.front() : ConfigNode::sequence(std::move(items));
                 });
    schema
        .optional("rails", &ServersParameters::rails,
                  "whether hosts of the scale-out network are numbered by rail, or every rail has one of its "
                  "own")
        .optional(
            "rail_policy", &ServersParameters::rail_policy,
            "how a message gets to another rail; unset: nvlink_first where there are rails, spine where "
            "links of the scale-out network come and go");
    schema.field(
        {"scale_out",
         networks.section(),
         "",
         true,
         {},
         "the network between servers, whose hosts are the NICs",
         {}},
        [](ServersParameters& p, const ConfigNode& node, ReadContext& context) {
            if (!node.is_mapping()) {
                context.error("config.type", node.where,
                              fmt::format("'scale_out' takes a network, found {}", node.kind_name()),
                              "write {kind: leaf_spine, …}");
                return;
            }
            p.given = node;
        },
        [](const ServersParameters& p) -> std::optional<ConfigNode> {
            ConfigNode written = p.planes.front().resolved;
            if (!p.gives_hosts) {
                std::erase_if(written.entries, [](const ConfigEntry& entry) { return entry.key == "hosts"; });
            }
            return written;
        });
    schema.check(cross_errors)
        .complete([networks](ServersParameters& p, const ConfigNode& node, ReadContext& context) {
            read_planes(p, node, context, networks);
        });
    return schema;
}

std::shared_ptr<const Fabric> build(const ServersParameters& p,
                                    std::vector<std::shared_ptr<const Fabric>> planes, std::uint64_t seed) {
    ComposedParts parts;
    parts.planes = std::move(planes);
    parts.servers = paths_of(p, parts.planes.front()->routing().load_balancing(), seed);
    parts.rails = p.rails;
    parts.rule = rule_of(p);
    return compose(parts);
}

std::shared_ptr<const Fabric> build(const ServersParameters& p, std::uint64_t seed) {
    std::vector<std::shared_ptr<const Fabric>> planes;
    for (const Networks::Configured& plane : p.planes) {
        planes.push_back(plane.make()(seed));
    }
    return build(p, std::move(planes), seed);
}

std::variant<NetworksForJob, ValidationErrors> build_for_job(const ServersParameters& p, const Demand& demand,
                                                             std::uint64_t seed) {
    const std::size_t nics = hosts_of_planes(paths_of(p, LoadBalancing::kFlowHash, 1), p.rails).front();
    FlatParameters any;  // who has which NIC does not depend on the network between them
    any.hosts = static_cast<std::int64_t>(nics);
    const std::shared_ptr<const Fabric> placeholder = build(p, {build_flat(any)}, seed);
    if (placeholder->host_count() != demand.servers) {
        return ValidationErrors{{"servers",
                                 fmt::format("a network that is built for its job has a GPU for every rank, "
                                             "and {} GPUs are not {} ranks",
                                             placeholder->host_count(), demand.servers),
                                 "make both numbers the same"}};
    }
    std::variant<Demand, ValidationErrors> of_nics = demand_of_nics(*placeholder->family().servers(), demand);
    if (auto* errors = std::get_if<ValidationErrors>(&of_nics)) {
        return std::move(*errors);
    }
    auto built = p.planes.front().make().for_job()(std::get<Demand>(of_nics), seed);
    if (auto* errors = std::get_if<ValidationErrors>(&built)) {
        for (ValidationError& error : *errors) {
            error.key = error.key.empty() ? "scale_out" : "scale_out." + error.key;
        }
        return std::move(*errors);
    }
    NetworksForJob networks;
    for (std::shared_ptr<const Fabric>& plane : std::get<NetworksForJob>(built)) {
        if (const auto defect = plane_defect(*plane, nics, has_integrated_nics(p))) {
            return ValidationErrors{{"scale_out", defect->first, defect->second}};
        }
        networks.push_back(build(p, {std::move(plane)}, seed));
    }
    return networks;
}

/// Of every server; 0: they differ.
std::uint32_t gpus_per_server(const ServersParameters& p) {
    const std::int64_t first = p.servers.front().gpus;
    return std::ranges::all_of(p.servers,
                               [first](const ServerParameters& server) { return server.gpus == first; })
               ? static_cast<std::uint32_t>(first)
               : 0;
}

}  // namespace

}  // namespace astrolabe::network::servers

namespace astrolabe::network {

void register_servers(Registry<FabricMaker>& registry) {
    registry.add_composite<servers::ServersParameters>(
        servers::servers_schema, [](const servers::ServersParameters& parameters) {
            if (parameters.planes.front().make().needs_job()) {
                return FabricMaker(
                    [parameters](const Demand& demand, std::uint64_t seed) {
                        return servers::build_for_job(parameters, demand, seed);
                    },
                    servers::gpus_per_server(parameters));
            }
            return FabricMaker([parameters](std::uint64_t seed) { return servers::build(parameters, seed); });
        });
}

}  // namespace astrolabe::network
