/// Keys of a study as they are written (study.hpp).
#pragma once

#include "alternatives.hpp"
#include "condition.hpp"
#include "figure_names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/study/slurm/slurm_options.hpp>

namespace astrolabe::study {

struct OverrideKeys {
    Condition when;
    std::vector<ConfigEntry> set;  ///< paths and their values
    SourceRange where;
};

struct RepeatKeys {
    std::int64_t count = 0;           ///< seeds from the base's on
    std::vector<std::int64_t> seeds;  ///< or these
    SourceRange where;
};

struct SweepKeys {
    std::string name;
    ConfigNode base;
    std::vector<Alternatives> vary;
    std::vector<std::vector<Alternatives>> zip;  ///< all of a group are of one length
    std::vector<ConfigEntry> derived;            ///< scalars
    std::optional<Condition> when;
    SourceRange when_place;
    std::vector<OverrideKeys> overrides;
    RepeatKeys repeat;
    std::vector<FigureName> report;
    SlurmOptions slurm;
};

[[nodiscard]] Schema<SweepKeys> sweep_schema();

}  // namespace astrolabe::study
