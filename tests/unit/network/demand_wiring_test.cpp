/// Wirings planned for what waits: what they serve, what they keep, and what must hold of all of them.
#include "parameter_keys.hpp"
#include "random_seed.hpp"
#include "recorder.hpp"
#include "rewired_networks.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/fluid/fluid_backend.hpp>
#include <astrolabe/network/reconfiguration.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network::topoopt {
namespace {

WaitingPair waits(int source, int destination, Bytes bytes) {
    return {HostId(source), HostId(destination), bytes};
}

std::optional<Rewiring> look(const Fabric& first, const std::vector<WaitingPair>& waiting) {
    return first.reconfiguration()->rewire(first, waiting);
}

std::size_t circuits(const Fabric& fabric, int from, int to) {
    std::size_t count = 0;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        count += fabric.source(link) == NodeId(from) && fabric.target(link) == NodeId(to) ? 1 : 0;
    }
    return count;
}

TEST(DemandWiring, GivesAllInterfacesToThePairsThatWait) {
    const auto first = built(on_circuit_switches(3), 6);
    const auto found = look(*first, {waits(0, 3, 5_MB), waits(4, 1, 2_MB), waits(2, 5, 1_B)});
    ASSERT_TRUE(found);
    for (const auto& [a, b] : {std::pair(0, 3), std::pair(1, 4), std::pair(2, 5)}) {
        EXPECT_EQ(circuits(*found->next.fabric, a, b), 3U);
        EXPECT_EQ(circuits(*found->next.fabric, b, a), 3U);
    }
}

TEST(DemandWiring, HalvesDemandThatIsServed) {
    // 0 asks for 4 to 1 and for 3 to 2: matchings serve 4 and then 3, as 3 > 4 / 2, then 2 and 1.5.
    const auto first = built(on_circuit_switches(3), 4);
    const auto found = look(*first, {waits(0, 1, 4_MB), waits(0, 2, 3_MB)});
    ASSERT_TRUE(found);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 1), 2U);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 2), 1U);
}

TEST(DemandWiring, KeepsARingThatJoinsAllWhereHostsForward) {
    TopoOptParameters parameters = on_circuit_switches(3);
    parameters.reconfiguration->forwarding = true;
    for (const Wiring wiring : {Wiring::kPanel, Wiring::kSeparateFibres}) {
        parameters.wiring = wiring;
        const auto found = look(*built(parameters, 6), {waits(0, 2, 5_MB)});
        ASSERT_TRUE(found);
        // A ring both ways takes two interfaces of three, one that goes one way one.
        const bool is_panel = wiring == Wiring::kPanel;
        EXPECT_EQ(circuits(*found->next.fabric, 0, 2), is_panel ? 1U : 2U);
        for (int host = 0; host < 6; ++host) {
            EXPECT_GE(circuits(*found->next.fabric, host, (host + 1) % 6), 1U);
            EXPECT_GE(circuits(*found->next.fabric, (host + 1) % 6, host), is_panel ? 1U : 0U);
        }
    }
}

TEST(DemandWiring, StaysWhereAnotherIsWorthNoMore) {
    const auto first = built(on_circuit_switches(1), 4);
    EXPECT_FALSE(look(*first, {waits(0, 1, 5_MB), waits(2, 3, 5_MB)}));  // served by the first ring
    EXPECT_FALSE(look(*first, {waits(0, 1, 5_MB), waits(0, 2, 5_MB)}));  // one of the two either way
    EXPECT_TRUE(look(*first, {waits(0, 1, 5_MB), waits(0, 2, 6_MB)}));
    EXPECT_TRUE(look(*first, {waits(0, 2, 0_B)}));
}

// 12 hosts; those that ask are joined to others than at first, and keep what they have of it.
TEST(DemandWiring, MovesNoMoreCircuitsThanItMust) {
    TopoOptParameters parameters = on_circuit_switches(4);
    parameters.wiring = Wiring::kPanel;
    parameters.reconfiguration->forwarding = true;
    const auto first = built(parameters, 12);  // rings ±1 and ±5
    std::vector<WaitingPair> waiting;
    for (int host = 0; host < 12; ++host) {
        waiting.push_back(waits(host, host % 2 == 0 ? (host + 5) % 12 : (host + 7) % 12, 1_MB));
    }
    // The ring ±1 stays, and one of the two circuits that each pair gets is there: of the ring ±5, the links
    // from even hosts to those 5 on and back.
    const auto found = look(*first, waiting);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->dark, 12U);
    EXPECT_EQ(found->meanwhile.fabric->link_count(), 36U);
    for (std::size_t i = 0; i < 36; ++i) {
        const LinkId port = found->meanwhile.ports[i];
        EXPECT_EQ(first->source(port), found->meanwhile.fabric->source(LinkId(i)));
        EXPECT_EQ(first->target(port), found->meanwhile.fabric->target(LinkId(i)));
        EXPECT_EQ(first->target(port), found->next.fabric->target(port));
    }
}

