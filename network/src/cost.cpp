#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/network/cost.hpp>
#include <astrolabe/network/opera/rotor_network.hpp>

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

/// What lies between the two ports that a cable joins.
void add_optics(Inventory& inventory, Medium medium, Bandwidth rate) {
    inventory.add(Part::kTransceiver, rate, 2);
    inventory.add(Part::kFibre, rate, medium == Medium::kFibre ? 1 : 2);
    if (medium == Medium::kCircuitSwitch) {
        inventory.add(Part::kCircuitSwitchPort, rate, 2);
    } else if (medium == Medium::kPatchPanel) {
        inventory.add(Part::kPatchPanelPort, rate, 2);
    } else if (medium == Medium::kLookAheadPanel) {
        inventory.add(Part::kPatchPanelPort, rate, 4);
        inventory.add(Part::kLookAheadSwitch, rate, 2);
    }
}

void add_rotors(Inventory& inventory, const opera::RotorNetwork& rotors) {
    const std::uint64_t uplinks = std::uint64_t{rotors.schedule.racks()} * rotors.schedule.uplinks();
    for (const Part part : {Part::kSwitchPort, Part::kTransceiver, Part::kFibre, Part::kRotorPort}) {
        inventory.add(part, rotors.rate, uplinks);
    }
}

std::vector<std::string> texts_of(const std::vector<PricePoint>& points) {
    std::vector<std::string> texts;
    for (const PricePoint& point : points) {
        texts.push_back(to_string(point.rate));
    }
    return texts;
}

ParameterProblem missing(const PriceList& prices, const PartCount& parts) {
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
    const bool has_rotors = fabric.rotors() != nullptr;
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const LinkId id(i);
        const Link& link = fabric.link(id);
        const NodeKind source = fabric.node(fabric.source(id)).kind;
        const NodeKind target = fabric.node(fabric.target(id)).kind;
        const bool is_circuit = has_rotors && source == NodeKind::kSwitch && target == NodeKind::kSwitch;
        // A cable is two links; it is counted at the first.
        if (link.reverse < id || is_circuit || link.cost == wiring.package_link_cost) {
            continue;
        }
        const Bandwidth rate = std::max(link.rate, fabric.link(link.reverse).rate);
        inventory.add_end(source, rate);
        inventory.add_end(target, rate);
        if (host_cables == HostCables::kCopper && source != target) {
            inventory.add(Part::kCopperCable, rate, 1);
        } else {
            const bool joins_hosts = source == NodeKind::kHost && target == NodeKind::kHost;
            add_optics(inventory, joins_hosts ? wiring.between_hosts : Medium::kFibre, rate);
        }
    }
    if (has_rotors) {
        add_rotors(inventory, *fabric.rotors());
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

std::variant<NetworkCost, std::vector<ParameterProblem>> cost_of(const Fabric& fabric, const Wiring& wiring,
                                                                 const PriceList& prices) {
    NetworkCost cost;
    cost.hosts = fabric.host_count();
    std::vector<ParameterProblem> problems;
    for (const PartCount& parts : count_parts(fabric, wiring, prices.host_cables)) {
        const std::optional<Price>& price = prices.of(parts.part);
        const std::optional<double> dollars = price ? price->at(parts.rate) : std::nullopt;
        if (dollars) {
            cost.lines.push_back({parts, *dollars});
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
