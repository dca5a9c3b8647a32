// The fluid engine ahead of its events (forwarder.hpp): what happens, happens when events would have made it.
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/fully_connected.hpp"
#include "random_fabrics.hpp"
#include "random_seed.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/forwarder.hpp>

namespace astrolabe::network {
namespace {

/// A message that goes from host to host around a ring, a byte less on every second hop; at its end other
/// things happen.
struct Chain {
    std::size_t first = 0;  ///< host
    std::uint32_t hops = 1;
    Bytes size;
};

/// What chains do on rings of hosts, of one stride each, and messages across them. All of it follows
/// from a seed and the numbers of chains, not from the order in which things of one instant are notified.
class Chains final : public Forwarder {
public:
    struct Plan {
        std::size_t hosts = 2;
        std::vector<std::size_t> strides{1};  ///< of the rings
        std::uint64_t seed = 0;
        std::uint32_t chains = 10;
        bool crosses = false;  ///< messages of other pairs, or of the same and not forwarded
        Bytes common = 64_KiB;
        Bytes largest = 256_KiB;
    };

    Chains(FluidBackend& backend, const Plan& plan)
        : backend_(backend),
          plan_(plan),
          stranger_(*this),
          timer_(*this) {
        for (const std::size_t stride : plan.strides) {
            const std::size_t first = hops_.size();
            for (std::size_t host = 0; host < plan.hosts; ++host) {
                const std::size_t next = (host + stride) % plan.hosts;
                hops_.push_back({HostId(host), HostId(next), static_cast<std::uint32_t>(first + next)});
            }
        }
    }

    /// Chains start at times of their own.
    void begin() {
        for (std::uint32_t chain = 0; chain < plan_.chains; ++chain) {
            Random random(plan_.seed + chain);
            backend_.schedule(Time(pick(random, 0, 3) * 7'000'000), timer_, chain);
        }
    }

    void notify(std::uint64_t token) override {
        const Chain& chain = chains_.at(token >> 32);
        const auto hop = static_cast<std::uint32_t>(token);
        if (hop + 1 < chain.hops) {
            send(token + 1);
            return;
        }
        note(token);
        // Now and then another chain, a timer that starts one, or a stranger.
        Random random(plan_.seed ^ (token * 0x9e3779b97f4a7c15U));
        const auto next = static_cast<std::uint32_t>((token >> 32) + plan_.chains);
        const std::int64_t kind = next < 6 * plan_.chains ? pick(random, 0, 4) : 4;
        if (kind == 0) {
            start(next);
        } else if (kind == 1) {
            backend_.schedule(Time(pick(random, 0, 20) * 1'000'000), timer_, next);
        } else if (kind == 2 && plan_.crosses) {
            const auto hosts = static_cast<std::int64_t>(plan_.hosts);
            const std::int64_t from = pick(random, 0, hosts - 1);
            const std::int64_t to = (from + pick(random, 1, hosts - 1)) % hosts;
            backend_.send({HostId(static_cast<std::size_t>(from)), HostId(static_cast<std::size_t>(to)),
                           Bytes(pick(random, 0, 1 << 18)), &stranger_, next});
        }
    }

    [[nodiscard]] std::span<const Hop> hops() override { return hops_; }
    [[nodiscard]] std::optional<Forwarded> forwarded(std::uint64_t token) const override {
        const Chain& chain = chains_.at(token >> 32);
        return Forwarded{chain.size - Bytes(1), static_cast<std::uint32_t>(token) + 1 == chain.hops};
    }
    void forward(std::span<const std::uint64_t> tokens, std::span<Caused> caused) override {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const auto hop = static_cast<std::uint32_t>(tokens[i]) + 1;
            caused[i] = {size_of(tokens[i] + 1), tokens[i] + 1, hop + 1 == chains_.at(tokens[i] >> 32).hops};
        }
    }

