#include "schedule_loads.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {
namespace {

using system::Action;
using system::CollectiveOperation;
using system::CollectiveSchedule;
using system::Position;

constexpr std::size_t kMostChainActions = std::size_t{1} << 16;

/// Blocks that every rank sends to the one `peer` away; of a schedule with a symmetry.
std::vector<double> blocks_by_peer(const CollectiveSchedule& schedule) {
    std::vector<double> to_peer(schedule.ranks(), 0);
    for (const Action& action : schedule.program(0).actions) {
        to_peer[action.peer] += action.is_send() ? action.block_count : 0;
    }
    return to_peer;
}

/// `add(source, destination, blocks)` for every pair that sends; a pair may come several times where ranks
/// have programs of their own.
template <class Add>
void for_each_pair(const CollectiveSchedule& schedule, const Add& add) {
    if (schedule.symmetry() == system::Symmetry::kNone) {
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            for (const Action& action : schedule.program(rank).actions) {
                if (action.is_send()) {
                    add(rank, action.peer, static_cast<double>(action.block_count));
                }
            }
        }
        return;
    }
    const std::vector<double> to_peer = blocks_by_peer(schedule);
    for (Position peer = 0; peer < schedule.ranks(); ++peer) {
        if (to_peer[peer] > 0) {
            for (Position rank = 0; rank < schedule.ranks(); ++rank) {
                add(rank, schedule.resolve(rank, peer), to_peer[peer]);
            }
        }
    }
}

/// Bytes of the chunks of one variant that position `source` has for `destination`.
class UnevenBytes {
public:
    UnevenBytes(const system::PairSizes& pairs, const std::vector<unsigned>& variants, unsigned variant)
        : pairs_(pairs),
          chunks_(variants.size()) {
        for (std::size_t chunk = 0; chunk < variants.size(); ++chunk) {
            if (variants[chunk] == variant) {
                own_.push_back(chunk);
            }
        }
    }
    [[nodiscard]] double operator()(std::uint64_t source, std::uint64_t destination) const {
        const Bytes pair = pairs_(source, destination);
        if (own_.size() == chunks_) {
            return static_cast<double>(pair.count());
        }
        Bytes sum;
        for (const std::size_t chunk : own_) {
            sum += system::part_size(pair, chunks_, chunk);
        }
        return static_cast<double>(sum.count());
    }

private:
    const system::PairSizes& pairs_;
    std::size_t chunks_;
    std::vector<std::size_t> own_;
};

template <class Add>
void for_each_pair(const CollectiveSchedule& schedule, const UnevenBytes& bytes, const Add& add) {
    for (Position rank = 0; rank < schedule.ranks(); ++rank) {
        const system::RankProgram& program = schedule.program(rank);
        for (const Action& action : program.actions) {
            if (!action.is_send()) {
                continue;
            }
            double sum = 0;
            for (const system::BlockReference reference : program.blocks_of(action)) {
                const std::uint64_t block = schedule.resolve(rank, reference);
                sum += bytes(block / schedule.ranks(), block % schedule.ranks());
            }
            if (sum > 0) {
                add(rank, schedule.resolve(rank, action.peer), sum);
            }
        }
    }
}

/// Blocks that the bytes of a chunk are divided by.
std::int64_t blocks_of_a_chunk(const CollectiveSchedule& schedule) {
    switch (schedule.kind()) {
        case system::CollectiveKind::kAllGather:
            return schedule.parts();
        default:
            return static_cast<std::int64_t>(schedule.columns());
    }
}

/// What every rank sends to every other one, in blocks; 0 where that differs.
double blocks_for_all(const CollectiveSchedule& schedule) {
    if (schedule.symmetry() == system::Symmetry::kNone || schedule.ranks() < 2) {
        return 0;
    }
    const std::vector<double> to_peer = blocks_by_peer(schedule);
    const bool is_same =
        std::all_of(to_peer.begin() + 1, to_peer.end(), [&](double blocks) { return blocks == to_peer[1]; });
    return is_same && to_peer[0] == 0 ? to_peer[1] : 0;
}

