#include "table_moves.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/dlrm/sharding_names.hpp>

namespace astrolabe::study {
namespace {

using workload::CountedTables;
using workload::PlacedTables;
using workload::TablePlace;
using workload::TableSharding;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
    return a > kMost - b ? kMost : a + b;
}

bool lies_on_ranks(TableSharding kind) {
    return kind == TableSharding::kTableWise || kind == TableSharding::kColumnWise;
}
bool lies_on_hosts(TableSharding kind) {
    return kind == TableSharding::kTableColumnWise || kind == TableSharding::kTableRowWise;
}

/// A way to shard a table, on how many ranks of its own choice.
struct Variant {
    TableSharding kind;
    std::int64_t shards;
};

std::vector<Variant> variants(const TableMoves& moves, std::int64_t dimension) {
    std::vector<Variant> found;
    const auto ranks = static_cast<std::int64_t>(moves.ranks.size());
    for (const TableSharding kind : moves.kinds) {
        if (kind == TableSharding::kColumnWise) {
            for (const std::int64_t shards : moves.shards) {
                if (shards <= dimension && shards <= ranks) {
                    found.push_back({kind, shards});
                }
            }
        } else if (kind != TableSharding::kTableColumnWise || *moves.ranks_per_host <= dimension) {
            found.push_back({kind, 1});
        }
    }
    return found;
}

std::uint64_t count_places(const TableMoves& moves, const Variant& variant) {
    if (lies_on_ranks(variant.kind)) {
        return binomial(moves.ranks.size(), static_cast<std::uint64_t>(variant.shards));
    }
    return lies_on_hosts(variant.kind) ? static_cast<std::uint64_t>(moves.hosts) : 1;
}

/// Set `number` of `size` of the ranks, in their order, counted as the combinatorial number system does.
std::vector<std::int64_t> ranks_at(const std::vector<std::int64_t>& ranks, std::uint64_t size,
                                   std::uint64_t number) {
    std::vector<std::int64_t> chosen;
    for (std::size_t i = 0; i < ranks.size() && chosen.size() < size; ++i) {
        const std::uint64_t with = binomial(ranks.size() - i - 1, size - chosen.size() - 1);
        if (number < with) {
            chosen.push_back(ranks[i]);
        } else {
            number -= with;
        }
    }
    return chosen;
}

TablePlace place_at(const TableMoves& moves, const Variant& variant, std::uint64_t number) {
    TablePlace place{.sharding = variant.kind};
    if (lies_on_ranks(variant.kind)) {
        place.ranks = ranks_at(moves.ranks, static_cast<std::uint64_t>(variant.shards), number);
    } else if (lies_on_hosts(variant.kind)) {
        place.hosts = {static_cast<std::int64_t>(number)};
    }
    return place;
}

std::uint64_t count_places(const TableMoves& moves, std::int64_t dimension) {
    std::uint64_t sum = 0;
    for (const Variant& variant : variants(moves, dimension)) {
        sum = saturating_sum(sum, count_places(moves, variant));
    }
    return sum;
}

TablePlace place_at(const TableMoves& moves, std::int64_t dimension, std::uint64_t number) {
    for (const Variant& variant : variants(moves, dimension)) {
        const std::uint64_t places = count_places(moves, variant);
        if (number < places) {
            return place_at(moves, variant, number);
        }
        number -= places;
    }
    invariant_failed("number < places", "a table has so many places");
}

std::int64_t sum_on(const TableMoves& moves, const CountedTables& counted) {
    std::int64_t sum = 0;
    for (const std::int64_t rank : moves.ranks) {
        sum += counted.tables[static_cast<std::size_t>(rank)];
    }
    return sum;
}

/// Ways to put `tables` like ones on `ranks`.
std::uint64_t compositions(std::int64_t tables, std::size_t ranks) {
    return binomial(static_cast<std::uint64_t>(tables) + ranks - 1, ranks - 1);
}

CountedTables counts_at(const TableMoves& moves, CountedTables counted, std::uint64_t number) {
    std::int64_t left = sum_on(moves, counted);
    for (std::size_t i = 0; i + 1 < moves.ranks.size(); ++i) {
        std::int64_t here = 0;
        for (; here < left; ++here) {
            const std::uint64_t others = compositions(left - here, moves.ranks.size() - i - 1);
            if (number < others) {
                break;
            }
            number -= others;
        }
        counted.tables[static_cast<std::size_t>(moves.ranks[i])] = here;
        left -= here;
    }
    counted.tables[static_cast<std::size_t>(moves.ranks.back())] = left;
    return counted;
}

template <class T>
const T& any_of(const std::vector<T>& items, RandomStream& random) {
    return items[random.below(static_cast<std::uint32_t>(items.size()))];
}

std::string move_counted(const TableMoves& moves, CountedTables& counted, RandomStream& random) {
    const auto on = [&](std::int64_t rank) -> std::int64_t& {
        return counted.tables[static_cast<std::size_t>(rank)];
    };
    const bool swaps = random.below(2) == 0;
    std::vector<std::int64_t> loaded;
    std::copy_if(moves.ranks.begin(), moves.ranks.end(), std::back_inserter(loaded),
                 [&](std::int64_t rank) { return on(rank) > 0; });
    const std::int64_t from = any_of(loaded, random);
    std::vector<std::int64_t> partners;
    std::copy_if(moves.ranks.begin(), moves.ranks.end(), std::back_inserter(partners),
                 [&](std::int64_t rank) { return on(rank) != on(from); });
    if (swaps && !partners.empty()) {
        const std::int64_t with = any_of(partners, random);
        std::swap(on(from), on(with));
        return fmt::format("ranks {} and {} swap {} and {} tables", from, with, on(with), on(from));
    }
    std::vector<std::int64_t> others;
    std::copy_if(moves.ranks.begin(), moves.ranks.end(), std::back_inserter(others),
                 [&](std::int64_t rank) { return rank != from; });
    const std::int64_t to = any_of(others, random);
    --on(from);
    ++on(to);
    return fmt::format("a table from rank {} to {}", from, to);
}

/// One of the three kinds of moves of tables that lie each by itself; false: it found nothing to do.
class PlaceMover {
public:
    PlaceMover(const TableMoves& moves, PlacedTables& tables, RandomStream& random)
        : moves_(moves),
          tables_(tables),
          random_(random),
          table_(random.below(static_cast<std::uint32_t>(tables.places.size()))) {}

