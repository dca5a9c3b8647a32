/// Schemas: a parameter is declared once and read, checked, written back and documented from that one line.
///
///     Schema<FlatParameters>("flat", "every host on one non-blocking switch")
///         .required("hosts", &FlatParameters::hosts, "number of hosts", {.min = 1})
///         .optional("switch_buffer", &FlatParameters::switch_buffer, "packet memory of the switch")
///         .check(validation_errors);
///
/// The default of an optional parameter is the value it has in a default-constructed struct, so it is stated
/// once, in the struct. Reading reports every defect of a mapping at once: unknown keys (with the nearest
/// known ones), missing keys, wrong units, values out of range, and what `check` finds across keys.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/core/limits.hpp>
#include <astrolabe/core/validation_error.hpp>

namespace astrolabe {

/// One parameter as documentation shows it.
struct ParameterDescriptor {
    std::string key;
    std::string type;  ///< "time", "bandwidth", "integer", "one of lifo, fifo", "mapping", "list of …"
    std::string default_value;  ///< as it would be written; empty for a required parameter
    bool required = false;
    std::string range;  ///< "at least 1"; empty if any value will do
    std::string help;
    std::vector<ParameterDescriptor> parameters;  ///< of a nested mapping
};

/// Collects the errors while a tree is read, and what its files take.
class ReadContext {
public:
    void error(std::string code, const SourceRange& where, std::string message, std::string hint = {}) {
        errors_.push_back({std::move(code), where, std::move(message), std::move(hint), {}});
    }
    void error(Diagnostic diagnostic) { errors_.push_back(std::move(diagnostic)); }
    [[nodiscard]] std::size_t error_count() const { return errors_.size(); }
    [[nodiscard]] const Diagnostics& errors() const { return errors_; }
    /// Whether the next error is shown: for others no hint is made that takes long, as suggest() does.
    [[nodiscard]] bool is_next_shown() const { return errors_.size() < limits::kErrorsShown; }
    /// Of all files that are read meanwhile.
    [[nodiscard]] ReadUsage& usage() { return usage_; }

private:
    Diagnostics errors_;
    ReadUsage usage_;
};

/// Inclusive bounds of a scalar parameter.
template <class T>
struct Range {
    std::optional<T> min;
    std::optional<T> max;
};

/// Specialise with `static constexpr std::array<std::pair<std::string_view, E>, n> kNames` to read an
/// enumeration.
template <class E>
struct EnumNames;

/// Conversion of one scalar type between text and value; specialised below for what parameters are made of.
template <class T>
struct ValueTraits;

template <>
struct ValueTraits<Time> {
    static std::string type() { return "time"; }
    static Parsed<Time> parse(std::string_view text) { return parse_time(text); }
    static std::string format(Time value) { return to_string(value); }
};
template <>
struct ValueTraits<Bytes> {
    static std::string type() { return "size"; }
    static Parsed<Bytes> parse(std::string_view text) { return parse_bytes(text); }
    static std::string format(Bytes value) { return to_string(value); }
};
template <>
struct ValueTraits<Bandwidth> {
    static std::string type() { return "bandwidth"; }
    static Parsed<Bandwidth> parse(std::string_view text) { return parse_bandwidth(text); }
    static std::string format(Bandwidth value) { return to_string(value); }
};
template <>
struct ValueTraits<FlopRate> {
    static std::string type() { return "compute rate"; }
    static Parsed<FlopRate> parse(std::string_view text) { return parse_flop_rate(text); }
    static std::string format(FlopRate value) { return to_string(value); }
};
template <>
struct ValueTraits<bool> {
    static std::string type() { return "true or false"; }
    static Parsed<bool> parse(std::string_view text) { return parse_flag(text); }
    static std::string format(bool value) { return value ? "true" : "false"; }
};
template <>
struct ValueTraits<std::string> {
    static std::string type() { return "text"; }
    static Parsed<std::string> parse(std::string_view text) { return std::string(text); }
    static std::string format(const std::string& value) { return value; }
};
template <>
struct ValueTraits<double> {
    static std::string type() { return "number"; }
    static Parsed<double> parse(std::string_view text) { return parse_number(text); }
    static std::string format(double value);
};
template <std::integral T>
requires(!std::same_as<T, bool>) struct ValueTraits<T> {
    static std::string type() { return "integer"; }
    static Parsed<T> parse(std::string_view text) {
        Parsed<std::int64_t> parsed = parse_integer(text);
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
            return *failure;
        }
        const std::int64_t value = std::get<std::int64_t>(parsed);
        if (!std::in_range<T>(value)) {
            const auto [min, max] = readable_limits();
            return ParseFailure{"'" + std::string(text) + "' is out of range",
                                "between " + std::to_string(min) + " and " + std::to_string(max)};
        }
        return static_cast<T>(value);
    }
    /// The limits of what can be read: integers are read as 64-bit signed ones.
    static constexpr std::pair<T, T> readable_limits() {
        constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
        constexpr T kMaxOfType = std::numeric_limits<T>::max();
        return {std::numeric_limits<T>::min(), std::in_range<T>(kMax) ? static_cast<T>(kMax) : kMaxOfType};
    }
    static std::string format(T value) { return std::to_string(value); }
};
template <class E>
requires std::is_enum_v<E>
struct ValueTraits<E> {
    static std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& [name, value] : EnumNames<E>::kNames) {
            all.emplace_back(name);
        }
        return all;
    }
    static std::string type() {
        std::string text;
        for (const std::string& name : names()) {
            text += (text.empty() ? "one of " : ", ") + name;
        }
        return text;
    }
    static Parsed<E> parse(std::string_view text) {
        for (const auto& [name, value] : EnumNames<E>::kNames) {
            if (name == text) {
                return value;
            }
        }
        return ParseFailure{"'" + std::string(text) + "' is not " + type(), suggest(text, names())};
    }
    static std::string format(E value) {
        for (const auto& [name, candidate] : EnumNames<E>::kNames) {
            if (candidate == value) {
                return std::string(name);
            }
        }
        invariant_failed("value is named", "every enumerator has a name");
    }
};

