/// The congestion-free engine: its formula, what it leaves out, and the contract of backends.
#include "network/src/engines/congestion_free/congestion_free_backend.hpp"
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/fully_connected.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/ring.hpp"
#include "random_fabrics.hpp"
#include "random_seed.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/analysis/link_utilization.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

using Options = CongestionFreeOptions;

constexpr Options kStoreAndForward{Switching::kStoreAndForward, TransferTiming::kExact};

std::shared_ptr<const Fabric> flat(int hosts, HostLinkParameters link = {100_Gbps, 500_ns}) {
    FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = link;
    return build_flat(parameters);
}

std::shared_ptr<const Fabric> ring(int hosts, HostLinkParameters link) {
    RingParameters parameters;
    parameters.hosts = hosts;
    parameters.link = link;
    return build_ring(parameters);
}

std::shared_ptr<const Fabric> fully_connected(int hosts, HostLinkParameters link) {
    FullyConnectedParameters parameters;
    parameters.hosts = hosts;
    parameters.link = link;
    return build_fully_connected(parameters);
}

Time transfer_time(const std::shared_ptr<const Fabric>& fabric, int source, int destination, Bytes size,
                   Options options) {
    return CongestionFreeBackend(fabric, options).transfer_time(HostId(source), HostId(destination), size);
}