    [[nodiscard]] std::optional<std::string> relocate() {
        TablePlace& place = tables_.places[table_];
        if (lies_on_hosts(place.sharding)) {
            if (moves_.hosts < 2) {
                return std::nullopt;
            }
            const auto other =
                static_cast<std::int64_t>(random_.below(static_cast<std::uint32_t>(moves_.hosts - 1)));
            std::int64_t& host = place.hosts.front();
            host = other < host ? other : other + 1;
            return fmt::format("table {}: to host {}", table_, host);
        }
        std::vector<std::int64_t> free;
        std::copy_if(moves_.ranks.begin(), moves_.ranks.end(), std::back_inserter(free),
                     [&](std::int64_t rank) { return !holds(place, rank); });
        if (!lies_on_ranks(place.sharding) || free.empty()) {
            return std::nullopt;
        }
        const std::int64_t to = any_of(free, random_);
        std::int64_t& shard = place.ranks[random_.below(static_cast<std::uint32_t>(place.ranks.size()))];
        const std::string what = fmt::format("table {}: from rank {} to {}", table_, shard, to);
        shard = to;
        std::sort(place.ranks.begin(), place.ranks.end());
        return what;
    }

    [[nodiscard]] std::optional<std::string> swap() {
        TablePlace& place = tables_.places[table_];
        std::vector<std::size_t> others;
        for (std::size_t other = 0; other < tables_.places.size(); ++other) {
            if (lies_on_ranks(tables_.places[other].sharding) && tables_.places[other].ranks != place.ranks) {
                others.push_back(other);
            }
        }
        if (!lies_on_ranks(place.sharding) || others.empty()) {
            return std::nullopt;
        }
        const std::size_t with = any_of(others, random_);
        TablePlace& other = tables_.places[with];
        std::int64_t& mine = place.ranks[random_.below(static_cast<std::uint32_t>(place.ranks.size()))];
        std::int64_t& theirs = other.ranks[random_.below(static_cast<std::uint32_t>(other.ranks.size()))];
        if (holds(place, theirs) || holds(other, mine)) {
            return std::nullopt;
        }
        const std::string what =
            fmt::format("tables {} and {}: swap ranks {} and {}", table_, with, mine, theirs);
        std::swap(mine, theirs);
        std::sort(place.ranks.begin(), place.ranks.end());
        std::sort(other.ranks.begin(), other.ranks.end());
        return what;
    }

