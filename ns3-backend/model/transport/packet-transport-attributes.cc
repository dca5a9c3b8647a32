// SPDX-License-Identifier: GPL-2.0-only
#include "packet-transport.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

namespace ns3
{

namespace
{

using P = PacketTransportParameters;

constexpr double LEAST = std::numeric_limits<double>::min(); // above 0

/// Reaches an `enum class`, which ns-3's own accessor does not.
template <class E>
class EnumMember final : public AttributeAccessor
{
  public:
    explicit EnumMember(E P::*member)
        : m_member(member)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto* parameters = dynamic_cast<P*>(object);
        const auto* chosen = dynamic_cast<const EnumValue*>(&value);
        if (parameters == nullptr || chosen == nullptr)
        {
            return false;
        }
        parameters->*m_member = static_cast<E>(chosen->Get());
        return true;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const auto* parameters = dynamic_cast<const P*>(object);
        auto* chosen = dynamic_cast<EnumValue*>(&value);
        if (parameters == nullptr || chosen == nullptr)
        {
            return false;
        }
        chosen->Set(static_cast<int>(parameters->*m_member));
        return true;
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    E P::*m_member;
};

/// Attributes of the parameters, whose defaults are those of the struct.
class Attributes
{
  public:
    explicit Attributes(TypeId& tid)
        : m_tid(tid)
    {
    }

    template <class Count>
    Attributes& Number(const std::string& name, Count P::*member, const std::string& help, Count least = 1)
    {
        m_tid.AddAttribute(name,
                           help,
                           UintegerValue(m_defaults.*member),
                           MakeUintegerAccessor(member),
                           MakeUintegerChecker<Count>(least));
        return *this;
    }

    Attributes& Share(const std::string& name, double P::*member, const std::string& help, double least)
    {
        m_tid.AddAttribute(name,
                           help,
                           DoubleValue(m_defaults.*member),
                           MakeDoubleAccessor(member),
                           MakeDoubleChecker<double>(least, 1.0));
        return *this;
    }

    Attributes& Duration(const std::string& name, Time P::*member, const std::string& help)
    {
        m_tid.AddAttribute(name,
                           help,
                           TimeValue(m_defaults.*member),
                           MakeTimeAccessor(member),
                           MakeTimeChecker(TimeStep(1)));
        return *this;
    }

    Attributes& Rate(const std::string& name, DataRate P::*member, const std::string& help)
    {
        m_tid.AddAttribute(name,
                           help,
                           DataRateValue(m_defaults.*member),
                           MakeDataRateAccessor(member),
                           MakeDataRateChecker());
        return *this;
    }

    Attributes& Flag(const std::string& name, bool P::*member, const std::string& help)
    {
        m_tid.AddAttribute(name,
                           help,
                           BooleanValue(m_defaults.*member),
                           MakeBooleanAccessor(member),
                           MakeBooleanChecker());
        return *this;
    }

    template <class E>
    Attributes& Choice(const std::string& name,
                       E P::*member,
                       const std::string& help,
                       std::initializer_list<std::pair<E, const char*>> names)
    {
        Ptr<EnumChecker> checker = Create<EnumChecker>();
        for (const auto& [value, text] : names)
        {
            checker->Add(static_cast<int>(value), text);
        }
        m_tid.AddAttribute(name,
                           help,
                           EnumValue(static_cast<int>(m_defaults.*member)),
                           Create<EnumMember<E>>(member),
                           checker);
        return *this;
    }

