// SPDX-License-Identifier: GPL-2.0-only
#include <ns3/applications-module.h>
#include <ns3/astrolabe-module.h>
#include <ns3/core-module.h>
#include <ns3/flow-monitor-module.h>
#include <ns3/internet-module.h>
using namespace ns3;
int
main()
{
    Time::SetResolution(Time::PS);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1430));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(1)));
    NodeContainer hosts;
    hosts.Create(32);
    OperaHelper opera;
    opera.SetSize(8, 4);
    opera.SetRates(DataRate("10Gbps"), DataRate("10Gbps"));
    opera.SetPortService(9, OperaService::BULK);
    NetDeviceContainer devices = opera.Install(hosts);
    InternetStackHelper internet;
    internet.Install(hosts);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    opera.GetFabric()->FailRotor(1, MilliSeconds(2));
    for (uint16_t port : {9, 10})
    {
        InetSocketAddress to(interfaces.GetAddress(31), port);
        BulkSendHelper("ns3::TcpSocketFactory", to).Install(hosts.Get(0)).Start(Seconds(0));
        PacketSinkHelper("ns3::TcpSocketFactory", to).Install(hosts.Get(31)).Start(Seconds(0));
    }
    FlowMonitorHelper monitors;
    Ptr<FlowMonitor> monitor = monitors.InstallAll();
    opera.EnablePcap("scenario", devices.Get(0));
    Simulator::Stop(MilliSeconds(5));
    Simulator::Run();
    for (auto& [id, flow] : monitor->GetFlowStats())
        std::cout << id << " " << flow.rxBytes << " bytes\n";
    std::cout << opera.GetFabric()->GetCounters().lost << " frames lost\n";
    Simulator::Destroy();
}
