// SPDX-License-Identifier: GPL-2.0-only
#ifndef NS3_RELEASES_H
#define NS3_RELEASES_H

#include "ns3/attribute-accessor-helper.h"
#include "ns3/enum.h"
#include "ns3/ipv4-routing-protocol.h"

#include <cstddef>
#include <tuple>
#include <type_traits>

/// Everything in which the releases of ns-3 differ that this module builds with, and nothing else of the module
/// knows of a release. ns-3 defines no macro with its version, so each difference is found from what the
/// release declares. Tested: see "Releases of ns-3" in doc/astrolabe.rst.
namespace ns3
{

// Enumerations as attributes: EnumValue and EnumChecker are classes of an int in older releases, and templates
// of the type of the enumeration in later ones, whose accessors need that type.

/// A value of an attribute that is one of several, by number.
using NumberedValue = decltype(EnumValue(0));

template <class Checker>
Checker* FindNumberedChecker();
template <template <class> class Checker>
Checker<int>* FindNumberedChecker();
/// The checker that names the numbers.
using NumberedChecker = std::remove_pointer_t<decltype(FindNumberedChecker<EnumChecker>())>;

template <class Enumeration, class Member>
auto
MakeAccessorOfEnumeration(Member member, int) -> decltype(MakeEnumAccessor<Enumeration>(member))
{
    return MakeEnumAccessor<Enumeration>(member);
}

template <class Enumeration, class Member>
auto
MakeAccessorOfEnumeration(Member member, long)
{
    return MakeEnumAccessor(member);
}

/// Of a member that is an enumeration.
template <class Owner, class Enumeration>
Ptr<const AttributeAccessor>
MakeMemberEnumAccessor(Enumeration Owner::*member)
{
    return MakeAccessorOfEnumeration<Enumeration>(member, 0);
}

// Routing: Ipv4RoutingProtocol::RouteInput takes callbacks by value, or by reference to const.

template <class Function>
struct MemberFunction;

template <class Result, class Owner, class... Arguments>
struct MemberFunction<Result (Owner::*)(Arguments...)>
{
    template <std::size_t number>
    using Argument = std::tuple_element_t<number, std::tuple<Arguments...>>;
};

using RouteInputFunction = MemberFunction<decltype(&Ipv4RoutingProtocol::RouteInput)>;
using RouteInputUnicast = RouteInputFunction::Argument<3>;
using RouteInputMulticast = RouteInputFunction::Argument<4>;
using RouteInputLocal = RouteInputFunction::Argument<5>;
using RouteInputError = RouteInputFunction::Argument<6>;

} // namespace ns3

#endif /* NS3_RELEASES_H */
