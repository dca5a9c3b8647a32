/// `astrolabe completion`: what shells and `man` know of the program, written from its own options.
#include "commands.hpp"
#include "console.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace astrolabe::cli {
namespace {

struct KnownOption {
    std::vector<std::string> names;  ///< "--out", "-h"
    std::string help;
    std::vector<std::string> values;  ///< that it takes, where they are few
    bool takes_value = false;
};
struct KnownCommand {
    std::string name;
    std::string help;
    std::string footer;
    std::vector<KnownOption> options;
    std::vector<KnownOption> positionals;  ///< by one name
};

/// What stands in braces of a type: "TEXT:{auto,plain,none}".
std::vector<std::string> values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{');
    const std::size_t close = type.find('}');
    std::vector<std::string> values;
    if (open != std::string::npos && close != std::string::npos) {
        for (const std::string& value : CLI::detail::split(type.substr(open + 1, close - open - 1), ',')) {
            values.push_back(value);
        }
    }
    return values;
}

KnownCommand known(const CLI::App& app) {
    KnownCommand command{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        KnownOption one{{}, option->get_description(), values_of(*option), option->get_type_size() > 0};
        for (const std::string& name : option->get_snames()) {
            one.names.push_back("-" + name);
        }
        for (const std::string& name : option->get_lnames()) {
            one.names.push_back("--" + name);
        }
        if (one.names.empty()) {
            one.names.push_back(option->get_name());
            command.positionals.push_back(std::move(one));
        } else {
            command.options.push_back(std::move(one));
        }
    }
    return command;
}

std::vector<KnownCommand> commands_of(const CLI::App& app) {
    std::vector<KnownCommand> all;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        all.push_back(known(*command));
    }
    return all;
}

/// A text in single quotes, as POSIX shells have it.
std::string shell_quoted(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return result + "'";
}

std::string bash_script(const std::vector<KnownCommand>& commands) {
    std::string names;
    std::string cases;
    for (const KnownCommand& command : commands) {
        names += " " + command.name;
        std::string options;
        std::string values;
        for (const KnownOption& option : command.options) {
            options += fmt::format(" {}", fmt::join(option.names, " "));
            if (!option.values.empty()) {
                values +=
                    fmt::format("                {}) COMPREPLY=($(compgen -W {} -- \"$word\")); return ;;\n",
                                fmt::join(option.names, "|"),
                                shell_quoted(fmt::format("{}", fmt::join(option.values, " "))));
            }
        }
        cases += fmt::format(
            "        {})\n            case \"$before\" in\n{}            esac\n            options={} ;;\n",
            command.name, values, shell_quoted(options.empty() ? options : options.substr(1)));
    }
    return fmt::format(
        "# Completion of astrolabe for bash, written by `astrolabe completion bash`.\n"
        "_astrolabe() {{\n"
        "    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options=\n"
        "    COMPREPLY=()\n"
        "    if ((COMP_CWORD == 1)); then\n"
        "        COMPREPLY=($(compgen -W {} -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    case \"${{COMP_WORDS[1]}}\" in\n{}"
        "    esac\n"
        "    if [[ $word == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "    fi\n"
        "}}\n"
        "complete -o default -F _astrolabe astrolabe\n",
        shell_quoted(names.substr(1)), cases);
}

/// Brackets and colons have a meaning in specifications of zsh.
std::string zsh_text(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') {
            result += '\\';
        }
        result += c == '\n' ? ' ' : c;
    }
    return result;
}

std::string zsh_script(const std::vector<KnownCommand>& commands) {
    std::string names;
    std::string cases;
    for (const KnownCommand& command : commands) {
        names += fmt::format("        {}\n", shell_quoted(command.name + ":" + zsh_text(command.help)));
        std::string specs;
        for (const KnownOption& option : command.options) {
            for (const std::string& name : option.names) {
                std::string spec = fmt::format("*{}[{}]", name, zsh_text(option.help));
                if (!option.values.empty()) {
                    spec += fmt::format(":value:({})", fmt::join(option.values, " "));
                } else if (option.takes_value) {
                    spec += ":value:_files";
                }
                specs += " \\\n                " + shell_quoted(spec);
            }
        }
        cases +=
            fmt::format("        {})\n            _arguments -s{} \\\n                '*:file:_files' ;;\n",
                        command.name, specs);
    }
    return fmt::format(
        "#compdef astrolabe\n"
        "# Completion of astrolabe for zsh, written by `astrolabe completion zsh`.\n"
        "_astrolabe() {{\n"
        "    local -a commands\n"
        "    commands=(\n{}    )\n"
        "    if ((CURRENT == 2)); then\n"
        "        _describe command commands\n"
        "        return\n"
        "    fi\n"
        "    local command=$words[2]\n"
        "    shift words\n"
        "    ((CURRENT--))\n"
        "    case $command in\n{}    esac\n"
        "}}\n"
        "_astrolabe \"$@\"\n",
        names, cases);
}

