/// The `astrolabe` program: arguments and rendering only.

#include "commands.hpp"
#include "console.hpp"
#include "version.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/utf8.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

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
    std::error_code no_file;
    if (command == &app && !words.empty() && std::filesystem::is_regular_file(words.front(), no_file)) {
        return fmt::format("  hint: what to do with the file is said first: {} run {}\n", called_as(),
                           words.front());
    }
    if (command != &app) {
        return fmt::format("  hint: {} {} --help\n", called_as(), command->get_name());
    }
    return fmt::format(
        "  hint: {0} --help lists the commands; a first one is {0} run examples/quickstart/experiment.yaml\n",
        called_as());
}

/// Whether `--diagnostics json` is among the words, which has to be known before one of them proves wrong.
bool asks_for_json(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--diagnostics=json" ||
            (words[i] == "--diagnostics" && i + 1 < words.size() && words[i + 1] == "json")) {
            return true;
        }
    }
    return false;
}

/// Or for the version: what is answered anywhere.
bool asks_for_help(const std::vector<std::string>& words) {
    return std::ranges::any_of(words, [](const std::string& word) {
        return word == "--help" || word == "-h" || word == "--version";
    });
}

/// What is wrong with the folder that words are relative to; empty: nothing.
std::string folder_is_gone() {
    std::error_code gone;
    static_cast<void>(std::filesystem::current_path(gone));
    return gone ? fmt::format("astrolabe: the current folder: {}\n  hint: change to one that is there\n",
                              gone.message())
                : std::string{};
}

/// What is wrong with a word, or with the name of the folder that words are relative to; empty: nothing. All
/// of them may come to be in files that have to be UTF-8.
std::string words_not_utf8(const std::vector<std::string>& words) {
    constexpr std::string_view kHint =
        "  hint: text and names of files are UTF-8; rename the file, or set the terminal to UTF-8\n";
    const auto failure = [&](const std::string& what, const std::string& text) {
        const std::optional<std::size_t> offset = first_byte_not_utf8(text);
        return offset ? fmt::format("astrolabe: {} '{}': byte 0x{:02x} at offset {} is not UTF-8\n{}", what,
                                    printable_utf8(text),
                                    static_cast<unsigned>(static_cast<unsigned char>(text[*offset])), *offset,
                                    kHint)
                      : std::string{};
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (std::string wrong = failure(fmt::format("argument {}", i + 1), words[i]); !wrong.empty()) {
            return wrong;
        }
    }
    std::error_code gone;
    return failure("the current folder", std::filesystem::current_path(gone).string());
}

/// Of every command, before or behind its name.
void add_diagnostics_option(CLI::App& app) {
    app.add_option_function<std::string>(
           "--diagnostics",
           [](const std::string& form) {
               set_diagnostic_form(form == "json" ? DiagnosticForm::kJson : DiagnosticForm::kText);
           },
           "text, or json: what is wrong, an object a line on standard error, "
           "for editors and other programs")
        ->check(CLI::IsMember({"text", "json"}));
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        command->fallthrough();
    }
}

int main_program(std::vector<std::string> words) {
    install_interrupt_handler();
    outlive_readers();
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
    if (asks_for_json(words)) {
        set_diagnostic_form(DiagnosticForm::kJson);
    }
    const std::string gone = asks_for_help(words) ? "" : folder_is_gone();
    if (const std::string failure = gone + words_not_utf8(words); !failure.empty()) {
        print_failure(failure);
        return kWrongUsage;
    }
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the end
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        print_failure(fmt::format("astrolabe: {}\n{}", error.what(), usage_hint(app, words)));
        return kWrongUsage;
    } catch (const study::StoreDamage& damage) {
        print_diagnostics({damage.diagnostic()});
        return kSimulationFailed;
    }
    if (output_was_lost()) {
        print_failure(
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
        astrolabe::cli::print_failure("astrolabe: out of memory; take fewer ranks or chunks\n");
    } catch (const std::exception& defect) {
        astrolabe::cli::print_failure(
            fmt::format("astrolabe: a defect of the program, please report it: {}\n", defect.what()));
    }
    return astrolabe::cli::kSimulationFailed;
}
