#include "invariants.hpp"

#include "isolated.hpp"
#include "recorded_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <sanitizers.hpp>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::testing {
namespace {

using experiment::Experiment;
using experiment::Run;

Run run_plainly(const Experiment& experiment) {
    return experiment::run_experiment(experiment, {}, {.causes = experiment::Causes::kNever});
}

double ratio_of(Time a, Time b) {
    return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

class Relatives {
public:
    Relatives(const Bench& bench, const Tree& tree, const Experiment& experiment, const Run& run,
              std::uint64_t seed, Checked& checked)
        : bench_(bench),
          tree_(tree),
          experiment_(experiment),
          run_(run),
          draw_(seed),
          checked_(checked) {}

    void check() {
        is_seen_or_not();
        resolved_gives_the_same();
        set_is_as_editing();
        if (tree_.contains("failures")) {
            return;  // at times that stay, of parts by name
        }
        unused_link();
        permuted_hosts();
        scaled_time();
        doubled_rates();
        predicted_events();
        fluid_and_packets();
    }

private:
    void violated(const std::string& invariant, const std::string& what) {
        checked_.violations.push_back({invariant, what});
    }

    [[nodiscard]] bool is_of(const char* section, std::initializer_list<const char*> kinds) const {
        const std::string kind = tree_.at(section).at("kind").get<std::string>();
        return std::ranges::find(kinds, kind) != kinds.end();
    }
    [[nodiscard]] bool has_rotors() const { return is_of("network", {"opera", "rotornet"}); }
    [[nodiscard]] bool circuits_move() const { return tree_.at("network").contains("reconfiguration"); }
    /// Hosts do not count: neither flows between hosts nor ranks that are placed on all there are.
    [[nodiscard]] bool names_no_hosts() const {
        return !is_of("workload", {"flows"}) && !tree_.contains("background") &&
               !tree_.at("cluster").contains("placement");
    }

    void is_seen_or_not() {
        tried("recording changes nothing");
        const Run alone = run_plainly(experiment_);
        if (alone.fingerprint != run_.fingerprint) {
            violated("recording changes nothing",
                     fmt::format("{} recorded, {} alone, {} of {} ranks simulated", run_.fingerprint,
                                 alone.fingerprint, alone.engine.simulated_ranks, experiment_.cluster.ranks));
        }
        checked_.figures["events"] = static_cast<double>(alone.engine.events);
    }

    void expect_same(const std::string& invariant, const std::string& text,
                     const std::vector<std::string>& set = {}) {
        tried(invariant);
        const Result<Experiment> loaded = bench_.load(text, set);
        if (!loaded) {
            violated(invariant, render(loaded.error()));
            return;
        }
        const std::string fingerprint = run_plainly(*loaded).fingerprint;
        if (fingerprint != run_.fingerprint) {
            violated(invariant, fmt::format("{} instead of {}", fingerprint, run_.fingerprint));
        }
    }

    void resolved_gives_the_same() {
        expect_same("resolved.yaml gives the same run",
                    read_file(bench_.folder().path() / "out" / "resolved.yaml"));
    }

    /// Values that are written in the file, but those that choose other keys.
    static void collect_values(const Tree& tree, const std::string& path, const Tree::json_pointer& at,
                               std::vector<std::pair<std::string, Tree::json_pointer>>& all) {
        for (const auto& [key, value] : tree.items()) {
            if (value.is_object()) {
                collect_values(value, path + key + ".", at / key, all);
            } else if (!value.is_array() && key != "kind" && key != "algorithm" && key != "schema") {
                all.emplace_back(path + key, at / key);
            }
        }
    }

    void set_is_as_editing() {
        std::vector<std::pair<std::string, Tree::json_pointer>> all;
        collect_values(tree_, "", Tree::json_pointer(), all);
        const auto& [path, at] =
            all[static_cast<std::size_t>(draw_.between(0, static_cast<std::int64_t>(all.size()) - 1))];
        Tree edited = tree_;
        Tree& value = edited[at];
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_number_integer()) {
            value = value.get<std::int64_t>() + (draw_.once_in(2) ? 1 : -1);
        } else if (text.ends_with("bps")) {
            value = random_rate(draw_);
        } else if (text.ends_with("B")) {
            value = bytes_text(draw_.spread(8, 16));
        } else if (text.ends_with("s")) {
            value = random_latency(draw_);
        }
        tried("--set is as editing");
        const std::string assignment =
            path + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
        const Result<Experiment> set = bench_.load(to_yaml_text(tree_), {assignment});
        const Result<Experiment> file = bench_.load(to_yaml_text(edited));
        if (set.has_value() != file.has_value()) {
            violated("--set is as editing", assignment + ": " + render(set ? file.error() : set.error()));
        } else if (set && to_yaml(set->resolved) != to_yaml(file->resolved)) {
            violated("--set is as editing", assignment + ": another experiment");
        }
    }

    void expect_same_time(const std::string& invariant, const Tree& changed) {
        tried(invariant);
        const Result<Experiment> loaded = bench_.load(to_yaml_text(changed));
        if (!loaded) {
            violated(invariant, render(loaded.error()));
            return;
        }
        const Run run = run_plainly(*loaded);
        // A cable to one host more is a way out as far as bounds go, so chunks may be chosen otherwise.
        const bool chooses_otherwise = is_of("network", {"fully_connected"}) &&
                                       !(experiment_.choices.empty() && loaded->choices.empty()) &&
                                       run.network.messages != run_.network.messages;
        if (chooses_otherwise) {
            checked_.figures["other chunks with a host more"] = 1;
            return;
        }
        if (run.execution.total != run_.execution.total || run.iteration_times != run_.iteration_times) {
            violated(invariant, fmt::format("{} ps instead of {} ps", run.execution.total.count(),
                                            run_.execution.total.count()));
        }
    }

    /// A host more where a host has a cable of its own, or a switch that leads nowhere.
    void unused_link() {
        if (!names_no_hosts()) {
            return;
        }
        Tree changed = tree_;
        if (is_of("network", {"flat", "fully_connected"})) {
            changed["network"]["hosts"] = changed["network"]["hosts"].get<std::int64_t>() + 1;
        } else if (is_of("network", {"graph"}) && !tree_["network"].contains("routing")) {
            // Those of k shortest paths turn with the number of a node's links (k_shortest_routing.hpp).
            changed["network"]["nodes"].push_back({{"name", "spare"}, {"kind", "switch"}});
            changed["network"]["links"].push_back({{"from", "switch 0"}, {"to", "spare"}});
        } else {
            return;
        }
        expect_same_time("an unused link changes nothing", changed);
    }

    /// On one switch, or with a cable between every two, no host is different from another.
    void permuted_hosts() {
        if (!names_no_hosts() || !is_of("network", {"flat", "fully_connected"}) ||
            !is_of("backend", {"fluid", "congestion_free"})) {
            return;
        }
        std::vector<std::int64_t> hosts(tree_["network"]["hosts"].get<std::size_t>());
        std::iota(hosts.begin(), hosts.end(), 0);
        draw_.shuffle(hosts);
        hosts.resize(experiment_.cluster.ranks);
        Tree changed = tree_;
        changed["cluster"]["placement"] = hosts;
        expect_same_time("permuted hosts change nothing", changed);
    }

    [[nodiscard]] Tree scaled(const Tree& keys) const {
        Tree changed = tree_;
        changed["scaled"] = keys;
        Tree& links = changed["scaled"]["links"];
        links = Tree::object();
        for (const std::string& name : network::link_class_names(*experiment_.fabric)) {
            links[name] = 2;
        }
        return changed;
    }

    struct Taken {
        Time time;
        std::uint64_t messages = 0;
    };
    [[nodiscard]] std::optional<Taken> taken_by(const std::string& invariant, const Tree& changed) {
        const Result<Experiment> loaded = bench_.load(to_yaml_text(changed));
        if (!loaded) {
            violated(invariant, render(loaded.error()));
            return std::nullopt;
        }
        const Run run = run_plainly(*loaded);
        if (!run.execution.finished) {
            violated(invariant, run.execution.stall);
            return std::nullopt;
        }
        return Taken{run.execution.total, run.network.messages};
    }

    /// Whether the backend has no times of its own, and messages none at which they must start.
    [[nodiscard]] bool has_only_rates_and_latencies() const {
        const Tree& backend = tree_["backend"];
        return is_of("backend", {"fluid", "congestion_free"}) && !backend.contains("incast") &&
               !backend.contains("slow_start") && !backend.contains("rate_interval") && !has_rotors() &&
               !circuits_move() && !is_of("workload", {"flows"}) && !tree_.contains("background") &&
               run_.execution.total > Time(0);
    }

    void tried(const std::string& invariant) { checked_.tried.push_back(invariant); }

    /// By how much the time changes, in ps, where latencies are a few millionths longer or shorter, which is
    /// a few picoseconds. Where which of two messages is first decides what comes after, that is much more.
    [[nodiscard]] double spread_of_a_picosecond() {
        Time least = run_.execution.total;
        Time most = least;
        for (const double factor : {0.999'996, 0.999'998, 1.000'002, 1.000'004}) {
            Tree changed = tree_;
            changed["scaled"]["latency"] = factor;
            if (const auto taken = taken_by("a latency a picosecond longer", changed)) {
                least = std::min(least, taken->time);
                most = std::max(most, taken->time);
            }
        }
        checked_.figures["decided by a picosecond, ps"] = static_cast<double>((most - least).count());
        return static_cast<double>((most - least).count());
    }

    void scaled_time() {
        if (!has_only_rates_and_latencies()) {
            return;
        }
        tried("twice as fast in all takes half as long");
        const std::optional<Taken> taken =
            taken_by("twice as fast in all takes half as long",
                     scaled({{"links", Tree()}, {"latency", 0.5}, {"compute", 2}, {"end_points", 2}}));
        if (taken) {
            // Each event is at a whole picosecond, and each link on its way has a latency of whole
            // picoseconds.
            constexpr double kRounding = 8;
            const double late =
                std::abs(static_cast<double>(2 * taken->time.count() - run_.execution.total.count())) /
                checked_.figures["events"];
            checked_.figures["scaled time, ps an event"] = late;
            if (late > kRounding && late * checked_.figures["events"] > spread_of_a_picosecond()) {
                violated("twice as fast in all takes half as long",
                         fmt::format("{} ps instead of half of {} ps", taken->time.count(),
                                     run_.execution.total.count()));
            }
        }
    }

    /// Messages that all start at 0, and none of which waits for another.
    [[nodiscard]] bool is_independent() const {
        return is_of("workload", {"messages"}) && !tree_.at("cluster").contains("injection_latency") &&
               !tree_.at("cluster").contains("end_point");
    }

    void doubled_rates() {
        // A load is a share of the rates, so that there are other flows at twice the rates.
        const bool has_load = tree_.at("workload").contains("load") ||
                              (tree_.contains("background") && tree_.at("background").contains("load"));
        if (run_.execution.total == Time(0) || has_load) {
            return;
        }
        tried("twice the rates");
        const std::optional<Taken> taken =
            taken_by("twice the rates", scaled({{"links", Tree()}, {"compute", 2}, {"end_points", 2}}));
        if (!taken) {
            return;
        }
        // Other chunks at other rates are other messages.
        const bool is_plain = has_only_rates_and_latencies() && experiment_.choices.empty() &&
                              (is_independent() || taken->messages == run_.network.messages);
        const double ratio = ratio_of(taken->time, run_.execution.total);
        if (!is_plain) {
            checked_.figures["twice the rates, others"] = ratio;
        } else if (is_independent()) {
            expect_within("twice the rates, independent messages", ratio, 0.5 - 1e-6, 1 + 1e-6);
        } else {
            expect_within("twice the rates, methods named", ratio, 0.45, 1.1);
        }
    }

    void expect_within(const std::string& figure, double value, double least, double most) {
        checked_.figures[figure] = value;
        if (value < least || value > most) {
            violated(figure, fmt::format("{}, expected {} to {}", value, least, most));
        }
    }

    void predicted_events() {
        const experiment::Prediction predicted = experiment::predict(experiment_);
        checked_.figures["events_over_predicted"] =
            predicted.events > 0 ? checked_.figures["events"] / predicted.events : checked_.figures["events"];
        if (predicted.events_between && run_.network.drops == 0) {
            tried("events are within the interval");
            const auto [least, most] = *predicted.events_between;
            if (checked_.figures["events"] < least || checked_.figures["events"] > most) {
                violated(
                    "events are within the interval",
                    fmt::format("{} events, {} to {} predicted", checked_.figures["events"], least, most));
            }
            checked_.figures["most of predicted events"] = checked_.figures["events"] / most;
        }
    }

    void fluid_and_packets() {
        if (!is_of("backend", {"fluid", "packet"}) || has_rotors() || circuits_move() ||
            is_of("workload", {"flows"}) || tree_.contains("background") || run_.execution.total == Time(0) ||
            run_.network.bytes_delivered > Bytes(std::int64_t{4} << 20)) {
            return;
        }
        tried("fluid is near packets");
        Tree fluid = tree_;
        fluid["backend"] = {
            {"kind", "fluid"},
            {"framing", {{"mtu", "4KiB"}, {"header", "82B"}, {"switching", "store_and_forward"}}}};
        Tree packet = tree_;
        packet["backend"] = {{"kind", "packet"}};
        const std::optional<Taken> of_fluid = taken_by("fluid is near packets", fluid);
        const std::optional<Taken> of_packets = taken_by("fluid is near packets", packet);
        if (of_fluid && of_packets) {
            const auto messages =
                static_cast<std::int64_t>(std::max<std::uint64_t>(run_.network.messages, 1));
            const bool is_large = run_.network.bytes_delivered / messages >= Bytes(16 << 10);
            const bool is_split = to_yaml_text(tree_).find("spray") != std::string::npos ||
                                  !is_of("network", {"flat", "leaf_spine", "fat_tree", "hierarchical",
                                                     "fully_connected", "expander", "ring", "torus"});
            double ratio = ratio_of(of_fluid->time, of_packets->time);
            if (is_large && !is_split && experiment_.choices.empty() && ratio < 0.85) {
                // Fluid has no window: a rate of 800 Gb/s over 40 us of round trip is more than a default
                // one.
                packet["backend"]["window"] = "64MiB";
                const std::optional<Taken> without_limit = taken_by("fluid is near packets", packet);
                if (!without_limit) {
                    return;
                }
                ratio = ratio_of(of_fluid->time, without_limit->time);
            }
            if (!experiment_.choices.empty()) {
                checked_.figures["fluid over packets, methods chosen on each"] = ratio;
            } else if (!is_large) {
                checked_.figures["fluid over packets, small messages"] = ratio;
            } else if (is_split) {
                // A burst keeps to one of two cables, which may be the free one.
                expect_within("fluid over packets, several paths", ratio, 0.5, 2);
            } else {
                expect_within("fluid over packets, one path", ratio, 0.85, 1.15);
            }
        }
    }

    const Bench& bench_;
    const Tree& tree_;
    const Experiment& experiment_;
    const Run& run_;
    Draw draw_;
    Checked& checked_;
};

}  // namespace

