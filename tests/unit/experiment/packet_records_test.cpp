#include "process.hpp"
#include "small_experiment.hpp"

#include <gtest/gtest.h>

#include <astrolabe/experiment/records/recorder.hpp>

namespace astrolabe::experiment {
namespace {

using network::HostId;
using network::LinkId;
using network::PacketEvent;
using network::PacketEventKind;
using network::PacketKind;

PacketEvent event(PacketEventKind what, std::int64_t time, int link, int waiting = 0) {
    PacketEvent event;
    event.time = Time(time);
    event.link = LinkId(link);
    event.source = HostId(1);
    event.destination = HostId(2);
    event.size = Bytes(1090);
    event.waiting = Bytes(waiting);
    event.what = what;
    return event;
}

class PacketRecordsTest : public ::testing::Test {
protected:
    [[nodiscard]] OutputFile file(const std::string& name) const {
        return *OutputFile::create(folder_.path() / name);
    }
    [[nodiscard]] std::string text(const std::string& name) const {
        return testing::read_file(folder_.path() / name);
    }
    [[nodiscard]] const network::Fabric& fabric() const { return *experiment_.fabric; }

    Components components_ = builtin_components();
    Experiment experiment_ = *testing::load_small(components_);
    testing::TemporaryFolder folder_;
};

class Order final : public PacketSink {
public:
    [[nodiscard]] bool wants(const PacketEvent& event) const override {
        return event.what == PacketEventKind::kStarted;
    }
    void take(const PacketEvent& event) override { links.push_back(static_cast<int>(event.link.index())); }
    std::vector<int> links;
};

TEST(PacketSequencer, PutsWhatIsReportedLateInOrder) {
    Order order;
    PacketSequencer sequencer(Time(100), {&order});
    sequencer.packet(event(PacketEventKind::kStarted, 50, 0));
    sequencer.packet(event(PacketEventKind::kStarted, 20, 1));
    sequencer.packet(event(PacketEventKind::kStarted, 50, 2));  // after the other of its time
    sequencer.packet(event(PacketEventKind::kDropped, 10, 3));  // nobody wants it
    EXPECT_TRUE(order.links.empty());
    sequencer.packet(event(PacketEventKind::kStarted, 121, 4));
    EXPECT_EQ(order.links, (std::vector<int>{1}));  // 20 < 121 - 100
    sequencer.finish();
    EXPECT_EQ(order.links, (std::vector<int>{1, 0, 2, 4}));
    EXPECT_EQ(sequencer.late(), 0u);
}

TEST(PacketSequencer, CountsWhatComesTooLate) {
    Order order;
    PacketSequencer sequencer(Time(10), {&order});
    sequencer.packet(event(PacketEventKind::kStarted, 50, 0));
    sequencer.packet(event(PacketEventKind::kStarted, 70, 1));  // passes on the one of 50
    sequencer.packet(event(PacketEventKind::kStarted, 49, 2));
    sequencer.finish();
    EXPECT_EQ(order.links, (std::vector<int>{0, 2, 1}));
    EXPECT_EQ(sequencer.late(), 1u);
}

TEST_F(PacketRecordsTest, QueuesAreSampledWhileTheyAreNotEmpty) {
    QueueSeries series(fabric(), Time(100), file("queues.csv"));
    const auto enqueued = [&](std::int64_t time, int waiting) {
        series.take(event(PacketEventKind::kEnqueued, time, 1, waiting));
    };
    const auto started = [&](std::int64_t time, int waiting) {
        series.take(event(PacketEventKind::kStarted, time, 1, waiting));
    };
    enqueued(10, 1000);
    started(10, 0);  // came and went at one instant: did not wait
    enqueued(150, 1000);
    enqueued(160, 2000);
    started(190, 1000);
    started(300, 0);                   // at the instant of a sample: counts as before it
    enqueued(1'000'000'000'450, 500);  // a second later, without a row for every 100 ps of it
    ASSERT_FALSE(series.finish(Time(1'000'000'000'500)));
    EXPECT_EQ(text("queues.csv"),
              "time_s,link,source,destination,waiting_bytes,peak_bytes\n"
              "0.000000000200,1,host 1,switch,1000,2000\n"
              "0.000000000300,1,host 1,switch,0,1000\n"
              "1.000000000500,1,host 1,switch,500,500\n");
}

/// Reads the capture as its format says, block by block.
struct Capture {
    struct Packet {
        std::uint32_t interface;
        std::uint64_t nanoseconds;
        std::uint32_t length;
        std::string headers;
    };
    std::vector<std::string> interfaces;
    std::vector<Packet> packets;
};

std::uint64_t number(const std::string& text, std::size_t at, int bytes, bool is_big = false) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) {
        const std::size_t from = at + static_cast<std::size_t>(is_big ? i : bytes - 1 - i);
        value = value << 8 | static_cast<unsigned char>(text.at(from));
    }
    return value;
}

