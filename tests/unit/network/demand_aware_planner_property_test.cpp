/// What must hold of circuits that move, in random networks and under random traffic.
#include "demand_aware_networks.hpp"
#include "network/src/demand_aware_circuits.hpp"
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "random_seed.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network::topoopt {
namespace {

struct Case {
    TopoOptParameters parameters;
    Demand demand;
};

/// Any network of 4 to 12 hosts with reconfiguration, for some other demand than it will meet.
Case random_case(std::mt19937_64& random) {
    const auto draw = [&random](std::uint64_t least, std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
    };
    Case drawn;
    drawn.parameters.medium = Medium::kCircuitSwitch;
    drawn.parameters.degree = static_cast<std::int64_t>(draw(3, 5));
    drawn.parameters.wiring = static_cast<Wiring>(draw(0, 2));
    drawn.parameters.mode = drawn.parameters.degree == 4 && draw(0, 1) == 1 ? Mode::kReleased : Mode::kPaper;
    drawn.parameters.link = {100_Gbps, 1_us};
    DemandAwareParameters moves{.every = Time(static_cast<std::int64_t>(draw(1, 20)) * 100'000'000)};
    moves.delay = draw(0, 1) == 0 ? Time(0) : moves.every / static_cast<std::int64_t>(draw(2, 9));
    moves.forwarding = draw(0, 1) == 1;
    moves.dark = static_cast<DarkCircuits>(draw(0, 1));
    drawn.parameters.reconfiguration = moves;
    if (moves.forwarding) {
        constexpr DirectRouting kRoutings[]{DirectRouting::kFlowHash, DirectRouting::kSpray,
                                            DirectRouting::kRandomShortest, DirectRouting::kKShortest,
                                            DirectRouting::kByClass};
        drawn.parameters.routing = kRoutings[draw(0, 4)];
    }
    const auto servers = static_cast<std::uint32_t>(2 * draw(2, 6));
    drawn.demand = {.servers = servers, .groups = {}, .point_to_point = PairDemand(servers)};
    // Some, as otherwise an odd interface may stay free on a panel.
    for (std::uint64_t i = 0; i < 5; ++i) {
        const auto a = static_cast<Server>(draw(0, servers - 1));
        drawn.demand.point_to_point.add(a, (a + static_cast<Server>(draw(1, servers - 1))) % servers, 1'000);
    }
    return drawn;
}

/// Messages between random hosts, each of the first followed by others when it arrives.
class RandomTraffic final : public NotificationHandler {
public:
    RandomTraffic(NetworkBackend& backend, std::mt19937_64 random, std::size_t hosts, int messages)
        : backend_(backend),
          random_(random),
          hosts_(hosts),
          left_(messages) {
        for (int i = 0; i < messages / 3; ++i) {
            send();
        }
    }

    void notify(std::uint64_t token) override {
        delivered.emplace_back(token, backend_.now());
        send();
        if (random_() % 4 == 0) {
            send();
        }
    }

    std::vector<std::pair<std::uint64_t, Time>> delivered;
    std::map<std::size_t, Bytes> sent_by;

private:
    void send() {
        if (left_ == 0) {
            return;
        }
        --left_;
        const std::size_t source = random_() % hosts_;
        const std::size_t destination = (source + 1 + random_() % (hosts_ - 1)) % hosts_;
        const Bytes size(static_cast<std::int64_t>(random_() % 8 == 0 ? 0 : random_() % 60'000'000));
        sent_by[source] += size;
        backend_.send({HostId(source), HostId(destination), size, this, delivered.size()});
    }

    NetworkBackend& backend_;
    std::mt19937_64 random_;
    std::size_t hosts_;
    int left_;
};

RC_GTEST_PROP(DemandAwarePlannerProperty, EveryByteArrivesAndNoPortCarriesMoreThanItCan, ()) {
    std::mt19937_64 random(random_seed());
    const Case drawn = random_case(random);
    const auto fabric = built(drawn.parameters, drawn.demand);
    RC_ASSERT(fabric != nullptr);
    std::vector<std::pair<std::uint64_t, Time>> before;
    const std::uint64_t traffic_seed = random();
    for (int repeat = 0; repeat < 2; ++repeat) {
        FluidBackend backend(fabric);
        RandomTraffic traffic(backend, std::mt19937_64(traffic_seed), fabric->host_count(), 60);
        backend.run();
        RC_ASSERT(backend.outstanding_messages() == 0U);
        const NetworkStatistics statistics = backend.statistics();
        const double seconds = to_seconds(backend.now());
        double carried_by_all = 0.0;
        for (std::size_t host = 0; host < fabric->host_count(); ++host) {
            Bytes carried;
            const std::size_t first = fabric->first_link(NodeId(host)).index();
            for (std::size_t i = first; i < first + fabric->out_degree(NodeId(host)); ++i) {
                const Bytes of_link = statistics.links[LinkId(i)].carried;
                carried += of_link;
                carried_by_all += static_cast<double>(of_link.count());
                RC_ASSERT(static_cast<double>(of_link.count()) <= 12.5e9 * seconds * (1 + 1e-9) + 60);
            }
            // A byte of each message and each link may be rounded.
            const Bytes sent = traffic.sent_by[host];
            RC_ASSERT(carried.count() >= sent.count() - 70);
            RC_ASSERT(drawn.parameters.reconfiguration->forwarding || carried.count() <= sent.count() + 70);
        }
        // Nothing goes over links that are dark.
        const double lit = seconds - to_seconds(statistics.reconfiguration->dark);
        const auto links = static_cast<double>(fabric->link_count());
        RC_ASSERT(carried_by_all <= 12.5e9 * links * lit * (1 + 1e-9) + 60 * links);
        RC_ASSERT(repeat == 0 || traffic.delivered == before);
        before = traffic.delivered;
    }
}

RC_GTEST_PROP(DemandAwarePlannerProperty, WiringsHaveALinkForEveryPortAndJoinAllWhereHostsForward, ()) {
    std::mt19937_64 random(random_seed());
    const Case drawn = random_case(random);
    const auto first = built(drawn.parameters, drawn.demand);
    RC_ASSERT(first != nullptr);
    const std::size_t hosts = first->host_count();
    const auto degree = static_cast<std::size_t>(drawn.parameters.degree);
    std::shared_ptr<const Fabric> present = first;
    for (int round = 0; round < 4; ++round) {
        std::vector<WaitingPair> waiting;
        for (std::size_t a = 0; a < hosts; ++a) {
            waiting.push_back(waits(static_cast<int>(a),
                                    static_cast<int>((a + 1 + random() % (hosts - 1)) % hosts),
                                    Bytes(static_cast<std::int64_t>(random() % 1'000'000))));
        }
        const auto found = first->demand_aware_circuits()->rewire(*present, waiting);
        if (!found) {
            continue;
        }
        const Fabric& next = *found->next.fabric;
        RC_ASSERT(next.link_count() == first->link_count());
        std::size_t kept = 0;
        std::vector<std::size_t> into(hosts, 0);
        for (LinkId link; link.index() < next.link_count(); ++link) {
            RC_ASSERT(next.source(link) == first->source(link));
            RC_ASSERT(found->next.ports[link.index()] == link);
            ++into[next.target(link).index()];
            kept += next.target(link) == present->target(link) ? 1 : 0;
        }
        RC_ASSERT(std::count(into.begin(), into.end(), degree) == static_cast<std::ptrdiff_t>(hosts));
        const bool is_all = drawn.parameters.reconfiguration->dark == DarkCircuits::kAll;
        RC_ASSERT(found->dark == next.link_count() - (is_all ? 0 : kept));
        for (std::size_t a = 0; a < hosts && drawn.parameters.reconfiguration->forwarding; ++a) {
            for (std::size_t b = 0; b < hosts; ++b) {
                if (a != b) {
                    RC_ASSERT(!next.routing().route(HostId(a), HostId(b)).legs.empty());
                }
            }
        }
        present = found->next.fabric;
    }
}

/// When messages that all start at 0 have left, by the model written down: without forwarding a pair has its
/// circuits to itself, so its bytes go at their number times 12.5 GB/s, a byte in 80 ps over one.
std::vector<Time> plain_times(const Fabric& first, const std::vector<WaitingPair>& messages) {
    const DemandAwareCircuits& moves = *first.demand_aware_circuits();
    std::vector<Time> times(messages.size(), Time(-1));
    std::vector<WaitingPair> left = messages;
    std::shared_ptr<const Fabric> whole;
    std::shared_ptr<const Fabric> meanwhile;
    const auto serve = [&](const Fabric& fabric, Time from, Time to) {
        for (std::size_t i = 0; i < left.size(); ++i) {
            const auto links =
                static_cast<std::int64_t>(circuits(fabric, static_cast<int>(left[i].source.index()),
                                                   static_cast<int>(left[i].destination.index())));
            if (links == 0 || times[i] >= Time(0)) {
                continue;
            }
            const std::int64_t needed = (left[i].bytes.count() * 80 + links - 1) / links;
            if (needed <= (to - from).count()) {
                times[i] = from + Time(needed);
            } else {
                left[i].bytes -= Bytes((to - from).count() * links / 80);
            }
        }
    };
    for (Time look; std::count(times.begin(), times.end(), Time(-1)) > 0; look += moves.every()) {
        std::vector<WaitingPair> waiting;
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (times[i] < Time(0)) {
                waiting.push_back(left[i]);
            }
        }
        const Fabric& present = whole != nullptr ? *whole : first;
        const auto found = look > Time(0) ? moves.rewire(present, waiting) : std::nullopt;
        Time up = look;
        if (found) {
            up += moves.delay();
            if (moves.delay() > Time(0)) {
                serve(*found->meanwhile.fabric, look, up);
            }
            whole = found->next.fabric;
        }
        serve(whole != nullptr ? *whole : first, up, look + moves.every());
    }
    return times;
}

RC_GTEST_PROP(DemandAwarePlannerProperty, WithoutForwardingTimesAreThoseOfEachPairByItself, ()) {
    std::mt19937_64 random(random_seed());
    Case drawn = random_case(random);
    drawn.parameters.routing.reset();
    drawn.parameters.reconfiguration->forwarding = false;
    // A delay of whole microseconds: a link carries whole bytes, a multiple of 12,500.
    drawn.parameters.reconfiguration->delay = Time(static_cast<std::int64_t>(random() % 90) * 1'000'000);
    const auto fabric = built(drawn.parameters, drawn.demand);
    RC_ASSERT(fabric != nullptr);
    std::vector<WaitingPair> messages;
    for (int a = 0; a < static_cast<int>(fabric->host_count()); ++a) {
        for (int b = 0; b < static_cast<int>(fabric->host_count()); ++b) {
            if (a != b && random() % 3 == 0) {
                messages.push_back(waits(a, b, Bytes(1 + static_cast<std::int64_t>(random() % 40'000'000))));
            }
        }
    }
    FluidBackend backend(fabric);
    Recorder recorder(backend);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        recorder.send(i, static_cast<int>(messages[i].source.index()),
                      static_cast<int>(messages[i].destination.index()), messages[i].bytes);
    }
    backend.run();
    const std::vector<Time> expected = plain_times(*fabric, messages);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        // On three circuits a byte takes no whole time, and a message may end a picosecond apart.
        const Time difference = recorder.times.at(i) - 1_us - expected[i];
        RC_ASSERT(difference >= Time(-1));
        RC_ASSERT(difference <= Time(1));
    }
}

}  // namespace
}  // namespace astrolabe::network::topoopt
