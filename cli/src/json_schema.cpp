#include "json_schema.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNumber = R"([+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)";
constexpr std::string_view kPositive =
    R"(\+?(0*[1-9][0-9]*(\.[0-9]+)?|0+\.[0-9]*[1-9][0-9]*)([eE][+-]?[0-9]+)?)";
constexpr std::string_view kNotNegative = R"(\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)";

/// Text of a number and a unit; 0 needs none.
Json quantity(std::string_view units) {
    return {{"anyOf",
             {{{"type", "string"}, {"pattern", fmt::format("^{} ?({})$", kNumber, units)}}, {{"const", 0}}}}};
}

/// Of a single word of a type; nothing: the word is no type.
std::optional<Json> simple_type(std::string_view word) {
    static const std::array<std::pair<std::string_view, Json>, 14> kTypes{{
        {"integer", {{"type", "integer"}}},
        {"number", {{"type", "number"}}},
        {"true or false", {{"type", "boolean"}}},
        {"text", {{"type", {"string", "number", "boolean"}}}},
        {"path", {{"type", "string"}}},
        {"time", quantity("s|ms|us|µs|ns|ps|min|h")},
        {"size", quantity("([kKMGTPE]|[KMGTP]i)?[Bb]")},
        {"bandwidth", quantity("([kKMGTPE]|[KMGTP]i)?(bps|b/s|B/s|Bps)")},
        {"compute rate", quantity("([kKMGTPE]|[KMGTP]i)?(FLOPS|FLOP/s)")},
        {"percentage", {{"type", "string"}, {"pattern", fmt::format("^{} ?%$", kNumber)}}},
        {"list", {{"type", "array"}}},
        {"mapping", {{"type", "object"}}},
        // That of servers need not say how many hosts it has.
        {"network", {{"$ref", "#/definitions/network.part"}}},
        {"inf", {{"const", "inf"}}},
    }};
    for (const auto& [name, schema] : kTypes) {
        if (word == name || word == fmt::format("{}s", name)) {
            return schema;
        }
    }
    return std::nullopt;
}

/// Words of types whose form a schema does not say.
bool is_open(std::string_view word) {
    return word == "range" || word == "distribution" || word == "condition" || word == "seeds" ||
           word == "them";
}

bool is_name(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// The first of `separators` in a text, and where.
std::pair<std::size_t, std::size_t> next_separator(std::string_view text) {
    std::pair<std::size_t, std::size_t> first{std::string_view::npos, 0};
    for (const std::string_view separator : {", or a ", ", or ", " or ", ", "}) {
        const std::size_t place = text.find(separator);
        if (place < first.first) {
            first = {place, separator.size()};
        }
    }
    return first;
}

/// Puts the bounds of a count or number where a type is one; of a quantity its sign.
void bound(Json& schema, std::string_view range) {
    if (schema.contains("anyOf") && schema["anyOf"].size() == 2 && schema["anyOf"][0].contains("pattern")) {
        const std::string_view least = range.starts_with("at least ") ? range.substr(9) : range;
        if (least.empty() || least.front() < '0' || least.front() > '9' || range.starts_with("at most ")) {
            return;
        }
        const bool is_zero_allowed = least.front() == '0' && !least.starts_with("0.");
        std::string pattern = schema["anyOf"][0]["pattern"];
        pattern.replace(1, kNumber.size(), is_zero_allowed ? kNotNegative : kPositive);
        schema["anyOf"][0]["pattern"] = std::move(pattern);
        if (!is_zero_allowed) {
            schema["anyOf"].erase(1);
        }
        return;
    }
    const auto type = schema.find("type");
    if (type == schema.end() || (*type != "integer" && *type != "number")) {
        return;
    }
    const auto set = [&schema](const char* key, std::string_view text) {
        if (schema["type"] == "integer") {
            std::int64_t value = 0;
            if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
                schema[key] = value;
            }
        } else {
            double value = 0;
            if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() &&
                std::isfinite(value)) {
                schema[key] = value;
            }
        }
    };
    constexpr std::string_view kLeast = "at least ";
    constexpr std::string_view kMost = "at most ";
    constexpr std::string_view kTo = " to ";
    if (range.starts_with(kLeast)) {
        set("minimum", range.substr(kLeast.size()));
    } else if (range.starts_with(kMost)) {
        set("maximum", range.substr(kMost.size()));
    } else if (const std::size_t to = range.find(kTo); to != std::string_view::npos) {
        set("minimum", range.substr(0, to));
        set("maximum", range.substr(to + kTo.size()));
    }
}

