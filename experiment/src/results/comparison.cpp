#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/results/comparison.hpp>
#include <astrolabe/experiment/results/figures.hpp>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& summary, const char* pointer) {
    return summary.at(Json::json_pointer(pointer)).get<double>();
}

double sum_of(const Json& object) {
    double sum = 0;
    for (const Json& value : object) {
        sum += value.get<double>();
    }
    return sum;
}

double exposed(const Json& summary) {
    return sum_of(summary.at("exposed_s"));
}

double traffic(const Json& summary) {
    return sum_of(summary.at("traffic_bytes"));
}

const ComparedRun* reference_of(std::span<const ComparedRun> runs) {
    const auto first =
        std::find_if(runs.begin(), runs.end(), [](const ComparedRun& run) { return run.finished(); });
    return first == runs.end() ? nullptr : &*first;
}

using Quantity = std::function<double(const Json&)>;

Quantity quantity_at(const char* pointer) {
    return [pointer](const Json& summary) { return number(summary, pointer); };
}

/// Whether a run was flows and nothing else.
bool is_of_flows(const Json& summary) {
    return summary.contains("flows");
}

/// Keys of `ratios` where both runs are flows.
const std::vector<std::pair<const char*, Quantity>>& compared_flow_quantities() {
    static const std::vector<std::pair<const char*, Quantity>> kQuantities{
        {"flow_time_mean", quantity_at("/flows/all/time_s/mean")},
        {"flow_time_p50", quantity_at("/flows/all/time_s/p50")},
        {"flow_time_p99", quantity_at("/flows/all/time_s/p99")},
        {"slowdown_mean", quantity_at("/flows/all/slowdown/mean")},
        {"slowdown_p50", quantity_at("/flows/all/slowdown/p50")},
        {"slowdown_p99", quantity_at("/flows/all/slowdown/p99")}};
    return kQuantities;
}

/// Keys of `ratios`.
const std::vector<std::pair<const char*, Quantity>>& compared_quantities() {
    static const std::vector<std::pair<const char*, Quantity>> kQuantities{
        {"mean_iteration_time", quantity_at("/mean_iteration_time_s")},
        {"lower_bound", quantity_at("/lower_bound_s")},
        {"compute", quantity_at("/compute_s")},
        {"exposed", exposed},
        {"drain", quantity_at("/drain_s")},
        {"traffic", traffic},
        {"max_link_utilization", quantity_at("/network/max_link_utilization")},
        {"events", quantity_at("/engine/events")},
        {"wall", quantity_at("/engine/wall_s")}};
    return kQuantities;
}

Json ratios_json(const Json& summary, const Json& reference) {
    Json ratios = Json::object();
    for (const auto& [key, quantity] : compared_quantities()) {
        if (const double whole = quantity(reference); whole != 0) {
            ratios[key] = quantity(summary) / whole;
        }
    }
    if (is_of_flows(summary) && is_of_flows(reference)) {
        for (const auto& [key, quantity] : compared_flow_quantities()) {
            if (const double whole = quantity(reference); whole != 0) {
                ratios[key] = quantity(summary) / whole;
            }
        }
    }
    return ratios;
}

/// Stems of the files, or of what else is given; where two are alike, with the folder in front; where those
/// are too, numbered.
std::vector<std::string> file_labels(std::span<const std::string> files) {
    std::vector<std::string> labels;
    std::map<std::string, int> stems;
    for (const std::string& file : files) {
        ++stems[std::filesystem::path(file).stem().string()];
    }
    std::set<std::string> taken;
    for (const std::string& file : files) {
        const std::filesystem::path path(file);
        std::string label = path.stem().string();
        if (stems[label] > 1 && path.has_parent_path()) {
            label = fmt::format("{}-{}", path.parent_path().filename().string(), label);
        }
        const std::string first = label;
        for (int number = 2; !taken.insert(label).second; ++number) {
            label = fmt::format("{}-{}", first, number);
        }
        labels.push_back(label);
    }
    return labels;
}

