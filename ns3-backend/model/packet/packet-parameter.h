// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_PARAMETER_H
#define PACKET_PARAMETER_H

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * What a parameter is beside its name, member and help. A struct of parameters declares each once:
 *
 *     struct Example
 *     {
 *         int64_t interval{1'000'000}; // ps
 *
 *         template <class Visitor>
 *         static void VisitParameters(Visitor&& visit)
 *         {
 *             visit("interval", &Example::interval, "between two polls", PacketDuration{1'000, 2'000'000});
 *         }
 *     };
 *
 * A visitor is called with (key, pointer to member, help, one of the kinds below) for each, in order. From
 * these come the ns-3 attributes (`PacketParameterName`: "interval" is the attribute "Interval"), the keys of
 * a configuration file with their ranges, and comparisons. Defaults are those of the struct; ranges include
 * both ends.
 */
struct PacketCount
{
    uint64_t smallest;
    uint64_t largest;
};

/// Has no upper end: all that the type can hold.
constexpr uint64_t PACKET_UNBOUNDED = std::numeric_limits<uint64_t>::max();

/// Bytes.
struct PacketSize
{
    uint64_t smallest;
    uint64_t largest;
};

/// Picoseconds.
struct PacketDuration
{
    int64_t smallest;
    int64_t largest;
};

/// Bits per second.
struct PacketBitRate
{
    uint64_t smallest;
    uint64_t largest;
};

/// A number, mostly a share.
struct PacketNumber
{
    double smallest;
    double largest;
};

/// As the lower end of a range: 0 itself is not part of it.
constexpr double PACKET_ABOVE_ZERO = std::numeric_limits<double>::min();

/// True or false.
struct PacketFlag
{
};

/// One of several values, each with its name.
template <class Value>
struct PacketChoice
{
    std::vector<std::pair<Value, std::string>> names;
};

/// The name of an attribute, or of one of its values, from a key: "go_back_n" is "GoBackN".
inline std::string
PacketParameterName(const std::string& key)
{
    std::string name;
    bool isStart = true;
    for (const char letter : key)
    {
        if (letter != '_')
        {
            name +=
                isStart && letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
        }
        isStart = letter == '_';
    }
    return name;
}

/// Whether all parameters of two structs are equal.
template <class Parameters>
bool
ArePacketParametersEqual(const Parameters& a, const Parameters& b)
{
    bool isEqual = true;
    Parameters::VisitParameters([&](const char*, auto member, const char*, const auto&) {
        isEqual = isEqual && a.*member == b.*member;
    });
    return isEqual;
}

} // namespace ns3

#endif /* PACKET_PARAMETER_H */
