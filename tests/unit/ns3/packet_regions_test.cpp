// SPDX-License-Identifier: GPL-2.0-only
/// The packet engine on several threads against itself on one: every delivery, every counter of every link
/// and the number of events are the same.
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::ns3 {
namespace {

int pick(int low, int end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, end));
}

/// What can be told of a run.
struct Seen {
    std::vector<std::pair<std::uint64_t, Time>> deliveries;
    std::vector<std::tuple<Bytes, Bytes, double, std::uint64_t>> links;
    std::uint64_t packets;
    std::uint64_t hops;
    std::uint64_t events;
    Bytes peak;
    std::size_t threads;
};

struct Sent {
    int source;
    int destination;
    Bytes size;
};

class Asker final : public network::RunWatcher {
public:
    explicit Asker(const PacketBackend& backend)
        : backend_(backend) {}
    std::uint64_t pulse() override {
        static_cast<void>(backend_.statistics());
        return 500;
    }

private:
    const PacketBackend& backend_;
};

constexpr std::uint64_t kTimer = 1'000'000;

/// `first` messages at 0, and the others as those arrive, one for one. Each arrival starts a timer of `rest`,
/// so that the run ends that much after the last; and then all is done again. Where somebody `asks`,
/// statistics are read every 500 events.
Seen run(const std::shared_ptr<const network::Fabric>& fabric, const PacketOptions& options,
         std::size_t threads, const std::vector<Sent>& messages, std::size_t first, Time rest,
         bool asks = false) {
    PacketBackend backend(fabric, options);
    Seen seen{};
    seen.threads = backend.use_threads(threads);
    Asker asker(backend);
    if (asks) {
        backend.watch(asker);
    }
    Recorder recorder(backend);
    std::size_t next = 0;
    const auto send = [&] {
        if (next < messages.size()) {
            const Sent& message = messages[next];
            recorder.send(message.source, message.destination, message.size, next++);
        }
    };
    recorder.then = [&](std::uint64_t token) {
        if (token != kTimer) {
            send();
            if (rest > Time(0)) {
                backend.schedule(rest, recorder, kTimer);
            }
        }
    };
    for (int round = 0; round < 2; ++round) {
        next = 0;
        while (next < std::min(first, messages.size())) {
            send();
        }
        backend.run();
        EXPECT_EQ(backend.outstanding_messages(), 0U);
    }
    for (std::size_t i = 0; i < recorder.tokens.size(); ++i) {
        seen.deliveries.emplace_back(recorder.tokens[i], recorder.times[i]);
    }
    const network::NetworkStatistics statistics = backend.statistics();
    for (const network::LinkStatistics& link : statistics.links) {
        seen.links.emplace_back(link.carried, link.queue_peak, link.queue_mean, link.marks);
    }
    seen.packets = statistics.packets;
    seen.hops = statistics.packet_hops;
    seen.events = statistics.events;
    seen.peak = statistics.queue_peak;
    return seen;
}

network::HostLinkParameters random_link() {
    network::HostLinkParameters link;
    link.rate = *rc::gen::element(100_Gbps, 25_Gbps, 7_Gbps);
    link.latency = *rc::gen::element(500_ns, 100_ns, 3_us);
    return link;
}

std::shared_ptr<const network::Fabric> random_fabric() {
    if (pick(0, 2) == 0) {
        network::FatTreeParameters parameters;
        parameters.k = 4;
        parameters.link = random_link();
        return network::build_fat_tree(parameters);
    }
    network::LeafSpineParameters parameters;
    parameters.hosts_per_leaf = pick(1, 9);
    parameters.hosts = parameters.hosts_per_leaf * pick(2, 6);
    parameters.spines = pick(1, 5);
    parameters.link = random_link();
    return network::build_leaf_spine(parameters);
}

