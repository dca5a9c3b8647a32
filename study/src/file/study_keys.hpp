/// Keys of a search study as they are written (search_study.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/study/search/search_study.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::study {

/// A choice and where it is written.
struct GivenChoice {
    Choice choice;
    SourceRange where;
};

struct TableKeys {
    std::vector<workload::TableSharding> kinds;
    std::vector<std::int64_t> shards;
    std::vector<std::int64_t> ranks;
    std::optional<std::int64_t> ranks_per_host;
};

struct OptimizeKeys : SearchOptions {
    std::vector<GivenChoice> choices;
    std::optional<TableKeys> tables;
};

struct StudyKeys {
    std::string name;
    ConfigNode base;
    OptimizeKeys optimize;
};

[[nodiscard]] Schema<StudyKeys> study_schema();

}  // namespace astrolabe::study
