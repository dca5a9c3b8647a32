#include "commands.hpp"
#include "console.hpp"
#include "json_schema.hpp"
#include "sections.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/experiment/explain/network_description.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/network/analysis/graph_drawing.hpp>
#include <astrolabe/network/analysis/graph_export.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::cli {
namespace {

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
        "# Reference\n\nEvery key of an experiment file, of a search and of a price list, written by "
        "`astrolabe describe --markdown`. "
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

int list_command(const std::string& wanted, bool as_json, const std::vector<Section>& all) {
    std::vector<std::string> names;
    std::string text;
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const Section& section : all) {
        names.push_back(section.plural);
        if (!wanted.empty() && wanted != section.plural && wanted != section.name) {
            continue;
        }
        text += section.plural + "\n";
        json[section.plural] = nlohmann::ordered_json::array();
        for (const ComponentDescription& component : section.components) {
            json[section.plural].push_back({{"name", component.name}, {"help", component.help}});
        }
        std::size_t width = 20;
        for (const ComponentDescription& component : section.components) {
            width = std::max(width, component.name.size());
        }
        for (const ComponentDescription& component : section.components) {
            text += fmt::format("  {:<{}} {}\n", component.name, width, component.help);
        }
    }
    if (text.empty()) {
        print_failure(fmt::format("astrolabe list: nothing is called '{}'\n  hint: {}\n", wanted,
                                  suggest(wanted, names)));
        return kWrongUsage;
    }
    print_out(as_json ? json.dump(2) + "\n" : text);
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
        print_failure(fmt::format("astrolabe describe: nothing is called '{}'\n  hint: {}\n", wanted,
                                  suggest(wanted, names)));
        return kWrongUsage;
    }
    print_out(text);
    return kDone;
}

/// What was asked for about a file.
struct FileRequest {
    std::string path;
    std::string drawing;   ///< SVG to write; empty: none
    std::string topology;  ///< topology file to write; empty: none
    std::string costs;     ///< price list to read; empty: that built in
    bool json = false;

    [[nodiscard]] bool has_options() const {
        return json || !drawing.empty() || !topology.empty() || !costs.empty();
    }
};

/// Names have no suffix that files have.
bool is_file(const std::string& wanted) {
    return wanted.find('/') != std::string::npos || wanted.ends_with(".yaml") || wanted.ends_with(".yml");
}

Diagnostic unfit(const FileRequest& request, const char* option, std::string why, std::string hint) {
    const SourceRange where{std::make_shared<const SourceText>(SourceText{request.path, {}}), 0, 0, 1};
    return {"describe.option", where, fmt::format("{}: {}", option, why), std::move(hint), {}};
}

/// Writes what `fill` appends; nothing, or why it could not be written.
std::optional<Diagnostic> write_whole(const std::string& path,
                                      const std::function<void(experiment::OutputFile&)>& fill) {
    Result<experiment::OutputFile> file = experiment::OutputFile::create(path);
    if (!file) {
        return file.error().front();
    }
    fill(*file);
    return file->finish();
}

/// By the end of a path, or as it is named itself.
std::optional<network::GraphExport> graph_format(std::string_view path) {
    if (path == "graphml" || path.ends_with(".graphml")) {
        return network::GraphExport::kGraphml;
    }
    if (path == "dot" || path.ends_with(".dot") || path.ends_with(".gv")) {
        return network::GraphExport::kDot;
    }
    return path == "json" || path.ends_with(".json") ? std::optional(network::GraphExport::kNodeLink)
                                                     : std::nullopt;
}

/// The drawing and the topology file, as asked for; what went wrong.
Diagnostics write_files(const FileRequest& request, const network::Fabric& fabric) {
    Diagnostics errors;
    const auto note = [&errors](std::optional<Diagnostic> error) {
        if (error) {
            errors.push_back(*std::move(error));
        }
    };
    const network::NetworkFamily& family = fabric.family();
    if (!request.drawing.empty()) {
        const std::string own = family.draw();
        if (own.empty() && fabric.link_count() > 2 * network::kMostCablesDrawn) {
            note(unfit(request, "--svg",
                       fmt::format("{} cables are more than {}, which nobody could tell apart",
                                   fabric.link_count() / 2, network::kMostCablesDrawn),
                       "draw a smaller network of the same kind, or export it for another tool"));
        } else {
            const std::string drawing = own.empty() ? network::draw_graph(fabric) : own;
            note(write_whole(request.drawing, [&](experiment::OutputFile& file) { file.append(drawing); }));
        }
    }
    if (const std::optional<network::GraphExport> format = graph_format(request.topology)) {
        note(write_whole(request.topology, [&](experiment::OutputFile& file) {
            network::export_graph(fabric, *format, [&file](std::string_view piece) { file.append(piece); });
        }));
        return errors;
    }
    if (!request.topology.empty() && !family.has_file()) {
        note(unfit(
            request, "--export",
            "a topology file lists a path for each pair of racks in each superslice, and this network "
            "lacks some",
            "circuits must switch one after another and connect all racks, as with enough uplinks; the end "
            ".graphml, .dot or .json writes any network as a graph"));
    } else if (!request.topology.empty()) {
        note(write_whole(request.topology, [&](experiment::OutputFile& file) {
            family.write_file([&file](std::string_view piece) { file.append(piece); });
        }));
    }
    return errors;
}