Checked check_invariants(const experiment::Components& components, const Tree& experiment,
                         std::uint64_t seed) {
    Checked checked;
    const Bench bench(components);
    const Result<Experiment> loaded = bench.load(to_yaml_text(experiment));
    if (!loaded) {
        checked.refusal = render(loaded.error());
        return checked;
    }
    checked.tried = {"finishes", "no message beats its ideal time", "the critical path tiles the run",
                     "records are whole", "bytes are conserved"};
    std::optional<Run> run;
    checked.violations = run_recorded(*loaded, bench, run);
    // The relatives take several times as long.
    constexpr double kMostEvents = 2e6;
    if (run && run->execution.finished && experiment::predict(*loaded).events <= kMostEvents) {
        Relatives(bench, experiment, *loaded, *run, seed, checked).check();
    }
    return checked;
}

Checked check_isolated(const experiment::Components& components, const Tree& experiment, std::uint64_t seed) {
    constexpr auto kProcessorSeconds = up_to<unsigned>(30, 300);
    const Isolated answer = call_isolated(
        [&] {
            const Checked checked = check_invariants(components, experiment, seed);
            Tree text{{"refusal", checked.refusal},
                      {"violations", Tree::array()},
                      {"figures", checked.figures},
                      {"tried", checked.tried}};
            for (const Violation& violation : checked.violations) {
                text["violations"].push_back({violation.invariant, violation.what});
            }
            return text.dump(-1, ' ', false, Tree::error_handler_t::replace);
        },
        kProcessorSeconds);
    Checked checked;
    if (!answer.returned) {
        checked.violations.push_back({"finishes", answer.text});
        return checked;
    }
    const Tree text = Tree::parse(answer.text);
    checked.refusal = text["refusal"];
    for (const Tree& violation : text["violations"]) {
        checked.violations.push_back({violation[0], violation[1]});
    }
    checked.figures = text["figures"].get<std::map<std::string, double>>();
    checked.tried = text["tried"].get<std::vector<std::string>>();
    return checked;
}

}  // namespace astrolabe::testing
