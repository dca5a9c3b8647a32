#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/network/cost/cost.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network {

namespace {

class Inventory {
public:
    void add(Part part, Bandwidth rate, std::uint64_t count) { counts_[{part, rate}] += count; }

    /// An end of a cable at a host or at a packet switch.
    void add_end(NodeKind kind, Bandwidth rate) {
        add(kind == NodeKind::kHost ? Part::kNicPort : Part::kSwitchPort, rate, 1);
    }

    [[nodiscard]] std::vector<PartCount> take() const {
        std::vector<PartCount> all;
        for (const auto& [kind, count] : counts_) {
            all.push_back({kind.first, kind.second, count});
        }
        return all;
    }

private:
    std::map<std::pair<Part, Bandwidth>, std::uint64_t> counts_;
};

/// What so many ends of cables take at their ports and on the plane that they lead to.
void add_optics(Inventory& inventory, Medium medium, Bandwidth rate, std::uint64_t ends) {
    inventory.add(Part::kTransceiver, rate, ends);
    if (medium != Medium::kFibre) {
        inventory.add(Part::kFibre, rate, ends);
    }
    if (medium == Medium::kCircuitSwitch) {
        inventory.add(Part::kCircuitSwitchPort, rate, ends);
    } else if (medium == Medium::kPatchPanel) {
        inventory.add(Part::kPatchPanelPort, rate, ends);
    } else if (medium == Medium::kLookAheadPanel) {
        inventory.add(Part::kPatchPanelPort, rate, 2 * ends);
        inventory.add(Part::kLookAheadSwitch, rate, ends);
    }
}

/// Links without a way back: a port sends over one and receives over another, if to the same kind of node.
void add_one_way_links(Inventory& inventory, const Fabric& fabric, Medium between_hosts) {
    struct Crossing {
        std::uint64_t out = 0;
        std::uint64_t in = 0;
    };
    using Kind = std::pair<Medium, Bandwidth>;
    std::map<Kind, std::uint64_t> strands;
    for (NodeId node; node.index() < fabric.node_count(); ++node) {
        const NodeKind end = fabric.node(node).kind;
        std::map<Kind, Crossing> crossings;
        const auto crossing_to = [&](NodeId neighbour, LinkId link) -> Crossing& {
            const bool joins_hosts = end == NodeKind::kHost && fabric.node(neighbour).kind == NodeKind::kHost;
            return crossings[{joins_hosts ? between_hosts : Medium::kFibre, fabric.link(link).rate}];
        };
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            const LinkId out(fabric.first_link(node).index() + i);
            if (!fabric.link(out).reverse) {
                ++crossing_to(fabric.target(out), out).out;
            }
        }
        for (const LinkId in : fabric.links_into(node)) {
            if (!fabric.link(in).reverse) {
                ++crossing_to(fabric.source(in), in).in;
            }
        }
        for (const auto& [kind, crossing] : crossings) {
            const auto& [medium, rate] = kind;
            const std::uint64_t ports = std::max(crossing.out, crossing.in);
            inventory.add(end == NodeKind::kHost ? Part::kNicPort : Part::kSwitchPort, rate, ports);
            add_optics(inventory, medium, rate, ports);
            strands[kind] += crossing.out;
        }
    }
    for (const auto& [kind, count] : strands) {
        if (kind.first == Medium::kFibre && count > 0) {
            inventory.add(Part::kFibre, kind.second, (count + 1) / 2);
        }
    }
}

/// What is inside servers, and that NICs are interfaces of theirs.
class ServerParts {
public:
    explicit ServerParts(const Fabric& fabric)
        : fabric_(fabric),
          servers_(fabric.family().servers()),
          is_nic_(servers_ == nullptr ? 0 : fabric.node_count(), false) {
        for (NicId nic; servers_ != nullptr && nic.index() < servers_->nic_count(); ++nic) {
            is_nic_[servers_->nic(nic).node.index()] = true;
        }
    }
    [[nodiscard]] bool is_inside(LinkId link) const {
        return servers_ != nullptr && servers_->place_of(link) != LinkPlace::kScaleOut;
    }
    [[nodiscard]] NodeKind kind(NodeId node) const {
        return servers_ != nullptr && is_nic_[node.index()] ? NodeKind::kHost : fabric_.node(node).kind;
    }
    /// Of a cable inside a server.
    void add(Inventory& inventory, LinkId link, Bandwidth rate) const {
        const LinkPlace place = servers_->place_of(link);
        if (place == LinkPlace::kSocket) {
            return;
        }
        const bool is_scale_up = place == LinkPlace::kScaleUp;
        inventory.add(is_scale_up ? Part::kScaleUpLink : Part::kPcieLink, rate, 1);
        for (const NodeId end : {fabric_.source(link), fabric_.target(link)}) {
            const bool is_processor = std::ranges::binary_search(servers_->processors(), end);
            if (kind(end) == NodeKind::kSwitch && !is_processor) {
                inventory.add(is_scale_up ? Part::kScaleUpPort : Part::kPciePort, rate, 1);
            }
        }
    }

private:
    const Fabric& fabric_;
    const ServerLayout* servers_;
    std::vector<bool> is_nic_;  ///< by node
};