    /// When what was notified, in the order of time and of what.
    [[nodiscard]] std::vector<std::pair<Time, std::uint64_t>> notes() const {
        std::vector<std::pair<Time, std::uint64_t>> sorted = notes_;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }

private:
    struct Stranger final : NotificationHandler {
        explicit Stranger(Chains& all)
            : chains(all) {}
        void notify(std::uint64_t token) override { chains.note(token | std::uint64_t{1} << 63); }
        Chains& chains;
    };
    struct Timer final : NotificationHandler {
        explicit Timer(Chains& all)
            : chains(all) {}
        void notify(std::uint64_t chain) override { chains.start(static_cast<std::uint32_t>(chain)); }
        Chains& chains;
    };

    void note(std::uint64_t token) { notes_.emplace_back(backend_.now(), token); }
    void start(std::uint32_t number) {
        Random random(plan_.seed * 31 + number);
        Chain chain;
        chain.first = static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(plan_.hosts) - 1));
        chain.hops = static_cast<std::uint32_t>(pick(random, 1, 200));
        // Many alike, so that many ends coincide.
        chain.size = pick(random, 0, 1) == 0 ? plan_.common : Bytes(pick(random, 2, plan_.largest.count()));
        chains_[number] = chain;
        send(std::uint64_t{number} << 32);
    }
    [[nodiscard]] Bytes size_of(std::uint64_t token) const {
        return chains_.at(token >> 32).size - Bytes(static_cast<std::int64_t>(token % 2));
    }
    void send(std::uint64_t token) {
        const Chain& chain = chains_.at(token >> 32);
        const std::size_t ring = (token >> 32) % plan_.strides.size();
        const std::size_t from = (chain.first + (token & 0xffffffffU) * plan_.strides[ring]) % plan_.hosts;
        const Hop& hop = hops_[ring * plan_.hosts + from];
        backend_.send({hop.source, hop.destination, size_of(token), this, token});
    }

    FluidBackend& backend_;
    Plan plan_;
    Stranger stranger_;
    Timer timer_;
    std::vector<Hop> hops_;
    std::map<std::uint64_t, Chain> chains_;
    std::vector<std::pair<Time, std::uint64_t>> notes_;
};

struct Outcome {
    std::vector<std::pair<Time, std::uint64_t>> notes;
    std::vector<Bytes> carried;
    std::uint64_t events = 0;
    std::uint64_t messages = 0;
    Bytes delivered;
    Time end;
    std::uint64_t forwarded = 0;
};

Outcome run(const std::shared_ptr<const Fabric>& fabric, const Chains::Plan& plan, bool goes_ahead) {
    FluidBackend backend(fabric, {.rates_kept = RatesKept::kByLink});
    Chains chains(backend, plan);
    if (goes_ahead) {
        backend.run_ahead_with(chains);
    }
    chains.begin();
    backend.run();
    Outcome outcome;
    outcome.notes = chains.notes();
    const NetworkStatistics statistics = backend.statistics();
    for (const LinkStatistics& link : statistics.links) {
        outcome.carried.push_back(link.carried);
    }
    outcome.events = backend.events_processed();
    outcome.messages = statistics.messages;
    outcome.delivered = backend.bytes_delivered();
    outcome.end = backend.now();
    outcome.forwarded = backend.forwarded_messages();
    return outcome;
}

void expect_same(const Outcome& ahead, const Outcome& events) {
    ASSERT_EQ(ahead.notes, events.notes);
    EXPECT_EQ(ahead.carried, events.carried);
    EXPECT_EQ(ahead.events, events.events);
    EXPECT_EQ(ahead.messages, events.messages);
    EXPECT_EQ(ahead.delivered, events.delivered);
    EXPECT_EQ(ahead.end, events.end);
    EXPECT_EQ(events.forwarded, 0U);
}

std::shared_ptr<const Fabric> one_switch(std::size_t hosts, const HostLinkParameters& link) {
    FlatParameters parameters;
    parameters.hosts = static_cast<std::int64_t>(hosts);
    parameters.link = link;
    return build_flat(parameters);
}

