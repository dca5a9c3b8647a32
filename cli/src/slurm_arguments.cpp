#include "commands.hpp"
#include "sweep_arguments.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::cli {
namespace {

/// What the command line changes in the study's section, as if it were written there.
ConfigNode given_keys(const SweepArguments& arguments) {
    ConfigNode node = ConfigNode::mapping();
    const auto set = [&](const char* key, const std::optional<std::string>& text) {
        if (text) {
            node.set(key, ConfigNode::scalar(*text));
        }
    };
    set("tasks", arguments.slurm.tasks);
    set("jobs", arguments.jobs > 0 ? std::optional(std::to_string(arguments.jobs)) : std::nullopt);
    set("partition", arguments.slurm.partition);
    set("account", arguments.slurm.account);
    set("time", arguments.slurm.time);
    set("memory", arguments.memory.empty() ? std::nullopt : std::optional(arguments.memory));
    std::vector<ConfigNode> options;
    for (const std::string& option : arguments.slurm.sbatch) {
        options.push_back(ConfigNode::scalar(option));
    }
    if (!options.empty()) {
        node.set("sbatch", ConfigNode::sequence(std::move(options)));
    }
    return node;
}

template <class T>
void replace(std::optional<T>& value, std::optional<T> given) {
    if (given) {
        value = std::move(given);
    }
}

}  // namespace

study::SlurmOptions slurm_options(const SweepArguments& arguments, const study::Study& study) {
    ReadContext context;
    const ConfigNode keys = given_keys(arguments);
    study::SlurmOptions given = study::slurm_schema().read(keys, context).value_or(study::SlurmOptions{});
    study::SlurmOptions options = study.slurm;
    options.tasks = keys.find("tasks") != nullptr ? given.tasks : options.tasks;
    options.jobs = keys.find("jobs") != nullptr ? given.jobs : options.jobs;
    replace(options.partition, std::move(given.partition));
    replace(options.account, std::move(given.account));
    replace(options.time, given.time);
    replace(options.memory, given.memory);
    options.sbatch.insert(options.sbatch.end(), given.sbatch.begin(), given.sbatch.end());
    return options;
}

std::optional<study::TaskName> parse_task(const std::string& text) {
    study::TaskName name;
    const char* end = text.data() + text.size();
    const auto [colon, first] = std::from_chars(text.data(), end, name.submission);
    if (first != std::errc() || colon == end || *colon != ':') {
        return std::nullopt;
    }
    const auto [last, second] = std::from_chars(colon + 1, end, name.task);
    return second == std::errc() && last == end ? std::optional(name) : std::nullopt;
}

void add_slurm_options(CLI::App& command, SlurmArguments& arguments) {
    const auto add = [&](const char* name, std::optional<std::string>& value, const char* help,
                         const char* type) {
        command.add_option(name, value, help)->type_name(type)->group("On Slurm");
    };
    add("--tasks", arguments.tasks, "of the array, at most (default: slurm.tasks of the study, 16)", "N");
    add("--partition", arguments.partition, "where tasks run", "NAME");
    add("--account", arguments.account, "the account they are charged to", "NAME");
    add("--time", arguments.time, "wall time of a task: 2h", "TIME");
    add_repeatable_option(command, "--sbatch", arguments.sbatch,
                          "another option of sbatch: --sbatch=--qos=long (repeatable)", "OPTION")
        ->group("On Slurm");
    command.add_flag("--wait", arguments.wait, "until the array has ended, and table its results")
        ->group("On Slurm");
    command.add_option("--task", arguments.task)->group("");  // for batch scripts
}

int check_launcher(const SweepArguments& arguments) {
    const SlurmArguments& slurm = arguments.slurm;
    if (slurm.task && !parse_task(*slurm.task)) {
        return wrong_usage(fmt::format("--task: '{}' is no task of a submission", *slurm.task),
                           "it is for batch scripts of --launcher slurm to write");
    }
    if (arguments.is_for_slurm()) {
        if (!arguments.shard.empty()) {
            return wrong_usage("--shard: an array has shares of its own",
                               "choose --shard or --launcher slurm");
        }
        if (arguments.status && slurm.wait) {
            return wrong_usage("--wait: --status submits nothing to wait for", "leave out one of them");
        }
        ReadContext context;
        static_cast<void>(study::slurm_schema().read(given_keys(arguments), context));
        if (context.error_count() > 0) {
            const Diagnostic& error = context.errors().front();
            return wrong_usage("for Slurm: " + error.message, error.hint);
        }
        return kDone;
    }
    const std::pair<const char*, bool> options[] = {
        {"--tasks", slurm.tasks.has_value()},     {"--partition", slurm.partition.has_value()},
        {"--account", slurm.account.has_value()}, {"--time", slurm.time.has_value()},
        {"--sbatch", !slurm.sbatch.empty()},      {"--wait", slurm.wait}};
    for (const auto& [name, is_given] : options) {
        if (is_given) {
            return wrong_usage(fmt::format("{}: only Slurm knows what to do with it", name),
                               "add --launcher slurm, or leave it out");
        }
    }
    return kDone;
}

}  // namespace astrolabe::cli
