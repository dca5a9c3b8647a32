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

#include "direct.hpp"
#include "ring.hpp"

#include <memory>
#include <string>

#include <astrolabe/system/collectives.hpp>

namespace astrolabe::system {

namespace {

class RotorDirect final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind,
                                                     const Shape& /*shape*/) const override {
        if (has_root(kind)) {
            return "rotor_direct does not do " + std::string(to_string(kind));
        }
        return std::nullopt;
    }
    [[nodiscard]] CircuitUse circuit_use() const override { return CircuitUse::kDirect; }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override {
        return 1;
    }
    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned /*variant*/) const override {
        return detail::direct_exchange(kind, shape.ranks(), detail::kNoWindow);
    }
};

class RotorRing final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind,
                                                     const Shape& /*shape*/) const override {
        if (has_root(kind) || kind == CollectiveKind::kAllToAll) {
            return "rotor_ring does not do " + std::string(to_string(kind));
        }
        return std::nullopt;
    }
    [[nodiscard]] CircuitUse circuit_use() const override { return CircuitUse::kInOrder; }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override {
        return 1;
    }
    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned /*variant*/) const override {
        return detail::ring_schedule(kind, shape.ranks(), 1);
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_rotor_direct() {
    return std::make_shared<RotorDirect>();
}

std::shared_ptr<const CollectiveAlgorithm> make_rotor_ring() {
    return std::make_shared<RotorRing>();
}

}  // namespace astrolabe::system
