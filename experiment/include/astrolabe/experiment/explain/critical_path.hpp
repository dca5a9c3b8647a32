/// The critical path of a run that happened: which operations its time was, one after another.
///
/// Model. An operation ends when it ends on its last rank. What it waited for last is, of its dependencies
/// and for a computation also of the computation before it, the one that ended last. Walking back so from the
/// operation that ended the run gives a chain whose segments tile the run exactly:
///
///     computation   [end of what it waited for, its end]
///     collective    [end of what it waited for, start of its first chunk]   waiting for room in the window
///                   [start of its first chunk, its end]                     collective
///
/// Exact where all ranks compute as long: a collective is issued on its last rank when the last of its
/// dependencies has ended on its last rank. Where durations differ, the rank on which a computation ends last
/// may have waited for a dependency that ended elsewhere later; its segment is then shorter than it computed.
/// A collective's segment contains its later chunks' waiting for others, and what it lost by sharing links.
///
/// A collective is charged to the resource that its own lower bounds name (bounds.hpp: CollectiveBound).
///
/// Complexity: O(operations · dependencies), whatever the ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/explain/bounds.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::experiment {

enum class SegmentKind : std::uint8_t { kCompute, kCollective, kWait };
[[nodiscard]] std::string_view to_string(SegmentKind kind);  ///< "compute", …

struct PathSegment {
    system::OperationId operation;
    SegmentKind kind{};
    Time from;
    Time to;  ///< > from
};

/// In order of time; empty where nothing takes time. Precondition: the run has finished.
[[nodiscard]] std::vector<PathSegment> critical_path(const system::Program& program,
                                                     const system::ExecutionReport& report);

/// What a segment's time goes to: "compute", "leaf-spine links", "host ports", "latency", "end points",
/// "waiting to start", or "network" on engines that share no links.
[[nodiscard]] std::string resource_of(const PathSegment& segment, const Bounds& bounds,
                                      const network::Fabric& fabric);

/// Segments of the operations of one name that go to one resource, over all iterations; or all of a resource.
struct PathShare {
    std::string operation;  ///< empty: of all
    SegmentKind kind{};
    std::string resource;
    Time time;
};

/// Longest first, then by name.
[[nodiscard]] std::vector<PathShare> shares_by_operation(const std::vector<PathSegment>& path,
                                                         const Bounds& bounds, const Experiment& experiment);
[[nodiscard]] std::vector<PathShare> shares_by_resource(const std::vector<PathShare>& by_operation);

/// Of the resource that has most of the path, the operation that has most of it: what binds the run.
/// `all` is the resource's. Nothing of a run that takes no time.
struct Binding {
    PathShare operation;
    PathShare all;
};
[[nodiscard]] std::optional<Binding> binding_of(const std::vector<PathShare>& by_operation);

}  // namespace astrolabe::experiment