TEST(DemandWiring, KnowsDemandBeyondTheBytesOfADemand) {
    const auto first = built(on_circuit_switches(1), 4);
    const Bytes huge(std::int64_t{1} << 61);
    const auto found = look(*first, {waits(0, 1, huge), waits(0, 2, huge), waits(1, 3, huge)});
    ASSERT_TRUE(found);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 2), 1U);
    EXPECT_EQ(circuits(*found->next.fabric, 1, 3), 1U);
}

TEST(DemandWiring, ParametersThatDoNotFitAreRefused) {
    TopoOptParameters parameters = on_circuit_switches(4);
    EXPECT_TRUE(problems(parameters).empty());
    parameters.medium = Medium::kPatchPanel;
    EXPECT_EQ(keys(problems(parameters)), Keys{"reconfiguration"});

    parameters = on_circuit_switches(4);
    parameters.reconfiguration->every = 0_ms;
    EXPECT_EQ(keys(problems(parameters)), (Keys{"reconfiguration.every", "reconfiguration.delay"}));

    for (const Time delay : {50_ms, 60_ms, Time(-1)}) {
        parameters = on_circuit_switches(4);
        parameters.reconfiguration->delay = delay;
        EXPECT_EQ(keys(problems(parameters)), Keys{"reconfiguration.delay"});
    }

    parameters = on_circuit_switches(4);
    parameters.routing = DirectRouting::kFlowHash;
    parameters.forwarding.latency = 1_us;
    parameters.detour = 1;
    EXPECT_EQ(keys(problems(parameters)), (Keys{"routing", "forwarding.latency", "detour"}));
    parameters.reconfiguration->forwarding = true;
    EXPECT_TRUE(problems(parameters).empty());
    parameters.routing = DirectRouting::kBalanced;
    EXPECT_EQ(keys(problems(parameters)), Keys{"routing"});

    parameters = on_circuit_switches(1);
    parameters.reconfiguration->forwarding = true;
    EXPECT_EQ(keys(problems(parameters)), Keys{"reconfiguration"});  // the ring takes all
}

TEST(DemandWiring, InterfacesWithoutACircuitAreRefused) {
    // A matching leaves one of 5 hosts out, in both directions of each of 3 matchings.
    Demand demand{.servers = 5, .groups = {}, .point_to_point = PairDemand(5)};
    demand.point_to_point.add(0, 2, 1'000);
    auto found = build_topoopt(on_circuit_switches(4), demand);
    ASSERT_TRUE(std::holds_alternative<ParameterProblems>(found));
    EXPECT_EQ(keys(std::get<ParameterProblems>(found)), Keys{"reconfiguration"});
    EXPECT_NE(std::get<ParameterProblems>(found)[0].message.find("3 of 20 interfaces"), std::string::npos);
}

/// A full-duplex ring, and twice opposite hosts: four links a host.
DirectConnectParameters given(std::int64_t hosts) {
    DirectConnectParameters parameters;
    parameters.hosts = hosts;
    parameters.rings = {1, hosts / 2};
    parameters.medium = Medium::kCircuitSwitch;
    parameters.reconfiguration = ReconfigurationParameters();
    return parameters;
}

TEST(DemandWiring, BeginsWithCircuitsThatAreGiven) {
    EXPECT_TRUE(network::problems(given(8)).empty());
    const auto first = build_direct_connect(given(8));
    EXPECT_FALSE(first->is_static());
    EXPECT_EQ(circuits(*first, 0, 4), 2U);
    EXPECT_FALSE(look(*first, {waits(0, 4, 1_MB)}));
    const auto found = look(*first, {waits(0, 3, 1_MB)});
    ASSERT_TRUE(found);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 3), 2U);
    EXPECT_EQ(circuits(*found->next.fabric, 0, 1), 1U);  // the ring stays
    EXPECT_TRUE(found->next.fabric->is_static());
}