/// In blocks, or in bytes of `pairs`; nothing where amounts are no products.
std::optional<ScheduleLoads::Products> products_of(const CollectiveSchedule& schedule,
                                                   const system::PairSizes* pairs) {
    const double blocks = blocks_for_all(schedule);
    // One block to each other position is the one that this pair has: none is left to go by way of a third.
    if (blocks == 0 || (pairs != nullptr && blocks != 1)) {
        return std::nullopt;
    }
    const std::size_t ranks = schedule.ranks();
    ScheduleLoads::Products products{std::vector(ranks, pairs == nullptr ? blocks : 1.0),
                                     std::vector(ranks, 1.0)};
    if (pairs == nullptr) {
        return products;
    }
    if (!pairs->is_by_source() && !pairs->is_by_destination()) {
        return std::nullopt;
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        double& amount = (pairs->is_by_source() ? products.from : products.to)[rank];
        amount = static_cast<double>((*pairs)(rank, rank).count());
    }
    // What is taken away from sums is taken away exactly.
    constexpr double kExactIntegers = 0x1p53;
    const bool is_exact = std::accumulate(products.from.begin(), products.from.end(), 0.0) < kExactIntegers &&
                          std::accumulate(products.to.begin(), products.to.end(), 0.0) < kExactIntegers;
    return is_exact ? std::optional(std::move(products)) : std::nullopt;
}

std::uint64_t pairs_in(const CollectiveSchedule& schedule) {
    if (schedule.symmetry() == system::Symmetry::kNone) {
        return schedule.message_count();
    }
    const std::vector<double> to_peer = blocks_by_peer(schedule);
    const auto peers =
        std::count_if(to_peer.begin(), to_peer.end(), [](double blocks) { return blocks > 0; });
    return static_cast<std::uint64_t>(peers) * schedule.ranks();
}

}  // namespace

Time carrying_time(double bytes, double bytes_per_second) {
    if (bytes <= 0) {
        return Time(0);
    }
    constexpr double kLimit = 9.2e18;
    const double picoseconds = bytes * kSafety * 1e12 / bytes_per_second;
    return picoseconds < kLimit ? Time(static_cast<std::int64_t>(picoseconds)) : Time::max();
}

Time carrying_time(double bytes, Bandwidth rate) {
    return carrying_time(bytes, to_bytes_per_second(rate));
}

// All routes between places are kept: those of 2^22 pairs took a gigabyte, where pairs of ranks take none.
constexpr std::uint64_t kPairsForOneOfPlaces = 16;

std::string too_many_pairs() {
    return fmt::format("the schedules send between more than {} pairs of ranks, or {} of switches",
                       kMostPairs, kMostPairs / kPairsForOneOfPlaces);
}

ScheduleLoads::ScheduleLoads(const system::Program& program, const system::SystemOptions& options,
                             const network::Fabric& fabric, const Placement& placement,
                             std::optional<network::LoadBalancing> load_balancing)
    : program_(program),
      options_(options),
      fabric_(fabric),
      placement_(placement),
      load_balancing_(load_balancing.value_or(fabric.routing().load_balancing())),
      parts_(program.operations.size(), {}) {
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        if (program.operations[system::OperationId(i)].is_collective()) {
            add_operation(system::OperationId(i));
        }
    }
    if (!omission_.empty()) {
        for (auto& [key, load] : loads_) {
            load.links = {};
            load.places.clear();
        }
    }
}

std::optional<ScheduleLoads::Plan> ScheduleLoads::plan_of(const CollectiveOperation& collective) const {
    const auto& groups = program_.partitions[collective.partition].groups;
    const auto moving = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return !collective.moves_nothing(group.size());
    });
    if (moving == groups.end()) {
        return std::nullopt;
    }
    const system::CollectiveAlgorithm& algorithm = *system::chosen_algorithm(collective, options_);
    const system::Shape shape = system::group_shape(*moving, options_);
    const std::uint32_t chunks = system::chunk_count(collective, options_);
    return Plan{&algorithm, shape, algorithm.variant_sequence(collective.kind, shape, chunks)};
}

