/// Names of the order of computations, as workloads made of rank graphs have it.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe {

template <>
struct EnumNames<system::ComputeOrder> {
    static constexpr std::array<std::pair<std::string_view, system::ComputeOrder>, 2> kNames{
        {{"program", system::ComputeOrder::kProgram}, {"first_come", system::ComputeOrder::kFirstCome}}};
};

}  // namespace astrolabe
