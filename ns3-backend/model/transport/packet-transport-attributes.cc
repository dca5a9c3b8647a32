// SPDX-License-Identifier: GPL-2.0-only
#include "packet-transport.h"

#include "ns3/packet-parameter-attributes.h"
#include "ns3/trace-source-accessor.h"

#include <type_traits>

namespace ns3
{

void
PacketTransport::AddAttributes(TypeId& tid)
{
    using P = PacketTransportParameters;
    PacketAttributeMaker<PacketTransport, P> own(
        tid, "", [](PacketTransport& transport) -> P& { return transport; });
    P::VisitParameters(own);
    own("is_reordered", &P::isReordered, "packets of a queue pair may overtake one another", PacketFlag{});
    own("has_timers", &P::hasTimers, "packets may be lost, so timeouts run", PacketFlag{});
    PacketCongestionControls::Visit([&tid](const PacketControlKind& kind, const auto& parameters) {
        using Parameters = std::decay_t<decltype(parameters)>;
        Parameters::VisitParameters(PacketAttributeMaker<PacketTransport, Parameters>(
            tid, PacketParameterName(kind.name), [](PacketTransport& transport) -> Parameters& {
                return transport.Get<Parameters>();
            }));
    });
}

void
PacketTransport::AddTraceSources(TypeId& tid)
{
    using T = PacketTransport;
    tid.AddTraceSource("Sent",
                       "a message has been sent",
                       MakeTraceSourceAccessor(&T::m_sent),
                       "ns3::PacketTransport::MessageTracedCallback")
        .AddTraceSource("Delivered",
                        "a message has arrived; the time since it was sent",
                        MakeTraceSourceAccessor(&T::m_delivered),
                        "ns3::PacketTransport::DeliveredTracedCallback")
        .AddTraceSource("Received",
                        "a packet has arrived that had not before: host, bytes of its message, when (ps)",
                        MakeTraceSourceAccessor(&T::m_received),
                        "ns3::PacketTransport::ReceivedTracedCallback")
        .AddTraceSource("Acknowledged",
                        "a message is acknowledged; the time since it was sent",
                        MakeTraceSourceAccessor(&T::m_acknowledged),
                        "ns3::PacketTransport::DeliveredTracedCallback")
        .AddTraceSource("Retransmission",
                        "a packet is sent again",
                        MakeTraceSourceAccessor(&T::m_retransmission),
                        "ns3::PacketTransport::PacketTracedCallback")
        .AddTraceSource("Timeout",
                        "nothing was acknowledged in time; how many times in a row",
                        MakeTraceSourceAccessor(&T::m_timeout),
                        "ns3::PacketTransport::CountTracedCallback")
        .AddTraceSource("GivenUp",
                        "too many timeouts in a row",
                        MakeTraceSourceAccessor(&T::m_givenUp),
                        "ns3::PacketTransport::PairTracedCallback")
        .AddTraceSource("Window",
                        "packets that may be in flight, when that changes",
                        MakeTraceSourceAccessor(&T::m_window),
                        "ns3::PacketTransport::CountTracedCallback")
        .AddTraceSource("Rate",
                        "DCQCN: the rate after a notification",
                        MakeTraceSourceAccessor(&T::m_rate),
                        "ns3::PacketTransport::RateTracedCallback")
        .AddTraceSource("Notification",
                        "DCQCN: the sender has been notified of congestion",
                        MakeTraceSourceAccessor(&T::m_notification),
                        "ns3::PacketTransport::PairTracedCallback");
}

} // namespace ns3
