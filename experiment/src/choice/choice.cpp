#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/choice/choice.hpp>

namespace astrolabe::experiment {
namespace {

using MethodJson = nlohmann::ordered_json;

/// A value as YAML writes it in a line: "[1, 5]", "{rings: 4}".
std::string in_a_line(const ConfigNode& node) {
    if (node.is_scalar()) {
        return node.text;
    }
    std::string text;
    for (const ConfigNode& item : node.items) {
        text += (text.empty() ? "" : ", ") + in_a_line(item);
    }
    for (const ConfigEntry& entry : node.entries) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " + in_a_line(entry.value);
    }
    return node.is_sequence() ? "[" + text + "]" : "{" + text + "}";
}

ConfigNode without_chunks(ConfigNode node) {
    std::erase_if(node.entries, [](const ConfigEntry& entry) { return entry.key == "chunks"; });
    return node;
}

ConfigNode write_method(const Method& method) {
    ConfigNode node = method.keys;
    node.set("chunks", ConfigNode::scalar(std::to_string(method.chunks)));
    return node;
}

/// The keys of the algorithm are read when the choice is taken over.
std::optional<Method> read_method(const ConfigNode& node, ReadContext& context) {
    const ConfigNode* algorithm = node.is_mapping() ? node.find("algorithm") : nullptr;
    const ConfigNode* chunks = node.is_mapping() ? node.find("chunks") : nullptr;
    if (algorithm == nullptr || !algorithm->is_scalar() || chunks == nullptr) {
        context.error("config.choice", node.where,
                      fmt::format("a method is a mapping with 'algorithm' and 'chunks', found {}",
                                  node.is_mapping() ? "other keys" : node.kind_name()),
                      "write {algorithm: ring, chunks: 1}, or leave 'choices' out: they are found anew");
        return std::nullopt;
    }
    const auto count = read_scalar<std::uint32_t>(*chunks, "'chunks'", context, {1U, 1U << 20});
    return count ? std::optional(Method{without_chunks(node), *count}) : std::nullopt;
}

MethodJson method_json(const TimedMethod& timed) {
    MethodJson json{{"algorithm", timed.method.name()}};
    for (const ConfigEntry& entry : timed.method.keys.entries) {
        if (entry.key != "algorithm") {
            json[entry.key] = in_a_line(entry.value);
        }
    }
    json["chunks"] = timed.method.chunks;
    json["time_s"] = timed.time ? MethodJson(to_seconds(*timed.time)) : MethodJson();
    return json;
}

/// Choices of one method.
struct Alike {
    std::string method;
    std::uint64_t operations = 0;
    std::optional<double> least;  ///< smallest margin
    std::string ahead_of;         ///< of it
    bool has_unknown = false;
};

std::string alike_text(const Alike& alike) {
    std::string text =
        fmt::format("{} ({} operation{}", alike.method, alike.operations, alike.operations == 1 ? "" : "s");
    if (alike.least && *alike.least < 0) {
        text += fmt::format(", with less load on links than {}, which takes {:.1f} % less time",
                            alike.ahead_of, -100 * *alike.least);
    } else if (alike.least && *alike.least < 1) {
        text += fmt::format(", {:.1f} % ahead of {}", 100 * *alike.least, alike.ahead_of);
    } else if (alike.least || alike.has_unknown) {
        text += ", any other takes twice as long";
    }
    return text + ")";
}

}  // namespace

const std::string& Method::name() const {
    return keys.find("algorithm")->text;
}

std::string Method::text() const {
    ConfigNode own = keys;
    std::erase_if(own.entries, [](const ConfigEntry& entry) { return entry.key == "algorithm"; });
    return name() + (own.entries.empty() ? "" : " " + in_a_line(own)) +
           (chunks == 1 ? "" : fmt::format(", {} chunks", chunks));
}

std::optional<double> MethodChoice::margin() const {
    if (!chosen.time || !runner_up || !runner_up->time || *chosen.time == Time(0)) {
        return std::nullopt;
    }
    return to_seconds(*runner_up->time) / to_seconds(*chosen.time) - 1;
}