TEST(DemandWiring, GivenCircuitsThatCannotMoveAreRefused) {
    DirectConnectParameters parameters = given(8);
    parameters.links = {{.from = 2, .to = 5}};
    EXPECT_EQ(keys(network::problems(parameters)), Keys{"reconfiguration"});  // host 2 has a link more
    parameters.links = {{.from = 2, .to = 5, .one_way = true}, {.from = 5, .to = 2, .one_way = true}};
    EXPECT_EQ(keys(network::problems(parameters)), Keys{"reconfiguration"});
    parameters = given(9);
    parameters.rings = {1, 2};
    EXPECT_EQ(keys(network::problems(parameters)), Keys{"hosts"});
    parameters = given(8);
    parameters.rings = {1};
    EXPECT_EQ(keys(network::problems(parameters)), Keys{"reconfiguration"});  // the ring takes both
    parameters.reconfiguration->forwarding = false;
    EXPECT_TRUE(network::problems(parameters).empty());
    parameters.rings = {4};  // two cables between opposite hosts, nothing else
    EXPECT_TRUE(network::problems(parameters).empty());
    parameters.routing = DirectRouting::kSpray;
    parameters.paths = 2;
    EXPECT_EQ(keys(network::problems(parameters)), (Keys{"routing", "paths"}));
    parameters = given(8);
    parameters.medium = Medium::kFibre;
    parameters.routing = DirectRouting::kBalanced;
    EXPECT_EQ(keys(network::problems(parameters)), (Keys{"reconfiguration", "routing"}));
}

struct Case {
    TopoOptParameters parameters;
    Demand demand;
};

