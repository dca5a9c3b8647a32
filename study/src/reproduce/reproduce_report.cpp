#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/study/reproduce/reproduce.hpp>

namespace astrolabe::study {
namespace {

using ValueCells = std::array<std::string, 5>;

/// "+5.3 %"; what rounds to nothing has no sign.
std::string error_text(double error) {
    const double percent = 100 * error;
    return std::abs(percent) < 0.05 ? "0.0 %" : fmt::format("{:+.1f} %", percent);
}

/// With a minus sign as pages print it.
std::string with_minus(std::string text) {
    if (text.starts_with('-')) {
        text.replace(0, 1, "−");
    }
    return text;
}

ValueCells value_cells(const PublishedStudy& study, const ReproducedValue& one) {
    const PublishedValue& value = study.values[one.value];
    return {value.name, value.published.text(),
            one.measured ? value.published.printed().text_of(*one.measured) : "-",
            one.measured ? error_text(*one.error(study)) : "-",
            one.sensitivity
                ? fmt::format("{:+.2f}", std::abs(*one.sensitivity) < 0.005 ? 0 : *one.sensitivity)
                : "-"};
}

std::vector<const ReproducedValue*> values_in(const PublishedStudy& study, const Reproduction& result,
                                              const std::string& table) {
    std::vector<const ReproducedValue*> values;
    for (const ReproducedValue& one : result.values) {
        if (study.values[one.value].table == table) {
            values.push_back(&one);
        }
    }
    return values;
}

bool any_sensitivity(const std::vector<const ReproducedValue*>& values) {
    return std::any_of(values.begin(), values.end(),
                       [](const ReproducedValue* one) { return one->sensitivity.has_value(); });
}

/// Causes in the order of the values, with the names that have each.
std::vector<std::pair<std::string, std::vector<std::string>>> causes_of(
    const PublishedStudy& study, const std::vector<const ReproducedValue*>& values) {
    std::vector<std::pair<std::string, std::vector<std::string>>> causes;
    for (const ReproducedValue* one : values) {
        const PublishedValue& value = study.values[one->value];
        if (value.cause.empty()) {
            continue;
        }
        auto known = std::find_if(causes.begin(), causes.end(),
                                  [&](const auto& cause) { return cause.first == value.cause; });
        if (known == causes.end()) {
            known = causes.insert(causes.end(), {value.cause, {}});
        }
        known->second.push_back(value.name);
    }
    return causes;
}

std::string constant_line(const PublishedStudy& study) {
    const Calibration& constant = *study.calibration;
    return fmt::format("{} = {}, fitted to '{}': {}", constant.path,
                       constant.value.text_of(constant.value.value()), constant.fitted_to, constant.meaning);
}

/// As it is typed.
std::string command_of(const PublishedStudy& study, const StudyRun& run) {
    std::string text =
        fmt::format("astrolabe {} {}", run.command == StudyRun::Command::kRun ? "run" : "validate",
                    run.experiment.string());
    std::vector<std::string> overrides = run.overrides;
    if (study.is_calibrated(run)) {
        const PrintedNumber& value = study.calibration->value;
        overrides.push_back(
            fmt::format("{}={:.{}f}{}", study.calibration->path, value.number, value.decimals, value.unit));
    }
    for (const std::string& assignment : overrides) {
        text += fmt::format(" --set '{}'", assignment);
    }
    return text;
}

std::string text_table(const std::vector<ValueCells>& rows, std::size_t columns) {
    std::array<std::size_t, 5> widths{};
    for (const ValueCells& row : rows) {
        for (std::size_t i = 0; i < columns; ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const ValueCells& row : rows) {
        text += fmt::format("  {:<{}}", row[0], widths[0]);
        for (std::size_t i = 1; i < columns; ++i) {
            text += fmt::format("  {:>{}}", row[i], widths[i]);
        }
        text += '\n';
    }
    return text;
}

constexpr std::array kHeadings{"value", "published", "here", "error", "% for 1 % of the constant"};

}  // namespace

std::string reproduction_text(const PublishedStudy& study, const Reproduction& result) {
    std::string text = fmt::format("{}: {}\n{}\n", study.name, study.title, study.source);
    if (study.calibration) {
        text += fmt::format("constant: {}\n", constant_line(study));
    }
    if (result.fitted) {
        const Calibration& constant = *study.calibration;
        text += fmt::format("fitted in {} runs: {}\n", result.fitted->runs,
                            constant.value.text_of(result.fitted->value));
    }
    std::vector<std::size_t> runs;
    for (const std::string& table : study.tables()) {
        const std::vector<const ReproducedValue*> values = values_in(study, result, table);
        if (values.empty()) {
            continue;
        }
        std::vector<ValueCells> rows{{kHeadings[0], kHeadings[1], kHeadings[2], kHeadings[3], kHeadings[4]}};
        for (const ReproducedValue* one : values) {
            rows.push_back(value_cells(study, *one));
            rows.back()[0] += one->error_has_grown(study) ? " (the error has grown)"
                              : one->is_recorded          ? " (recorded)"
                                                          : "";
            const PublishedValue& value = study.values[one->value];
            for (const std::size_t run : {value.run, value.over.value_or(value.run)}) {
                if (std::find(runs.begin(), runs.end(), run) == runs.end()) {
                    runs.push_back(run);
                }
            }
        }
        text += fmt::format("\n{}{}", table.empty() ? "" : table + "\n",
                            text_table(rows, any_sensitivity(values) ? 5 : 4));
        for (const auto& [cause, names] : causes_of(study, values)) {
            text += fmt::format("  {}: {}\n", fmt::join(names, "; "), cause);
        }
    }
    for (const std::string& note : study.notes) {
        text += fmt::format("\nnot compared: {}\n", note);
    }
    text += "\nruns\n";
    for (const std::size_t run : runs) {
        text += fmt::format("  {}\n", command_of(study, study.runs[run]));
    }
    return text;
}

std::string reproduction_markdown(const PublishedStudy& study, const Reproduction& result) {
    std::string text;
    for (const std::string& table : study.tables()) {
        const std::vector<const ReproducedValue*> values = values_in(study, result, table);
        if (values.empty()) {
            continue;
        }
        const std::size_t columns = any_sensitivity(values) ? 5 : 4;
        text += fmt::format("{}| {} |\n|{}\n", text.empty() ? "" : "\n",
                            fmt::join(kHeadings.begin(), kHeadings.begin() + columns, " | "),
                            columns == 5 ? "---|---|---|---|---|" : "---|---|---|---|");
        for (const ReproducedValue* one : values) {
            ValueCells cells = value_cells(study, *one);
            for (std::string& cell : cells) {
                cell = cell == "-" ? "–" : with_minus(cell);
            }
            text += fmt::format("| {} |\n", fmt::join(cells.begin(), cells.begin() + columns, " | "));
        }
        const auto causes = causes_of(study, values);
        text += causes.empty() ? "" : "\n";
        for (const auto& [cause, names] : causes) {
            text += fmt::format("- {}: {}\n", fmt::join(names, "; "), cause);
        }
    }
    return text;
}

nlohmann::ordered_json reproduction_json(const PublishedStudy& study, const Reproduction& result) {
    nlohmann::ordered_json json{{"schema", experiment::kSchemaName},
                                {"study", study.name},
                                {"title", study.title},
                                {"source", study.source}};
    if (study.calibration) {
        const Calibration& constant = *study.calibration;
        json["calibration"] = {{"path", constant.path},
                               {"value", constant.value.value()},
                               {"fitted_to", constant.fitted_to},
                               {"meaning", constant.meaning}};
        if (result.fitted) {
            json["calibration"]["fitted"] = result.fitted->value;
            json["calibration"]["measured"] = result.fitted->measured;
        }
    }
    auto rows = nlohmann::ordered_json::array();
    const auto number_or_null = [](const std::optional<double>& number) {
        return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
    };
    const auto printed_or_null = [](const std::optional<PrintedNumber>& printed) {
        return printed ? nlohmann::ordered_json(printed->value()) : nlohmann::ordered_json();
    };
    for (const ReproducedValue& one : result.values) {
        const PublishedValue& value = study.values[one.value];
        nlohmann::ordered_json row{{"name", value.name},
                                   {"table", value.table},
                                   {"command", command_of(study, study.runs[value.run])},
                                   {"quantity", value.quantity},
                                   {"published", printed_or_null(value.published.number)},
                                   {"at_least", printed_or_null(value.published.at_least)},
                                   {"at_most", printed_or_null(value.published.at_most)},
                                   {"measured", number_or_null(one.measured)},
                                   {"is_recorded", one.is_recorded},
                                   {"error", number_or_null(one.error(study))},
                                   {"recorded", number_or_null(one.recorded)},
                                   {"margin", value.margin},
                                   {"error_has_grown", one.error_has_grown(study)},
                                   {"sensitivity", number_or_null(one.sensitivity)},
                                   {"source", value.source},
                                   {"cause", value.cause}};
        if (!one.reason.empty()) {
            row["reason"] = one.reason;
        }
        rows.push_back(std::move(row));
    }
    json["values"] = std::move(rows);
    json["notes"] = study.notes;
    return json;
}

}  // namespace astrolabe::study
