#include "chakra_node.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace astrolabe::workload::chakra {

namespace {

std::string_view kind_text(Attribute::Kind kind) {
    switch (kind) {
        case Attribute::Kind::kNone:
            return "nothing";
        case Attribute::Kind::kInteger:
            return "an integer";
        case Attribute::Kind::kTooLarge:
            return "an integer beyond 64 bits with sign";
        case Attribute::Kind::kReal:
            return "a number with a fraction";
        case Attribute::Kind::kText:
            return "a text";
        case Attribute::Kind::kIntegers:
        case Attribute::Kind::kTexts:
            return "a list";
    }
    return "nothing";
}

std::string wrong_kind(const Attribute& attribute, std::string_view expected) {
    return fmt::format("attribute '{}' is {}, expected {}", attribute.name, kind_text(attribute.kind),
                       expected);
}

/// The value as an integer; numbers without a fraction are integers, whatever their type.
std::optional<std::int64_t> integer_of(const Attribute& attribute) {
    constexpr double kLimit = 9007199254740992.0;  // 2^53: beyond it a double is no exact count
    if (attribute.kind == Attribute::Kind::kReal && std::floor(attribute.real) == attribute.real &&
        std::abs(attribute.real) <= kLimit) {
        return static_cast<std::int64_t>(attribute.real);
    }
    return attribute.kind == Attribute::Kind::kInteger ? std::optional(attribute.integer) : std::nullopt;
}

struct IntegerAttribute {
    std::string_view name;
    std::optional<std::int64_t> ChakraNode::*member;
};

constexpr std::array kIntegerAttributes{
    IntegerAttribute{"comm_type", &ChakraNode::comm_type},
    IntegerAttribute{"comm_size", &ChakraNode::comm_size},
    IntegerAttribute{"comm_src", &ChakraNode::comm_source},
    IntegerAttribute{"comm_dst", &ChakraNode::comm_destination},
    IntegerAttribute{"comm_tag", &ChakraNode::comm_tag},
    IntegerAttribute{"comm_priority", &ChakraNode::comm_priority},
    IntegerAttribute{"stream", &ChakraNode::stream},
    IntegerAttribute{"tid", &ChakraNode::thread},
    IntegerAttribute{"num_ops", &ChakraNode::num_ops},
    IntegerAttribute{"tensor_size", &ChakraNode::tensor_size},
    IntegerAttribute{kPicosecondsAttribute, &ChakraNode::picoseconds},
    IntegerAttribute{kLeastAttribute, &ChakraNode::least_picoseconds},
    IntegerAttribute{kDelayAttribute, &ChakraNode::delay_picoseconds},
    IntegerAttribute{kTogetherAttribute, &ChakraNode::begins_together},
    IntegerAttribute{kIterationAttribute, &ChakraNode::iteration},
    IntegerAttribute{kPriorityAttribute, &ChakraNode::priority},
};

}  // namespace

void ChakraNode::clear() {
    ChakraNode empty;
    for (const auto member : {&ChakraNode::control_dependencies, &ChakraNode::data_dependencies}) {
        (this->*member).clear();
        std::swap(empty.*member, this->*member);
    }
    name.clear();
    std::swap(empty.name, name);
    *this = std::move(empty);
}

std::string take_attribute(ChakraNode& node, const Attribute& attribute) {
    const auto* const known =
        std::find_if(kIntegerAttributes.begin(), kIntegerAttributes.end(),
                     [&](const IntegerAttribute& one) { return one.name == attribute.name; });
    if (known != kIntegerAttributes.end()) {
        node.*(known->member) = integer_of(attribute);
        return node.*(known->member) ? std::string() : wrong_kind(attribute, "an integer");
    }
    if (attribute.name == "is_cpu_op") {
        const std::optional<std::int64_t> value = integer_of(attribute);
        node.is_cpu_op = value.value_or(0) != 0;
        return value ? std::string() : wrong_kind(attribute, "true or false");
    }
    if (attribute.name == "pg_name") {
        // Written as a text; a number is the same name.
        if (const std::optional<std::int64_t> number = integer_of(attribute)) {
            node.group = std::to_string(*number);
            return {};
        }
        node.group = attribute.text;
        return attribute.kind == Attribute::Kind::kText ? std::string() : wrong_kind(attribute, "a text");
    }
    if (attribute.name == "rf_id") {
        node.has_record_function = true;
    } else if (attribute.name == "involved_dim" || attribute.name == kSplitsAttribute) {
        if (attribute.kind != Attribute::Kind::kIntegers) {
            return wrong_kind(attribute, "a list of integers");
        }
        (attribute.name == kSplitsAttribute ? node.splits : node.involved_dimensions) = attribute.integers;
    }
    return {};
}

std::string take_attribute(ChakraMetadata& metadata, const Attribute& attribute) {
    if (attribute.name == kStreamsAttribute) {
        if (attribute.kind != Attribute::Kind::kTexts) {
            return wrong_kind(attribute, "a list of texts");
        }
        metadata.streams = attribute.texts;
        std::vector<std::string> sorted = attribute.texts;
        std::sort(sorted.begin(), sorted.end());
        const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
        return twice == sorted.end()
                   ? std::string()
                   : fmt::format("'{}' names the stream '{}' twice", attribute.name, *twice);
    }
    if (attribute.name == kIterationsAttribute) {
        metadata.iterations = integer_of(attribute).value_or(0);
        constexpr std::int64_t kMost = 1'000'000'000;
        return metadata.iterations >= 1 && metadata.iterations <= kMost
                   ? std::string()
                   : wrong_kind(attribute, fmt::format("an integer from 1 to {}", kMost));
    }
    if (attribute.name == kOrderAttribute) {
        metadata.is_first_come = attribute.text == "first_come";
        return attribute.text == "first_come" || attribute.text == "program"
                   ? std::string()
                   : wrong_kind(attribute, "'program' or 'first_come'");
    }
    return {};
}

}  // namespace astrolabe::workload::chakra