PacketOptions random_options() {
    PacketOptions options;
    options.transport.mtu = *rc::gen::element(256U, 1024U, 4096U);
    options.transport.window = *rc::gen::element(10'000U, 100'000U, 500'000U);
    options.transport.ackEvery = *rc::gen::element(1U, 4U, 16U);
    options.transport.congestionControl = *rc::gen::element(
        &::ns3::PacketFixedWindow::KIND, &::ns3::PacketDctcp::KIND, &::ns3::PacketHpcc::KIND);
    options.ports.switching =
        *rc::gen::element(::ns3::PacketSwitching::STORE_AND_FORWARD, ::ns3::PacketSwitching::CUT_THROUGH);
    options.transport.connections =
        *rc::gen::element(::ns3::PacketConnections::PER_PAIR, ::ns3::PacketConnections::PER_MESSAGE);
    return options;
}

RC_GTEST_PROP(PacketRegionsProperty, TellTheSameOnAnyNumberOfThreads, ()) {
    const std::shared_ptr<const network::Fabric> fabric = random_fabric();
    const PacketOptions options = random_options();
    RC_PRE(validation_errors(options).empty() && !unsupported(*fabric, options));
    const int hosts = static_cast<int>(fabric->host_count());
    const bool is_even = pick(0, 2) == 0;  // then much happens at the same time
    std::vector<Sent> messages(static_cast<std::size_t>(pick(1, 200)));
    for (Sent& message : messages) {
        message.source = pick(0, hosts);
        message.destination = (message.source + pick(1, hosts)) % hosts;
        message.size = Bytes(is_even ? 65'536 : pick(0, 100'000));
    }
    const auto first = static_cast<std::size_t>(pick(1, 2 * hosts));
    const Time rest = *rc::gen::element(Time(0), 700_ns, 1_us, 20_us);
    const Seen alone = run(fabric, options, 1, messages, first, rest);
    RC_ASSERT(alone.threads == 1U);
    RC_ASSERT(alone.deliveries.size() == messages.size() * (rest > Time(0) ? 4 : 2));
    for (const std::size_t threads : {2U, 3U}) {
        const Seen together = run(fabric, options, threads, messages, first, rest, threads == 3);
        RC_ASSERT(together.threads == threads);
        RC_ASSERT(together.deliveries == alone.deliveries);
        RC_ASSERT(together.links == alone.links);
        RC_ASSERT(together.packets == alone.packets);
        RC_ASSERT(together.hops == alone.hops);
        RC_ASSERT(together.events == alone.events);
        RC_ASSERT(together.peak == alone.peak);
    }
}

// 128 hosts that send 64 KiB to each of 16 others: hundreds of events in 500 ns, so threads work at a time.
TEST(PacketRegions, WorkAtATimeWhereThereIsEnoughToDo) {
    network::FatTreeParameters parameters;
    parameters.k = 8;
    parameters.link.rate = 100_Gbps;
    parameters.link.latency = 500_ns;
    const std::shared_ptr<const network::Fabric> fabric = network::build_fat_tree(parameters);
    std::vector<Sent> messages;
    for (int by = 1; by <= 16; ++by) {
        for (int host = 0; host < 128; ++host) {
            messages.push_back({host, (host + 8 * by - 1) % 128, 65'536_B});
        }
    }
    const Seen alone = run(fabric, {}, 1, messages, 512, Time(0));
    for (const std::size_t threads : {2U, 4U}) {
        const Seen together = run(fabric, {}, threads, messages, 512, Time(0));
        EXPECT_EQ(together.threads, threads);
        EXPECT_EQ(together.deliveries, alone.deliveries);
        EXPECT_EQ(together.links, alone.links);
        EXPECT_EQ(together.events, alone.events);
    }
}

// What one region does there would depend on what others have done at the same time.
TEST(PacketRegions, AreOneWhereLinksAreNotTheirOwn) {
    network::LeafSpineParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_leaf = 2;
    parameters.spines = 2;
    parameters.link.rate = 100_Gbps;
    parameters.link.latency = 500_ns;
    const auto threads = [](const network::LeafSpineParameters& network, const PacketOptions& options) {
        return PacketBackend(network::build_leaf_spine(network), options).use_threads(4);
    };
    EXPECT_EQ(threads(parameters, {}), 4U);
    network::LeafSpineParameters other = parameters;
    other.load_balancing = network::LoadBalancing::kSpray;
    EXPECT_EQ(threads(other, {}), 1U) << "a random choice after another";
    other = parameters;
    other.link.latency = Time(0);
    EXPECT_EQ(threads(other, {}), 1U) << "nothing can be known ahead";
    other = parameters;
    other.switch_buffer = 1_MB;
    EXPECT_EQ(threads(other, {}), 1U) << "packets may be lost";
    PacketOptions options;
    options.loss_rate = 0.001;
    EXPECT_EQ(threads(parameters, options), 1U);
    options = {};
    options.transport.congestionControl = &::ns3::PacketDcqcn::KIND;
    options.ports.ecnThreshold = 100'000;
    options.ports.ecnMaxThreshold = 400'000;
    EXPECT_EQ(threads(parameters, options), 1U) << "marks are drawn one after another";
    EXPECT_EQ(PacketBackend(star(4), {}).use_threads(4), 2U) << "hosts, and one switch";
    EXPECT_EQ(PacketBackend(star(4), {}).use_threads(0), 1U);
}

}  // namespace
}  // namespace astrolabe::ns3
