// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_FABRIC_H
#define OPERA_FABRIC_H

#include "opera-classifier.h"
#include "opera-frame.h"
#include "opera-net-device.h"

#include "ns3/ipv4-address.h"
#include "ns3/mac48-address.h"
#include "ns3/object.h"
#include "ns3/opera-bulk-slots.h"
#include "ns3/opera-router.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * What the devices of one Opera network share: the schedule, which host has which address, which service a
 * datagram gets, the paths of low-latency frames, and the bulk frames that wait at hosts for circuits.
 *
 * Bulk. A frame waits at its host, in a queue for its destination, however long it is counted as a full one.
 * Whenever a circuit comes up, the policy (OperaBulkPolicy, RotorLB by default) grants frames of these
 * queues, which leave in the transmission slots of the host while the circuit lasts (OperaTransmissionSlots);
 * what was not sent by then waits again. A frame granted to a host that is not its destination waits there
 * for a circuit that leads on; it never enters the stack of that host. What comes to a circuit that no longer
 * leads where it is heading goes back to the front of its last sender's queue, at once and at no cost.
 *
 * Low latency. A frame's path is chosen when its first bit leaves the host, among the shortest paths of that
 * superslice; circuits lead where they lead when the frame comes out.
 *
 * Failures. From the instant of a failure its circuits carry nothing. Hosts and switches know of it from the
 * start of the next superslice on: nothing is granted through them, and paths avoid them. Fail what is to
 * fail, in any order, before that time.
 *
 * While nothing waits no event is pending. Where what waits can never leave, because of failures, the clock
 * stops after a cycle in which nothing was granted and nothing came.
 *
 * The clock must count picoseconds (Time::SetResolution(Time::PS)).
 */
class OperaFabric : public Object, public OperaBulkSlots
{
  public:
    typedef void (*GrantTracedCallback)(uint32_t rotor, const OperaGrant& grant);
    typedef void (*HostTracedCallback)(uint32_t host, Ptr<const Packet> datagram);
    typedef void (*CrossedTracedCallback)(uint32_t rotor,
                                          uint32_t matching,
                                          uint32_t rack,
                                          const OperaFrame& frame);

    static constexpr int64_t NEVER = OperaTransmissionSlots::NEVER;

    struct Counters
    {
        uint64_t packets{0};     //!< datagrams delivered
        uint64_t bytes{0};       //!< of these, IP headers included
        uint64_t bulkPackets{0}; //!< of the packets, bulk ones
        uint64_t bulkHops{0};    //!< bulk frames that left hosts, relayed ones each time
        uint64_t relayed{0};     //!< of these, those that left relays
        uint64_t returned{0};    //!< bulk frames that came to a circuit that led elsewhere
        uint64_t rerouted{0};    //!< low-latency frames whose path ended elsewhere
        uint64_t lost{0};        //!< on dark circuits, or without a path
        uint64_t drops{0};       //!< that found no room
    };

    static TypeId GetTypeId();

    OperaFabric();
    ~OperaFabric() override;

    /// Once, before devices. \param frameBytes of a full frame
    void Build(const OperaSchedule& schedule,
               uint32_t hostsPerRack,
               uint64_t hostRate,
               uint64_t rate,
               uint32_t frameBytes);
    void SetPolicy(std::unique_ptr<OperaBulkPolicy> policy);
    /// None, unless set: all is bulk.
    void SetPaths(std::unique_ptr<OperaPathSource> paths);

    const OperaBulkPolicy& GetPolicy() const
    {
        return *m_policy;
    }

    void AddHost(Ptr<OperaNetDevice> device); //!< by number

    /// The circuits of a rotor, of a cable between a rack and a rotor, or of a rack, carry nothing from
    /// `when` on.
    void FailRotor(uint32_t rotor, Time when);
    void FailCable(uint32_t rack, uint32_t rotor, Time when);
    void FailRack(uint32_t rack, Time when);

    /// Packets that a host may send through one circuit while it is there.
    uint32_t GetSlotPackets() const;

    const OperaSchedule& GetSchedule() const
    {
        return m_schedule;
    }

    const OperaLayout& GetLayout() const
    {
        return m_layout;
    }