std::vector<std::string> texts_of(const std::vector<PricePoint>& points) {
    std::vector<std::string> texts;
    for (const PricePoint& point : points) {
        texts.push_back(to_string(point.rate));
    }
    return texts;
}

ValidationError missing(const PriceList& prices, const PartCount& parts) {
    const std::string key(key_of(parts.part));
    if (!prices.of(parts.part)) {
        return {"", fmt::format("the network has {} x {}, which has no price", parts.count, key),
                fmt::format("add {}: {{dollars: …, source: …}}", key)};
    }
    return {key + ".by_rate",
            fmt::format("the network has {} of {}, which has no price", parts.count, to_string(parts.rate)),
            fmt::format("there are prices of {}; add one, or other_rates: interpolate",
                        fmt::join(texts_of(prices.of(parts.part)->by_rate), ", "))};
}

}  // namespace

std::vector<PartCount> count_parts(const Fabric& fabric, const Wiring& wiring, HostCables host_cables) {
    Inventory inventory;
    const std::optional<SharedPorts> ports = fabric.family().shared_ports(fabric);
    const ServerParts servers(fabric);
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const LinkId id(i);
        const Link& link = fabric.link(id);
        const NodeKind source = servers.kind(fabric.source(id));
        const NodeKind target = servers.kind(fabric.target(id));
        const bool shares_ports = ports && ports->port_of[id] != SharedPorts::kNone;
        // A cable is two links; it is counted at the first.
        if (!link.reverse || *link.reverse < id || shares_ports) {
            continue;
        }
        const Bandwidth rate = std::max(link.rate, fabric.link(*link.reverse).rate);
        if (servers.is_inside(id)) {
            servers.add(inventory, id, rate);
            continue;
        }
        inventory.add_end(source, rate);
        inventory.add_end(target, rate);
        if (host_cables == HostCables::kCopper && source != target) {
            inventory.add(Part::kCopperCable, rate, 1);
        } else {
            const bool joins_hosts = source == NodeKind::kHost && target == NodeKind::kHost;
            const Medium medium = joins_hosts ? wiring.between_hosts : Medium::kFibre;
            add_optics(inventory, medium, rate, 2);
            if (medium == Medium::kFibre) {
                inventory.add(Part::kFibre, rate, 1);
            }
        }
    }
    add_one_way_links(inventory, fabric, wiring.between_hosts);
    for (const PartCount& part : fabric.family().parts()) {
        inventory.add(part.part, part.rate, part.count);
    }
    return inventory.take();
}

double NetworkCost::total() const {
    double sum = 0.0;
    for (const CostLine& line : lines) {
        sum += line.cost();
    }
    return sum;
}

double NetworkCost::inside_servers() const {
    double sum = 0.0;
    for (const CostLine& line : lines) {
        sum += is_inside_server(line.parts.part) ? line.cost() : 0.0;
    }
    return sum;
}

bool NetworkCost::has_servers() const {
    return !unpriced.empty() ||
           std::ranges::any_of(lines, [](const CostLine& line) { return is_inside_server(line.parts.part); });
}

std::variant<NetworkCost, ValidationErrors> cost_of(const Fabric& fabric, const Wiring& wiring,
                                                    const PriceList& prices) {
    NetworkCost cost;
    cost.hosts = fabric.host_count();
    ValidationErrors problems;
    for (const PartCount& parts : count_parts(fabric, wiring, prices.host_cables)) {
        const std::optional<Price>& price = prices.of(parts.part);
        const std::optional<double> dollars = price ? price->at(parts.rate) : std::nullopt;
        if (dollars) {
            cost.lines.push_back({parts, *dollars});
        } else if (!price && is_inside_server(parts.part)) {
            cost.unpriced.push_back(parts);
        } else {
            problems.push_back(missing(prices, parts));
        }
    }
    if (!problems.empty()) {
        return problems;
    }
    return cost;
}

}  // namespace astrolabe::network
