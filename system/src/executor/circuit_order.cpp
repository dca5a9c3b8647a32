#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <utility>

#include <astrolabe/system/executor/circuit_order.hpp>

namespace astrolabe::system {

namespace {

using network::CircuitWindow;
using network::CircuitWindows;
using network::PlaceId;

constexpr std::size_t kBeam = 64;

/// The first places of a ring.
struct Beginning {
    std::vector<PlaceId> places;
    Time time;  // when a block sent at 0 arrives at the last of them
};

/// A place added to a partial ring; earlier arrivals first.
struct Extension {
    Time time;
    std::size_t partial_ring;
    PlaceId place;

    friend auto operator<=>(const Extension&, const Extension&) = default;
};

class Search {
public:
    explicit Search(const CircuitWindows& windows)
        : windows_(windows) {}

    /// `places` differ; the first stays the first.
    [[nodiscard]] std::vector<PlaceId> ring(const std::vector<PlaceId>& places) const {
        std::vector<Beginning> beam{{{places.front()}, Time(0)}};
        while (beam.front().places.size() < places.size()) {
            beam = extended(beam, places);
        }
        const auto round_trip = [this](const Beginning& ring) {
            return arrival(ring.places.back(), ring.places.front(), ring.time);
        };
        return std::ranges::min_element(beam, {}, round_trip)->places;
    }

private:
    /// When a block at `from` at `time` arrives at `to`. Places that are never connected count one period:
    /// relaying takes about as long.
    [[nodiscard]] Time arrival(PlaceId from, PlaceId to, Time time) const {
        const auto opportunity = windows_.next(from, to, time);
        return opportunity ? opportunity->end : time + windows_.period();
    }

    [[nodiscard]] std::vector<Beginning> extended(const std::vector<Beginning>& beam,
                                                  const std::vector<PlaceId>& places) const {
        std::vector<Extension> extensions;
        for (std::size_t i = 0; i < beam.size(); ++i) {
            std::vector<std::uint8_t> is_visited(windows_.places(), 0);
            for (const PlaceId place : beam[i].places) {
                is_visited[place.index()] = 1;
            }
            for (const PlaceId place : places) {
                if (is_visited[place.index()] == 0) {
                    extensions.push_back({arrival(beam[i].places.back(), place, beam[i].time), i, place});
                }
            }
        }
        const auto kept = static_cast<std::ptrdiff_t>(std::min(extensions.size(), kBeam));
        std::ranges::partial_sort(extensions, extensions.begin() + kept);
        extensions.resize(static_cast<std::size_t>(kept));
        std::vector<Beginning> longer;
        for (const Extension& extension : extensions) {
            longer.push_back({beam[extension.partial_ring].places, extension.time});
            longer.back().places.push_back(extension.place);
        }
        return longer;
    }

    const CircuitWindows& windows_;
};

}  // namespace

std::vector<RankId> circuit_order(std::span<const RankId> group, const CircuitWindows& windows,
                                  std::span<const network::HostId> placement) {
    std::vector<PlaceId> places;
    std::map<PlaceId, std::vector<RankId>> ranks_of;
    for (const RankId rank : group) {
        const PlaceId place = windows.place_of(placement[rank.index()]);
        std::vector<RankId>& ranks = ranks_of[place];
        if (ranks.empty()) {
            places.push_back(place);
        }
        ranks.push_back(rank);
    }
    places = Search(windows).ring(places);
    std::vector<RankId> order;
    if (windows.next(places.front(), places.front(), Time(0))) {
        for (const PlaceId place : places) {
            order.insert(order.end(), ranks_of[place].begin(), ranks_of[place].end());
        }
        return order;
    }
    for (std::size_t round = 0; order.size() < group.size(); ++round) {
        for (const PlaceId place : places) {
            if (round < ranks_of[place].size()) {
                order.push_back(ranks_of[place][round]);
            }
        }
    }
    return order;
}

void order_by_circuits(Program& program, const SystemOptions& options,
                       std::span<const network::HostId> placement) {
    if (options.circuit_windows == nullptr) {
        return;
    }
    std::map<PartitionId, PartitionId> ordered;
    for (Operation& operation : program.operations) {
        if (!operation.is_collective()) {
            continue;
        }
        auto& work = std::get<CollectiveOperation>(operation.work);
        const std::shared_ptr<const CollectiveAlgorithm>& algorithm = chosen_algorithm(work, options);
        if (algorithm == nullptr || algorithm->circuit_use() != CircuitUse::kInOrder) {
            continue;
        }
        const auto [entry, is_new] = ordered.try_emplace(work.partition);
        if (is_new) {
            Partition partition = program.partitions[work.partition];
            partition.name += " in the order of circuits";
            for (std::vector<RankId>& group : partition.groups) {
                group = circuit_order(group, *options.circuit_windows, placement);
            }
            entry->second = program.partitions.push_back(std::move(partition));
        }
        work.partition = entry->second;
    }
}

}  // namespace astrolabe::system