template <class T>
concept ScalarValue = requires(const T& value) {
    { ValueTraits<T>::format(value) } -> std::convertible_to<std::string>;
};

template <ScalarValue T>
[[nodiscard]] std::string range_text(const Range<T>& range) {
    if (range.min && range.max) {
        return ValueTraits<T>::format(*range.min) + " to " + ValueTraits<T>::format(*range.max);
    }
    if (range.min) {
        return "at least " + ValueTraits<T>::format(*range.min);
    }
    return range.max ? "at most " + ValueTraits<T>::format(*range.max) : std::string{};
}

/// `range` with both ends given, within what T can hold.
template <std::integral T>
[[nodiscard]] Range<T> within_type(const Range<T>& range) {
    const auto [min, max] = ValueTraits<T>::readable_limits();
    return {range.min.value_or(min), range.max.value_or(max)};
}

/// Reads one scalar; reports and returns nothing if it is not a T within `range`. `what` names it in
/// messages.
template <ScalarValue T>
[[nodiscard]] std::optional<T> read_scalar(const ConfigNode& node, std::string_view what,
                                           ReadContext& context, const Range<T>& range = {}) {
    const std::string name(what);
    if (!node.is_scalar() || (node.text.empty() && !std::same_as<T, std::string>)) {
        context.error(
            "config.type", node.where,
            name + " takes a value (" + ValueTraits<T>::type() + "), found " + std::string(node.kind_name()));
        return std::nullopt;
    }
    const auto out_of_range = [&](const Range<T>& expected) {
        context.error("config.range", node.where,
                      name + " is " + node.text + ", expected " + range_text(expected),
                      "choose a value " + range_text(expected));
        return std::nullopt;
    };
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
        const Parsed<std::int64_t> whole = parse_integer(node.text);
        if (const auto* value = std::get_if<std::int64_t>(&whole); value && !std::in_range<T>(*value)) {
            return out_of_range(within_type(range));
        }
    }
    Parsed<T> parsed = ValueTraits<T>::parse(node.text);
    if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
        context.error("config.value", node.where, name + ": " + failure->message, failure->hint);
        return std::nullopt;
    }
    T value = std::get<T>(std::move(parsed));
    if constexpr (std::totally_ordered<T>) {
        if ((range.min && value < *range.min) || (range.max && value > *range.max)) {
            return out_of_range(range);
        }
    }
    return value;
}

/// A key that files used before it had its present name.
struct RenamedKey {
    std::string old_name;
    std::string new_name;
};

/// Reports the keys of a mapping that are not in `known`, with the new name for those in `renamed`. `section`
/// names the mapping; `described`: `astrolabe describe <section>` lists its keys.
void report_unknown_keys(const ConfigNode& mapping, const std::vector<std::string>& known,
                         std::string_view section, bool described, ReadContext& context,
                         const std::vector<RenamedKey>& renamed = {});

/// Reports each error at the place of the key it names.
void report_validation_errors(const ConfigNode& component, const ValidationErrors& errors,
                              ReadContext& context);

template <class T>
class Schema {
public:
    using Parameters = T;

    Schema(std::string name, std::string help)
        : name_(std::move(name)),
          help_(std::move(help)) {}

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::string& help() const { return help_; }

