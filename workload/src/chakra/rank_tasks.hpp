/// The nodes of one rank become tasks: what each is, what it waits for, on which stream.
#pragma once

#include "chakra_node.hpp"
#include "chakra_traces.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::workload::chakra {

/// Members by name of group.
using GroupTable = std::map<std::string, std::vector<system::RankId>, std::less<>>;

/// A stream as traces number it.
struct StreamKey {
    bool is_host = false;
    std::optional<std::int64_t> number = std::nullopt;

    friend auto operator<=>(const StreamKey&, const StreamKey&) = default;
};

/// What the ranks of a set share while they are read.
struct SharedState {
    const ReadOptions& options;
    std::size_t ranks = 0;
    GroupTable groups;  ///< of the file of groups
    RankGraphs& graphs;
    /// In the order in which they were met; tasks refer to these until all ranks are known.
    std::vector<StreamKey> streams;
    std::uint64_t untyped_collectives = 0;  ///< taken as computations
    std::uint64_t ignored_control_dependencies = 0;

    [[nodiscard]] std::uint16_t stream(const StreamKey& key);
};

class RankTasks {
public:
    RankTasks(SharedState& shared, std::size_t rank, const std::filesystem::path& file);

    /// The next node of the file. What is wrong with it is kept for `finish`; false: give up.
    bool add(const ChakraNode& node);

    /// The list of tasks, or all that is wrong with the file, at most 20 errors.
    [[nodiscard]] Result<RankGraph> finish(const ChakraMetadata& metadata);
    /// Of the tasks, where the options keep it; to be called after `finish`.
    [[nodiscard]] std::vector<TaskWork> take_work() { return std::move(work_); }

private:
    /// A node, in the order of the file until `finish` sorts them.
    struct Staged {
        RankTask task;
        std::uint64_t place = 0;             ///< in the file
        std::uint64_t first_dependency = 0;  ///< into dependencies_
        std::uint32_t data_count = 0;
        std::uint32_t control_count = 0;
        std::uint32_t group_name = RankTask::kNone;  ///< into group_names_
        CommType comm_type = CommType::kAllReduce;
        bool is_task = true;        ///< false: finishes at once, and is no task
        bool is_on_stream = false;  ///< of a numbered stream
    };

    void error(std::string code, std::uint64_t id, std::uint64_t place, std::string_view name,
               const std::string& message, std::string hint = {});
    void error(std::string code, const ChakraNode& node, const std::string& message, std::string hint = {});
    void error(std::string code, const Staged& staged, const std::string& message, std::string hint = {});

    void stage_computation(const ChakraNode& node, Staged& staged);
    void stage_collective(const ChakraNode& node, Staged& staged);
    void stage_message(const ChakraNode& node, Staged& staged);
    void stage_own(const ChakraNode& node, Staged& staged);
    [[nodiscard]] Bytes size_of(const ChakraNode& node);
    void read_groups(const ChakraNode& node);

    void sort();
    void find_places();
    /// Where the node of an id is in staged_, or kNone.
    [[nodiscard]] std::uint32_t node_of(std::uint64_t id) const;
    [[nodiscard]] std::uint32_t group_of(const Staged& staged);
    [[nodiscard]] std::vector<system::RankId> members_along(std::uint64_t dimensions);
    void complete_collective(Staged& staged);
    void resolve(std::uint32_t node, bool with_control, std::vector<std::uint32_t>& tasks);
    /// Dependencies, as (task, the one before), that keep collectives and messages in the order of their
    /// stream.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> stream_order() const;
    /// Those that let collectives and sends follow one another, by id where dependencies allow. None where
    /// tasks wait for each other in a circle, which others report.
    void add_communication_order(const RankGraph& graph,
                                 std::vector<std::pair<std::uint32_t, std::uint32_t>>& extra) const;
    [[nodiscard]] bool is_numbered(std::uint16_t stream) const;
    [[nodiscard]] RankGraph make_graph(bool with_control, std::uint32_t tasks);

    SharedState& shared_;
    std::uint32_t rank_;
    std::string file_;
    bool is_json_;
    std::vector<Staged> staged_;
    std::vector<std::uint64_t> dependencies_;  // ids
    std::vector<TaskWork> work_;
    std::vector<std::string> group_names_;
    std::map<std::string, std::uint32_t> group_name_places_;
    std::map<std::uint64_t, std::uint64_t> involved_;       // by place in group_names_: bits of dimensions
    std::map<std::uint32_t, std::uint32_t> group_by_name_;  // of the graphs, by place in group_names_
    GroupTable own_groups_;
    std::map<std::uint32_t, std::uint64_t> next_match_;  // by group
    bool is_pytorch_ = false;
    std::vector<std::vector<Bytes>> splits_;
    std::vector<std::uint32_t> place_by_id_;  // empty where ids are sparse
    std::vector<std::uint32_t> task_of_;      // by node; kNone: no task
    std::vector<std::uint32_t> waiting_;      // of `resolve`
    std::vector<std::uint32_t> seen_;         // by node: the last round of `resolve` that met it
    std::uint32_t round_ = 0;
    Diagnostics errors_;
};

}  // namespace astrolabe::workload::chakra
