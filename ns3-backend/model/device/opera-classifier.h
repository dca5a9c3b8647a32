// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_CLASSIFIER_H
#define OPERA_CLASSIFIER_H

#include "ns3/ipv4-header.h"
#include "ns3/object.h"
#include "ns3/packet.h"

#include <cstdint>
#include <map>
#include <unordered_map>

namespace ns3
{

/// How an Opera network carries a datagram.
enum class OperaService
{
    LOW_LATENCY, //!< at once, over the expander of the moment
    BULK         //!< over circuits that it waits for
};

/**
 * Which service a datagram of a host gets. The first rule that says so counts:
 *
 *   1. what carries no payload of TCP (acknowledgements, requests) is low-latency, with `HeadersFirst`;
 *   2. its DSCP (SetDscp);
 *   3. its TCP or UDP port, of the destination or else of the source (SetPort);
 *   4. the size of its flow: until `Cutoff` bytes of a flow have been sent it is low-latency, then bulk. A
 * flow is what has the same addresses, protocol and ports. Nobody tells a host how long a flow will be, so
 * the first `Cutoff` bytes of long ones are low-latency too; where that matters, use 2 or 3.
 *
 * Fragments behind the first have no ports: rule 2 and 4 remain. What is not IPv4 is low-latency.
 * Memory: 40 bytes a flow, for ever.
 */
class OperaClassifier : public Object
{
  public:
    static TypeId GetTypeId();

    void SetDscp(Ipv4Header::DscpType dscp, OperaService service);
    void SetPort(uint16_t port, OperaService service);

    /// Of a datagram that is being sent, header and all. It is counted in its flow.
    OperaService Classify(Ptr<const Packet> datagram);

    /// Bytes that a datagram, header and all, carries behind the headers of TCP or UDP; behind that of IP
    /// where it is a fragment behind the first, or of another protocol.
    static uint32_t GetPayload(Ptr<const Packet> datagram);

  private:
    struct Ports
    {
        uint16_t source{0};
        uint16_t destination{0};
        uint32_t payload{1}; //!< bytes; 1 where it cannot be told
    };

    static Ports GetPorts(Ptr<const Packet> datagram, const Ipv4Header& header);

    uint64_t m_cutoff;
    bool m_headersFirst;
    std::map<uint8_t, OperaService> m_byDscp;
    std::map<uint16_t, OperaService> m_byPort;

    struct Flow
    {
        uint64_t addresses;
        uint64_t ports; //!< and protocol

        bool operator==(const Flow& other) const
        {
            return addresses == other.addresses && ports == other.ports;
        }
    };

    struct FlowHash
    {
        std::size_t operator()(const Flow& flow) const
        {
            constexpr uint64_t SPREAD = 0x9e3779b97f4a7c15U;
            return (flow.addresses ^ (flow.ports * SPREAD >> 17)) * SPREAD >> 7;
        }
    };

    std::unordered_map<Flow, uint64_t, FlowHash> m_sent; //!< bytes, by flow
};

} // namespace ns3

#endif /* OPERA_CLASSIFIER_H */
