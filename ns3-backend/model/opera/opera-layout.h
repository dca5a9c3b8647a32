// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_LAYOUT_H
#define OPERA_LAYOUT_H

#include <algorithm>
#include <cstdint>

namespace ns3
{

/// How the nodes and ports of an Opera network are numbered in its fabric: hosts by rack, racks, rotors.
struct OperaLayout
{
    uint32_t racks{0};
    uint32_t hostsPerRack{0};
    uint32_t rotors{0};
    uint32_t shares{0}; //!< links of hosts that carry what a circuit does, rounded up; 0: as many as hosts

    uint32_t GetHosts() const
    {
        return racks * hostsPerRack;
    }

    uint32_t GetRackOf(uint32_t host) const
    {
        return host / hostsPerRack;
    }

    /// Of a round of a host (OperaTransmissionSlots): one for each rotor, or more where all hosts of a rack
    /// send more than a circuit carries.
    uint32_t GetTransmissionSlots() const
    {
        return std::max(rotors, shares > 0 ? shares : hostsPerRack);
    }

    // Nodes
    uint32_t GetRackNode(uint32_t rack) const
    {
        return GetHosts() + rack;
    }

    uint32_t GetRotorNode(uint32_t rotor) const
    {
        return GetHosts() + racks + rotor;
    }

    // Ports
    uint32_t GetHostPort(uint32_t host) const
    {
        return 2 * host;
    }

    uint32_t GetDownPort(uint32_t host) const //!< of the rack, to the host
    {
        return 2 * host + 1;
    }

    uint32_t GetUpPort(uint32_t rack, uint32_t rotor) const
    {
        return 2 * GetHosts() + rack * rotors + rotor;
    }

    bool IsHostPort(uint32_t port) const
    {
        return port < 2 * GetHosts() && port % 2 == 0;
    }

    uint32_t GetRackOfUpPort(uint32_t port) const
    {
        return (port - 2 * GetHosts()) / rotors;
    }
};

} // namespace ns3

#endif /* OPERA_LAYOUT_H */
