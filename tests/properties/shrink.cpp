#include "invariants.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace astrolabe::testing {
namespace {

using Pointer = Tree::json_pointer;

void collect(const Tree& tree, const Pointer& at, std::vector<Pointer>& all) {
    if (!at.empty()) {
        all.push_back(at);
    }
    if (tree.is_object()) {
        for (const auto& [key, value] : tree.items()) {
            collect(value, at / key, all);
        }
    } else if (tree.is_array()) {
        for (std::size_t i = 0; i < tree.size(); ++i) {
            collect(tree[i], at / i, all);
        }
    }
}

/// Simpler trees: one without each value, and one with each number made smaller.
std::vector<Tree> simpler(const Tree& tree) {
    std::vector<Pointer> all;
    collect(tree, Pointer(), all);
    std::vector<Tree> trees;
    for (const Pointer& at : all) {
        Tree without = tree;
        Tree& parent = without[at.parent_pointer()];
        if (parent.is_array()) {
            parent.erase(static_cast<std::size_t>(std::stoul(at.back())));
        } else {
            parent.erase(at.back());
        }
        trees.push_back(std::move(without));
    }
    for (const Pointer& at : all) {
        const Tree& value = tree[at];
        if (value.is_number_integer() && value.get<std::int64_t>() > 1) {
            for (const std::int64_t less : {std::int64_t{1}, value.get<std::int64_t>() / 2}) {
                Tree smaller = tree;
                smaller[at] = less;
                trees.push_back(std::move(smaller));
            }
        }
    }
    return trees;
}

bool violates(const experiment::Components& components, const Tree& experiment, std::uint64_t seed,
              const std::string& invariant) {
    const Checked checked = check_isolated(components, experiment, seed);
    return std::ranges::any_of(checked.violations,
                               [&](const Violation& found) { return found.invariant == invariant; });
}

}  // namespace

Tree shrunk(const experiment::Components& components, Tree experiment, std::uint64_t seed,
            const std::string& invariant, int tries) {
    std::set<std::string> known;
    for (bool is_smaller = true; is_smaller;) {
        is_smaller = false;
        for (Tree& candidate : simpler(experiment)) {
            if (!known.insert(candidate.dump()).second) {
                continue;
            }
            if (tries-- == 0) {
                return experiment;
            }
            if (violates(components, candidate, seed, invariant)) {
                experiment = std::move(candidate);
                is_smaller = true;
                break;
            }
        }
    }
    return experiment;
}

}  // namespace astrolabe::testing
