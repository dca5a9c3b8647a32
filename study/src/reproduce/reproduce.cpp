#include "../process/text_file.hpp"
#include "measures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/json_text.hpp>
#include <astrolabe/study/process/processes.hpp>
#include <astrolabe/study/reproduce/reproduce.hpp>

namespace astrolabe::study {
namespace {

/// By how much the constant is changed to see what follows it.
constexpr double kNudge = 1.01;

/// Goes away with all that is in it.
class ScratchFolder {
public:
    ScratchFolder() {
        std::error_code missing;
        const std::filesystem::path parent = std::filesystem::temp_directory_path(missing);
        std::string pattern = (parent / "astrolabe-reproduce-XXXXXX").string();
        if (const char* made = missing ? nullptr : ::mkdtemp(pattern.data())) {
            path_ = made;
        }
    }
    ~ScratchFolder() {
        std::error_code ignored;
        if (!path_.empty()) {
            std::filesystem::remove_all(path_, ignored);
        }
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] bool is_there() const { return !path_.empty(); }
    [[nodiscard]] std::filesystem::path part(std::size_t number) const {
        return path_ / std::to_string(number);
    }

private:
    std::filesystem::path path_;
};

Diagnostics failure_of(const PublishedStudy& study, std::string message, std::string hint = {}) {
    return {{"published.run",
             {std::make_shared<const SourceText>(SourceText{study.file.string(), ""}), 0, 0, 1},
             std::move(message),
             std::move(hint),
             {}}};
}

/// A run, with the constant as it is to be.
struct RunRequest {
    std::size_t run = 0;
    double constant = 0;  ///< in its unit's base; unused where the constant is not set
};

/// "369.65ms": more digits than the file has, as bisection needs them.
std::string constant_text(const PrintedNumber& like, double value) {
    return fmt::format("{:.{}f}{}", value / like.scale, like.decimals + 3, like.unit);
}

bool needs_messages(const PublishedStudy& study, std::size_t run) {
    return std::any_of(study.values.begin(), study.values.end(), [&](const PublishedValue& value) {
        return value.run == run && is_of_messages(value.quantity);
    });
}

std::vector<std::string> run_words(const PublishedStudy& study, const RunRequest& request,
                                   const std::filesystem::path& folder) {
    const StudyRun& run = study.runs[request.run];
    std::vector<std::string> words{run.command == StudyRun::Command::kRun ? "run" : "validate",
                                   run.experiment.string(), "--json"};
    for (const std::string& assignment : run.overrides) {
        words.push_back("--set=" + assignment);
    }
    if (study.is_calibrated(run)) {
        words.push_back(fmt::format("--set={}={}", study.calibration->path,
                                    constant_text(study.calibration->value, request.constant)));
    }
    if (run.command != StudyRun::Command::kRun) {
        return words;
    }
    words.emplace_back("--progress=none");
    const bool messages = needs_messages(study, request.run);
    if (messages) {
        words.emplace_back("--flows");
    }
    if (!run.interval.empty()) {
        words.push_back("--throughput=" + run.interval);
    }
    if (messages || !run.interval.empty()) {
        words.push_back("--out=" + folder.string());
    }
    return words;
}

/// Carries out runs and gives what they printed.
class Runner {
public:
    Runner(const PublishedStudy& study, const ReproduceOptions& options)
        : study_(study),
          options_(options) {}

    [[nodiscard]] bool is_ready() const { return folder_.is_there(); }