std::string fish_script(const std::vector<KnownCommand>& commands) {
    std::string text =
        "# Completion of astrolabe for fish, written by `astrolabe completion fish`.\n"
        "complete -c astrolabe -n __fish_use_subcommand -f\n";
    for (const KnownCommand& command : commands) {
        text += fmt::format("complete -c astrolabe -n __fish_use_subcommand -a {} -d {}\n", command.name,
                            shell_quoted(command.help));
        for (const KnownOption& option : command.options) {
            std::string line =
                fmt::format("complete -c astrolabe -n '__fish_seen_subcommand_from {}'", command.name);
            for (const std::string& name : option.names) {
                line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            }
            if (!option.values.empty()) {
                line +=
                    fmt::format(" -x -a {}", shell_quoted(fmt::format("{}", fmt::join(option.values, " "))));
            } else if (option.takes_value) {
                line += " -r";
            }
            text += fmt::format("{} -d {}\n", line, shell_quoted(option.help));
        }
    }
    return text;
}

/// Backslashes and leading points and quotes have a meaning for roff.
std::string roff(std::string_view text) {
    std::string result;
    bool begins_line = true;
    for (const char c : text) {
        if (begins_line && (c == '.' || c == '\'')) {
            result += "\\&";
        }
        result += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
        begins_line = c == '\n';
    }
    return result;
}

std::string man_page(const CLI::App& app, const std::vector<KnownCommand>& commands) {
    std::string text = fmt::format(
        ".TH ASTROLABE 1 \"\" \"astrolabe {}\" \"User Commands\"\n"
        ".SH NAME\nastrolabe \\- co\\-design of DLRM training and the network that carries it\n"
        ".SH SYNOPSIS\n.B astrolabe\n.I COMMAND\n[\\fIFILE\\fR] [\\fIOPTION\\fR]...\n"
        ".SH DESCRIPTION\n{}.\n.SH COMMANDS\n",
        ASTROLABE_VERSION, roff(app.get_description()));
    for (const KnownCommand& command : commands) {
        std::string arguments;
        for (const KnownOption& positional : command.positionals) {
            arguments += fmt::format(" \\fI{}\\fR", roff(positional.names.front()));
        }
        text += fmt::format(".SS \"astrolabe {}\"\n.B astrolabe {}\n{} [\\fIOPTION\\fR]...\n.PP\n{}.\n",
                            command.name, command.name, arguments, roff(command.help));
        for (const KnownOption& option : command.options) {
            text += fmt::format(".TP\n.B {}\n{}\n", roff(fmt::format("{}", fmt::join(option.names, ", "))),
                                roff(option.help));
        }
        if (!command.footer.empty()) {
            text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
        }
    }
    text +=
        ".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 1\na simulation failed, or results could not be written\n"
        ".TP\n.B 2\nwrong usage\n.TP\n.B 3\ninvalid input\n.TP\n.B 4\nof several runs some failed; the "
        "others have results\n"
        ".TP\n.B 130\ninterrupted\n";
    return text;
}

int print_script(const CLI::App& app, const std::string& shell) {
    const std::vector<KnownCommand> commands = commands_of(app);
    if (shell == "bash") {
        print_out(bash_script(commands));
    } else if (shell == "zsh") {
        print_out(zsh_script(commands));
    } else if (shell == "fish") {
        print_out(fish_script(commands));
    } else {
        print_out(man_page(app, commands));
    }
    return kDone;
}

}  // namespace

void add_completion_command(CLI::App& app, int& exit_code) {
    const auto shell = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("completion", "completion for a shell, or the manual page");
    command->add_option("SHELL", *shell, "bash, zsh, fish, or man")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
    command->footer(
        "example: astrolabe completion bash > ~/.local/share/bash-completion/completions/astrolabe\n"
        "         astrolabe completion zsh > ~/.zsh/completions/_astrolabe   (a folder of $fpath)\n"
        "         astrolabe completion fish > ~/.config/fish/completions/astrolabe.fish\n"
        "         astrolabe completion man | man -l -");
    command->callback([shell, &app, &exit_code] { exit_code = print_script(app, *shell); });
}

}  // namespace astrolabe::cli