void ScheduleLoads::add_operation(system::OperationId id) {
    const CollectiveOperation& collective = program_.operations[id].collective();
    const std::optional<Plan> plan = plan_of(collective);
    if (!plan) {
        return;
    }
    const std::vector<unsigned>& variants = plan->variants;
    for (unsigned variant = 0; variant < plan->algorithm->variants(collective.kind, plan->shape); ++variant) {
        double units = 1;
        if (!collective.is_uneven()) {
            const std::int64_t blocks =
                blocks_of_a_chunk(schedule(collective.kind, *plan, plan->shape, variant));
            units = 0;
            for (std::size_t chunk = 0; chunk < variants.size(); ++chunk) {
                if (variants[chunk] == variant) {
                    const Bytes size = system::part_size(collective.size, variants.size(), chunk);
                    units += static_cast<double>(size.count() / blocks);
                }
            }
        } else if (std::find(variants.begin(), variants.end(), variant) == variants.end()) {
            units = 0;
        }
        if (units > 0) {
            parts_[id].push_back({&load_of(collective, variant, *plan), units});
        }
    }
}

const UnitLoad& ScheduleLoads::load_of(const CollectiveOperation& collective, unsigned variant,
                                       const Plan& plan) {
    const std::vector<unsigned>& variants = plan.variants;
    const bool is_uneven = collective.is_uneven();
    const Key key{collective.kind,
                  collective.partition,
                  collective.pair_sizes.get(),
                  plan.algorithm,
                  variant,
                  is_uneven ? static_cast<std::uint32_t>(variants.size()) : 0};
    const auto [entry, is_new] = loads_.try_emplace(key);
    UnitLoad& load = entry->second;
    if (!is_new) {
        return load;
    }
    load.sent.assign(program_.ranks, 0);
    load.received.assign(program_.ranks, 0);
    network::RouteLoad routes(fabric_, load_balancing_);
    // Chunks of other variants have bytes of an uneven one too.
    const bool goes_one_way = !is_uneven || std::ranges::count(variants, variant) == std::ssize(variants);
    const auto& groups = program_.partitions[collective.partition].groups;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const std::vector<system::RankId>& ranks = groups[group];
        if (collective.moves_nothing(ranks.size())) {
            continue;
        }
        const system::Shape shape = system::group_shape(ranks, options_);
        if (shape != plan.shape) {
            continue;  // what is left out makes a bound no wrong one
        }
        const CollectiveSchedule& steps = schedule(collective.kind, plan, shape, variant);
        const std::uint64_t pairs = pairs_in(steps);
        pairs_ += pairs;
        const std::uint64_t of_places = pairs_of_places(ranks);
        const bool is_spread = load_balancing_ == network::LoadBalancing::kSpray || of_places == 1;
        std::optional<Products> products;
        if (is_spread && goes_one_way) {
            products = products_of(steps, is_uneven ? &(*collective.pair_sizes)[group] : nullptr);
        }
        looks_ += products ? std::min(pairs, kPairsForOneOfPlaces * of_places) : pairs;
        if (looks_ > kMostPairs && omission_.empty()) {
            omission_ = too_many_pairs();
        }
        const auto add = [&](Position source, Position destination, double amount) {
            const std::size_t from = ranks[source].index();
            const std::size_t to = ranks[destination].index();
            load.sent[from] += amount;
            load.received[to] += amount;
            if (omission_.empty()) {
                routes.add(placement_[from], placement_[to], amount);
            }
        };
        if (products) {
            add_products(*products, ranks, load, routes);
        } else if (!is_uneven && !omission_.empty() && steps.symmetry() != system::Symmetry::kNone) {
            // Every rank sends to as many peers, and is the peer of as many.
            const std::vector<double> to_peer = blocks_by_peer(steps);
            const double sum = std::accumulate(to_peer.begin(), to_peer.end(), 0.0);
            for (const system::RankId rank : ranks) {
                load.sent[rank.index()] += sum;
                load.received[rank.index()] += sum;
            }
        } else if (is_uneven) {
            for_each_pair(steps, UnevenBytes((*collective.pair_sizes)[group], variants, variant), add);
        } else {
            for_each_pair(steps, add);
        }
    }
    if (omission_.empty()) {
        load.links = routes.links();
        load.places = routes.places();
    }
    return load;
}

std::uint64_t ScheduleLoads::pairs_of_places(const std::vector<system::RankId>& ranks) const {
    std::set<network::NodeId> places;
    for (const system::RankId rank : ranks) {
        places.insert(network::place_of(fabric_, placement_[rank.index()]));
    }
    return std::uint64_t{places.size()} * places.size();
}