    /// Outputs by place in `requests`; what went wrong is a text.
    std::vector<std::variant<RunOutput, std::string>> carry_out(const std::vector<RunRequest>& requests) {
        std::vector<std::vector<std::string>> words;
        const std::size_t first = folders_;
        for (const RunRequest& request : requests) {
            words.push_back(run_words(study_, request, folder_.part(folders_++)));
        }
        all_ += requests.size();
        const std::vector<ProcessOutcome> outcomes =
            run_own_processes(words, options_.jobs, [&](std::size_t at, const ProcessOutcome&) {
                if (options_.observer) {
                    options_.observer(++ended_, all_, study_.runs[requests[at].run].name);
                }
            });
        std::vector<std::variant<RunOutput, std::string>> results;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const ProcessOutcome& outcome = outcomes[i];
            if (outcome.exit_code != 0) {
                results.emplace_back(fmt::format("run '{}' ended with code {}\n{}",
                                                 study_.runs[requests[i].run].name, outcome.exit_code,
                                                 outcome.err));
            } else {
                results.emplace_back(RunOutput(nlohmann::json::parse(outcome.out), folder_.part(first + i)));
            }
        }
        return results;
    }

private:
    const PublishedStudy& study_;
    const ReproduceOptions& options_;
    ScratchFolder folder_;
    std::size_t folders_ = 0;
    std::size_t ended_ = 0;
    std::size_t all_ = 0;
};

using Outputs = std::map<std::size_t, std::variant<RunOutput, std::string>>;  // by run

Outputs outputs_of(Runner& runner, const std::set<std::size_t>& runs, double constant) {
    std::vector<RunRequest> requests;
    for (const std::size_t run : runs) {
        requests.push_back({run, constant});
    }
    std::vector<std::variant<RunOutput, std::string>> results = runner.carry_out(requests);
    Outputs outputs;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        outputs.emplace(requests[i].run, std::move(results[i]));
    }
    return outputs;
}

std::variant<double, std::string> of_run(Outputs& outputs, std::size_t run, const PublishedValue& value) {
    auto& output = outputs.at(run);
    if (const auto* reason = std::get_if<std::string>(&output)) {
        return *reason;
    }
    return std::get<RunOutput>(output).measure(value.quantity, value.intervals);
}

std::variant<double, std::string> measure_value(Outputs& outputs, const PublishedValue& value) {
    std::variant<double, std::string> measured = of_run(outputs, value.run, value);
    if (!value.over || std::holds_alternative<std::string>(measured)) {
        return measured;
    }
    const std::variant<double, std::string> divisor = of_run(outputs, *value.over, value);
    if (const auto* reason = std::get_if<std::string>(&divisor)) {
        return *reason;
    }
    const double quotient = std::get<double>(measured) / std::get<double>(divisor);
    if (!std::isfinite(quotient)) {
        return fmt::format("'{}' is {} over {}, no finite number", value.quantity, std::get<double>(measured),
                           std::get<double>(divisor));
    }
    return quotient;
}

bool is_short(const PublishedStudy& study, const PublishedValue& value) {
    return !study.runs[value.run].is_long && !(value.over && study.runs[*value.over].is_long);
}

bool follows_constant(const PublishedStudy& study, const PublishedValue& value) {
    return study.is_calibrated(study.runs[value.run]) ||
           (value.over && study.is_calibrated(study.runs[*value.over]));
}

std::set<std::size_t> runs_for(const PublishedStudy& study, const std::vector<std::size_t>& values) {
    std::set<std::size_t> runs;
    for (const std::size_t at : values) {
        runs.insert(study.values[at].run);
        if (study.values[at].over) {
            runs.insert(*study.values[at].over);
        }
    }
    return runs;
}

