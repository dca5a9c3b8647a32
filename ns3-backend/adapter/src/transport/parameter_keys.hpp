// SPDX-License-Identifier: GPL-2.0-only
/// Keys of a schema from parameters that the module declares
/// (ns3-backend/model/packet/packet-parameter.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <ns3/data-rate.h>
#include <ns3/packet-parameter.h>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

/// The visitor of parameters that adds them to the schema of a `Target`; `reach` finds them in it.
template <class Target, class Parameters>
class KeyMaker {
public:
    using Reach = Parameters& (*)(Target&);

    KeyMaker(Schema<Target>& schema, Reach reach)
        : schema_(schema),
          reach_(reach) {}

    template <class Value>
    void operator()(const char* key, Value Parameters::*member, const char* help,
                    const sim::PacketCount& range) {
        scalar<Value>(key, member, help,
                      {static_cast<Value>(range.smallest), static_cast<Value>(range.largest)});
    }
    template <class Value>
    void operator()(const char* key, Value Parameters::*member, const char* help,
                    const sim::PacketSize& range) {
        Range<Bytes> sizes{Bytes(static_cast<std::int64_t>(range.smallest)), {}};
        if (range.largest != sim::PACKET_UNBOUNDED) {
            sizes.max = Bytes(static_cast<std::int64_t>(range.largest));
        }
        scalar<Bytes>(key, member, help, sizes);
    }
    void operator()(const char* key, std::int64_t Parameters::*member, const char* help,
                    const sim::PacketDuration& range) {
        scalar<Time>(key, member, help, {Time(range.smallest), Time(range.largest)});
    }
    void operator()(const char* key, sim::DataRate Parameters::*member, const char* help,
                    const sim::PacketBitRate& range) {
        scalar<Bandwidth>(key, member, help,
                          {Bandwidth(static_cast<std::int64_t>(range.smallest)),
                           Bandwidth(static_cast<std::int64_t>(range.largest))});
    }
    void operator()(const char* key, bool Parameters::*member, const char* help, const sim::PacketFlag&) {
        scalar<bool>(key, member, help, {});
    }
    void operator()(const char* key, double Parameters::*member, const char* help,
                    const sim::PacketNumber& range) {
        if (range.smallest != sim::PACKET_ABOVE_ZERO) {
            scalar<double>(key, member, help, {range.smallest, range.largest});
            return;
        }
        const std::string expected = "more than 0 and at most " + ValueTraits<double>::format(range.largest);
        add<double>(key, member, help, expected, [=](const ConfigNode& node, ReadContext& context) {
            std::optional<double> value = read_scalar<double>(node, quoted(key), context);
            if (value && !(*value > 0 && *value <= range.largest)) {
                context.error("config.range", node.where,
                              quoted(key) + " is " + node.text + ", expected " + expected,
                              "choose " + expected);
                value.reset();
            }
            return value;
        });
    }
    template <class Value>
    void operator()(const char* key, Value Parameters::*member, const char* help,
                    const sim::PacketChoice<Value>& choice) {
        std::vector<std::string> names;
        std::string type;
        for (const auto& [value, name] : choice.names) {
            names.push_back(name);
            type += (type.empty() ? "one of " : ", ") + name;
        }
        const auto name_of = [choice](Value value) {
            const auto named = [value](const auto& entry) { return entry.first == value; };
            return std::find_if(choice.names.begin(), choice.names.end(), named)->second;
        };
        schema_.field(
            {key, type, name_of(Parameters{}.*member), false, {}, help, {}},
            [=, reach = reach_](Target& target, const ConfigNode& node, ReadContext& context) {
                if (!node.is_scalar() || node.text.empty()) {
                    context.error("config.type", node.where,
                                  quoted(key) + " takes a value (" + type + "), found " +
                                      std::string(node.kind_name()));
                    return;
                }
                const auto named = std::find(names.begin(), names.end(), node.text);
                if (named == names.end()) {
                    context.error("config.value", node.where,
                                  quoted(key) + ": '" + node.text + "' is not " + type,
                                  suggest(node.text, names));
                    return;
                }
                reach(target).*member = choice.names[static_cast<std::size_t>(named - names.begin())].first;
            },
            [=, reach = reach_](const Target& source) -> std::optional<ConfigNode> {
                return ConfigNode::scalar(name_of(reach(const_cast<Target&>(source)).*member));
            });
    }

private:
    static std::string quoted(const char* key) { return std::string("'").append(key).append("'"); }

    /// A member as configuration files show it, and back.
    template <class Shown, class Value>
    static Shown show(const Value& value) {
        if constexpr (std::is_same_v<Value, sim::DataRate>) {
            return Shown(static_cast<std::int64_t>(value.GetBitRate()));
        } else if constexpr (std::is_same_v<Shown, Value>) {
            return value;
        } else {
            return Shown(static_cast<std::int64_t>(value));
        }
    }
    template <class Value, class Shown>
    static Value take(const Shown& shown) {
        if constexpr (std::is_same_v<Value, sim::DataRate>) {
            return sim::DataRate(static_cast<std::uint64_t>(shown.count()));
        } else if constexpr (std::is_same_v<Shown, Value>) {
            return shown;
        } else {
            return static_cast<Value>(shown.count());
        }
    }

    template <class Shown, class Value>
    void scalar(const char* key, Value Parameters::*member, const char* help, const Range<Shown>& range) {
        add<Shown>(key, member, help, range_text(range), [=](const ConfigNode& node, ReadContext& context) {
            return read_scalar<Shown>(node, quoted(key), context, range);
        });
    }
    template <class Shown, class Value, class Read>
    void add(const char* key, Value Parameters::*member, const char* help, const std::string& range,
             Read read) {
        const auto format = [member](const Parameters& from) {
            return ValueTraits<Shown>::format(show<Shown>(from.*member));
        };
        schema_.field(
            {key, ValueTraits<Shown>::type(), format(Parameters{}), false, range, help, {}},
            [member, read, reach = reach_](Target& target, const ConfigNode& node, ReadContext& context) {
                if (const std::optional<Shown> value = read(node, context)) {
                    reach(target).*member = take<Value>(*value);
                }
            },
            [format, reach = reach_](const Target& source) -> std::optional<ConfigNode> {
                return ConfigNode::scalar(format(reach(const_cast<Target&>(source))));
            });
    }

    Schema<Target>& schema_;
    Reach reach_;
};

}  // namespace astrolabe::ns3
