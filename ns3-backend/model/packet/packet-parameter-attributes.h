// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_PARAMETER_ATTRIBUTES_H
#define PACKET_PARAMETER_ATTRIBUTES_H

#include "packet-parameter.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/ns3-releases.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ns3
{

/// An attribute of an `Owner` that is a member of the `Parameters` which `reach` finds in it. `Attribute` is
/// ns-3's type of value; the member has another one, which `read` and `write` make of it and into it.
template <class Attribute, class Owner, class Parameters, class Value, class Read, class Write>
class PacketParameterAccessor final : public AttributeAccessor
{
  public:
    using Reach = Parameters& (*)(Owner&);

    PacketParameterAccessor(Reach reach, Value Parameters::*member, Read read, Write write)
        : m_reach(reach),
          m_member(member),
          m_read(read),
          m_write(write)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto* owner = dynamic_cast<Owner*>(object);
        const auto* given = dynamic_cast<const Attribute*>(&value);
        if (owner == nullptr || given == nullptr)
        {
            return false;
        }
        m_reach(*owner).*m_member = m_read(*given);
        return true;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        auto* owner = const_cast<Owner*>(dynamic_cast<const Owner*>(object));
        auto* asked = dynamic_cast<Attribute*>(&value);
        if (owner == nullptr || asked == nullptr)
        {
            return false;
        }
        *asked = m_write(m_reach(*owner).*m_member);
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
    Reach m_reach;
    Value Parameters::*m_member;
    Read m_read;
    Write m_write;
};

/// The visitor of parameters that makes attributes of an `Owner`; their names start with `prefix`, and
/// `reach` finds the parameters in it.
template <class Owner, class Parameters>
class PacketAttributeMaker
{
  public:
    using Reach = Parameters& (*)(Owner&);

    PacketAttributeMaker(TypeId& tid, const std::string& prefix, Reach reach)
        : m_tid(tid),
          m_prefix(prefix),
          m_reach(reach)
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
        const auto checker = Create<NumberedChecker>();
        for (std::size_t i = 0; i < choice.names.size(); ++i)
        {
            checker->Add(static_cast<int>(i), PacketParameterName(choice.names[i].second));
        }
        const auto read = [choice](const NumberedValue& value) {
            return choice.names[static_cast<std::size_t>(value.Get())].first;
        };
        const auto write = [choice](Value value) {
            int index = 0;
            while (choice.names[static_cast<std::size_t>(index)].first != value)
            {
                ++index;
            }
            return NumberedValue(index);
        };
        Add<NumberedValue>(key, member, help, read, write, checker);
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
        m_tid.AddAttribute(m_prefix + PacketParameterName(key),
                           help,
                           write(Parameters{}.*member),
                           Create<PacketParameterAccessor<Attribute, Owner, Parameters, Value, Read, Write>>(
                               m_reach, member, read, write),
                           checker);
    }

    TypeId& m_tid;
    std::string m_prefix;
    Reach m_reach;
};

} // namespace ns3

#endif /* PACKET_PARAMETER_ATTRIBUTES_H */
