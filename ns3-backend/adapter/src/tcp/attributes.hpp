// SPDX-License-Identifier: GPL-2.0-only
/// ns-3 attributes by name, set as defaults for everything made later, and put back afterwards.
#pragma once

#include "tcp/tcp_options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ns3/attribute.h>
#include <ns3/type-id.h>

namespace astrolabe::ns3 {

using AttributeList = std::vector<std::pair<std::string, std::string>>;

/// ns-3 counts time in picoseconds from here on. Must come before anything makes an ns-3 time; does nothing
/// again.
void use_picoseconds();

/// An attribute and the type that declares it, which may be a parent of the one named.
struct Attribute {
    ::ns3::TypeId type;
    std::size_t index;
    ::ns3::TypeId::AttributeInformation information;
};

/// "ns3::Type::Attribute", or none if there is no such type or attribute.
[[nodiscard]] std::optional<Attribute> find_attribute(const std::string& name);

/// The attribute values that `options` stand for, overrides last.
[[nodiscard]] AttributeList attribute_values(const TcpOptions& options);

/// What objects made under `options` get for the attribute.
[[nodiscard]] std::string attribute_value(const TcpOptions& options, const std::string& name);

/// Whether connections react to marks, by the variant or by an override.
[[nodiscard]] bool uses_ecn(const TcpOptions& options);

/// While it lives, ns-3 objects are made with these values.
class AttributeDefaults {
public:
    /// Each must have no attribute_problem.
    explicit AttributeDefaults(const AttributeList& values);
    ~AttributeDefaults();
    AttributeDefaults(const AttributeDefaults&) = delete;
    AttributeDefaults& operator=(const AttributeDefaults&) = delete;

private:
    struct Saved {
        ::ns3::TypeId type;
        std::size_t index;
        ::ns3::Ptr<const ::ns3::AttributeValue> value;
    };
    std::vector<Saved> saved_;
};

}  // namespace astrolabe::ns3
