// SPDX-License-Identifier: GPL-2.0-only
#include "attributes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include <ns3/data-rate.h>
#include <ns3/nstime.h>
#include <ns3/ptr.h>
#include <ns3/string.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

/// An attribute and the type that declares it, which may be a parent of the one named.
struct Attribute {
    sim::TypeId type;
    std::size_t index;
    sim::TypeId::AttributeInformation information;
};

std::optional<Attribute> find_attribute(sim::TypeId type, std::string_view name) {
    for (;;) {
        for (std::size_t i = 0; i < type.GetAttributeN(); ++i) {
            const auto information = type.GetAttribute(i);
            if (information.name == name) {
                return Attribute{type, i, information};
            }
        }
        if (!type.HasParent() || type.GetParent() == type) {
            return std::nullopt;
        }
        type = type.GetParent();
    }
}

std::pair<std::string, std::string> split(const std::string& name) {
    const auto at = name.rfind("::");
    return at == std::string::npos ? std::pair(std::string(), name)
                                   : std::pair(name.substr(0, at), name.substr(at + 2));
}

/// " did you mean …?" for one of `candidates`, or nothing when none is near: there are hundreds of types.
std::string near(std::string_view word, std::span<const std::string> candidates) {
    return nearest_names(word, candidates).empty() ? "" : "; " + suggest(word, candidates);
}

