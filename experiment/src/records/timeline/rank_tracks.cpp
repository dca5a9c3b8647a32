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

std::string message_arguments(std::size_t from, std::size_t to, Bytes size) {
    return fmt::format(R"({{"from":"rank {}","to":"rank {}","bytes":{}}})", from, to, size.count());
}

/// As many threads as a host has links out, all of the longest name that a link has.
void add_longest_threads(const Experiment& experiment, const LinkTracks& links, TraceWriter& writer,
                         TraceProcess process) {
    const network::Fabric& fabric = *experiment.fabric;
    std::size_t degree = 0;
    std::size_t longest = 0;
    for (std::size_t rank = 0; rank < experiment.cluster.ranks; ++rank) {
        const NodeId node = fabric.node_of(experiment.placement[rank]);
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
      compute_(program_.streams.size()),
      place_(experiment.cluster.ranks, kHidden),
      rank_on_(experiment.fabric->host_count(), 0) {
    for (std::size_t rank = 0; rank < experiment.cluster.ranks; ++rank) {
        rank_on_[experiment.placement[rank].index()] = rank;
    }
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
            compute_[operation.compute().stream].emplace_back(i);
        }
    }
    for (const RankId id : ranks) {
        place_[id.index()] = static_cast<std::uint32_t>(shown_.size());
        Shown& rank = shown_.emplace_back();
        rank.process = writer.add_process(rank_name(experiment, id));
        for (std::size_t stream = 0; stream < program_.streams.size(); ++stream) {
            const std::string& name = program_.streams[stream];
            Stream& own = rank.streams.emplace_back();
            own.compute = writer.add_thread(rank.process, name);
            own.waits = writer.add_thread(rank.process, stream == 0 ? "waits" : name + " waits");
        }
        rank.issued = writer.add_thread(rank.process, "issued");
        rank.finished_as.resize(program_.operations.size());
    }
}

RankTracks::Shown* RankTracks::shown(std::size_t rank) {
    return place_[rank] == kHidden ? nullptr : &shown_[place_[rank]];
}

RankTracks::Stream& RankTracks::stream_of(Shown& rank, OperationId operation) const {
    return rank.streams[program_.operations[operation].compute().stream];
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
        writer_.begin(stream_of(*rank, operation).compute, now, text(operation, "compute"));
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
        Stream& stream = stream_of(*rank, operation);
        writer_.end(stream.compute, now);
        stream.idle_since = now;
        stream.next_dependency = 0;
        ++stream.next_compute;
    } else {
        const auto found = std::find_if(rank->under_way.begin(), rank->under_way.end(),
                                        [&](const UnderWay& each) { return each.operation == operation; });
        ASTROLABE_ASSERT(found != rank->under_way.end(), "a collective is issued before it ends");
        writer_.span(rank->process, found->issued, now, text(operation, "collective"));
        rank->under_way.erase(found);
    }
    if (program_.compute_order == system::ComputeOrder::kProgram) {
        for (std::size_t stream = 0; stream < rank->streams.size(); ++stream) {
            charge_waits(*rank, stream, rank->streams[stream], now);
        }
    }
}

void RankTracks::charge_waits(const Shown& rank, std::size_t stream, Stream& own, Time now) {
    if (own.next_compute == compute_[stream].size()) {
        return;
    }
    const OperationId operation = compute_[stream][own.next_compute];
    const std::vector<OperationId>& dependencies = program_.operations[operation].dependencies;
    while (own.next_dependency < dependencies.size() &&
           rank.finished_as[dependencies[own.next_dependency].index()] > 0) {
        if (now > own.idle_since) {
            write_wait(own, dependencies[own.next_dependency], operation, own.idle_since, now);
        }
        own.idle_since = now;
        ++own.next_dependency;
    }
}

void RankTracks::charge_wait_before(Shown& rank, OperationId operation, Time now) {
    Stream& stream = stream_of(rank, operation);
    if (now == stream.idle_since) {
        return;
    }
    const OperationId last =
        *std::ranges::max_element(program_.operations[operation].dependencies, {},
                                  [&](OperationId each) { return rank.finished_as[each.index()]; });
    write_wait(stream, last, operation, stream.idle_since, now);
    stream.idle_since = now;
}

void RankTracks::write_wait(const Stream& stream, OperationId cause, OperationId before, Time from, Time to) {
    const std::string arguments =
        fmt::format(R"({{"iteration":{},"before":{}}})", program_.operations[before].iteration,
                    names_[name_of_[before.index()]]);
    writer_.slice(stream.waits, from, to, {"wait", names_[name_of_[cause.index()]], arguments});
}

void RankTracks::message(const network::MessageRecord& record) {
    Shown* const rank = shown(rank_on_[record.source.index()]);
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
    const std::string arguments =
        message_arguments(rank_on_[record.source.index()], rank_on_[record.destination.index()], record.size);
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
        for (std::size_t number = 0; number < rank.streams.size(); ++number) {
            const Stream& stream = rank.streams[number];
            if (stream.next_compute == compute_[number].size() && stream.idle_since < total) {
                writer_.slice(stream.waits, stream.idle_since, total, kDrain);
            }
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
            const std::uint32_t number = operation.compute().stream;
            const Stream& stream = rank.streams[number];
            counting.slice(stream.compute, far, far, tracks.text(id, "compute"));
            for (const OperationId dependency : operation.dependencies) {
                const system::Operation& awaited = experiment.program.operations[dependency];
                if (!awaited.is_compute() || awaited.compute().stream != number) {
                    tracks.write_wait(stream, dependency, id, far, far);
                }
            }
        } else {
            const TraceText text = tracks.text(id, "collective");
            counting.span(rank.process, far, far, text);
            const std::string arguments = message_arguments(last, last, Bytes::max());
            counting.arrow(rank.issued, far, text, rank.streams.front().compute, far,
                           {"first message", text.name, arguments});
        }
    }
    for (const Stream& stream : rank.streams) {
        counting.slice(stream.waits, far, far, kDrain);
    }
    return counting.written();
}

}  // namespace astrolabe::experiment
