/// Results as points give them, for tests of what keeps them.
#pragma once

#include <string>

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

inline StoredResult done(const std::string& key, double wall_seconds = 0.25) {
    StoredResult result;
    result.key = key;
    result.status = PointStatus::kDone;
    result.fingerprint = "f" + key;
    result.summary = {{"ranks", 4}, {"mean_iteration_time_s", 0.5}, {"network", {{"packets", 7}}}};
    result.resolved = "schema: astrolabe/1\n";
    result.wall_seconds = wall_seconds;
    result.peak_rss_bytes = 1'000'000;
    return result;
}

inline StoredResult failed(const std::string& key, const std::string& error) {
    StoredResult result;
    result.key = key;
    result.status = PointStatus::kFailed;
    result.error = error;
    return result;
}

}  // namespace astrolabe::study
