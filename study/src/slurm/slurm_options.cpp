#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include <astrolabe/study/slurm/slurm_options.hpp>

namespace astrolabe::study {
namespace {

constexpr Time kLeastTime{kPicosecondsPerSecond};  // a second: Slurm counts no less

bool is_one_line(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

void check_name(const std::string& key, const std::optional<std::string>& name, ValidationErrors& problems) {
    if (name && (name->empty() || !is_one_line(*name))) {
        problems.push_back({key, "is empty or more than a line", "leave it out for what Slurm takes itself"});
    }
}

/// Whether an option is one of those that the script needs for itself, in either form.
bool is_taken(std::string_view option) {
    constexpr std::array<std::string_view, 9> kLong{"--array",     "--chdir",     "--output",
                                                    "--parsable",  "--wait",      "--wrap",
                                                    "--test-only", "--open-mode", "--cpus-per-task"};
    constexpr std::array<std::string_view, 5> kShort{"-a", "-D", "-o", "-W", "-c"};
    const std::string_view name = option.substr(0, option.find('='));
    const auto begins = [&](std::string_view taken) { return option.starts_with(taken); };
    return std::find(kLong.begin(), kLong.end(), name) != kLong.end() ||
           std::any_of(kShort.begin(), kShort.end(), begins);
}

ValidationErrors problems_of(const SlurmOptions& options) {
    ValidationErrors problems;
    check_name("partition", options.partition, problems);
    check_name("account", options.account, problems);
    for (const std::string& option : options.sbatch) {
        if (option.size() < 2 || option.front() != '-' || !is_one_line(option)) {
            problems.push_back({"sbatch", fmt::format("'{}' is no option of sbatch", option),
                                "write one option each: --qos=long"});
        } else if (is_taken(option)) {
            problems.push_back({"sbatch", fmt::format("'{}' is for the sweep to set", option),
                                "leave it out; tasks, jobs, time and memory have keys of their own"});
        }
    }
    return problems;
}

}  // namespace

Schema<SlurmOptions> slurm_schema() {
    Schema<SlurmOptions> schema("slurm", "what an array of tasks asks of Slurm");
    schema
        .optional("tasks", &SlurmOptions::tasks, "of the array, at most; never more than points to compute",
                  {1, 100'000})
        .optional("jobs", &SlurmOptions::jobs, "points at a time in a task, with a processor for each",
                  {1, 1024})
        .optional("partition", &SlurmOptions::partition, "unset: Slurm's default")
        .optional("account", &SlurmOptions::account, "unset: the user's default")
        .optional("time", &SlurmOptions::time, "of the wall, for a task; unset: what the partition gives",
                  {kLeastTime, {}})
        .optional("memory", &SlurmOptions::memory,
                  "for a task; what does not fit at a time waits in it; unset: what the partition gives",
                  {Bytes(1'000'000), {}})
        .list("sbatch", &SlurmOptions::sbatch, "further options of sbatch: --qos=long", false)
        .check(problems_of);
    return schema;
}

}  // namespace astrolabe::study
