// SPDX-License-Identifier: GPL-2.0-only
/// What must hold of any run of Opera packet by packet: random networks, options and messages of both
/// services.
#include "opera/opera_packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <random_rotors.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <rotor_fabric.hpp>

#include <astrolabe/network/rotor/rotor_links.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::ns3 {
namespace {

using network::rotor::LaterMessage;
using network::rotor::RotorNetwork;
using network::rotor::RotorSchedule;

struct Run {
    Run(const std::shared_ptr<const network::Fabric>& fabric, const std::vector<LaterMessage>& messages)
        : backend(fabric),
          recorder(backend),
          starter(backend) {
        starter.then = [this, &messages](std::uint64_t token) {
            const LaterMessage& sent = messages[token];
            backend.send({HostId(sent.source), HostId(sent.destination), sent.size, &recorder, token});
        };
        for (std::size_t i = 0; i < messages.size(); ++i) {
            backend.schedule(messages[i].at, starter, i);
        }
        backend.run();
        statistics = backend.statistics();
        end = backend.now();
    }

    OperaPacketBackend backend;
    Recorder recorder;
    Recorder starter;
    network::NetworkStatistics statistics;
    Time end;
};

/// In which a circuit of a matching may have carried something until `end`: as long as it was up, and the
/// time of the packet that had begun to arrive when it came up.
Time uptime(const RotorNetwork& net, network::rotor::Rotor rotor, std::uint32_t matching, Time end) {
    const RotorSchedule& schedule = net.schedule;
    const Time length = schedule.timing().superslice();
    const Time up = length * schedule.residence() - schedule.timing().reconfiguration +
                    (net.bulk.payload + net.bulk.header) / net.rate;
    Time sum;
    for (Time begin = length * (schedule.phase(rotor) + std::int64_t{matching} * schedule.residence() -
                                std::int64_t{schedule.superslices()});
         begin < end; begin += schedule.cycle()) {
        sum += up;
    }
    return sum;
}

RC_GTEST_PROP(OperaPacketProperty, DeliversEverythingOnceAndWithinTheRatesOfLinks, ()) {
    const auto seed =
        *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
    network::rotor::Random random(seed);
    RotorNetwork net = network::rotor::random_network(random);
    const bool has_low_latency = random(0, 1) == 0;
    if (has_low_latency) {
        network::rotor::add_low_latency(random, net);
    }
    const bool fails = random(0, 1) == 0;
    if (fails) {
        network::rotor::fail_at_random(random, net, 500_us);
    }
    const auto fabric = build_rotor_fabric(net);
    RC_PRE(!opera_unsupported(*fabric, {}));
    const std::int64_t hosts = net.schedule.racks() * net.hosts_per_rack;
    RC_PRE(hosts > 1);
    const std::vector<LaterMessage> messages = random_messages(random, hosts, 200'000);
    const Run run(fabric, messages);

    Bytes delivered;
    std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Time> latest;
    std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Time> sent_at;
    for (std::size_t k = 0; k < run.recorder.tokens.size(); ++k) {
        const LaterMessage& sent = messages[run.recorder.tokens[k]];
        delivered += sent.size;
        const auto pair = std::tuple(sent.source, sent.destination, sent.size < net.low_latency.cutoff);
        RC_ASSERT(sent.at >= sent_at[pair]);
        sent_at[pair] = sent.at;
        RC_ASSERT(run.recorder.times[k] >= sent.at + 2 * net.host_latency + sent.size / net.rate);
    }
    RC_ASSERT(run.statistics.bytes_delivered == delivered);
    RC_ASSERT(run.statistics.messages == run.recorder.tokens.size());
    // Every message is delivered or reported, once.
    const auto outstanding = run.backend.describe_outstanding(100);
    RC_ASSERT(outstanding.size() == run.backend.outstanding_messages());
    RC_ASSERT(outstanding.size() + run.recorder.tokens.size() == messages.size());
    std::vector<std::uint64_t> tokens = run.recorder.tokens;
    std::sort(tokens.begin(), tokens.end());
    RC_ASSERT(std::adjacent_find(tokens.begin(), tokens.end()) == tokens.end());
    RC_ASSERT(outstanding.empty() == run.backend.explain_stall().empty());
    for (const auto& message : outstanding) {
        // Low-latency messages may have no way in a network whose slices are not connected.
        RC_ASSERT(fails || message.size < net.low_latency.cutoff);
    }
    for (LinkId link; link.index() < fabric->link_count(); ++link) {
        RC_ASSERT(run.statistics.links[link].carried / net.rate <= run.end);
    }
    const network::rotor::RotorLinks links(*fabric);
    for (network::rotor::Rotor rotor = 0; rotor < net.schedule.uplinks(); ++rotor) {
        for (std::uint32_t matching = 0; matching < net.schedule.matchings_per_rotor(); ++matching) {
            for (network::rotor::Rack rack = 0; rack < net.schedule.racks(); ++rack) {
                if (net.schedule.matching(rotor, matching)[rack] != rack) {
                    const LinkId link = links.circuit(rotor, matching, rack);
                    RC_ASSERT(run.statistics.links[link].carried / net.rate <=
                              uptime(net, rotor, matching,
                                     std::min(run.end, failure_of(net, rotor, matching, rack))));
                }
            }
        }
    }
}

}  // namespace
}  // namespace astrolabe::ns3
