/// What a fabric is made of, and what that costs.
///
/// Parts. Every cable of the fabric, parallel ones each by itself, takes by its medium (medium.hpp)
///
///     fibre              a transceiver at either end and a fibre
///     patch_panel        a transceiver, a fibre and a port of the panel for either end
///     look_ahead_panel   the same with a second port of the panel, where the wiring of the next job is
///                        prepared, and an optical 1x2 switch in front of the two ports, for either end
///     circuit_switch     a transceiver, a fibre and a port of the circuit switch for either end
///
/// and beside that a NIC port for an end that is a host and a port of a packet switch for one that is a
/// switch. A one-way link takes the sending half of an interface and the receiving half of another, so that
/// a host has as many interfaces for one-way links of a rate as it has links out or, if these are more, links
/// in; each takes what the end of a cable does, and where no plane lies between, two links make up a fibre.
/// Cables at a switch are fibres, or copper where they lead to hosts and the prices say so
/// (PriceList::host_cables). A NIC of a server counts as a host. Links that share their ports are no cables:
/// what the ports take is said by the family of the network (NetworkFamily::parts), whatever has failed. A
/// part has the rate of its cable, the larger one of its two directions.
///
/// Inside a server, or a package of hosts, every link of the scale-up network is a scale_up_link with a
/// scale_up_port at each end that is a switch, and every link of the bus a pcie_link with a pcie_port at each
/// end that is a PCIe switch; links between processors come with these. Where a price list has no price of
/// such a part it is bought with the server: it is counted, adds nothing to the cost, and is named as not
/// priced.
///
/// So a server of a network of n servers takes
///
///     network                            NIC ports  switch ports  panel ports  transceivers  fibres
///     direct connect, d interfaces           d           0          d or 2d         d           d
///     3-tier fat-tree, 1:1                   1           5             0            6           3
///     2-tier fat-tree, 1:1                   1           3             0            4           2
///     one switch                             1           1             0            2           1
///
/// cost = sum over parts of count x price, in US dollars
/// and double precision: exact for prices of whole cents below 2^53 cents.
///
/// Adding links, or rate to a cable or to all one-way links, never lowers the cost (prices.hpp).
///
/// What is left out: chassis and unused ports of switches, lengths of cables, racks, power, work, and servers
/// but for these parts.
///
/// Complexity: O(links log links).
///
/// Source: the cost comparisons of docs/theory/, where each price names its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/cost/medium.hpp>
#include <astrolabe/network/cost/prices.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

/// What a fabric does not show of itself.
struct Wiring {
    Medium between_hosts = Medium::kFibre;  ///< of cables that join hosts to each other
};

/// So many parts of one kind and rate.
struct PartCount {
    Part part;
    Bandwidth rate;
    std::uint64_t count;

    friend bool operator==(const PartCount&, const PartCount&) = default;
};

/// By part, then by rate; no count is 0.
[[nodiscard]] std::vector<PartCount> count_parts(const Fabric& fabric, const Wiring& wiring,
                                                 HostCables host_cables = HostCables::kFibre);

struct CostLine {
    PartCount parts;
    double price = 0.0;  ///< of one, in US dollars

    [[nodiscard]] double cost() const { return static_cast<double>(parts.count) * price; }
};

struct NetworkCost {
    std::vector<CostLine> lines;      ///< in the order of `count_parts`
    std::vector<PartCount> unpriced;  ///< inside servers, and not in the price list
    std::size_t hosts = 0;

    [[nodiscard]] double total() const;  ///< US dollars
    [[nodiscard]] double per_host() const { return total() / static_cast<double>(hosts); }
    /// Of the total, what is inside servers.
    [[nodiscard]] double inside_servers() const;
    [[nodiscard]] bool has_servers() const;  ///< with anything inside
};

/// Or which prices are missing, by keys of the price list.
[[nodiscard]] std::variant<NetworkCost, ValidationErrors> cost_of(const Fabric& fabric, const Wiring& wiring,
                                                                  const PriceList& prices);

}  // namespace astrolabe::network
