/// Which of the things that a study compares wins, where, by how much and why.
///
/// Parameters have one of three parts:
///
///     contested       what is compared: `network` where it varies, else a choice of names (an algorithm of a
///                     collective), else of numbers (a chunk size), else a number of the network
///     choices         others that an engineer is free to choose: a contender runs with the best of them
///     circumstances   all else: the job (model, batch), its scale, speeds of links, the engine. A setting is
///                     a combination of their values
///
/// With the mean iteration times T₁ ≤ T₂ of the first two contenders of a setting, means over seeds, the
/// margin is T₂/T₁ - 1: how much longer the next best takes.
///
/// Where both runs followed causes (docs/models/critical-path.md) the times on their critical paths tile the
/// runs, so that T₂ - T₁ is exactly the sum of the differences by resource. A resource R that has t of T on
/// the critical path and becomes k times as fast leaves at least T - t(1 - 1/k): the loser needs it at least
/// t/(t - (T₂ - T₁)) times as fast to catch up, and the winner loses at the latest when it is
/// 1 + (T₂ - T₁)/t times slower.
#pragma once

#include "study_figures.hpp"

#include <cstdint>

namespace astrolabe::study {

/// By dimension of the axes.
struct Contest {
    std::optional<std::size_t> contested;  ///< none: nothing competes
    std::vector<std::size_t> choices;
    std::vector<std::size_t> circumstances;
};
[[nodiscard]] Contest contest_of(const StudyAxes& axes, std::optional<std::size_t> contested = {});

/// A value of the contested dimension in a setting, with the best choices.
struct Contender {
    std::size_t value = 0;
    std::vector<std::size_t> at;  ///< by dimension
    Sample time;                  ///< s an iteration
    std::optional<double> cost;   ///< US dollars of the network, a host
    const StudyRow* row = nullptr;
};

/// Margins up to here are ties: no model of a network is that exact.
inline constexpr double kTieMargin = 0.01;
/// The engines were measured to differ by as much on an iteration (docs/fluid-against-packets.md).
inline constexpr double kCloseMargin = 0.05;

enum class Certainty : std::uint8_t {
    kClear,
    kClose,  ///< the margin is within what engines differ by
    kTie,    ///< the first two are equal but for kTieMargin
    kSeeds,  ///< the ranges over seeds of the first two overlap
    kAlone   ///< nobody else was run here
};
[[nodiscard]] std::string_view to_string(Certainty certainty);

struct Setting {
    std::vector<std::size_t> at;        ///< by circumstance
    std::vector<Contender> contenders;  ///< the fastest first; never empty

    [[nodiscard]] const Contender& winner() const { return contenders.front(); }
    [[nodiscard]] double margin() const;  ///< 0 of one alone
    [[nodiscard]] Certainty certainty() const;
    /// The cheapest of those within kTieMargin of the winner, where another than the winner is cheaper.
    [[nodiscard]] const Contender* as_good_for_less() const;
};

/// US dollars a host of a point's network; none where it has no price.
using PriceOf = std::function<std::optional<double>(const StudyRow& row)>;
/// In the order of the circumstances' values. `at_most`: contenders that cost more a host are left out.
/// O(points · log points).
[[nodiscard]] std::vector<Setting> settings_of(const StudyAxes& axes, const Contest& contest,
                                               const PriceOf& price, std::optional<double> at_most = {});

/// Values of the circumstances between which all settings have one winner: places, ascending.
struct Box {
    std::vector<std::vector<std::size_t>> values;  ///< by circumstance
    std::size_t settings = 0;
};
/// Few boxes that hold the settings that `value` wins and no other, the largest first. A greedy cover, at
/// most (circumstances)! growths a box, of which 24 are tried.
[[nodiscard]] std::vector<Box> boxes_of(const StudyAxes& axes, const Contest& contest,
                                        const std::vector<Setting>& settings, std::size_t value);

/// Neighbouring values of a circumstance of numbers between which the winner changes, all else equal.
struct Crossover {
    std::size_t circumstance = 0;  ///< place in the contest's
    const Setting* before = nullptr;
    const Setting* after = nullptr;
    /// Where the two take equally long if log T is linear in the logarithm of the parameter (in the
    /// parameter, where that is not above zero); none where one of them was not run on both sides.
    std::optional<double> estimate;
};
[[nodiscard]] std::vector<Crossover> crossovers_of(const StudyAxes& axes, const Contest& contest,
                                                   const std::vector<Setting>& settings);

/// Time of an iteration on the critical path by resource, s; empty where causes were not followed.
[[nodiscard]] std::map<std::string, double> path_times(const StudyRow& row);

/// Time of an iteration by what it is spent on, s, with the sum T: `path_times`, or where causes were not
/// followed the mean over ranks of computing, waiting for each kind of collective, and draining.
struct TimeParts {
    std::map<std::string, double> seconds;
    bool is_of_path = false;
};
[[nodiscard]] TimeParts parts_of(const StudyRow& row);

struct TimeShare {
    std::string part;
    double share = 0;
    bool is_of_path = false;
};
/// The largest part; none where a result has none.
[[nodiscard]] std::optional<TimeShare> bound_of(const StudyRow& row);

struct TimeDifference {
    std::string part;
    double seconds = 0;  ///< an iteration
};
/// What the runner-up has more of than the winner, the largest first; the sum is the difference of their
/// times. Empty where the parts of the two are not of one kind.
[[nodiscard]] std::vector<TimeDifference> losses_of(const Setting& setting);

/// A resource whose speed would turn a verdict.
struct Turn {
    std::string resource;
    double factor = 0;
};
/// The resource of the runner-up that would need the least speed-up, and that speed-up; none where no single
/// resource suffices.
[[nodiscard]] std::optional<Turn> catches_up(const Setting& setting);
/// The resource of the winner that bears the least slowing, and that slowing; none where its path is not
/// known.
[[nodiscard]] std::optional<Turn> falls_behind(const Setting& setting);

}  // namespace astrolabe::study
