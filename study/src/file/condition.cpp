#include "condition.hpp"

#include "alternatives.hpp"
#include "arithmetic.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

const std::vector<std::string>& comparisons() {
    static const std::vector<std::string> names{"not", "at_least", "above", "at_most", "below"};
    return names;
}

std::vector<ConfigNode> as_list(const ConfigNode& node) {
    return node.is_sequence() ? node.items : std::vector{node};
}

std::optional<Term> read_term(const ConfigEntry& entry, ReadContext& context) {
    Term term{entry.key, entry.key_where, {}, {}, {}, {}, {}};
    const std::size_t before = context.error_count();
    if (!entry.value.is_mapping()) {
        term.is = as_list(entry.value);
    }
    report_unknown_keys(entry.value.is_mapping() ? entry.value : ConfigNode::mapping(), comparisons(),
                        entry.key, false, context);
    for (const ConfigEntry& asked : entry.value.entries) {
        if (asked.key == "not") {
            term.is_not = as_list(asked.value);
        } else if (!asked.value.is_scalar() ||
                   std::holds_alternative<ParseFailure>(parse_amount(asked.value.text))) {
            context.error("config.condition", asked.value.where,
                          fmt::format("'{}' is not an amount to compare with", one_line(asked.value)),
                          "write a number or a quantity: {at_least: 16}");
        } else {
            term.bounds.push_back(asked);
        }
    }
    if (context.error_count() == before && term.is.empty() && term.is_not.empty() && term.bounds.empty()) {
        context.error("config.condition", entry.value.where,
                      fmt::format("nothing is asked of '{}'", entry.key),
                      "write a value, a list of values, or {at_least: 16}");
    }
    for (const ConfigNode& value : term.is) {
        term.is_set.insert(one_line(value));
    }
    for (const ConfigNode& value : term.is_not) {
        term.is_not_set.insert(one_line(value));
    }
    return context.error_count() == before ? std::optional(std::move(term)) : std::nullopt;
}

std::optional<bool> keeps_bound(const std::string& text, const ConfigEntry& bound, const Term& term,
                                ReadContext& context) {
    const Parsed<Amount> read = parse_amount(text);
    const auto* amount = std::get_if<Amount>(&read);
    const Amount limit = std::get<Amount>(parse_amount(bound.value.text));
    if (amount == nullptr || amount->unit != limit.unit) {
        context.error("config.condition", bound.value.where,
                      fmt::format("'{}' is '{}', which cannot be compared with '{}'", term.name, text,
                                  bound.value.text),
                      "compare amounts with the same unit and prefix");
        return std::nullopt;
    }
    return bound.key == "at_least"  ? amount->number >= limit.number
           : bound.key == "above"   ? amount->number > limit.number
           : bound.key == "at_most" ? amount->number <= limit.number
                                    : amount->number < limit.number;
}

std::optional<bool> holds(const Term& term, const TextOf& text_of, ReadContext& context) {
    const Parsed<std::string> found = text_of(term.name);
    if (const auto* failure = std::get_if<ParseFailure>(&found)) {
        context.error("config.condition", term.where, failure->message, failure->hint);
        return std::nullopt;
    }
    const std::string& text = std::get<std::string>(found);
    bool result = (term.is.empty() || term.is_set.contains(text)) && !term.is_not_set.contains(text);
    for (const ConfigEntry& bound : term.bounds) {
        const std::optional<bool> kept = keeps_bound(text, bound, term, context);
        if (!kept) {
            return std::nullopt;
        }
        result = result && *kept;
    }
    return result;
}

}  // namespace

void ValueSet::insert(std::string text) {
    const Parsed<Amount> read = parse_amount(text);
    if (const auto* amount = std::get_if<Amount>(&read)) {
        amounts_.emplace(amount->unit, amount->number);
    }
    texts_.insert(std::move(text));
}

bool ValueSet::contains(const std::string& text) const {
    if (texts_.contains(text)) {
        return true;
    }
    if (amounts_.empty()) {
        return false;
    }
    const Parsed<Amount> read = parse_amount(text);
    const auto* amount = std::get_if<Amount>(&read);
    return amount != nullptr && amounts_.contains({amount->unit, amount->number});
}

std::optional<Condition> read_condition(const ConfigNode& node, ReadContext& context) {
    const std::size_t before = context.error_count();
    Condition condition;
    if (node.is_sequence() && node.items.empty()) {
        context.error("config.condition", node.where, "the list of conditions is empty", "leave it out");
    }
    for (const ConfigNode& given : as_list(node)) {
        if (!given.is_mapping() || given.entries.empty()) {
            context.error(
                "config.condition", given.where,
                fmt::format("a condition is a mapping with something in it, found {}", given.kind_name()),
                "write {network: fat_tree, cluster.ranks: [16, 64]}");
            continue;
        }
        std::vector<Term> terms;
        for (const ConfigEntry& entry : given.entries) {
            if (std::optional<Term> term = read_term(entry, context)) {
                terms.push_back(*std::move(term));
            }
        }
        condition.any.push_back(std::move(terms));
    }
    return context.error_count() == before ? std::optional(std::move(condition)) : std::nullopt;
}

std::optional<bool> holds(const Condition& condition, const TextOf& text_of, ReadContext& context) {
    bool any = condition.any.empty();
    for (const std::vector<Term>& terms : condition.any) {
        bool all = true;
        for (const Term& term : terms) {
            const std::optional<bool> one = holds(term, text_of, context);
            if (!one) {
                return std::nullopt;
            }
            all = all && *one;
        }
        any = any || all;
    }
    return any;
}

}  // namespace astrolabe::study