/// Bisects to a sixteenth of the last digit, or as far as numbers are told apart, and rounds to the digit.
Result<FittedConstant> fit(const PublishedStudy& study, Runner& runner) {
    const Calibration& calibration = *study.calibration;
    const auto value = std::find_if(
        study.values.begin(), study.values.end(),
        [&](const PublishedValue& candidate) { return candidate.name == calibration.fitted_to; });
    ASTROLABE_ASSERT(value != study.values.end(), "the file was checked");
    const double wanted = value->published.printed().value();
    const std::set<std::size_t> runs =
        runs_for(study, {static_cast<std::size_t>(value - study.values.begin())});
    FittedConstant fitted;
    const auto measured_with = [&](double constant) {
        Outputs outputs = outputs_of(runner, runs, constant);
        fitted.runs += runs.size();
        return measure_value(outputs, *value);
    };
    double low = calibration.from.value();
    double high = calibration.to.value();
    for (const double end : {low, high}) {
        const auto measured = measured_with(end);
        if (const auto* reason = std::get_if<std::string>(&measured)) {
            return failure_of(study, *reason);
        }
        const bool is_below = std::get<double>(measured) < wanted;
        if (is_below != (end == low)) {
            return failure_of(
                study,
                fmt::format("with {} = {} '{}' is {}, and {} was published", calibration.path,
                            calibration.value.text_of(end), value->name,
                            value->published.printed().text_of(std::get<double>(measured)),
                            value->published.text()),
                "the published value must be between those of calibration.from and calibration.to");
        }
    }
    const double step = calibration.value.scale * std::pow(10, -calibration.value.decimals);
    while (high - low > step / 16) {  // so that rounding takes the nearer digit
        const double middle = (low + high) / 2;
        if (middle == low || middle == high) {
            break;
        }
        const auto measured = measured_with(middle);
        if (const auto* reason = std::get_if<std::string>(&measured)) {
            return failure_of(study, *reason);
        }
        (std::get<double>(measured) < wanted ? low : high) = middle;
    }
    const double middle = (low + high) / 2;
    const double rounded = std::round(middle / step) * step;
    fitted.value = std::isfinite(rounded) ? rounded : middle;  // a step that is no number any more
    const auto measured = measured_with(fitted.value);
    if (const auto* reason = std::get_if<std::string>(&measured)) {
        return failure_of(study, *reason);
    }
    fitted.measured = std::get<double>(measured);
    return fitted;
}

/// What a percent more of the constant does.
void add_sensitivities(const PublishedStudy& study, Runner& runner, double constant,
                       std::vector<ReproducedValue>& values) {
    std::vector<std::size_t> moved;
    for (const ReproducedValue& one : values) {
        if (one.measured && !one.is_recorded && follows_constant(study, study.values[one.value])) {
            moved.push_back(one.value);
        }
    }
    Outputs outputs = outputs_of(runner, runs_for(study, moved), kNudge * constant);
    for (ReproducedValue& one : values) {
        if (std::find(moved.begin(), moved.end(), one.value) == moved.end()) {
            continue;
        }
        const auto nudged = measure_value(outputs, study.values[one.value]);
        if (const double* seconds = std::get_if<double>(&nudged); seconds != nullptr && *one.measured > 0) {
            one.sensitivity = std::log(*seconds / *one.measured) / std::log(kNudge);
        }
    }
}

void take_recorded(ReproducedValue& one, const std::string& name, const ReproductionRecord& record) {
    if (const auto found = record.sensitivity.find(name); found != record.sensitivity.end()) {
        one.sensitivity = found->second;
    }
    if (const auto found = record.measured.find(name); found != record.measured.end()) {
        one.recorded = found->second;
    }
}

}  // namespace

Result<std::optional<ReproductionRecord>> read_record(const PublishedStudy& study) {
    const std::filesystem::path file = study.record();
    std::error_code none;
    if (!std::filesystem::exists(file, none)) {
        return std::optional<ReproductionRecord>();
    }
    const std::optional<std::string> text = text_of_file(file);
    const nlohmann::json json =
        text ? parse_json<nlohmann::json>(*text) : nlohmann::json(nlohmann::json::value_t::discarded);
    ReproductionRecord record;
    if (json.is_object() && json.contains("values") && json["values"].is_array()) {
        for (const nlohmann::json& row : json["values"]) {
            if (!row.is_object() || !row.contains("name") || !row["name"].is_string() ||
                !row.contains("measured") || !row["measured"].is_number()) {
                record.measured.clear();
                break;
            }
            record.measured.emplace(row["name"], row["measured"]);
            if (row.contains("sensitivity") && row["sensitivity"].is_number()) {
                record.sensitivity.emplace(row["name"], row["sensitivity"]);
            }
        }
        if (!record.measured.empty() || json["values"].empty()) {
            return std::optional(std::move(record));
        }
    }
    return Diagnostic{"published.record",
                      {std::make_shared<const SourceText>(SourceText{file.string(), ""}), 0, 0, 1},
                      "this is no record of a published study",
                      "take the file away, and write it anew: astrolabe reproduce --record",
                      {}};
}