Capture read_capture(const std::string& text) {
    Capture capture;
    for (std::size_t at = 0; at < text.size();) {
        const std::uint64_t type = number(text, at, 4);
        const std::uint64_t length = number(text, at + 4, 4);
        EXPECT_EQ(length % 4, 0u);
        EXPECT_EQ(number(text, at + length - 4, 4), length) << "the length stands at both ends";
        if (type == 0x0a0d0d0a) {
            EXPECT_EQ(at, 0u);
            EXPECT_EQ(number(text, at + 8, 4), 0x1a2b3c4du);
        } else if (type == 1) {
            EXPECT_EQ(number(text, at + 8, 2), 1u) << "Ethernet";
            EXPECT_EQ(number(text, at + 16, 2), 2u) << "the name comes first";
            capture.interfaces.push_back(text.substr(at + 20, number(text, at + 18, 2)));
        } else {
            EXPECT_EQ(type, 6u);
            capture.packets.push_back({static_cast<std::uint32_t>(number(text, at + 8, 4)),
                                       number(text, at + 12, 4) << 32 | number(text, at + 16, 4),
                                       static_cast<std::uint32_t>(number(text, at + 24, 4)),
                                       text.substr(at + 28, number(text, at + 20, 4))});
        }
        at += length;
    }
    return capture;
}

