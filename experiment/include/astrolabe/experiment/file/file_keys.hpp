/// Keys that experiments, studies and searches share.
#pragma once

#include <optional>
#include <string>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// 'schema' and 'name'.
template <class Keys>
void add_file_keys(Schema<Keys>& schema) {
    schema
        .field(
            {"schema", "text", "", true, std::string(kSchemaName), "format of the file", {}},
            [](Keys&, const ConfigNode& node, ReadContext& context) { read_schema_name(node, context); },
            [](const Keys&) { return std::optional(ConfigNode::scalar(std::string(kSchemaName))); })
        .optional("name", &Keys::name, "what results are called; empty: the name of the file");
}

/// 'base', an experiment to begin with.
template <class Keys>
void add_base(Schema<Keys>& schema, std::string help) {
    schema.field(
        {"base", "mapping or path", "", true, {}, std::move(help), {}},
        [](Keys& keys, const ConfigNode& node, ReadContext&) { keys.base = node; },
        [](const Keys& keys) { return std::optional(keys.base); });
}

}  // namespace astrolabe::experiment
