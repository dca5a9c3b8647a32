#include "study_points.hpp"

#include "arithmetic.hpp"
#include "study_file.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/experiment/file/config_path.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSeed = "seed";

/// A number where the text is one.
Json json_of(const std::string& text) {
    const Parsed<std::int64_t> whole = parse_integer(text);
    if (const auto* number = std::get_if<std::int64_t>(&whole)) {
        return *number;
    }
    const Parsed<double> decimal = parse_number(text);
    const auto* number = std::get_if<double>(&decimal);
    return number != nullptr ? Json(*number) : Json(text);
}

Json json_of(const Alternative& alternative) {
    return alternative.is_named ? Json(alternative.label) : json_of(alternative.label);
}

/// A section that is given as the path of a file becomes what is in it.
void resolve_at(const std::string& path, ConfigNode& value, ReadContext& context) {
    constexpr std::array<std::string_view, 6> kSections{"workload", "cluster",        "network",
                                                        "backend",  "workload.model", "cluster.device"};
    if (std::find(kSections.begin(), kSections.end(), path) != kSections.end()) {
        experiment::resolve_reference(value, context);
    }
}

/// What changes from one point to the next: one path, or several side by side.
using Dimension = std::vector<Alternatives>;

std::size_t size_of(const Dimension& dimension) {
    return dimension.front().values.size();
}

struct Combination {
    StudyPoint point;
    std::string written;  // hash of the experiment it makes
};

class Expansion {
public:
    Expansion(SweepKeys& keys, ReadContext& context)
        : keys_(keys),
          context_(context),
          is_override_used_(keys.overrides.size(), false) {}

    /// Nothing where errors were reported.
    std::vector<StudyPoint> points() {
        gather();
        check_paths();
        check_conditions();
        if (context_.error_count() > 0) {
            return {};
        }
        std::vector<StudyPoint> points;
        std::map<std::string, std::size_t> numbers;  // of points, by what they are
        std::vector<std::size_t> choice(dimensions_.size(), 0);
        do {
            std::optional<Combination> made = combination_at(choice);
            if (context_.error_count() > 0) {
                return {};
            }
            if (!made) {
                continue;
            }
            made->point.number = points.size() + 1;
            const auto [same, is_new] = numbers.emplace(made->written, made->point.number);
            if (!is_new) {
                report_same(points[same->second - 1], made->point);
                return {};
            }
            settings_ += made->point.settings.size();
            points.push_back(std::move(made->point));
        } while (advance(choice));
        check_use(points);
        return points;
    }

private:
    void gather() {
        for (Alternatives& varied : keys_.vary) {
            dimensions_.push_back({std::move(varied)});
        }
        for (std::vector<Alternatives>& group : keys_.zip) {
            dimensions_.push_back(std::move(group));
        }
        if (const auto seeds = read_seeds()) {
            dimensions_.push_back({*seeds});
        }
        std::uint64_t count = 1;
        for (const Dimension& dimension : dimensions_) {
            count = std::min<std::uint64_t>(count * size_of(dimension), kMostPoints + 1);
        }
        const std::size_t paths = count_paths();
        if (count > kMostPoints) {
            context_.error("config.study", keys_.base.where,
                           fmt::format("the study has more than {} combinations", kMostPoints),
                           "vary less at a time, or together under 'zip'");
        } else if (count * paths > kMostSettings) {
            context_.error("config.study", keys_.base.where,
                           fmt::format("the study sets {} paths in each of {} combinations, expected at most "
                                       "{} values",
                                       paths, count, kMostSettings),
                           "vary whole sections, or less at a time");
        } else {
            count_texts(count);
        }
        for (Dimension& dimension : dimensions_) {
            for (Alternatives& varied : dimension) {
                for (Alternative& alternative : varied.values) {
                    resolve_at(varied.path, alternative.value, context_);
                }
            }
        }
        for (OverrideKeys& one : keys_.overrides) {
            for (ConfigEntry& entry : one.set) {
                resolve_at(entry.key, entry.value, context_);
            }
        }
        for (const Dimension& dimension : dimensions_) {
            for (const Alternatives& varied : dimension) {
                varied_.emplace(varied.path, &varied);
            }
        }
    }

    /// Those that are varied or derived; reports the first that is too many.
    std::size_t count_paths() {
        std::size_t paths = 0;
        const auto add = [&](const SourceRange& where) {
            if (++paths == kMostPaths + 1) {
                context_.error("config.limit", where,
                               fmt::format("this is path {} that the study varies or derives, expected at "
                                           "most {}",
                                           paths, kMostPaths),
                               "vary whole sections: {cluster: {small: {…}, large: {…}}}");
            }
        };
        for (const Dimension& dimension : dimensions_) {
            for (const Alternatives& varied : dimension) {
                add(varied.where);
            }
        }
        for (const ConfigEntry& derived : keys_.derived) {
            add(derived.key_where);
        }
        return paths;
    }