TEST_F(PacketRecordsTest, ACaptureHoldsTheHeadersOfRoce) {
    PacketCapture capture(fabric(), std::vector<bool>(fabric().link_count(), true), file("trace.pcapng"));
    PacketEvent data = event(PacketEventKind::kStarted, 5'000'000'001'999, 1);
    data.sequence = 0x1234567;
    data.queue_pair = 9;
    data.priority = 3;
    data.is_marked = true;
    capture.take(data);
    PacketEvent ack = event(PacketEventKind::kStarted, 5'000'000'002'000, 2);
    ack.kind = PacketKind::kAcknowledgement;
    ack.size = Bytes(1);  // less than its headers need
    ack.sequence = 8;
    capture.take(ack);
    ASSERT_FALSE(capture.finish());
    const Capture read = read_capture(text("trace.pcapng"));
    EXPECT_EQ(read.interfaces, (std::vector<std::string>{"host 1 -> switch", "host 2 -> switch"}));
    ASSERT_EQ(read.packets.size(), 2u);
    const Capture::Packet& first = read.packets[0];
    EXPECT_EQ(first.interface, 0u);
    EXPECT_EQ(first.nanoseconds, 5'000'000'001u);  // begun nanoseconds are not rounded up
    EXPECT_EQ(first.length, 1090u);
    ASSERT_EQ(first.headers.size(), 14u + 20 + 8 + 12);
    EXPECT_EQ(number(first.headers, 0, 6, true), 0x020000000002u);
    EXPECT_EQ(number(first.headers, 6, 6, true), 0x020000000001u);
    EXPECT_EQ(number(first.headers, 12, 2, true), 0x0800u);
    EXPECT_EQ(number(first.headers, 15, 1), 3u << 5 | 3u) << "class selector 3, congestion experienced";
    EXPECT_EQ(number(first.headers, 16, 2, true), 1090u - 14);
    EXPECT_EQ(number(first.headers, 26, 4, true), 0x0a000001u);
    EXPECT_EQ(number(first.headers, 30, 4, true), 0x0a000002u);
    std::uint64_t sum = 0;
    for (std::size_t at = 14; at < 34; at += 2) {
        sum += number(first.headers, at, 2, true);
    }
    EXPECT_EQ(sum % 0xffff, 0u) << "with its checksum a header sums to all ones";
    EXPECT_EQ(number(first.headers, 36, 2, true), 4791u);
    EXPECT_EQ(number(first.headers, 38, 2, true), 1090u - 34);
    EXPECT_EQ(number(first.headers, 42, 1), 0x01u);
    EXPECT_EQ(number(first.headers, 46, 4, true), 9u);
    EXPECT_EQ(number(first.headers, 50, 4, true), 0x234567u) << "24 bits of the number";
    const Capture::Packet& second = read.packets[1];
    EXPECT_EQ(second.length, 14u + 20 + 8 + 12 + 4);
    EXPECT_EQ(number(second.headers, 42, 1), 0x11u);
    EXPECT_EQ(number(second.headers, 50, 4, true), 7u) << "the last that has arrived";
}

TEST_F(PacketRecordsTest, WhatCannotBeRecordedIsNamed) {
    const auto code = [&](const RecorderOptions& options, const Experiment& experiment) {
        const auto opened = Recorder::open(options, experiment, nullptr);
        return opened ? "" : opened.error().front().code;
    };
    const std::string path = (folder_.path() / "trace.pcapng").string();
    RecorderOptions trace;
    trace.packet_trace = path;
    EXPECT_EQ(code(trace, experiment_), "record.no-packets");
    Experiment telling = experiment_;
    telling.backend.reports_packets = true;
    EXPECT_EQ(code(trace, telling), "");
    trace.trace_links = "host 7";
    EXPECT_EQ(code(trace, telling), "record.links");
    trace.trace_links = "host (";
    EXPECT_EQ(code(trace, telling), "record.links");
    trace.trace_links = "^host [12] -> ";
    EXPECT_EQ(code(trace, telling), "");
    // A matcher that tries one way after another overflows the stack on the first and takes exponential time for the
    // second; RE2 has no references back.
    trace.trace_links = std::string(30'000, '(') + std::string(30'000, ')');
    EXPECT_EQ(code(trace, telling), "") << "the empty text, which every name has";
    trace.trace_links = std::string(30'000, '(');
    EXPECT_EQ(code(trace, telling), "record.links");
    trace.trace_links = "(.*)*(.*)*(.*)*z!";
    EXPECT_EQ(code(trace, telling), "record.links");
    trace.trace_links = "(h)ost\\1";
    EXPECT_EQ(code(trace, telling), "record.links");
    trace.trace_links = "";
    trace.packet_trace = path + "/below";
    EXPECT_EQ(code(trace, telling), "output.write");
    RecorderOptions series;
    for (const char* interval : {"10", "0", "fast"}) {
        series.queue_series = interval;
        EXPECT_EQ(code(series, telling), "record.interval") << interval;
    }
}

TEST_F(PacketRecordsTest, ThroughputIsWhatLinksOutOfHostsCarriedAndWhatArrived) {
    // Four hosts at 100 Gb/s send 50 B in 1 ns, and with the links into them 100 B are carried. A frame of 20
    // B from 0.5 to 2.5 ns, 16 of them payload, is 5, 10 and 5; another, 30 B from 4 to 9 ns, is 6 in each,
    // and its payload 4.8.
    ThroughputSeries series(fabric(), Time(1000), file("throughput.csv"), file("carried.csv"));
    network::NetworkStatistics statistics;
    statistics.links.resize(fabric().link_count());
    const auto message = [&](int link, double wire, std::int64_t payload, std::int64_t from, std::int64_t to,
                             std::int64_t arrival) {
        const auto bytes = static_cast<double>(payload);
        series.links().carried(LinkId(link), Time(from), Time(to), {wire, bytes});
        series.links().delivered(HostId(3), Time(arrival), Time(arrival), bytes);
        series.message({HostId(0), HostId(3), Bytes(payload), Time(from), Time(arrival)});
        statistics.links[LinkId(link)].carried += Bytes(static_cast<std::int64_t>(wire));
        statistics.bytes_delivered += Bytes(payload);
    };
    message(0, 20, 16, 500, 2500, 3000);
    message(1, 30, 24, 4000, 9000, 9000);
    // Into host 3, which is no link out of hosts.
    series.links().carried(LinkId(7), Time(9000), Time(10'000), {10, 10});
    statistics.links[LinkId(7)].carried += Bytes(10);
    EXPECT_TRUE(series.finish(statistics, network::LinkReports::kAll, {}).empty());
    EXPECT_EQ(text("throughput.csv"),
              "from_s,to_s,payload_bytes,wire_bytes,share,delivered_bytes,completed_bytes\n"
              "0.000000000000,0.000000001000,4,5,0.1,0,0\n"
              "0.000000001000,0.000000002000,8,10,0.2,0,0\n"
              "0.000000002000,0.000000003000,4,5,0.1,16,16\n"
              "0.000000004000,0.000000008000,19,24,0.12,0,0\n"
              "0.000000008000,0.000000009000,5,6,0.12,24,24\n");
    EXPECT_EQ(text("carried.csv"),
              "from_s,to_s,links,payload_bytes,wire_bytes,share\n"
              "0.000000000000,0.000000001000,host-switch links,4,5,0.05\n"
              "0.000000001000,0.000000002000,host-switch links,8,10,0.1\n"
              "0.000000002000,0.000000003000,host-switch links,4,5,0.05\n"
              "0.000000004000,0.000000008000,host-switch links,19,24,0.06\n"
              "0.000000008000,0.000000009000,host-switch links,5,6,0.06\n"
              "0.000000009000,0.000000010000,host-switch links,10,10,0.1\n");
    EXPECT_FALSE(series.longer_intervals());
}

TEST_F(PacketRecordsTest, ThroughputOfLinksThatShareNothingIsWhatArrives) {
    ThroughputSeries series(fabric(), Time(1000), file("throughput.csv"), std::nullopt);
    series.links().delivered(HostId(3), Time(1500), Time(1500), 100);
    series.message({HostId(0), HostId(3), Bytes(100), Time(0), Time(1500)});
    network::NetworkStatistics statistics;
    statistics.bytes_delivered = Bytes(100);
    EXPECT_TRUE(series.finish(statistics, network::LinkReports::kDeliveries, {}).empty());
    EXPECT_EQ(text("throughput.csv"),
              "from_s,to_s,payload_bytes,wire_bytes,share,delivered_bytes,completed_bytes\n"
              "0.000000001000,0.000000002000,,,,100,100\n");
}

#ifdef ASTROLABE_WITH_NS3
TEST_F(PacketRecordsTest, APacketRunIsTheSameObservedAndItsTraceHasEveryHop) {
    const Experiment packets = *testing::load_small(components_, {"backend.kind=packet"});
    const auto opened = Recorder::open({.flows = false,
                                        .packet_trace = (folder_.path() / "trace.pcapng").string(),
                                        .trace_links = {},
                                        .queue_series = {}},
                                       packets, nullptr);
    ASSERT_TRUE(opened) << render(opened.error());
    Recorder& recorder = **opened;
    const auto run = run_experiment(packets, {}, recorder.observers());
    EXPECT_TRUE(recorder.finish(run).empty());
    EXPECT_EQ(recorder.late_events(), 0u);
    EXPECT_EQ(run.fingerprint, run_experiment(packets, {}).fingerprint);
    const Capture capture = read_capture(text("trace.pcapng"));
    std::uint64_t data = 0;
    std::uint64_t last = 0;
    for (const Capture::Packet& packet : capture.packets) {
        EXPECT_GE(packet.nanoseconds, last);
        last = packet.nanoseconds;
        data += number(packet.headers, 42, 1) == 0x01 ? 1U : 0U;
    }
    EXPECT_EQ(data, run.network.packet_hops);
    EXPECT_EQ(capture.interfaces.size(), packets.fabric->link_count());
}
#endif

}  // namespace
}  // namespace astrolabe::experiment
