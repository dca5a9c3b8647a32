// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/attributes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <span>
#include <string_view>

#include <ns3/data-rate.h>
#include <ns3/integer.h>
#include <ns3/nstime.h>
#include <ns3/string.h>
#include <ns3/uinteger.h>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

/// Of these, or of heirs of these, the backend makes objects; attributes of other types would do nothing.
constexpr std::array<std::string_view, 12> kMadeTypes = {
    "ns3::TcpSocket",      "ns3::TcpSocketState",      "ns3::TcpL4Protocol", "ns3::TcpCongestionOps",
    "ns3::TcpRecoveryOps", "ns3::RttEstimator",        "ns3::Ipv4",          "ns3::PointToPointNetDevice",
    "ns3::FabricQueue",    "ns3::PointToPointChannel", "ns3::OperaFabric",   "ns3::OperaClassifier"};
constexpr std::string_view kMadeDemux = "ns3::TcpPeerDemux";

/// What is given to each object by itself, so that a default would do nothing, and where it comes from.
struct Replaced {
    std::string_view type;
    std::string_view attribute;
    std::string_view by;
};
constexpr std::array<Replaced, 9> kReplaced = {{
    {"ns3::PointToPointNetDevice", "DataRate", "the rate of the network's links"},
    {"ns3::PointToPointNetDevice", "Mtu", "the backend's key 'mtu'"},
    {"ns3::PointToPointChannel", "Delay", "the latency of the network's links"},
    {"ns3::FabricQueue", "ByteLimit", "the network's 'switch_buffer'"},
    {"ns3::FabricQueue", "MarkThreshold", "the backend's key 'ecn_threshold'"},
    {"ns3::OperaFabric", "Classifier", "the network's services"},
    {"ns3::OperaClassifier", "Cutoff", "the network's 'low_latency.cutoff'"},
    {"ns3::DropTailQueue<Packet>", "MaxSize", "the network's 'switch_buffer'"},
    {"ns3::QueueDisc", "Quota", "nothing: there are no queue disciplines"},
}};