/// "error[config.backend]: …" of the first line that has one, else the last line.
std::string reason_of(const ComparedRun& run) {
    std::string last;
    for (std::size_t at = 0; at < run.error.size();) {
        const std::size_t end = std::min(run.error.find('\n', at), run.error.size());
        const std::string line = run.error.substr(at, end - at);
        if (const std::size_t error = line.find("error["); error != std::string::npos) {
            return line.substr(error);
        }
        last = line.empty() ? last : line;
        at = end + 1;
    }
    return last;
}

std::string outcome_of(const ComparedRun& run) {
    constexpr int kInvalidInput = 3;
    constexpr int kSignals = 128;
    if (run.finished()) {
        return "done";
    }
    return run.exit_code == kInvalidInput ? "refused"
           : run.exit_code > kSignals     ? fmt::format("killed ({})", run.exit_code - kSignals)
                                          : "failed";
}

class Table {
public:
    explicit Table(std::span<const ComparedRun> runs)
        : runs_(runs) {
        std::vector<std::string> labels;
        for (const ComparedRun& run : runs) {
            labels.push_back(run.label);
        }
        rows_.push_back({"", std::move(labels)});
    }

    /// Runs that did not finish have "-".
    void add(std::string name, const std::function<std::string(const Json&)>& cell) {
        std::vector<std::string> cells;
        for (const ComparedRun& run : runs_) {
            cells.push_back(run.finished() ? cell(run.summary) : "-");
        }
        rows_.push_back({std::move(name), std::move(cells)});
    }
    void add_outcome() {
        std::vector<std::string> cells;
        std::transform(runs_.begin(), runs_.end(), std::back_inserter(cells), outcome_of);
        rows_.push_back({"outcome", std::move(cells)});
    }

    [[nodiscard]] std::string text() const {
        std::vector<std::size_t> widths(runs_.size(), 10);
        std::size_t names = 0;
        for (const Row& row : rows_) {
            names = std::max(names, row.name.size());
            for (std::size_t i = 0; i < widths.size(); ++i) {
                widths[i] = std::max(widths[i], row.cells[i].size());
            }
        }
        std::string text;
        for (const Row& row : rows_) {
            text += fmt::format("{:<{}}", row.name, names);
            for (std::size_t i = 0; i < widths.size(); ++i) {
                text += fmt::format("  {:>{}}", row.cells[i], widths[i]);
            }
            text += '\n';
        }
        return text;
    }

private:
    struct Row {
        std::string name;
        std::vector<std::string> cells;
    };

    std::span<const ComparedRun> runs_;
    std::vector<Row> rows_;
};

/// Causes of exposed time, the largest over all runs first.
std::vector<std::string> causes_of(std::span<const ComparedRun> runs) {
    std::map<std::string, double> largest;
    for (const ComparedRun& run : runs) {
        if (run.finished()) {
            for (const auto& [cause, seconds] : run.summary.at("exposed_s").items()) {
                largest[cause] = std::max(largest[cause], seconds.get<double>());
            }
        }
    }
    std::vector<std::string> causes;
    for (const auto& [cause, seconds] : largest) {
        causes.push_back(cause);
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [&](const std::string& a, const std::string& b) { return largest[a] > largest[b]; });
    return causes;
}

void add_exposed(Table& table, std::span<const ComparedRun> runs) {
    constexpr std::size_t kShown = 5;
    const auto of_cause = [](const Json& summary, const std::string& cause) {
        const Json& all = summary.at("exposed_s");
        return all.contains(cause) ? all.at(cause).get<double>() : 0.0;
    };
    table.add("exposed", [](const Json& summary) { return readable_seconds(exposed(summary)); });
    const std::vector<std::string> causes = causes_of(runs);
    const std::span<const std::string> shown(causes.data(), std::min(kShown, causes.size()));
    for (const std::string& cause : shown) {
        table.add("  " + cause,
                  [&](const Json& summary) { return readable_seconds(of_cause(summary, cause)); });
    }
    if (shown.size() < causes.size()) {
        table.add(fmt::format("  {} more", causes.size() - shown.size()), [&](const Json& summary) {
            double rest = exposed(summary);
            for (const std::string& cause : shown) {
                rest -= of_cause(summary, cause);
            }
            return readable_seconds(std::max(rest, 0.0));
        });
    }
}

