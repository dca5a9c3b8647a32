/// A JSON file that is, or has, one long list of records, read record by record.
///
/// Memory: the text and one record; what stands beside the list is kept. Numbers and texts as the JSON
/// parser has them. Errors: what TraceFile says; no JSON, with line and column of where it breaks; no list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload {

struct JsonRecord {
    nlohmann::json value;
    int line = 0;  ///< on which it ends
};

/// Every element of the list `key` of the file's object, or of the file's list where `key` is empty, is given
/// to `take`, in order, until it returns false. The value is the object without that list's elements.
[[nodiscard]] Result<nlohmann::json> read_json_records(const std::filesystem::path& path,
                                                       std::string_view key,
                                                       const std::function<bool(JsonRecord& record)>& take);

}  // namespace astrolabe::workload
