#include <algorithm>
#include <limits>
#include <queue>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/analysis/concurrent_flow.hpp>

namespace astrolabe::network {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNoEdge = std::numeric_limits<std::uint32_t>::max();

class ConcurrentFlowSolver {
public:
    ConcurrentFlowSolver(std::uint32_t nodes, std::span<const FlowEdge> edges,
                         std::span<const FlowDemand> demands)
        : first_(nodes + 1, 0),
          lengths_(edges.size()),
          loads_(edges.size(), 0),
          distances_(nodes),
          parents_(nodes),
          to_push_(nodes, 0) {
        for (const FlowEdge& edge : edges) {
            ASTROLABE_ASSERT(edge.capacity > 0, "an edge carries something");
            ++first_[edge.source + 1];
        }
        for (std::uint32_t node = 0; node < nodes; ++node) {
            first_[node + 1] += first_[node];
        }
        edges_.resize(edges.size());
        std::vector<std::uint32_t> place(first_.begin(), first_.end() - 1);
        for (const FlowEdge& edge : edges) {
            edges_[place[edge.source]++] = edge;
        }
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            lengths_[i] = 1 / edges_[i].capacity;
        }
        demands_.assign(demands.begin(), demands.end());
        std::stable_sort(demands_.begin(), demands_.end(),
                         [](const FlowDemand& a, const FlowDemand& b) { return a.source < b.source; });
    }

    /// One phase: everything is routed once.
    void route_all() {
        for_each_source([this](std::span<const FlowDemand> demands) {
            for (const FlowDemand& demand : demands) {
                to_push_[demand.sink] += demand.amount;
            }
            push();
        });
        ++phases_;
        const double longest = *std::max_element(lengths_.begin(), lengths_.end());
        if (longest > 1e200) {
            for (double& length : lengths_) {
                length /= longest;
            }
        }
    }

    /// Bounds λ by the lengths as they are; by 0 if a sink cannot be reached.
    void certify() {
        double volume = 0;
        for_each_source([&](std::span<const FlowDemand> demands) {
            for (const FlowDemand& demand : demands) {
                volume += demand.amount * distances_[demand.sink];
            }
        });
        double weight = 0;
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            weight += lengths_[i] * edges_[i].capacity;
        }
        most_ = std::min(most_, weight / volume);
    }

    /// Forgets what was routed, and takes demands of which one phase of it just fits.
    void scale_demands() {
        const double fullest = fullest_edge();
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            loads_[i] = 0;
            lengths_[i] = 1 / edges_[i].capacity;
        }
        for (FlowDemand& demand : demands_) {
            demand.amount /= fullest;
        }
        scale_ = fullest;
        most_ *= fullest;
        phases_ = 0;
    }

    /// From here on with smaller steps, from the lengths found so far; what was routed with larger ones is
    /// forgotten.
    void refine(double epsilon) {
        epsilon_ = epsilon;
        std::fill(loads_.begin(), loads_.end(), 0);
        phases_ = 0;
    }

    [[nodiscard]] double least() const { return static_cast<double>(phases_) / fullest_edge() / scale_; }
    [[nodiscard]] double most() const { return most_ / scale_; }
    [[nodiscard]] bool reaches_all_sinks() const { return most_ > 0; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }

private:
    template <class Visit>
    void for_each_source(const Visit& visit) {
        for (std::size_t begin = 0; begin < demands_.size();) {
            std::size_t end = begin;
            while (end < demands_.size() && demands_[end].source == demands_[begin].source) {
                ++end;
            }
            find_tree(demands_[begin].source);
            visit(std::span<const FlowDemand>(demands_).subspan(begin, end - begin));
            begin = end;
        }
    }

    /// Its load over its capacity.
    [[nodiscard]] double fullest_edge() const {
        double fullest = 0;
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            fullest = std::max(fullest, loads_[i] / edges_[i].capacity);
        }
        return fullest;
    }

    void find_tree(std::uint32_t root) {
        std::fill(distances_.begin(), distances_.end(), kFar);
        settled_.clear();
        using Entry = std::pair<double, std::uint32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        distances_[root] = 0;
        parents_[root] = kNoEdge;
        queue.emplace(0, root);
        while (!queue.empty()) {
            const auto [distance, node] = queue.top();
            queue.pop();
            if (distance > distances_[node]) {
                continue;
            }
            settled_.push_back(node);
            for (std::uint32_t edge = first_[node]; edge < first_[node + 1]; ++edge) {
                ++steps_;
                const double further = distance + lengths_[edge];
                if (further < distances_[edges_[edge].target]) {
                    distances_[edges_[edge].target] = further;
                    parents_[edges_[edge].target] = edge;
                    queue.emplace(further, edges_[edge].target);
                }
            }
        }
    }

    /// Everything that is to reach nodes of the tree goes through it, farthest nodes first.
    void push() {
        for (auto node = settled_.rbegin(); node != settled_.rend(); ++node) {
            const double amount = to_push_[*node];
            const std::uint32_t edge = parents_[*node];
            to_push_[*node] = 0;
            if (edge == kNoEdge || amount == 0) {
                continue;
            }
            loads_[edge] += amount;
            lengths_[edge] *= 1 + epsilon_ * amount / edges_[edge].capacity;
            to_push_[edges_[edge].source] += amount;
        }
    }

    double epsilon_ = 0;
    std::vector<std::uint32_t> first_;  // edges out of a node: [first_[v], first_[v + 1])
    std::vector<FlowEdge> edges_;
    std::vector<FlowDemand> demands_;  // by source
    std::vector<double> lengths_;
    std::vector<double> loads_;
    std::vector<double> distances_;
    std::vector<std::uint32_t> parents_;
    std::vector<double> to_push_;
    std::vector<std::uint32_t> settled_;
    double most_ = kFar;
    double scale_ = 1;
    std::uint64_t phases_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace

ConcurrentFlow max_concurrent_flow(std::uint32_t nodes, std::span<const FlowEdge> edges,
                                   std::span<const FlowDemand> demands, const ConcurrentFlowLimits& limits) {
    ASTROLABE_ASSERT(!demands.empty(), "something is to be carried");
    ConcurrentFlowSolver solver(nodes, edges, demands);
    solver.certify();
    if (!solver.reaches_all_sinks()) {
        return {};
    }
    // The first phase only tells how much fits.
    solver.route_all();
    solver.scale_demands();
    constexpr std::uint64_t kPhases = 8;  // between certificates, which cost as much as one
    ConcurrentFlow best;
    for (double epsilon = 0.2;; epsilon /= 2) {
        solver.refine(epsilon);
        const auto enough = static_cast<std::uint64_t>(16 / epsilon);
        for (std::uint64_t phase = 1; phase <= enough; ++phase) {
            solver.route_all();
            ++best.phases;
            if (phase % kPhases != 0) {
                continue;
            }
            solver.certify();
            best.least = std::max(best.least, solver.least());
            best.most = solver.most();
            if (best.most <= best.least * (1 + limits.gap) || solver.steps() >= limits.most_steps) {
                return best;
            }
        }
    }
}

}  // namespace astrolabe::network
