/// A JSON file that is, or has, one long list of records, read record by record.
///
/// Memory: a piece of the text and one record; what stands beside the list is kept. Numbers and texts as the
/// JSON parser has them. Errors: what TraceFile says; no JSON, with line and column of where it breaks; no
/// list; what JsonLimits has.
#pragma once

#include "trace_file.hpp"

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

/// Far above what real files have. A file of gzip is a thousandth of its text, and text an eighth of what the
/// parser makes of it.
struct JsonLimits {
    std::uint64_t held = kMostHeldBytes;              ///< bytes of a record with all beside the list
    std::uint64_t records = std::uint64_t{1} << 25U;  ///< as many events as a timeline of some 8 GiB has
    std::uint64_t bytes = std::uint64_t{1} << 33U;    ///< of the file, unpacked
};

/// Every element of the list `key` of the file's object, or of the file's list where `key` is empty, is given
/// to `take`, in order, until it returns false. The value is the object without that list's elements.
[[nodiscard]] Result<nlohmann::json> read_json_records(const std::filesystem::path& path,
                                                       std::string_view key,
                                                       const std::function<bool(JsonRecord& record)>& take,
                                                       const JsonLimits& most = {});

}  // namespace astrolabe::workload
