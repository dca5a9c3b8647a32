#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <astrolabe/experiment/explain/critical_path.hpp>

namespace astrolabe::experiment {
namespace {

using system::OperationId;

/// The longest first; names decide among equals.
void sort_shares(std::vector<PathShare>& shares) {
    std::sort(shares.begin(), shares.end(), [](const PathShare& a, const PathShare& b) {
        return std::tuple(-a.time.count(), std::tie(a.operation, a.resource)) <
               std::tuple(-b.time.count(), std::tie(b.operation, b.resource));
    });
}

}  // namespace

std::string_view to_string(SegmentKind kind) {
    switch (kind) {
        case SegmentKind::kCompute:
            return "compute";
        case SegmentKind::kCollective:
            return "collective";
        case SegmentKind::kWait:
            return "wait";
    }
    ASTROLABE_ASSERT(false, "every kind has a name");
}

std::vector<PathSegment> critical_path(const system::Program& program,
                                       const system::ExecutionReport& report) {
    IndexedVector<OperationId, std::optional<OperationId>> computed_before(program.operations.size(), {});
    std::optional<OperationId> computed;
    std::optional<OperationId> at;
    const auto end_of = [&report](OperationId id) { return report.operations[id].last_finish; };
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const OperationId id(i);
        computed_before[id] = computed;
        if (program.operations[id].is_compute()) {
            computed = id;
        }
        if (!at || end_of(id) > end_of(*at)) {
            at = id;
        }
    }
    std::vector<PathSegment> path;
    const auto add = [&path](OperationId id, SegmentKind kind, Time from, Time to) {
        if (to > from) {
            path.push_back({id, kind, from, to});
        }
    };
    while (at) {
        const OperationId id = *at;
        const system::Operation& operation = program.operations[id];
        std::optional<OperationId> last = operation.is_compute() ? computed_before[id] : std::nullopt;
        for (const OperationId dependency : operation.dependencies) {
            if (!last || end_of(dependency) > end_of(*last)) {
                last = dependency;
            }
        }
        const Time begin = last ? end_of(*last) : Time(0);
        const Time end = end_of(id);
        ASTROLABE_ASSERT(begin <= end, "an operation ends after what it waits for");
        if (operation.is_compute()) {
            add(id, SegmentKind::kCompute, begin, end);
        } else {
            const Time start = std::clamp(report.operations[id].first_start, begin, end);
            add(id, SegmentKind::kCollective, start, end);
            add(id, SegmentKind::kWait, begin, start);
        }
        at = last;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

std::string resource_of(const PathSegment& segment, const Bounds& bounds, const network::Fabric& fabric) {
    if (segment.kind == SegmentKind::kCompute) {
        return "compute";
    }
    if (segment.kind == SegmentKind::kWait) {
        return "waiting to start";
    }
    const CollectiveBound& bound = bounds.collectives[segment.operation];
    if (bound.value == Time(0)) {
        return "network";
    }
    switch (bound.binding()) {
        case Resource::kLinks:
            return bound.busiest ? link_tier(fabric, *bound.busiest) : "host ports";
        case Resource::kLatency:
            return "latency";
        case Resource::kEndPoints:
            return "end points";
    }
    ASTROLABE_ASSERT(false, "every resource has a name");
}

std::vector<PathShare> shares_by_operation(const std::vector<PathSegment>& path, const Bounds& bounds,
                                           const Experiment& experiment) {
    std::map<std::tuple<std::string, SegmentKind, std::string>, PathShare> shares;
    for (const PathSegment& segment : path) {
        const std::string& name = experiment.program.operations[segment.operation].name;
        const std::string resource = resource_of(segment, bounds, *experiment.fabric);
        const auto [entry, is_new] = shares.try_emplace({name, segment.kind, resource});
        if (is_new) {
            entry->second = {name, segment.kind, resource, Time(0)};
        }
        entry->second.time += segment.to - segment.from;
    }
    std::vector<PathShare> list;
    for (auto& [key, share] : shares) {
        list.push_back(std::move(share));
    }
    sort_shares(list);
    return list;
}

std::vector<PathShare> shares_by_resource(const std::vector<PathShare>& by_operation) {
    std::map<std::string, PathShare> shares;
    for (const PathShare& share : by_operation) {
        const auto [entry, is_new] = shares.try_emplace(share.resource);
        if (is_new) {
            entry->second = {"", share.kind, share.resource, Time(0)};
        }
        entry->second.time += share.time;
    }
    std::vector<PathShare> list;
    for (auto& [name, share] : shares) {
        list.push_back(std::move(share));
    }
    sort_shares(list);
    return list;
}

std::optional<Binding> binding_of(const std::vector<PathShare>& by_operation) {
    if (by_operation.empty()) {
        return std::nullopt;
    }
    const PathShare most = shares_by_resource(by_operation).front();
    const auto operation =
        std::find_if(by_operation.begin(), by_operation.end(),
                     [&most](const PathShare& share) { return share.resource == most.resource; });
    return Binding{*operation, most};
}

}  // namespace astrolabe::experiment