TEST(CongestionFree, MeetsTheUnitChecksOfAstraSimsAnalyticalNetwork) {
    // 50 GiB/s are 53.687091200 B/ns: 1 MiB takes 19,531.25 ns, a hop 20,031.25 ns with its latency. From 1
    // to 4 the ring has three hops, the switch two.
    constexpr HostLinkParameters kLink{Bandwidth(50LL * (1LL << 30) * 8), 500_ns};
    struct Case {
        std::shared_ptr<const Fabric> fabric;
        Time exact;
        Time whole;
    };
    for (const Case& network : {Case{ring(16, kLink), 60'093'750_ps, 60'093_ns},
                                Case{fully_connected(16, kLink), 20'031'250_ps, 20'031_ns},
                                Case{flat(16, kLink), 40'062'500_ps, 40'062_ns}}) {
        EXPECT_EQ(transfer_time(network.fabric, 1, 4, 1_MiB, kStoreAndForward), network.exact);
        EXPECT_EQ(transfer_time(network.fabric, 1, 4, 1_MiB,
                                {Switching::kStoreAndForward, TransferTiming::kAstraSim1}),
                  network.whole);
    }
    // Cut-through on the ring: 3 · 500 + 19,531.25.
    EXPECT_EQ(transfer_time(ring(16, kLink), 1, 4, 1_MiB, {}), 21'031'250_ps);
    EXPECT_EQ(
        transfer_time(ring(16, kLink), 1, 4, 1_MiB, {Switching::kCutThrough, TransferTiming::kAstraSim1}),
        21'031_ns);
}

TEST(CongestionFree, RoundsUpToPicosecondsOrDownToNanoseconds) {
    // 100 B at 300 Gb/s take 2,666.6… ps; three hops of 100 ps latency each.
    const auto fabric = ring(8, {300_Gbps, 100_ps});
    const auto time = [&](Switching switching, TransferTiming timing) {
        return transfer_time(fabric, 0, 3, 100_B, {switching, timing});
    };
    EXPECT_EQ(time(Switching::kCutThrough, TransferTiming::kExact), Time(300 + 2667));
    EXPECT_EQ(time(Switching::kStoreAndForward, TransferTiming::kExact), Time(3 * (100 + 2667)));
    // 2,966 ps in all, but 2,766 at each hop.
    EXPECT_EQ(time(Switching::kCutThrough, TransferTiming::kAstraSim1), 2_ns);
    EXPECT_EQ(time(Switching::kStoreAndForward, TransferTiming::kAstraSim1), 6_ns);
    // A quotient just below a nanosecond is not rounded up to it before it is cut off: 1 B at 8,000,000,001
    // bit/s takes 999.99… ps.
    const auto slow = fully_connected(2, {Bandwidth(8'000'000'001), Time(0)});
    EXPECT_EQ(transfer_time(slow, 0, 1, 1_B, {}), 1_ns);
    EXPECT_EQ(transfer_time(slow, 0, 1, 1_B, {Switching::kCutThrough, TransferTiming::kAstraSim1}), 0_ns);
}

TEST(CongestionFree, EveryHopHasItsOwnRate) {
    // Hosts at 100 Gb/s (80 ps/B), spines at 50 Gb/s (160 ps/B), 500 ns each: four hops between leaves.
    LeafSpineParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_leaf = 4;
    parameters.spines = 1;
    parameters.uplinks = 1;
    parameters.uplink.rate = 50_Gbps;
    const auto fabric = build_leaf_spine(parameters);
    EXPECT_EQ(transfer_time(fabric, 0, 7, 1000_B, {}), 2_us + 160_ns);
    EXPECT_EQ(transfer_time(fabric, 0, 7, 1000_B, kStoreAndForward), 2_us + 2 * 80_ns + 2 * 160_ns);
    EXPECT_EQ(transfer_time(fabric, 0, 1, 1000_B, {}), 1_us + 80_ns);
}

TEST(CongestionFree, MessagesDoNotMeet) {
    // Seven senders into one receiver: each takes 1 us + 1 MB · 80 ps/B, where a shared port would take 7 ·
    // 80 us.
    const auto fabric = flat(8);
    CongestionFreeBackend backend(fabric);
    Recorder recorder(backend);
    std::vector<Message> messages;
    for (std::uint64_t i = 1; i < 8; ++i) {
        messages.push_back({HostId(i), HostId(0), 1_MB, &recorder, i});
    }
    backend.send_batch(messages);
    backend.run();
    ASSERT_EQ(recorder.order, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7}));
    for (const auto& [token, time] : recorder.times) {
        EXPECT_EQ(time, 81_us) << token;
    }
    // What was put on the receiver's link is 7 MB, of the 81 us · 12.5 GB/s = 1.0125 MB that it can carry.
    const LinkUtilization utilization = link_utilization(*fabric, backend.statistics(), backend.now());
    EXPECT_NEAR(utilization.max, 7.0 / 1.0125, 1e-12);
}

TEST(CongestionFree, AMessageDoesNotOvertakeAnotherOfItsPair) {
    CongestionFreeBackend backend(flat(3));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 1_MB);   // 81 us
    recorder.send(1, 0, 1, 100_B);  // alone 1.008 us: waits for the one before
    recorder.send(2, 0, 1, 0_B);
    recorder.send(3, 0, 2, 100_B);  // another pair
    backend.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{3, 0, 1, 2}));
    EXPECT_EQ(recorder.times[0], 81_us);
    EXPECT_EQ(recorder.times[1], 81_us);
    EXPECT_EQ(recorder.times[2], 81_us);
    EXPECT_EQ(recorder.times[3], 1'008_ns);
}

constexpr Options kPorts{Switching::kCutThrough, TransferTiming::kExact, PortSharing::kPorts};

TEST(CongestionFree, WithPortsMessagesOfAHostFollowOneAnother) {
    // 12,500 bytes at 100 Gb/s are 1 us, twice 500 ns on the way: the example of the header.
    for (const Options& options : {Options{}, kPorts}) {
        const bool has_ports = options.sharing == PortSharing::kPorts;
        for (const bool is_incast : {false, true}) {
            CongestionFreeBackend backend(flat(4), options);
            Recorder recorder(backend);
            for (std::uint64_t peer = 1; peer < 4; ++peer) {
                const HostId other(static_cast<std::size_t>(peer));
                backend.send({is_incast ? other : HostId(0), is_incast ? HostId(0) : other, 12'500_B,
                              &recorder, peer - 1});
            }
            backend.run();
            for (int i = 0; i < 3; ++i) {
                EXPECT_EQ(recorder.times[static_cast<std::size_t>(i)], 2_us + (has_ports ? i : 0) * 1_us);
            }
        }
    }
}

TEST(CongestionFree, WithPortsTheOrderIsThatOfArrival) {
    CongestionFreeBackend backend(flat(4), kPorts);
    Recorder recorder(backend);
    // Host 1 sends 2 us to host 2, then 1 us to host 0; host 3 sends 1 us to host 0, which arrives first.
    backend.send({HostId(1), HostId(2), 25'000_B, &recorder, 0});
    backend.send({HostId(1), HostId(0), 12'500_B, &recorder, 1});
    backend.send({HostId(3), HostId(0), 12'500_B, &recorder, 2});
    backend.run();
    EXPECT_EQ(recorder.times[0], 3_us);  // 2 us and 1 us of latency
    EXPECT_EQ(recorder.times[1], 4_us);  // leaves at 2 us
    EXPECT_EQ(recorder.times[2], 2_us);
}

TEST(CongestionFree, WithPortsLinksBetweenAreNotShared) {
    // Hosts in a ring forward: 6 -> 2 and 0 -> 3 both cross the link from 1 to 2, the port into 2 of the one
    // alone, and the link from 0 to 1, the port out of 0 of the other.
    CongestionFreeBackend backend(ring(7, {100_Gbps, 500_ns}), kPorts);
    Recorder recorder(backend);
    backend.send({HostId(6), HostId(2), 12'500_B, &recorder, 0});
    backend.send({HostId(0), HostId(3), 12'500_B, &recorder, 1});
    backend.run();
    EXPECT_EQ(recorder.times[0], 2'500_ns);  // 3 links of 500 ns and 1 us
    EXPECT_EQ(recorder.times[1], 2'500_ns);
}

TEST(CongestionFree, AMessageWithoutBytesTakesTheLatency) {
    EXPECT_EQ(transfer_time(flat(2), 0, 1, 0_B, {}), 1_us);
    EXPECT_EQ(transfer_time(ring(8, {100_Gbps, 300_ps}), 0, 4, 0_B,
                            {Switching::kCutThrough, TransferTiming::kAstraSim1}),
              1_ns);  // 4 · 300 ps
}

TEST(CongestionFree, ATransferBeyondTheEndOfTimeIsAStall) {
    // 2^40 B at 1 bit/s take 8.8e24 ps; time ends at 9.2e18. What follows on the pair waits for it.
    CongestionFreeBackend backend(flat(3, {Bandwidth(1), 500_ns}));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, Bytes(1LL << 40));
    recorder.send(1, 0, 1, 0_B);
    recorder.send(2, 2, 1, 0_B);
    backend.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{2}));
    EXPECT_EQ(backend.outstanding_messages(), 2U);
    ASSERT_EQ(backend.describe_outstanding(10).size(), 2U);
    EXPECT_EQ(backend.describe_outstanding(10)[0].size, Bytes(1LL << 40));
}

TEST(CongestionFree, StatisticsCountWholeMessagesPerLink) {
    const std::shared_ptr<const Fabric> fabric = flat(3);
    CongestionFreeBackend backend(fabric);
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 1000_B);
    recorder.send(1, 0, 2, 500_B);
    recorder.send(2, 2, 1, 0_B);
    backend.run();
    const NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(statistics.messages, 3U);
    EXPECT_EQ(statistics.bytes_delivered, 1500_B);
    const auto up = [&](int host) { return fabric->first_link(NodeId(host)); };
    EXPECT_EQ(statistics.links[up(0)].carried, 1500_B);
    EXPECT_EQ(statistics.links[*fabric->link(up(1)).reverse].carried, 1000_B);
    EXPECT_EQ(statistics.links[*fabric->link(up(2)).reverse].carried, 500_B);
    EXPECT_EQ(statistics.links[up(2)].carried, 0_B);
    EXPECT_EQ(statistics.events, 3U);
    EXPECT_EQ(backend.events_processed(), 3U);
}

TEST(CongestionFree, RefusesCircuitsAndStoreAndForwardOfSprayedMessages) {
    FabricBuilder builder("circuit");
    builder.add_host("host 0");
    builder.add_host("host 1");
    const FabricBuilder::Cable cable = builder.connect(NodeId(0), NodeId(1), {100_Gbps, 500_ns, 0_B});
    builder.set_circuits(100_us, {{60_us, {cable.forward, cable.backward}}, {40_us, {}}});
    const auto circuits = std::move(builder).build();
    EXPECT_TRUE(congestion_free_unsupported(*circuits, {}));
    EXPECT_THROW(CongestionFreeBackend{circuits}, std::logic_error);

    LeafSpineParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_leaf = 4;
    parameters.spines = 2;
    parameters.load_balancing = LoadBalancing::kSpray;
    const auto sprayed = build_leaf_spine(parameters);
    EXPECT_TRUE(congestion_free_unsupported(*sprayed, kStoreAndForward));
    EXPECT_FALSE(congestion_free_unsupported(*sprayed, {}));
    EXPECT_FALSE(congestion_free_unsupported(*flat(2), kStoreAndForward));
}

TEST(CongestionFree, RefusesWhatBreaksItsContract) {
    CongestionFreeBackend backend(flat(2));
    Recorder recorder(backend);
    EXPECT_THROW(recorder.send(0, 0, 0, 1_B), std::logic_error);
    EXPECT_THROW(recorder.send(0, 0, 2, 1_B), std::logic_error);
    EXPECT_THROW(recorder.send(0, 0, 1, Bytes(-1)), std::logic_error);
    EXPECT_THROW(backend.send({HostId(0), HostId(1), 1_B, nullptr, 0}), std::logic_error);
    EXPECT_THROW(backend.schedule(Time(-1), recorder, 0), std::logic_error);
}

TEST(CongestionFree, IsChosenByExperimentFiles) {
    Registry<BackendMaker> registry{"backend"};
    register_congestion_free_backend(registry);
    const auto read = [&registry](const std::string& yaml) {
        ReadContext context;
        const Result<ConfigNode> node = parse_config(yaml, "backend.yaml");
        return registry.read(node.value(), context);
    };
    const auto configured =
        read("{kind: congestion_free, switching: store_and_forward, timing: astra_sim_1, sharing: ports}");
    ASSERT_TRUE(configured);
    const BackendMaker maker = configured->make();
    EXPECT_FALSE(maker.shares_links);
    const std::unique_ptr<NetworkBackend> backend = maker.make(flat(2), 1);
    Recorder recorder(*backend);
    backend->send({HostId(0), HostId(1), 1_KB, &recorder, 0});
    backend->run();
    EXPECT_EQ(recorder.times[0], 1'160_ns);  // 2 · (500 + 80)
    EXPECT_FALSE(read("{kind: congestion_free, switching: wormhole}"));
}

/// Rates of any number of bit/s.
std::shared_ptr<const Fabric> random_fabric(Random& random, LoadBalancing balancing) {
    const HostLinkParameters link{Bandwidth(pick(random, 1, 400'000'000'000)),
                                  Time(pick(random, 0, 2'000'000))};
    return pick(random, 0, 3) == 0 ? ring(static_cast<int>(pick(random, 3, 24)), link)
                                   : random_static_fabric(random, link, balancing);
}

RC_GTEST_PROP(CongestionFreeProperty, ALoneMessageTakesTheTimeThatItTakesOnTheFluidEngine, ()) {
    Random random(random_seed());
    const bool sprayed = pick(random, 0, 1) == 1;
    const auto fabric = random_fabric(random, sprayed ? LoadBalancing::kSpray : LoadBalancing::kFlowHash);
    const std::int64_t hosts = static_cast<std::int64_t>(fabric->host_count());
    const std::int64_t source = pick(random, 0, hosts - 1);
    const HostId from(static_cast<std::size_t>(source));
    const HostId to(static_cast<std::size_t>((source + pick(random, 1, hosts - 1)) % hosts));
    const Bytes size(pick(random, 0, 1 << pick(random, 1, 24)));
    FluidBackend fluid(fabric);
    Recorder recorder(fluid);
    fluid.send({from, to, size, &recorder, 0});
    fluid.run();
    const Time alone = CongestionFreeBackend(fabric).transfer_time(from, to, size);
    if (sprayed) {
        // The rate of a sprayed message is rounded here to a bit/s and there to 53 bits; times to a
        // picosecond.
        const double transmission =
            static_cast<double>((alone - fabric->routing().route(from, to).latency).count());
        const double rate = size == 0_B ? 1.0 : 8e12 * static_cast<double>(size.count()) / transmission;
        const double error = 2.0 + transmission * (1.0 / rate + 0x1p-50);
        RC_ASSERT(std::abs(static_cast<double>((alone - recorder.times[0]).count())) <= error);
    } else {
        RC_ASSERT(alone == recorder.times[0]);
    }
}

/// Sends messages at random times and keeps what is to be expected of each.
class Traffic final : public NotificationHandler {
public:
    Traffic(CongestionFreeBackend& backend, std::int64_t hosts, Random& random, int messages)
        : backend_(backend),
          hosts_(hosts),
          random_(random) {
        for (int i = 0; i < messages; ++i) {
            backend_.schedule(Time(pick(random_, 0, 20) * 1'000'000), *this, kTimer);
        }
    }

    void notify(std::uint64_t token) override {
        RC_ASSERT(backend_.now() >= last_);
        last_ = backend_.now();
        if (token != kTimer) {
            RC_ASSERT(expected.at(token) == backend_.now());
            expected.erase(token);
            return;
        }
        const std::int64_t source = pick(random_, 0, hosts_ - 1);
        const std::int64_t destination = (source + pick(random_, 1, hosts_ - 1)) % hosts_;
        const HostId from(static_cast<std::size_t>(source));
        const HostId to(static_cast<std::size_t>(destination));
        const Bytes size(pick(random_, 0, 3) == 0 ? 0 : pick(random_, 1, 1 << 18));
        Time& before = delivered_[{source, destination}];
        before = std::max(before, backend_.now() + backend_.transfer_time(from, to, size));
        expected[sent] = before;
        total += size;
        backend_.send({from, to, size, this, sent++});
    }

    std::map<std::uint64_t, Time> expected;  // by number, of messages under way
    std::uint64_t sent = 0;
    Bytes total;

private:
    static constexpr std::uint64_t kTimer = ~std::uint64_t{0};
    CongestionFreeBackend& backend_;
    std::int64_t hosts_;
    Random& random_;
    Time last_;
    std::map<std::pair<std::int64_t, std::int64_t>, Time> delivered_;  // last of a pair
};

RC_GTEST_PROP(CongestionFreeProperty, ALoneMessageTakesTheSameTimeWithPorts, ()) {
    Random random(random_seed());
    const bool sprayed = pick(random, 0, 1) == 1;
    const auto fabric = random_fabric(random, sprayed ? LoadBalancing::kSpray : LoadBalancing::kFlowHash);
    const Options options{
        !sprayed && pick(random, 0, 1) == 0 ? Switching::kStoreAndForward : Switching::kCutThrough,
        pick(random, 0, 1) == 0 ? TransferTiming::kExact : TransferTiming::kAstraSim1, PortSharing::kPorts};
    const std::int64_t hosts = static_cast<std::int64_t>(fabric->host_count());
    const std::int64_t source = pick(random, 0, hosts - 1);
    const HostId from(static_cast<std::size_t>(source));
    const HostId to(static_cast<std::size_t>((source + pick(random, 1, hosts - 1)) % hosts));
    const Bytes size(pick(random, 0, 1 << pick(random, 1, 24)));
    CongestionFreeBackend backend(fabric, options);
    Recorder recorder(backend);
    backend.send({from, to, size, &recorder, 0});
    backend.run();
    RC_ASSERT(recorder.times[0] == backend.transfer_time(from, to, size));
}

/// All at 0, in any order of sizes.
RC_GTEST_PROP(CongestionFreeProperty, WithPortsNoPortCarriesMoreThanItsRate, ()) {
    Random random(random_seed());
    constexpr std::int64_t kHosts = 6;
    const auto fabric = flat(kHosts);
    CongestionFreeBackend backend(fabric, kPorts);
    Recorder recorder(backend);
    struct Sent {
        std::int64_t source, destination;
        Bytes size;
    };
    std::vector<Sent> sent;
    for (int i = 0; i < 40; ++i) {
        const std::int64_t source = pick(random, 0, kHosts - 1);
        sent.push_back({source, (source + pick(random, 1, kHosts - 1)) % kHosts,
                        Bytes(pick(random, 0, 3) == 0 ? 0 : pick(random, 1, 1 << 18))});
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
        backend.send({HostId(static_cast<std::size_t>(sent[i].source)),
                      HostId(static_cast<std::size_t>(sent[i].destination)), sent[i].size, &recorder, i});
    }
    backend.run();
    RC_ASSERT(recorder.times.size() == sent.size());
    const auto service = [](Bytes size) { return Time(80 * size.count()); };  // 100 Gb/s: 80 ps a byte
    std::map<std::pair<std::int64_t, std::int64_t>, Time> last_of_pair;
    for (const bool is_out : {true, false}) {
        for (std::int64_t host = 0; host < kHosts; ++host) {
            Time work;
            Time last;
            for (std::size_t i = 0; i < sent.size(); ++i) {
                if ((is_out ? sent[i].source : sent[i].destination) == host) {
                    work += service(sent[i].size);
                    last = std::max(last, recorder.times[i]);
                }
            }
            RC_ASSERT(work == Time(0) || last >= work + 1_us);
        }
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
        RC_ASSERT(recorder.times[i] >= service(sent[i].size) + 1_us);
        Time& before = last_of_pair[{sent[i].source, sent[i].destination}];
        RC_ASSERT(recorder.times[i] >= before);
        before = recorder.times[i];
    }
}

RC_GTEST_PROP(CongestionFreeProperty, EveryMessageArrivesOnceWhenTheFormulaSays, ()) {
    Random random(random_seed());
    const Options options{pick(random, 0, 1) == 0 ? Switching::kCutThrough : Switching::kStoreAndForward,
                          pick(random, 0, 1) == 0 ? TransferTiming::kExact : TransferTiming::kAstraSim1};
    const auto fabric = random_fabric(random, LoadBalancing::kFlowHash);
    CongestionFreeBackend backend(fabric, options);
    Traffic traffic(backend, static_cast<std::int64_t>(fabric->host_count()), random, 200);
    backend.run();
    RC_ASSERT(traffic.expected.empty());
    RC_ASSERT(backend.outstanding_messages() == 0U);
    RC_ASSERT(backend.statistics().messages == traffic.sent);
    RC_ASSERT(backend.statistics().bytes_delivered == traffic.total);
    RC_ASSERT(backend.events_processed() == 2 * traffic.sent);  // a timer and a delivery each
}

}  // namespace
}  // namespace astrolabe::network
