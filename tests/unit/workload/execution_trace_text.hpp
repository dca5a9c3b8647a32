/// Execution traces of PyTorch as text, in every schema, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace astrolabe::testing {

/// One call of c10d, as a test thinks of it.
struct TraceCall {
    std::string name;
    int sequence = 0;
    int elements = 0;  ///< of 4 bytes
    std::vector<int> in_splits = {};
    std::vector<int> out_splits = {};
    int out_elements = -1;  ///< -1: as many
    int root = 0;
};

/// The trace of one rank of `ranks` in a schema: "1.0.1", "1.0.2", "1.0.3", "1.1.0" or "1.1.1".
inline nlohmann::json execution_trace(std::string_view schema, int ranks, int rank,
                                      const std::vector<TraceCall>& calls) {
    using Json = nlohmann::json;
    const bool is_plain = schema == "1.0.1";
    const bool has_attributes = schema >= "1.1.0";
    const bool has_address = schema <= "1.0.2";
    const bool is_newest = schema == "1.1.1";
    Json nodes = Json::array();
    const auto node = [&](int id, int parent, const std::string& name, Json inputs, Json outputs,
                          Json attributes) {
        Json made{{"id", id}, {"name", name}};
        if (is_plain) {
            made["parent"] = parent;
            made["rf_id"] = id * 10;
            made["tid"] = 1;
            made["inputs"] = std::move(inputs);
            made["outputs"] = std::move(outputs);
        } else {
            made["ctrl_deps"] = parent;
            made["inputs"] = {
                {"values", std::move(inputs)}, {"shapes", Json::array()}, {"types", Json::array()}};
            made["outputs"] = {
                {"values", std::move(outputs)}, {"shapes", Json::array()}, {"types", Json::array()}};
            attributes.push_back({{"name", "rf_id"}, {"type", "uint64"}, {"value", id * 10}});
            made["attrs"] = std::move(attributes);
        }
        nodes.push_back(std::move(made));
    };
    if (!is_plain) {
        const Json groups = {{{"pg_name", "0"},
                              {"pg_desc", "default_pg"},
                              {"ranks", Json::array()},
                              {"group_size", ranks},
                              {"group_count", 1}}};
        node(2, 1, "## process_group:init ##", {groups.dump()}, Json::array(), Json::array());
    }
    int id = 10;
    for (const TraceCall& call : calls) {
        const bool is_wait = call.name == "wait";
        const int out = call.out_elements < 0 ? call.elements : call.out_elements;
        const auto tensor = [&](int elements) {
            return Json{{3, 4, 0, elements, 4, fmt::format("cuda:{}", rank)}};
        };
        Json inputs = Json::array();
        if (!is_wait) {
            inputs.push_back(tensor(call.elements));
        }
        inputs.push_back(is_newest ? Json{call.sequence, false} : Json(call.sequence));
        if (has_address) {
            // Another address on every rank; a wait has none.
            inputs.push_back(is_wait ? Json(0) : Json(94'594'108'284'448 + rank * 4096));
        } else {
            inputs.push_back(is_wait ? Json{"", ""} : Json{"0", "default_pg"});
        }
        inputs.push_back(call.root);
        inputs.push_back(call.name);
        inputs.push_back(call.in_splits);
        inputs.push_back(call.out_splits);
        if (schema == "1.0.2") {
            inputs.push_back(is_wait ? 1 : ranks);
        } else if (!is_plain) {
            inputs.push_back(is_wait ? -1 : 0);
            inputs.push_back(is_wait ? -1 : 1);
            inputs.push_back(is_wait ? 1 : ranks);
        }
        Json attributes = Json::array();
        if (has_attributes) {
            const auto attribute = [&](const char* name, const char* type, Json value) {
                attributes.push_back({{"name", name}, {"type", type}, {"value", std::move(value)}});
            };
            attribute("collective_name", "string", call.name);
            attribute("dtype", "string", is_wait ? "Byte" : "Float");
            attribute("in_msg_nelems", "uint64", call.elements);
            attribute("out_msg_nelems", "uint64", out);
            attribute("in_split_size", "string", Json(call.in_splits).dump());
            attribute("out_split_size", "string", Json(call.out_splits).dump());
            attribute("pg_size", "uint64", is_wait ? 1 : ranks);
        }
        node(id, 1, "record_param_comms", std::move(inputs), is_wait ? Json::array() : tensor(out),
             std::move(attributes));
        id += 3;
    }
    // Written when it ends, so behind what it encloses.
    node(1, 1, "[pytorch|profiler|execution_trace|process]", Json::array(), Json::array(), Json::array());
    return {{"schema", is_plain ? std::string(schema) : std::string(schema) + "-chakra.0.0.4"},
            {"pid", 1},
            {"start_ts", 0},
            {"nodes", std::move(nodes)}};
}

}  // namespace astrolabe::testing
