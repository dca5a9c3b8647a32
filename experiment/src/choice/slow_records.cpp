#include <utility>

#include <nlohmann/json.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/choice/slow_methods.hpp>

namespace astrolabe::experiment {
namespace {

using RecordJson = nlohmann::json;

RecordJson record_of(const Method& method, Time time) {
    return {{"keys", to_yaml(method.keys)}, {"chunks", method.chunks}, {"time_ps", time.count()}};
}

TimedMethod method_of(const RecordJson& record) {
    Result<ConfigNode> keys = parse_config(record.at("keys"), "method");
    ASTROLABE_ASSERT(keys, "a method is written as it is read");
    return {{*std::move(keys), record.at("chunks")}, Time(record.at("time_ps").get<std::int64_t>())};
}

}  // namespace

std::string write_slow_methods(const Components& components) {
    RecordJson records = RecordJson::object();
    for (const auto& [key, slow] : components.choices->slow()) {
        records[key] = slow ? RecordJson{{"operation", slow->operation},
                                         {"collective", slow->collective},
                                         {"size_bytes", slow->size.count()},
                                         {"named", record_of(slow->named, slow->time)},
                                         {"is_at_least", slow->is_at_least},
                                         {"better", record_of(slow->better.method, *slow->better.time)}}
                            : RecordJson();
    }
    return records.dump();
}

void read_slow_methods(const std::string& text, const Components& components) {
    const RecordJson records = RecordJson::parse(text);
    for (const auto& [key, record] : records.items()) {
        std::optional<SlowMethod> slow;
        if (record.is_object()) {
            const TimedMethod named = method_of(record.at("named"));
            slow = SlowMethod{.operation = record.at("operation"),
                              .collective = record.at("collective"),
                              .size = Bytes(record.at("size_bytes").get<std::int64_t>()),
                              .named = named.method,
                              .time = *named.time,
                              .is_at_least = record.at("is_at_least"),
                              .better = method_of(record.at("better"))};
        }
        components.choices->add_slow(key, slow);
    }
}

}  // namespace astrolabe::experiment
