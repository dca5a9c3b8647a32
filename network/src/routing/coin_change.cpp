#include "coin_change.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// How often each coin is paid for an offset, changed one offset at a time.
class Balancer {
public:
    explicit Balancer(const CoinChange& change)
        : change_(change),
          coins_(static_cast<std::uint16_t>(change.coins().size())),
          routes_(change.servers()),
          loads_(coins_, 0),
          best_(std::size_t{change.servers()} * coins_) {}

    std::vector<std::vector<std::uint16_t>> run() {
        // Those without a choice first, then the longest: the short ones even out what is left uneven.
        std::vector<std::uint32_t> tied;
        for (std::uint32_t offset = 1; offset < change_.servers(); ++offset) {
            if (change_.hops()[offset] == CoinChange::kUnreachable) {
                continue;
            }
            if (has_choice(offset)) {
                tied.push_back(offset);
            } else {
                improve(offset);
            }
        }
        std::stable_sort(tied.begin(), tied.end(), [this](std::uint32_t a, std::uint32_t b) {
            return change_.hops()[a] > change_.hops()[b];
        });
        constexpr int kMostSweeps = 16;
        bool has_changed = true;
        for (int sweep = 0; sweep < kMostSweeps && has_changed; ++sweep) {
            has_changed = false;
            for (const std::uint32_t offset : tied) {
                has_changed = improve(offset) || has_changed;
            }
        }
        for (std::uint32_t offset = 1; offset < change_.servers(); ++offset) {
            std::vector<std::uint16_t>& route = routes_[offset];
            const auto first = static_cast<std::uint16_t>(offset % coins_);
            std::rotate(route.begin(), std::lower_bound(route.begin(), route.end(), first), route.end());
        }
        return std::move(routes_);
    }

private:
    /// Cheapest way to pay an offset with a coin and those after it.
    struct Best {
        std::uint32_t round = 0;  ///< in which this was found
        std::uint32_t times = 0;  ///< that the coin is paid
        std::uint32_t sets = 0;   ///< of coins that pay it; 2 stands for more
        double cost = 0;
    };

    /// Is there more than one set of coins?
    [[nodiscard]] bool has_choice(std::uint32_t offset) {
        ++round_;
        cheapest(offset, 0);
        return best_[slot(offset, 0)].sets > 1;
    }

    /// Did another set of coins make the sum of squares less?
    bool improve(std::uint32_t offset) {
        std::vector<std::uint16_t>& route = routes_[offset];
        for (const std::uint16_t coin : route) {
            --loads_[coin];
        }
        const double before = route.empty() ? kNever : cost_of(route);
        ++round_;
        const bool is_better = cheapest(offset, 0) < before;
        if (is_better) {
            route.clear();
            std::uint32_t left = offset;
            for (std::uint16_t coin = 0; left != 0; ++coin) {
                for (std::uint32_t i = best_[slot(left, coin)].times; i > 0; --i) {
                    route.push_back(coin);
                    left = change_.after(coin, left);
                }
            }
        }
        for (const std::uint16_t coin : route) {
            ++loads_[coin];
        }
        return is_better;
    }

    /// What paying `offset` with `first` and the coins after it adds to the sum of squares at least.
    double cheapest(std::uint32_t offset, std::uint16_t first) {
        if (offset == 0 || first == coins_) {
            return offset == 0 ? 0 : kNever;
        }
        if (best_[slot(offset, first)].round != round_) {
            Best best{round_, 0, 0, kNever};
            std::uint32_t left = offset;
            for (std::uint32_t times = 0;; ++times) {
                const auto next = static_cast<std::uint16_t>(first + 1);
                const double cost = cost_of(first, times) + cheapest(left, next);
                best.sets = std::min(best.sets + sets(left, next), 2U);
                if (cost < best.cost) {
                    best.times = times;
                    best.cost = cost;
                }
                if (!change_.leads(first, left)) {
                    break;
                }
                left = change_.after(first, left);
            }
            best_[slot(offset, first)] = best;
        }
        return best_[slot(offset, first)].cost;
    }

    /// Precondition: `cheapest` of the same was asked for in this round.
    [[nodiscard]] std::uint32_t sets(std::uint32_t offset, std::uint16_t first) const {
        if (offset == 0 || first == coins_) {
            return offset == 0 ? 1 : 0;
        }
        return best_[slot(offset, first)].sets;
    }