std::vector<std::string> all_types() {
    std::vector<std::string> names;
    for (std::uint16_t i = 0; i < sim::TypeId::GetRegisteredN(); ++i) {
        names.push_back(sim::TypeId::GetRegistered(i).GetName());
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

/// A decimal number that is all of `text`.
bool is_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

template <std::size_t N>
bool is_number_with_unit(std::string_view text, const std::array<std::string_view, N>& units) {
    const auto unit =
        std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
    const auto at = static_cast<std::size_t>(unit - text.begin());
    return is_number(text.substr(0, at)) &&
           std::find(units.begin(), units.end(), text.substr(at)) != units.end();
}

constexpr std::array<std::string_view, 10> kTimeUnits = {"s",  "ms",  "us", "ns", "ps",
                                                         "fs", "min", "h",  "d",  "y"};
constexpr std::array<std::string_view, 22> kRateUnits = {
    "bps",  "b/s",  "Bps",  "B/s",  "kbps", "kb/s", "Kbps", "Kb/s", "kBps", "kB/s",  "KBps",
    "KB/s", "Mbps", "Mb/s", "MBps", "MB/s", "Gbps", "Gb/s", "GBps", "GB/s", "Kibps", "Mibps"};
constexpr std::array<std::string_view, 8> kQueueUnits = {"p", "B", "kB", "KB", "MB", "kp", "Kp", "Mp"};

/// ns-3's own parsers abort on text they cannot read: what kind of text is expected, or empty when `value` is
/// of it.
std::string expected_text(const sim::TypeId::AttributeInformation& attribute, const std::string& value) {
    // Some checkers of ns-3 name their value with the namespace and some without.
    std::string type = attribute.checker->GetValueTypeName();
    if (type.starts_with("ns3::")) {
        type.erase(0, 5);
    }
    if (type == "TimeValue") {
        return is_number_with_unit(value, kTimeUnits) ? "" : "a time such as '2ms'";
    }
    if (type == "DataRateValue") {
        return is_number_with_unit(value, kRateUnits) ? "" : "a rate such as '10Gbps'";
    }
    if (type == "QueueSizeValue") {
        return is_number_with_unit(value, kQueueUnits) ? "" : "a queue size such as '100p' or '64kB'";
    }
    if (type == "UintegerValue") {
        return is_digits(value) ? "" : "a whole number";
    }
    if (type == "IntegerValue") {
        const std::string_view text(value);
        return is_digits(text.substr(text.starts_with('-') ? 1 : 0)) ? "" : "a whole number";
    }
    if (type == "DoubleValue") {
        return is_number(value) ? "" : "a number";
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
    if (type == "TypeIdValue") {
        sim::TypeId id;
        return sim::TypeId::LookupByNameFailSafe(value, &id) ? "" : "the name of an ns-3 type";
    }
    if (type == "StringValue") {
        return "";
    }
    return "a " + type + ", which cannot be written as text";
}

Attribute require_attribute(const std::string& name) {
    const auto [type_name, attribute_name] = split(name);
    auto attribute = find_attribute(sim::TypeId::LookupByName(type_name), attribute_name);
    ASTROLABE_ASSERT(attribute.has_value(), "an attribute exists before it is set");
    return *attribute;
}

std::string text(Time time) {
    return std::to_string(time.count()) + "ps";
}
std::string text(Bytes size) {
    return std::to_string(size.count());
}

std::string_view socket_type(TcpVariant variant) {
    switch (variant) {
        case TcpVariant::kNewReno:
            return "ns3::TcpNewReno";
        case TcpVariant::kCubic:
            return "ns3::TcpCubic";
        case TcpVariant::kDctcp:
            return "ns3::TcpDctcp";
    }
    invariant_failed("variant", "every variant has a socket type");
}

}  // namespace

void use_picoseconds() {
    if (sim::Time::GetResolution() != sim::Time::PS) {
        sim::Time::SetResolution(sim::Time::PS);
    }
}

std::optional<std::string> attribute_problem(const std::string& name, const std::string& value) {
    use_picoseconds();
    const auto [type_name, attribute_name] = split(name);
    sim::TypeId type;
    if (type_name.empty() || !sim::TypeId::LookupByNameFailSafe(type_name, &type)) {
        return "'" + type_name + "' of '" + name + "' is not an ns-3 type; expected ns3::Type::Attribute" +
               near(type_name, all_types());
    }
    const auto attribute = find_attribute(type, attribute_name);
    if (!attribute) {
        return "'" + attribute_name + "' is not an attribute of " + type_name +
               near(attribute_name, all_attributes(type));
    }
    if ((attribute->information.flags & sim::TypeId::ATTR_CONSTRUCT) == 0) {
        return "'" + name + "' cannot be set when objects are made";
    }
    if (const std::string expected = expected_text(attribute->information, value); !expected.empty()) {
        return "'" + value + "' is not a value for " + name + "; expected " + expected;
    }
    if (attribute->information.checker->CreateValidValue(sim::StringValue(value)) == nullptr) {
        return "'" + value + "' is out of range for " + name + ": " +
               attribute->information.checker->GetUnderlyingTypeInformation();
    }
    return std::nullopt;
}

AttributeList attribute_values(const TcpOptions& options) {
    AttributeList values = {
        {"ns3::TcpL4Protocol::SocketType", std::string(socket_type(options.variant))},
        {"ns3::TcpSocket::SegmentSize", text(options.segment_size())},
        {"ns3::TcpSocket::SndBufSize", text(options.window)},
        {"ns3::TcpSocket::RcvBufSize", text(options.window)},
        {"ns3::TcpSocket::InitialCwnd", std::to_string(options.initial_window)},
        {"ns3::TcpSocket::DelAckCount", std::to_string(options.delayed_ack)},
        {"ns3::TcpSocket::DelAckTimeout", text(options.delayed_ack_timeout)},
        {"ns3::TcpSocket::ConnTimeout", text(options.connect_timeout)},
        {"ns3::TcpSocket::ConnCount", "16"},
        {"ns3::TcpSocket::DataRetries", "32"},
        {"ns3::TcpSocketBase::MinRto", text(options.min_rto)},
        {"ns3::TcpSocketBase::ClockGranularity", "1ns"},
        {"ns3::TcpSocketBase::Timestamp", options.timestamps ? "true" : "false"},
        {"ns3::TcpSocketBase::UseEcn", options.variant == TcpVariant::kDctcp ? "On" : "Off"},
        {"ns3::RttEstimator::InitialEstimation", text(options.min_rto)},
    };
    values.insert(values.end(), options.attributes.begin(), options.attributes.end());
    return values;
}

AttributeDefaults::AttributeDefaults(const AttributeList& values) {
    for (const auto& [name, value] : values) {
        const Attribute attribute = require_attribute(name);
        auto valid = attribute.information.checker->CreateValidValue(sim::StringValue(value));
        ASTROLABE_ASSERT(valid != nullptr, "an attribute value was checked before it is set");
        saved_.push_back({attribute.type, attribute.index, attribute.information.initialValue});
        sim::TypeId type = attribute.type;
        type.SetAttributeInitialValue(attribute.index, valid);
    }
}

AttributeDefaults::~AttributeDefaults() {
    // Backwards, so that an attribute set twice ends with its first value.
    for (auto saved = saved_.rbegin(); saved != saved_.rend(); ++saved) {
        saved->type.SetAttributeInitialValue(saved->index, saved->value);
    }
}

}  // namespace astrolabe::ns3
