/// What engines report of links over time (link_observer.hpp), on random networks and traffic: no link
/// carries more than its rate in any interval, intervals sum to what is carried and delivered, and nothing
/// changes by observing.
#include "engines.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/records/carried_record.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::network {
namespace {

using experiment::CarriedRecord;
using experiment::IntervalSums;
using experiment::LinkGroups;
using testing::ContractEngine;
using testing::NamedEngine;

/// A group for every link, and for all links that share a port one.
LinkGroups ports_of(const Fabric& fabric) {
    LinkGroups groups;
    const std::optional<SharedPorts> shared = fabric.family().shared_ports(fabric);
    std::vector<std::uint32_t> group_of_port(shared ? shared->names.size() : 0, SharedPorts::kNone);
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        const auto next = static_cast<std::uint32_t>(groups.bytes_a_second.size());
        const std::uint32_t port = shared ? shared->port_of[link] : SharedPorts::kNone;
        if (port != SharedPorts::kNone && group_of_port[port] != SharedPorts::kNone) {
            groups.of_link.push_back(group_of_port[port]);
            continue;
        }
        if (port != SharedPorts::kNone) {
            group_of_port[port] = next;
        }
        groups.of_link.push_back(next);
        groups.bytes_a_second.push_back(to_bytes_per_second(fabric.link(link).rate));
    }
    return groups;
}

/// Records of intervals of several lengths, the last of which has room for a few and makes them longer.
class Records final : public LinkObserver {
public:
    explicit Records(const Fabric& fabric) {
        for (const Time interval : {100_ns, 1_us, 7_us, 100_us}) {
            records.emplace_back(ports_of(fabric), interval, 1'000'000);
        }
        records.emplace_back(ports_of(fabric), Time(1), 20);
        // One in which everything has room, so that it shows what was reported.
        LinkGroups wide = ports_of(fabric);
        for (double& rate : wide.bytes_a_second) {
            rate *= 1e6;
        }
        records.emplace_back(std::move(wide), 1_us, 1'000'000);
    }
    [[nodiscard]] const CarriedRecord& as_reported() const { return records.back(); }

    void links_are_alike(std::span<const std::uint32_t> class_of) override {
        for (CarriedRecord& record : records) {
            record.links_are_alike(class_of);
        }
    }
    Time interval(Time end) override {
        Time shortest = Time::max();
        for (CarriedRecord& record : records) {
            shortest = std::min(shortest, record.interval(end));
        }
        return shortest;
    }
    void carried(LinkId link, Time from, Time to, const PieceBytes& bytes) override {
        EXPECT_LE(bytes.payload, bytes.wire * (1 + 1e-12));
        for (CarriedRecord& record : records) {
            record.carried(link, from, to, bytes);
        }
    }
    void delivered(HostId destination, Time from, Time to, double payload) override {
        for (CarriedRecord& record : records) {
            record.delivered(destination, from, to, payload);
        }
    }

    std::vector<CarriedRecord> records;
};

/// Sends messages at times of its own and notes when they arrive.
class Job final : public NotificationHandler {
public:
    Job(NetworkBackend& backend, std::size_t hosts, std::uint64_t seed)
        : backend_(backend) {
        std::mt19937_64 random(seed);
        const auto draw = [&random](std::uint64_t most) { return random() % (most + 1); };
        for (std::uint64_t token = 0; token < 80; ++token) {
            const auto source = static_cast<int>(draw(hosts - 1));
            const auto destination =
                (source + 1 + static_cast<int>(draw(hosts - 2))) % static_cast<int>(hosts);
            const std::uint64_t largest = draw(3) == 0 ? 300'000 : 9'000;
            messages_.push_back({HostId(source), HostId(destination),
                                 Bytes(draw(9) == 0 ? 0 : static_cast<std::int64_t>(draw(largest))), this,
                                 token, static_cast<std::uint8_t>(draw(7))});
            backend.schedule(Time(static_cast<std::int64_t>(draw(3) == 0 ? draw(150'000'000) : 0)), *this,
                             kTimer + token);
        }
    }
    void notify(std::uint64_t token) override {
        if (token >= kTimer) {
            backend_.send(messages_[token - kTimer]);
        } else {
            arrivals.emplace_back(backend_.now(), messages_[token].size);
            order.push_back(token);
        }
    }

    std::vector<std::pair<Time, Bytes>> arrivals;
    std::vector<std::uint64_t> order;

private:
    static constexpr std::uint64_t kTimer = 1'000'000;
    NetworkBackend& backend_;
    std::vector<Message> messages_;
};

