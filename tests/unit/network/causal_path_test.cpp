#include "network/src/engines/congestion_free/congestion_free_backend.hpp"
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "recorder.hpp"

#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/causal_path.hpp>

namespace astrolabe::network {
namespace {

/// Hosts at 100 Gb/s, 80 ps per byte, 1 us from host to host.
std::shared_ptr<const Fabric> flat(int hosts) {
    FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    return build_flat(parameters);
}

/// A fluid network whose causes are followed.
struct Followed {
    explicit Followed(std::shared_ptr<const Fabric> of, FluidOptions options = {})
        : fabric(std::move(of)),
          resources(*fabric),
          engine(fabric, options),
          backend(engine, fabric, resources),
          recorder(backend) {}

    void send(std::uint64_t token, int source, int destination, Bytes size, std::uint32_t label) {
        backend.send({HostId(source), HostId(destination), size, &recorder, token, 0, label});
    }
    [[nodiscard]] ResourceId link_class(std::string_view name) const {
        for (std::size_t i = 0; i < resources.size(); ++i) {
            if (resources.name(ResourceId(i)) == name) {
                return ResourceId(i);
            }
        }
        ADD_FAILURE() << "no class " << name;
        return ResourceId(0);
    }

    std::shared_ptr<const Fabric> fabric;
    Resources resources;
    FluidBackend engine;
    CauseTracker backend;
    Recorder recorder;
};

void expect_tiled(const std::vector<CausalSegment>& path, Time end) {
    Time at;
    for (const CausalSegment& segment : path) {
        EXPECT_EQ(segment.from, at);
        EXPECT_EQ(std::accumulate(segment.times.begin(), segment.times.end(), Time(0)),
                  segment.to - segment.from);
        at = segment.to;
    }
    EXPECT_EQ(at, end);
}

TEST(Resources, AreNamedByTheKindsOfNodes) {
    LeafSpineParameters parameters;
    parameters.hosts = 4;
    parameters.hosts_per_leaf = 2;
    parameters.spines = 2;
    parameters.link = {100_Gbps, 500_ns};
    const auto fabric = build_leaf_spine(parameters);
    const Resources resources(*fabric);
    ASSERT_EQ(resources.size(), 8u);  // 6 that all networks have, hosts' links and those of the spines
    EXPECT_EQ(resources.name(Resources::kCompute), "compute");
    EXPECT_EQ(resources.name(Resources::kTransport), "transport");
    EXPECT_EQ(resources.name(resources.of(fabric->first_link(fabric->node_of(HostId(0))))),
              "host-leaf links");
}

TEST(CausalPath, OfAMessageIsItsServiceAndItsLatency) {
    Followed run(flat(2));
    run.send(1, 0, 1, 1000_B, 7);
    run.backend.run();
    const auto path = run.backend.path();
    ASSERT_EQ(path.size(), 1u);
    EXPECT_EQ(path[0].label, 7u);
    EXPECT_EQ(path[0].times[run.link_class("host-switch links").index()], 80_ns);  // 1000 B · 80 ps
    EXPECT_EQ(path[0].times[Resources::kLatency.index()], 1_us);
    expect_tiled(path, 1_us + 80_ns);
}

TEST(CausalPath, GoesThroughWhatIsAheadInTheQueueOnce) {
    // Both at 0, one behind the other: 80 ns, 160 ns, then 1 us of latency, once.
    Followed run(flat(2));
    run.send(1, 0, 1, 1000_B, 7);
    run.send(2, 0, 1, 2000_B, 8);
    run.backend.run();
    const auto path = run.backend.path();
    ASSERT_EQ(path.size(), 2u);
    EXPECT_EQ(path[0].label, 7u);
    EXPECT_EQ(path[0].to, 80_ns);
    EXPECT_EQ(path[1].label, 8u);
    EXPECT_EQ(path[1].times[run.link_class("host-switch links").index()], 160_ns);
    EXPECT_EQ(path[1].times[Resources::kLatency.index()], 1_us);
    expect_tiled(path, 1240_ns);
}

TEST(CausalPath, ServesTheNextMessageWhileTheLastPacketOfTheOneBeforeIsStored) {
    // Packets of 1000 B and 250 B of header, 100 ns. The first message leaves in one, is stored by the switch
    // and is there after 100 ns + 1 us + 100 ns = 1.2 us. The second, of 500 B, is served from 100 to 160 ns,
    // when the first is on its way, and is there after 160 ns + 1 us + 60 ns = 1.22 us.
    FluidOptions options;
    options.terms.framing = Framing{1000_B, 250_B, Switching::kStoreAndForward};
    Followed net(flat(2), options);
    net.send(1, 0, 1, 1000_B, 1);
    net.send(2, 0, 1, 500_B, 2);
    net.backend.run();
    const std::vector<CausalSegment> path = net.backend.path();
    expect_tiled(path, 1'220_ns);
    ASSERT_EQ(path.size(), 2u);
    EXPECT_EQ(path[0].label, 1u);
    EXPECT_EQ(path[0].to, 100_ns);
    EXPECT_EQ(path[1].times[net.link_class("host-switch links").index()], 60_ns);
    EXPECT_EQ(path[1].times[Resources::kLatency.index()], 1_us);
    EXPECT_EQ(path[1].times[Resources::kTransport.index()], 60_ns);
}

TEST(CausalPath, GoesBackToWhatCausedAMessage) {
    // 0 to 1 for 1.08 us; there 3 us of computing; 1 to 2. Meanwhile something that ends sooner.
    Followed run(flat(4));
    class Computing final : public NotificationHandler {
    public:
        explicit Computing(Followed& followed)
            : followed_(followed) {}
        void notify(std::uint64_t /*token*/) override { followed_.send(2, 1, 2, 2000_B, 9); }
        [[nodiscard]] TimerPurpose purpose(std::uint64_t /*token*/) const override {
            return {Resources::kCompute, 8};
        }

    private:
        Followed& followed_;
    } computing(run);
    run.recorder.react = [&](std::uint64_t token) {
        if (token == 1) {
            run.backend.schedule(3_us, computing, 0);
        }
    };
    run.send(1, 0, 1, 1000_B, 7);
    run.send(3, 3, 2, 10'000_B, 1);
    run.backend.run();
    const auto path = run.backend.path();
    ASSERT_EQ(path.size(), 3u);
    EXPECT_EQ(path[0].label, 7u);
    EXPECT_EQ(path[1].label, 8u);
    EXPECT_EQ(path[1].times[Resources::kCompute.index()], 3_us);
    EXPECT_EQ(path[2].label, 9u);
    expect_tiled(path, 1080_ns + 3_us + 1160_ns);
    EXPECT_EQ(run.backend.kept(), 3u) << "the chain that ended sooner is dropped";
}

TEST(CausalPath, NamesTheLinkThatIsFull) {
    // Two leaves of two hosts with one spine at 4:1: an uplink of 50 Gb/s for the two flows that cross it,
    // 25 Gb/s each, 320 ps a byte.
    LeafSpineParameters parameters;
    parameters.hosts = 4;
    parameters.hosts_per_leaf = 2;
    parameters.spines = 1;
    parameters.link = {100_Gbps, 500_ns};
    parameters.oversubscription = 4;
    Followed run(build_leaf_spine(parameters));
    run.send(1, 0, 2, 1000_B, 7);
    run.send(2, 1, 3, 1000_B, 7);
    run.backend.run();
    const auto path = run.backend.path();
    ASSERT_EQ(path.size(), 1u);
    EXPECT_EQ(path[0].times[run.link_class("spine-leaf links").index()], 320_ns);
    expect_tiled(path, 2_us + 320_ns);
}

TEST(CausalPath, LeavesToTheNetworkWhatItsEngineCannotTell) {
    const auto fabric = flat(2);
    const Resources resources(*fabric);
    CongestionFreeBackend engine(fabric);
    CauseTracker backend(engine, fabric, resources);
    Recorder recorder(backend);
    backend.send({HostId(0), HostId(1), 1000_B, &recorder, 1, 0, 7});
    backend.run();
    const auto path = backend.path();
    ASSERT_EQ(path.size(), 1u);
    EXPECT_EQ(path[0].times[Resources::kLatency.index()], 1_us);
    EXPECT_EQ(path[0].times[Resources::kNetwork.index()], path[0].to - 1_us);
}

// Random traffic in which messages cause others: the path tiles the run, the run is the same as without, and
// what is kept in the end is the path alone.
RC_GTEST_PROP(CausalPathProperty, TilesEveryRunAndChangesNone, ()) {
    constexpr int kHosts = 5;
    const auto sizes = *rc::gen::container<std::vector<int>>(40, rc::gen::inRange(0, 100'000));
    const auto seeds = *rc::gen::container<std::vector<int>>(40, rc::gen::inRange(0, 1000));
    const auto drive = [&](NetworkBackend& backend, Recorder& recorder) {
        std::size_t next = 0;
        const auto send = [&] {
            if (next < sizes.size()) {
                const int source = seeds[next] % kHosts;
                const int destination = (source + 1 + seeds[next] / kHosts % (kHosts - 1)) % kHosts;
                backend.send({HostId(source), HostId(destination), Bytes(sizes[next]), &recorder, next, 0,
                              static_cast<std::uint32_t>(next % 3)});
                ++next;
            }
        };
        recorder.react = [&](std::uint64_t token) {
            send();
            if (token % 4 == 0) {
                send();
            }
        };
        for (int i = 0; i < 4; ++i) {
            send();
        }
        backend.run();
    };
    FluidBackend plain(flat(kHosts));
    Recorder expected(plain);
    drive(plain, expected);
    Followed run(flat(kHosts));
    drive(run.backend, run.recorder);
    RC_ASSERT(run.recorder.times == expected.times);
    RC_ASSERT(run.recorder.order == expected.order);
    Time at;
    const auto path = run.backend.path();
    for (const CausalSegment& segment : path) {
        RC_ASSERT(segment.from == at);
        RC_ASSERT(std::accumulate(segment.times.begin(), segment.times.end(), Time(0)) ==
                  segment.to - segment.from);
        at = segment.to;
    }
    RC_ASSERT(at == run.backend.now());
    RC_ASSERT(run.backend.kept() >= path.size());
    RC_ASSERT(run.backend.kept() <= sizes.size() + 2);
}

}  // namespace
}  // namespace astrolabe::network
