/// The fluid engine on links taken together: what it says of a few hosts holds for the network they stand
/// for.
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/flat.hpp"
#include "recorder.hpp"

#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

constexpr int kHosts = 8;

std::shared_ptr<const Fabric> flat() {
    FlatParameters parameters;
    parameters.hosts = kHosts;
    return build_flat(parameters);
}

/// Host 0 for every `stride`-th host, host 1 for those after them, and so on.
std::shared_ptr<const LinkClasses> folded(const std::shared_ptr<const Fabric>& fabric, std::uint32_t stride) {
    const LinkClasses classes(fabric);
    std::vector<std::uint32_t> image_of;
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < classes.size(); ++i) {
        const LinkId link = classes.example(i);
        const bool is_up = fabric->source(link).index() < kHosts;
        const NodeId host = is_up ? fabric->source(link) : fabric->target(link);
        const std::uint32_t kind = 2 * (host.index() % stride) + (is_up ? 1 : 0);
        image_of.push_back(
            numbers.try_emplace(kind, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    return std::make_shared<const LinkClasses>(classes.fold(image_of, kHosts / stride));
}

/// Sizes of the messages from a host to the one `distance` further on.
Bytes size_of(int source, int distance, std::uint32_t stride) {
    return 1000_B * (1 + distance) * (1 + source % static_cast<int>(stride));
}

/// All-to-all in which every host sends to those after it, nearest first.
void send_all(NetworkBackend& backend, Recorder& recorder, int senders, std::uint32_t stride) {
    std::vector<Message> messages;
    for (int source = 0; source < senders; ++source) {
        for (int distance = 1; distance < kHosts; ++distance) {
            messages.push_back({HostId(source), HostId((source + distance) % kHosts),
                                size_of(source, distance, stride), &recorder,
                                static_cast<std::uint64_t>(kHosts * source + distance)});
        }
    }
    backend.send_batch(messages);
    backend.run();
}

TEST(FluidFolding, AHostSpeaksForItsImages) {
    const std::shared_ptr<const Fabric> fabric = flat();
    for (const std::uint32_t stride : {1U, 2U, 4U}) {
        FluidBackend whole(fabric);
        Recorder all(whole);
        send_all(whole, all, kHosts, stride);
        FluidBackend few(folded(fabric, stride));
        Recorder some(few);
        send_all(few, some, static_cast<int>(stride), stride);
        EXPECT_EQ(some.times.size(), stride * (kHosts - 1));
        for (const auto& [token, time] : some.times) {
            EXPECT_EQ(time, all.times.at(token)) << "stride " << stride << ", message " << token;
        }
        const NetworkStatistics expected = whole.statistics();
        const NetworkStatistics found = few.statistics();
        EXPECT_EQ(found.messages, expected.messages);
        EXPECT_EQ(found.bytes_delivered, expected.bytes_delivered);
        for (std::size_t i = 0; i < fabric->link_count(); ++i) {
            EXPECT_EQ(found.links[LinkId(i)].carried, expected.links[LinkId(i)].carried);
        }
    }
}

}  // namespace
}  // namespace astrolabe::network