/// Any network of 4 to 12 hosts with reconfiguration, for some other demand than it will meet.
Case random_case(std::mt19937_64& random) {
    const auto draw = [&random](std::uint64_t least, std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
    };
    Case drawn;
    drawn.parameters.medium = Medium::kCircuitSwitch;
    drawn.parameters.degree = static_cast<std::int64_t>(draw(3, 5));
    drawn.parameters.wiring = static_cast<Wiring>(draw(0, 2));
    drawn.parameters.mode = drawn.parameters.degree == 4 && draw(0, 1) == 1 ? Mode::kReleased : Mode::kPaper;
    drawn.parameters.link = {100_Gbps, 1_us};
    ReconfigurationParameters moves{.every = Time(static_cast<std::int64_t>(draw(1, 20)) * 100'000'000)};
    moves.delay = draw(0, 1) == 0 ? Time(0) : moves.every / static_cast<std::int64_t>(draw(2, 9));
    moves.forwarding = draw(0, 1) == 1;
    moves.dark = static_cast<DarkCircuits>(draw(0, 1));
    drawn.parameters.reconfiguration = moves;
    if (moves.forwarding) {
        constexpr DirectRouting kRoutings[]{DirectRouting::kFlowHash, DirectRouting::kSpray,
                                            DirectRouting::kRandomShortest, DirectRouting::kKShortest,
                                            DirectRouting::kByClass};
        drawn.parameters.routing = kRoutings[draw(0, 4)];
    }
    const auto servers = static_cast<std::uint32_t>(2 * draw(2, 6));
    drawn.demand = {.servers = servers, .groups = {}, .point_to_point = PairDemand(servers)};
    // Some, as otherwise an odd interface may stay free on a panel.
    for (std::uint64_t i = 0; i < 5; ++i) {
        const auto a = static_cast<Server>(draw(0, servers - 1));
        drawn.demand.point_to_point.add(a, (a + static_cast<Server>(draw(1, servers - 1))) % servers, 1'000);
    }
    return drawn;
}

/// Messages between random hosts, each of the first followed by others when it arrives.
class RandomTraffic final : public NotificationHandler {
public:
    RandomTraffic(NetworkBackend& backend, std::mt19937_64 random, std::size_t hosts, int messages)
        : backend_(backend),
          random_(random),
          hosts_(hosts),
          left_(messages) {
        for (int i = 0; i < messages / 3; ++i) {
            send();
        }
    }

    void notify(std::uint64_t token) override {
        delivered.emplace_back(token, backend_.now());
        send();
        if (random_() % 4 == 0) {
            send();
        }
    }

    std::vector<std::pair<std::uint64_t, Time>> delivered;
    std::map<std::size_t, Bytes> sent_by;

private:
    void send() {
        if (left_ == 0) {
            return;
        }
        --left_;
        const std::size_t source = random_() % hosts_;
        const std::size_t destination = (source + 1 + random_() % (hosts_ - 1)) % hosts_;
        const Bytes size(static_cast<std::int64_t>(random_() % 8 == 0 ? 0 : random_() % 60'000'000));
        sent_by[source] += size;
        backend_.send({HostId(source), HostId(destination), size, this, delivered.size()});
    }

    NetworkBackend& backend_;
    std::mt19937_64 random_;
    std::size_t hosts_;
    int left_;
};

RC_GTEST_PROP(DemandWiringProperty, EveryByteArrivesAndNoPortCarriesMoreThanItCan, ()) {
    std::mt19937_64 random(random_seed());
    const Case drawn = random_case(random);
    const auto fabric = built(drawn.parameters, drawn.demand);
    RC_ASSERT(fabric != nullptr);
    std::vector<std::pair<std::uint64_t, Time>> before;
    const std::uint64_t traffic_seed = random();
    for (int repeat = 0; repeat < 2; ++repeat) {
        FluidBackend backend(fabric);
        RandomTraffic traffic(backend, std::mt19937_64(traffic_seed), fabric->host_count(), 60);
        backend.run();
        RC_ASSERT(backend.outstanding_messages() == 0U);
        const NetworkStatistics statistics = backend.statistics();
        const double seconds = to_seconds(backend.now());
        double carried_by_all = 0.0;
        for (std::size_t host = 0; host < fabric->host_count(); ++host) {
            Bytes carried;
            const std::size_t first = fabric->first_link(NodeId(host)).index();
            for (std::size_t i = first; i < first + fabric->out_degree(NodeId(host)); ++i) {
                const Bytes of_link = statistics.links[LinkId(i)].carried;
                carried += of_link;
                carried_by_all += static_cast<double>(of_link.count());
                RC_ASSERT(static_cast<double>(of_link.count()) <= 12.5e9 * seconds * (1 + 1e-9) + 60);
            }
            // A byte of each message and each link may be rounded.
            const Bytes sent = traffic.sent_by[host];
            RC_ASSERT(carried.count() >= sent.count() - 70);
            RC_ASSERT(drawn.parameters.reconfiguration->forwarding || carried.count() <= sent.count() + 70);
        }
        // Nothing goes over links that are dark.
        const double lit = seconds - to_seconds(statistics.reconfiguration->dark);
        const auto links = static_cast<double>(fabric->link_count());
        RC_ASSERT(carried_by_all <= 12.5e9 * links * lit * (1 + 1e-9) + 60 * links);
        RC_ASSERT(repeat == 0 || traffic.delivered == before);
        before = traffic.delivered;
    }
}

RC_GTEST_PROP(DemandWiringProperty, WiringsHaveALinkForEveryPortAndJoinAllWhereHostsForward, ()) {
    std::mt19937_64 random(random_seed());
    const Case drawn = random_case(random);
    const auto first = built(drawn.parameters, drawn.demand);
    RC_ASSERT(first != nullptr);
    const std::size_t hosts = first->host_count();
    const auto degree = static_cast<std::size_t>(drawn.parameters.degree);
    std::shared_ptr<const Fabric> present = first;
    for (int round = 0; round < 4; ++round) {
        std::vector<WaitingPair> waiting;
        for (std::size_t a = 0; a < hosts; ++a) {
            waiting.push_back(waits(static_cast<int>(a),
                                    static_cast<int>((a + 1 + random() % (hosts - 1)) % hosts),
                                    Bytes(static_cast<std::int64_t>(random() % 1'000'000))));
        }
        const auto found = first->reconfiguration()->rewire(*present, waiting);
        if (!found) {
            continue;
        }
        const Fabric& next = *found->next.fabric;
        RC_ASSERT(next.link_count() == first->link_count());
        std::size_t kept = 0;
        std::vector<std::size_t> into(hosts, 0);
        for (LinkId link; link.index() < next.link_count(); ++link) {
            RC_ASSERT(next.source(link) == first->source(link));
            RC_ASSERT(found->next.ports[link.index()] == link);
            ++into[next.target(link).index()];
            kept += next.target(link) == present->target(link) ? 1 : 0;
        }
        RC_ASSERT(std::count(into.begin(), into.end(), degree) == static_cast<std::ptrdiff_t>(hosts));
        const bool is_all = drawn.parameters.reconfiguration->dark == DarkCircuits::kAll;
        RC_ASSERT(found->dark == next.link_count() - (is_all ? 0 : kept));
        for (std::size_t a = 0; a < hosts && drawn.parameters.reconfiguration->forwarding; ++a) {
            for (std::size_t b = 0; b < hosts; ++b) {
                if (a != b) {
                    RC_ASSERT(!next.routing().route(HostId(a), HostId(b)).legs.empty());
                }
            }
        }
        present = found->next.fabric;
    }
}

}  // namespace
}  // namespace astrolabe::network::topoopt
