/// The `astrolabe` program: arguments and rendering only.

#include "commands.hpp"
#include "console.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include <fmt/format.h>

namespace astrolabe::cli {
namespace {

/// What was typed that no command knows, with the nearest names it does know.
std::string usage_hint(const CLI::App& app, int argc, char** argv) {
    std::vector<std::string> names;
    const CLI::App* command = &app;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (argc > 1 && sub->get_name() == argv[1]) {
            command = sub;
        }
        names.push_back(sub->get_name());
    }
    if (command != &app) {
        names.clear();
    }
    for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    for (int i = command == &app ? 1 : 2; i < argc; ++i) {
        std::string word = argv[i];
        word = word.substr(0, word.find('='));
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

int main_program(int argc, char** argv) {
    install_interrupt_handler();
    const experiment::Components components = experiment::builtin_components();
    int exit_code = kDone;
    CLI::App app("astrolabe: co-design of DLRM training and the network that carries it", "astrolabe");
    app.require_subcommand(1);
    app.set_version_flag("--version", "astrolabe " ASTROLABE_VERSION);
    add_run_command(app, components, exit_code);
    add_validate_command(app, components, exit_code);
    add_collective_command(app, components, exit_code);
    add_list_command(app, components, exit_code);
    add_describe_command(app, components, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        print_error(fmt::format("astrolabe: {}\n{}", error.what(), usage_hint(app, argc, argv)));
        return kWrongUsage;
    }
    return exit_code;
}

}  // namespace
}  // namespace astrolabe::cli

int main(int argc, char** argv) {
    try {
        return astrolabe::cli::main_program(argc, argv);
    } catch (const std::bad_alloc&) {
        astrolabe::cli::print_error("astrolabe: out of memory; take fewer ranks or chunks\n");
    } catch (const std::exception& defect) {
        astrolabe::cli::print_error(
            fmt::format("astrolabe: a defect of the program, please report it: {}\n", defect.what()));
    }
    return astrolabe::cli::kSimulationFailed;
}