  private:
    TypeId& m_tid;
    const P m_defaults;
};

} // namespace

void
PacketTransport::AddAttributes(TypeId& tid)
{
    using Control = PacketCongestionControl;
    // clang-format off
    Attributes(tid)
        .Number("Mtu", &P::mtu, "payload of a full packet, bytes")
        .Number("Header", &P::header, "of a data packet on the wire beside its payload, bytes")
        .Number("AckSize", &P::ackSize, "of an acknowledgement on the wire, bytes")
        .Number("Window", &P::window, "most payload of a queue pair that is not acknowledged, bytes")
        .Number("AckEvery", &P::ackEvery, "packets per acknowledgement")
        .Choice("Connections", &P::connections, "which messages share a queue pair",
                {{PacketConnections::PER_PAIR, "PerPair"}, {PacketConnections::PER_MESSAGE, "PerMessage"}})
        .Flag("Handshake", &P::handshake, "a queue pair begins with a packet without payload, alone")
        .Choice("HostQueue", &P::hostQueue, "where packets wait for the host's link",
                {{PacketHostQueue::ON_DEMAND, "OnDemand"}, {PacketHostQueue::FIFO, "Fifo"}})
        .Choice("CongestionControl", &P::congestionControl, "how window and rate adapt",
                {{Control::NONE, "None"},
                 {Control::DCTCP, "Dctcp"},
                 {Control::DCQCN, "Dcqcn"},
                 {Control::HPCC, "Hpcc"},
                 {Control::NDP, "Ndp"}})
        .Choice("Recovery", &P::recovery, "what is sent again when a packet is missing",
                {{PacketRecovery::GO_BACK_N, "GoBackN"}, {PacketRecovery::SELECTIVE, "Selective"}})
        .Flag("IsReordered", &P::isReordered, "packets of a queue pair may overtake one another")
        .Number("ReorderTolerance", &P::reorderTolerance, "packets that can overtake one that is not lost")
        .Flag("HasTimers", &P::hasTimers, "packets may be lost, so timeouts run")
        .Duration("Timeout", &P::timeout, "without an acknowledgement before packets are sent again")
        .Number("MaxBackoff", &P::maxBackoff, "a timeout doubles each time, to so many times the first")
        .Number("RetryLimit", &P::retryLimit, "timeouts in a row before a queue pair gives up")
        .Flag("EstimatesRtt", &P::estimatesRtt, "the timeout follows measured round-trip times")
        .Duration("MinTimeout", &P::minTimeout, "least timeout that is estimated")
        .Number("InitialWindow", &P::initialWindow, "DCTCP: packets")
        .Number("SlowStartThreshold", &P::slowStartThreshold, "DCTCP: packets")
        .Share("DctcpGain", &P::dctcpGain, "DCTCP: g", LEAST)
        .Share("DcqcnGain", &P::dcqcnGain, "DCQCN: g", LEAST)
        .Duration("DcqcnNotifyInterval", &P::dcqcnNotifyInterval, "DCQCN: N, between notifications")
        .Duration("DcqcnAlphaInterval", &P::dcqcnAlphaInterval, "DCQCN: K, between updates of alpha")
        .Duration("DcqcnIncreaseInterval", &P::dcqcnIncreaseInterval, "DCQCN: T, between steps of increase")
        .Number("DcqcnIncreaseBytes", &P::dcqcnIncreaseBytes, "DCQCN: B, between steps of increase, bytes")
        .Number("DcqcnFastRecovery", &P::dcqcnFastRecovery, "DCQCN: F, steps")
        .Rate("DcqcnAdditiveIncrease", &P::dcqcnAdditiveIncrease, "DCQCN: R_AI")
        .Rate("DcqcnHyperIncrease", &P::dcqcnHyperIncrease, "DCQCN: R_HAI")
        .Rate("DcqcnMinRate", &P::dcqcnMinRate, "DCQCN: least rate")
        .Flag("DcqcnClampTarget", &P::dcqcnClampTarget, "DCQCN: every cut lowers the target rate")
        .Duration("HpccBaseRtt", &P::hpccBaseRtt, "HPCC: T, round-trip time without queues")
        .Share("HpccUtilization", &P::hpccUtilization, "HPCC: eta", LEAST)
        .Number("HpccMaxStage", &P::hpccMaxStage, "HPCC: additive steps in a row", 0U)
        .Number("HpccAdditiveIncrease", &P::hpccAdditiveIncrease, "HPCC: W_AI, bytes", uint64_t{0})
        .Number("NdpInitialWindow", &P::ndpInitialWindow, "NDP: packets sent before the first pull")
        .Share("NdpPullRate", &P::ndpPullRate, "NDP: pulls, as a share of the link's rate", 0.001)
        .Choice("NdpPullPacing", &P::ndpPullPacing, "NDP: what shares the pace of pulls",
                {{PacketPullPacing::PER_HOST, "PerHost"}, {PacketPullPacing::PER_PAIR, "PerPair"}});
    // clang-format on
}

void
PacketTransport::AddTraceSources(TypeId& tid)
{
    using T = PacketTransport;
    tid.AddTraceSource("Sent",
                       "a message has been handed over",
                       MakeTraceSourceAccessor(&T::m_sent),
                       "ns3::PacketTransport::MessageTracedCallback")
        .AddTraceSource("Delivered",
                        "a message has arrived; the time since it was handed over",
                        MakeTraceSourceAccessor(&T::m_delivered),
                        "ns3::PacketTransport::DeliveredTracedCallback")
        .AddTraceSource("Acknowledged",
                        "the sender knows that a message has arrived; the time since it was handed over",
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
                        "packets that may be under way, when that changes",
                        MakeTraceSourceAccessor(&T::m_window),
                        "ns3::PacketTransport::CountTracedCallback")
        .AddTraceSource("Rate",
                        "DCQCN: the rate after a notification",
                        MakeTraceSourceAccessor(&T::m_rate),
                        "ns3::PacketTransport::RateTracedCallback")
        .AddTraceSource("Notification",
                        "DCQCN: the sender has been told of congestion",
                        MakeTraceSourceAccessor(&T::m_notification),
                        "ns3::PacketTransport::PairTracedCallback");
}

} // namespace ns3