double SlowMethod::factor() const {
    return to_seconds(time) / to_seconds(*better.time);
}

double SlowWindow::factor() const {
    return to_seconds(time) / to_seconds(better_time);
}

std::optional<double> JobChoice::margin() const {
    if (!time || !runner_up_time || *time == Time(0)) {
        return std::nullopt;
    }
    return to_seconds(*runner_up_time) / to_seconds(*time) - 1;
}

std::optional<JobChoice> ChoiceCache::find_for_job(const std::string& key) const {
    const std::scoped_lock lock(mutex_);
    const auto known = known_for_jobs_.find(key);
    return known == known_for_jobs_.end() ? std::nullopt : std::optional(known->second);
}

void ChoiceCache::add_for_job(const JobChoice& choice) {
    const std::scoped_lock lock(mutex_);
    known_for_jobs_.insert_or_assign(choice.key, choice);
}

std::map<std::string, std::optional<SlowMethod>> ChoiceCache::slow() const {
    const std::scoped_lock lock(mutex_);
    return known_slow_;
}

void ChoiceCache::add_slow(const std::string& key, const std::optional<SlowMethod>& slow) {
    const std::scoped_lock lock(mutex_);
    known_slow_.insert_or_assign(key, slow);
}

std::optional<MethodChoice> ChoiceCache::find(const std::string& key) const {
    const std::scoped_lock lock(mutex_);
    const auto known = known_.find(key);
    return known == known_.end() ? std::nullopt : std::optional(known->second);
}

void ChoiceCache::add(const MethodChoice& choice) {
    const std::scoped_lock lock(mutex_);
    known_.insert_or_assign(choice.key, choice);
}

Schema<MethodChoice> choice_schema() {
    Schema<MethodChoice> schema("choices", "how collectives are carried out that the file leaves open");
    const auto method = [&schema](const std::string& prefix, bool required, std::string help, auto member) {
        schema.field(
            {prefix, "mapping", required ? "" : "unset", required, {}, std::move(help), {}},
            [member](MethodChoice& choice, const ConfigNode& node, ReadContext& context) {
                if (std::optional<Method> read = read_method(node, context)) {
                    member(choice).method = *std::move(read);
                }
            },
            [member, required](const MethodChoice& choice) -> std::optional<ConfigNode> {
                if (!required && !choice.runner_up) {
                    return std::nullopt;
                }
                MethodChoice copy = choice;
                return write_method(member(copy).method);
            });
    };
    const auto time = [&schema](const std::string& key, std::string help, auto member) {
        schema.field(
            {key, ValueTraits<Time>::type(), "unset", false, {}, std::move(help), {}},
            [member, key](MethodChoice& choice, const ConfigNode& node, ReadContext& context) {
                member(choice).time = read_scalar<Time>(node, "'" + key + "'", context, {Time(0), {}});
            },
            [member, key](const MethodChoice& choice) -> std::optional<ConfigNode> {
                if (key != "time" && !choice.runner_up) {
                    return std::nullopt;
                }
                MethodChoice copy = choice;
                const std::optional<Time> known = member(copy).time;
                return known ? std::optional(ConfigNode::scalar(to_string(*known))) : std::nullopt;
            });
    };
    const auto chosen = [](MethodChoice& choice) -> TimedMethod& { return choice.chosen; };
    const auto runner_up = [](MethodChoice& choice) -> TimedMethod& {
        return choice.runner_up ? *choice.runner_up : choice.runner_up.emplace();
    };
    schema.required("key", &MethodChoice::key, "hash of all that the choice depends on")
        .required("operation", &MethodChoice::operation, "the first that is carried out so")
        .required("operations", &MethodChoice::operations, "that are carried out so")
        .required("collective", &MethodChoice::collective, "its kind")
        .required("size", &MethodChoice::size, "per rank")
        .required("ranks", &MethodChoice::ranks, "of its largest group")
        .required("groups", &MethodChoice::groups, "that do it");
    method("method", true, "algorithm, its keys and chunks", chosen);
    time("time", "that it takes alone on the network; unset: it was too large to simulate", chosen);
    method("runner_up", false, "the fastest of another algorithm, or of other chunks of a named one",
           runner_up);
    time("runner_up_time", "alone; unset: more than twice that of the method", runner_up);
    return schema;
}

