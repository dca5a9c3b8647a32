#include "failure_list.hpp"

#include "rotor_failures.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include <fmt/format.h>

namespace astrolabe::network::rotor {

namespace {

struct Kind {
    const char* key;
    std::int64_t FailureParameters::*count;
    std::int64_t there_are;
};

void check_counts(detail::ParameterCheck& check, const std::vector<FailureParameters>& failures,
                  const Kind& kind, bool is_list) {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < failures.size(); ++i) {
        const std::int64_t more = failures[i].*kind.count;
        const std::string key =
            is_list ? fmt::format("failures.{}.{}", i, kind.key) : fmt::format("failures.{}", kind.key);
        if (more >= 0 && more <= kind.there_are - before) {
            before += more;
            continue;
        }
        const std::string earlier = before > 0 ? fmt::format(" after {} that failed before", before) : "";
        check.report(
            key,
            fmt::format("{} is {}{}, expected 0 to {}", kind.key, more, earlier, kind.there_are - before),
            fmt::format("the network has {} {}, and each fails once", kind.there_are, kind.key));
        return;
    }
}

bool fails(const FailureParameters& entry) {
    return entry.cables + entry.racks + entry.rotors > 0;
}

void add_part(RotorFailures& failures, const BrokenPart& part, const RotorSchedule& schedule) {
    const auto add = [](std::vector<std::uint8_t>& failed, std::size_t size, std::size_t index) {
        failed.resize(size, 0);
        failed[index] = 1;
    };
    const std::size_t racks = schedule.racks();
    const std::size_t uplinks = schedule.uplinks();
    switch (part.kind) {
        case BrokenPart::Kind::kCable:
            add(failures.cables, racks * uplinks, part.rack * uplinks + part.rotor);
            break;
        case BrokenPart::Kind::kRack:
            add(failures.racks, racks, part.rack);
            break;
        case BrokenPart::Kind::kRotor:
            add(failures.rotors, uplinks, part.rotor);
            break;
    }
}

}  // namespace

void check_failures(detail::ParameterCheck& check, const std::vector<FailureParameters>& failures,
                    std::int64_t racks, std::int64_t uplinks) {
    if (failures.size() > kMostFailureTimes) {
        check.report("failures",
                     fmt::format("{} entries, expected at most {}", failures.size(), kMostFailureTimes),
                     "let what fails soon one after the other fail at once");
        return;
    }
    Time latest;
    for (std::size_t i = 0; i < failures.size(); ++i) {
        const Time at = failures[i].at;
        if (at < latest) {
            check.report(fmt::format("failures.{}.at", i),
                         fmt::format("at is {}, expected {} or later", to_string(at), to_string(latest)),
                         "list failures in order of time, from 0");
            return;
        }
        latest = at;
    }
    const bool is_list = failures.size() > 1;
    check_counts(check, failures, {"cables", &FailureParameters::cables, racks * uplinks}, is_list);
    check_counts(check, failures, {"racks", &FailureParameters::racks, racks}, is_list);
    check_counts(check, failures, {"rotors", &FailureParameters::rotors, uplinks}, is_list);
}

bool fail_from_start(const OperaParameters& parameters) {
    return (!parameters.broken.empty() && parameters.broken.front().at == Time(0)) ||
           std::ranges::any_of(parameters.failures, [](const FailureParameters& entry) {
               return entry.at == Time(0) && fails(entry);
           });
}

DegradedSchedule degrade(const RotorSchedule& whole, const OperaParameters& parameters) {
    std::map<Time, RotorFailures> failed;  // by the time from which on
    RotorFailures drawn;
    for (const FailureParameters& entry : parameters.failures) {
        if (!fails(entry)) {
            continue;
        }
        RandomStream random(static_cast<std::uint64_t>(entry.seed), "failures");
        const FailureCounts counts{static_cast<std::uint32_t>(entry.cables),
                                   static_cast<std::uint32_t>(entry.racks),
                                   static_cast<std::uint32_t>(entry.rotors)};
        drawn = draw_failures(whole, counts, random, drawn);
        failed[entry.at] = drawn;
    }
    for (const BrokenPart& part : parameters.broken) {
        auto state = failed.lower_bound(part.at);
        if (state == failed.end() || state->first != part.at) {
            const RotorFailures before = state == failed.begin() ? RotorFailures() : std::prev(state)->second;
            state = failed.emplace_hint(state, part.at, before);
        }
        for (; state != failed.end(); ++state) {
            add_part(state->second, part, whole);
        }
    }
    DegradedSchedule degraded{whole, {}};
    for (const auto& [at, failures] : failed) {
        RotorSchedule left = without_failed(whole, failures);
        if (at == Time(0)) {
            degraded.schedule = std::move(left);
        } else {
            degraded.failing.push_back({at, std::move(left), nullptr});
        }
    }
    return degraded;
}

}  // namespace astrolabe::network::rotor