/// Flows in place of iterations; a run without them has "-".
void add_flows(Table& table, const ComparedRun& reference) {
    const auto add = [&table](std::string name, const std::function<std::string(const Json&)>& cell) {
        table.add(std::move(name),
                  [cell](const Json& summary) { return is_of_flows(summary) ? cell(summary) : "-"; });
    };
    add("flows delivered", [](const Json& summary) {
        const Json& flows = summary.at("flows");
        return fmt::format("{} of {}", flows.at("delivered").get<std::uint64_t>(),
                           flows.at("started").get<std::uint64_t>());
    });
    add("completion mean",
        [](const Json& summary) { return readable_seconds(number(summary, "/flows/all/time_s/mean")); });
    add("  over " + reference.label, [&reference](const Json& summary) {
        const double whole = number(reference.summary, "/flows/all/time_s/mean");
        return whole > 0 ? fmt::format("{:.4f}", number(summary, "/flows/all/time_s/mean") / whole) : "-";
    });
    for (const char* percentile : {"p50", "p99"}) {
        add(fmt::format("completion {}", percentile), [percentile](const Json& summary) {
            return readable_seconds(summary.at("flows").at("all").at("time_s").at(percentile).get<double>());
        });
    }
    for (const char* what : {"mean", "p50", "p99"}) {
        add(fmt::format("slowdown {}", what), [what](const Json& summary) {
            return fmt::format("{:.3f}", summary.at("flows").at("all").at("slowdown").at(what).get<double>());
        });
    }
    table.add("whole run",
              [](const Json& summary) { return readable_seconds(number(summary, "/total_time_s")); });
}

/// Of what only some engines and settings have: a row where any run has more than none.
void add_congestion(Table& table, std::span<const ComparedRun> runs) {
    const auto add = [&](const std::string& name, const char* pointer,
                         const std::function<std::string(double)>& cell) {
        if (std::ranges::any_of(runs, [pointer](const ComparedRun& run) {
                return run.finished() && number(run.summary, pointer) > 0;
            })) {
            table.add(name, [pointer, cell](const Json& summary) { return cell(number(summary, pointer)); });
        }
    };
    const auto count = [](double value) { return fmt::format("{:.0f}", value); };
    add("timeouts", "/network/timeouts", count);
    add("marks", "/network/ecn_marks", count);
    add("trims", "/network/trims", count);
    add("pauses", "/network/pauses", count);
    add("paused, of all links", "/network/paused_s", readable_seconds);
    add("longest queue", "/network/queue_peak_bytes",
        [](double bytes) { return readable(Bytes(static_cast<std::int64_t>(bytes))); });
}

void add_count(Table& table, const std::string& name, const char* pointer) {
    table.add(name, [pointer](const Json& summary) {
        return fmt::format("{}", summary.at(Json::json_pointer(pointer)).get<std::uint64_t>());
    });
}

/// Where the finished runs differ in what they were asked to do.
std::string work_note(std::span<const ComparedRun> runs, const Json& reference) {
    const auto iterations = [](const Json& summary) {
        return static_cast<double>(summary.at("iteration_time_s").size());
    };
    const std::vector<std::pair<const char*, Quantity>> work{
        {"ranks", quantity_at("/ranks")}, {"iterations", iterations}, {"traffic", traffic}};
    std::vector<std::string> differing;
    for (const auto& item : work) {
        const Quantity& quantity = item.second;
        if (std::any_of(runs.begin(), runs.end(), [&](const ComparedRun& run) {
                return run.finished() && quantity(run.summary) != quantity(reference);
            })) {
            differing.emplace_back(item.first);
        }
    }
    return differing.empty() ? ""
                             : fmt::format("The runs do not do the same work: they differ in {}.\n",
                                           fmt::join(differing, ", "));
}

double iteration_time(const ComparedRun& run) {
    return number(run.summary, "/mean_iteration_time_s");
}

/// How much longer a run takes than the one it is explained against, and what of it no term explains.
struct Explained {
    double error = 0;
    double not_explained = 0;
};

Explained explained(std::span<const ComparedRun> runs, const ComparedRun& run) {
    const auto against = std::ranges::find(runs, run.difference->against, &ComparedRun::label);
    Explained found;
    found.error = iteration_time(run) / iteration_time(*against) - 1;
    found.not_explained = found.error - all_of(run.difference->terms);
    return found;
}

