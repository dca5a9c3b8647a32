// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/attributes.hpp"

#include <string_view>

#include <ns3/nstime.h>
#include <ns3/ptr.h>
#include <ns3/string.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

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
        {"ns3::TcpSocketState::MaxPacingRate", "1000000Gbps"},
    };
    values.insert(values.end(), options.attributes.begin(), options.attributes.end());
    return values;
}

std::string attribute_value(const TcpOptions& options, const std::string& name) {
    const auto wanted = find_attribute(name);
    ASTROLABE_ASSERT(wanted.has_value(), "the attribute exists");
    const AttributeList values = attribute_values(options);
    for (auto entry = values.rbegin(); entry != values.rend(); ++entry) {
        const auto found = find_attribute(entry->first);
        if (found && found->type == wanted->type && found->index == wanted->index) {
            return entry->second;
        }
    }
    return wanted->information.initialValue->SerializeToString(wanted->information.checker);
}

bool uses_ecn(const TcpOptions& options) {
    // TcpDctcp turns ECN on by itself.
    return attribute_value(options, "ns3::TcpSocketBase::UseEcn") != "Off" ||
           attribute_value(options, "ns3::TcpL4Protocol::SocketType") == "ns3::TcpDctcp";
}

AttributeDefaults::AttributeDefaults(const AttributeList& values) {
    for (const auto& [name, value] : values) {
        const auto attribute = find_attribute(name);
        ASTROLABE_ASSERT(attribute.has_value(), "an attribute exists before it is set");
        auto valid = attribute->information.checker->CreateValidValue(sim::StringValue(value));
        ASTROLABE_ASSERT(valid != nullptr, "an attribute value was checked before it is set");
        saved_.push_back({attribute->type, attribute->index, attribute->information.initialValue});
        sim::TypeId type = attribute->type;
        type.SetAttributeInitialValue(attribute->index, valid);
    }
}

AttributeDefaults::~AttributeDefaults() {
    // Backwards, so that an attribute set twice ends with its first value.
    for (auto saved = saved_.rbegin(); saved != saved_.rend(); ++saved) {
        saved->type.SetAttributeInitialValue(saved->index, saved->value);
    }
}

}  // namespace astrolabe::ns3