    template <ScalarValue F, class Owner>
    requires std::derived_from<T, Owner> Schema& required(std::string key, F Owner::*member, std::string help,
                                                          Range<F> range = {}) {
        return scalar(std::move(key), member, std::move(help), std::move(range), true);
    }
    template <ScalarValue F, class Owner>
    requires std::derived_from<T, Owner> Schema& optional(std::string key, F Owner::*member, std::string help,
                                                          Range<F> range = {}) {
        return scalar(std::move(key), member, std::move(help), std::move(range), false);
    }
    /// Absent unless given.
    template <ScalarValue F, class Owner>
    requires std::derived_from<T, Owner> Schema& optional(std::string key, std::optional<F> Owner::*member,
                                                          std::string help, Range<F> range = {}) {
        ParameterDescriptor descriptor{
            key, ValueTraits<F>::type(), "unset", false, range_text(range), std::move(help), {}};
        return field(
            std::move(descriptor),
            [member, key, range](T& target, const ConfigNode& node, ReadContext& context) {
                target.*member = read_scalar<F>(node, "'" + key + "'", context, range);
            },
            [member](const T& source) -> std::optional<ConfigNode> {
                if (!(source.*member)) {
                    return std::nullopt;
                }
                return ConfigNode::scalar(ValueTraits<F>::format(*(source.*member)));
            });
    }
    /// A list of scalars.
    template <ScalarValue F, class Owner>
    requires std::derived_from<T, Owner> Schema& list(std::string key, std::vector<F> Owner::*member,
                                                      std::string help, bool required, Range<F> range = {}) {
        ParameterDescriptor descriptor{key,
                                       "list of " + ValueTraits<F>::type(),
                                       required ? "" : "[]",
                                       required,
                                       range_text(range),
                                       std::move(help),
                                       {}};
        return field(
            std::move(descriptor),
            [member, key, range](T& target, const ConfigNode& node, ReadContext& context) {
                if (!node.is_sequence()) {
                    context.error("config.type", node.where,
                                  "'" + key + "' takes a list, found " + std::string(node.kind_name()),
                                  "write [a, b, c]");
                    return;
                }
                (target.*member).clear();
                for (const ConfigNode& item : node.items) {
                    if (std::optional<F> value =
                            read_scalar<F>(item, "an item of '" + key + "'", context, range)) {
                        (target.*member).push_back(std::move(*value));
                    }
                }
            },
            [member](const T& source) -> std::optional<ConfigNode> {
                std::vector<ConfigNode> items;
                for (const F& value : source.*member) {
                    items.push_back(ConfigNode::scalar(ValueTraits<F>::format(value)));
                }
                return ConfigNode::sequence(std::move(items));
            });
    }
    /// A list of mappings that `item` reads; `example` shows one in the hint.
    template <class F, class Owner>
    requires std::derived_from<T, Owner> Schema& list(std::string key, std::vector<F> Owner::*member,
                                                      const Schema<F>& item, std::string help,
                                                      std::string example) {
        return field(
            {key, "list of mappings", "[]", false, {}, std::move(help), item.parameters()},
            [member, key, item, example](T& target, const ConfigNode& node, ReadContext& context) {
                if (!node.is_sequence()) {
                    context.error("config.type", node.where,
                                  "'" + key + "' takes a list, found " + std::string(node.kind_name()),
                                  "write " + example);
                    return;
                }
                for (const ConfigNode& one : node.items) {
                    if (std::optional<F> value = item.read(one, context)) {
                        (target.*member).push_back(*std::move(value));
                    }
                }
            },
            [member, item](const T& source) -> std::optional<ConfigNode> {
                std::vector<ConfigNode> items;
                for (const F& value : source.*member) {
                    items.push_back(item.write(value));
                }
                return ConfigNode::sequence(std::move(items));
            });
    }
    /// A nested mapping with a schema of its own.
    template <class F, class Owner>
    requires std::derived_from<T, Owner> Schema& section(std::string key, F Owner::*member,
                                                         const Schema<F>& schema, std::string help,
                                                         bool required = false) {
        ParameterDescriptor descriptor{key,
                                       "mapping",
                                       required ? "" : "see its keys",
                                       required,
                                       {},
                                       std::move(help),
                                       schema.parameters()};
        return field(
            std::move(descriptor),
            [member, schema](T& target, const ConfigNode& node, ReadContext& context) {
                if (std::optional<F> value = schema.read(node, context)) {
                    target.*member = std::move(*value);
                }
            },
            [member, schema](const T& source) -> std::optional<ConfigNode> {
                return schema.write(source.*member);
            });
    }