    /// Texts of what varies, over all combinations.
    void count_texts(std::uint64_t combinations) {
        for (const Dimension& dimension : dimensions_) {
            for (const Alternatives& varied : dimension) {
                std::uint64_t bytes = 0;
                for (const Alternative& alternative : varied.values) {
                    bytes += alternative.label.size();
                }
                add_text(bytes * (combinations / size_of(dimension)), varied.path, varied.where);
            }
        }
    }

    /// Reports the first that is too much.
    void add_text(std::uint64_t bytes, const std::string& path, const SourceRange& where) {
        const bool was_too_much = text_bytes_ > limits::kTotalBytes;
        text_bytes_ += bytes;
        if (!was_too_much && text_bytes_ > limits::kTotalBytes) {
            context_.error("config.limit", where,
                           fmt::format("with '{}' the parameters of all points have a text of {} bytes, "
                                       "expected at most {}",
                                       path, text_bytes_, limits::kTotalBytes),
                           "vary sections by names: {small: {…}, large: {…}}");
        }
    }

    [[nodiscard]] std::optional<Alternatives> read_seeds() {
        std::vector<std::int64_t> seeds = keys_.repeat.seeds;
        if (keys_.repeat.count > 0) {
            std::int64_t first = 1;
            if (const ConfigNode* given = keys_.base.find_path(kSeed)) {
                const Parsed<std::int64_t> seed = parse_integer(given->text);
                first = std::holds_alternative<std::int64_t>(seed) ? std::get<std::int64_t>(seed) : 1;
                if (first > std::numeric_limits<std::int64_t>::max() - (keys_.repeat.count - 1)) {
                    Diagnostic diagnostic{
                        "config.range",
                        keys_.repeat.where,
                        fmt::format("{} seeds from {} on end above the largest, {}", keys_.repeat.count,
                                    first, std::numeric_limits<std::int64_t>::max()),
                        "lower 'seed' of the base, or list the seeds",
                        {}};
                    diagnostic.notes.emplace_back(given->where, "the first seed comes from here");
                    context_.error(std::move(diagnostic));
                    return std::nullopt;
                }
            }
            for (std::int64_t i = 0; i < keys_.repeat.count; ++i) {
                seeds.push_back(first + i);
            }
        }
        if (seeds.empty()) {
            return std::nullopt;
        }
        Alternatives varied{kSeed, keys_.repeat.where, {}};
        for (const std::int64_t seed : seeds) {
            ConfigNode value = ConfigNode::scalar(std::to_string(seed));
            value.where = keys_.repeat.where;
            varied.values.push_back({value.text, value, false});
        }
        return varied;
    }

    [[nodiscard]] const Alternatives* varied_at(std::string_view path) const {
        const auto found = varied_.find(path);
        return found == varied_.end() ? nullptr : found->second;
    }

    /// Nothing may be set over what varies. Errors of pairs, of which there may be very many, are those that
    /// are shown.
    void check_paths() {
        for (const Dimension& dimension : dimensions_) {
            for (const Alternatives& varied : dimension) {
                if (varied_at(varied.path) != &varied) {
                    context_.error("config.choice", varied.where,
                                   fmt::format("'{}' is varied twice", varied.path), "leave out the one");
                }
                for (const ConfigEntry& derived : keys_.derived) {
                    if (context_.is_next_shown() && experiment::is_within(varied.path, derived.key)) {
                        context_.error(
                            "config.choice", derived.key_where,
                            fmt::format("'{}' is derived, and '{}' is varied", derived.key, varied.path),
                            "leave out the one or the other");
                    }
                }
                for (const OverrideKeys& one : keys_.overrides) {
                    for (const ConfigEntry& entry : one.set) {
                        if (context_.is_next_shown() && entry.key != varied.path &&
                            experiment::is_within(varied.path, entry.key)) {
                            context_.error("config.choice", entry.key_where,
                                           fmt::format("'{}' would replace '{}', which is varied", entry.key,
                                                       varied.path),
                                           "set the parts of it that differ");
                        }
                    }
                }
            }
        }
        for (const ConfigEntry& derived : keys_.derived) {
            for (const char* taken :
                 {"schema", "name", kSeed, "workload", "cluster", "network", "backend", "scaled"}) {
                if (derived.key == taken) {
                    context_.error("config.choice", derived.key_where,
                                   fmt::format("'{}' is a part of every experiment", taken),
                                   "give the path of a value, or a name of your own");
                }
            }
        }
    }

