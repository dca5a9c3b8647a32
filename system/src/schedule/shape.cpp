#include <algorithm>
#include <limits>
#include <set>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/schedule/shape.hpp>

namespace astrolabe::system {

Shape::Shape(std::vector<Position> dimensions)
    : dimensions_(std::move(dimensions)) {
    ASTROLABE_ASSERT(!dimensions_.empty(), "a shape has a dimension");
    std::uint64_t ranks = 1;
    for (const Position size : dimensions_) {
        ASTROLABE_ASSERT(size >= 1, "a dimension has positions");
        ranks *= size;
        ASTROLABE_ASSERT(ranks <= std::numeric_limits<Position>::max(), "positions are 32-bit numbers");
    }
}

Position Shape::ranks() const {
    return stride(dimensions_.size());
}

Position Shape::stride(std::size_t dimension) const {
    Position stride = 1;
    for (std::size_t lower = 0; lower < dimension; ++lower) {
        stride *= dimensions_[lower];
    }
    return stride;
}

Position Shape::with_coordinate(Position position, std::size_t dimension, Position coordinate) const {
    const Position step = stride(dimension);
    return position - this->coordinate(position, dimension) * step + coordinate * step;
}

std::string Shape::text() const {
    std::string text;
    for (const Position size : dimensions_) {
        text += (text.empty() ? "" : " x ") + std::to_string(size);
    }
    return text;
}

Shape shape_of(std::span<const RankId> group, const Shape& system) {
    const auto one_dimension = static_cast<Position>(group.size());
    std::vector<std::vector<Position>> coordinates(system.size());  // that occur, ascending
    std::vector<Position> sizes;
    std::uint64_t box = 1;
    for (std::size_t dimension = 0; dimension < system.size(); ++dimension) {
        std::set<Position> occurring;
        for (const RankId rank : group) {
            occurring.insert(system.coordinate(static_cast<Position>(rank.index()), dimension));
        }
        coordinates[dimension].assign(occurring.begin(), occurring.end());
        box *= occurring.size();
        sizes.push_back(static_cast<Position>(occurring.size()));
    }
    if (box != group.size()) {
        return one_dimension;
    }
    for (std::size_t position = 0; position < group.size(); ++position) {
        std::size_t rest = position;
        Position expected = 0;
        for (std::size_t dimension = 0; dimension < system.size(); ++dimension) {
            const std::vector<Position>& own = coordinates[dimension];
            expected += own[rest % own.size()] * system.stride(dimension);
            rest /= own.size();
        }
        if (group[position].index() != expected) {
            return one_dimension;
        }
    }
    return Shape(std::move(sizes));
}

}  // namespace astrolabe::system
