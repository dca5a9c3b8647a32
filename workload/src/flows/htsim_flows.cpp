#include "flow_lists.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace astrolabe::workload {
namespace {

constexpr std::string_view kTriggerHint = "trigger id 1 oneshot, or: trigger id 1 barrier count 4";
constexpr std::string_view kFlowHint =
    "0->13 id 1 start 0 size 2000000, or 13->5 id 2 trigger 1 size 2000000";

struct Count {
    int line = 0;
    std::int64_t value = 0;
};

/// The header's counts are optional but for the first two.
struct Counts {
    std::optional<Count> nodes;
    std::optional<Count> connections;
    std::optional<Count> triggers;
};

struct Trigger {
    int line = 0;
    bool is_multishot = false;
    std::uint32_t count = 1;
    system::TriggerIndex index = 0;  // in the order of ids
};

struct Connection {
    system::Flow flow;
    std::optional<std::int64_t> id;
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> trigger;
    std::vector<std::int64_t> signals;
    int line = 0;
};

class HtsimReader {
public:
    explicit HtsimReader(LineReader lines)
        : lines_(std::move(lines)) {}

    Result<FlowList> read() {
        while (lines_.next() && !problem_) {
            read_line();
        }
        if (!problem_) {
            check_counts();
        }
        if (!problem_) {
            assemble();
        }
        if (!problem_) {
            check_all_start();
        }
        if (problem_) {
            return *problem_;
        }
        return std::move(list_);
    }

private:
    void fail(std::string code, std::string message, std::string hint) {
        problem_ = lines_.error(std::move(code), std::move(message), std::move(hint));
    }
    void fail_at(int line, std::string code, std::string message, std::string hint) {
        problem_ = lines_.error_at(line, std::move(code), std::move(message), std::move(hint));
    }

    void read_line() {
        const std::string_view first = lines_.fields().front();
        if (first == "Nodes") {
            read_count(counts_.nodes);
        } else if (first == "Connections") {
            read_count(counts_.connections);
        } else if (first == "Triggers") {
            read_count(counts_.triggers);
        } else if (first == "Failures" || first == "failure") {
            std::optional<Count> failures;
            if (first == "Failures") {
                read_count(failures);
            }
            if ((!failures || failures->value != 0) && !problem_) {
                fail("flows.failure", "failures of switches belong to the network",
                     "take them out, and write them in the network's section");
            }
        } else if (first == "trigger") {
            read_trigger();
        } else {
            read_connection();
        }
    }

    void read_count(std::optional<Count>& count) {
        const std::optional<std::int64_t> value =
            lines_.fields().size() == 2 ? lines_.integer(1) : std::nullopt;
        if (!value || *value < 0) {
            fail("flows.header", fmt::format("'{}' takes one number", lines_.fields().front()), "Nodes 16");
            return;
        }
        count = Count{lines_.number(), *value};
    }

    void read_trigger() {
        const auto& fields = lines_.fields();
        const std::optional<std::int64_t> id =
            fields.size() >= 4 && fields[1] == "id" ? lines_.integer(2) : std::nullopt;
        const std::string_view kind = fields.size() >= 4 ? fields[3] : std::string_view();
        const bool is_barrier = kind == "barrier";
        const bool is_known = is_barrier || kind == "oneshot" || kind == "multishot";
        if (!id || !is_known || fields.size() != (is_barrier ? 6U : 4U) ||
            (is_barrier && fields[4] != "count")) {
            return fail("flows.trigger", "the line is no trigger", std::string(kTriggerHint));
        }
        Trigger trigger{lines_.number(), kind == "multishot", 1};
        if (is_barrier) {
            const std::optional<std::int64_t> count = lines_.integer(5);
            if (!count || *count < 1 || *count > 1'000'000'000) {
                return fail("flows.trigger", fmt::format("a barrier of {} signals", fields[5]),
                            std::string(kTriggerHint));
            }
            trigger.count = static_cast<std::uint32_t>(*count);
        }
        if (!triggers_.emplace(*id, trigger).second) {
            fail("flows.trigger", fmt::format("trigger {} is there twice", *id), "number triggers 1, 2, …");
        }
    }

