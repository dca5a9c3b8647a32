/// The logical dimensions of a group: which positions are neighbours, whatever the links are
/// (docs/theory/collectives-and-costs.md, "Dimensions of a group").
///
/// A group of N = n_0·n_1·…·n_{D-1} positions is a grid; position p has the coordinates
///     c_d(p) = ⌊p / (n_0·…·n_{d-1})⌋ mod n_d
/// so dimension 0 varies fastest. A number of ranks alone is a shape of one dimension.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/system/ids.hpp>

namespace astrolabe::system {

using Position = std::uint32_t;  ///< of a rank inside its group, 0 … N-1

class Shape {
public:
    Shape(Position ranks)  // NOLINT(google-explicit-constructor): most groups have one dimension
        : dimensions_{ranks} {}
    /// At least one dimension, each of at least one position, 2^32 - 1 positions at most in all.
    explicit Shape(std::vector<Position> dimensions);

    [[nodiscard]] Position ranks() const;
    [[nodiscard]] std::size_t size() const { return dimensions_.size(); }  ///< D
    [[nodiscard]] Position operator[](std::size_t dimension) const { return dimensions_[dimension]; }
    [[nodiscard]] std::span<const Position> dimensions() const { return dimensions_; }

    /// n_0·…·n_{dimension-1}: how far apart neighbours in the dimension are.
    [[nodiscard]] Position stride(std::size_t dimension) const;
    [[nodiscard]] Position coordinate(Position position, std::size_t dimension) const {
        return position / stride(dimension) % dimensions_[dimension];
    }
    /// The position that differs from `position` in one coordinate only.
    [[nodiscard]] Position with_coordinate(Position position, std::size_t dimension,
                                           Position coordinate) const;

    [[nodiscard]] std::string text() const;  ///< "16 x 8"

    friend std::strong_ordering operator<=>(const Shape&, const Shape&) = default;
    friend bool operator==(const Shape&, const Shape&) = default;

private:
    std::vector<Position> dimensions_;
};

/// The shape of a group inside a system of `system` ranks: where the group is a box of the system's grid
/// (every combination of the coordinates that occur in it, once, in the order of the grid), the numbers of
/// coordinates that occur in each of its dimensions, 1 where all are equal; else one dimension. So
/// dimension d of a box is dimension d of the system.
[[nodiscard]] Shape shape_of(std::span<const RankId> group, const Shape& system);

}  // namespace astrolabe::system
