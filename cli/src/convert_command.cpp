/// `astrolabe convert`: files of ASTRA-sim become an experiment.
#include "commands.hpp"
#include "console.hpp"
#include "convert_astra.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace astrolabe::cli {

namespace {

struct ConvertArguments {
    std::string system;
    std::string network;
    std::string workload;
    std::string groups;
    std::string name;
    std::string out;
    bool lenient = false;
};

/// Relative to the folder of the experiment, as the experiment has it.
std::string seen_from(const std::string& out, const std::string& path) {
    return std::filesystem::absolute(path)
        .lexically_normal()
        .lexically_proximate(std::filesystem::absolute(out).lexically_normal().parent_path())
        .string();
}

/// Chakra traces are PREFIX.0.et and so on, or the folder of such files; a text workload is a file.
bool is_text_file(const std::string& path) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) {
        return false;
    }
    std::ifstream file(path);
    constexpr int kMostLetters = 64;  // the longest keyword has 31
    std::string word;
    file >> std::setw(kMostLetters) >> word;
    return !word.empty() && std::all_of(word.begin(), word.end(),
                                        [](unsigned char c) { return std::isupper(c) != 0 || c == '_'; });
}

int convert_command(const ConvertArguments& arguments) {
    AstraFiles files;
    const Result<ConfigNode> system = load_config(arguments.system);
    if (!system) {
        return report_invalid(system.error());
    }
    files.system = *system;
    if (!arguments.network.empty()) {
        const Result<ConfigNode> network = load_config(arguments.network);
        if (!network) {
            return report_invalid(network.error());
        }
        files.network = *network;
    }
    if (!arguments.workload.empty()) {
        files.workload = seen_from(arguments.out, arguments.workload);
        files.is_text_workload = is_text_file(arguments.workload);
    }
    if (!arguments.groups.empty()) {
        files.groups = seen_from(arguments.out, arguments.groups);
    }
    const std::string name =
        arguments.name.empty() ? std::filesystem::path(arguments.system).stem().string() : arguments.name;
    const Result<ConvertedAstra> converted = convert_astra(files, name);
    if (!converted) {
        return report_invalid(converted.error());
    }
    if (!converted->not_mapped.empty() && !arguments.lenient) {
        return report_invalid(converted->not_mapped);
    }
    std::string text = fmt::format(
        "# From files of ASTRA-sim: {}{}\n", std::filesystem::path(arguments.system).filename().string(),
        arguments.network.empty() ? std::string()
                                  : ", " + std::filesystem::path(arguments.network).filename().string());
    for (const std::string& remark : converted->remarks) {
        text += fmt::format("# {}.\n", remark);
    }
    for (const Diagnostic& diagnostic : converted->not_mapped) {
        text += fmt::format("# {}\n", diagnostic.message);
        print_warning(fmt::format("{}: warning: {}\n", diagnostic.where.to_string(), diagnostic.message));
    }
    if (arguments.workload.empty()) {
        text += "# There is no workload: add one.\n";
    }
    if (arguments.network.empty()) {
        text += "# There are no network, backend and number of ranks: add them.\n";
    }
    Result<experiment::OutputFile> file = experiment::OutputFile::create(arguments.out);
    if (!file) {
        return report_unusable(file.error());
    }
    file->append(text + to_yaml(converted->experiment));
    if (const std::optional<Diagnostic> error = file->finish()) {
        return report_unusable({*error});
    }
    return kDone;
}

}  // namespace

void add_convert_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<ConvertArguments>();
    CLI::App* command = app.add_subcommand("convert", "files of ASTRA-sim as an experiment");
    command
        ->add_option("--system", arguments->system,
                     "system file: the JSON of 2.x, or 1.0's text of keys and values")
        ->required();
    command->add_option("--network", arguments->network, "network file of the analytical network, YAML");
    command->add_option("--workload", arguments->workload,
                        "prefix or folder of Chakra traces, or a text workload");
    command->add_option("--groups", arguments->groups, "communicator groups of Chakra traces, JSON");
    command->add_option("--name", arguments->name, "of the experiment; unset: that of the system file");
    command->add_option("--out", arguments->out, "the experiment to write")->required();
    command->add_flag("--lenient", arguments->lenient,
                      "leave out what has no counterpart, with a warning, instead of refusing it");
    command->footer(
        "example: astrolabe convert --system system.json --network network.yml --workload traces/allreduce "
        "--out "
        "experiment.yaml");
    command->callback([arguments, &exit_code] { exit_code = convert_command(*arguments); });
}

}  // namespace astrolabe::cli
