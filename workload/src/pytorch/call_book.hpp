/// Calls of all ranks as collectives and messages of rank graphs: groups, matching, and what no rank can
/// check by itself.
///
/// Groups. A name has the members that the trace's process groups give it, else those that the call says,
/// else all ranks, where its size is theirs. Of addresses only the order of their first use is known, so they
/// must be of all ranks; the k-th of every rank is one.
///
/// Matching. By sequence number where every call of every rank has one that is its alone in its group, else
/// the k-th call of a group on each member. A barrier is a collective as others are.
///
/// Errors: a group whose members are not known, that a member is twice in or is no rank, or that the caller
/// is not in; a root or a peer outside the group; splits that are not as many as members; an even all_to_all
/// that does not divide; what a rank expects of another that does not send it; groups of more than 2^26
/// members together, gathers and scatters of more than 2^27, all of which are in memory.
///
/// Complexity: O(log members) a call, and of each group of a rank once O(members); of uneven ones O(members)
/// a call.
#pragma once

#include "../rank_graphs/rank_graphs.hpp"
#include "comm_call.hpp"
#include "execution_trace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::workload::pytorch {

/// What a source says of the groups of one rank.
struct GroupNames {
    std::uint32_t rank = 0;  ///< that it is of, in the recorded world
    ProcessGroups groups;
    std::map<std::string, std::size_t> addresses;  ///< 1, 2, … in the order of their first use
};

class CallBook {
public:
    /// Ranks that are held in memory, where a few bytes of a file may say many.
    struct Limits {
        std::uint64_t members = std::uint64_t{1} << 26U;  ///< of all groups together
        std::uint64_t shares = std::uint64_t{1} << 27U;   ///< of all gathers and scatters together
    };

    CallBook(RankGraphs& graphs, std::int64_t world_size, Limits limits)
        : graphs_(graphs),
          limits_(limits),
          world_size_(world_size),
          world_(GroupRanks::spaced(0, 1, static_cast<std::size_t>(world_size))) {}

    /// The task of a call that is no wait, without iteration; splits go to `graph`. Nothing with an error.
    /// All calls of a rank follow one another, with the same `names`, and calls stay where they are.
    [[nodiscard]] std::optional<RankTask> task_of(const CommCall& call, const GroupNames& names,
                                                  RankGraph& graph, Diagnostics& errors);
    /// The task of `call` became `task` of the `place`-th rank of the graphs, `rank` of the recorded world.
    void placed(const CommCall& call, std::size_t place, std::uint32_t rank, std::uint32_t task);

    /// Numbers all collectives, and checks what ranks send one another.
    void match(Diagnostics& errors);

private:
    struct Placed {
        std::size_t place = 0;
        std::uint32_t rank = 0;
        std::uint32_t task = 0;
        std::uint32_t key = 0;
        bool is_message = false;
        std::optional<std::int64_t> sequence;
        std::vector<std::int64_t> received;  // bytes expected by member; empty: not known
    };

    /// A group of a rank, checked.
    struct Group {
        std::size_t own = 0;                                // the rank's position
        std::optional<std::uint32_t> place = std::nullopt;  // in the graphs; nothing: it has none yet
    };
    /// The place of a list, or the spacing of ranks.
    using GroupKey = std::pair<const GroupRanks*, GroupRanks::Spacing>;

    [[nodiscard]] std::string key_of(const CommCall& call, const GroupNames& names) const;
    /// Nothing with an error.
    [[nodiscard]] const GroupRanks* members_of(const CommCall& call, const GroupNames& names,
                                               const RankGraph& graph, Diagnostics& errors) const;
    /// Likewise.
    [[nodiscard]] Group* checked(const GroupRanks& members, const CommCall& call, const GroupNames& names,
                                 const RankGraph& graph, Diagnostics& errors);
    [[nodiscard]] std::uint32_t group(std::vector<system::RankId> members, const std::string& key);
    [[nodiscard]] bool sequences_are_unique() const;
    void check_received(Diagnostics& errors) const;

    RankGraphs& graphs_;
    Limits limits_;
    std::int64_t world_size_;
    GroupRanks world_;
    std::size_t ranks_ = 0;  // of the graphs, before the one that groups_ are of
    std::map<GroupKey, Group> groups_;
    std::uint64_t members_ = 0;  // of all groups of the graphs
    std::uint64_t shares_ = 0;   // of all gathers and scatters
    std::map<std::string, std::uint32_t> keys_;
    std::map<std::string, int> group_names_;  // how many groups have a name
    std::vector<Placed> placed_;
    std::uint32_t last_key_ = 0;  // of the last task made
};

/// An error about a call of a file.
[[nodiscard]] Diagnostic call_error(const std::string& file, const CommCall& call, std::string_view code,
                                    const std::string& message, std::string hint = {});

}  // namespace astrolabe::workload::pytorch
