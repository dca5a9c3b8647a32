#include "torn_cables.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <failing_fabrics.hpp>
#include <fmt/format.h>

#include <astrolabe/core/random.hpp>

namespace astrolabe::testing {

namespace {

using network::Fabric;
using network::HostId;
using network::LinkFailure;
using network::LinkId;
using network::NodeId;

/// Of 200 us in which messages are sent and cables fail.
constexpr std::int64_t kSpan = 200'000'000;

struct SentMessage {
    HostId source;
    HostId destination;
    Bytes size;
    Time at;
};

struct Scenario {
    std::vector<SentMessage> messages;
    std::vector<LinkFailure> failures;
    Time detection;
};

std::uint64_t below(RandomStream& random, std::uint64_t limit) {
    return random.next() % limit;
}

Scenario draw(const Fabric& fabric, std::uint64_t seed) {
    RandomStream random(seed, "torn cables");
    Scenario scenario;
    const std::uint64_t hosts = fabric.host_count();
    for (std::uint64_t left = 3 + below(random, 6); left > 0; --left) {
        const std::uint64_t source = below(random, hosts);
        const std::uint64_t other = (source + 1 + below(random, hosts - 1)) % hosts;
        const auto size = static_cast<std::int64_t>(below(random, 8) == 0 ? 0 : below(random, 400'000));
        const auto at = static_cast<std::int64_t>(below(random, 2) == 0 ? 0 : below(random, kSpan / 4));
        scenario.messages.push_back({HostId(source), HostId(other), Bytes(size), Time(at)});
    }
    for (std::uint64_t left = 1 + below(random, 3); left > 0; --left) {
        const LinkId link(below(random, fabric.link_count()));
        const bool is_from_start = below(random, 8) == 0;
        const Time from(is_from_start ? 0 : static_cast<std::int64_t>(below(random, kSpan)));
        const bool is_for_ever = below(random, 3) == 0;
        const Time until =
            is_for_ever ? Time::max() : from + Time(1 + static_cast<std::int64_t>(below(random, 3 * kSpan)));
        const double factor = below(random, 4) == 0 ? 0.25 : 0.0;
        const auto cable = network::cable_failure(fabric, link, from, until, factor);
        // Now and then one direction alone.
        const bool is_whole = below(random, 8) != 0;
        scenario.failures.insert(scenario.failures.end(), cable.begin(),
                                 is_whole ? cable.end() : cable.begin() + 1);
    }
    scenario.detection = Time(static_cast<std::int64_t>(below(random, 2) == 0 ? 0 : below(random, kSpan)));
    return scenario;
}

/// Whether links that are up in the end lead from one to the other.
bool is_connected(const Fabric& fabric, const std::vector<LinkFailure>& failures, HostId from, HostId to) {
    std::set<LinkId> down;
    for (const LinkFailure& failure : failures) {
        if (failure.until == Time::max() && failure.factor == 0) {
            down.insert(failure.link);
        }
    }
    std::vector<std::uint8_t> is_reached(fabric.node_count(), 0);
    std::vector<NodeId> next{fabric.node_of(from)};
    is_reached[next.front().index()] = 1;
    while (!next.empty()) {
        const NodeId node = next.back();
        next.pop_back();
        if (node != fabric.node_of(from) && !fabric.node(node).forwards) {
            continue;
        }
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            const LinkId link(fabric.first_link(node).index() + i);
            if (!down.contains(link) && std::exchange(is_reached[fabric.target(link).index()], 1) == 0) {
                next.push_back(fabric.target(link));
            }
        }
    }
    return is_reached[fabric.node_of(to).index()] != 0;
}

class Traffic final : public network::NotificationHandler {
public:
    Traffic(network::NetworkBackend& backend, const std::vector<SentMessage>& messages)
        : backend_(backend),
          messages_(messages),
          sender_(*this),
          arrivals(messages.size()) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            backend.schedule(messages[i].at, sender_, i);
        }
    }
    void notify(std::uint64_t token) override { arrivals[token].push_back(backend_.now()); }

private:
    struct Sender final : network::NotificationHandler {
        explicit Sender(Traffic& traffic)
            : traffic_(traffic) {}
        void notify(std::uint64_t token) override {
            const SentMessage& message = traffic_.messages_[token];
            traffic_.backend_.send({message.source, message.destination, message.size, &traffic_, token});
        }
        Traffic& traffic_;
    };