    void read_connection() {
        const auto& fields = lines_.fields();
        const std::size_t arrow = fields[0].find("->");
        std::optional<std::int64_t> source;
        std::optional<std::int64_t> destination;
        if (arrow != std::string_view::npos) {
            source = LineReader::integer_in(fields[0].substr(0, arrow));
            destination = LineReader::integer_in(fields[0].substr(arrow + 2));
        }
        if (!source || !destination || fields.size() % 2 == 0) {
            return fail("flows.line", "the line is no connection: source->destination, then keys with values",
                        std::string(kFlowHint));
        }
        Connection connection;
        connection.line = lines_.number();
        std::optional<std::int64_t> size;
        for (std::size_t i = 1; i < fields.size() && !problem_; i += 2) {
            const std::optional<std::int64_t> value = lines_.integer(i + 1);
            if (!value || *value < 0) {
                return fail(
                    "flows.number",
                    fmt::format("{} is '{}', expected a whole number of 0 or more", fields[i], fields[i + 1]),
                    std::string(kFlowHint));
            }
            set(connection, size, fields[i], *value);
        }
        if (problem_) {
            return;
        }
        if (!size || connection.start.has_value() == connection.trigger.has_value()) {
            return fail("flows.line",
                        size ? "a connection has either a start or a trigger" : "a connection has a size",
                        std::string(kFlowHint));
        }
        problem_ = flow_problem(lines_, *source, *destination, *size);
        if (problem_) {
            return;
        }
        if (connections_.size() == kMostListedFlows) {
            return fail("flows.count", fmt::format("there are more than {} flows", kMostListedFlows),
                        "draw them instead: drawn flows take no memory");
        }
        note_host(list_, lines_, *source);
        note_host(list_, lines_, *destination);
        if (counts_.nodes && std::max(*source, *destination) >= counts_.nodes->value) {
            return fail(
                "flows.host",
                fmt::format("host {} of {} nodes", std::max(*source, *destination), counts_.nodes->value),
                "hosts count from 0");
        }
        if (connection.id && !ids_.insert(*connection.id).second) {
            return fail("flows.id", fmt::format("connection {} is there twice", *connection.id),
                        "number connections 1, 2, …");
        }
        connection.flow = {.source = static_cast<std::uint32_t>(*source),
                           .destination = static_cast<std::uint32_t>(*destination),
                           .size = Bytes(*size),
                           .start = Time(connection.start.value_or(0))};
        connections_.push_back(std::move(connection));
    }

    void set(Connection& connection, std::optional<std::int64_t>& size, std::string_view key,
             std::int64_t value) {
        if (key == "id") {
            connection.id = value;
        } else if (key == "start") {
            connection.start = value;
        } else if (key == "size") {
            size = value;
        } else if (key == "trigger") {
            connection.trigger = value;
        } else if (key == "send_done_trigger" || key == "recv_done_trigger") {
            connection.signals.push_back(value);
            if (connection.signals.size() > connection.flow.signals.size()) {
                fail("flows.trigger", "a connection signals at most two triggers", std::string(kFlowHint));
            }
        } else {
            fail("flows.key", fmt::format("'{}' is no key of a connection that means anything here", key),
                 "id, start, trigger, size, send_done_trigger, recv_done_trigger");
        }
    }

    void check_counts() {
        const auto check = [this](std::string_view what, const std::optional<Count>& said,
                                  std::size_t found) {
            if (said && said->value != static_cast<std::int64_t>(found) && !problem_) {
                fail_at(said->line, "flows.header",
                        fmt::format("the header says {} {}, there are {}", what, said->value, found),
                        "correct the number, or the list");
            }
        };
        if (!counts_.nodes || !counts_.connections) {
            fail_at(1, "flows.header",
                    fmt::format("'{}' is missing", counts_.nodes ? "Connections" : "Nodes"),
                    "the file begins with: Nodes 16, Connections 3");
            return;
        }
        check("Connections", counts_.connections, connections_.size());
        check("Triggers", counts_.triggers, triggers_.size());
        if (connections_.empty() && !problem_) {
            problem_ = lines_.error_at_end("flows.empty", "the file has no flows", std::string(kFlowHint));
        }
    }

