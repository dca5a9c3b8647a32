/// What the engine of an experiment leaves out and the experiment needs, found without running it
/// (docs/models/engine-fit.md).
///
/// Model. An engine describes what it does to messages by a `network::Transport`. With P(t) the estimated
/// time of the experiment under a transport t (experiment/src/explain/transport_estimate.hpp) and t_0, t_1,
/// …, t_n the transports on the way from the own engine's to another's, which differ in one *term* each,
///     error of term i = (P(t_i) - P(t_{i-1})) / P(t_0),
/// so errors sum to how much longer the other engine takes; negative ones say shorter. The other engine is as
/// it is registered, with the defaults of its keys, or as the caller has it.
///
/// Limits. Estimates, not bounds. Networks whose links come and go, and schedules between more pairs than are
/// counted, have none. Congestion controls are taken for fixed windows, flow control for room without end.
///
/// Complexity: two estimates for each engine and ten terms.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

struct EngineTerm {
    std::string name;    ///< "headers", a key of docs/models/engine-fit.md
    std::string engine;  ///< the kind of the one that has it
    /// Of an iteration, signed: how much longer that engine takes for it, over the own time. Nothing: packets
    /// are lost on both, and which timeouts that costs is not known before.
    std::optional<double> error;
    std::string cause;  ///< "54 B a packet of 1448 B", with the numbers of this experiment
};

/// Name of the term of packets that find no room.
inline constexpr std::string_view kBufferTerm = "buffers";

/// Another engine is worth a word where all its terms together come to this share of an iteration; a term
/// from kSmallestTerm on.
inline constexpr double kWorthAWord = 0.065;
inline constexpr double kSmallestTerm = 0.02;

/// What another engine has, largest first, those without an estimate before all; without those below a
/// thousandth. Empty where there is no estimate.
[[nodiscard]] std::vector<EngineTerm> terms_of(const Experiment& experiment, const std::string& kind,
                                               const network::BackendMaker& other);

/// Of their estimates.
[[nodiscard]] double all_of(std::span<const EngineTerm> terms);

/// What to tell the user. A term is told of the first registered engine that has it, and of another where
/// it is larger there by kSmallestTerm.
[[nodiscard]] std::vector<EngineTerm> ignored_terms(const Experiment& experiment,
                                                    const Components& components);
/// The same of engines as they are given: kinds and makers, cheapest first.
struct NamedEngine {
    std::string kind;
    network::BackendMaker maker;
};
[[nodiscard]] std::vector<EngineTerm> ignored_terms(const Experiment& experiment,
                                                    std::span<const NamedEngine> others);

/// A line for a person: "headers: packet takes 2.1 % longer (82 B a packet of 4096 B)".
[[nodiscard]] std::string engine_term_text(const EngineTerm& term);
/// [{name, engine, error, cause}]
[[nodiscard]] nlohmann::ordered_json engine_terms_json(std::span<const EngineTerm> terms);

}  // namespace astrolabe::experiment
