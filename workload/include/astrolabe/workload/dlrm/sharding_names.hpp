/// How files name the ways to shard a table.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::TableSharding> {
    static constexpr std::array<std::pair<std::string_view, workload::TableSharding>, 7> kNames{
        {{"table_wise", workload::TableSharding::kTableWise},
         {"column_wise", workload::TableSharding::kColumnWise},
         {"table_column_wise", workload::TableSharding::kTableColumnWise},
         {"row_wise", workload::TableSharding::kRowWise},
         {"table_row_wise", workload::TableSharding::kTableRowWise},
         {"grid", workload::TableSharding::kGrid},
         {"data_parallel", workload::TableSharding::kDataParallel}}};
};

}  // namespace astrolabe
