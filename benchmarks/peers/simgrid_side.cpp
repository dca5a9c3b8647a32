/// SimGrid at its best for this traffic; why each setting is made stands beside it.
#include "traffic.hpp"

#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::benchmarks {
namespace {

namespace sg = simgrid::s4u;

/// The engine keeps pointers to its arguments. Updating only what changes is the faster way except where
/// every event changes much.
std::vector<const char*> settings(const PeerCase& peer_case) {
    const bool is_lazy = peer_case.pattern != Pattern::kUneven;
    return {
        "simgrid",
        "--cfg=network/model:CM02",      // latency + bytes/rate, max-min: no factors for TCP
        "--cfg=network/crosstraffic:0",  // acknowledgements load no links: fewer links a flow
        "--cfg=network/TCP-gamma:0",     // no window bounds a rate
        "--cfg=network/weight-S:0",      // latency alone weighs flows
        is_lazy ? "--cfg=network/optim:Lazy" : "--cfg=network/optim:Full",
        is_lazy ? "--cfg=network/maxmin-selective-update:yes" : "--cfg=network/maxmin-selective-update:no",
        "--cfg=contexts/factory:raw",  // the fastest switch between actors
        "--cfg=contexts/stack-size:64",
        "--cfg=surf/precision:1e-12",  // its default of 10 us is longer than a message
        "--cfg=maxmin/precision:1e-9",
        "--log=root.thresh:warning"};
}

constexpr double kBytesPerSecond = 12.5e9;

std::vector<sg::Host*> build_fat_tree_zone(const PeerCase& peer_case) {
    std::vector<sg::Host*> hosts(peer_case.hosts());
    const sg::ClusterCallbacks callbacks(
        [&hosts](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
            hosts[id] = zone->create_host("host" + std::to_string(id), 1e9);
            return std::make_pair(hosts[id]->get_netpoint(),
                                  static_cast<decltype(hosts[id]->get_netpoint())>(nullptr));
        });
    const auto k = static_cast<unsigned>(peer_case.k);
    sg::create_fatTree_zone("tree", nullptr, {3, {k / 2, k / 2, k}, {1, k / 2, k / 2}, {1, 1, 1}}, callbacks,
                            kBytesPerSecond, to_seconds(peer_case.link_latency()),
                            sg::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
    return hosts;
}

/// Our fabric's links and its path of each pair that talks.
std::vector<sg::Host*> build_routed_zone(const PeerCase& peer_case) {
    const auto fabric = build_fat_tree(fat_tree_of(peer_case));
    sg::NetZone* zone = sg::create_full_zone("routed");
    std::vector<sg::Host*> hosts;
    for (std::size_t host = 0; host < peer_case.hosts(); ++host) {
        hosts.push_back(zone->create_host("host" + std::to_string(host), 1e9));
    }
    std::vector<sg::Link*> links;
    for (std::size_t link = 0; link < fabric->link_count(); ++link) {
        links.push_back(zone->create_link("link" + std::to_string(link), kBytesPerSecond)
                            ->set_latency(to_seconds(peer_case.link_latency()))
                            ->seal());
    }
    for (const PeerMessage& message : messages_at_zero(peer_case)) {
        std::vector<sg::LinkInRoute> path;
        const network::Route route =
            fabric->routing().route(network::HostId(message.source), network::HostId(message.destination));
        for (const network::RouteLeg& leg : route.legs) {
            path.emplace_back(links[leg.link.index()]);
        }
        zone->add_route(hosts[message.source]->get_netpoint(), hosts[message.destination]->get_netpoint(),
                        nullptr, nullptr, path, false);
    }
    zone->seal();
    return hosts;
}

/// One actor starts everything and waits.
void send_at_zero(const PeerCase& peer_case, const std::vector<sg::Host*>& hosts) {
    std::vector<sg::CommPtr> under_way;
    for (const PeerMessage& message : messages_at_zero(peer_case)) {
        under_way.push_back(sg::Comm::sendto_async(hosts[message.source], hosts[message.destination],
                                                   static_cast<std::uint64_t>(message.size.count())));
    }
    for (const sg::CommPtr& comm : under_way) {
        comm->wait();
    }
}

void one_peer_at_a_time(std::size_t self, const std::vector<sg::Host*>& hosts) {
    for (std::size_t step = 1; step < hosts.size(); ++step) {
        sg::Comm::sendto(hosts[self], hosts[(self + step) % hosts.size()],
                         static_cast<std::uint64_t>(kPeerMessage.count()));
    }
}

void ring(std::size_t self, std::size_t hosts, std::size_t steps) {
    sg::Mailbox* next = sg::Mailbox::by_name(std::to_string((self + 1) % hosts));
    sg::Mailbox* own = sg::Mailbox::by_name(std::to_string(self));
    own->set_receiver(sg::Actor::self());  // messages start when they are sent, not when they are asked for
    int payload = 0;
    for (std::size_t step = 0; step < steps; ++step) {
        next->put_init(&payload, static_cast<std::uint64_t>(kPeerMessage.count()))->detach();
        own->get<int>();
    }
}

}  // namespace

PeerOutcome run_simgrid(const PeerCase& peer_case) {
    std::vector<const char*> arguments = settings(peer_case);
    int count = static_cast<int>(arguments.size());
    sg::Engine engine(&count, const_cast<char**>(arguments.data()));
    const std::vector<sg::Host*> hosts =
        peer_case.sprays() ? build_fat_tree_zone(peer_case) : build_routed_zone(peer_case);
    PeerOutcome outcome;
    outcome.setup_cpu_s = processor_seconds();

    if (peer_case.pattern == Pattern::kAllAtOnce || peer_case.pattern == Pattern::kUneven) {
        sg::Actor::create("sender", hosts[0], [&] { send_at_zero(peer_case, hosts); });
    } else {
        for (std::size_t self = 0; self < hosts.size(); ++self) {
            sg::Actor::create("host" + std::to_string(self), hosts[self], [&, self] {
                if (peer_case.pattern == Pattern::kRing) {
                    ring(self, hosts.size(), peer_case.steps);
                } else {
                    one_peer_at_a_time(self, hosts);
                }
            });
        }
    }
    engine.run();
    outcome.cpu_s = processor_seconds() - outcome.setup_cpu_s;
    outcome.simulated_s = sg::Engine::get_clock();
    return outcome;
}

}  // namespace astrolabe::benchmarks