nlohmann::ordered_json record_json(const PublishedStudy& study, const ReproductionRecord& record) {
    auto rows = nlohmann::ordered_json::array();
    for (const PublishedValue& value : study.values) {
        if (const auto found = record.measured.find(value.name); found != record.measured.end()) {
            nlohmann::ordered_json row{{"name", value.name}, {"measured", found->second}};
            if (const auto moved = record.sensitivity.find(value.name); moved != record.sensitivity.end()) {
                row["sensitivity"] = moved->second;
            }
            rows.push_back(std::move(row));
        }
    }
    return {{"study", study.name}, {"values", std::move(rows)}};
}

void update(ReproductionRecord& record, const PublishedStudy& study, const Reproduction& result) {
    for (const ReproducedValue& one : result.values) {
        const std::string& name = study.values[one.value].name;
        if (!one.measured || one.is_recorded) {
            continue;
        }
        record.measured[name] = *one.measured;
        if (one.sensitivity) {
            record.sensitivity[name] = *one.sensitivity;
        }
    }
}

std::optional<double> ReproducedValue::error(const PublishedStudy& study) const {
    return measured ? std::optional(study.values[value].published.error(*measured)) : std::nullopt;
}

bool ReproducedValue::error_has_grown(const PublishedStudy& study) const {
    if (!measured || !recorded) {
        return false;
    }
    const PublishedValue& its = study.values[value];
    return std::abs(its.published.error(*measured)) > std::abs(its.published.error(*recorded)) + its.margin;
}

Result<Reproduction> reproduce(const PublishedStudy& study, const ReproduceOptions& options) {
    Result<std::optional<ReproductionRecord>> read = read_record(study);
    if (!read) {
        return read.error();
    }
    const ReproductionRecord record = read->value_or(ReproductionRecord{});
    Runner runner(study, options);
    if (!runner.is_ready()) {
        return failure_of(study, "no folder could be made for the tables of runs",
                          "set TMPDIR to a folder that can be written");
    }
    Reproduction result;
    std::vector<std::size_t> now;
    for (std::size_t at = 0; at < study.values.size(); ++at) {
        const PublishedValue& value = study.values[at];
        if (!options.table.empty() && value.table != options.table) {
            continue;
        }
        ReproducedValue& one = result.values.emplace_back();
        one.value = at;
        take_recorded(one, value.name, record);
        one.is_recorded = options.source == ReproduceOptions::Source::kRecord ||
                          (options.source == ReproduceOptions::Source::kShortRuns && !is_short(study, value));
        if (one.is_recorded) {
            one.measured = one.recorded;
            one.reason = one.measured ? "" : "it was never recorded";
        } else {
            now.push_back(at);
        }
    }
    const double constant = study.calibration ? study.calibration->value.value() : 0;
    Outputs outputs = outputs_of(runner, runs_for(study, now), constant);
    for (ReproducedValue& one : result.values) {
        if (one.is_recorded) {
            continue;
        }
        auto measured = measure_value(outputs, study.values[one.value]);
        if (const double* number = std::get_if<double>(&measured)) {
            one.measured = *number;
        } else {
            one.reason = std::get<std::string>(std::move(measured));
        }
    }
    if (options.calibrate && study.calibration) {
        Result<FittedConstant> fitted = fit(study, runner);
        if (!fitted) {
            return fitted.error();
        }
        result.fitted = *fitted;
        add_sensitivities(study, runner, constant, result.values);
    }
    return result;
}

}  // namespace astrolabe::study
