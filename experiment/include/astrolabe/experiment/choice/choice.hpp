/// What `algorithm: auto` and `chunks: auto` chose, for each collective by itself
/// (docs/models/algorithm-choice.md).
///
/// A *collective* here is kind, size, groups of ranks and traffic class: operations that agree in these are
/// carried out alike. A *method* is an algorithm with its keys and the number of chunks. The choice is the
/// fastest method by simulation of that collective alone, or the lightest of those that are about as fast;
/// the runner-up is the fastest of another algorithm, or of other chunks where the algorithm is named.
///
/// A choice depends on the collective, the network, the end points and queues of ranks, and on what the file
/// leaves to choose; `key` is a hash of all of that. A resolved file holds the choices of its run, and who
/// reads it again takes each over whose key is still the same.
///
/// What is chosen for the job as a whole (JobChoice) is the alternative by which its first iterations take
/// the least time by simulation, of equal ones the first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::experiment {

struct Method {
    ConfigNode keys = ConfigNode::mapping();  ///< `algorithm` and those of its own that differ from defaults
    std::uint32_t chunks = 1;

    [[nodiscard]] const std::string& name() const;
    /// "ring", "multi_ring {strides: network}, 4 chunks".
    [[nodiscard]] std::string text() const;
};

/// A method with the time that the collective takes by it, alone on the network.
struct TimedMethod {
    Method method;
    /// Nothing: not simulated, too large, or given up beyond twice the time of the best.
    std::optional<Time> time;
};

struct MethodChoice {
    std::string key;               ///< 16 hexadecimal digits
    std::string operation;         ///< the first that is carried out so
    std::uint64_t operations = 0;  ///< that are
    std::string collective;        ///< "all_reduce"
    Bytes size;                    ///< per rank
    std::uint64_t ranks = 0;       ///< of its largest group
    std::uint64_t groups = 0;
    TimedMethod chosen;
    std::optional<TimedMethod> runner_up;

    /// How much longer the runner-up takes: 0.25 for a quarter, negative where it is faster and loads links
    /// more; nothing where one of them has no time.
    [[nodiscard]] std::optional<double> margin() const;
};

/// An algorithm that the file names and that takes more than twice the time of the best.
struct SlowMethod {
    std::string operation;
    std::string collective;
    Bytes size;
    Method named;
    Time time;  ///< alone; at least, where `is_at_least`
    bool is_at_least = false;
    TimedMethod better;  ///< with a time

    [[nodiscard]] double factor() const;
};

/// A window of concurrent chunks that the job takes much longer with than with a wide one.
struct SlowWindow {
    std::uint32_t named = 0;
    Time time;  ///< of the first iterations
    std::uint32_t better = 0;
    Time better_time;

    [[nodiscard]] double factor() const;
};

/// One of several alternatives for the job as a whole: a network of those that were offered for it, counted
/// from 1, or `active_chunks`.
struct JobChoice {
    std::string key;  ///< 16 hexadecimal digits
    std::uint64_t taken = 0;
    std::optional<Time> time;  ///< nothing: not simulated, too large
    std::optional<std::uint64_t> runner_up;
    std::optional<Time> runner_up_time;  ///< nothing: beyond twice `time`, or not simulated

    /// As that of MethodChoice; never negative.
    [[nodiscard]] std::optional<double> margin() const;
};

/// Those of an experiment.
struct JobChoices {
    std::optional<JobChoice> network;  ///< of a network that comes with alternatives
    std::optional<JobChoice> window;   ///< of `active_chunks: auto`
};

/// What was chosen before, by key; shared by all experiments that are read with the same components.
class ChoiceCache {
public:
    [[nodiscard]] std::optional<MethodChoice> find(const std::string& key) const;
    void add(const MethodChoice& choice);
    [[nodiscard]] std::optional<JobChoice> find_for_job(const std::string& key) const;
    void add_for_job(const JobChoice& choice);
    /// By the key of its collective, whether it is known to be slow: an empty one is not.
    [[nodiscard]] std::map<std::string, std::optional<SlowMethod>> slow() const;
    void add_slow(const std::string& key, const std::optional<SlowMethod>& slow);

private:
    mutable std::mutex mutex_;
    std::map<std::string, MethodChoice> known_;
    std::map<std::string, JobChoice> known_for_jobs_;
    std::map<std::string, std::optional<SlowMethod>> known_slow_;
};

/// Keys of one of `cluster.choices`.
[[nodiscard]] Schema<MethodChoice> choice_schema();
/// Keys of `cluster.network_choice` and `cluster.window_choice`.
[[nodiscard]] Schema<JobChoice> job_choice_schema();

/// As a text for another process of the same program, and back.
[[nodiscard]] std::string write_choices(const std::vector<MethodChoice>& choices);
[[nodiscard]] std::vector<MethodChoice> read_choices(const std::string& text);

[[nodiscard]] std::string write_job_choice(const JobChoice& choice);
[[nodiscard]] JobChoice read_job_choice(const std::string& text);

[[nodiscard]] nlohmann::ordered_json job_choice_json(const JobChoice& choice);
/// "network 2 for the job as a whole (3.1 % ahead of network 1)", one text for each that was chosen.
[[nodiscard]] std::vector<std::string> job_choices_text(const JobChoices& choices);

[[nodiscard]] nlohmann::ordered_json choices_json(const std::vector<MethodChoice>& choices);
[[nodiscard]] nlohmann::ordered_json slow_json(const std::vector<SlowMethod>& slow);
/// "all_reduce: ring, 4 chunks (3 operations, 12.0 % ahead of direct), …", one text for each kind.
[[nodiscard]] std::vector<std::string> choices_text(const std::vector<MethodChoice>& choices);
/// "all_reduce by ring takes 4.2 times as long as by double_binary_tree, 16 chunks ('Top_0…')".
[[nodiscard]] std::string slow_text(const SlowMethod& slow);
[[nodiscard]] nlohmann::ordered_json slow_json(const SlowWindow& slow);
/// "the job takes 1.3 times as long with 16 active chunks as with 1024".
[[nodiscard]] std::string slow_text(const SlowWindow& slow);
/// The same of an entry of `slow_json`.
[[nodiscard]] std::string slow_text(const nlohmann::ordered_json& slow);
/// "multi_ring {strides: network}, 4 chunks" of a method in an entry of `choices_json` or `slow_json`.
[[nodiscard]] std::string method_text(const nlohmann::ordered_json& method);

}  // namespace astrolabe::experiment
