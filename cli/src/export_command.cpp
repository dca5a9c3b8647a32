/// `astrolabe export`: parts of an experiment in the form of other programs.
#include "commands.hpp"
#include "console.hpp"

#include <memory>

#include <fmt/format.h>

#include <astrolabe/experiment/results/exchange_matrix.hpp>

namespace astrolabe::cli {
namespace {

struct ExportArguments {
    std::string file;
    experiment::LoadOptions load;
    std::string format;
    std::string operation;
    int iteration = 0;
    std::string out;
};

std::string exchange_list(const experiment::Experiment& experiment) {
    std::string text =
        fmt::format("{:<60} {:>9} {:>16} {:>16}\n", "all_to_all", "iteration", "sent (B)", "most by a rank");
    for (const experiment::Exchange& exchange : exchanges_of(experiment)) {
        text += fmt::format("{:<60} {:>9} {:>16} {:>16}\n", exchange.name, exchange.iteration,
                            exchange.sent.count(), exchange.largest_sent.count());
    }
    return text;
}

int export_command(const ExportArguments& arguments, const experiment::Components& components) {
    const Result<experiment::Experiment> loaded =
        experiment::load_experiment(arguments.file, arguments.load, components);
    if (!loaded) {
        return report_invalid(loaded.error());
    }
    if (loaded->jobs != nullptr) {
        return report_several_jobs(arguments.file, "what is exported is the traffic of one job");
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
    command->add_option("FILE", arguments->file, "an experiment")->required();
    command
        ->add_option("--format", arguments->format,
                     "alltoallv: the bytes of an all_to_all by pair of ranks, as nccl-tests' alltoallv_perf "
                     "reads them from NCCL_TESTS_ALLTOALLV_MATRIX_FILE")
        ->required()
        ->check(CLI::IsMember({"alltoallv"}));
    command->add_option("--operation", arguments->operation,
                        "name of the all_to_all; unset: lists all with their bytes");
    command->add_option("--iteration", arguments->iteration, "of the operation, from 0")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    command->add_option("--out", arguments->out, "file to write; unset: standard output");
    add_repeatable_option(*command, "--set", arguments->load.overrides,
                          "change a value: --set workload.batch_size=4096 (repeatable)");
    command->add_option("--seed", arguments->load.seed, "of all random choices; wins over the file's")
        ->check(seed_range());
    command->footer(
        "example: astrolabe export examples/quickstart/experiment.yaml --format alltoallv --operation "
        "Embedding.forward.all_to_all --out matrix.txt");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = export_command(*arguments, components); });
}

}  // namespace astrolabe::cli
