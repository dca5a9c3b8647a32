#include "keywords.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

std::string_view to_string(AstraKeyword keyword) {
    for (const auto& [name, candidate] : kAstraKeywords) {
        if (candidate == keyword) {
            return name;
        }
    }
    invariant_failed("keyword is named", "every keyword has a name");
}

LayerSpans spans(AstraKeyword policy, std::size_t layer) {
    switch (policy) {
        case AstraKeyword::kData:
        case AstraKeyword::kMicro:
            return {Span::kNone, Span::kAll};
        case AstraKeyword::kModel:
        case AstraKeyword::kDistributedInference:
            return {Span::kAll, Span::kNone};
        case AstraKeyword::kHybridDataModel:
            return {Span::kFirst, Span::kAllButFirst};
        case AstraKeyword::kHybridModelData:
            return {Span::kAllButFirst, Span::kFirst};
        case AstraKeyword::kHybridDlrm:
        case AstraKeyword::kHybridDlrmEnhanced:
            return {layer == 0 ? Span::kAll : Span::kNone, Span::kAll};
        case AstraKeyword::kHybridTransformer:
        case AstraKeyword::kHybridTransformerFwdInBckwd:
            return {Span::kTensorGroup, Span::kAllButTensorGroup};
        case AstraKeyword::kHybridCustomized:
            break;
    }
    invariant_failed("policy spans dimensions", "layers of HYBRID_CUSTOMIZED have policies of their own");
}

}  // namespace astrolabe::workload
