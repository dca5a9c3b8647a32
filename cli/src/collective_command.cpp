#include "commands.hpp"
#include "console.hpp"
#include "progress.hpp"
#include "thread_arguments.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/run/collective_run.hpp>

namespace astrolabe::cli {
namespace {

struct CollectiveArguments {
    experiment::CollectiveRequest request;
    bool json = false;
    std::size_t threads = processors();
    std::string progress = "auto";
};

int run_sizes(const CollectiveArguments& arguments, const experiment::CollectiveRun& prepared,
              ProgressReport& progress) {
    std::vector<experiment::CollectivePoint> points;
    for (std::size_t i = 0; i < prepared.size_count(); ++i) {
        points.push_back(prepared.run(i, progress.observer(i + 1), arguments.threads));
        progress.clear();
        if (const auto& measured = points.back().measured) {
            for (const experiment::RangeWarning& warning : measured->warnings) {
                print_warning(fmt::format("{}: warning: {}\n", warning.where.to_string(), warning.message));
            }
        }
        if (!points.back().run.execution.finished) {
            print_failure(fmt::format("astrolabe: the collective of {} stalled\n{}\n",
                                      arguments.request.sizes[i], points.back().run.execution.stall));
            return kSimulationFailed;
        }
    }
    if (arguments.json) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const experiment::CollectivePoint& point : points) {
            list.push_back(experiment::to_json(point));
        }
        print_out(list.dump(2) + "\n");
    } else {
        print_out(experiment::collective_table(prepared, points));
    }
    return kDone;
}

int collective_command(const CollectiveArguments& arguments, const experiment::Components& components) {
    const Result<experiment::CollectiveRun> prepared =
        experiment::CollectiveRun::prepare(arguments.request, components);
    if (!prepared) {
        return report_invalid(prepared.error());
    }
    ProgressReport progress(arguments.progress, "collective", arguments.request.kind,
                            experiment::progress_json({.iterations = 1}, 0));
    const int exit_code = run_sizes(arguments, *prepared, progress);
    progress.end(exit_code);
    return exit_code;
}

}  // namespace

void add_collective_command(CLI::App& app, const experiment::Components& components, int& exit_code) {
    const auto arguments = std::make_shared<CollectiveArguments>();
    experiment::CollectiveRequest& request = arguments->request;
    CLI::App* command = app.add_subcommand("collective", "one collective on a network, like nccl-tests");
    command
        ->add_option("--kind", request.kind,
                     "all-reduce, reduce-scatter, all-gather, all-to-all, all-to-all-v, broadcast, reduce or "
                     "point-to-point")
        ->required();
    command
        ->add_option(
            "--algorithm", request.algorithm,
            "auto, or one of astrolabe list algorithms; with keys of its own: '{algorithm: windowed_direct, "
            "window: 4}'")
        ->capture_default_str();
    command
        ->add_option("--size", request.sizes,
                     "bytes per rank, of the result for all-gather, mean for all-to-all-v; several: --size "
                     "1KiB 1MiB")
        ->required();
    command
        ->add_option("--network", request.network,
                     "file with a network section, or '{kind: flat, hosts: 8, …}'")
        ->required();
    command->add_option("--backend", request.backend, "a kind, a file, or '{kind: tcp, mtu: 9000B}'")
        ->capture_default_str();
    command->add_option("--ranks", request.ranks, "ranks that take part; unset: every host")
        ->check(CLI::Range(1U, 1U << 20));
    command->add_option("--dimensions", request.dimensions,
                        "logical dimensions, the fastest-varying first: 16x8; unset: one");
    command
        ->add_option("--imbalance", request.imbalance,
                     "all-to-all-v: bytes of the largest rank over the mean")
        ->capture_default_str();
    command
        ->add_option(
            "--chunks", request.chunks,
            "chunks it is cut in; unset: 1, or one for each ring of multi_ring, unless more are faster")
        ->check(CLI::Range(1U, 1U << 20));
    command->add_option("--active-chunks", request.active_chunks, "chunks a rank may have in flight")
        ->capture_default_str()
        ->check(CLI::Range(1U, 1U << 20));
    command
        ->add_option("--injection-latency", request.injection_latency,
                     "copy into the network interface, per message")
        ->capture_default_str();
    command->add_option("--measured", request.measured,
                        "file that `astrolabe calibrate` wrote: no size takes less time than it says");
    add_repeatable_option(*command, "--set", request.overrides,
                          "change a value: --set network.link.rate=400Gbps, algorithm.window=4, "
                          "end_point.copy_engine=serial (repeatable)");
    command->add_option("--seed", request.seed, "of all random choices")
        ->capture_default_str()
        ->check(seed_range());
    command->add_flag("--json", arguments->json, "print a list of objects on stdout instead of the table");
    add_threads_option(*command, arguments->threads);
    add_progress_option(*command, arguments->progress);
    command->footer(
        "example: astrolabe collective --kind all-reduce --algorithm ring --size 16MiB --network "
        "inputs/networks/flat100g.yaml");
    command->callback(
        [arguments, &components, &exit_code] { exit_code = collective_command(*arguments, components); });
}

}  // namespace astrolabe::cli
