// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_CONGESTION_CONTROLS_H
#define PACKET_CONGESTION_CONTROLS_H

#include "packet-congestion-control.h"
#include "packet-dcqcn.h"
#include "packet-dctcp.h"
#include "packet-hpcc.h"
#include "packet-ndp.h"
#include "packet-parameter.h"

#include <memory>
#include <tuple>

namespace ns3
{

/// Several congestion controls as one type.
template <class... Controls>
struct PacketControlList
{
    /// What each is set to.
    using Parameters = std::tuple<typename Controls::Parameters...>;

    /// The name of each.
    static PacketChoice<const PacketControlKind*> GetNames()
    {
        return {{{&Controls::KIND, Controls::KIND.name}...}};
    }

    static std::unique_ptr<PacketCongestionControl> Make(const PacketControlKind* kind,
                                                         PacketTransportCore& core)
    {
        std::unique_ptr<PacketCongestionControl> made;
        static_cast<void>(
            ((kind == &Controls::KIND && (made = std::make_unique<Controls>(core)) != nullptr) || ...));
        return made;
    }

    /// Calls `visit(kind, parameters)` for each, with a struct of default parameters.
    template <class Visitor>
    static void Visit(Visitor&& visit)
    {
        (visit(Controls::KIND, typename Controls::Parameters{}), ...);
    }
};

/// All of them: one line here and the include above register another.
using PacketCongestionControls = PacketControlList<PacketFixedWindow, //
                                                   PacketDctcp,
                                                   PacketDcqcn,
                                                   PacketHpcc,
                                                   PacketNdp>;

} // namespace ns3

#endif /* PACKET_CONGESTION_CONTROLS_H */
