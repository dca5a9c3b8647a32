/// The program of a set of traces on a number of ranks, with replicas where there are fewer traces.
#pragma once

#include "build_program.hpp"
#include "rank_graphs.hpp"
#include "replicate.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

class TraceProgram {
public:
    /// `ranks` of the recorded world have the traces; nothing is replicated unless `replication` says so.
    TraceProgram(RankGraphs graphs, std::vector<std::uint32_t> ranks, std::size_t world,
                 Replication replication, BuildOptions options)
        : graphs_(std::move(graphs)),
          ranks_(std::move(ranks)),
          world_(world),
          replication_(replication),
          options_(options) {}

    [[nodiscard]] int iterations() const { return graphs_.iterations; }

    /// Why there is no program on that many ranks; empty: there is one. `key` is that of the traces.
    [[nodiscard]] ValidationErrors errors(std::size_t ranks, const std::string& key) const;
    /// `adjust` changes the recorded graphs first. Preconditions: no errors, and `adjust` makes none.
    [[nodiscard]] system::Program program(std::size_t ranks,
                                          const std::function<void(RankGraphs&)>& adjust = {}) const;
    /// What the graphs on so many ranks hold, and what replication assumes. Precondition: no errors.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts(
        std::size_t ranks, const std::function<void(RankGraphs&)>& adjust = {}) const;

private:
    [[nodiscard]] Result<RankGraphs> graphs_for(std::size_t ranks,
                                                const std::function<void(RankGraphs&)>& adjust) const;

    RankGraphs graphs_;
    std::vector<std::uint32_t> ranks_;
    std::size_t world_;
    Replication replication_;
    BuildOptions options_;
};

}  // namespace astrolabe::workload
