#include "recorder.hpp"

#include <fake_backend.hpp>
#include <gtest/gtest.h>

#include <astrolabe/network/message_observer.hpp>
#include <astrolabe/network/packet_observer.hpp>

namespace astrolabe::network {
namespace {

class Records final : public MessageObserver {
public:
    void message(const MessageRecord& record) override { all.push_back(record); }
    std::vector<MessageRecord> all;
};

constexpr testing::FakeBackendOptions kNetwork{.latency = Time(1000), .time_per_byte = Time(80)};

TEST(ObservedBackend, TellsWhenMessagesLeftAndArrivedAndPassesEverythingOn) {
    testing::FakeBackend inner(3, kNetwork);
    Records records;
    ObservedBackend backend(inner, records);
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t token) {
        if (token == 7) {
            EXPECT_EQ(records.all.size(), 1u) << "the observer is told first";
            recorder.send(8, 1, 2, Bytes(0));  // takes the place of the one just delivered
        }
    };
    backend.send({HostId(0), HostId(1), Bytes(10), &recorder, 7, 3, 42});
    backend.schedule(Time(100), recorder, 99);
    backend.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{99, 7, 8}));
    // 1000 + 10·80 = 1800 ps, then 1000 ps more.
    ASSERT_EQ(records.all.size(), 2u);
    EXPECT_EQ(records.all[0].source, HostId(0));
    EXPECT_EQ(records.all[0].destination, HostId(1));
    EXPECT_EQ(records.all[0].size, Bytes(10));
    EXPECT_EQ(records.all[0].sent, Time(0));
    EXPECT_EQ(records.all[0].delivered, Time(1800));
    EXPECT_EQ(records.all[0].traffic_class, 3);
    EXPECT_EQ(records.all[0].label, 42u);
    EXPECT_EQ(records.all[1].sent, Time(1800));
    EXPECT_EQ(records.all[1].delivered, Time(2800));
    EXPECT_EQ(backend.statistics().messages, 2u);
    EXPECT_EQ(backend.outstanding_messages(), 0u);
}

TEST(ObservedBackend, MessagesOfABatchKeepTheirOrder) {
    testing::FakeBackend inner(2, kNetwork);
    Records records;
    ObservedBackend backend(inner, records);
    Recorder recorder(backend);
    const std::vector<Message> batch{{HostId(0), HostId(1), Bytes(2), &recorder, 1},
                                     {HostId(0), HostId(1), Bytes(1), &recorder, 2}};
    backend.send_batch(batch);
    EXPECT_EQ(backend.describe_outstanding(9).size(), 2u);
    backend.run();
    EXPECT_EQ(recorder.order, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(records.all[0].size, Bytes(2));
}

TEST(ObservedBackend, ABackendWithoutPacketsTellsOfNone) {
    class Nobody final : public PacketObserver {
    public:
        void packet(const PacketEvent& event) override { FAIL() << event.sequence; }
    } nobody;
    testing::FakeBackend inner(2, kNetwork);
    Records records;
    ObservedBackend backend(inner, records);
    EXPECT_FALSE(backend.observe(nobody));
}

}  // namespace
}  // namespace astrolabe::network