    /// The trigger's index, which is that of its id among all; reports one that is not defined.
    system::TriggerIndex index_of(std::int64_t id, int line) {
        const auto trigger = triggers_.find(id);
        if (trigger == triggers_.end()) {
            if (!problem_) {
                fail_at(line, "flows.trigger", fmt::format("trigger {} is not defined", id),
                        std::string(kTriggerHint));
            }
            return system::kNoTrigger;
        }
        return trigger->second.index;
    }

    void assemble() {
        std::vector<std::uint32_t> signals(triggers_.size());
        for (auto& [id, trigger] : triggers_) {
            trigger.index = static_cast<system::TriggerIndex>(list_.triggers.size());
            list_.triggers.push_back({trigger.count, {}});
        }
        std::stable_sort(connections_.begin(), connections_.end(),
                         [](const auto& a, const auto& b) { return a.flow.start < b.flow.start; });
        for (Connection& connection : connections_) {
            for (std::size_t i = 0; i < connection.signals.size(); ++i) {
                const system::TriggerIndex index = index_of(connection.signals[i], connection.line);
                connection.flow.signals[i] = index;
                if (index != system::kNoTrigger) {
                    ++signals[index];
                }
            }
            if (!connection.trigger) {
                list_.flows.push_back(connection.flow);
                continue;
            }
            const system::TriggerIndex index = index_of(*connection.trigger, connection.line);
            if (index != system::kNoTrigger) {
                list_.triggers[index].flows.push_back(static_cast<std::uint32_t>(list_.waiting.size()));
                list_.waiting.push_back(connection.flow);
                waiting_lines_.push_back(connection.line);
            }
        }
        for (const auto& [id, trigger] : triggers_) {
            if (trigger.is_multishot && signals[trigger.index] > 1 && !problem_) {
                fail_at(trigger.line, "flows.trigger",
                        fmt::format("trigger {} would start its flows {} times", id, signals[trigger.index]),
                        "a flow is sent once: make it a oneshot or a barrier");
            }
        }
    }

    /// Delivers all that has started, again and again, as far as triggers lead.
    void check_all_start() {
        std::vector<std::uint32_t> left;
        for (const system::FlowTrigger& trigger : list_.triggers) {
            left.push_back(trigger.signals);
        }
        std::vector<bool> has_started(list_.waiting.size());
        std::vector<system::Flow> delivered = list_.flows;
        while (!delivered.empty()) {
            const system::Flow flow = delivered.back();
            delivered.pop_back();
            for (const system::TriggerIndex trigger : flow.signals) {
                if (trigger == system::kNoTrigger || left[trigger] == 0 || --left[trigger] > 0) {
                    continue;
                }
                for (const std::uint32_t started : list_.triggers[trigger].flows) {
                    has_started[started] = true;
                    delivered.push_back(list_.waiting[started]);
                }
            }
        }
        const auto never = std::find(has_started.begin(), has_started.end(), false);
        if (never != has_started.end()) {
            fail_at(waiting_lines_[static_cast<std::size_t>(never - has_started.begin())], "flows.trigger",
                    "this flow never starts: its trigger does not get its signals, or waits for this flow",
                    "give a flow of the circle a start, or lower the barrier's count");
        }
    }

    LineReader lines_;
    FlowList list_;
    Counts counts_;
    std::map<std::int64_t, Trigger> triggers_;
    std::vector<Connection> connections_;
    std::set<std::int64_t> ids_;
    std::vector<int> waiting_lines_;
    std::optional<Diagnostic> problem_;
};

}  // namespace

Result<FlowList> read_htsim_flows(LineReader lines) {
    return HtsimReader(std::move(lines)).read();
}

}  // namespace astrolabe::workload