Schema<JobChoice> job_choice_schema() {
    Schema<JobChoice> schema("job_choice", "what was chosen for the job as a whole");
    schema.required("key", &JobChoice::key, "hash of all that the choice depends on")
        .required("taken", &JobChoice::taken, "the alternative")
        .optional("time", &JobChoice::time,
                  "of the first iterations with it, simulated; unset: they were too large")
        .optional("runner_up", &JobChoice::runner_up, "the second fastest")
        .optional("runner_up_time", &JobChoice::runner_up_time,
                  "likewise; unset: more than twice as long, or too large");
    return schema;
}

std::string write_job_choice(const JobChoice& choice) {
    return to_yaml(job_choice_schema().write(choice));
}

JobChoice read_job_choice(const std::string& text) {
    const Result<ConfigNode> node = parse_config(text, "choice");
    ReadContext context;
    auto choice = node ? job_choice_schema().read(*node, context) : std::nullopt;
    ASTROLABE_ASSERT(choice, "a choice is written as it is read");
    return *std::move(choice);
}

std::string write_choices(const std::vector<MethodChoice>& choices) {
    const Schema<MethodChoice> schema = choice_schema();
    ConfigNode list = ConfigNode::sequence({});
    for (const MethodChoice& choice : choices) {
        list.items.push_back(schema.write(choice));
    }
    return to_yaml(list);
}

std::vector<MethodChoice> read_choices(const std::string& text) {
    const Result<ConfigNode> list = parse_config(text, "choices");
    ASTROLABE_ASSERT(list, "choices are written as they are read");
    const Schema<MethodChoice> schema = choice_schema();
    std::vector<MethodChoice> choices;
    for (const ConfigNode& item : list->items) {
        ReadContext context;
        auto choice = schema.read(item, context);
        ASTROLABE_ASSERT(choice, "choices are written as they are read");
        choices.push_back(*std::move(choice));
    }
    return choices;
}

nlohmann::ordered_json job_choice_json(const JobChoice& choice) {
    const auto seconds = [](const std::optional<Time>& time) {
        return time ? MethodJson(to_seconds(*time)) : MethodJson();
    };
    const std::optional<double> margin = choice.margin();
    return {{"key", choice.key},
            {"taken", choice.taken},
            {"time_s", seconds(choice.time)},
            {"runner_up", choice.runner_up ? MethodJson(*choice.runner_up) : MethodJson()},
            {"runner_up_time_s", seconds(choice.runner_up_time)},
            {"margin", margin ? MethodJson(*margin) : MethodJson()}};
}

std::vector<std::string> job_choices_text(const JobChoices& choices) {
    std::vector<std::string> texts;
    const auto add = [&texts](const char* what, const std::optional<JobChoice>& choice) {
        if (!choice) {
            return;
        }
        const std::optional<double> margin = choice->margin();
        const std::string ahead =
            !choice->time ? "by estimate: too large to simulate"
            : margin      ? fmt::format("{:.1f} % ahead of {} {}", 100 * *margin, what, *choice->runner_up)
                          : "any other takes twice as long";
        texts.push_back(fmt::format("{} {} for the job as a whole ({})", what, choice->taken, ahead));
    };
    add("network", choices.network);
    add("active_chunks", choices.window);
    return texts;
}

