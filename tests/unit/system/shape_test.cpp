// Logical dimensions: coordinates, and the shape of a group inside a system.

#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/system/schedule/shape.hpp>

namespace astrolabe::system {
namespace {

std::vector<RankId> ranks(std::initializer_list<std::uint32_t> numbers) {
    std::vector<RankId> group;
    for (const std::uint32_t number : numbers) {
        group.emplace_back(number);
    }
    return group;
}

TEST(Shape, DimensionZeroVariesFastest) {
    const Shape shape({4, 3, 2});
    EXPECT_EQ(shape.ranks(), 24U);
    EXPECT_EQ(shape.stride(2), 12U);
    // 23 = 3 + 4·2 + 12·1
    EXPECT_EQ(shape.coordinate(23, 0), 3U);
    EXPECT_EQ(shape.coordinate(23, 1), 2U);
    EXPECT_EQ(shape.coordinate(23, 2), 1U);
    EXPECT_EQ(shape.with_coordinate(23, 1, 0), 23U - 2 * 4);
    EXPECT_EQ(shape.text(), "4 x 3 x 2");
}

TEST(Shape, CoordinatesNameEveryPositionOnce) {
    const Shape shape({3, 1, 5, 2});
    for (Position position = 0; position < shape.ranks(); ++position) {
        Position sum = 0;
        for (std::size_t dimension = 0; dimension < shape.size(); ++dimension) {
            const Position own = shape.coordinate(position, dimension);
            sum += own * shape.stride(dimension);
            EXPECT_EQ(shape.with_coordinate(position, dimension, own), position);
        }
        EXPECT_EQ(sum, position);
    }
}

TEST(ShapeOfAGroup, OfEverybodyIsTheSystem) {
    EXPECT_EQ(shape_of(ranks({0, 1, 2, 3, 4, 5}), Shape({3, 2})), Shape({3, 2}));
}

TEST(ShapeOfAGroup, KeepsTheDimensionsOfTheSystem) {
    // Of 3 x 2: a row, a column, and the box of columns 0 and 2.
    EXPECT_EQ(shape_of(ranks({3, 4, 5}), Shape({3, 2})), Shape({3, 1}));
    EXPECT_EQ(shape_of(ranks({1, 4}), Shape({3, 2})), Shape({1, 2}));
    EXPECT_EQ(shape_of(ranks({0, 2, 3, 5}), Shape({3, 2})), Shape({2, 2}));
    EXPECT_EQ(shape_of(ranks({4}), Shape({3, 2})), Shape({1, 1}));
}

TEST(ShapeOfAGroup, IsOneDimensionWhereItIsNoBox) {
    EXPECT_EQ(shape_of(ranks({0, 1, 3}), Shape({3, 2})), Shape(3));     // a corner is missing
    EXPECT_EQ(shape_of(ranks({0, 3, 1, 4}), Shape({3, 2})), Shape(4));  // another order than the grid's
    EXPECT_EQ(shape_of(ranks({0, 4}), Shape({3, 2})), Shape(2));        // a diagonal
}

}  // namespace
}  // namespace astrolabe::system
