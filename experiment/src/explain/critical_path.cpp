#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <astrolabe/experiment/explain/critical_path.hpp>
#include <astrolabe/system/program/participants.hpp>

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

/// Of each of `computations`, in their order, the one before it on its stream: of the ranks that take part,
/// the one that ended last.
template <class EndOf>
IndexedVector<OperationId, std::optional<OperationId>> computations_before(
    const system::Program& program, const system::Participants& participants,
    const std::vector<OperationId>& computations, const EndOf& end_of) {
    IndexedVector<OperationId, std::optional<OperationId>> before(program.operations.size(), {});
    const std::size_t streams = program.streams.size();
    const bool is_spmd = participants.is_spmd();
    std::vector<std::optional<OperationId>> last(is_spmd ? streams : streams * program.ranks);
    for (const OperationId id : computations) {
        const std::uint32_t stream = program.operations[id].compute().stream;
        const auto follow = [&](std::optional<OperationId>& one) {
            if (one && (!before[id] || end_of(*one) > end_of(*before[id]))) {
                before[id] = one;
            }
            one = id;
        };
        if (is_spmd) {
            follow(last[stream]);
        } else {
            participants.for_each(
                id, [&](system::RankId rank) { follow(last[rank.index() * streams + stream]); });
        }
    }
    return before;
}

}  // namespace

std::vector<PathSegment> path_of_operations(const system::Program& program,
                                            const system::ExecutionReport& report, bool is_estimate) {
    const auto end_of = [&report](OperationId id) { return report.operations[id].last_finish; };
    std::optional<OperationId> at;
    std::vector<OperationId> computations;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const OperationId id(i);
        if (program.operations[id].is_compute()) {
            computations.push_back(id);
        }
        if (!at || end_of(id) > end_of(*at)) {
            at = id;
        }
    }
    if (program.compute_order == system::ComputeOrder::kFirstCome) {
        std::ranges::stable_sort(computations, {}, end_of);
    }
    const system::Participants participants(program);
    const IndexedVector<OperationId, std::optional<OperationId>> computed_before =
        computations_before(program, participants, computations, end_of);
    std::vector<PathSegment> path;
    Time until = at ? end_of(*at) : Time(0);
    while (at) {
        const OperationId id = *at;
        const system::Operation& operation = program.operations[id];
        std::optional<OperationId> last = operation.is_compute() ? computed_before[id] : std::nullopt;
        if (operation.is_receive()) {
            last = operation.receive().send;
        }
        for (const OperationId dependency : operation.dependencies) {
            if (!last || end_of(dependency) > end_of(*last)) {
                last = dependency;
            }
        }
        const Time begin = last ? end_of(*last) : Time(0);
        // Where ranks differ others may still be at it.
        ASTROLABE_ASSERT(!participants.is_spmd() || is_estimate || begin <= until,
                         "an operation ends after what it waits for");
        if (begin < until) {
            path.push_back({id, begin, until, {}});
        }
        until = std::min(begin, until);
        at = last;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<PathSegment> path_of_causes(const std::vector<network::CausalSegment>& causes) {
    std::vector<PathSegment> path;
    std::optional<OperationId> later;
    for (auto cause = causes.rbegin(); cause != causes.rend(); ++cause) {
        if (cause->label != network::TimerPurpose::kNoLabel) {
            later = OperationId(cause->label);
        }
        if (later && cause->from < cause->to) {
            path.push_back({*later, cause->from, cause->to, cause->times});
        }
    }
    std::reverse(path.begin(), path.end());
    return path;
}

std::string_view kind_name(const system::Program& program, const system::Operation& operation) {
    if (operation.is_receive()) {
        return "receive";
    }
    return operation.is_compute() ? std::string_view(program.streams[operation.compute().stream])
                                  : "collective";
}

const std::string& resource_name(const network::Resources& resources, network::ResourceId resource,
                                 const system::Program& program, const system::Operation& operation) {
    return operation.is_compute() && resource == network::Resources::kCompute
               ? program.streams[operation.compute().stream]
               : resources.name(resource);
}

std::optional<network::ResourceId> main_resource(const PathSegment& segment) {
    if (segment.times.empty()) {
        return std::nullopt;
    }
    const auto most = std::max_element(segment.times.begin(), segment.times.end());
    return network::ResourceId(static_cast<std::size_t>(most - segment.times.begin()));
}

std::vector<PathShare> shares_by_operation(const std::vector<PathSegment>& path,
                                           const network::Resources* resources,
                                           const system::Program& program) {
    std::map<std::tuple<std::string, std::string_view, std::string>, Time> shares;
    for (const PathSegment& segment : path) {
        const system::Operation& operation = program.operations[segment.operation];
        if (resources == nullptr) {
            shares[{operation.name, kind_name(program, operation), ""}] += segment.to - segment.from;
            continue;
        }
        for (std::size_t i = 0; i < segment.times.size(); ++i) {
            if (segment.times[i] > Time(0)) {
                shares[{operation.name, kind_name(program, operation),
                        resource_name(*resources, network::ResourceId(i), program, operation)}] +=
                    segment.times[i];
            }
        }
    }
    std::vector<PathShare> list;
    for (const auto& [key, time] : shares) {
        const auto& [operation, kind, resource] = key;
        list.push_back({operation, std::string(kind), resource, time});
    }
    sort_shares(list);
    return list;
}

std::vector<PathShare> shares_by_resource(const std::vector<PathShare>& by_operation) {
    std::map<std::string, Time> shares;
    for (const PathShare& share : by_operation) {
        if (!share.resource.empty()) {
            shares[share.resource] += share.time;
        }
    }
    std::vector<PathShare> list;
    for (const auto& [resource, time] : shares) {
        list.push_back({"", "", resource, time});
    }
    sort_shares(list);
    return list;
}

std::optional<Binding> binding_of(const std::vector<PathShare>& by_operation) {
    const std::vector<PathShare> by_resource = shares_by_resource(by_operation);
    if (by_resource.empty()) {
        return std::nullopt;
    }
    const PathShare& most = by_resource.front();
    const auto operation =
        std::find_if(by_operation.begin(), by_operation.end(),
                     [&most](const PathShare& share) { return share.resource == most.resource; });
    return Binding{*operation, most};
}

}  // namespace astrolabe::experiment