/// Of the type as documentation words it: "integer", "one of lifo, fifo", "time, or list of time". What it
/// does not understand it allows.
Json type_schema(std::string_view type, std::string_view range) {
    constexpr std::string_view kOneOf = "one of ";
    constexpr std::string_view kListOf = "list of ";
    if (const std::optional<Json> known = simple_type(type)) {
        Json schema = *known;
        bound(schema, range);
        return schema;
    }
    if (type.starts_with(kListOf) && type.find(", or ") == std::string_view::npos) {
        return {{"type", "array"}, {"items", type_schema(type.substr(kListOf.size()), range)}};
    }
    if (type.starts_with("mapping ")) {
        if (type.find(" or ") == std::string_view::npos || type.find(" of ") < type.find(" or ")) {
            return {{"type", "object"}};
        }
    }
    std::string_view rest = type.starts_with(kOneOf) ? type.substr(kOneOf.size()) : type;
    Json names = Json::array();
    Json alternatives = Json::array();
    while (!rest.empty()) {
        if (rest.starts_with(kListOf) && rest.size() < type.size() && !type.starts_with(kOneOf)) {
            alternatives.push_back(type_schema(rest, range));
            break;
        }
        const auto [place, length] = next_separator(rest);
        const std::string_view word = rest.substr(0, place);
        rest = place == std::string_view::npos ? std::string_view{} : rest.substr(place + length);
        if (std::optional<Json> known = simple_type(word)) {
            bound(*known, range);
            alternatives.push_back(*std::move(known));
        } else if (word.starts_with("mapping ")) {
            alternatives.push_back({{"type", "object"}});
        } else if (word.starts_with(kListOf)) {
            alternatives.push_back({{"type", "array"}});
        } else if (is_name(word) && !is_open(word)) {
            names.push_back(word);
        } else {
            return Json::object();
        }
    }
    if (!names.empty()) {
        alternatives.push_back({{"enum", std::move(names)}});
    }
    return alternatives.size() == 1 ? alternatives.front() : Json{{"anyOf", std::move(alternatives)}};
}

class SchemaWriter {
public:
    explicit SchemaWriter(const std::vector<Section>& sections)
        : sections_(sections) {}

    Json definitions() {
        for (const bool is_part : {false, true}) {
            is_part_ = is_part;
            for (const char* name : {"workload", "device", "network", "backend"}) {
                add_components(name);
            }
            for (const ComponentDescription& file : of("file")) {
                if (file.name == "equal_cost") {
                    continue;
                }
                Json schema = object(file.parameters, {"schema", "include"});
                schema["description"] = file.help;
                definitions_[suffixed(file.name)] = std::move(schema);
                add_parts_in_files(file.name, file.parameters);
            }
            add_search();
        }
        return std::move(definitions_);
    }

private:
    [[nodiscard]] const std::vector<ComponentDescription>& of(std::string_view section) const {
        return std::ranges::find(sections_, section, &Section::name)->components;
    }
    [[nodiscard]] std::string suffixed(std::string_view name) const {
        return fmt::format("{}{}", name, is_part_ ? ".part" : "");
    }
    [[nodiscard]] Json reference(std::string_view name) const {
        return {{"$ref", fmt::format("#/definitions/{}", suffixed(name))}};
    }
    /// A section by itself, or one that changes what it includes.
    [[nodiscard]] Json section_reference(std::string_view name) const {
        if (is_part_) {
            return reference(name);
        }
        return {{"if", {{"required", {"include"}}}},
                {"then", {{"$ref", fmt::format("#/definitions/{}.part", name)}}},
                {"else", reference(name)}};
    }

    /// A mapping with exactly these keys and `also`, of which any may be missing in a part.
    [[nodiscard]] Json object(const std::vector<ParameterDescriptor>& parameters,
                              const std::vector<std::string>& also = {}) const {
        Json schema{{"type", "object"}, {"properties", Json::object()}};
        Json required = Json::array();
        for (const ParameterDescriptor& parameter : parameters) {
            schema["properties"][parameter.key] = property(parameter);
            if (parameter.required) {
                required.push_back(parameter.key);
            }
        }
        for (const std::string& key : also) {
            if (!schema["properties"].contains(key)) {
                schema["properties"][key] = Json::object();
            }
        }
        if (std::ranges::find(parameters, std::string("algorithm"), &ParameterDescriptor::key) !=
            parameters.end()) {
            add_algorithms(schema);
        }
        schema["additionalProperties"] = false;
        if (!required.empty() && !is_part_) {
            schema["required"] = std::move(required);
        }
        return schema;
    }

