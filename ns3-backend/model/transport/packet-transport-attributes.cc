// SPDX-License-Identifier: GPL-2.0-only
#include "packet-transport.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

namespace ns3
{

namespace
{

/// The struct that declares a parameter, in the transport.
template <class Parameters>
Parameters&
ParametersOf(PacketTransport& transport)
{
    if constexpr (std::is_same_v<Parameters, PacketTransportParameters>)
    {
        return transport;
    }
    else
    {
        return transport.Get<Parameters>();
    }
}

/// An attribute that is a member of the transport's parameters. `Attribute` is ns-3's type of value; the
/// member has another one, which `read` and `write` make of it and into it.
template <class Attribute, class Parameters, class Value, class Read, class Write>
class MemberAccessor final : public AttributeAccessor
{
  public:
    MemberAccessor(Value Parameters::*member, Read read, Write write)
        : m_member(member),
          m_read(read),
          m_write(write)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto* transport = dynamic_cast<PacketTransport*>(object);
        const auto* given = dynamic_cast<const Attribute*>(&value);
        if (transport == nullptr || given == nullptr)
        {
            return false;
        }
        ParametersOf<Parameters>(*transport).*m_member = m_read(*given);
        return true;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        auto* transport = const_cast<PacketTransport*>(dynamic_cast<const PacketTransport*>(object));
        auto* asked = dynamic_cast<Attribute*>(&value);
        if (transport == nullptr || asked == nullptr)
        {
            return false;
        }
        *asked = m_write(ParametersOf<Parameters>(*transport).*m_member);
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
    Value Parameters::*m_member;
    Read m_read;
    Write m_write;
};

/// The visitor that makes attributes of `Parameters`; their names start with `prefix`.
template <class Parameters>
class AttributeMaker
{
  public:
    AttributeMaker(TypeId& tid, const std::string& prefix)
        : m_tid(tid),
          m_prefix(prefix)
    {
    }

    template <class Value>
    void operator()(const char* key, Value Parameters::*member, const char* help, const PacketCount& range)
    {
        AddUinteger(key, member, help, range.smallest, range.largest);
    }

    template <class Value>
    void operator()(const char* key, Value Parameters::*member, const char* help, const PacketSize& range)
    {
        AddUinteger(key, member, help, range.smallest, range.largest);
    }

    void operator()(const char* key, double Parameters::*member, const char* help, const PacketNumber& range)
    {
        AddPlain<DoubleValue>(key, member, help, MakeDoubleChecker<double>(range.smallest, range.largest));
    }

    void operator()(const char* key, bool Parameters::*member, const char* help, const PacketFlag&)
    {
        AddPlain<BooleanValue>(key, member, help, MakeBooleanChecker());
    }

    void operator()(const char* key, DataRate Parameters::*member, const char* help, const PacketBitRate&)
    {
        AddPlain<DataRateValue>(key, member, help, MakeDataRateChecker()); // ns-3 has none with a range
    }

    void operator()(const char* key,
                    int64_t Parameters::*member,
                    const char* help,
                    const PacketDuration& range)
    {
        const auto timeOf = [](int64_t duration) { return TimeValue(PicoSeconds(duration)); };
        const auto checker = MakeTimeChecker(timeOf(range.smallest).Get(), timeOf(range.largest).Get());
        Add<TimeValue>(
            key,
            member,
            help,
            [](const TimeValue& value) { return value.Get().GetPicoSeconds(); },
            timeOf,
            checker);
    }

    template <class Value>
    void operator()(const char* key,
                    Value Parameters::*member,
                    const char* help,
                    const PacketChoice<Value>& choice)
    {
        const auto checker = Create<EnumChecker>();
        for (std::size_t i = 0; i < choice.names.size(); ++i)
        {
            checker->Add(static_cast<int>(i), PacketParameterName(choice.names[i].second));
        }
        const auto read = [choice](const EnumValue& value) {
            return choice.names[static_cast<std::size_t>(value.Get())].first;
        };
        const auto write = [choice](Value value) {
            int index = 0;
            while (choice.names[static_cast<std::size_t>(index)].first != value)
            {
                ++index;
            }
            return EnumValue(index);
        };
        Add<EnumValue>(key, member, help, read, write, checker);
    }

  private:
    template <class Value>
    void AddUinteger(
        const char* key, Value Parameters::*member, const char* help, uint64_t smallest, uint64_t largest)
    {
        const auto read = [](const UintegerValue& value) { return static_cast<Value>(value.Get()); };
        const auto write = [](Value value) { return UintegerValue(value); };
        const uint64_t bound = std::min<uint64_t>(largest, std::numeric_limits<Value>::max());
        Add<UintegerValue>(key, member, help, read, write, MakeUintegerChecker<uint64_t>(smallest, bound));
    }

    /// A value that ns-3's attribute holds as it is.
    template <class Attribute, class Value>
    void AddPlain(const char* key,
                  Value Parameters::*member,
                  const char* help,
                  Ptr<const AttributeChecker> checker)
    {
        const auto read = [](const Attribute& value) { return value.Get(); };
        const auto write = [](Value value) { return Attribute(value); };
        Add<Attribute>(key, member, help, read, write, checker);
    }

    template <class Attribute, class Value, class Read, class Write>
    void Add(const char* key,
             Value Parameters::*member,
             const char* help,
             Read read,
             Write write,
             Ptr<const AttributeChecker> checker)
    {
        m_tid.AddAttribute(
            m_prefix + PacketParameterName(key),
            help,
            write(Parameters{}.*member),
            Create<MemberAccessor<Attribute, Parameters, Value, Read, Write>>(member, read, write),
            checker);
    }

    TypeId& m_tid;
    std::string m_prefix;
};

} // namespace

void
PacketTransport::AddAttributes(TypeId& tid)
{
    using P = PacketTransportParameters;
    AttributeMaker<P> own(tid, "");
    P::VisitParameters(own);
    own("is_reordered", &P::isReordered, "packets of a queue pair may overtake one another", PacketFlag{});
    own("has_timers", &P::hasTimers, "packets may be lost, so timeouts run", PacketFlag{});
    PacketCongestionControls::Visit([&tid](const PacketControlKind& kind, const auto& parameters) {
        using Parameters = std::decay_t<decltype(parameters)>;
        Parameters::VisitParameters(AttributeMaker<Parameters>(tid, PacketParameterName(kind.name)));
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
