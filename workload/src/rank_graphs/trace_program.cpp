#include "trace_program.hpp"

#include "graph_summary.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace astrolabe::workload {
namespace {

/// "ranks 0, 1, 2, …" of many.
std::string say_ranks(const std::vector<std::uint32_t>& ranks) {
    constexpr std::size_t kMostNamed = 8;
    const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), kMostNamed));
    return fmt::format("{}{}", fmt::join(ranks.begin(), end, ", "), ranks.size() > kMostNamed ? ", …" : "");
}

}  // namespace

ValidationErrors TraceProgram::errors(std::size_t ranks, const std::string& key) const {
    ValidationErrors errors;
    if (replication_ == Replication::kNone) {
        if (ranks_.size() != world_) {
            add_error(errors, key,
                      fmt::format("{} of the {} recorded ranks have a trace: {}", ranks_.size(), world_,
                                  say_ranks(ranks_)),
                      "give the others, or set replicate: data_parallel");
        } else if (ranks != world_) {
            add_error(errors, key,
                      fmt::format("there are traces of {} ranks, and the cluster has {}", world_, ranks),
                      fmt::format("set cluster.ranks to {}, or replicate: data_parallel", world_));
        }
        if (!errors.empty()) {
            return errors;
        }
    }
    const Result<RankGraphs> graphs = graphs_for(ranks, {});
    const Result<system::Program> program = graphs ? build_program(*graphs, options_) : graphs.error();
    if (!program) {
        for (const Diagnostic& error : program.error()) {
            const std::string where = error.where.to_string();
            add_error(errors, key, where.empty() ? error.message : where + ": " + error.message, error.hint);
        }
    }
    return errors;
}

Result<RankGraphs> TraceProgram::graphs_for(std::size_t ranks,
                                            const std::function<void(RankGraphs&)>& adjust) const {
    RankGraphs graphs = graphs_;
    if (adjust) {
        adjust(graphs);
    }
    if (replication_ == Replication::kDataParallel) {
        return replicate(graphs, world_, ranks);
    }
    return graphs;
}

system::Program TraceProgram::program(std::size_t ranks,
                                      const std::function<void(RankGraphs&)>& adjust) const {
    return build_program(graphs_for(ranks, adjust).value(), options_).value();
}

std::vector<std::pair<std::string, std::string>> TraceProgram::facts(
    std::size_t ranks, const std::function<void(RankGraphs&)>& adjust) const {
    const Result<RankGraphs> graphs = graphs_for(ranks, adjust);
    std::vector<std::pair<std::string, std::string>> facts =
        readable_facts(graphs.value(), summarize(graphs.value()));
    if (replication_ == Replication::kDataParallel) {
        for (auto& fact : replication_facts(graphs_.ranks.size(), world_, ranks)) {
            facts.push_back(std::move(fact));
        }
    }
    return facts;
}

}  // namespace astrolabe::workload
