/// The fluid engine against the model written down plainly (fluid_reference.hpp), with and without circuits.
#include "fluid_reference.hpp"

#include "network/src/engines/fluid/fluid_backend.hpp"
#include "random_seed.hpp"
#include "recorder.hpp"
#include "transfers.hpp"

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network {
namespace {

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

/// Hosts on two or three switches in a full mesh. Some cables between switches, and maybe some of the hosts',
/// come and go; any may be missing for good in all intervals but one.
std::shared_ptr<const Fabric> random_mesh(Random& random, bool has_circuits) {
    FabricBuilder builder("mesh");
    const std::int64_t hosts = pick(random, 2, 7);
    for (std::int64_t i = 0; i < hosts; ++i) {
        builder.add_host("host");
    }
    std::vector<NodeId> switches;
    for (std::int64_t i = pick(random, 1, 3); i > 0; --i) {
        switches.push_back(builder.add_switch("switch"));
    }
    std::vector<CircuitInterval<std::uint32_t>> intervals(static_cast<std::size_t>(pick(random, 1, 5)));
    Time period;
    for (auto& interval : intervals) {
        interval.duration = Time(pick(random, 1, 3'000'000));
        period += interval.duration;
    }
    const auto connect = [&](NodeId a, NodeId b) {
        const auto cable = builder.connect(
            a, b, {Bandwidth(pick(random, 1, 200) * 500'000'000), Time(pick(random, 0, 900'000)), Bytes(0)});
        if (!has_circuits || pick(random, 0, 2) > 0) {
            return;
        }
        const auto always =
            static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(intervals.size()) - 1));
        for (std::size_t k = 0; k < intervals.size(); ++k) {
            if (k == always || pick(random, 0, 1) == 0) {
                intervals[k].links.push_back(cable.forward);
                intervals[k].links.push_back(cable.backward);
            }
        }
    };
    for (std::int64_t i = 0; i < hosts; ++i) {
        connect(NodeId(static_cast<std::size_t>(i)), switches[static_cast<std::size_t>(i) % switches.size()]);
    }
    for (std::size_t i = 0; i < switches.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            connect(switches[i], switches[k]);
        }
    }
    if (has_circuits) {
        builder.set_circuits(period, std::move(intervals));
    }
    return std::move(builder).build(pick(random, 0, 1) == 0 ? LoadBalancing::kFlowHash
                                                            : LoadBalancing::kSpray);
}

/// Sends each message when its timer fires.
class Sender final : public NotificationHandler {
public:
    Sender(NetworkBackend& backend, Recorder& recorder, const std::vector<ReferenceMessage>& messages)
        : recorder_(recorder),
          messages_(messages) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            backend.schedule(messages[i].sent, *this, i);
        }
    }

    void notify(std::uint64_t token) override {
        const ReferenceMessage& message = messages_[token];
        recorder_.send(token, static_cast<int>(message.source.index()),
                       static_cast<int>(message.destination.index()), message.size);
    }

private:
    Recorder& recorder_;
    const std::vector<ReferenceMessage>& messages_;
};

void expect_reference_times(Random& random, const std::shared_ptr<const Fabric>& fabric) {
    const auto hosts = static_cast<std::int64_t>(fabric->host_count());
    std::vector<ReferenceMessage> messages;
    for (std::int64_t count = pick(random, 1, 40); count > 0; --count) {
        const std::int64_t source = pick(random, 0, hosts - 1);
        const std::int64_t destination = (source + pick(random, 1, hosts - 1)) % hosts;
        // Few times and few sizes, so that much coincides.
        messages.push_back({Time(pick(random, 0, 5) * 700'000), HostId(static_cast<std::size_t>(source)),
                            HostId(static_cast<std::size_t>(destination)),
                            pick(random, 0, 1) == 0 ? 8192_B : Bytes(pick(random, 1, 200'000))});
    }
    std::stable_sort(messages.begin(), messages.end(),
                     [](const auto& a, const auto& b) { return a.sent < b.sent; });
    FluidBackend backend(fabric);
    Recorder recorder(backend);
    const Sender sender(backend, recorder, messages);
    backend.run();
    const std::vector<double> expected = reference_deliveries(*fabric, messages);
    // The engine ends a message, and lets others speed up, at whole picoseconds: up to 1 ps of each earlier
    // end may show in a later one, shared or not, at up to 200 times the rate.
    const double tolerance = 1.0 + 200.0 * static_cast<double>(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto found = recorder.times.find(i);
        if (std::isinf(expected[i])) {
            RC_ASSERT(found == recorder.times.end());
        } else {
            RC_ASSERT(found != recorder.times.end());
            RC_ASSERT(std::abs(static_cast<double>(found->second.count()) - expected[i]) <= tolerance);
        }
    }
}

RC_GTEST_PROP(FluidReference, AStaticNetworkDeliversWhenThePlainModelDoes, ()) {
    Random random(random_seed());
    expect_reference_times(random, random_mesh(random, false));
}

RC_GTEST_PROP(FluidReference, CircuitsDeliverWhenThePlainModelDoes, ()) {
    Random random(random_seed());
    expect_reference_times(random, random_mesh(random, true));
}

TEST(FluidCircuits, CostFollowsMessagesNotIntervals) {
    // Hosts 0 and 1 send to host 2 over a switch, all at 100 Gb/s, 12,500 B in 1 us. The cable of host 0 is
    // up for 1 of 100 us, 300,000 times in 30 s; then both share the port of host 2. A period brings host 0
    // 6,250 B, the last of them at 1 us, and host 1 6,250 + 99·12,500 = 1,243,750 B.
    FluidBackend backend(star_with_a_circuit(1_us, 99_us, 1_us));
    Recorder recorder(backend);
    constexpr std::int64_t kPeriods = 300'000;
    recorder.send(0, 0, 2, kPeriods * 6'250_B);
    recorder.send(1, 1, 2, kPeriods * 1'243'750_B);
    backend.run();
    EXPECT_EQ(recorder.times[0], (kPeriods - 1) * 100_us + 1_us + 2_us);
    EXPECT_EQ(recorder.times[1], kPeriods * 100_us + 2_us);
    EXPECT_EQ(backend.events_processed(), 4U);  // two ends, two deliveries
}

}  // namespace
}  // namespace astrolabe::network
