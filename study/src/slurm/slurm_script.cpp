#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/study/slurm/slurm.hpp>

namespace astrolabe::study {
namespace {

/// Names of studies may have lines, those of jobs may not.
std::string in_a_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '_');
    return text;
}

/// For sbatch, which reads a line of options much as a shell does.
std::string for_sbatch(const std::string& option) {
    const bool is_plain = std::all_of(option.begin(), option.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("-_./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (is_plain) {
        return option;
    }
    std::string text = "\"";
    for (const char c : option) {
        text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    }
    return text + "\"";
}

/// For a shell.
std::string for_shell(std::string_view text) {
    std::string all = "'";
    for (const char c : text) {
        all += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return all + "'";
}

/// Days, hours, minutes and seconds, none left out.
std::string slurm_time(Time time) {
    const std::int64_t seconds = (time.count() + kPicosecondsPerSecond - 1) / kPicosecondsPerSecond;
    return fmt::format("{}-{:02}:{:02}:{:02}", seconds / 86'400, seconds / 3'600 % 24, seconds / 60 % 60,
                       seconds % 60);
}

std::string mebibytes(Bytes size) {
    constexpr std::int64_t kMebibyte = 1 << 20;
    return fmt::format("{}M", size.count() / kMebibyte + (size.count() % kMebibyte > 0 ? 1 : 0));
}

}  // namespace

std::vector<std::vector<std::size_t>> divide(std::span<const double> costs, std::size_t shares) {
    ASTROLABE_ASSERT(shares >= 1, "points are divided among one task or more");
    std::vector<std::size_t> order(costs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
    std::vector<std::vector<std::size_t>> divided(std::min(shares, costs.size()));
    std::vector<double> loads(divided.size(), 0);
    for (const std::size_t place : order) {
        std::size_t least = 0;
        for (std::size_t i = 1; i < divided.size(); ++i) {
            if (loads[i] < loads[least] ||
                (loads[i] == loads[least] && divided[i].size() < divided[least].size())) {
                least = i;
            }
        }
        loads[least] += costs[place];
        divided[least].push_back(place);
    }
    return divided;
}

std::vector<std::string> batch_options(const std::string& study, const SlurmOptions& options,
                                       std::size_t tasks) {
    std::vector<std::string> all{"--job-name=" + in_a_line(study),
                                 fmt::format("--array=1-{}", tasks),
                                 "--nodes=1",
                                 "--ntasks=1",
                                 fmt::format("--cpus-per-task={}", options.jobs),
                                 "--requeue",
                                 "--output=task-%a.log",
                                 "--open-mode=append"};
    if (options.partition) {
        all.push_back("--partition=" + *options.partition);
    }
    if (options.account) {
        all.push_back("--account=" + *options.account);
    }
    if (options.time) {
        all.push_back("--time=" + slurm_time(*options.time));
    }
    if (options.memory) {
        all.push_back("--mem=" + mebibytes(*options.memory));
    }
    all.insert(all.end(), options.sbatch.begin(), options.sbatch.end());
    return all;
}

std::string batch_script(const std::vector<std::string>& options, const TaskCommand& command,
                         std::size_t number) {
    std::string text = "#!/bin/sh\n";
    for (const std::string& option : options) {
        text += "#SBATCH " + for_sbatch(option) + "\n";
    }
    text += "cd -- " + for_shell(command.directory.string()) + " || exit\nexec";
    for (const std::string& word : command.words) {
        text += " " + for_shell(word);
    }
    return text + fmt::format(" --task \"{}:$SLURM_ARRAY_TASK_ID\"\n", number);
}

}  // namespace astrolabe::study