std::string signed_percent(double share) {
    return fmt::format("{:+.1f} %", 100 * share);
}

/// Engines that agree to this share have nothing to be explained.
constexpr double kAlikeEngines = 0.03;

/// "tcp against fluid: +31.0 %: headers +5.8 %, connections +1.2 %; not explained +24.0 %.".
std::string difference_note(std::span<const ComparedRun> runs, const ComparedRun& run) {
    const Explained found = explained(runs, run);
    if (std::abs(found.error) < kAlikeEngines) {
        return "";
    }
    std::vector<std::string> parts;
    for (const EngineTerm& term : run.difference->terms) {
        if (!term.error || std::abs(*term.error) >= kAlikeEngines / 3) {
            parts.push_back(fmt::format("{} {} ({})", term.name,
                                        term.error ? signed_percent(*term.error) : "not estimated",
                                        term.cause));
        }
    }
    // Of losses only the order of magnitude is known.
    const bool has_losses = std::ranges::any_of(
        run.difference->terms, [](const EngineTerm& term) { return term.name == kBufferTerm; });
    if (std::abs(found.not_explained) >= kAlikeEngines && !has_losses) {
        parts.push_back(fmt::format("not explained {}", signed_percent(found.not_explained)));
    }
    return fmt::format("{} against {}: {} of an iteration. Estimated: {}.\n", run.label,
                       run.difference->against, signed_percent(found.error), fmt::join(parts, "; "));
}

Json difference_json(std::span<const ComparedRun> runs, const ComparedRun& run) {
    const Explained found = explained(runs, run);
    return {{"against", run.difference->against},
            {"error", found.error},
            {"terms", engine_terms_json(run.difference->terms)},
            {"not_explained", found.not_explained}};
}

std::string notes(std::span<const ComparedRun> runs, const ComparedRun& reference) {
    std::string text = work_note(runs, reference.summary);
    std::set<std::string> payload;
    std::set<std::string> wire;
    std::map<std::string, std::vector<std::string>> fingerprints;
    for (const ComparedRun& run : runs) {
        if (run.finished()) {
            (number(run.summary, "/network/packets") > 0 ? wire : payload)
                .insert(run.summary.at("backend_kind").get<std::string>());
            fingerprints[run.summary.at("fingerprint").get<std::string>()].push_back(run.label);
        }
    }
    if (!payload.empty() && !wire.empty()) {
        text += fmt::format(
            "Links carry payload on {}, and headers beside it on {}: use and times differ by that.\n",
            fmt::join(payload, " and "), fmt::join(wire, " and "));
    }
    for (const ComparedRun& run : runs) {
        if (run.difference) {
            text += difference_note(runs, run);
        }
    }
    for (const auto& [fingerprint, labels] : fingerprints) {
        if (labels.size() > 1) {
            text += fmt::format("Equal fingerprints, so the same run: {}.\n", fmt::join(labels, ", "));
        }
    }
    for (const ComparedRun& run : runs) {
        if (run.finished() && run.summary.contains("slow_methods")) {
            for (const Json& slow : run.summary.at("slow_methods")) {
                text += fmt::format("{}: {}.\n", run.label, slow_text(slow));
            }
        }
    }
    return text;
}

}  // namespace

std::vector<ComparedRun> runs_to_compare(std::span<const std::string> files,
                                         std::span<const std::string> backends,
                                         std::span<const std::string> changes) {
    const std::vector<std::string> labels = file_labels(files);
    const std::vector<std::string> backend_labels = file_labels(backends);
    std::vector<ComparedRun> runs;
    const bool has_one_base = files.size() == 1 && backends.size() < 2;
    const auto add_run = [&](std::string label, const std::string& file, const std::string& backend) {
        ComparedRun& run = runs.emplace_back();
        run.label = std::move(label);
        run.file = file;
        run.backend = backend;
    };
    const auto add = [&](const std::string& label, const std::string& file, const std::string& backend) {
        add_run(label, file, backend);
        for (const std::string& change : changes) {
            add_run(has_one_base ? change : fmt::format("{} {}", label, change), file, backend);
            runs.back().change = change;
        }
    };
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (backends.empty()) {
            add(labels[i], files[i], "");
        }
        for (std::size_t j = 0; j < backends.size(); ++j) {
            add(files.size() == 1 ? backend_labels[j] : labels[i] + "." + backend_labels[j], files[i],
                backends[j]);
        }
    }
    return runs;
}