IntervalSums::Amount sum_of(const std::vector<IntervalSums::Amount>& values) {
    IntervalSums::Amount sum = 0;
    for (const IntervalSums::Amount value : values) {
        EXPECT_GE(value, 0);
        sum += value;
    }
    return sum;
}

double bytes_of(IntervalSums::Amount units) {
    return static_cast<double>(units) / IntervalSums::kUnits;
}

void expect_links(const CarriedRecord& record, const NetworkStatistics& statistics, LinkReports reports,
                  bool is_sprayed) {
    const LinkGroups& groups = record.groups();
    std::vector<double> counted(groups.size());
    for (std::size_t link = 0; link < groups.of_link.size(); ++link) {
        counted[groups.of_link[link]] += static_cast<double>(statistics.links[LinkId(link)].carried.count());
    }
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
        // Throws if what does not fit into an interval is more than rounding, unless services overlap.
        const std::vector<CarriedRecord::Carried> intervals = record.intervals_of(group, reports);
        const double room = groups.bytes_a_second[group] * to_seconds(record.interval());
        double wire = 0;
        double payload = 0;
        for (const CarriedRecord::Carried& carried : intervals) {
            EXPECT_LE(bytes_of(carried.wire), room * (1 + 1e-12) + 1e-9) << "a unit is 2^-30 B";
            EXPECT_GE(carried.payload, 0);
            // Where an interval cuts a piece both are rounded down.
            EXPECT_LE(carried.payload, carried.wire + 100);
            wire += bytes_of(carried.wire);
            payload += bytes_of(carried.payload);
        }
        EXPECT_NEAR(wire, bytes_of(record.wire_of(group)), 1e-6);
        // Counted as payload by engines of flows, as bytes on the wire by those of packets. What is sprayed
        // is counted in whole bytes, a part of one being rounded for each link, and so is what leaves by
        // either of two routes where circuits move.
        const std::uint64_t changes = statistics.reconfiguration ? statistics.reconfiguration->changes : 0;
        const double rounding = (is_sprayed || changes > 0 ? 0.51 : 0.001) + 2 * static_cast<double>(changes);
        EXPECT_LE(std::min(std::abs(wire - counted[group]), std::abs(payload - counted[group])), rounding)
            << "wire " << wire << ", payload " << payload << ", counted " << counted[group];
    }
}

struct Tested {
    std::shared_ptr<const Fabric> fabric;
    std::function<std::unique_ptr<NetworkBackend>()> make;
    bool is_sprayed = false;
    bool has_packets = false;
    bool has_priorities = false;  ///< a service goes before another, and both are reported as if alone
};

/// Without priorities what is reported fits but for rounding: a byte of each pair where routes change, and of
/// a frame of TCP less than a thousandth.
void expect_room(const CarriedRecord& reported, std::size_t hosts) {
    for (std::uint32_t group = 0; group < reported.groups().size(); ++group) {
        const double room = reported.groups().bytes_a_second[group] / 1e6 * to_seconds(reported.interval());
        for (const CarriedRecord::Carried& carried : reported.intervals_of(group, LinkReports::kAll)) {
            EXPECT_LE(bytes_of(carried.wire), room * 1.001 + static_cast<double>(hosts * (hosts - 1)));
        }
    }
}

void expect_true_record(const Tested& tested, std::uint64_t seed) {
    const std::size_t hosts = tested.fabric->host_count();
    std::vector<std::uint64_t> unobserved;
    NetworkStatistics without;
    Time end;
    {
        const auto backend = tested.make();
        Job job(*backend, hosts, seed);
        backend->run();
        unobserved = job.order;
        without = backend->statistics();
        end = backend->now();
    }
    const auto backend = tested.make();
    Records observed(*tested.fabric);
    const LinkReports reports = backend->observe_links(observed);
    ASSERT_NE(reports, LinkReports::kNothing);
    Job job(*backend, hosts, seed);
    backend->run();
    ASSERT_EQ(backend->outstanding_messages(), 0U);
    const NetworkStatistics statistics = backend->statistics();
    EXPECT_EQ(job.order, unobserved);
    EXPECT_EQ(backend->now(), end);
    for (LinkId link; link.index() < without.links.size(); ++link) {
        EXPECT_EQ(statistics.links[link].carried, without.links[link].carried);
    }
    for (const CarriedRecord& record : observed.records) {
        record.expect_totals(statistics, reports);
        EXPECT_NEAR(bytes_of(sum_of(record.deliveries())),
                    static_cast<double>(statistics.bytes_delivered.count()), 0.001);
        if (reports != LinkReports::kDeliveries) {
            expect_links(record, statistics, reports, tested.is_sprayed);
        }
    }
    if (reports != LinkReports::kDeliveries && !tested.has_priorities) {
        expect_room(observed.as_reported(), hosts);
    }
    if (!tested.has_packets) {
        return;
    }
    // A message is complete when all of it is there: by the end of any interval no more is complete than
    // delivered.
    const CarriedRecord& record = observed.records[1];
    const std::vector<IntervalSums::Amount> delivered = record.deliveries();
    double arrived = 0;
    for (std::size_t i = 0; i < delivered.size(); ++i) {
        arrived += bytes_of(delivered[i]);
        const Time by = record.interval() * (i + 1);
        double complete = 0;
        for (const auto& [at, size] : job.arrivals) {
            complete += at <= by ? static_cast<double>(size.count()) : 0.0;
        }
        EXPECT_LE(complete, arrived + 1e-6) << "by " << to_string(by);
    }
}

