/// The `astrolabe` program: arguments and rendering only.

#include "commands.hpp"
#include "console.hpp"
#include "version.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace astrolabe::cli {
namespace {

constexpr std::string_view kExperiment = "--experiment=";

/// Programs of ns-3 have options and no subcommands: `--experiment=FILE …` is `run FILE …`.
void spell_as_command(std::vector<std::string>& words) {
    const auto option =
        std::ranges::find_if(words, [](const std::string& word) { return word.starts_with(kExperiment); });
    if (option != words.end() && words.front().starts_with("--")) {
        option->erase(0, kExperiment.size());
        words.insert(words.begin(), "run");
    }
}

/// What was typed that no command knows, with the nearest names it does know.
std::string usage_hint(const CLI::App& app, const std::vector<std::string>& words) {
    std::vector<std::string> names;
    const CLI::App* command = &app;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (!words.empty() && sub->get_name() == words.front()) {
            command = sub;
        }
        names.push_back(sub->get_name());
    }
    if (command != &app) {
        names.clear();
    } else {
        names.emplace_back(kExperiment.substr(0, kExperiment.size() - 1));
    }
    for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    for (std::size_t i = command == &app ? 0 : 1; i < words.size(); ++i) {
        const std::string word = words[i].substr(0, words[i].find('='));
        const bool option = word.starts_with("--");
        if ((option || command == &app) && std::find(names.begin(), names.end(), word) == names.end()) {
            const std::vector<std::string> near = nearest_names(word, names);
            if (!near.empty()) {
                return fmt::format("  hint: did you mean '{}'?\n", near.front());
            }
        }
    }
    return fmt::format("  hint: {} --help\n",
                       command == &app ? "astrolabe" : "astrolabe " + command->get_name());
}

/// Of every command, before or behind its name.
void add_diagnostics_option(CLI::App& app) {
    app.add_option_function<std::string>(
           "--diagnostics",
           [](const std::string& form) {
               set_diagnostic_form(form == "json" ? DiagnosticForm::kJson : DiagnosticForm::kText);
           },
           "text, or json: what is wrong with files, an object a line on "
           "standard error, for editors and other programs")
        ->check(CLI::IsMember({"text", "json"}));
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        command->fallthrough();
    }
}

int main_program(std::vector<std::string> words) {
    install_interrupt_handler();
    const experiment::Components components = experiment::builtin_components();
    int exit_code = kDone;
    CLI::App app("astrolabe: co-design of DLRM training and the network that carries it", "astrolabe");
    app.require_subcommand(1);
    app.set_version_flag("--version", fmt::format("astrolabe {}", version()));
    app.footer("astrolabe --experiment=FILE … is astrolabe run FILE …, as ./ns3 run has it");
    add_run_command(app, components, exit_code);
    add_validate_command(app, components, exit_code);
    add_compare_command(app, components, exit_code);
    add_what_if_command(app, components, exit_code);
    add_sweep_command(app, components, exit_code);
    add_report_command(app, components, exit_code);
    add_optimize_command(app, components, exit_code);
    add_calibrate_command(app, exit_code);
    add_reproduce_command(app, exit_code);
    add_convert_command(app, exit_code);
    add_export_command(app, components, exit_code);
    add_collective_command(app, components, exit_code);
    add_list_command(app, components, exit_code);
    add_describe_command(app, components, exit_code);
    add_completion_command(app, exit_code);
    add_diagnostics_option(app);
    spell_as_command(words);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the end
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        print_error(fmt::format("astrolabe: {}\n{}", error.what(), usage_hint(app, words)));
        return kWrongUsage;
    }
    if (output_was_lost()) {
        print_error(
            "astrolabe: standard output could not be written: what was to be read there is not whole\n");
        return exit_code == kDone ? kSimulationFailed : exit_code;
    }
    return exit_code;
}

}  // namespace
}  // namespace astrolabe::cli

int main(int argc, char** argv) {
    try {
        return astrolabe::cli::main_program({argv + 1, argv + argc});
    } catch (const std::bad_alloc&) {
        astrolabe::cli::print_error("astrolabe: out of memory; take fewer ranks or chunks\n");
    } catch (const std::exception& defect) {
        astrolabe::cli::print_error(
            fmt::format("astrolabe: a defect of the program, please report it: {}\n", defect.what()));
    }
    return astrolabe::cli::kSimulationFailed;
}
