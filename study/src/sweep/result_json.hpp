/// A result of a point on its way between processes.
#pragma once

#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

[[nodiscard]] nlohmann::ordered_json result_json(const StoredResult& result);
/// Or why it is none.
[[nodiscard]] std::variant<StoredResult, std::string> result_in(const nlohmann::ordered_json& json);
/// Why tables cannot be made of the summary of a point that is done; empty: they can.
[[nodiscard]] std::string summary_defect(const nlohmann::ordered_json& summary);

}  // namespace astrolabe::study
