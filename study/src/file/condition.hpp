/// Conditions on the values of a point of a study:
///
///     {network: fat_tree, cluster.ranks: [16, 64]}          all of them hold; a list: one of its values
///     {batch_per_rank: {at_least: 16, below: 4096}}         amounts of one unit; at_least, above, at_most,
///     below {network: {not: [fat_tree, flat]}}                    none of these
///     [{network: fat_tree}, {cluster.ranks: {at_most: 64}}] one of these conditions holds
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::study {

/// Values, to look up whether one of them is the same as another: the same text, or the same amount in other
/// words: 0.50 and .5.
class ValueSet {
public:
    void insert(std::string text);
    /// O(log values).
    [[nodiscard]] bool contains(const std::string& text) const;

private:
    std::set<std::string> texts_;
    std::set<std::pair<std::string, double>> amounts_;  ///< unit and number
};

/// What is asked of one value.
struct Term {
    std::string name;
    SourceRange where;
    std::vector<ConfigNode> is;       ///< one of these, if any are given
    std::vector<ConfigNode> is_not;   ///< none of these
    std::vector<ConfigEntry> bounds;  ///< at_least, above, at_most, below: an amount
    ValueSet is_set;                  ///< of `is`
    ValueSet is_not_set;              ///< of `is_not`
};

/// One of the lists holds in full. A condition without lists always holds.
struct Condition {
    std::vector<std::vector<Term>> any;
};

[[nodiscard]] std::optional<Condition> read_condition(const ConfigNode& node, ReadContext& context);

/// The text of a value, or why there is none.
using TextOf = std::function<Parsed<std::string>(std::string_view name)>;

/// Nothing where a term asks what cannot be answered, which is reported.
[[nodiscard]] std::optional<bool> holds(const Condition& condition, const TextOf& text_of,
                                        ReadContext& context);

}  // namespace astrolabe::study