    [[nodiscard]] std::optional<std::string> shard() {
        TablePlace& place = tables_.places[table_];
        std::vector<Variant> others = variants(moves_, tables_.dimensions[table_]);
        std::erase_if(others, [&](const Variant& variant) {
            return variant.kind == place.sharding &&
                   (!lies_on_ranks(variant.kind) ||
                    variant.shards == static_cast<std::int64_t>(place.ranks.size()));
        });
        if (others.empty()) {
            return std::nullopt;
        }
        const Variant& variant = any_of(others, random_);
        place = {.sharding = variant.kind};
        std::string what =
            fmt::format("table {}: {}", table_, ValueTraits<TableSharding>::format(variant.kind));
        if (lies_on_hosts(variant.kind)) {
            const std::uint32_t host = random_.below(static_cast<std::uint32_t>(moves_.hosts));
            place.hosts = {static_cast<std::int64_t>(host)};
            what += fmt::format(" on host {}", host);
        } else if (lies_on_ranks(variant.kind)) {
            std::vector<std::int64_t> ranks = moves_.ranks;
            random_.shuffle(ranks);
            place.ranks.assign(ranks.begin(), ranks.begin() + variant.shards);
            std::sort(place.ranks.begin(), place.ranks.end());
            what += fmt::format(" on {} rank{}", variant.shards, variant.shards == 1 ? "" : "s");
        }
        return what;
    }

private:
    static bool holds(const TablePlace& place, std::int64_t rank) {
        return std::find(place.ranks.begin(), place.ranks.end(), rank) != place.ranks.end();
    }

    const TableMoves& moves_;
    PlacedTables& tables_;
    RandomStream& random_;
    std::size_t table_;
};

}  // namespace

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
    return b != 0 && a > kMost / b ? kMost : a * b;
}

std::uint64_t binomial(std::uint64_t n, std::uint64_t k) {
    if (k > n) {
        return 0;
    }
    std::uint64_t result = 1;
    for (std::uint64_t i = 1; i <= std::min(k, n - k); ++i) {
        // result · (n - i + 1) is a multiple of i.
        const std::uint64_t factor = n - i + 1;
        const std::uint64_t common = std::gcd(result, i);
        result = saturating_product(result / common, factor / (i / common));
        if (result == kMost) {
            return kMost;
        }
    }
    return result;
}

std::uint64_t count_places(const TableMoves& moves, const workload::MovableTables& tables) {
    if (const auto* counted = std::get_if<CountedTables>(&tables)) {
        return compositions(sum_on(moves, *counted), moves.ranks.size());
    }
    std::uint64_t product = 1;
    for (const std::int64_t dimension : std::get<PlacedTables>(tables).dimensions) {
        product = saturating_product(product, count_places(moves, dimension));
    }
    return product;
}

workload::MovableTables places_at(const TableMoves& moves, const workload::MovableTables& tables,
                                  std::uint64_t number) {
    if (const auto* counted = std::get_if<CountedTables>(&tables)) {
        return counts_at(moves, *counted, number);
    }
    PlacedTables placed = std::get<PlacedTables>(tables);
    for (std::size_t table = 0; table < placed.places.size(); ++table) {
        const std::uint64_t places = count_places(moves, placed.dimensions[table]);
        placed.places[table] = place_at(moves, placed.dimensions[table], number % places);
        number /= places;
    }
    return placed;
}

std::string move_tables(const TableMoves& moves, workload::MovableTables& tables, RandomStream& random) {
    if (auto* counted = std::get_if<CountedTables>(&tables)) {
        return move_counted(moves, *counted, random);
    }
    for (;;) {
        PlaceMover mover(moves, std::get<PlacedTables>(tables), random);
        const std::uint32_t kind = random.below(3);
        if (const auto what = kind == 0 ? mover.relocate() : kind == 1 ? mover.swap() : mover.shard()) {
            return *what;
        }
    }
}

}  // namespace astrolabe::study
