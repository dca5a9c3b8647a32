/// `astrolabe calibrate`: what was measured becomes files of a machine.
#include "calibrate.hpp"
#include "commands.hpp"
#include "console.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include <astrolabe/core/source_text.hpp>
#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::cli {

Diagnostic calibrate_error(std::string message, std::string hint) {
    return {"calibrate.file", {}, std::move(message), std::move(hint), {}};
}

std::optional<system::CollectiveKind> collective_named(const std::string& name) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '-', '_');
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        const auto candidate = static_cast<system::CollectiveKind>(kind);
        if (system::to_string(candidate) == key) {
            return candidate;
        }
    }
    return std::nullopt;
}

Result<std::string> calibration_text(const std::string& path) {
    const Result<std::shared_ptr<const SourceText>> source = read_source(path, "calibrate.file");
    if (!source) {
        return source.error();
    }
    return (*source)->text;
}

int write_calibration(const std::vector<std::pair<std::string, std::string>>& texts_by_path) {
    for (const auto& [path, text] : texts_by_path) {
        if (path.empty()) {
            continue;
        }
        Result<experiment::OutputFile> file = experiment::OutputFile::create(path);
        if (!file) {
            return report_unusable(file.error());
        }
        file->append(text);
        if (const std::optional<Diagnostic> error = file->finish()) {
            return report_unusable({*error});
        }
    }
    return kDone;
}

namespace {

enum class MeasurementSort : std::uint8_t { kLog, kTrace, kKernels };

/// By how a file begins: gzip or the JSON of a trace, a table of kernels, or text.
std::optional<MeasurementSort> sort_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string head(4096, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    if (head.empty()) {
        return std::nullopt;
    }
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    if (head.starts_with("\x1f\x8b")) {
        return MeasurementSort::kTrace;
    }
    if (first != std::string::npos && head[first] == '{') {
        return head.find("\"measurements\"") != std::string::npos ? MeasurementSort::kKernels
                                                                  : MeasurementSort::kTrace;
    }
    return head.find("kernel,samples") != std::string::npos ? MeasurementSort::kKernels
                                                            : MeasurementSort::kLog;
}

int calibrate_command(const CalibrateArguments& arguments) {
    for (const std::string& path : arguments.files) {
        std::error_code failure;
        if (!std::filesystem::is_regular_file(path, failure)) {  // it is read twice, and may have no end
            return report_invalid(
                {calibrate_error(fmt::format("cannot read '{}': it is no regular file", path),
                                 "give files that a measurement wrote")});
        }
    }
    const MeasurementSort sort = sort_of(arguments.files.front()).value_or(MeasurementSort::kLog);
    for (const std::string& path : arguments.files) {
        if (sort_of(path).value_or(sort) != sort) {
            return report_invalid({calibrate_error(
                fmt::format("'{}' and '{}' are of two sorts", arguments.files.front(), path),
                "give logs of nccl-tests, traces or kernel tables, each in a call of its own")});
        }
    }
    switch (sort) {
        case MeasurementSort::kLog:
            return calibrate_logs(arguments);
        case MeasurementSort::kTrace:
            return calibrate_traces(arguments);
        case MeasurementSort::kKernels:
            return calibrate_kernels(arguments);
    }
    return kInvalidInput;
}

}  // namespace

void add_calibrate_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<CalibrateArguments>();
    CLI::App* command = app.add_subcommand(
        "calibrate", "what was measured on a machine becomes its collectives, its host and its kernels");
    command
        ->add_option("FILE", arguments->files,
                     "of one sort: what all_reduce_perf and its like printed, one test a file; traces of "
                     "torch.profiler, one rank a file, gzipped or not; tables of kernel times (CSV "
                     "'kernel,samples,forward,backward', or measure_*.json of FlexFlow's kernels)")
        ->required();
    command
        ->add_option(
            "--collective", arguments->collective,
            "of logs that do not say: all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, "
            "reduce or point-to-point")
        ->check([](const std::string& name) {
            return collective_named(name) ? std::string() : "'" + name + "' is not the name of a collective";
        });
    command->add_option("--ranks", arguments->ranks, "of logs whose lines of ranks were cut off")
        ->check(CLI::Range(std::size_t{2}, std::size_t{1} << 20));
    command->add_option("--machine", arguments->machine, "its name; unset: that of the devices in the logs");
    command->add_option("--launch", arguments->launch,
                        "part of every time that is the host's, which is taken off: 27us; unset: none");
    command->add_option("--launch-per-device", arguments->launch_per_device,
                        "the same for each device that one process of the test launches on, as its log says");
    command
        ->add_option("--ranks-per-node", arguments->ranks_per_node,
                     "of logs of several numbers of ranks; unset: the most on a node in them")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20));
    command
        ->add_option("--fit-every", arguments->fit_every,
                     "of logs: fit to every so manieth size only, from the first, and predict the others")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{1}, std::size_t{64}));
    command->add_option("--memory-bandwidth", arguments->memory_bandwidth,
                        "of the device, for kernel tables: what is faster than it is left out");
    command
        ->add_option("--lookups", arguments->lookups,
                     "lookups a sample, of kernels of tables that do not say")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20));
    command->add_option("--precision", arguments->precision, "of the matrix products of a kernel table")
        ->capture_default_str()
        ->check(CLI::IsMember({"fp32", "tf32", "bf16", "fp16"}));
    command->add_option("--out", arguments->out,
                        "file for `cluster.measured_collectives`, from logs or traces");
    command->add_option("--device-out", arguments->device_out,
                        "file with keys of a device: `host` from traces, `gemm` and `lookup` from kernels");
    command->add_option("--plot", arguments->plot, "picture of the fits, SVG");
    command->add_flag("--json", arguments->json, "print an object on stdout instead of the table");
    command->footer(
        "example: astrolabe calibrate a100-x8-allreduce.log --out machine.yaml --plot machine.svg");
    command->callback([arguments, &exit_code] { exit_code = calibrate_command(*arguments); });
}

}  // namespace astrolabe::cli
