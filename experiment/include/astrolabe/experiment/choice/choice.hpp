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

/// What was chosen before, by key; shared by all experiments that are read with the same components.
class ChoiceCache {
public:
    [[nodiscard]] std::optional<MethodChoice> find(const std::string& key) const;
    void add(const MethodChoice& choice);

private:
    mutable std::mutex mutex_;
    std::map<std::string, MethodChoice> known_;
};

/// Keys of one of `cluster.choices`.
[[nodiscard]] Schema<MethodChoice> choice_schema();

/// As a text for another process of the same program, and back.
[[nodiscard]] std::string write_choices(const std::vector<MethodChoice>& choices);
[[nodiscard]] std::vector<MethodChoice> read_choices(const std::string& text);

[[nodiscard]] nlohmann::ordered_json choices_json(const std::vector<MethodChoice>& choices);
[[nodiscard]] nlohmann::ordered_json slow_json(const std::vector<SlowMethod>& slow);
/// "all_reduce: ring, 4 chunks (3 operations, 12.0 % ahead of direct), …", one text for each kind.
[[nodiscard]] std::vector<std::string> choices_text(const std::vector<MethodChoice>& choices);
/// "all_reduce by ring takes 4.2 times as long as by double_binary_tree, 16 chunks ('Top_0…')".
[[nodiscard]] std::string slow_text(const SlowMethod& slow);

}  // namespace astrolabe::experiment