    void check_conditions() {
        if (keys_.when) {
            check_condition(*keys_.when);
        }
        for (const OverrideKeys& one : keys_.overrides) {
            check_condition(one.when);
        }
    }

    /// A value that a parameter never has would silently never match.
    void check_condition(const Condition& condition) {
        for (const std::vector<Term>& terms : condition.any) {
            for (const Term& term : terms) {
                const Alternatives* varied = varied_at(term.name);
                if (varied == nullptr) {
                    continue;
                }
                const ValueSet& labels = labels_of(*varied);
                for (const auto* values : {&term.is, &term.is_not}) {
                    for (const ConfigNode& value : *values) {
                        const std::string text = one_line(value);
                        if (!labels.contains(text)) {
                            context_.error("config.condition", value.where,
                                           fmt::format("'{}' is never '{}'", term.name, text),
                                           context_.is_next_shown() ? suggest_label(text, *varied) : "");
                        }
                    }
                }
            }
        }
    }

    /// Made once, whatever number of conditions ask for it.
    const ValueSet& labels_of(const Alternatives& varied) {
        const auto [labels, is_new] = labels_.try_emplace(&varied);
        if (is_new) {
            for (const Alternative& alternative : varied.values) {
                labels->second.insert(alternative.label);
            }
        }
        return labels->second;
    }

    [[nodiscard]] static std::string suggest_label(const std::string& text, const Alternatives& varied) {
        std::vector<std::string> labels;
        for (const Alternative& alternative : varied.values) {
            labels.push_back(alternative.label);
        }
        return suggest(text, labels);
    }

    /// The last dimension fastest; false: that was the last point.
    [[nodiscard]] bool advance(std::vector<std::size_t>& choice) const {
        for (std::size_t i = choice.size(); i-- > 0;) {
            if (++choice[i] < size_of(dimensions_[i])) {
                return true;
            }
            choice[i] = 0;
        }
        return false;
    }

    /// The copy of a value of the study that points share.
    [[nodiscard]] std::shared_ptr<const ConfigNode> shared(const ConfigNode& value) {
        std::shared_ptr<const ConfigNode>& copy = shared_[&value];
        if (copy == nullptr) {
            copy = std::make_shared<const ConfigNode>(value);
        }
        return copy;
    }

