#include "rank_tracks.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {

using network::HostId;
using network::LinkId;
using network::NodeId;
using system::OperationId;
using system::RankId;

namespace {

constexpr std::uint32_t kHidden = ~std::uint32_t{0};
constexpr TraceText kDrain{"wait", "\"drain\"", "{}"};

std::string rank_name(const Experiment& experiment, RankId rank) {
    return fmt::format("rank {} of {}", rank.index(), experiment.cluster.ranks);
}

std::string message_arguments(HostId from, HostId to, Bytes size) {
    return fmt::format(R"({{"from":"rank {}","to":"rank {}","bytes":{}}})", from.index(), to.index(),
                       size.count());
}

/// As many threads as a host has links out, all of the longest name that a link has.
void add_longest_threads(const Experiment& experiment, const LinkTracks& links, TraceWriter& writer,
                         TraceProcess process) {
    const network::Fabric& fabric = *experiment.fabric;
    std::size_t degree = 0;
    std::size_t longest = 0;
    for (std::size_t host = 0; host < experiment.cluster.ranks; ++host) {
        const NodeId node(host);
        degree = std::max(degree, fabric.out_degree(node));
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            const LinkId link(fabric.first_link(node).index() + i);
            longest = std::max(longest, quoted_json(links.name(link)).size());
        }
    }
    for (std::size_t i = 0; i < degree; ++i) {
        writer.add_thread(process, std::string(longest, 'x'));
    }
}

}  // namespace

RankTracks::RankTracks(const Experiment& experiment, const LinkTracks& links,
                       const std::vector<RankId>& ranks, TraceWriter& writer, TraceProcess process)
    : experiment_(experiment),
      program_(experiment.program),
      writer_(writer),
      links_(links),
      links_process_(process),
      place_(experiment.cluster.ranks, kHidden) {
    for (int i = 0; i < program_.iterations; ++i) {
        iterations_.push_back(fmt::format(R"({{"iteration":{}}})", i));
    }
    std::unordered_map<std::string, std::uint32_t> known;
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
        const system::Operation& operation = program_.operations[OperationId(i)];
        const auto [name, is_new] =
            known.try_emplace(operation.name, static_cast<std::uint32_t>(names_.size()));
        if (is_new) {
            names_.push_back(quoted_json(operation.name));
        }
        name_of_.push_back(name->second);
        if (operation.is_compute()) {
            compute_.emplace_back(i);
        }
    }
    for (const RankId id : ranks) {
        place_[id.index()] = static_cast<std::uint32_t>(shown_.size());
        Shown& rank = shown_.emplace_back();
        rank.process = writer.add_process(rank_name(experiment, id));
        rank.compute = writer.add_thread(rank.process, "compute");
        rank.waits = writer.add_thread(rank.process, "waits");
        rank.issued = writer.add_thread(rank.process, "issued");
        rank.finished_as.resize(program_.operations.size());
    }
}

RankTracks::Shown* RankTracks::shown(std::size_t rank) {
    return place_[rank] == kHidden ? nullptr : &shown_[place_[rank]];
}

TraceText RankTracks::text(OperationId operation, std::string_view category) const {
    const auto iteration = static_cast<std::size_t>(program_.operations[operation].iteration);
    return {category, names_[name_of_[operation.index()]], iterations_[iteration]};
}

void RankTracks::issued(OperationId operation, RankId id, Time now) {
    Shown* const rank = shown(id.index());
    if (rank == nullptr) {
        return;
    }
    if (program_.operations[operation].is_compute()) {
        if (program_.compute_order == system::ComputeOrder::kFirstCome) {
            charge_wait_before(*rank, operation, now);
        }
        writer_.begin(rank->compute, now, text(operation, "compute"));
    } else {
        rank->under_way.push_back({operation, now});
        rank->silent.emplace(operation, now);
    }
}

void RankTracks::finished(OperationId operation, RankId id, Time now) {
    Shown* const rank = shown(id.index());
    if (rank == nullptr) {
        return;
    }
    rank->finished_as[operation.index()] = ++rank->finished;
    if (program_.operations[operation].is_compute()) {
        writer_.end(rank->compute, now);
        rank->idle_since = now;
        rank->next_dependency = 0;
        ++rank->next_compute;
    } else {
        const auto found = std::find_if(rank->under_way.begin(), rank->under_way.end(),
                                        [&](const UnderWay& each) { return each.operation == operation; });
        ASTROLABE_ASSERT(found != rank->under_way.end(), "a collective is issued before it ends");
        writer_.span(rank->process, found->issued, now, text(operation, "collective"));
        rank->under_way.erase(found);
    }
    if (program_.compute_order == system::ComputeOrder::kProgram) {
        charge_waits(*rank, now);
    }
}

