// Windowed direct: the direct exchange with at most W sends of a rank in flight
// (docs/theory/collectives-and-costs.md, "End points", `directW`).
//
// A schedule cannot wait for whichever send is delivered first, so the window is W lanes: the sends are dealt
// to them round-robin, to i+1 … i+W first, and a lane sends its next message when the one before has been
// delivered. all_reduce keeps its lanes across the barrier, so the window holds there too. Times are those of
// direct with ⌈(N-1)/W⌉α for every α.

#include "direct.hpp"
#include "simple_algorithm.hpp"

namespace astrolabe::system {

namespace {

struct WindowedDirectParameters {
    Position window = 8;  // W
};

AlgorithmPointer make_windowed_direct(const WindowedDirectParameters& parameters) {
    return make_simple(
        {.name = "windowed_direct",
         .kinds = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                   CollectiveKind::kAllToAll},
         .schedule = [window = parameters.window](CollectiveKind kind, Position ranks, unsigned) {
             return detail::direct_exchange(kind, ranks, window);
         }});
}

}  // namespace

void register_windowed_direct(AlgorithmRegistry& registry) {
    Schema<WindowedDirectParameters> schema(
        "windowed_direct",
        help_with_kinds("as direct, with a bounded number of sends of a rank in flight: a bounded incast",
                        *make_windowed_direct({})));
    schema.optional("window", &WindowedDirectParameters::window, "sends of a rank in flight", {1, {}});
    registry.add<WindowedDirectParameters>(schema, make_windowed_direct);
}

}  // namespace astrolabe::system
