#include "dragonfly.hpp"

#include "../checks.hpp"
#include "../topology_schemas.hpp"
#include "dragonfly_routing.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/config/section_list.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::GlobalArrangement> {
    static constexpr std::array<std::pair<std::string_view, network::GlobalArrangement>, 3> kNames{
        {{"absolute", network::GlobalArrangement::kAbsolute},
         {"relative", network::GlobalArrangement::kRelative},
         {"circulant", network::GlobalArrangement::kCirculant}}};
};
template <>
struct EnumNames<network::DragonflyRule> {
    static constexpr std::array<std::pair<std::string_view, network::DragonflyRule>, 2> kNames{
        {{"minimal", network::DragonflyRule::kMinimal}, {"valiant", network::DragonflyRule::kValiant}}};
};

}  // namespace astrolabe

namespace astrolabe::network {

DragonflyParameters with_defaults(DragonflyParameters p) {
    p.routers_per_group = p.routers_per_group == 0 ? 2 * p.hosts_per_router : p.routers_per_group;
    if (p.global_links.empty()) {
        p.global_links_per_router =
            p.global_links_per_router == 0 ? p.hosts_per_router : p.global_links_per_router;
        p.groups = p.groups == 0 ? p.routers_per_group * p.global_links_per_router + 1 : p.groups;
    }
    return p;
}

namespace {

void check_global_links(detail::ParameterCheck& check, const DragonflyParameters& p) {
    const std::int64_t routers = p.groups * p.routers_per_group;
    std::vector<std::int64_t> used(static_cast<std::size_t>(routers));
    std::int64_t cables = 0;
    for (std::size_t i = 0; i < p.global_links.size(); ++i) {
        const GlobalLinkParameters& link = p.global_links[i];
        bool is_sound = true;
        for (const auto& [end, router] : {std::pair("from", link.from), std::pair("to", link.to)}) {
            is_sound &= check.count(fmt::format("global_links.{}.{}", i, end), router, 0, routers - 1,
                                    "routers are numbered over all groups, routers_per_group in each");
        }
        is_sound &= check.count(fmt::format("global_links.{}.cables", i), link.cables, 1, kMaxCables,
                                "cables are those in parallel");
        if (!is_sound) {
            continue;
        }
        if (link.from / p.routers_per_group == link.to / p.routers_per_group) {
            check.report(fmt::format("global_links.{}", i),
                         fmt::format("routers {} and {} are of one group, whose routers are joined anyway",
                                     link.from, link.to),
                         "a global link joins routers of two groups");
        }
        cables += link.cables;
        if (cables > kMaxCables) {
            check.report("global_links", fmt::format("more than {} global links", kMaxCables),
                         "use fewer, faster links");
            return;
        }
        for (const std::int64_t router : {link.from, link.to}) {
            std::int64_t& ports = used[static_cast<std::size_t>(router)];
            ports += link.cables;
            if (p.global_links_per_router > 0 && ports > p.global_links_per_router &&
                ports - link.cables <= p.global_links_per_router) {
                check.report(
                    fmt::format("global_links.{}", i),
                    fmt::format("router {} has more than {} global links", router, p.global_links_per_router),
                    "raise global_links_per_router, or leave it out where links are listed");
            }
        }
    }
}

/// Whether listed links lead from group 0 to all others.
bool joins_all(const DragonflyParameters& p) {
    std::vector<std::vector<std::int64_t>> next(static_cast<std::size_t>(p.groups));
    for (const GlobalLinkParameters& link : p.global_links) {
        const std::int64_t from = link.from / p.routers_per_group;
        const std::int64_t to = link.to / p.routers_per_group;
        next[static_cast<std::size_t>(from)].push_back(to);
        next[static_cast<std::size_t>(to)].push_back(from);
    }
    std::vector<bool> is_reached(next.size());
    std::vector<std::int64_t> waiting{0};
    is_reached[0] = true;
    std::size_t reached = 1;
    while (!waiting.empty()) {
        const std::int64_t at = waiting.back();
        waiting.pop_back();
        for (const std::int64_t group : next[static_cast<std::size_t>(at)]) {
            if (!is_reached[static_cast<std::size_t>(group)]) {
                is_reached[static_cast<std::size_t>(group)] = true;
                waiting.push_back(group);
                ++reached;
            }
        }
    }
    return reached == next.size();
}

void check_size(detail::ParameterCheck& check, const DragonflyParameters& p) {
    const std::int64_t routers = p.groups * p.routers_per_group;
    const std::int64_t local = routers * (p.routers_per_group - 1) / 2;
    if (routers > kMaxSwitches || routers * p.hosts_per_router > kMaxHosts) {
        check.report("groups",
                     fmt::format("{} groups of {} routers with {} hosts are more than {} routers or {} hosts",
                                 p.groups, p.routers_per_group, p.hosts_per_router, kMaxSwitches, kMaxHosts),
                     "give fewer groups");
    } else if (local + routers * p.global_links_per_router / 2 > kMaxCables) {
        check.report("groups", fmt::format("the dragonfly has more than {} cables", kMaxCables),
                     "give fewer groups or smaller ones");
    } else if (p.groups > kMaxDragonflyGroups) {
        check.report("groups", fmt::format("{} groups, expected at most {}", p.groups, kMaxDragonflyGroups),
                     "give fewer, larger groups");
    }
}

void check_shape(detail::ParameterCheck& check, const DragonflyParameters& given) {
    constexpr std::int64_t kMostPorts = 1 << 12;
    check.count("hosts_per_router", given.hosts_per_router, 1, kMostPorts, "p, the hosts of a router");
    check.count("routers_per_group", given.routers_per_group, 0, kMostPorts,
                "a, the routers of a group; left out: twice hosts_per_router");
    check.count("global_links_per_router", given.global_links_per_router, 0, kMostPorts,
                "h, the global links of a router; left out: hosts_per_router");
    check.count("groups", given.groups, 0, kMaxSwitches, "left out: as many as have one link to each other");
    if (!check.sound()) {
        return;
    }
    const DragonflyParameters p = with_defaults(given);
    if (p.groups == 0) {
        check.report("groups", "global_links are listed, and groups is not given",
                     "say how many groups there are");
        return;
    }
    const std::int64_t most = p.routers_per_group * p.global_links_per_router + 1;
    if (p.global_links.empty() && p.groups > most) {
        check.report("groups",
                     fmt::format("{} groups, but {} routers of a group with {} global links each reach {}",
                                 p.groups, p.routers_per_group, p.global_links_per_router, most - 1),
                     fmt::format("at most {} groups are joined to each other; or list global_links", most));
        return;
    }
    check_size(check, p);
    if (check.sound() && !p.global_links.empty()) {
        check_global_links(check, p);
        if (check.sound() && !joins_all(p)) {
            check.report("global_links", "some groups cannot be reached from others",
                         "list global links that join all groups");
        }
    }
}

struct Port {
    std::int64_t group;
    std::int64_t port;
};

/// Where port `y` of the bundle of a group leads, and at which port of the same bundle.
Port other_end(GlobalArrangement arrangement, std::int64_t groups, std::int64_t group, std::int64_t y) {
    switch (arrangement) {
        case GlobalArrangement::kAbsolute: {
            const std::int64_t other = y < group ? y : y + 1;
            return {other, group < other ? group : group - 1};
        }
        case GlobalArrangement::kRelative:
            return {(group + y + 1) % groups, groups - 2 - y};
        case GlobalArrangement::kCirculant:
            break;
    }
    const std::int64_t step = y / 2 + 1;
    if (y % 2 == 1) {
        return {(group + groups - step) % groups, y - 1};
    }
    // Half way round, both ends count the same step.
    return {(group + step) % groups, 2 * step == groups ? y : y + 1};
}

template <class Connect>
void for_each_global_link(const DragonflyParameters& p, Connect connect) {
    for (const GlobalLinkParameters& link : p.global_links) {
        for (std::int64_t i = 0; i < link.cables; ++i) {
            connect(link.from, link.to);
        }
    }
    if (!p.global_links.empty() || p.groups == 1) {
        return;
    }
    const std::int64_t bundle = p.groups - 1;
    const std::int64_t bundles = p.routers_per_group * p.global_links_per_router / bundle;
    for (std::int64_t group = 0; group < p.groups; ++group) {
        for (std::int64_t port = 0; port < bundles * bundle; ++port) {
            const Port other = other_end(p.arrangement, p.groups, group, port % bundle);
            if (group < other.group) {
                const std::int64_t back = port - port % bundle + other.port;
                connect(group * p.routers_per_group + port / p.global_links_per_router,
                        other.group * p.routers_per_group + back / p.global_links_per_router);
            }
        }
    }
}

}  // namespace

ValidationErrors validation_errors(const DragonflyParameters& parameters) {
    detail::ParameterCheck check;
    check_shape(check, parameters);
    check.cable("link", parameters.link);
    check.cable("local_link", parameters.local_link);
    check.cable("global_link", parameters.global_link);
    check.switch_buffer(parameters.switch_buffer);
    if (!parameters.global_links.empty() && parameters.arrangement != GlobalArrangement::kAbsolute) {
        check.report("arrangement", "global_links are listed, and are arranged as they say",
                     "give arrangement or global_links");
    }
    return std::move(check).take();
}

std::shared_ptr<const Fabric> build_dragonfly(const DragonflyParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    const DragonflyParameters p = with_defaults(parameters);
    const std::int64_t routers = p.groups * p.routers_per_group;
    const std::int64_t hosts = routers * p.hosts_per_router;
    FabricBuilder builder("dragonfly");
    for (std::int64_t i = 0; i < hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    for (std::int64_t i = 0; i < routers; ++i) {
        builder.add_switch(fmt::format("router {}", i), p.switch_buffer);
    }
    const auto router = [&](std::int64_t number) { return NodeId(static_cast<std::size_t>(hosts + number)); };
    for (std::int64_t i = 0; i < hosts; ++i) {
        builder.connect(NodeId(static_cast<std::size_t>(i)), router(i / p.hosts_per_router),
                        {p.link.rate, p.link.latency, Bytes(0)});
    }
    for (std::int64_t i = 0; i < routers; ++i) {
        const std::int64_t end = (i / p.routers_per_group + 1) * p.routers_per_group;
        for (std::int64_t j = i + 1; j < end; ++j) {
            builder.connect(router(i), router(j), {p.local_link.rate, p.local_link.latency, Bytes(0)});
        }
    }
    for_each_global_link(p, [&](std::int64_t from, std::int64_t to) {
        builder.connect(router(from), router(to),
                        {p.global_link.rate, p.global_link.latency, Bytes(0), kGlobalCost});
    });
    const auto seed = static_cast<std::uint64_t>(p.seed);
    if (p.routing == DragonflyRule::kMinimal) {
        return std::move(builder).build(p.load_balancing, seed);
    }
    const LoadBalancing balancing =
        p.load_balancing == LoadBalancing::kSpray ? LoadBalancing::kPaths : LoadBalancing::kFlowHash;
    const auto in_group = static_cast<std::size_t>(p.routers_per_group);
    return std::move(builder).build([in_group, balancing, seed](const Fabric& fabric) {
        return std::make_shared<const DragonflyRouting>(fabric, in_group, balancing, seed);
    });
}

void register_dragonfly(Registry<FabricMaker>& registry) {
    using P = DragonflyParameters;
    Schema<P> schema("dragonfly", "groups of fully connected routers, with global links between groups");
    schema.required("hosts_per_router", &P::hosts_per_router, "p", {1, kMaxHosts})
        .optional("routers_per_group", &P::routers_per_group, "a; 0: 2p", {0, kMaxSwitches})
        .optional("global_links_per_router", &P::global_links_per_router,
                  "h; 0: p, or as many as global_links has", {0, kMaxSwitches})
        .optional("groups", &P::groups, "at most ah + 1; 0: ah + 1", {0, kMaxSwitches})
        .optional("arrangement", &P::arrangement,
                  "which port of a group leads to which other: in order of the groups, by distance, or by "
                  "distance to both sides in turn");
    Schema<GlobalLinkParameters> global_link("global_links", "global links between two routers");
    global_link
        .required("from", &GlobalLinkParameters::from, "a router, numbered over all groups from 0",
                  {0, kMaxSwitches - 1})
        .required("to", &GlobalLinkParameters::to, "a router of another group", {0, kMaxSwitches - 1})
        .optional("cables", &GlobalLinkParameters::cables, "in parallel", {1, kMaxCables});
    add_section_list(schema, "global_links", &P::global_links, global_link,
                     "global links one by one, instead of an arrangement");
    schema.section("link", &P::link, detail::host_link_schema(), "the cable of a host")
        .section("local_link", &P::local_link, detail::host_link_schema("local_link"),
                 "between routers of a group")
        .section("global_link", &P::global_link, detail::host_link_schema("global_link"), "between groups");
    detail::add_switch_buffer(schema);
    schema.optional("routing", &P::routing, "shortest paths, or over an intermediate group")
        .optional("load_balancing", &P::load_balancing,
                  "one path per host pair by hash, or all that routing allows evenly");
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_dragonfly, &P::seed);
}

}  // namespace astrolabe::network