    /// A nested mapping, absent unless given.
    template <class F, class Owner>
    requires std::derived_from<T, Owner> Schema& section(std::string key, std::optional<F> Owner::*member,
                                                         const Schema<F>& schema, std::string help) {
        return field(
            {key, "mapping", "unset", false, {}, std::move(help), schema.parameters()},
            [member, schema](T& target, const ConfigNode& node, ReadContext& context) {
                if (std::optional<F> value = schema.read(node, context)) {
                    target.*member = std::move(*value);
                }
            },
            [member, schema](const T& source) -> std::optional<ConfigNode> {
                if (!(source.*member)) {
                    return std::nullopt;
                }
                return schema.write(*(source.*member));
            });
    }

    /// A parameter with its own reader and writer. The writer returns nothing where the parameter is unset.
    Schema& field(ParameterDescriptor descriptor,
                  std::function<void(T&, const ConfigNode&, ReadContext&)> read,
                  std::function<std::optional<ConfigNode>(const T&)> write) {
        descriptors_.push_back(std::move(descriptor));
        fields_.push_back({std::move(read), std::move(write)});
        return *this;
    }

    /// `old_name` is refused, with `new_name` as the hint.
    Schema& renamed(std::string old_name, std::string new_name) {
        renamed_.push_back({std::move(old_name), std::move(new_name)});
        return *this;
    }

    /// Cross-key check, run when every key by itself was right.
    Schema& check(std::function<ValidationErrors(const T&)> check) {
        checks_.push_back(std::move(check));
        return *this;
    }

    /// Makes what follows from several keys, when every key and check was right, and reports what that finds
    /// at places of its own.
    Schema& complete(std::function<void(T&, const ConfigNode&, ReadContext&)> complete) {
        completions_.push_back(std::move(complete));
        return *this;
    }

    /// Reads a mapping; `also_known` are keys that are read elsewhere ("kind").
    [[nodiscard]] std::optional<T> read(const ConfigNode& node, ReadContext& context,
                                        const std::vector<std::string>& also_known = {}) const {
        if (!node.is_mapping()) {
            context.error("config.type", node.where,
                          "'" + name_ + "' takes a mapping, found " + std::string(node.kind_name()),
                          "write its keys below it, or {key: value}");
            return std::nullopt;
        }
        const std::size_t errors_before = context.error_count();
        std::vector<std::string> known = also_known;
        T value{};
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            const ParameterDescriptor& descriptor = descriptors_[i];
            known.push_back(descriptor.key);
            if (const ConfigNode* given = node.find(descriptor.key)) {
                fields_[i].read(value, *given, context);
            } else if (descriptor.required) {
                context.error("config.missing-key", node.where,
                              "'" + name_ + "' needs '" + descriptor.key + "'",
                              descriptor.help + " (" + descriptor.type + ")");
            }
        }
        report_unknown_keys(node, known, name_, !also_known.empty(), context, renamed_);
        if (context.error_count() == errors_before) {
            for (const auto& check : checks_) {
                report_validation_errors(node, check(value), context);
            }
        }
        for (const auto& complete : completions_) {
            if (context.error_count() == errors_before) {
                complete(value, node, context);
            }
        }
        if (context.error_count() != errors_before) {
            return std::nullopt;
        }
        return value;
    }

    /// The mapping that reads back to `value`, defaults written out.
    [[nodiscard]] ConfigNode write(const T& value) const {
        ConfigNode node = ConfigNode::mapping();
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            if (std::optional<ConfigNode> written = fields_[i].write(value)) {
                node.set(descriptors_[i].key, std::move(*written));
            }
        }
        return node;
    }

    [[nodiscard]] const std::vector<ParameterDescriptor>& parameters() const { return descriptors_; }

private:
    struct Field {
        std::function<void(T&, const ConfigNode&, ReadContext&)> read;
        std::function<std::optional<ConfigNode>(const T&)> write;
    };

    template <ScalarValue F, class Owner>
    requires std::derived_from<T, Owner> Schema& scalar(std::string key, F Owner::*member, std::string help,
                                                        Range<F> range, bool required) {
        ParameterDescriptor descriptor{
            key,      ValueTraits<F>::type(), required ? std::string{} : ValueTraits<F>::format(T{}.*member),
            required, range_text(range),      std::move(help),
            {}};
        return field(
            std::move(descriptor),
            [member, key, range](T& target, const ConfigNode& node, ReadContext& context) {
                if (std::optional<F> value = read_scalar<F>(node, "'" + key + "'", context, range)) {
                    target.*member = std::move(*value);
                }
            },
            [member](const T& source) -> std::optional<ConfigNode> {
                return ConfigNode::scalar(ValueTraits<F>::format(source.*member));
            });
    }

    std::string name_;
    std::string help_;
    std::vector<ParameterDescriptor> descriptors_;
    std::vector<Field> fields_;
    std::vector<RenamedKey> renamed_;
    std::vector<std::function<ValidationErrors(const T&)>> checks_;
    std::vector<std::function<void(T&, const ConfigNode&, ReadContext&)>> completions_;
};

}  // namespace astrolabe
