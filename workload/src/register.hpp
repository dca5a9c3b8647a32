/// What the sources of workloads share. A workload is registered by `register_<name>` in its own source and
/// one line in register.cpp.
#pragma once

#include "loops/training_loop.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/components.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::EmbeddingUpdate> {
    static constexpr std::array<std::pair<std::string_view, workload::EmbeddingUpdate>, 3> kNames{
        {{"after_gradients", workload::EmbeddingUpdate::kAfterGradients},
         {"before_gradients", workload::EmbeddingUpdate::kBeforeGradients},
         {"stale", workload::EmbeddingUpdate::kStale}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {

/// The description of a job, one (name, value) a line.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// S per rank and iteration of every kind that is there.
void append_traffic(Facts& facts, const std::array<Bytes, system::kCollectiveKinds>& traffic);

}  // namespace astrolabe::workload
