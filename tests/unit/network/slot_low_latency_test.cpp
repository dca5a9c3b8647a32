/// Low-latency messages on the slot engine, on the eight racks whose hop counts are known: in superslice 0
/// rack 0 has 1, 2, 3 and 4 hops to racks 7, 4, 2 and 1. A full packet takes 0.12 us on a link, 64 B 5.12 ns.
#include "network/src/engines/slots/slot_engine.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>
#include <rotor_reference.hpp>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/link_observer.hpp>

namespace astrolabe::network::rotor {
namespace {

RotorNetwork network(Bytes cutoff = 15_MB) {
    return with_low_latency(eight_rack_network(), cutoff);
}

TEST(SlotLowLatency, SinglePacketsAreThoseOfTheReferenceWithoutTheirAcknowledgement) {
    // The reference (docs/theory/opera.md, "Golden numbers") counts until the acknowledgement is back: 64 B
    // over two links of hosts and as many hops.
    struct Case {
        int destination;
        std::int64_t hops;
        Time reference;
    };
    for (const Case& row : {Case{1, 0, 250'240_ps}, Case{28, 1, 1'375'360_ps}, Case{16, 2, 2'500'480_ps},
                            Case{8, 3, 3'625'600_ps}, Case{4, 4, 4'750'720_ps}}) {
        SlotEngine engine(build_rotor_fabric(network()));
        Recorder recorder(engine);
        recorder.send(0, 0, row.destination, 1436_B);
        engine.run();
        EXPECT_EQ(recorder.times[0], row.reference - 2 * 5'120_ps - row.hops * 505'120_ps) << row.hops;
        EXPECT_EQ(engine.counters().installations, 0U) << "nothing waits for a slot";
        EXPECT_EQ(engine.statistics().packet_hops, 2U + row.hops);
    }
}

TEST(SlotLowLatency, PacketsFollowOneAnother) {
    // 100 packets: 100 · 0.12 on the first link, the last packet on two more, 0.5 between racks. The
    // reference has 13.26 us, of which 0.515 for the acknowledgement.
    SlotEngine engine(build_rotor_fabric(network()));
    Recorder recorder(engine);
    recorder.send(0, 0, 28, 143'600_B);
    // One byte: 65 B take 5.2 ns a link.
    recorder.send(1, 4, 5, 1_B);
    recorder.send(2, 8, 9, 0_B);
    engine.run();
    EXPECT_EQ(recorder.times[0], 12'740_ns);
    EXPECT_EQ(recorder.times[1], 10'400_ps);
    EXPECT_EQ(recorder.times[2], 10'240_ps);
}

/// Sums up payload by link, piece by piece, and looks at a time whether the counters say the same.
class Account final : public LinkObserver, public NotificationHandler {
public:
    Account(SlotEngine& engine, const Fabric& fabric)
        : engine_(engine),
          sums_(fabric.link_count()) {}

    void links_are_alike(std::span<const std::uint32_t> /*class_of*/) override {}
    Time interval(Time end) override { return end; }
    void carried(LinkId link, Time /*from*/, Time /*to*/, const PieceBytes& bytes) override {
        sums_[link.index()] += bytes.payload;
    }
    void delivered(HostId /*destination*/, Time /*from*/, Time /*to*/, double bytes) override {
        arrived += bytes;
    }
    void notify(std::uint64_t /*token*/) override {
        const NetworkStatistics statistics = engine_.statistics();
        for (std::size_t link = 0; link < sums_.size(); ++link) {
            EXPECT_EQ(static_cast<double>(statistics.links[LinkId(link)].carried.count()), sums_[link])
                << link;
        }
        arrived_when_looked.push_back(arrived);
        crossed_when_looked.push_back(std::ranges::count_if(sums_, [](double sum) { return sum > 0; }));
    }

    double arrived = 0;
    std::vector<double> arrived_when_looked;
    std::vector<std::ptrdiff_t> crossed_when_looked;  ///< links

private:
    SlotEngine& engine_;
    std::vector<double> sums_;
};

TEST(SlotLowLatency, ALinkHasCarriedAMessageWhenItCrossesIt) {
    // Four hops of 0.5 us: by 1 us the message has come to the link up, at 0.12 us to a circuit and at 0.74
    // us to the next; at the end it has crossed four, and the link down.
    const std::shared_ptr<const Fabric> fabric = build_rotor_fabric(network());
    SlotEngine engine(fabric);
    Account account(engine, *fabric);
    ASSERT_EQ(engine.observe_links(account), LinkReports::kOverlapping);
    Recorder recorder(engine);
    recorder.send(0, 0, 4, 1436_B);
    engine.schedule(1_us, account, 0);
    engine.schedule(100_us, account, 0);
    engine.run();
    EXPECT_EQ(account.arrived_when_looked, (std::vector<double>{0, 1436}));
    EXPECT_EQ(account.crossed_when_looked, (std::vector<std::ptrdiff_t>{3, 6}));
}

TEST(SlotLowLatency, MessagesWaitForOneAnotherOnEveryLink) {
    SlotEngine engine(build_rotor_fabric(network()));
    Recorder recorder(engine);
    // Two from host 0 leave one after the other; two into host 8 share its link.
    recorder.send(0, 0, 1, 10 * 1436_B);
    recorder.send(1, 0, 2, 10 * 1436_B);
    recorder.send(2, 9, 8, 10 * 1436_B);
    recorder.send(3, 10, 8, 10 * 1436_B);
    // Hosts of rack 4 share its circuit to rack 3 in superslice 0, their shortest path.
    recorder.send(4, 16, 12, 10 * 1436_B);
    recorder.send(5, 17, 13, 10 * 1436_B);
    engine.run();
    EXPECT_EQ(recorder.times[0], 1'320_ns);  // 10 packets and one more link
    EXPECT_EQ(recorder.times[1], 2'520_ns);
    // Packets of two hosts come to a link in turn: the last but one is the last of the first message.
    EXPECT_EQ(recorder.times[2], 2'400_ns);
    EXPECT_EQ(recorder.times[3], 2'520_ns);
    EXPECT_EQ(recorder.times[4], 3'020_ns);  // 19 packets on the circuit, two more links, 0.5
    EXPECT_EQ(recorder.times[5], 3'140_ns);
}

TEST(SlotLowLatency, OnlySmallMessagesAreThat) {
    SlotEngine engine(build_rotor_fabric(network(1'436_B)));
    Recorder recorder(engine);
    recorder.send(0, 0, 16, 1436_B);
    recorder.send(1, 0, 16, 1435_B);
    engine.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{1, 0}));
    EXPECT_EQ(recorder.times[0], 32'540_ns) << "a slot, through rack 7";
    EXPECT_EQ(engine.counters().low_latency, 1U);
}

TEST(SlotLowLatency, AListedClassGoesBeforeTheSize) {
    for (const ServiceCase& row : service_cases()) {
        EXPECT_EQ(
            durations<SlotEngine>(network_of_both_services(), {{0, 16}}, row.size, 0_us, row.traffic_class),
            std::vector{row.duration})
            << to_string(row.size) << " of class " << int{row.traffic_class};
    }
}

TEST(SlotLowLatency, BulkGivesWay) {
    // 1,090 packets over the circuit to rack 7, 109 a slot, would be ten slots. Every 4 us host 0 also sends
    // 8 packets within its rack, 11,832 B on the wire or 0.9466 us; four of them, as in most superslices, are
    // 32 packets of 0.12 us that the next slot lacks. The first slot lacks none, and then 981 packets take 13
    // of 77: the last is in cycle 13.
    RotorNetwork direct = network(20_KB);
    direct.bulk = {.routing = BulkRouting::kDirectOnly, .intra_rack = IntraRack::kDirect};
    SlotEngine engine(build_rotor_fabric(direct));
    Recorder recorder(engine);
    Recorder ticks(engine);
    ticks.react = [&](std::uint64_t token) {
        if (token < 500) {
            engine.send({HostId(0), HostId(1), 11'320_B, &recorder, 1'000 + token});
            engine.schedule(4_us, ticks, token + 1);
        }
    };
    ticks.notify(0);
    recorder.send(1, 0, 28, 1'090 * 1436_B);
    engine.run();
    const Time cycle = 8 * 15'840_ns;
    EXPECT_GT(recorder.times[1], 13 * cycle);
    EXPECT_LT(recorder.times[1], 13 * cycle + 52'740_ns);
    const double used = to_seconds(engine.statistics().links[LinkId(0)].carried / 100_Gbps);
    EXPECT_LT(used, to_seconds(engine.now()));
}

}  // namespace
}  // namespace astrolabe::network::rotor