    [[nodiscard]] double cost_of(std::uint16_t coin, std::uint32_t times) const {
        return times * (2 * static_cast<double>(loads_[coin]) + times) / change_.links()[coin];
    }

    [[nodiscard]] double cost_of(const std::vector<std::uint16_t>& ascending) const {
        double sum = 0;
        for (auto at = ascending.begin(); at != ascending.end();) {
            const auto next = std::upper_bound(at, ascending.end(), *at);
            sum += cost_of(*at, static_cast<std::uint32_t>(next - at));
            at = next;
        }
        return sum;
    }

    [[nodiscard]] std::size_t slot(std::uint32_t offset, std::uint16_t coin) const {
        return std::size_t{offset} * coins_ + coin;
    }

    static constexpr double kNever = std::numeric_limits<double>::infinity();

    const CoinChange& change_;
    std::uint16_t coins_;
    std::vector<std::vector<std::uint16_t>> routes_;  // ascending until the end
    std::vector<std::int64_t> loads_;                 // by coin
    std::vector<Best> best_;                          // by offset, coin
    std::uint32_t round_ = 0;
};

}  // namespace

CoinChange::CoinChange(std::uint32_t servers, std::span<const std::uint32_t> coins)
    : coins_(coins.begin(), coins.end()),
      hops_(servers, kUnreachable) {
    std::sort(coins_.begin(), coins_.end());
    for (std::size_t i = 0; i < coins_.size(); ++i) {
        ASTROLABE_ASSERT(coins_[i] >= 1 && coins_[i] < servers, "a coin leads to another server");
        if (i > 0 && coins_[i] == coins_[i - 1]) {
            ++links_.back();
        } else {
            links_.push_back(1);
        }
    }
    coins_.erase(std::unique(coins_.begin(), coins_.end()), coins_.end());
    ASTROLABE_ASSERT(coins_.size() <= std::numeric_limits<std::uint16_t>::max(), "coins have 16-bit numbers");
    std::vector<std::uint32_t> queue = {0};
    hops_[0] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const std::uint32_t offset = queue[next];
        for (const std::uint32_t coin : coins_) {
            const std::uint32_t reached = (offset + coin) % servers;
            if (hops_[reached] == kUnreachable) {
                hops_[reached] = hops_[offset] + 1;
                queue.push_back(reached);
            }
        }
    }
}

bool CoinChange::reaches_all() const {
    return std::find(hops_.begin(), hops_.end(), kUnreachable) == hops_.end();
}

std::uint32_t CoinChange::diameter() const {
    std::uint32_t most = 0;
    for (const std::uint32_t hops : hops_) {
        most = hops == kUnreachable ? most : std::max(most, hops);
    }
    return most;
}

double CoinChange::mean_hops() const {
    std::uint64_t sum = 0;
    std::uint64_t reached = 0;
    for (const std::uint32_t hops : hops_) {
        if (hops != kUnreachable && hops > 0) {
            sum += hops;
            ++reached;
        }
    }
    return reached == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(reached);
}

CoinRoutes::CoinRoutes(const std::vector<std::vector<std::uint16_t>>& routes)
    : begin_{0} {
    for (const auto& route : routes) {
        coins_.insert(coins_.end(), route.begin(), route.end());
        begin_.push_back(coins_.size());
    }
}

std::vector<std::uint64_t> CoinRoutes::loads(std::size_t coin_count) const {
    std::vector<std::uint64_t> loads(coin_count, 0);
    for (const std::uint16_t coin : coins_) {
        ++loads[coin];
    }
    return loads;
}

CoinRoutes smallest_first_routes(const CoinChange& change) {
    std::vector<std::vector<std::uint16_t>> routes(change.servers());
    for (std::uint32_t offset = 1; offset < change.servers(); ++offset) {
        std::uint32_t left = change.hops()[offset] == CoinChange::kUnreachable ? 0 : offset;
        // What a coin leads away from, it leads away from later too: the coins ascend.
        for (std::uint16_t coin = 0; left != 0; ++coin) {
            while (change.leads(coin, left)) {
                routes[offset].push_back(coin);
                left = change.after(coin, left);
            }
        }
    }
    return CoinRoutes(routes);
}

CoinRoutes balanced_routes(const CoinChange& change) {
    return CoinRoutes(Balancer(change).run());
}

}  // namespace astrolabe::network
