/// Names of the keywords, and which logical dimensions their collectives span.
#pragma once

#include "astra_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace astrolabe::workload {

using NamedKeyword = std::pair<std::string_view, AstraKeyword>;

inline constexpr std::array<NamedKeyword, 11> kAstraKeywords{
    {{"DATA", AstraKeyword::kData},
     {"MODEL", AstraKeyword::kModel},
     {"HYBRID_DATA_MODEL", AstraKeyword::kHybridDataModel},
     {"HYBRID_MODEL_DATA", AstraKeyword::kHybridModelData},
     {"MICRO", AstraKeyword::kMicro},
     {"DISTRIBUTED_INFERENCE", AstraKeyword::kDistributedInference},
     {"HYBRID_DLRM", AstraKeyword::kHybridDlrm},
     {"HYBRID_DLRM_ENHANCED", AstraKeyword::kHybridDlrmEnhanced},
     {"HYBRID_TRANSFORMER", AstraKeyword::kHybridTransformer},
     {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", AstraKeyword::kHybridTransformerFwdInBckwd},
     {"HYBRID_CUSTOMIZED", AstraKeyword::kHybridCustomized}}};

[[nodiscard]] std::string_view to_string(AstraKeyword keyword);

/// The dimensions of a collective; always neighbours.
enum class Span : std::uint8_t { kNone, kAll, kFirst, kAllButFirst, kTensorGroup, kAllButTensorGroup };

struct LayerSpans {
    Span activations = Span::kNone;  ///< forward and input gradient
    Span weights = Span::kNone;
};
/// Precondition: not kHybridCustomized, whose layers have policies of their own.
[[nodiscard]] LayerSpans spans(AstraKeyword policy, std::size_t layer);

}  // namespace astrolabe::workload
