#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/study/search/plan_search.hpp>

namespace astrolabe::study {
namespace {

/// Uniform in (0, 1], 2^53 values.
double unit_draw(RandomStream& random) {
    return static_cast<double>((random.next() >> 11) + 1) * 0x1p-53;
}

/// One chain: what it did, and the best it has.
class Chain {
public:
    Chain(const ChainOptions& options, const Evaluate& evaluate, const StepObserver& observe)
        : options_(options),
          evaluate_(evaluate),
          observe_(observe),
          best_(options.known) {}

    [[nodiscard]] bool is_over() const { return taken_ >= options_.evaluations || options_.is_over(); }
    [[nodiscard]] std::uint64_t taken() const { return taken_; }
    [[nodiscard]] double best() const { return best_; }

    /// Evaluates a plan, which is accepted if it takes at most `most`.
    SearchStep step(const Plan& plan, std::string move, double most) {
        SearchStep step{.chain = options_.chain,
                        .evaluation = ++taken_,
                        .move = std::move(move),
                        .result = evaluate_(plan, most)};
        step.accepted = std::isfinite(step.result.seconds) && step.result.seconds <= most;
        step.is_best = step.result.seconds < best_;
        best_ = std::min(best_, step.result.seconds);
        double& best_of_network = best_of(plan);
        step.is_best_of_network = step.result.seconds < best_of_network;
        best_of_network = std::min(best_of_network, step.result.seconds);
        step.best = best_;
        observe_(step, plan);
        return step;
    }

    /// Of the plans of the same network; infinite where there is none yet.
    [[nodiscard]] double& best_of(const Plan& plan) {
        return networks_
            .try_emplace(options_.network_of ? options_.network_of(plan) : NetworkChoice(),
                         std::numeric_limits<double>::infinity())
            .first->second;
    }

private:
    const ChainOptions& options_;
    const Evaluate& evaluate_;
    const StepObserver& observe_;
    std::uint64_t taken_ = 0;
    double best_;
    std::map<NetworkChoice, double> networks_;  ///< seconds of the best plan of each
};

}  // namespace

void anneal(const SearchSpace& space, const ChainOptions& options, const Evaluate& evaluate,
            const StepObserver& observe) {
    ASTROLABE_ASSERT(options.temperature > 0, "a temperature is positive");
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kCooling = 0.01;
    RandomStream random(options.seed, fmt::format("annealing chain {}", options.chain));
    Chain chain(options, evaluate, observe);
    if (chain.is_over()) {
        return;
    }
    Plan current = space.start();
    double seconds = chain.step(current, "", kInfinity).result.seconds;
    Plan best = current;
    double best_seconds = seconds;
    const std::uint64_t moves = options.evaluations - 1;
    const std::uint64_t part = std::max<std::uint64_t>(1, moves / (options.restarts + 1));
    for (std::uint64_t move = 0; move < moves && !chain.is_over(); ++move) {
        // What the division leaves over lengthens the last part, at its lowest temperature.
        const bool is_last = move / part >= options.restarts;
        const std::uint64_t into = is_last ? std::min(move - options.restarts * part, part - 1) : move % part;
        if (into == 0 && move > 0 && move / part <= options.restarts) {
            current = best;
            seconds = best_seconds;
        }
        const double temperature =
            options.temperature * std::pow(kCooling, static_cast<double>(into) / static_cast<double>(part));
        const double draw = unit_draw(random);
        const double most = seconds * (1 - temperature * std::log(draw));
        Move next = space.neighbour(current, random);
        const SearchStep step = chain.step(next.plan, std::move(next.what), most);
        if (step.accepted) {
            current = std::move(next.plan);
            seconds = step.result.seconds;
            if (seconds < best_seconds) {
                best = current;
                best_seconds = seconds;
            }
        }
    }
}

void enumerate(const SearchSpace& space, const ChainOptions& options, const Evaluate& evaluate,
               const StepObserver& observe) {
    Chain chain(options, evaluate, observe);
    for (std::uint64_t number = options.chain; number < space.size() && !chain.is_over();
         number += options.chains) {
        const Plan plan = space.at(number);
        const double most = options.network_of ? chain.best_of(plan) : chain.best();
        chain.step(plan, fmt::format("plan {}", number), most);
    }
}

}  // namespace astrolabe::study
