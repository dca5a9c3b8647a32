/// An operation on one of the ranks that take part in it.
#pragma once

#include <astrolabe/system/ids.hpp>

namespace astrolabe::system::detail {

struct OperationOnRank {
    OperationId operation;
    RankId rank;
};

}  // namespace astrolabe::system::detail