class LinkRecord : public ::testing::TestWithParam<NamedEngine> {};

TEST_P(LinkRecord, IsOfWhatLinksCarry) {
    const ContractEngine engine = GetParam().build();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(seed);
        expect_true_record({engine.fabric, engine.make}, seed);
    }
}

std::vector<NamedEngine> engines_with_networks() {
    std::vector<NamedEngine> engines = testing::contract_engines();
    std::erase_if(engines, [](const NamedEngine& engine) { return engine.name == testing::kWithoutNetwork; });
    return engines;
}

INSTANTIATE_TEST_SUITE_P(Engines, LinkRecord, ::testing::ValuesIn(engines_with_networks()),
                         [](const auto& tested) { return tested.param.name; });

/// A network of eight hosts at a rate that is no round number, by `draw`.
std::string random_network(const std::function<std::uint64_t(std::uint64_t)>& draw, bool& is_sprayed) {
    const std::string link =
        fmt::format("link: {{rate: {}Mbps, latency: {}ns}}", 1'000 + draw(99'999), draw(2'000));
    is_sprayed = draw(1) == 0;
    const char* const balancing = is_sprayed ? "spray" : "flow_hash";
    switch (draw(4)) {
        case 0:
            return fmt::format("{{kind: flat, hosts: 8, {}}}", link);
        case 1:
            return fmt::format(
                "{{kind: leaf_spine, hosts: 8, hosts_per_leaf: 2, spines: {}, oversubscription: {}, "
                "{}, load_balancing: {}}}",
                1 + draw(2), 1 + draw(2), link, balancing);
        case 2:
            return fmt::format(
                "{{kind: fat_tree, hosts: 8, pods: 2, edges_per_pod: 2, hosts_per_edge: 2, "
                "aggregations_per_pod: 2, cores: 4, {}, load_balancing: {}}}",
                link, balancing);
        case 3:
            return fmt::format("{{kind: torus, sizes: [2, 4], {}, load_balancing: {}}}", link, balancing);
        default:
            is_sprayed = true;
            return fmt::format("{{kind: direct_connect, hosts: 8, rings: [1, 3], {}, routing: k_shortest}}",
                               link);
    }
}

void expect_on_random_networks(const std::vector<std::string>& backends, std::uint64_t networks,
                               bool may_spray, bool has_packets) {
    std::mt19937_64 random(21);
    const auto draw = [&random](std::uint64_t most) { return random() % (most + 1); };
    for (std::uint64_t number = 0; number < networks; ++number) {
        for (const std::string& backend : backends) {
            bool is_sprayed = true;
            std::string network;
            while (network.empty() || (is_sprayed && !may_spray)) {
                network = random_network(draw, is_sprayed);
            }
            SCOPED_TRACE(network);
            SCOPED_TRACE(backend);
            const testing::Setting setting = testing::setting(network, backend, 8);
            expect_true_record({setting.fabric, setting.make(), is_sprayed, has_packets}, draw(1'000'000));
        }
    }
}

TEST(LinkRecordOfRandomNetworks, OnFluid) {
    expect_on_random_networks(
        {"{kind: fluid}", "{kind: fluid, latency: false}",
         "{kind: fluid, framing: {mtu: 1500B, header: 60B}}",
         "{kind: fluid, framing: {mtu: 1500B, header: 60B, switching: store_and_forward}, window: 100KB, "
         "slow_start: {initial_window: 10KB}, incast: {buffer: 100KB, timeout: 200us}}"},
        8, true, false);
}

TEST(LinkRecordOfRandomNetworks, OnFormulas) {
    expect_on_random_networks({"{kind: congestion_free}"}, 4, true, false);
}

/// Rotor networks, whose services overlap where some messages are low-latency, and circuits that move.
std::vector<std::string> circuit_networks() {
    std::vector<std::string> networks;
    for (const char* service :
         {"", ", low_latency: {cutoff: 10KB}", ", bulk: {intra_rack: direct}",
          ", bulk: {remainders: in_turn}", ", bulk: {routing: direct}, low_latency: {cutoff: 10KB}"}) {
        networks.push_back(fmt::format(
            "{{kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 2, reconfiguration_delay: 1us{}}}",
            service));
    }
    networks.emplace_back("{kind: rotornet, racks: 8, uplinks: 4, hosts_per_rack: 2}");
    return networks;
}

TEST(LinkRecordOfRandomNetworks, OnSlots) {
    for (const std::string& network : circuit_networks()) {
        SCOPED_TRACE(network);
        const testing::Setting setting = testing::setting(network, "{kind: fluid}", 16);
        const bool has_priorities = network.find("low_latency") != std::string::npos;
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            expect_true_record({setting.fabric, setting.make(), false, false, has_priorities}, seed);
        }
    }
}

