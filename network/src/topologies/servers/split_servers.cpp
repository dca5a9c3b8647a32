#include "split_servers.hpp"

#include "../flat.hpp"

#include <map>
#include <set>
#include <span>
#include <variant>

#include <fmt/format.h>

#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::network::servers {

bool is_split(const Fabric& plane) {
    return !plane.is_static() || !plane.family().engines().empty();
}

namespace {

/// Links of a server's fabric that messages between its GPUs may cross.
std::set<LinkId> links_between_gpus(const ServerPaths& server) {
    std::set<LinkId> links;
    for (std::uint32_t to = 0; to < server.gpus(); ++to) {
        std::vector<NodeId> waiting;
        std::set<NodeId> seen;
        for (std::uint32_t from = 0; from < server.gpus(); ++from) {
            if (from != to) {
                waiting.emplace_back(from);
                seen.insert(NodeId(from));
            }
        }
        while (!waiting.empty()) {
            const NodeId at = waiting.back();
            waiting.pop_back();
            for (const LinkId link : server.routing().next_links(at, HostId(to))) {
                links.insert(link);
                if (seen.insert(server.fabric().target(link)).second) {
                    waiting.push_back(server.fabric().target(link));
                }
            }
        }
    }
    return links;
}

/// Of a server's fabric, the NICs behind each link of a leg.
std::map<LinkId, std::set<std::uint32_t>> nics_behind(const ServerPaths& server) {
    std::map<LinkId, std::set<std::uint32_t>> nics;
    const auto add = [&](HostId from, HostId to, std::uint32_t nic) {
        for (const RouteLeg& leg : server.routing().route(from, to).legs) {
            nics[leg.link].insert(nic);
        }
    };
    for (std::uint32_t gpu = 0; gpu < server.gpus(); ++gpu) {
        for (const std::uint32_t nic : server.nics_of(gpu)) {
            add(HostId(gpu), server.nic(nic), nic);
            add(server.nic(nic), HostId(gpu), nic);
        }
    }
    return nics;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> leg_defect(const ServerPaths& server, Bandwidth rate) {
    if (server.has_integrated_nics()) {
        return std::nullopt;
    }
    const Fabric& fabric = server.fabric();
    const std::set<LinkId> inside = links_between_gpus(server);
    for (const auto& [link, nics] : nics_behind(server)) {
        const std::string name = fmt::format("{} - {}", fabric.node(fabric.source(link)).name,
                                             fabric.node(fabric.target(link)).name);
        if (inside.contains(link)) {
            return std::pair(
                fmt::format("messages between GPUs of a server cross the cable {}, which also leads to "
                            "NICs, and the circuits of this network are simulated apart from servers",
                            name),
                "let NICs hang on cables of their own: attach: gpu, pcie or integrated, and a scale_up of "
                "another kind than pcie");
        }
        if (rate * static_cast<std::int64_t>(nics.size()) > fabric.link(link).rate) {
            return std::pair(
                fmt::format("the cable {} of a server carries {}, less than the {} of {} NICs behind it, and "
                            "the circuits of this network are simulated apart from servers",
                            name, to_string(fabric.link(link).rate), to_string(rate), nics.size()),
                "give pcie.rate at least what the NICs behind a cable carry, or nics: {attach: integrated}");
        }
    }
    return std::nullopt;
}

namespace {

/// Where hosts are where their only NICs are.
class WindowsOfNics final : public CircuitWindows {
public:
    WindowsOfNics(std::shared_ptr<const CircuitWindows> of_nics, std::vector<HostId> nic_of_host)
        : of_nics_(std::move(of_nics)),
          nic_of_host_(std::move(nic_of_host)) {}

    [[nodiscard]] std::size_t places() const override { return of_nics_->places(); }
    [[nodiscard]] PlaceId place_of(HostId host) const override {
        return of_nics_->place_of(nic_of_host_[host.index()]);
    }
    [[nodiscard]] std::optional<CircuitWindow> next(PlaceId from, PlaceId to, Time time) const override {
        return of_nics_->next(from, to, time);
    }
    [[nodiscard]] Time period() const override { return of_nics_->period(); }
    [[nodiscard]] std::uint32_t packets() const override { return of_nics_->packets(); }
    [[nodiscard]] Bytes payload() const override { return of_nics_->payload(); }
    [[nodiscard]] Time notice() const override { return of_nics_->notice(); }
    [[nodiscard]] bool wait_for_circuits(std::uint32_t traffic_class) const override {
        return of_nics_->wait_for_circuits(traffic_class);
    }

private:
    std::shared_ptr<const CircuitWindows> of_nics_;
    std::vector<HostId> nic_of_host_;
};

}  // namespace

std::optional<SharedPorts> SplitServersFamily::shared_ports(const Fabric& fabric) const {
    std::optional<SharedPorts> ports = scale_out().shared_ports(plane());
    if (ports) {
        IndexedVector<LinkId, std::uint32_t> of_whole(fabric.link_count(), SharedPorts::kNone);
        for (LinkId link; link.index() < plane().link_count(); ++link) {
            of_whole[composition().link_in_plane(fabric, 0, link)] = ports->port_of[link];
        }
        ports->port_of = std::move(of_whole);
    }
    return ports;
}

std::shared_ptr<const CircuitWindows> SplitServersFamily::circuit_windows() const {
    std::shared_ptr<const CircuitWindows> of_nics = scale_out().circuit_windows();
    const ServerLayout& layout = composition().layout();
    std::vector<HostId> nic_of_host;
    std::set<NicId> taken;
    for (const auto& server : parts_.servers) {
        for (std::uint32_t gpu = 0; gpu < server->gpus(); ++gpu) {
            const std::span<const NicId> nics = layout.nics_of(HostId(nic_of_host.size()));
            if (nics.size() != 1 || !taken.insert(nics.front()).second) {
                return nullptr;
            }
            nic_of_host.push_back(layout.nic(nics.front()).host);
        }
    }
    return of_nics == nullptr ? nullptr
                              : std::make_shared<const WindowsOfNics>(std::move(of_nics), nic_of_host);
}

std::optional<ScaledFabric> SplitServersFamily::scaled(const Fabric& fabric, const Scaling& scaling) const {
    Scaling of_plane = scaling;
    of_plane.links.clear();
    for (LinkId link; link.index() < plane().link_count(); ++link) {
        const std::string name = link_class_name(fabric, composition().link_in_plane(fabric, 0, link));
        of_plane.links[link_class_name(plane(), link)] = scaling.of_links(name);
    }
    ScaledFabric outside = scale(parts_.planes.front(), of_plane);
    if (std::holds_alternative<ValidationErrors>(outside)) {
        return outside;
    }
    ComposedParts parts = parts_;
    parts.planes.front() = std::get<std::shared_ptr<const Fabric>>(std::move(outside));
    std::map<const ServerPaths*, std::shared_ptr<const ServerPaths>> known;  // servers that are alike
    for (ServerId id; id.index() < parts.servers.size(); ++id) {
        std::shared_ptr<const ServerPaths>& scaled_paths = known[parts_.servers[id].get()];
        if (scaled_paths == nullptr) {
            scaled_paths = parts_.servers[id]->with_speeds([&](LinkId link) {
                const LinkId of_whole = composition().link_in_server(fabric, id, link);
                const Link& before = fabric.link(of_whole);
                return LinkSpeed{
                    network::scaled(before.rate, scaling.of_links(link_class_name(fabric, of_whole))),
                    network::scaled(before.latency, scaling.latency)};
            });
        }
        parts.servers[id] = scaled_paths;
    }
    for (const auto& [before, after] : known) {
        const Bandwidth nic = parts.planes.front()->egress_rate(HostId(0));
        if (const auto defect = leg_defect(*after, nic)) {
            return ScaledFabric(ValidationErrors{{"links", defect->first, "scale both, or neither"}});
        }
    }
    return ScaledFabric(compose(parts));
}

BrokenFabric SplitServersFamily::broken(const std::vector<PartFailure>& failures) const {
    BrokenFabric outside = scale_out().broken(failures);
    if (auto* plane = std::get_if<std::shared_ptr<const Fabric>>(&outside)) {
        ComposedParts parts = parts_;
        parts.planes.front() = std::move(*plane);
        return compose(parts);
    }
    return outside;
}

std::shared_ptr<const SplitNetwork> SplitServersFamily::split(const Fabric& fabric) const {
    auto network = std::make_shared<SplitNetwork>();
    const ServerLayout& layout = composition().layout();
    network->layout = &layout;
    // Any network does between servers that are seen from inside.
    ComposedParts inside = parts_;
    inside.rails = Rails::kNone;
    FlatParameters any;
    any.hosts = static_cast<std::int64_t>(layout.nic_count());
    inside.planes = {build_flat(any)};
    network->inside.fabric = compose(inside);
    const auto& inside_family = static_cast<const ServersFamily&>(network->inside.fabric->family());
    network->inside.links.assign(network->inside.fabric->link_count(), std::nullopt);
    for (ServerId id; id.index() < parts_.servers.size(); ++id) {
        for (LinkId link; link.index() < parts_.servers[id]->fabric().link_count(); ++link) {
            network->inside
                .links[inside_family.composition().link_in_server(*network->inside.fabric, id, link)] =
                composition().link_in_server(fabric, id, link);
        }
    }
    network->outside.fabric = parts_.planes.front();
    for (LinkId link; link.index() < plane().link_count(); ++link) {
        network->outside.links.push_back(composition().link_in_plane(fabric, 0, link));
    }
    for (ServerId id; id.index() < parts_.servers.size(); ++id) {
        const ServerPaths& server = *parts_.servers[id];
        const auto latency = [&server](HostId from, HostId to) {
            return from == to ? Time(0) : server.routing().route(from, to).latency;
        };
        for (std::uint32_t gpu = 0; gpu < server.gpus(); ++gpu) {
            std::vector<SplitNetwork::Leg>& legs = network->legs.emplace_back();
            for (const std::uint32_t nic : server.nics_of(gpu)) {
                legs.push_back(
                    {latency(HostId(gpu), server.nic(nic)), latency(server.nic(nic), HostId(gpu))});
            }
            std::uint32_t first = 0;
            while (!server.reaches(NodeId(first), HostId(gpu))) {
                ++first;
            }
            network->islands.emplace_back(layout.server(id).first_host + first);
        }
    }
    return network;
}

}  // namespace astrolabe::network::servers
