#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <astrolabe/network/rotor/fair_share.hpp>

namespace astrolabe::network::rotor {

namespace {

constexpr int kRounds = 5;

}  // namespace

void FairShare::share_out(Span<const std::uint32_t> demands, std::uint32_t cap, Span<std::uint32_t> shares) {
    std::fill(shares.begin(), shares.end(), 0);
    hungry_.resize(demands.size());
    std::size_t hungry = 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        hungry_[hungry] = static_cast<std::uint32_t>(i);
        hungry += demands[i] > 0 ? 1 : 0;
    }
    hungry_.resize(hungry);
    std::uint32_t left = cap;
    // More is wanted than there is, so some element stays hungry.
    for (std::uint32_t each = left / static_cast<std::uint32_t>(hungry_.size()); each > 0;
         each = left / static_cast<std::uint32_t>(hungry_.size())) {
        std::size_t still = 0;
        for (const std::uint32_t i : hungry_) {
            const std::uint32_t given = std::min(each, demands[i] - shares[i]);
            shares[i] += given;
            left -= given;
            if (shares[i] < demands[i]) {
                hungry_[still++] = i;
            }
        }
        hungry_.resize(still);
    }
    give_remainder(left, shares);
}

void FairShare::depend_on_index(std::uint32_t remainder, std::uint32_t elements) {
    if (period_ % elements != 0) {
        period_ =
            std::min(std::lcm(period_, std::uint64_t{elements / std::gcd(remainder, elements)}), kNoPeriod);
    }
}

void FairShare::give_remainder(std::uint32_t left, Span<std::uint32_t> shares) {
    if (left == 0) {
        return;
    }
    const auto hungry = static_cast<std::uint32_t>(hungry_.size());
    if (remainders_ == Remainders::kRoundRobin) {
        auto next = static_cast<std::uint32_t>(index_ % hungry * left % hungry);
        depend_on_index(left, hungry);
        for (; left > 0; --left) {
            ++shares[hungry_[next]];
            next = next + 1 == hungry ? 0 : next + 1;
        }
        return;
    }
    for (std::uint32_t chosen = 0; chosen < left; ++chosen) {
        const std::uint32_t pick = chosen + random_.below(hungry - chosen);
        std::swap(hungry_[chosen], hungry_[pick]);
        ++shares[hungry_[chosen]];
    }
}

void FairShare::split(Span<std::uint32_t> demands, Span<std::uint32_t> row_caps,
                      Span<std::uint32_t> column_caps, Span<std::uint32_t> shares) {
    const std::size_t rows = row_caps.size();
    const std::size_t columns = column_caps.size();
    std::fill(shares.begin(), shares.end(), 0);
    offered_.resize(rows * columns);
    column_.resize(rows);
    column_shares_.resize(rows);
    const std::uint64_t index = index_;
    for (int round = 0; round < kRounds; ++round) {
        if (std::accumulate(demands.begin(), demands.end(), std::uint64_t{0}) == 0) {
            return;
        }
        std::uint32_t offered = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t column = 0; column < columns; ++column) {
                if (column_caps[column] == 0) {
                    demands[row * columns + column] = 0;
                }
            }
            set_index(index + row);
            offered += split(demands.subspan(row * columns, columns), row_caps[row],
                             Span(offered_).subspan(row * columns, columns));
        }
        if (offered == 0) {
            return;
        }
        for (std::size_t column = 0; column < columns; ++column) {
            for (std::size_t row = 0; row < rows; ++row) {
                column_[row] = offered_[row * columns + column];
            }
            set_index(index + column);
            column_caps[column] -= split(column_, column_caps[column], column_shares_);
            for (std::size_t row = 0; row < rows; ++row) {
                const std::uint32_t given = column_shares_[row];
                shares[row * columns + column] += given;
                demands[row * columns + column] -= given;
                row_caps[row] -= given;
            }
        }
    }
}

}  // namespace astrolabe::network::rotor