/// Values that ns-3 takes, and with which it then crashes, loops without end or never sends: what is allowed
/// instead. Times in seconds, rates in bit/s.
struct Bounds {
    std::string_view type;
    std::string_view attribute;
    double least;
    double most;
};
constexpr double kMillion = 1e6;
constexpr double kShortest = 1e-6;
constexpr double kLongest = 60;  // ns-3 waits no longer for a retransmission
constexpr std::array<Bounds, 20> kBounds = {{
    {"ns3::TcpSocket", "SndBufSize", 64, 1 << 30},
    {"ns3::TcpSocket", "RcvBufSize", 1, 1 << 30},  // 65535 scaled by 14 bits (RFC 7323, section 2.3)
    {"ns3::TcpSocket", "SegmentSize", 64, 65'495},
    {"ns3::TcpSocket", "InitialCwnd", 1, kMillion},
    {"ns3::TcpSocket", "ConnTimeout", kShortest, kLongest},
    {"ns3::TcpSocket", "ConnCount", 1, 16},  // 60 s doubled 16 times still fit the clock
    {"ns3::TcpSocket", "DataRetries", 1, kMillion},
    {"ns3::TcpSocket", "DelAckCount", 1, 64},
    {"ns3::TcpSocket", "DelAckTimeout", kShortest, kLongest},
    {"ns3::TcpSocket", "PersistTimeout", kShortest, kLongest},
    {"ns3::TcpSocketBase", "MinRto", kShortest, kLongest},
    {"ns3::RttEstimator", "InitialEstimation", kShortest, kLongest},
    {"ns3::TcpSocketState", "MaxPacingRate", kMillion, 1e15},
    {"ns3::TcpSocketState", "PacingSsRatio", 1, 65'535},
    {"ns3::TcpSocketState", "PacingCaRatio", 1, 65'535},
    {"ns3::TcpBbr", "HighGain", 1, 100},
    {"ns3::TcpLedbat", "NoiseFilterLen", 1, kMillion},
    {"ns3::TcpLedbat", "BaseHistoryLen", 1, kMillion},
    {"ns3::Ipv4L3Protocol", "DefaultTtl", 1, 255},
    {"ns3::PointToPointNetDevice", "InterframeGap", 0, 1e-3},
}};
/// Of every other time.
constexpr double kLongestTime = 1000;

std::pair<std::string, std::string> split(const std::string& name) {
    const auto at = name.rfind("::");
    return at == std::string::npos ? std::pair(std::string(), name)
                                   : std::pair(name.substr(0, at), name.substr(at + 2));
}

/// " did you mean …?" for one of `candidates`, or nothing when none is near: there are hundreds of types.
std::string near(std::string_view word, std::span<const std::string> candidates) {
    return nearest_names(word, candidates).empty() ? "" : "; " + suggest(word, candidates);
}

bool is_made(sim::TypeId type) {
    if (type.GetName() == kMadeDemux) {
        return true;
    }
    return std::any_of(kMadeTypes.begin(), kMadeTypes.end(), [type](std::string_view name) {
        const auto made = sim::TypeId::LookupByName(std::string(name));
        return type == made || type.IsChildOf(made);
    });
}

std::vector<std::string> made_types() {
    std::vector<std::string> names;
    for (std::uint16_t i = 0; i < sim::TypeId::GetRegisteredN(); ++i) {
        if (const sim::TypeId type = sim::TypeId::GetRegistered(i); is_made(type)) {
            names.push_back(type.GetName());
        }
    }
    return names;
}

std::vector<std::string> all_attributes(sim::TypeId type) {
    std::vector<std::string> names;
    for (;;) {
        for (std::size_t i = 0; i < type.GetAttributeN(); ++i) {
            names.push_back(type.GetAttribute(i).name);
        }
        if (!type.HasParent() || type.GetParent() == type) {
            return names;
        }
        type = type.GetParent();
    }
}

bool is_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// A finite decimal number that is all of `text`.
std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && value - value == 0 ? std::optional(value) : std::nullopt;
}

using Unit = std::pair<std::string_view, double>;

std::optional<double> number_with_unit(std::string_view text, std::span<const Unit> units) {
    const auto begin =
        std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
    const auto at = static_cast<std::size_t>(begin - text.begin());
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [&](const Unit& known) { return known.first == text.substr(at); });
    const auto value = number(text.substr(0, at));
    return value && unit != units.end() ? std::optional(*value * unit->second) : std::nullopt;
}

constexpr std::array<Unit, 9> kTimeUnits = {{{"s", 1},
                                             {"ms", 1e-3},
                                             {"us", 1e-6},
                                             {"ns", 1e-9},
                                             {"ps", 1e-12},
                                             {"fs", 1e-15},
                                             {"min", 60},
                                             {"h", 3600},
                                             {"d", 86'400}}};
constexpr std::array<Unit, 12> kRateUnits = {{{"bps", 1},
                                              {"b/s", 1},
                                              {"kbps", 1e3},
                                              {"kb/s", 1e3},
                                              {"Kbps", 1e3},
                                              {"Kb/s", 1e3},
                                              {"Mbps", 1e6},
                                              {"Mb/s", 1e6},
                                              {"Gbps", 1e9},
                                              {"Gb/s", 1e9},
                                              {"GBps", 8e9},
                                              {"GB/s", 8e9}}};

/// ns-3's own parsers abort on text they cannot read: what kind of text is expected, or empty when `value` is
/// of it. `size` becomes the value of what has one.
std::string expected_text(const sim::TypeId::AttributeInformation& attribute, const std::string& value,
                          std::optional<double>& size, std::string_view type) {
    if (type == "TimeValue") {
        size = number_with_unit(value, kTimeUnits);
        return size ? "" : "a time such as '2ms'";
    }
    if (type == "DataRateValue") {
        size = number_with_unit(value, kRateUnits);
        return size ? "" : "a rate such as '10Gbps'";
    }
    if (type == "UintegerValue" || type == "IntegerValue") {
        const std::string_view text(value);
        const bool sign = type == "IntegerValue" && text.starts_with('-');
        size = number(text);
        return is_digits(text.substr(sign ? 1 : 0)) ? "" : "a whole number";
    }
    if (type == "DoubleValue") {
        size = number(value);
        return size ? "" : "a number";
    }
    if (type == "BooleanValue") {
        return value == "true" || value == "false" ? "" : "true or false";
    }
    if (type == "EnumValue") {
        const std::string choices = attribute.checker->GetUnderlyingTypeInformation();
        for (std::size_t begin = 0; begin <= choices.size();) {
            const std::size_t end = std::min(choices.find('|', begin), choices.size());
            if (choices.compare(begin, end - begin, value) == 0) {
                return "";
            }
            begin = end + 1;
        }
        return "one of " + choices;
    }
    return "a " + std::string(type) + ", which cannot be written as text";
}

/// Attributes that name a type: ns-3 makes an object of it and crashes when it cannot stand in for `base`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTypeAttributes = {
    {{"SocketType", "ns3::TcpCongestionOps"},
     {"RecoveryType", "ns3::TcpRecoveryOps"},
     {"RttEstimatorType", "ns3::RttEstimator"}}};

std::optional<std::string> type_problem(std::string_view attribute, const std::string& name,
                                        const std::string& value) {
    const auto known = std::find_if(kTypeAttributes.begin(), kTypeAttributes.end(),
                                    [attribute](const auto& entry) { return entry.first == attribute; });
    if (known == kTypeAttributes.end()) {
        return "'" + name + "' names a type, and none is known to fit";
    }
    const auto base = sim::TypeId::LookupByName(std::string(known->second));
    std::vector<std::string> choices;
    for (std::uint16_t i = 0; i < sim::TypeId::GetRegisteredN(); ++i) {
        const sim::TypeId type = sim::TypeId::GetRegistered(i);
        if (type.IsChildOf(base) && type.HasConstructor()) {
            choices.push_back(type.GetName());
        }
    }
    if (known->first == "SocketType") {
        choices.emplace_back("ns3::TcpCubic");  // ns-3 3.37 declares it an heir of TcpSocketBase
    }
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
        return std::nullopt;
    }
    return "'" + value + "' is not a value for " + name + "; expected the name of an ns-3 type that is a " +
           base.GetName() + near(value, choices);
}

std::string range_problem(const std::string& value, const std::string& name, double least, double most,
                          std::string_view unit) {
    const auto text = [](double bound) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bound).ptr;
        return std::string(digits.data(), end);
    };
    return "'" + value + "' is out of range for " + name + ": " + text(least) + " to " + text(most) +
           std::string(unit);
}

}  // namespace

