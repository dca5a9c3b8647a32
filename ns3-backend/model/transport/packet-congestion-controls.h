// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_CONGESTION_CONTROLS_H
#define PACKET_CONGESTION_CONTROLS_H

#include "ns3/packet-parameter.h"
#include "packet-congestion-control.h"
#include "packet-dcqcn.h"
#include "packet-dctcp.h"
#include "packet-hpcc.h"
#include "packet-ndp.h"

#include <any>
#include <map>
#include <typeindex>
#include <typeinfo>

namespace ns3
{

/// What congestion controls are set to, by the types of their parameters; those never asked for have the
/// defaults of their type.
class PacketControlParameters
{
  public:
    template <class Parameters>
    Parameters& Get()
    {
        std::any& held = m_parameters[typeid(Parameters)];
        return held.has_value() ? std::any_cast<Parameters&>(held) : held.emplace<Parameters>();
    }

    template <class Parameters>
    const Parameters& Get() const
    {
        static const Parameters usual{};
        const auto held = m_parameters.find(typeid(Parameters));
        return held == m_parameters.end() ? usual : std::any_cast<const Parameters&>(held->second);
    }

  private:
    std::map<std::type_index, std::any> m_parameters;
};

/// Several congestion controls as one type.
template <class... Controls>
struct PacketControlList
{
    /// The name of each.
    static PacketChoice<const PacketControlKind*> GetNames()
    {
        return {{{&Controls::KIND, Controls::KIND.name}...}};
    }

    /// Calls `visit(kind, parameters)` for each, with a struct of default parameters.
    template <class Visitor>
    static void Visit(Visitor&& visit)
    {
        (visit(Controls::KIND, typename Controls::Parameters{}), ...);
    }
};

/// Those of the program: one line here and the include above register another. The attributes of the transport
/// are made from it, and keys of configuration files from it or any other list.
using PacketCongestionControls = PacketControlList<PacketFixedWindow, //
                                                   PacketDctcp,
                                                   PacketDcqcn,
                                                   PacketHpcc,
                                                   PacketNdp>;

} // namespace ns3

#endif /* PACKET_CONGESTION_CONTROLS_H */
