/// The critical path of a run that happened: what its time was, one after another, and what each part waited
/// for.
///
/// Model. Two paths, both of which tile the run exactly.
///
/// *With causes* (network/causal_path.hpp) the path follows messages and timers through the network and its
/// queues: what ended the run, what had caused that, and so on back to time 0. Each segment belongs to one
/// operation, and its time to the resources that held it up at each instant. A chunk that waited for room in
/// the window of its rank was started by the chunk that made room, so the wait is on the path as that one's
/// time; a message behind others likewise. Sums over segments answer "what is the run bound by": making a
/// resource faster by a little saves its share of the path, to first order, as long as no other path becomes
/// the longest.
///
/// *Without causes*, where following them would cost too much, segments are operations: an operation ends
/// when it ends on its last rank, and what it waited for last is, of its dependencies and for a computation
/// also of the computation before it on its stream, the one that ended last. Segments then have no resources.
///
/// Complexity: with causes that of causal_path.hpp; without O(operations · dependencies), whatever the ranks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/causal_path.hpp>
#include <astrolabe/network/resources.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::experiment {

struct PathSegment {
    system::OperationId operation;
    Time from;
    Time to;                  ///< > from
    std::vector<Time> times;  ///< by resource, they sum to `to` - `from`; empty without causes
};

/// Without causes, in order of time; empty where nothing takes time. Precondition: the run has finished. Of
/// an estimate, in which an operation may seem to end before what it waits for, the path keeps to the times.
[[nodiscard]] std::vector<PathSegment> path_of_operations(const system::Program& program,
                                                          const system::ExecutionReport& report,
                                                          bool is_estimate = false);
/// With causes, of messages and timers that are labelled by operations; those without label go to the
/// operation that they delayed.
[[nodiscard]] std::vector<PathSegment> path_of_causes(const std::vector<network::CausalSegment>& path);

/// "collective", "receive", or the name of the stream on which it computes: "compute" of programs with one.
[[nodiscard]] std::string_view kind_name(const system::Program& program, const system::Operation& operation);
/// What held an operation up: where that is computation, the name of its stream.
[[nodiscard]] const std::string& resource_name(const network::Resources& resources,
                                               network::ResourceId resource, const system::Program& program,
                                               const system::Operation& operation);
/// That held up most of a segment; nothing without causes.
[[nodiscard]] std::optional<network::ResourceId> main_resource(const PathSegment& segment);

/// Of the operations of one name what goes to one resource, over all iterations; or all of a resource.
struct PathShare {
    std::string operation;  ///< empty: of all
    std::string kind;       ///< likewise
    std::string resource;   ///< empty without causes
    Time time;
};

/// Longest first, then by name. `resources` is null without causes.
[[nodiscard]] std::vector<PathShare> shares_by_operation(const std::vector<PathSegment>& path,
                                                         const network::Resources* resources,
                                                         const system::Program& program);
/// Without causes empty.
[[nodiscard]] std::vector<PathShare> shares_by_resource(const std::vector<PathShare>& by_operation);

/// Of the resource that has most of the path, the operation that has most of it: what binds the run.
/// `all` is the resource's. Nothing of a run that takes no time, or without causes.
struct Binding {
    PathShare operation;
    PathShare all;
};
[[nodiscard]] std::optional<Binding> binding_of(const std::vector<PathShare>& by_operation);

}  // namespace astrolabe::experiment
