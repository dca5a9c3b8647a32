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
/// that does not divide; what a rank expects of another that does not send it.
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
    std::vector<std::string> addresses;  ///< in the order of their first use
};

class CallBook {
public:
    CallBook(RankGraphs& graphs, std::int64_t world_size)
        : graphs_(graphs),
          world_size_(world_size) {}

    /// The task of a call that is no wait, without iteration; splits go to `graph`. Nothing with an error.
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

    [[nodiscard]] std::string key_of(const CommCall& call, const GroupNames& names) const;
    [[nodiscard]] std::optional<std::vector<system::RankId>> members_of(const CommCall& call,
                                                                        const GroupNames& names,
                                                                        const RankGraph& graph,
                                                                        Diagnostics& errors) const;
    [[nodiscard]] std::uint32_t group(std::vector<system::RankId> members, const std::string& key);
    [[nodiscard]] bool sequences_are_unique() const;
    void check_received(Diagnostics& errors) const;

    RankGraphs& graphs_;
    std::int64_t world_size_;
    std::map<std::string, std::uint32_t> keys_;
    std::map<std::string, int> group_names_;  // how many groups have a name
    std::vector<Placed> placed_;
    std::uint32_t last_key_ = 0;  // of the last task made
};

/// An error about a call of a file.
[[nodiscard]] Diagnostic call_error(const std::string& file, const CommCall& call, std::string_view code,
                                    const std::string& message, std::string hint = {});

}  // namespace astrolabe::workload::pytorch