    Ptr<OperaClassifier> GetClassifier() const
    {
        return m_classifier;
    }

    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /// Bytes of frames that have come out of the circuit which a matching of a rotor gives a rack.
    uint64_t GetCarriedBytes(uint32_t rotor, uint32_t matching, uint32_t rack) const
    {
        return m_carriedBytes[GetCircuit(rotor, matching, rack)];
    }

    /// Bulk frames that wait at hosts.
    uint64_t GetWaiting() const
    {
        return m_policy->GetWaiting();
    }

    // For devices, channels and switches

    uint32_t GetPeer(uint32_t rotor, uint32_t rack, int64_t when) const;
    bool IsDark(uint32_t rotor) const; //!< now
    Mac48Address GetAddress(uint32_t host) const;
    bool FindHost(Ptr<const Packet> datagram, Mac48Address address, uint32_t& host);
    bool IsBulk(Ptr<const Packet> datagram);
    bool StartPath(OperaFrame& frame);
    bool FindPath(OperaFrame& frame, uint32_t rack);

    bool IsRerouting() const
    {
        return m_isRerouting;
    }

    void NoteDelivered(Ptr<OperaFrame> frame);
    void CountLost(Ptr<OperaFrame> frame);
    void NoteCrossed(uint32_t rotor, uint32_t rack, const OperaFrame& frame);

    void CountDrop()
    {
        ++m_counters.drops;
    }

    void SendBulk(uint32_t host, Ptr<OperaFrame> frame);
    Ptr<OperaFrame> TakeBulk(uint32_t host); //!< null: none is due
    int64_t GetNextSlot(uint32_t host) const;
    void Relay(Ptr<OperaFrame> frame);
    void TakeBack(Ptr<OperaFrame> frame);

  protected:
    void DoDispose() override;

  private:
    using Line = std::deque<Ptr<OperaFrame>>;

    struct Host
    {
        Host(uint32_t parts, int64_t packetTime, int64_t circuitTime)
            : slots(parts, packetTime, circuitTime)
        {
        }

        OperaTransmissionSlots slots;
        Ptr<OperaNetDevice> device;
        std::unordered_map<uint32_t, Line> own;     //!< by destination
        std::unordered_map<uint32_t, Line> relayed; //!< by destination
    };

    struct Failure
    {
        int64_t when;   //!< ps
        uint32_t rack;  //!< or ALL
        uint32_t rotor; //!< or ALL
    };

    static constexpr uint32_t ALL = 0xffffffff;

    OperaBulkPolicy& GetBulkPolicy() const override;
    uint32_t GetSlotHosts() const override;
    OperaTransmissionSlots& GetSlots(uint32_t host) override;
    void PrepareSlots(uint32_t host) override;
    void UseSlots(uint32_t host) override;
    void NoteGrant(uint32_t rotor, const OperaGrant& grant) override;
    void NoteSlots() override;

    std::size_t GetCircuit(uint32_t rotor, uint32_t matching, uint32_t rack) const;
    void ReadAddresses();
    void Fail(const Failure& failure);

    OperaSchedule m_first; //!< without failures
    OperaSchedule m_schedule;
    OperaLayout m_layout;
    uint64_t m_hostRate{0};
    uint32_t m_frameBytes{0};
    bool m_isRerouting;
    Ptr<OperaClassifier> m_classifier;
    std::unique_ptr<OperaBulkPolicy> m_policy;
    std::unique_ptr<OperaPathSource> m_paths;
    std::vector<Failure> m_failures;
    std::deque<Host> m_hosts;
    std::unordered_map<uint32_t, uint32_t> m_hostByIp;
    std::vector<Mac48Address> m_addresses;
    Counters m_counters;
    std::vector<uint64_t> m_carriedBytes; //!< by circuit

    TracedCallback<uint32_t, const OperaGrant&> m_granted;
    TracedCallback<uint32_t, Ptr<const Packet>> m_returned;
    TracedCallback<uint32_t, Ptr<const Packet>> m_relays;
    TracedCallback<uint32_t, Ptr<const Packet>> m_delivered;
    TracedCallback<uint32_t, Ptr<const Packet>> m_lostTrace;
    TracedCallback<uint32_t, uint32_t, uint32_t, const OperaFrame&> m_crossed;
};

} // namespace ns3

#endif /* OPERA_FABRIC_H */