nlohmann::ordered_json choices_json(const std::vector<MethodChoice>& choices) {
    MethodJson list = MethodJson::array();
    for (const MethodChoice& choice : choices) {
        const std::optional<double> margin = choice.margin();
        list.push_back({{"key", choice.key},
                        {"operation", choice.operation},
                        {"operations", choice.operations},
                        {"collective", choice.collective},
                        {"size_bytes", choice.size.count()},
                        {"ranks", choice.ranks},
                        {"groups", choice.groups},
                        {"method", method_json(choice.chosen)},
                        {"runner_up", choice.runner_up ? method_json(*choice.runner_up) : MethodJson()},
                        {"margin", margin ? MethodJson(*margin) : MethodJson()}});
    }
    return list;
}

nlohmann::ordered_json slow_json(const std::vector<SlowMethod>& slow) {
    MethodJson list = MethodJson::array();
    for (const SlowMethod& one : slow) {
        list.push_back({{"operation", one.operation},
                        {"collective", one.collective},
                        {"size_bytes", one.size.count()},
                        {"named", method_json({one.named, one.time})},
                        {"is_at_least", one.is_at_least},
                        {"better", method_json(one.better)},
                        {"factor", one.factor()}});
    }
    return list;
}

std::vector<std::string> choices_text(const std::vector<MethodChoice>& choices) {
    std::vector<std::pair<std::string, std::vector<Alike>>> kinds;  // in the order of first operations
    for (const MethodChoice& choice : choices) {
        const auto kind =
            std::ranges::find(kinds, choice.collective, [](const auto& one) { return one.first; });
        auto& alike = kind == kinds.end() ? kinds.emplace_back(choice.collective, std::vector<Alike>{}).second
                                          : kind->second;
        const std::string method = choice.chosen.method.text();
        const auto known = std::ranges::find(alike, method, &Alike::method);
        Alike& one = known == alike.end() ? alike.emplace_back(Alike{method, 0, {}, {}, false}) : *known;
        one.operations += choice.operations;
        const std::optional<double> margin = choice.margin();
        one.has_unknown |= choice.chosen.time && choice.runner_up && !margin;
        if (margin && (!one.least || *margin < *one.least)) {
            one.least = margin;
            one.ahead_of = choice.runner_up->method.text();
        }
    }
    std::vector<std::string> texts;
    for (const auto& [kind, alike] : kinds) {
        std::string text = kind + ": ";
        for (std::size_t i = 0; i < alike.size(); ++i) {
            text += (i == 0 ? "" : "; ") + alike_text(alike[i]);
        }
        texts.push_back(std::move(text));
    }
    return texts;
}

std::string method_text(const MethodJson& method) {
    std::string own;
    for (const auto& [key, value] : method.items()) {
        if (key != "algorithm" && key != "chunks" && key != "time_s") {
            own += fmt::format("{}{}: {}", own.empty() ? "" : ", ", key, value.get<std::string>());
        }
    }
    const auto chunks = method.at("chunks").get<std::uint32_t>();
    return method.at("algorithm").get<std::string>() + (own.empty() ? "" : " {" + own + "}") +
           (chunks == 1 ? "" : fmt::format(", {} chunks", chunks));
}

std::string slow_text(const MethodJson& slow) {
    return fmt::format("{} of {} by {} takes {}{:.1f} times as long as by {} ('{}')",
                       slow.at("collective").get<std::string>(),
                       readable(Bytes(slow.at("size_bytes").get<std::int64_t>())),
                       method_text(slow.at("named")), slow.at("is_at_least").get<bool>() ? "more than " : "",
                       slow.at("factor").get<double>(), method_text(slow.at("better")),
                       slow.at("operation").get<std::string>());
}

nlohmann::ordered_json slow_json(const SlowWindow& slow) {
    return {{"named", slow.named},
            {"time_s", to_seconds(slow.time)},
            {"better", slow.better},
            {"better_time_s", to_seconds(slow.better_time)},
            {"factor", slow.factor()}};
}

std::string slow_text(const SlowWindow& slow) {
    return fmt::format("the job takes {:.2f} times as long with {} active chunks as with {}", slow.factor(),
                       slow.named, slow.better);
}

std::string slow_text(const SlowMethod& slow) {
    return slow_text(slow_json({slow}).front());
}

}  // namespace astrolabe::experiment
