// Barrier direct: the direct all_reduce with a barrier of all ranks between its halves.
//
// A rank of direct sends its result as soon as it has it, and what it sends competes with what others still
// scatter. Here it waits until every rank has its own, as where a sharded parameter server is synchronous.

#include "collectives.hpp"
#include "direct.hpp"

#include <memory>
#include <string>

namespace astrolabe::system {

namespace {

class BarrierDirect final : public CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind,
                                                     const Shape& /*shape*/) const override {
        if (kind != CollectiveKind::kAllReduce) {
            return "barrier_direct does all_reduce only, which has two halves";
        }
        return std::nullopt;
    }
    [[nodiscard]] bool has_barriers() const override { return true; }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override {
        return 1;
    }
    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind /*kind*/, const Shape& shape,
                                              unsigned /*variant*/) const override {
        return detail::staged_direct_all_reduce(shape.ranks());
    }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_barrier_direct() {
    return std::make_shared<BarrierDirect>();
}

}  // namespace astrolabe::system
