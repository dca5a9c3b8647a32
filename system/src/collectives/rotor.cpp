// Collectives for networks whose circuits come and go: the schedules of direct and ring, of which the
// executor hands every message over when the circuit between its ranks comes
// (docs/models/rotor-collectives.md).
//
// Direct: every rank has a message for every other, so whichever circuit comes, there is something to send,
// and nothing else takes its place. Peers are thereby visited in the order of their circuits, whatever the
// order in the schedule.
//
// Ring: a rank has one message at a time. Its way round takes what the waits for one circuit after the other
// take together, so positions are given such that waits are short (meeting_order.hpp).

#include "collectives.hpp"

#include <memory>
#include <string>
#include <utility>

namespace astrolabe::system {

namespace {

class OnCircuits final : public CollectiveAlgorithm {
public:
    /// Refuses kinds with a root, and what `plain` refuses.
    OnCircuits(std::string name, std::shared_ptr<const CollectiveAlgorithm> plain, CircuitUse use)
        : name_(std::move(name)),
          plain_(std::move(plain)),
          use_(use) {}

    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind, const Shape& shape) const override {
        // A ring passes an all_to_all on from rank to rank, over every circuit but the one it needs.
        if (has_root(kind) || (use_ == CircuitUse::kInOrder && kind == CollectiveKind::kAllToAll)) {
            return name_ + " does not do " + std::string(to_string(kind));
        }
        return plain_->refusal(kind, shape);
    }
    [[nodiscard]] CircuitUse circuit_use() const override { return use_; }
    [[nodiscard]] unsigned variants(CollectiveKind kind, const Shape& shape) const override {
        return plain_->variants(kind, shape);
    }
    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned variant) const override {
        return plain_->schedule(kind, shape, variant);
    }

private:
    std::string name_;
    std::shared_ptr<const CollectiveAlgorithm> plain_;
    CircuitUse use_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_rotor_direct() {
    return std::make_shared<OnCircuits>("rotor_direct", make_direct(), CircuitUse::kDirect);
}

std::shared_ptr<const CollectiveAlgorithm> make_rotor_ring() {
    return std::make_shared<OnCircuits>("rotor_ring", make_ring(), CircuitUse::kInOrder);
}

}  // namespace astrolabe::system
