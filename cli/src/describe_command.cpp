#include "commands.hpp"
#include "console.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace astrolabe::cli {
namespace {

/// A named part of an experiment file and the components that can stand there.
struct Section {
    std::string name;    ///< "network"
    std::string plural;  ///< what `list` takes
    std::vector<ComponentDescription> components;
};

std::vector<Section> sections(const experiment::Components& components) {
    return {{"file",
             "files",
             {experiment::experiment_description(), experiment::cluster_description(components)}},
            {"workload", "workloads", components.workloads.descriptions()},
            {"device", "devices", components.devices.descriptions()},
            {"network", "networks", components.networks.descriptions()},
            {"backend", "backends", components.backends.descriptions()},
            {"algorithm", "algorithms", components.algorithms.descriptions()}};
}

std::string parameter_lines(const std::vector<ParameterDescriptor>& parameters, int depth) {
    std::string text;
    for (const ParameterDescriptor& parameter : parameters) {
        std::string value = parameter.required ? "required" : "default " + parameter.default_value;
        if (!parameter.range.empty()) {
            value += ", " + parameter.range;
        }
        text += fmt::format("{:{}}{}: {} ({})\n{:{}}{}\n", "", depth * 4, parameter.key, parameter.type,
                            value, "", depth * 4 + 4, parameter.help);
        text += parameter_lines(parameter.parameters, depth + 1);
    }
    return text;
}

std::string markdown_rows(const std::vector<ParameterDescriptor>& parameters, const std::string& prefix) {
    std::string text;
    for (const ParameterDescriptor& parameter : parameters) {
        text += fmt::format("| `{}{}` | {} | {} | {} | {} |\n", prefix, parameter.key, parameter.type,
                            parameter.required ? "required" : fmt::format("`{}`", parameter.default_value),
                            parameter.range, parameter.help);
        text += markdown_rows(parameter.parameters, prefix + parameter.key + ".");
    }
    return text;
}

/// The reference page, docs/reference.md.
std::string markdown(const std::vector<Section>& all) {
    std::string text =
        "# Reference\n\nEvery key of an experiment file, written by `astrolabe describe --markdown`. "
        "Quantities are texts with a\n"
        "unit (`100Gbps`, `1us`, `64MiB`, `60TFLOPS`), counts are plain integers.\n";
    for (const Section& section : all) {
        text += fmt::format("\n## {}\n", section.plural);
        for (const ComponentDescription& component : section.components) {
            text += fmt::format("\n### {}\n\n{}.\n", component.name, component.help);
            if (!component.parameters.empty()) {
                text += "\n| key | type | default | range | meaning |\n|---|---|---|---|---|\n" +
                        markdown_rows(component.parameters, "");
            }
        }
    }
    return text;
}

int list_command(const std::string& wanted, const std::vector<Section>& all) {
    std::vector<std::string> names;
    std::string text;
    for (const Section& section : all) {
        names.push_back(section.plural);
        if (!wanted.empty() && wanted != section.plural && wanted != section.name) {
            continue;
        }
        text += section.plural + "\n";
        for (const ComponentDescription& component : section.components) {
            text += fmt::format("  {:<20} {}\n", component.name, component.help);
        }
    }
    if (text.empty()) {
        print_error(fmt::format("astrolabe list: nothing is called '{}'\n  hint: {}\n", wanted,
                                suggest(wanted, names)));
        return kWrongUsage;
    }
    print_out(text);
    return kDone;
}

int describe_command(const std::string& wanted, const std::vector<Section>& all) {
    std::vector<std::string> names;
    std::string text;
    for (const Section& section : all) {
        for (const ComponentDescription& component : section.components) {
            names.push_back(component.name);
            const std::string qualified = section.name + "." + component.name;
            if (wanted == component.name || wanted == qualified) {
                text += fmt::format("{}: {}\n{}", qualified, component.help,
                                    parameter_lines(component.parameters, 1));
            }
        }
    }
    if (text.empty()) {
        print_error(fmt::format("astrolabe describe: nothing is called '{}'\n  hint: {}\n", wanted,
                                suggest(wanted, names)));
        return kWrongUsage;
    }
    print_out(text);
    return kDone;
}

}  // namespace

void add_list_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto wanted = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("list", "everything that can be named in an experiment file");
    command->add_option("KIND", *wanted, "workloads, devices, networks, backends or algorithms; unset: all");
    command->footer("example: astrolabe list networks");
    command->callback(
        [wanted, &components, &exit_code] { exit_code = list_command(*wanted, sections(components)); });
}

void add_describe_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto wanted = std::make_shared<std::string>();
    const auto all = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("describe", "a component and its parameters");
    CLI::Option* name =
        command->add_option("NAME", *wanted, "as `list` prints it: fat_tree, tcp, dlrm, cluster, …");
    CLI::Option* page = command->add_flag("--markdown", *all, "the reference page of everything");
    page->excludes(name);
    command->footer("example: astrolabe describe fat_tree");
    command->callback([wanted, all, &components, &exit_code] {
        if (*all) {
            print_out(markdown(sections(components)));
            exit_code = kDone;
        } else if (wanted->empty()) {
            throw CLI::RequiredError("NAME");
        } else {
            exit_code = describe_command(*wanted, sections(components));
        }
    });
}

}  // namespace astrolabe::cli
