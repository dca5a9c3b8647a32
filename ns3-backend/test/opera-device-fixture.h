// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_DEVICE_FIXTURE_H
#define OPERA_DEVICE_FIXTURE_H

#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/opera-helper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

constexpr uint16_t BULK_PORT = 9;
constexpr uint16_t FAST_PORT = 10;
constexpr uint32_t FULL = 1500 - 18 - 28; //!< UDP payload of a frame of 1500 bytes
constexpr uint32_t LEAST = 64 - 18 - 28;  //!< of one of 64 bytes

/**
 * The eight racks of four hosts that the reference simulator was run on: M_r, r = 0 … 6, connects 7 with r
 * and r + i with r - i (mod 7), M_7 nothing, and rotor a has M_2a and M_2a+1. At 100 Gb/s with 500 ns between
 * racks and queues of 8 frames H = 4, eps 5.22 us, del 0.62 us, r 10 us.
 */
class EightRacks
{
  public:
    explicit EightRacks(DataRate rate = DataRate(100'000'000'000),
                        OperaRotorLbPolicy::Options options = {true, false, false})
    {
        helper.SetSize(8, 4);
        helper.SetRates(rate, rate);
        helper.SetMatchings(MakeMatchings());
        helper.SetBulkOptions(options);
        helper.SetPortService(BULK_PORT, OperaService::BULK);
        helper.SetPortService(FAST_PORT, OperaService::LOW_LATENCY);
        hosts.Create(32);
    }

    /// The rest, after the helper was told all it is to be told.
    void Install()
    {
        devices = helper.Install(hosts);
        InternetStackHelper internet;
        internet.Install(hosts);
        addresses = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    }

    static std::vector<std::vector<OperaSchedule::Matching>> MakeMatchings()
    {
        std::vector<OperaSchedule::Matching> all(8, OperaSchedule::Matching(8));
        for (uint32_t r = 0; r < 7; ++r)
        {
            all[r][7] = r;
            all[r][r] = 7;
            for (uint32_t i = 1; i <= 3; ++i)
            {
                all[r][(r + i) % 7] = (r + 7 - i) % 7;
                all[r][(r + 7 - i) % 7] = (r + i) % 7;
            }
        }
        for (uint32_t rack = 0; rack < 8; ++rack)
        {
            all[7][rack] = rack;
        }
        std::vector<std::vector<OperaSchedule::Matching>> rotors(4);
        for (uint32_t m = 0; m < 8; ++m)
        {
            rotors[m / 2].push_back(all[m]);
        }
        return rotors;
    }

    OperaHelper helper;
    NodeContainer hosts;
    NetDeviceContainer devices;
    Ipv4InterfaceContainer addresses;
};

/// UDP of a host: sends frames of any size, notes when they arrive, and may answer each with a small one.
class UdpHost
{
  public:
    UdpHost(const EightRacks& net, uint32_t host, uint16_t port, bool isAnswering = false)
        : m_isAnswering(isAnswering),
          m_socket(Socket::CreateSocket(net.hosts.Get(host), UdpSocketFactory::GetTypeId()))
    {
        m_socket->SetAttribute("RcvBufSize", UintegerValue(1'000'000'000));
        m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_socket->SetRecvCallback(MakeCallback(&UdpHost::Receive, this));
    }

    void Send(Ipv4Address to, uint16_t port, uint32_t bytes, uint64_t count = 1)
    {
        for (uint64_t i = 0; i < count; ++i)
        {
            m_socket->SendTo(Create<Packet>(bytes), 0, InetSocketAddress(to, port));
        }
    }

    void Receive(Ptr<Socket> socket)
    {
        Address from;
        while (const Ptr<Packet> packet = socket->RecvFrom(from))
        {
            ++m_count;
            m_last = Simulator::Now().GetPicoSeconds();
            if (m_isAnswering)
            {
                socket->SendTo(Create<Packet>(LEAST), 0, from);
            }
        }
    }

    uint64_t m_count{0};
    int64_t m_last{0}; //!< ps

  private:
    bool m_isAnswering;
    Ptr<Socket> m_socket;
};

} // namespace ns3

#endif /* OPERA_DEVICE_FIXTURE_H */