    network::NetworkBackend& backend_;
    const std::vector<SentMessage>& messages_;
    Sender sender_;

public:
    std::vector<std::vector<Time>> arrivals;  ///< by message
};

struct Outcome {
    std::vector<std::vector<Time>> arrivals;
    std::vector<std::uint64_t> counters;
    std::uint64_t drops = 0;
    std::string stall;
    Bytes delivered;

    bool operator==(const Outcome& other) const = default;
};

Outcome run_once(const Setting& setting, const std::shared_ptr<const Fabric>& fabric,
                 const std::vector<SentMessage>& messages, std::uint64_t seed) {
    const auto backend = setting.backend.make(fabric, seed);
    Traffic traffic(*backend, messages);
    backend->run();
    const network::NetworkStatistics statistics = backend->statistics();
    return {traffic.arrivals,
            {statistics.messages, statistics.packets, statistics.retransmissions, statistics.timeouts,
             statistics.events},
            statistics.drops,
            backend->outstanding_messages() > 0 ? backend->explain_stall() : "",
            statistics.bytes_delivered};
}

}  // namespace

std::vector<TornSetting> torn_settings(const std::string& backend) {
    const std::vector<std::pair<std::string, std::string>> networks{
        {"Flat", "{kind: flat, hosts: 8, switch_buffer: 2MB}"},
        {"LeafSpine", "{kind: leaf_spine, hosts: 8, hosts_per_leaf: 2, spines: 2, switch_buffer: 2MB}"},
        {"LeafSpineSprayed",
         "{kind: leaf_spine, hosts: 8, hosts_per_leaf: 2, spines: 3, load_balancing: spray, switch_buffer: "
         "4MB}"},
        {"FatTree", "{kind: fat_tree, k: 4, switch_buffer: 2MB}"},
        {"Ring", "{kind: ring, hosts: 6}"},
        {"Torus", "{kind: torus, sizes: [3, 3]}"},
        {"TorusSprayed", "{kind: torus, sizes: [3, 3], load_balancing: spray}"},
        {"Mesh", "{kind: mesh, sizes: [3, 3], routing: dimension_order}"},
        {"MeshValiant", "{kind: mesh, sizes: [3, 3], routing: valiant}"},
        {"Hypercube", "{kind: hypercube, dimensions: 3}"},
        {"Dragonfly", "{kind: dragonfly, hosts_per_router: 1, switch_buffer: 2MB}"},
        {"DragonflyValiant", "{kind: dragonfly, hosts_per_router: 1, routing: valiant, switch_buffer: 2MB}"},
        {"FullyConnected", "{kind: fully_connected, hosts: 5}"},
        {"Hierarchical", "{kind: hierarchical, hosts: 8, hosts_per_package: 4, switch_buffer: 2MB}"},
        {"Servers",
         "{kind: servers, servers: {count: 2, gpus: 4, scale_up: {kind: mesh}}, scale_out: {kind: "
         "leaf_spine, hosts_per_leaf: 4, spines: 2}}"},
        {"Expander", "{kind: expander, racks: 6, uplinks: 3, hosts_per_rack: 2, switch_buffer: 2MB}"},
        {"DirectConnect", "{kind: direct_connect, hosts: 8, rings: [1, 3]}"},
        {"DirectConnectPaths", "{kind: direct_connect, hosts: 8, random: {degree: 3}, routing: k_shortest}"},
        {"OneWayRings", "{kind: direct_connect, hosts: 8, one_way_rings: [1, 3]}"},
        {"Topoopt", "{kind: topoopt, degree: 3}"},
        {"Graph",
         "{kind: graph, nodes: [{name: h, count: 5}, {name: s, kind: switch, count: 3}], links: [{from: h "
         "0..2, to: s 0}, {from: h 3..4, to: s 2}, {from: s 0, to: s 1}, {from: s 1, to: s 2}, {from: s 0, "
         "to: s 2, cost: 3}]}"}};
    std::vector<TornSetting> settings;
    for (const auto& [name, network] : networks) {
        settings.push_back({name, network, backend});
    }
    return settings;
}

