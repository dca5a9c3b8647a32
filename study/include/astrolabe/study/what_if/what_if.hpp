/// What an experiment would gain from each change by itself: a run for every one, sorted by what it saves.
///
/// Limits first. Changes are made one at a time, and what two of them save together is not the sum. A saving
/// holds for the experiment as it is: behind the first bottleneck is the next one. Resources are scaled as
/// `scaled` does (experiment/src/file/scaled.hpp), so a topology that was fitted to the job is not fitted
/// anew. An iteration of another batch or other tables is another iteration. Prices are those of the network;
/// nothing is known of what faster devices cost.
///
/// Model. With T the mean time of an iteration as it is, T' that with the change, and w the samples of its
/// iteration over those of the base (1 but for `batch`),
///
///     saved       1 - T' / (w T)                 per sample; below 0 where it costs time
///     elasticity  ln(T' / T) / ln k              of a resource times k: 1 % more of it changes T by so
///                                                many percent; -1 where it is all that counts, 0 without
///                                                effect
///     at most     the saving with an endless amount of the resource: of rates 1 Pb/s, of latency and of
///                 computation none
///     slower      a run is ended once it takes more than twice the time per sample, as nobody wants it: it
///                 has no other figures
///     cost        price of the network with the change less that as it is (network/cost/cost.hpp)
///
/// Example. A ring all-reduce of S bytes on N ranks of a flat network takes 2 (N-1) (S / (N C) + alpha),
/// alpha over both cables; with twice the rate C it saves half of all but the latency, at most all but the
/// latency.
///
/// Complexity: a run for each change, side by side in processes of their own; a network that is priced is
/// built once more here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::study {

/// How much slower a run may be that is carried through.
inline constexpr double kMostTimes = 2;

/// Kinds of changes, in the order in which they are tried: "links", "latency", …
[[nodiscard]] const std::vector<std::string>& change_groups();

struct Change {
    std::string group;                   ///< empty: the user's own
    std::string name;                    ///< "host-leaf links x2"
    std::vector<std::string> overrides;  ///< "path=value", in order
    double factor = 0;                   ///< of a resource, for its elasticity; 0: there is none
    bool is_unlimited = false;           ///< what it saves is the most that more of it can save
    double samples = 1;                  ///< of an iteration, over those of the base
    bool has_price = false;              ///< the network may cost something else
    std::string unsupported;             ///< why it cannot be made; such a change is not run
};

/// All that suggest themselves for an experiment: its links, latencies, computation, circuits and end points,
/// other algorithms and cuts of the collectives that it has, cables, batch and tables.
[[nodiscard]] std::vector<Change> possible_changes(const experiment::Experiment& experiment,
                                                   const experiment::Components& components);

struct ChangedRun {
    Change change;
    int exit_code = -1;      ///< of the run; -1: there was none
    std::string reason;      ///< why there is no time, one line
    double seconds = 0;      ///< of an iteration
    bool is_slower = false;  ///< more than kMostTimes as slow per sample, and ended for that
    std::string fingerprint;
    std::optional<double> extra_dollars;  ///< of the network

    [[nodiscard]] bool finished() const { return exit_code == 0 && !is_slower; }
    /// It cannot be made, as opposed to: something went wrong.
    [[nodiscard]] bool is_unsupported() const;
};

struct WhatIf {
    std::string name;  ///< of the experiment
    double seconds = 0;
    std::string fingerprint;
    std::optional<double> dollars;  ///< of the network; nothing: prices are missing
    std::vector<ChangedRun> runs;   ///< what saves most first, then what is slower, then what has no time

    [[nodiscard]] double saved(const ChangedRun& run) const;  ///< share of the time per sample
    [[nodiscard]] std::optional<double> elasticity(const ChangedRun& run) const;
    /// US dollars for each percent of time that is saved; nothing unless it saves time and costs something.
    [[nodiscard]] std::optional<double> dollars_per_percent(const ChangedRun& run) const;
};

struct WhatIfRequest {
    std::filesystem::path file;
    experiment::LoadOptions load;
    std::vector<Change> changes;
    std::size_t jobs = 1;
    experiment::PriceFile prices;
    /// Called when a run has ended: how many have, of how many, and which.
    std::function<void(std::size_t ended, std::size_t all, const std::string& name)> observer;
};

/// What the base said on standard error, or how it ended, and its exit code, where it gave no time.
struct FailedBase {
    int exit_code = 1;
    std::string error;
};

/// Runs this very program for the base and for each change; the caller has no child processes and no threads.
[[nodiscard]] std::variant<WhatIf, FailedBase> what_if(const WhatIfRequest& request,
                                                       const experiment::Experiment& base,
                                                       const experiment::Components& components);

/// {schema, name, iteration_s, fingerprint, network_usd, changes: [{change, group, set, outcome, …}]}.
[[nodiscard]] nlohmann::ordered_json what_if_json(const WhatIf& result);
/// A table, then what could not be tried and why.
[[nodiscard]] std::string what_if_text(const WhatIf& result);

}  // namespace astrolabe::study
