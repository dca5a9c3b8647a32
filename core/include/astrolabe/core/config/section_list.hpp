/// A parameter that holds any number of mappings with the same keys.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe {

/// Declares `key` as a list of what `item` reads; a mapping by itself is a list of one. Empty unless given,
/// or required.
template <class T, class Owner, class F>
requires std::derived_from<T, Owner>
void add_section_list(Schema<T>& schema, std::string key, std::vector<F> Owner::*member,
                      const Schema<F>& item, std::string help, bool required = false) {
    schema.field(
        {std::move(key),
         "mapping, or list of mappings",
         required ? "" : "[]",
         required,
         {},
         std::move(help),
         item.parameters()},
        [member, item](T& target, const ConfigNode& node, ReadContext& context) {
            const std::vector<ConfigNode> given = node.is_sequence() ? node.items : std::vector{node};
            for (const ConfigNode& one : given) {
                if (auto value = item.read(one, context)) {
                    (target.*member).push_back(*std::move(value));
                }
            }
        },
        [member, item](const T& source) -> std::optional<ConfigNode> {
            std::vector<ConfigNode> written;
            for (const F& value : source.*member) {
                written.push_back(item.write(value));
            }
            return written.size() == 1 ? written.front() : ConfigNode::sequence(std::move(written));
        });
}

}  // namespace astrolabe