void ScheduleLoads::add_products(const Products& products, const std::vector<system::RankId>& ranks,
                                 UnitLoad& load, network::RouteLoad& routes) const {
    const auto& [from, to] = products;
    const double from_all = std::accumulate(from.begin(), from.end(), 0.0);
    const double to_all = std::accumulate(to.begin(), to.end(), 0.0);
    std::vector<network::HostId> hosts;
    for (Position position = 0; position < ranks.size(); ++position) {
        const std::size_t rank = ranks[position].index();
        hosts.push_back(placement_[rank]);
        load.sent[rank] += from[position] * (to_all - to[position]);
        load.received[rank] += to[position] * (from_all - from[position]);
    }
    if (omission_.empty()) {
        routes.add_products(hosts, from, to);
    }
}

const CollectiveSchedule& ScheduleLoads::schedule(system::CollectiveKind kind, const Plan& plan,
                                                  const system::Shape& shape, unsigned variant) const {
    const auto key = std::tuple(kind, plan.algorithm, shape, variant);
    auto known = schedules_.find(key);
    if (known == schedules_.end()) {
        known = schedules_.emplace(key, plan.algorithm->schedule(kind, shape, variant)).first;
    }
    return known->second;
}

std::optional<ChunkSchedule> ScheduleLoads::first_chunk(system::OperationId operation) const {
    const CollectiveOperation& collective = program_.operations[operation].collective();
    const std::optional<Plan> plan = plan_of(collective);
    if (!plan) {
        return std::nullopt;
    }
    const CollectiveSchedule& steps = schedule(collective.kind, *plan, plan->shape, plan->variants.front());
    const std::size_t chunks = plan->variants.size();
    const double chunk = static_cast<double>(system::part_size(collective.size, chunks, 0).count());
    const auto alike = std::ranges::count(plan->variants, plan->variants.front());
    return ChunkSchedule{&steps, chunks, static_cast<std::size_t>(alike),
                         collective.is_uneven() ? 0 : chunk / static_cast<double>(blocks_of_a_chunk(steps))};
}

Time ScheduleLoads::chain(system::OperationId operation, Time per_message, double per_byte,
                          double per_added_byte) const {
    const CollectiveOperation& collective = program_.operations[operation].collective();
    const std::optional<Plan> plan = plan_of(collective);
    if (!plan) {
        return Time(0);
    }
    if (collective.is_uneven()) {
        const auto& pairs = *collective.pair_sizes;
        const bool any = std::any_of(pairs.begin(), pairs.end(), [](const system::PairSizes& group) {
            return group.crossing() > Bytes(0);
        });
        return any ? per_message : Time(0);
    }
    const CollectiveSchedule& steps = schedule(collective.kind, *plan, plan->shape, plan->variants.front());
    const Position programs = steps.symmetry() == system::Symmetry::kNone ? steps.ranks() : 1;
    std::size_t actions = 0;
    for (Position rank = 0; rank < programs; ++rank) {
        actions += steps.program(rank).actions.size();
    }
    const std::int64_t block =
        actions > kMostChainActions
            ? 0
            : system::part_size(collective.size, plan->variants.size(), 0).count() / blocks_of_a_chunk(steps);
    // Weights that are cut to this do not exceed 2^62 together.
    const std::uint64_t most = (std::uint64_t{1} << 62) / std::max<std::size_t>(actions, 1);
    const std::uint64_t weight = steps.heaviest_chain([&](Position, const Action& action) {
        const double bytes = static_cast<double>(block) * action.block_count;
        const bool is_send = action.is_send();
        const double added = action.kind == Action::Kind::kReceiveReduce ? per_added_byte : 0;
        const double carried = bytes * (is_send ? per_byte : added) * kSafety;
        if (carried >= static_cast<double>(most)) {
            return most;
        }
        const auto fixed = static_cast<std::uint64_t>(is_send ? per_message.count() : 0);
        return std::min(most, fixed + static_cast<std::uint64_t>(carried));
    });
    return Time(static_cast<std::int64_t>(
        std::min<std::uint64_t>(weight, static_cast<std::uint64_t>(Time::max().count()))));
}

}  // namespace astrolabe::experiment
