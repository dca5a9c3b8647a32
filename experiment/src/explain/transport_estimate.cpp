#include "transport_estimate.hpp"

#include "collective_work.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {
namespace {

using network::Transport;
using wire::Action;
using wire::count_of;
using wire::LinkId;
using wire::LinkLoad;
using wire::MessageCosts;
using wire::NodeId;
using wire::OperationId;
using wire::Position;
using wire::seconds_of;

/// Room of a port, or nothing where it has no limit.
std::optional<double> room_of(const network::Fabric& fabric, LinkId link, const Transport& transport) {
    if (fabric.link(link).buffer > Bytes(0)) {
        return count_of(fabric.link(link).buffer);
    }
    const NodeId source = fabric.source(link);
    const double memory = count_of(fabric.node(source).buffer);
    if (memory <= 0) {
        return std::nullopt;
    }
    return transport.memory_share > 0 ? memory * transport.memory_share
                                      : memory / static_cast<double>(fabric.out_degree(source));
}

}  // namespace

class TransportEstimate::Collectives {
public:
    explicit Collectives(const Experiment& experiment)
        : experiment_(experiment),
          fabric_(*experiment.fabric),
          works_(experiment) {}

    [[nodiscard]] const std::string& omission() const { return works_.omission(); }

    [[nodiscard]] TransportTime time(const Transport& transport) const {
        TransportTime spread = time_on(transport, false);
        if (works_.has_single() && transport.keeps_to_cable) {
            // Bursts of one pair take different cables in turn, so their loads lie between those of one path
            // for each pair and even ones (docs/models/engine-fit.md, "How well").
            spread.seconds = (spread.seconds + time_on(transport, true).seconds) / 2;
        }
        return spread;
    }

private:
    static constexpr double kQueueGain = 0.09;
    static constexpr double kFewestSprayed = 1;  ///< packets, below which a mean says nothing

    /// Of a collective by itself.
    struct Alone {
        double seconds = 0;
        double tail = 0;    ///< of it, when all links are done
        double queued = 1;  ///< part of the time that it takes where bytes can wait in switches
        wire::WireFactors wire;
        struct Pair {
            std::size_t pair = 0;
            double time = 0;  ///< of its window
            double rest = 0;  ///< from when its last message has room in the window to when it is there
        };
        std::vector<Pair> pairs;
    };

    [[nodiscard]] double chain_of(const wire::CollectiveWork& work, const MessageCosts& costs, bool single,
                                  bool is_first) const {
        const std::vector<wire::Path>& paths = single ? work.single_paths : work.paths;
        const wire::Path& mean = single ? work.single_path : work.path;
        const system::EndPoint& end_point = experiment_.cluster.options.end_point;
        const double copy = seconds_of(end_point.injection_latency);
        const double added =
            end_point.reduction_bandwidth ? 3 / to_bytes_per_second(*end_point.reduction_bandwidth) : 0;
        if (work.schedule == nullptr) {
            return (work.steps - 1) * (costs.message(work.mean_size, mean, wire::kEstablished, mean) + copy) +
                   costs.message(work.mean_size, mean, is_first ? 0 : wire::kEstablished, mean) + copy;
        }
        const bool is_alike = work.schedule->symmetry() != system::Symmetry::kNone;
        const std::uint64_t weight = work.schedule->heaviest_chain([&](Position rank, const Action& action) {
            const double bytes = work.block_bytes * static_cast<double>(action.block_count);
            double seconds = 0;
            if (action.is_send()) {
                const std::size_t program = is_alike ? 0 : rank;
                const auto index =
                    static_cast<std::size_t>(&action - work.schedule->program(rank).actions.data());
                const std::uint32_t path = work.path_of[program][index];
                seconds =
                    copy + costs.message(bytes, paths[path],
                                         is_first ? work.sent_before[program][index] : wire::kEstablished,
                                         work.longest_paths[path]);
            } else if (action.kind == Action::Kind::kReceiveReduce) {
                seconds = bytes * added;
            }
            return static_cast<std::uint64_t>(std::min(seconds * 1e12, 1e13));
        });
        return static_cast<double>(weight) / 1e12;
    }

