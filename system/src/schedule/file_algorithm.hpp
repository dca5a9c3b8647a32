/// A schedule from a file as an algorithm: for the one kind and shape that it was written for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/system/collectives/algorithm.hpp>

namespace astrolabe::system {

class FileAlgorithm final : public CollectiveAlgorithm {
public:
    /// No dimensions: any group of so many ranks.
    FileAlgorithm(CollectiveSchedule schedule, std::string name, std::vector<Position> dimensions)
        : schedule_(std::move(schedule)),
          name_(std::move(name)) {
        if (!dimensions.empty()) {
            shape_ = Shape(std::move(dimensions));
        }
    }

    [[nodiscard]] std::optional<std::string> unsupported(CollectiveKind kind,
                                                         const Shape& shape) const override {
        if (kind != schedule_.kind()) {
            return fmt::format("{} does {} only", name_, to_string(schedule_.kind()));
        }
        if (shape.ranks() != schedule_.ranks() || (shape_ && shape != *shape_)) {
            return fmt::format("{} is for groups of {} ranks, not {}", name_,
                               shape_ ? shape_->text() : std::to_string(schedule_.ranks()), shape.text());
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::string> unsupported_uneven() const override {
        if (schedule_.parts() == 1) {
            return std::nullopt;
        }
        return fmt::format("{} cuts what goes from one rank to another in {} equal parts", name_,
                           schedule_.parts());
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override {
        return 1;
    }
    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind /*kind*/, const Shape& /*shape*/,
                                              unsigned /*variant*/) const override {
        return schedule_;
    }

private:
    CollectiveSchedule schedule_;
    std::string name_;
    std::optional<Shape> shape_{};
};

}  // namespace astrolabe::system
