// Windowed direct: the direct exchange with at most W sends of a rank under way
// (docs/theory/collectives-and-costs.md, "End points", `directW`).
//
// A schedule cannot wait for whichever send is delivered first, so the window is W lanes: the sends are dealt
// to them in turn, to i+1 … i+W first, and a lane sends its next message when the one before has been
// delivered. all_reduce keeps its lanes across the barrier, so the window holds there too.

#include "collectives.hpp"
#include "direct.hpp"

#include <memory>
#include <string>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system {

namespace {

class WindowedDirect final : public CollectiveAlgorithm {
public:
    explicit WindowedDirect(Position window)
        : window_(window) {
        ASTROLABE_ASSERT(window >= 1, "a window lets something through");
    }

    [[nodiscard]] std::optional<std::string> refusal(CollectiveKind kind,
                                                     const Shape& /*shape*/) const override {
        if (has_root(kind)) {
            return "windowed_direct does not do " + std::string(to_string(kind));
        }
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override {
        return 1;
    }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned /*variant*/) const override {
        const Position ranks = shape.ranks();
        return detail::direct_exchange(kind, ranks, window_);
    }

private:
    Position window_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> make_windowed_direct(Position window) {
    return std::make_shared<WindowedDirect>(window);
}

}  // namespace astrolabe::system