    /// Nothing if the study drops it, or after an error.
    [[nodiscard]] std::optional<Combination> combination_at(const std::vector<std::size_t>& choice) {
        StudyPoint point;
        for (std::size_t i = 0; i < choice.size(); ++i) {
            for (const Alternatives& varied : dimensions_[i]) {
                const Alternative& alternative = varied.values[choice[i]];
                point.parameters[varied.path] = json_of(alternative);
                point.settings.emplace_back(varied.path, shared(alternative.value));
            }
        }
        std::stable_sort(point.settings.begin(), point.settings.end(), [](const auto& a, const auto& b) {
            return std::count(a.first.begin(), a.first.end(), '.') <
                   std::count(b.first.begin(), b.first.end(), '.');
        });
        ConfigNode tree = keys_.base;
        for (const auto& [path, value] : point.settings) {
            set(tree, path, *value, place_of(path));
        }
        const TextOf text = [&](std::string_view name) { return look_up(point, tree, name); };
        for (const ConfigEntry& entry : keys_.derived) {
            if (context_.error_count() == 0) {
                derive(entry, text, point, tree);
            }
        }
        if (context_.error_count() > 0 ||
            !holds(keys_.when.value_or(Condition{}), text, context_).value_or(false)) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < keys_.overrides.size(); ++i) {
            const OverrideKeys& one = keys_.overrides[i];
            if (!holds(one.when, text, context_).value_or(false)) {
                continue;
            }
            is_override_used_[i] = true;
            if (settings_ + point.settings.size() + one.set.size() > kMostSettings) {
                context_.error("config.limit", one.where,
                               fmt::format("with this override the study sets more than {} values over all "
                                           "points",
                                           kMostSettings),
                               "set whole sections, or set them in fewer points");
                return std::nullopt;
            }
            for (const ConfigEntry& entry : one.set) {
                set(tree, entry.key, entry.value, entry.key_where);
                point.settings.emplace_back(entry.key, shared(entry.value));
                if (point.parameters.contains(entry.key)) {
                    const std::string label = one_line(entry.value);
                    add_text(label.size(), entry.key, entry.key_where);
                    point.parameters[entry.key] = json_of(label);
                }
            }
        }
        std::erase_if(tree.entries, [](const ConfigEntry& entry) { return entry.key == "name"; });
        experiment::Fingerprint print;
        print.add(to_yaml(tree));
        for (const auto& [path, value] : point.settings) {
            print.add(path);
        }
        return Combination{std::move(point), print.text()};
    }

    void derive(const ConfigEntry& entry, const TextOf& text, StudyPoint& point, ConfigNode& tree) {
        const AmountOf amount = [&](std::string_view name) -> Parsed<Amount> {
            Parsed<std::string> found = text(name);
            if (auto* failure = std::get_if<ParseFailure>(&found)) {
                return std::move(*failure);
            }
            Parsed<Amount> read = parse_amount(std::get<std::string>(found));
            if (std::holds_alternative<ParseFailure>(read)) {
                return ParseFailure{fmt::format("'{}' is '{}', which is no amount to calculate with", name,
                                                std::get<std::string>(found)),
                                    "use numbers and quantities"};
            }
            return read;
        };
        const Parsed<Amount> result = evaluate(entry.value.text, amount);
        if (const auto* failure = std::get_if<ParseFailure>(&result)) {
            context_.error("config.expression", entry.value.where,
                           fmt::format("'{}': {}", entry.key, failure->message), failure->hint);
            return;
        }
        const std::string value = to_string(std::get<Amount>(result));
        point.parameters[entry.key] = json_of(value);
        if (entry.key.find('.') != std::string::npos) {
            ConfigNode node = ConfigNode::scalar(value);
            node.where = entry.value.where;
            set(tree, entry.key, node, entry.key_where);
            point.settings.emplace_back(entry.key, std::make_shared<const ConfigNode>(std::move(node)));
        }
    }

    void set(ConfigNode& tree, const std::string& path, const ConfigNode& value, const SourceRange& where) {
        const std::string_view nowhere = experiment::set_at(tree, path, value);
        if (!nowhere.empty()) {
            report_nowhere(path, nowhere, where, context_);
        }
    }

    [[nodiscard]] SourceRange place_of(std::string_view path) const {
        const Alternatives* varied = varied_at(path);
        return varied != nullptr ? varied->where : keys_.base.where;
    }

    [[nodiscard]] static Parsed<std::string> look_up(const StudyPoint& point, const ConfigNode& tree,
                                                     std::string_view name) {
        const std::string key(name);
        if (point.parameters.contains(key)) {
            return value_text(point.parameters[key]);
        }
        const ConfigNode* value = tree.find_path(name);
        if (value != nullptr && value->is_scalar()) {
            return value->text;
        }
        std::vector<std::string> names;
        for (const auto& [known, unused] : point.parameters.items()) {
            names.push_back(known);
        }
        return ParseFailure{value != nullptr
                                ? fmt::format("'{}' is {}, not one value", name, value->kind_name())
                                : fmt::format("'{}' is neither a parameter of the study nor given in this "
                                              "experiment",
                                              name),
                            suggest(name, names)};
    }

    void report_same(const StudyPoint& first, const StudyPoint& second) {
        context_.error("config.study", keys_.base.where,
                       fmt::format("two points are the same experiment: {} and {}",
                                   parameter_text(first.parameters), parameter_text(second.parameters)),
                       "keep one of them by 'when'");
    }

    void check_use(const std::vector<StudyPoint>& points) {
        if (points.empty()) {
            context_.error("config.condition", keys_.when_place, "'when' keeps no point", "ask for less");
            return;
        }
        for (std::size_t i = 0; i < is_override_used_.size(); ++i) {
            if (!is_override_used_[i]) {
                context_.error("config.condition", keys_.overrides[i].where, "this override meets no point",
                               "ask for less, or leave it out");
            }
        }
    }

    SweepKeys& keys_;
    ReadContext& context_;
    std::vector<Dimension> dimensions_;
    std::unordered_map<std::string_view, const Alternatives*> varied_;  ///< of a path the first
    std::unordered_map<const Alternatives*, ValueSet> labels_;
    std::unordered_map<const ConfigNode*, std::shared_ptr<const ConfigNode>> shared_;
    std::size_t settings_ = 0;      ///< of the points so far
    std::uint64_t text_bytes_ = 0;  ///< of parameters, over all points
    std::vector<bool> is_override_used_;
};

}  // namespace

std::vector<StudyPoint> study_points(SweepKeys& keys, ReadContext& context) {
    return Expansion(keys, context).points();
}

std::string value_text(const nlohmann::ordered_json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace astrolabe::study