TEST(LinkRecordOfRandomNetworks, OnCircuitsThatMove) {
    for (const char* rest : {"forwarding: false", "forwarding: true", "forwarding: true, dark: all"}) {
        const std::string network = fmt::format(
            "{{kind: topoopt, degree: 2, mode: paper, wiring: separate_fibres, medium: circuit_switch, "
            "reconfiguration: {{every: 50us, delay: 10us, {}}}}}",
            rest);
        SCOPED_TRACE(network);
        const testing::Setting setting = testing::setting(network, "{kind: fluid}", 8);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            expect_true_record({setting.fabric, setting.make(), true}, seed);
        }
    }
}

#ifdef ASTROLABE_WITH_NS3
TEST(LinkRecordOfRandomNetworks, OnPackets) {
    expect_on_random_networks(
        {"{kind: packet}",
         "{kind: packet, switching: cut_through, congestion_control: dctcp, ecn_threshold: 20KB}",
         "{kind: packet, flow_control: credit}", "{kind: packet, loss_rate: 0.01, recovery: selective}",
         "{kind: packet, congestion_control: ndp, trim_threshold: 40KB}",
         "{kind: packet, preset: legacy_dctcp}", "{kind: packet, connections: per_message, handshake: true}"},
        2, true, true);
    expect_on_random_networks({"{kind: packet, flow_control: pfc, pause_threshold: 30KB}"}, 2, true, true);
}

TEST(LinkRecordOfRandomNetworks, OnTcp) {
    expect_on_random_networks({"{kind: tcp}", "{kind: tcp, variant: cubic, mtu: 9000B}"}, 2, false, true);
}

TEST(LinkRecordOfRandomNetworks, OnPacketsOfRotors) {
    for (const std::string& network : circuit_networks()) {
        SCOPED_TRACE(network);
        const testing::Setting setting = testing::setting(network, "{kind: packet}", 16);
        expect_true_record({setting.fabric, setting.make(), false, true}, 4);
    }
}

TEST(LinkRecordOfRandomNetworks, OnTcpOverRotors) {
    for (const std::string& network : circuit_networks()) {
        SCOPED_TRACE(network);
        const testing::Setting setting = testing::setting(network, "{kind: tcp}", 16);
        expect_true_record({setting.fabric, setting.make(), false, true}, 4);
    }
}

TEST(LinkRecordOfRandomNetworks, OnTcpOverNamedPathsAndOneWayLinks) {
    for (const char* const network :
         {"{kind: direct_connect, hosts: 8, rings: [1, 3], link: {rate: 30Gbps}, routing: k_shortest}",
          "{kind: direct_connect, hosts: 8, one_way_rings: [1, 3], routing: coin_change}",
          "{kind: direct_connect, hosts: 8, rings: [1], one_way_rings: [3], routing: by_class, "
          "forwarding: {latency: 1us}}"}) {
        SCOPED_TRACE(network);
        const testing::Setting setting = testing::setting(network, "{kind: tcp}", 8);
        expect_true_record({setting.fabric, setting.make(), false, true}, 5);
    }
}
#endif

}  // namespace
}  // namespace astrolabe::network