    [[nodiscard]] Alone alone(const wire::CollectiveWork& work, const Transport& transport, bool single,
                              bool is_first) const {
        const wire::Path& path = single ? work.single_path : work.path;
        const MessageCosts costs(transport, work.concurrent);
        Alone found;
        found.wire = wire_factors(work.messages, transport);
        const bool starts = is_first && work.connects;
        found.tail = costs.latency(path) + costs.stored(work.mean_size, path) +
                     (starts || transport.connects_messages ? costs.connection(work.mean_size, path, 0) : 0);
        if (transport.has_queues && gains_by_queues(work)) {
            found.queued = 1 - kQueueGain;
        }
        double links = 0;
        double sprayed = 0;
        if (transport.shares_links) {
            for (const LinkLoad& load : single ? work.single : work.links) {
                links = std::max(links, link_seconds(load, found.wire));
                sprayed = std::max(sprayed, spraying(work, load, transport));
            }
        }
        const double active = experiment_.cluster.options.active_chunks;
        const double waves = std::max(1.0, work.chunks / active);
        const double later_chain = waves > 1 ? chain_of(work, costs, single, false) : 0;
        const double chain = chain_of(work, costs, single, starts) + (waves - 1) * later_chain;
        found.tail += sprayed;
        found.seconds = std::max(links + found.tail, chain + sprayed);
        if (single) {
            // What waits for a cable that others crowd holds up the chain that it belongs to.
            double spread = 0;
            for (const LinkLoad& load : work.links) {
                spread = std::max(spread, link_seconds(load, found.wire));
            }
            found.seconds = std::max(found.seconds, chain + links - spread);
        }
        found.seconds *= found.queued;
        for (const wire::PairLoad& load : work.pairs) {
            const wire::Path& own = work.longest_paths[load.path];
            const double trip = costs.round_trip(load.size, own);
            const double time = costs.window_time(load.size, load.messages, own);
            found.pairs.push_back({load.pair, time, costs.last_window(load.size, own) - trip});
            found.seconds = std::max(found.seconds, time + found.pairs.back().rest);
        }
        return found;
    }

    [[nodiscard]] double link_seconds(const LinkLoad& load, const wire::WireFactors& wire) const {
        return (load.bytes * wire.messages + load.reverse * wire.acknowledgements) *
               wire::byte_seconds(fabric_, load.link);
    }

    /// Where more chunks wait than are in flight, several messages of one level go into one host, and the
    /// hosts' own links are the busiest, ports of senders stand idle without queues: by kQueueGain of the
    /// time, the mean of what docs/fluid-against-packets.md measures under (1).
    [[nodiscard]] bool gains_by_queues(const wire::CollectiveWork& work) const {
        if (work.chunks < 2.0 * experiment_.cluster.options.active_chunks) {
            return false;
        }
        const auto meets = [this](const wire::Peak& peak) {
            return is_host(fabric_.target(peak.link)) && peak.senders > 1;
        };
        const auto busiest = std::ranges::max_element(
            work.links, {}, [this](const LinkLoad& load) { return link_seconds(load, {}); });
        return std::ranges::any_of(work.peaks, meets) && busiest != work.links.end() &&
               (is_host(fabric_.source(busiest->link)) != is_host(fabric_.target(busiest->link)));
    }

    [[nodiscard]] bool is_host(NodeId node) const {
        return fabric_.node(node).kind == network::NodeKind::kHost;
    }

    /// Of packets that take one of two links at random, n each on average, the busier has √(n/π) more: the
    /// mean of |Z|·√(n/2). In every step.
    [[nodiscard]] double spraying(const wire::CollectiveWork& work, const LinkLoad& load,
                                  const Transport& transport) const {
        if (!transport.sprays_packets || transport.payload == Bytes(0) ||
            fabric_.routing().load_balancing() != network::LoadBalancing::kSpray ||
            is_host(fabric_.source(load.link)) || is_host(fabric_.target(load.link))) {
            return 0;
        }
        const double packet = std::min(work.mean_size, count_of(transport.payload));
        const double packets = load.bytes / packet / work.steps;
        if (packets < kFewestSprayed) {
            return 0;
        }
        return std::sqrt(packets / std::numbers::pi) * work.steps * (packet + count_of(transport.header)) *
               wire::byte_seconds(fabric_, load.link);
    }

    /// What collectives in flight have at a switch for one link.
    struct Queue {
        double until = 0;
        double bytes = 0;
    };

    /// How links and pairs are occupied, in seconds of simulated time.
    struct Occupied {
        std::vector<double> links;  ///< until when
        std::map<std::size_t, double> pairs;
        std::map<std::size_t, Queue> queues;
    };

    /// What a collective from `issued` to `finished` waits for because packets find no room.
    [[nodiscard]] double losses(const wire::CollectiveWork& work, const Transport& transport, double issued,
                                double finished, Occupied& occupied, TransportTime& result) const {
        if (!transport.loses_packets || !transport.window) {
            return 0;
        }
        double times = 0;
        const auto meet = [&](LinkId link, double senders, double waiting) {
            const std::optional<double> room = room_of(fabric_, link, transport);
            if (!room || waiting <= *room || is_host(fabric_.source(link))) {
                return;
            }
            const double passes = waiting / *room;
            times = std::max(times, passes);
            if (!result.overflow || passes > result.overflow->times) {
                result.overflow = {link,  senders, waiting,
                                   *room, passes,  experiment_.program.operations[work.first].name};
            }
        };
        for (const wire::Peak& peak : work.peaks) {
            // The path itself holds what it carries in a round trip.
            const double held = (work.path.forward + work.path.back) / wire::byte_seconds(fabric_, peak.link);
            const double windows = std::max(0.0, peak.senders * count_of(*transport.window) - held);
            Queue& queue = occupied.queues[peak.link.index()];
            queue.bytes = issued < queue.until ? queue.bytes : 0;
            queue.bytes = std::min(queue.bytes + peak.bytes, windows);
            queue.until = std::max(queue.until, finished);
            meet(peak.link, peak.senders, queue.bytes);
        }
        const double packet =
            std::min(work.mean_size, count_of(transport.payload)) + count_of(transport.header);
        for (const wire::Burst& burst : work.bursts) {
            meet(burst.link, burst.senders, (burst.senders - 1) * packet);
        }
        return times * seconds_of(transport.timeout);
    }

