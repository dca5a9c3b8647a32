/// Which engine runs an experiment in less processor time, before it runs.
///
/// Model. A prediction has E events, M messages between U pairs of ranks, and, where it looked at the
/// beginning of the run on this machine, T seconds (prediction.hpp). Events of packets cost about the same
/// throughout:
///
///     packets    least = 0.4 · T,                            most = 2.5 · T
///                without a look 0.1 and 10 times E · 0.7 us
///
/// An end of one message of a fluid changes the rates of others. How many an update touches depends on the
/// network: almost none where ends coincide or links are the connection's own, at most all U that can be
/// active. The beginning, when all connections start, tells too much rather than too little:
///
///     flows      least = max(E · 0.1 us, T / 50),            most = min(E · 1.6 us + 2·M·U · 0.4 ns, 5 · T)
///                without a look both without T
///
/// Origin: E · 0.4 us is what events cost where they touch little, four times more or less; 0.4 ns is an
/// update's cost for each active connection of Meta's Model-A on 256 ranks and a hashed leaf-spine where
/// rates are kept by connection (docs/models/fluid.md), 254 s of 20.1 M messages with 31 thousand connections
/// at a time, of which half of all pairs are active; by link the same takes 27 s. That run begins 14 times,
/// the one of 128 ranks 48 times as slowly as it goes on; those of one switch within 2. Packets of Model-A on
/// 32 ranks take 0.54 of what their beginning says. EngineCostLong.* measures again.
///
/// Another engine is suggested only where the intervals do not overlap, its most being below the least of the
/// experiment's own, and only for runs that take kWorthSaving at least.
///
/// Limits. The other engine is as it is registered, with the defaults of its keys. Nothing is said of several
/// jobs, flows, networks whose links come and go, or with failures; engines that serve as reference (TCP), or
/// let messages pass through one another, are never suggested. Complexity: a prediction for each engine.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/prediction.hpp>

namespace astrolabe::experiment {

/// Of a processor, in seconds.
inline constexpr double kWorthSaving = 5;

struct EngineCost {
    std::string kind;    ///< of the backend
    double seconds = 0;  ///< as predicted, within the interval
    double least = 0;
    double most = 0;
};

struct EngineSuggestion {
    EngineCost own;
    EngineCost cheaper;
};

/// `has_packets`: its events are those of packets.
[[nodiscard]] EngineCost engine_cost(const std::string& kind, bool has_packets, const Prediction& prediction);

/// Whether that is certain enough to say so.
[[nodiscard]] bool is_cheaper(const EngineCost& other, const EngineCost& own);

/// Of the engines that run this experiment the cheapest, where it is cheaper than its own. `prediction` is
/// that of the experiment.
[[nodiscard]] std::optional<EngineSuggestion> cheaper_engine(const Experiment& experiment,
                                                             const Prediction& prediction,
                                                             const Components& components);

/// "packet takes 20 s to 125 s of a processor, where fluid takes 230 s to 1.11e+03 s: --set
/// backend.kind=packet".
[[nodiscard]] std::string engine_suggestion_text(const EngineSuggestion& suggestion);
/// {own: {kind, cpu_s, cpu_s_between}, cheaper: {…}}
[[nodiscard]] nlohmann::ordered_json engine_suggestion_json(const EngineSuggestion& suggestion);

}  // namespace astrolabe::experiment
