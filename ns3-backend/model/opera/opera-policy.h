// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_POLICY_H
#define OPERA_POLICY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/// Packets that a host may send through one circuit while it is there.
struct OperaGrant
{
    uint32_t from;
    uint32_t to;
    uint32_t destination; //!< where they end: `to`, or a host that `to` relays them to
    uint32_t packets;     //!< above 0
    bool isRelayed;       //!< `from` relays them; else they are its own
};

/**
 * Which bulk packets use a circuit. It counts the packets that wait at each host for each destination, own
 * ones and relayed ones; OperaBulk notifies it of all that come, and it removes what it grants.
 */
class OperaBulkPolicy
{
  public:
    virtual ~OperaBulkPolicy() = default;
    /// So many more packets wait at `host` for `destination`: new ones, or ones that came back.
    virtual void Add(uint32_t host, uint32_t destination, uint64_t packets, bool isRelayed) = 0;
    /// A circuit connects racks x and y, both ways; x = y: the uplink of x idles. Appends what may use it.
    virtual void Share(uint32_t x, uint32_t y, std::vector<OperaGrant>& grants) = 0;
    /// Circuits have failed: what is shared out next is of this state (OperaSchedule), above 0.
    virtual void SetState(std::size_t state) = 0;
    /// Packets that wait, of all hosts.
    virtual uint64_t GetWaiting() const = 0;
};

/**
 * The simplest: a pair of hosts of the two racks has an even part of the circuit's packets, ⌊packets / hosts
 * in a rack⌋, whether others use theirs or not, and nothing is relayed. Hosts of one rack exchange as many
 * while the uplink of their rack idles.
 */
class OperaEvenPolicy : public OperaBulkPolicy
{
  public:
    /// \param packets that a host may send, and receive, through a circuit
    OperaEvenPolicy(uint32_t racks, uint32_t hostsPerRack, uint32_t packets);

    void Add(uint32_t host, uint32_t destination, uint64_t packets, bool isRelayed) override;
    void Share(uint32_t x, uint32_t y, std::vector<OperaGrant>& grants) override;
    void SetState(std::size_t state) override; //!< nothing to do: only circuits that there are get shared
    uint64_t GetWaiting() const override;

  private:
    void ShareOneWay(uint32_t x, uint32_t y, std::vector<OperaGrant>& grants);

    uint32_t m_hostsPerRack;
    uint32_t m_most; //!< packets of a pair
    uint64_t m_sum{0};
    std::vector<std::vector<uint64_t>> m_waiting; //!< by source and destination; empty until it sends
};

} // namespace ns3

#endif /* OPERA_POLICY_H */