    [[nodiscard]] TransportTime time_on(const Transport& transport, bool single) const {
        const system::Program& program = experiment_.program;
        TransportTime result;
        Occupied occupied{std::vector<double>(fabric_.link_count(), 0), {}, {}};
        std::vector<std::optional<Alone>> known(works_.all().size());
        std::vector<std::vector<double>> finish(program.operations.size());
        std::vector<double> before(program.ranks, 0);
        double cable_seconds = 0;
        for (std::size_t i = 0; i < program.operations.size(); ++i) {
            const OperationId id(i);
            const system::Operation& operation = program.operations[id];
            std::vector<double> issue(program.ranks, 0);
            for (const OperationId dependency : operation.dependencies) {
                for (std::size_t rank = 0; rank < issue.size(); ++rank) {
                    issue[rank] = std::max(issue[rank], finish[dependency.index()][rank]);
                }
            }
            if (operation.is_compute()) {
                for (std::size_t rank = 0; rank < issue.size(); ++rank) {
                    issue[rank] = std::max(issue[rank], before[rank]) +
                                  seconds_of(operation.compute().duration[system::RankId(rank)]);
                }
                before = issue;
            } else if (operation.is_collective()) {
                collective(id, transport, single, issue, occupied, known, result, cable_seconds);
            }
            result.seconds = std::max(result.seconds, *std::ranges::max_element(issue));
            finish[i] = std::move(issue);
        }
        constexpr double kMuch = 0.065;
        result.has_cable_choice = cable_seconds > kMuch * result.seconds;
        return result;
    }

    /// From when a collective is issued on every rank to when it is finished there.
    void collective(OperationId id, const Transport& transport, bool single, std::vector<double>& times,
                    Occupied& occupied, std::vector<std::optional<Alone>>& known, TransportTime& result,
                    double& cable_seconds) const {
        const system::CollectiveOperation& work = experiment_.program.operations[id].collective();
        for (const std::vector<system::RankId>& group :
             experiment_.program.partitions[work.partition].groups) {
            double last = 0;
            for (const system::RankId rank : group) {
                last = std::max(last, times[rank.index()]);
            }
            for (const system::RankId rank : group) {
                times[rank.index()] = last;
            }
        }
        const double delay = seconds_of(work.completion_delay);
        if (works_.of(id) == wire::CollectiveWorks::kNone) {
            for (double& time : times) {
                time += delay;
            }
            return;
        }
        const wire::CollectiveWork& own = works_.all()[works_.of(id)];
        std::optional<Alone>& later = known[works_.of(id)];
        Alone first;
        if (own.first == id) {
            first = alone(own, transport, single, true);
        } else if (!later) {
            later = alone(own, transport, single, false);
        }
        const Alone& taken = own.first == id ? first : *later;
        const double issued = *std::ranges::min_element(times);
        double shared = 0;
        if (transport.shares_links) {
            for (const LinkLoad& load : single ? own.single : own.links) {
                double& until = occupied.links[load.link.index()];
                until = std::max(until, issued) + taken.queued * link_seconds(load, taken.wire);
                shared = std::max(shared, until + taken.tail);
            }
        }
        for (const Alone::Pair& pair : taken.pairs) {
            double& until = occupied.pairs[pair.pair];
            until = std::max(until, issued) + pair.time;
            shared = std::max(shared, until + pair.rest);
        }
        const double finished = std::max(*std::ranges::max_element(times) + taken.seconds, shared);
        const double lost = losses(own, transport, issued, finished, occupied, result);
        for (double& time : times) {
            time = std::max(time + taken.seconds, shared) + lost + delay;
        }
        if (transport.keeps_to_cable && works_.has_single()) {
            cable_seconds += own.mean_size * own.steps * (own.single_path.slowest - own.path.slowest);
        }
    }

    const Experiment& experiment_;
    const network::Fabric& fabric_;
    wire::CollectiveWorks works_;
};

TransportEstimate::TransportEstimate(const Experiment& experiment)
    : collectives_(std::make_unique<Collectives>(experiment)) {}

TransportEstimate::~TransportEstimate() = default;

const std::string& TransportEstimate::omission() const {
    return collectives_->omission();
}

TransportTime TransportEstimate::time(const network::Transport& transport) const {
    return collectives_->time(transport);
}

}  // namespace astrolabe::experiment