    /// Beside `algorithm` stand the keys of the one it names.
    void add_algorithms(Json& schema) const {
        std::vector<std::string> keys;
        for (const auto& [key, value] : schema["properties"].items()) {
            keys.push_back(key);
        }
        Json by_algorithm = Json::array();
        for (const ComponentDescription& algorithm : of("algorithm")) {
            Json allowed = keys;
            for (const ParameterDescriptor& own : algorithm.parameters) {
                allowed.push_back(own.key);
                schema["properties"].emplace(own.key, Json::object());
            }
            by_algorithm.push_back({{"if",
                                     {{"properties", {{"algorithm", {{"const", algorithm.name}}}}},
                                      {"required", {"algorithm"}}}},
                                    {"then", {{"propertyNames", {{"enum", std::move(allowed)}}}}}});
        }
        schema["allOf"] = std::move(by_algorithm);
    }

    [[nodiscard]] Json property(const ParameterDescriptor& parameter) const {
        Json schema = value_of(parameter);
        Json described{{"description", parameter.help}};
        if (!parameter.required && !parameter.default_value.empty() && parameter.default_value != "unset" &&
            parameter.default_value != "none" && parameter.default_value != "see its keys") {
            described["description"] =
                fmt::format("{} (default {})", parameter.help, parameter.default_value);
        }
        if (schema.contains("$ref")) {  // nothing beside a reference counts
            described["allOf"] = Json::array({std::move(schema)});
        } else {
            described.update(schema);
        }
        return described;
    }

    [[nodiscard]] Json value_of(const ParameterDescriptor& parameter) const {
        const Json path{{"type", "string"}};
        for (const std::string_view section : {"workload", "network", "backend", "device", "cluster"}) {
            if (parameter.key == section && parameter.type == "mapping" && parameter.parameters.empty()) {
                Json choices = Json::array({path, section_reference(section)});
                if (section == "network") {
                    choices.push_back({{"type", "array"}, {"items", choices}});
                }
                return {{"anyOf", std::move(choices)}};
            }
        }
        if (parameter.key == "base") {
            return {{"anyOf", {path, {{"$ref", "#/definitions/experiment.part"}}}}};
        }
        if (parameter.key == "schema") {
            return {{"const", parameter.range}};
        }
        if (parameter.parameters.empty() || !parameter.type.starts_with("mapping")) {
            if (parameter.type == "list of mappings" && !parameter.parameters.empty()) {
                return {{"type", "array"}, {"items", object(parameter.parameters)}};
            }
            return type_schema(parameter.type, parameter.range);
        }
        Json mapping = object(parameter.parameters);
        if (parameter.type == "mapping, or list of mappings") {
            return {{"anyOf", {mapping, {{"type", "array"}, {"items", mapping}}}}};
        }
        if (parameter.type != "mapping") {
            return Json::object();
        }
        return may_be_a_file(parameter) ? Json{{"anyOf", {path, mapping}}} : mapping;
    }

    /// Whether a file may hold what a mapping of these keys does.
    [[nodiscard]] static bool may_be_a_file(const ParameterDescriptor& parameter) {
        return !parameter.parameters.empty() && parameter.type == "mapping" &&
               (parameter.key == "model" || parameter.help.find("path of a file") != std::string::npos);
    }

    /// "workload.dlrm.model", "cluster.measured_collectives": what a file of its own may hold.
    void add_parts_in_files(const std::string& where, const std::vector<ParameterDescriptor>& parameters) {
        for (const ParameterDescriptor& parameter : parameters) {
            const std::string name = fmt::format("{}.{}", where, parameter.key);
            const bool is_included = !parameter.parameters.empty() && parameter.type == "mapping" &&
                                     parameter.help.find("from a file") != std::string::npos;
            if (may_be_a_file(parameter) || is_included) {
                Json schema = object(parameter.parameters, {"schema", "include"});
                schema["description"] = parameter.help;
                definitions_[suffixed(name)] = std::move(schema);
            }
            add_parts_in_files(name, parameter.parameters);
        }
    }