void RankTracks::charge_waits(Shown& rank, Time now) {
    if (rank.next_compute == compute_.size()) {
        return;
    }
    const OperationId operation = compute_[rank.next_compute];
    const std::vector<OperationId>& dependencies = program_.operations[operation].dependencies;
    while (rank.next_dependency < dependencies.size() &&
           rank.finished_as[dependencies[rank.next_dependency].index()] > 0) {
        if (now > rank.idle_since) {
            write_wait(rank, dependencies[rank.next_dependency], operation, rank.idle_since, now);
        }
        rank.idle_since = now;
        ++rank.next_dependency;
    }
}

void RankTracks::charge_wait_before(Shown& rank, OperationId operation, Time now) {
    if (now == rank.idle_since) {
        return;
    }
    const OperationId last =
        *std::ranges::max_element(program_.operations[operation].dependencies, {},
                                  [&](OperationId each) { return rank.finished_as[each.index()]; });
    write_wait(rank, last, operation, rank.idle_since, now);
    rank.idle_since = now;
}

void RankTracks::write_wait(const Shown& rank, OperationId cause, OperationId before, Time from, Time to) {
    const std::string arguments =
        fmt::format(R"({{"iteration":{},"before":{}}})", program_.operations[before].iteration,
                    names_[name_of_[before.index()]]);
    writer_.slice(rank.waits, from, to, {"wait", names_[name_of_[cause.index()]], arguments});
}

void RankTracks::message(const network::MessageRecord& record) {
    Shown* const rank = shown(record.source.index());
    if (rank == nullptr) {
        return;
    }
    const auto found = rank->silent.find(OperationId(record.label));
    if (found != rank->silent.end()) {
        write_first_message(*rank, found->second, record);
        rank->silent.erase(found);
    }
}

void RankTracks::write_first_message(const Shown& rank, Time issued, const network::MessageRecord& record) {
    const TraceText operation = text(OperationId(record.label), "collective");
    const std::optional<LinkId> link = first_link(record.source, record.destination);
    if (!link) {
        writer_.slice(rank.issued, issued, issued, operation);
        return;
    }
    const std::string arguments = message_arguments(record.source, record.destination, record.size);
    writer_.arrow(rank.issued, issued, operation, thread_of(*link), record.sent,
                  {"first message", operation.name, arguments});
}

std::optional<LinkId> RankTracks::first_link(HostId from, HostId to) const {
    const network::Fabric& fabric = *experiment_.fabric;
    const NodeId node = fabric.node_of(from);
    if (fabric.out_degree(node) == 1) {
        return fabric.first_link(node);
    }
    if (!experiment_.backend.follows_routes(fabric)) {
        return std::nullopt;
    }
    std::optional<LinkId> first;
    for (const network::RouteLeg& leg : fabric.routing().route(from, to).legs) {
        if (fabric.source(leg.link) != node || first == leg.link) {
            continue;
        }
        if (first) {
            return std::nullopt;
        }
        first = leg.link;
    }
    return first;
}

TraceThread RankTracks::thread_of(LinkId link) {
    const auto [entry, is_new] = link_threads_.try_emplace(link);
    if (is_new) {
        entry->second = writer_.add_thread(links_process_, links_.name(link));
    }
    return entry->second;
}

void RankTracks::drain(Time total) {
    for (const Shown& rank : shown_) {
        if (rank.next_compute == compute_.size() && rank.idle_since < total) {
            writer_.slice(rank.waits, rank.idle_since, total, kDrain);
        }
    }
}

std::uint64_t RankTracks::most_bytes(const Experiment& experiment, const LinkTracks& links) {
    const std::size_t last = experiment.cluster.ranks - 1;
    TraceWriter counting;
    RankTracks tracks(experiment, links, {RankId(last)}, counting, counting.add_process("links"));
    add_longest_threads(experiment, links, counting, tracks.links_process_);
    const Shown& rank = tracks.shown_.front();
    const Time far = Time::max();
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const OperationId id(i);
        const system::Operation& operation = experiment.program.operations[id];
        if (operation.is_compute()) {
            counting.slice(rank.compute, far, far, tracks.text(id, "compute"));
            for (const OperationId dependency : operation.dependencies) {
                if (!experiment.program.operations[dependency].is_compute()) {
                    tracks.write_wait(rank, dependency, id, far, far);
                }
            }
        } else {
            const TraceText text = tracks.text(id, "collective");
            counting.span(rank.process, far, far, text);
            const std::string arguments = message_arguments(HostId(last), HostId(last), Bytes::max());
            counting.arrow(rank.issued, far, text, rank.compute, far,
                           {"first message", text.name, arguments});
        }
    }
    counting.slice(rank.waits, far, far, kDrain);
    return counting.written();
}

}  // namespace astrolabe::experiment
