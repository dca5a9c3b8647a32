/// How files name the precisions of matrix products.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/workload/device/device.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::Precision> {
    static constexpr std::array<std::pair<std::string_view, workload::Precision>, 4> kNames{
        {{"fp32", workload::Precision::kFp32},
         {"tf32", workload::Precision::kTf32},
         {"bf16", workload::Precision::kBf16},
         {"fp16", workload::Precision::kFp16}}};
};

}  // namespace astrolabe