    /// "network" by its kind, and "network.fat_tree" for each of them.
    void add_components(const std::string& section) {
        std::vector<std::string> also{"kind", "schema", "include"};
        if (section == "network") {
            for (const ParameterDescriptor& key :
                 std::ranges::find(of("file"), std::string("equal_cost"), &ComponentDescription::name)
                     ->parameters) {
                also.push_back(key.key);
            }
        }
        Json kinds = Json::array();
        Json by_kind = Json::array();
        Json all_keys = Json::object();
        for (const ComponentDescription& component : of(section)) {
            const std::string name = fmt::format("{}.{}", section, component.name);
            Json schema = object(component.parameters, also);
            if (is_part_) {
                for (const auto& [key, value] : schema["properties"].items()) {
                    all_keys.emplace(key, Json::object());
                }
            }
            schema["description"] = component.help;
            definitions_[suffixed(name)] = std::move(schema);
            add_parts_in_files(name, component.parameters);
            kinds.push_back(component.name);
            by_kind.push_back(
                {{"if", {{"properties", {{"kind", {{"const", component.name}}}}}, {"required", {"kind"}}}},
                 {"then", reference(name)}});
        }
        Json schema{{"type", "object"},
                    {"properties", {{"kind", {{"enum", std::move(kinds)}}}}},
                    {"allOf", std::move(by_kind)}};
        if (is_part_) {
            schema["properties"].update(all_keys);
            schema["additionalProperties"] = false;
            schema["properties"]["kind"] = definitions_[section]["properties"]["kind"];
        } else {
            schema["required"] = {"kind"};
        }
        definitions_[suffixed(section)] = std::move(schema);
    }

    /// A search is an experiment, or names one as its base, and has a section of its own.
    void add_search() {
        const std::string keys = suffixed("optimize");
        Json search{
            {"type", "object"},
            {"required", {"optimize"}},
            {"properties",
             {{"schema", {{"const", "astrolabe/1"}}},
              {"include", Json::object()},
              {"name", {{"type", "string"}}},
              {"base", {{"anyOf", {{{"type", "string"}}, {{"$ref", "#/definitions/experiment.part"}}}}}},
              {"optimize", definitions_[keys]}}},
            {"additionalProperties", false}};
        definitions_[suffixed("search")] = std::move(search);
    }

    const std::vector<Section>& sections_;
    bool is_part_ = false;
    Json definitions_ = Json::object();
};

}  // namespace

namespace {

/// Names of the definitions that a schema refers to, by itself or through others.
void find_used(const Json& schema, const Json& definitions, std::set<std::string>& used) {
    if (schema.is_object() && schema.contains("$ref")) {
        constexpr std::size_t kPrefix = std::string_view("#/definitions/").size();
        const std::string name = schema["$ref"].get<std::string>().substr(kPrefix);
        if (used.insert(name).second) {
            find_used(definitions.at(name), definitions, used);
        }
    }
    for (const Json& part : schema) {
        if (part.is_structured()) {
            find_used(part, definitions, used);
        }
    }
}

}  // namespace

std::vector<std::string> json_schema_names(const std::vector<Section>& sections) {
    std::vector<std::string> names;
    const Json definitions = SchemaWriter(sections).definitions();
    for (const auto& [name, schema] : definitions.items()) {
        if (!name.ends_with(".part")) {
            names.push_back(name);
        }
    }
    return names;
}

Json json_schema(const std::vector<Section>& sections, const std::string& root) {
    Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                {"title", root.empty() ? "files of astrolabe" : root}};
    Json definitions = SchemaWriter(sections).definitions();
    const auto ref = [](const std::string& name) { return Json{{"$ref", "#/definitions/" + name}}; };
    const auto with_parts = [&](const std::string& name) {
        return Json{{"if", {{"required", {"include"}}}}, {"then", ref(name + ".part")}, {"else", ref(name)}};
    };
    if (root.empty()) {
        const auto choose = [&](const char* key, const std::string& name, Json otherwise) {
            return Json{
                {"if", {{"required", {key}}}}, {"then", with_parts(name)}, {"else", std::move(otherwise)}};
        };
        schema.update(choose(
            "optimize", "search",
            choose("values", "published_study",
                   choose("base", "study",
                          choose("vary", "study", choose("report", "study", with_parts("experiment")))))));
    } else if (definitions.contains(root)) {
        schema.update(root.ends_with(".part") ? ref(root) : with_parts(root));
    } else {
        return nullptr;
    }
    std::set<std::string> used;
    find_used(schema, definitions, used);
    Json needed = Json::object();
    for (const auto& [name, definition] : definitions.items()) {
        if (used.contains(name)) {
            needed[name] = definition;
        }
    }
    schema["definitions"] = std::move(needed);
    return schema;
}

}  // namespace astrolabe::cli