std::optional<Attribute> find_attribute(const std::string& name) {
    const auto [type_name, attribute_name] = split(name);
    sim::TypeId type;
    if (type_name.empty() || !sim::TypeId::LookupByNameFailSafe(type_name, &type)) {
        return std::nullopt;
    }
    for (;;) {
        for (std::size_t i = 0; i < type.GetAttributeN(); ++i) {
            const auto information = type.GetAttribute(i);
            if (information.name == attribute_name) {
                return Attribute{type, i, information};
            }
        }
        if (!type.HasParent() || type.GetParent() == type) {
            return std::nullopt;
        }
        type = type.GetParent();
    }
}

std::optional<std::string> attribute_problem(const std::string& name, const std::string& value) {
    use_picoseconds();
    const auto [type_name, attribute_name] = split(name);
    sim::TypeId type;
    if (type_name.empty() || !sim::TypeId::LookupByNameFailSafe(type_name, &type)) {
        return "'" + type_name + "' of '" + name + "' is not an ns-3 type; expected ns3::Type::Attribute" +
               near(type_name, made_types());
    }
    const auto attribute = find_attribute(name);
    if (!attribute) {
        return "'" + attribute_name + "' is not an attribute of " + type_name +
               near(attribute_name, all_attributes(type));
    }
    for (const Replaced& replaced : kReplaced) {
        if (attribute->type.GetName() == replaced.type && attribute_name == replaced.attribute) {
            return "'" + name + "' would do nothing: it is replaced by " + std::string(replaced.by);
        }
    }
    if (!is_made(type)) {
        return "'" + name + "' would do nothing: no " + type_name + " takes part in the simulation";
    }
    const auto& information = attribute->information;
    if ((information.flags & sim::TypeId::ATTR_CONSTRUCT) == 0) {
        return "'" + name + "' cannot be set when objects are made";
    }
    // Some checkers of ns-3 name their value with the namespace and some without.
    std::string value_type = information.checker->GetValueTypeName();
    if (value_type.starts_with("ns3::")) {
        value_type.erase(0, 5);
    }
    if (value_type == "TypeIdValue") {
        return type_problem(attribute_name, name, value);
    }
    std::optional<double> size;
    if (const std::string expected = expected_text(information, value, size, value_type); !expected.empty()) {
        return "'" + value + "' is not a value for " + name + "; expected " + expected;
    }
    for (const Bounds& bounds : kBounds) {
        if (attribute->type.GetName() == bounds.type && attribute_name == bounds.attribute &&
            !(size >= bounds.least && size <= bounds.most)) {
            return range_problem(value, name, bounds.least, bounds.most,
                                 value_type == "TimeValue"       ? " s"
                                 : value_type == "DataRateValue" ? " bit/s"
                                                                 : "");
        }
    }
    if (value_type == "TimeValue" && !(size >= 0.0 && size <= kLongestTime)) {
        return range_problem(value, name, 0, kLongestTime, " s");
    }
    if (information.checker->CreateValidValue(sim::StringValue(value)) == nullptr) {
        return "'" + value + "' is out of range for " + name + ": " +
               information.checker->GetUnderlyingTypeInformation();
    }
    return std::nullopt;
}

}  // namespace astrolabe::ns3
