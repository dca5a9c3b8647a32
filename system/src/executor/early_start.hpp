/// Whether ranks may start a collective before its whole group has issued it.
///
/// Ranks follow one order of chunks per group (collective_engine.hpp). Why groups do not deadlock:
/// an unrooted collective that one rank has finished was started by its whole group, so it ends everywhere (a
/// rooted one may end on a rank before others start). Let rank r wait for a collective E that s put into the
/// order of their group and r has not issued. All that E depends on is finished at s; what is unfinished at r
/// is therefore a collective of another group, one that holds r and not s. Where the groups of any two
/// partitions are disjoint or nested, that group is inside the first, and repeating the argument leads to
/// ever smaller groups, hence to an end. Where they cross (rows and columns of a grid) or hold rooted
/// collectives, it leads in circles, and groups can wait for each other's orders; there a collective only
/// becomes eligible once its whole group has issued it. Then every rank can always start its next chunk, and
/// the first unfinished chunk of every order progresses.
///
/// The argument needs that r and s wait for the same before E. Where ranks differ E may wait on r for a chain
/// of r's own operations that leads through other groups back to s, so there, too, whole groups issue first.
#pragma once

#include <astrolabe/system/program/participants.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system::detail {

/// All ranks have the same program, the groups of all partitions that communicate are disjoint or nested, and
/// no collective among several partitions is rooted. O(partitions² · ranks · log groups).
[[nodiscard]] bool may_start_early(const Program& program, const Participants& participants);

}  // namespace astrolabe::system::detail