std::vector<TornSetting> torn_one_path_settings(const std::string& backend) {
    std::vector<TornSetting> settings;
    for (TornSetting& each : torn_settings(backend)) {
        // Those whose packets take several ways, and fibres without a way back.
        if (each.name.find("Sprayed") == std::string::npos && each.name != "DirectConnectPaths" &&
            each.name != "OneWayRings" && each.name != "Topoopt") {
            settings.push_back(std::move(each));
        }
    }
    return settings;
}

std::vector<TornSetting> torn_transports() {
    const std::vector<std::pair<std::string, std::string>> transports{
        {"Pfc", "flow_control: pfc"},
        {"Credit", "flow_control: credit"},
        {"CreditCutThrough", "flow_control: credit, switching: cut_through"},
        {"PfcSelective", "flow_control: pfc, recovery: selective, congestion_control: dcqcn"},
        {"Selective", "recovery: selective"},
        {"Dctcp", "congestion_control: dctcp, rtt_estimation: true"},
        {"Ndp", "congestion_control: ndp, trim_threshold: 33424B"},
        {"PerMessage", "connections: per_message, handshake: true, host_queue: fifo"},
        {"CutThrough", "switching: cut_through, buffer_sharing: dynamic"},
        {"Classes", "traffic_classes: 2, service: weighted, weights: [1, 3]"},
        {"Flowlets", "flowlet_gap: 5us"},
        {"Lossy", "loss_rate: 0.01"}};
    std::vector<TornSetting> settings;
    for (const auto& [name, keys] : transports) {
        for (const TornSetting& each : torn_settings("{kind: packet, " + keys + "}")) {
            if (each.name == "LeafSpine" || each.name == "LeafSpineSprayed" || each.name == "FatTree") {
                settings.push_back({name + each.name, each.network, each.backend});
            }
        }
    }
    return settings;
}

std::optional<std::string> run_with_torn_cables(const Setting& setting, std::uint64_t seed, TornRuns& runs) {
    const Scenario scenario = draw(*setting.fabric, seed);
    const auto fabric = network::failing(setting.fabric, scenario.failures, scenario.detection);
    if (const auto reason = setting.backend.unsupported(*fabric)) {
        return *reason;
    }
    const Outcome outcome = run_once(setting, fabric, scenario.messages, seed);
    Bytes delivered;
    for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
        const SentMessage& message = scenario.messages[i];
        const std::string pair = fabric->node(fabric->node_of(message.source)).name + " -> " +
                                 fabric->node(fabric->node_of(message.destination)).name;
        if (outcome.arrivals[i].size() > 1) {
            return fmt::format("message {}, {}, arrived {} times", i, pair, outcome.arrivals[i].size());
        }
        if (outcome.arrivals[i].size() == 1) {
            delivered += message.size;
            ++runs.arrived;
            continue;
        }
        ++runs.cut;
        if (outcome.stall.find(pair) == std::string::npos) {
            return fmt::format("message {}, {}, did not arrive, and the stall does not name it: {}", i, pair,
                               outcome.stall);
        }
        // Without a way back there is no answer, which some transports need to go on.
        const bool is_answered =
            setting.backend.transport.acknowledgement == Bytes(0) ||
            is_connected(*fabric, scenario.failures, message.destination, message.source);
        if (is_answered && is_connected(*fabric, scenario.failures, message.source, message.destination)) {
            return fmt::format("message {}, {}, did not arrive, and its hosts are connected", i, pair);
        }
    }
    runs.lost += outcome.drops;
    if (delivered != outcome.delivered) {
        return fmt::format("{} arrived, and {} are counted", to_string(delivered),
                           to_string(outcome.delivered));
    }
    return run_once(setting, fabric, scenario.messages, seed) == outcome
               ? std::nullopt
               : std::optional<std::string>("a second run differs");
}

}  // namespace astrolabe::testing
