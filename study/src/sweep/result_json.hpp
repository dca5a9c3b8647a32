/// A result of a point on its way between processes.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

[[nodiscard]] nlohmann::ordered_json result_json(const StoredResult& result);
/// Nothing if it is no result.
[[nodiscard]] std::optional<StoredResult> result_in(const nlohmann::ordered_json& json);

}  // namespace astrolabe::study
