/// `astrolabe export`: parts of an experiment in the form of other programs.
#include "commands.hpp"
#include "console.hpp"
#include "export_msccl.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/results/exchange_matrix.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/workload/traces/trace_export.hpp>

namespace astrolabe::cli {
namespace {

struct ExportArguments {
    std::string file;
    experiment::LoadOptions load;
    std::string format;
    std::string operation;
    int iteration = 0;
    std::string out;
    std::string uneven = "splits";
    MscclExport msccl;
};

constexpr std::array<std::pair<std::string_view, workload::TraceExportFormat>, 3> kTraceFormats{
    {{"chakra", workload::TraceExportFormat::kChakra},
     {"param", workload::TraceExportFormat::kParam},
     {"text", workload::TraceExportFormat::kText}}};

std::string exchange_list(const experiment::Experiment& experiment) {
    std::string text =
        fmt::format("{:<60} {:>9} {:>16} {:>16}\n", "all_to_all", "iteration", "sent (B)", "most by a rank");
    for (const experiment::Exchange& exchange : exchanges_of(experiment)) {
        text += fmt::format("{:<60} {:>9} {:>16} {:>16}\n", exchange.name, exchange.iteration,
                            exchange.sent.count(), exchange.largest_sent.count());
    }
    return text;
}

/// Without what a name of a file should not have.
std::string file_prefix(std::string name) {
    for (char& letter : name) {
        letter = letter == '/' || letter == ' ' || letter == '.' ? '_' : letter;
    }
    return name.empty() ? "trace" : name;
}

int export_program(const ExportArguments& arguments, const experiment::Experiment& loaded,
                   workload::TraceExportFormat format) {
    const std::string prefix = file_prefix(loaded.name);
    const Result<std::unique_ptr<workload::TraceExport>> made = workload::export_traces(
        loaded.program, {.format = format,
                         .uneven = arguments.uneven == "messages" ? workload::UnevenExport::kMessages
                                                                  : workload::UnevenExport::kSplits,
                         .prefix = prefix});
    if (!made) {
        return report_invalid(made.error());
    }
    workload::TraceExport& traces = **made;
    std::optional<experiment::OutputFolder> folder;
    if (!open_output(arguments.out, folder, Output::kNoRun)) {
        return kSimulationFailed;
    }
    // Files of PARAM have no prefix: of every experiment they are of one set.
    folder->begin_set(fmt::format("export {} {}", arguments.format,
                                  format == workload::TraceExportFormat::kParam ? "" : prefix));
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < traces.files(); ++i) {
        Result<experiment::OutputFile> file = folder->create(traces.name(i));
        if (!file) {
            return report_unusable(file.error());
        }
        traces.write(i, [&](std::string_view piece) {
            bytes += piece.size();
            file->append(piece);
        });
        if (const std::optional<Diagnostic> error = file->finish()) {
            return report_unusable({*error});
        }
    }
    if (const std::optional<Diagnostic> error = folder->end_set()) {
        return report_unusable({*error});
    }
    folder->mark_whole();
    std::string text = fmt::format("{}: {} files of {} ranks, {}\n", arguments.out, traces.files(),
                                   loaded.program.ranks, readable(Bytes(static_cast<std::int64_t>(bytes))));
    for (const auto& [name, value] : traces.facts()) {
        text += fmt::format("  {}: {}\n", name, value);
    }
    print_out(text);
    return kDone;
}

int export_command(const ExportArguments& arguments, const experiment::Components& components) {
    if (arguments.format == "msccl") {
        return export_msccl(arguments.msccl, arguments.out, components);
    }
    if (arguments.file.empty()) {
        print_failure("astrolabe export: FILE is required: an experiment\n");
        return kWrongUsage;
    }
    const Result<experiment::Experiment> loaded =
        experiment::load_experiment(arguments.file, arguments.load, components);
    if (!loaded) {
        return report_invalid(loaded.error());
    }
    if (loaded->jobs != nullptr) {
        return report_several_jobs(arguments.file, "what is exported is the traffic of one job");
    }
    for (const auto& [name, format] : kTraceFormats) {
        if (arguments.format == name) {
            return export_program(arguments, *loaded, format);
        }
    }
    if (arguments.operation.empty()) {
        print_out(exchange_list(*loaded));
        return kDone;
    }
    const Result<std::string> matrix =
        experiment::exchange_matrix(*loaded, arguments.operation, arguments.iteration);
    if (!matrix) {
        return report_invalid(matrix.error());
    }
    if (arguments.out.empty()) {
        print_out(*matrix);
        return kDone;
    }
    Result<experiment::OutputFile> file = experiment::OutputFile::create(arguments.out);
    if (!file) {
        return report_unusable(file.error());
    }
    file->append(*matrix);
    if (const std::optional<Diagnostic> error = file->finish()) {
        return report_unusable({*error});
    }
    return kDone;
}

}  // namespace

void add_export_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<ExportArguments>();
    CLI::App* command =
        app.add_subcommand("export", "what an experiment does, in the form of other programs");
    command->add_option("FILE", arguments->file, "an experiment; none for msccl");
    add_msccl_options(*command, arguments->msccl);
    command
        ->add_option(
            "--format", arguments->format,
            "chakra: execution traces of MLCommons Chakra, as ASTRA-sim 2.x reads them, a file for each "
            "rank; param: communication traces of PARAM's replay, a file for each rank; text: a text "
            "workload of ASTRA-sim 1.0; "
            "alltoallv: the bytes of an all_to_all by pair of ranks, as nccl-tests' alltoallv_perf "
            "reads them from NCCL_TESTS_ALLTOALLV_MATRIX_FILE; msccl: a collective algorithm over so many "
            "ranks, as NCCL's interpreter reads it")
        ->required()
        ->check(CLI::IsMember({"chakra", "param", "text", "alltoallv", "msccl"}));
    command
        ->add_option(
            "--uneven", arguments->uneven,
            "of chakra, an uneven all_to_all; splits: one node, its bytes by peer in an attribute of our "
            "own; messages: sends and receives")
        ->capture_default_str()
        ->check(CLI::IsMember({"splits", "messages"}));
    command->add_option("--operation", arguments->operation,
                        "of alltoallv, name of the all_to_all; unset: lists all with their bytes");
    command->add_option("--iteration", arguments->iteration, "of alltoallv's operation, from 0")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    command->add_option("--out", arguments->out,
                        "folder of the traces; of alltoallv and msccl a file, unset: standard output");
    add_repeatable_option(*command, "--set", arguments->load.overrides,
                          "change a value: --set workload.batch_size=4096 (repeatable)");
    command->add_option("--seed", arguments->load.seed, "of all random choices; wins over the file's")
        ->check(seed_range());
    command->footer(
        "example: astrolabe export examples/quickstart/experiment.yaml --format alltoallv --operation "
        "Embedding.forward.all_to_all --out matrix.txt\n"
        "         astrolabe export examples/quickstart/experiment.yaml --format chakra --out traces\n"
        "         astrolabe export --format msccl --algorithm ring --kind all_reduce --ranks 8 --out "
        "ring.xml");
    command->callback([arguments, &components, &exit_code] {
        if (arguments->format != "alltoallv" && arguments->format != "msccl" && arguments->out.empty()) {
            throw CLI::RequiredError("--out");
        }
        exit_code = export_command(*arguments, components);
    });
}

}  // namespace astrolabe::cli