TEST(RunAhead, ForwardsMostOfARing) {
    // Chains of up to 200 hops; each pair of hosts must have had a message first.
    const Chains::Plan plan{.hosts = 16, .seed = 5, .chains = 40, .crosses = false};
    const std::shared_ptr<const Fabric> fabric = one_switch(16, {100_Gbps, 500_ns});
    const Outcome ahead = run(fabric, plan, true);
    expect_same(ahead, run(fabric, plan, false));
    EXPECT_GT(ahead.forwarded, ahead.messages * 9 / 10);
}

TEST(RunAhead, ForwardsMostOfSeveralRingsWhereEachHasLinksOfItsOwn) {
    const Chains::Plan plan{.hosts = 8, .strides = {1, 3, 7}, .seed = 6, .chains = 60, .crosses = false};
    const std::shared_ptr<const Fabric> each_pair =
        build_fully_connected({.hosts = 8, .link = {100_Gbps, 500_ns}});
    const Outcome ahead = run(each_pair, plan, true);
    expect_same(ahead, run(each_pair, plan, false));
    EXPECT_GT(ahead.forwarded, ahead.messages * 9 / 10);
    // On one switch rings share the links of hosts.
    const std::shared_ptr<const Fabric> shared = one_switch(8, {100_Gbps, 500_ns});
    const Outcome by_events = run(shared, plan, true);
    expect_same(by_events, run(shared, plan, false));
    EXPECT_EQ(by_events.forwarded, 0U);
}

TEST(RunAhead, MessagesOfLessThanAPicosecondAreLeftToEvents) {
    // A byte takes 0.08 ps at 100 Tbit/s, so ends of two messages can round up to the same picosecond, and
    // what is sent at a delivery can arrive at once. Of 50 bytes, 4 ps, all are far enough apart.
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
        for (const Time latency : {Time(0), Time(1), 500_ns}) {
            Chains::Plan plan{.hosts = 8, .seed = seed, .chains = 40, .crosses = true};
            plan.common = Bytes(50);
            plan.largest = Bytes(200);
            const auto fabric = one_switch(8, {Bandwidth(100'000'000'000'000), latency});
            expect_same(run(fabric, plan, true), run(fabric, plan, false));
        }
    }
}

RC_GTEST_PROP(RunAheadProperty, HappensWhenEventsWouldHaveMadeIt, ()) {
    Random random(random_seed());
    const bool is_meshed = pick(random, 0, 1) == 0;
    const std::shared_ptr<const Fabric> fabric =
        is_meshed ? build_fully_connected({.hosts = pick(random, 4, 12), .link = random_link(random)})
                  : random_static_fabric(random);
    Chains::Plan plan;
    plan.hosts = fabric->host_count();
    // Round all hosts or some of them, or back and forth.
    const std::int64_t rings = is_meshed ? pick(random, 1, 3) : 1;
    const std::int64_t last = static_cast<std::int64_t>(plan.hosts) - 1;
    plan.strides.clear();
    for (std::int64_t ring = 0; ring < rings; ++ring) {
        // Each another one.
        plan.strides.push_back(
            static_cast<std::size_t>(pick(random, ring * last / rings + 1, (ring + 1) * last / rings)));
    }
    plan.seed = random();
    plan.chains = static_cast<std::uint32_t>(pick(random, 1, 3 * static_cast<std::int64_t>(plan.hosts)));
    plan.crosses = pick(random, 0, 1) == 0;
    const Outcome ahead = run(fabric, plan, true);
    const Outcome events = run(fabric, plan, false);
    RC_ASSERT(ahead.notes == events.notes);
    RC_ASSERT(ahead.carried == events.carried);
    RC_ASSERT(ahead.events == events.events);
    RC_ASSERT(ahead.delivered == events.delivered);
    RC_ASSERT(ahead.end == events.end);
    RC_CLASSIFY(ahead.forwarded > 0, "ahead");
    RC_CLASSIFY(ahead.forwarded > 0 && rings > 1, "ahead on several rings");
}

}  // namespace
}  // namespace astrolabe::network