const ComparedRun* other_engine(std::span<const ComparedRun> runs, const ComparedRun& run) {
    const auto kind = [](const ComparedRun& one) { return one.summary.at("backend_kind"); };
    const auto other = std::ranges::find_if(runs, [&](const ComparedRun& one) {
        return one.finished() && run.finished() && one.file == run.file && one.change == run.change &&
               one.backend != run.backend && kind(one) != kind(run);
    });
    const bool is_before = other != runs.end() && &*other < &run;
    return run.finished() && is_before && iteration_time(*other) > 0 ? &*other : nullptr;
}

Json comparison_json(std::span<const ComparedRun> runs) {
    const ComparedRun* reference = reference_of(runs);
    Json list = Json::array();
    for (const ComparedRun& run : runs) {
        list.push_back({{"label", run.label},
                        {"file", run.file},
                        {"backend", run.backend.empty() ? Json() : Json(run.backend)},
                        {"change", run.change.empty() ? Json() : Json(run.change)},
                        {"exit_code", run.exit_code},
                        {"error", run.finished() ? Json() : Json(run.error)},
                        {"ratios", run.finished() ? ratios_json(run.summary, reference->summary) : Json()},
                        {"difference", run.difference ? difference_json(runs, run) : Json()},
                        {"summary", run.summary}});
    }
    return {{"schema", kSchemaName},
            {"reference", reference == nullptr ? Json() : Json(reference->label)},
            {"runs", std::move(list)}};
}

std::string comparison_text(std::span<const ComparedRun> runs) {
    Table table(runs);
    table.add_outcome();
    const ComparedRun* reference = reference_of(runs);
    if (reference != nullptr) {
        const auto seconds = [](const char* pointer) {
            return [pointer](const Json& summary) { return readable_seconds(number(summary, pointer)); };
        };
        const auto text = [](const char* key) {
            return [key](const Json& summary) { return summary.at(key).get<std::string>(); };
        };
        table.add("network", text("network_kind"));
        table.add("backend", text("backend_kind"));
        if (is_of_flows(reference->summary)) {
            add_flows(table, *reference);
        } else {
            table.add("iteration", seconds("/mean_iteration_time_s"));
            table.add("  over " + reference->label, [&](const Json& summary) {
                const double whole = number(reference->summary, "/mean_iteration_time_s");
                return whole > 0 ? fmt::format("{:.4f}", number(summary, "/mean_iteration_time_s") / whole)
                                 : "-";
            });
            table.add("lower bound", seconds("/lower_bound_s"));
            table.add("whole run", seconds("/total_time_s"));
            table.add("compute", seconds("/compute_s"));
            add_exposed(table, runs);
            table.add("drain", seconds("/drain_s"));
        }
        table.add("busiest link", [](const Json& summary) {
            return fmt::format("{:.1f} %", 100 * number(summary, "/network/max_link_utilization"));
        });
        add_count(table, "messages", "/network/messages");
        add_count(table, "packets", "/network/packets");
        add_count(table, "drops", "/network/drops");
        add_count(table, "retransmissions", "/network/retransmissions");
        add_congestion(table, runs);
        add_count(table, "events", "/engine/events");
        table.add("wall time", [](const Json& summary) {
            return fmt::format("{:.2f} s", number(summary, "/engine/wall_s"));
        });
        table.add("peak memory", [](const Json& summary) {
            return readable(Bytes(summary.at("engine").at("peak_rss_bytes").get<std::int64_t>()));
        });
        table.add("fingerprint", text("fingerprint"));
    }
    std::string result = table.text();
    for (const ComparedRun& run : runs) {
        if (!run.finished()) {
            result += fmt::format("{}: {}\n", run.label, reason_of(run));
        }
    }
    return reference == nullptr ? result : result + notes(runs, *reference);
}

}  // namespace astrolabe::experiment
