#include "replicate.hpp"

#include "matching.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::workload {
namespace {

constexpr std::size_t kMostReplicationErrors = 20;

class Replicator {
public:
    Replicator(const RankGraphs& recorded, std::size_t world, std::size_t ranks)
        : recorded_(recorded),
          world_(world),
          ranks_(ranks) {}

    Result<RankGraphs> run() {
        check();
        if (!errors_.empty()) {
            return errors_;
        }
        made_ = recorded_;
        made_.ranks.clear();
        made_.ranks.reserve(ranks_);
        std::vector<system::RankId> all;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            all.emplace_back(rank);
        }
        // The recorded groups are all the same one.
        std::fill(made_.groups.begin(), made_.groups.end(), all);
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            add_rank(recorded_.ranks[rank % recorded_.ranks.size()], rank);
        }
        return std::move(made_);
    }

private:
    void error(TaskPlace place, std::string_view code, const std::string& message, std::string hint) {
        if (errors_.size() < kMostReplicationErrors) {
            errors_.push_back(
                task_error(recorded_, place, fmt::format("replicate.{}", code), message, std::move(hint)));
        }
    }

    void check() {
        for (std::uint32_t rank = 0; rank < recorded_.ranks.size(); ++rank) {
            const RankGraph& graph = recorded_.ranks[rank];
            for (std::uint32_t i = 0; i < graph.tasks.size() && errors_.size() < kMostReplicationErrors;
                 ++i) {
                check_task(graph, graph.tasks[i], {rank, i});
            }
        }
    }

    void check_task(const RankGraph& graph, const RankTask& task, TaskPlace place) {
        if (task.kind == TaskKind::kSend || task.kind == TaskKind::kReceive) {
            error(place, "message", "data_parallel does not say which rank's messages a copy's are",
                  "give the traces of all ranks");
            return;
        }
        if (task.kind != TaskKind::kCollective) {
            return;
        }
        const std::size_t size = recorded_.groups[task.group].size();
        if (size != world_) {
            error(
                place, "group",
                fmt::format("it is of group '{}' of {} of the {} recorded ranks, and data_parallel does not "
                            "say how such groups grow",
                            recorded_.group_names[task.group], size, world_),
                "give the traces of all ranks");
            return;
        }
        if (task.splits != RankTask::kNone && !is_even(graph.splits[task.splits]) && ranks_ % world_ != 0) {
            error(place, "splits",
                  fmt::format("its sizes differ by rank, and {} ranks are no multiple of the {} recorded",
                              ranks_, world_),
                  fmt::format("use a multiple of {} ranks", world_));
        }
    }

    [[nodiscard]] static bool is_even(const std::vector<Bytes>& splits) {
        return std::adjacent_find(splits.begin(), splits.end(), std::not_equal_to<>()) == splits.end();
    }
    /// Splits of one of the recorded ranks for all ranks.
    [[nodiscard]] std::vector<Bytes> grown(const std::vector<Bytes>& splits) const {
        std::vector<Bytes> made(ranks_);
        if (ranks_ % world_ != 0) {
            // Even: the whole in parts that differ by a byte at most.
            const Bytes whole = splits.front() * splits.size();
            for (std::size_t rank = 0; rank < ranks_; ++rank) {
                made[rank] = part(whole, rank, ranks_);
            }
            return made;
        }
        const std::size_t copies = ranks_ / world_;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            made[rank] = part(splits[rank % world_], rank / world_, copies);
        }
        return made;
    }
    [[nodiscard]] static Bytes part(Bytes whole, std::size_t place, std::size_t parts) {
        const auto end_of = [&](std::size_t i) {
            return static_cast<std::int64_t>(static_cast<detail::Int128>(whole.count()) *
                                             static_cast<std::int64_t>(i) / static_cast<std::int64_t>(parts));
        };
        return Bytes(end_of(place + 1) - end_of(place));
    }

    void add_rank(const RankGraph& graph, std::size_t rank) {
        RankGraph& made = made_.ranks.emplace_back(graph);
        for (std::vector<Bytes>& splits : made.splits) {
            splits = grown(splits);
        }
        if (rank >= recorded_.ranks.size()) {
            made.source = fmt::format("{} (as rank {})", graph.source, rank);
        }
    }

    const RankGraphs& recorded_;
    std::size_t world_;
    std::size_t ranks_;
    RankGraphs made_;
    Diagnostics errors_;
};

}  // namespace

Result<RankGraphs> replicate(const RankGraphs& recorded, std::size_t world, std::size_t ranks) {
    return Replicator(recorded, world, ranks).run();
}

std::vector<std::pair<std::string, std::string>> replication_facts(std::size_t traces, std::size_t world,
                                                                   std::size_t ranks) {
    if (traces == ranks && world == ranks) {
        return {};
    }
    return {
        {"replicated",
         fmt::format("data_parallel: {} traces of {} recorded ranks for {} ranks; rank r does what trace r "
                     "mod {} does, every rank with the bytes of its trace",
                     traces, world, ranks, traces)}};
}

}  // namespace astrolabe::workload