int describe_file(const FileRequest& request, const experiment::Components& components) {
    const Result<experiment::DescribedNetwork> described = experiment::load_network(request.path, components);
    if (!described) {
        return report_invalid(described.error());
    }
    const network::Fabric& fabric = *described->fabric;
    if (request.topology == "graphml" || request.topology == "dot" || request.topology == "json") {
        network::export_graph(fabric, *graph_format(request.topology),
                              [](std::string_view piece) { print_out(std::string(piece)); });
        return kDone;
    }
    if (const Diagnostics errors = write_files(request, fabric); !errors.empty()) {
        return report_invalid(errors);
    }
    const Result<experiment::PriceFile> prices =
        request.costs.empty() ? experiment::default_prices() : experiment::load_prices(request.costs);
    if (!prices) {
        return report_invalid(prices.error());
    }
    const Result<network::NetworkCost> cost =
        experiment::network_cost(fabric, experiment::wiring_of(described->section), *prices);
    if (!cost) {
        return report_invalid(cost.error());
    }
    if (request.json) {
        nlohmann::ordered_json object = experiment::describe_json(*described);
        object["cost"] = experiment::cost_json(*cost, prices->list);
        print_out(object.dump(2) + "\n");
    } else {
        print_out(experiment::describe_text(*described) + experiment::cost_text(*cost, prices->list));
    }
    return kDone;
}

int print_json_schema(const std::vector<Section>& all, const std::string& root) {
    const nlohmann::ordered_json schema = json_schema(all, root);
    if (schema.is_null()) {
        print_failure(fmt::format("astrolabe describe --json-schema: nothing is called '{}'\n  hint: {}\n",
                                  root, suggest(root, json_schema_names(all))));
        return kWrongUsage;
    }
    print_out(schema.dump(1) + "\n");
    return kDone;
}

}  // namespace

void add_list_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto wanted = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("list", "everything that can be named in an experiment file");
    command->add_option("KIND", *wanted,
                        "workloads, devices, networks, backends, engines or algorithms; unset: all");
    const auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "the same, as JSON");
    command->footer("example: astrolabe list networks");
    command->callback([wanted, json, &components, &exit_code] {
        exit_code = list_command(*wanted, *json, sections(components));
    });
}

void add_describe_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto request = std::make_shared<FileRequest>();
    const auto all = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("describe", "a component and its parameters, or a network");
    CLI::Option* name = command->add_option(
        "NAME", request->path,
        "as `list` prints it: fat_tree, tcp, dlrm, cluster, …; or a YAML file: the network it describes");
    CLI::Option* page = command->add_flag("--markdown", *all, "the reference page of everything");
    page->excludes(name);
    const auto schema = std::make_shared<std::optional<std::string>>();
    command
        ->add_option(
            "--json-schema", *schema,
            "JSON Schema, which editors complete and check files by: of files, or of experiment, study, "
            "network, network.fat_tree, …")
        ->expected(0, 1)
        ->excludes(name)
        ->excludes(page);
    const auto of_file = [&](CLI::Option* option) { option->needs(name)->excludes(page); };
    of_file(command->add_option("--svg", request->drawing,
                                "draw a file's network: its cables, or its circuits and their schedule"));
    of_file(command->add_option(
        "--export", request->topology,
        "graphml, dot or json (networkx): print the network as a graph; or a file to write: .graphml, .dot "
        "or .json, "
        "or the topology file that the simulator of the network's authors reads, with the paths in use"));
    of_file(command->add_option("--costs", request->costs,
                                "price list that a file's network is bought from; unset: that built in, "
                                "inputs/costs/default.yaml"));
    of_file(command->add_flag("--json", request->json, "what is printed of a file, as JSON"));
    command->footer(
        "example: astrolabe describe fat_tree\n"
        "         astrolabe describe inputs/networks/opera-nsdi-648.yaml --svg rotors.svg");
    command->callback([request, all, schema, &components, &exit_code] {
        if (*schema) {
            exit_code = print_json_schema(sections(components), **schema);
        } else if (*all) {
            print_out(markdown(sections(components)));
            exit_code = kDone;
        } else if (request->path.empty()) {
            throw CLI::RequiredError("NAME");
        } else if (is_file(request->path)) {
            exit_code = describe_file(*request, components);
        } else if (request->has_options()) {
            throw CLI::ValidationError(request->path,
                                       "--svg, --export, --costs and --json are about a YAML file");
        } else {
            exit_code = describe_command(request->path, sections(components));
        }
    });
}

}  // namespace astrolabe::cli
