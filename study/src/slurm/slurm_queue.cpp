#include "../process/tool.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/study/slurm/slurm.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

/// The state of a task in squeue's words. One that is being cleaned up after may yet be put back into the
/// queue.
TaskState state_of(std::string_view word) {
    constexpr std::array<std::string_view, 10> kEnded{"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",
                                                      "FAILED",    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
                                                      "REVOKED",   "TIMEOUT"};
    constexpr std::array<std::string_view, 7> kRunning{"RUNNING",   "COMPLETING", "RESIZING", "SIGNALING",
                                                       "STAGE_OUT", "STOPPED",    "SUSPENDED"};
    const auto is_one_of = [&](const auto& words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    return is_one_of(kEnded)     ? TaskState::kEnded
           : is_one_of(kRunning) ? TaskState::kRunning
                                 : TaskState::kPending;
}

/// "17;cluster" as a call of squeue, without what a user's environment would have it leave out.
std::vector<std::string> words_for(const std::string& job) {
    std::vector<std::string> words{"env"};
    for (const char* name :
         {"ACCOUNT", "FORMAT2", "LICENSES", "NAMES", "PARTITION", "QOS", "STATES", "USERS"}) {
        words.insert(words.end(), {"-u", std::string("SQUEUE_") + name});
    }
    const std::size_t end = job.find(';');
    words.insert(words.end(),
                 {"squeue", "--noheader", "--array", "--format=%K %T", "--jobs=" + job.substr(0, end)});
    if (end != std::string::npos) {
        words.push_back("--clusters=" + job.substr(end + 1));
    }
    return words;
}

/// Of lines "3 RUNNING"; others are headings.
std::vector<TaskState> read_queue(const std::string& text, std::size_t tasks) {
    std::vector<TaskState> states(tasks, TaskState::kEnded);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::size_t task = 0;
        const char* end = line.data() + line.size();
        const auto [blank, wrong] = std::from_chars(line.data(), end, task);
        if (wrong == std::errc() && blank != end && task >= 1 && task <= tasks) {
            states[task - 1] = state_of({blank + 1, end});
        }
    }
    return states;
}

ArrayStatus status_of(const SlurmArray& array, const std::set<std::string>& open, bool asks) {
    ArrayStatus status;
    status.job = array.job;
    status.number = array.number;
    std::vector<std::vector<std::string>> shares;  // of open points
    for (const std::vector<SharePoint>& share : array.shares) {
        std::vector<std::string>& keys = shares.emplace_back();
        for (const SharePoint& point : share) {
            if (open.count(point.resolution.key) > 0) {
                keys.push_back(point.resolution.key);
            }
        }
        status.open += keys.size();
    }
    if (status.open == 0 || !asks) {
        return status;
    }
    const Result<std::vector<TaskState>> states = ask_slurm(array);
    if (!states) {
        status.unknown = states.error().front();
        return status;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const TaskState state = (*states)[i];
        ++(state == TaskState::kPending   ? status.pending
           : state == TaskState::kRunning ? status.running
                                          : status.ended);
        if (state != TaskState::kEnded) {
            status.held += shares[i].size();
            status.held_keys.insert(shares[i].begin(), shares[i].end());
        }
    }
    return status;
}

}  // namespace

Result<std::vector<TaskState>> ask_slurm(const SlurmArray& array) {
    const ToolOutcome answer = run_tool(words_for(array.job));
    if (answer.exit_code == 0) {
        return read_queue(answer.out, array.shares.size());
    }
    if (answer.err.find("Invalid job id") != std::string::npos) {
        return std::vector<TaskState>(array.shares.size(), TaskState::kEnded);
    }
    return Diagnostic{
        "slurm.unknown",
        {},
        fmt::format("Slurm cannot be asked about array {}: {}", array.job, failure_text(answer)),
        fmt::format(
            "its tasks may or may not run: ask again where squeue works; if it is known to have ended, "
            "delete 'slurm/{}' in the folder of results",
            array.number),
        {}};
}

Result<std::vector<ArrayStatus>> slurm_status(const std::filesystem::path& folder,
                                              const std::set<std::string>& open, bool asks) {
    std::vector<ArrayStatus> found;
    if (open.empty()) {
        return found;
    }
    const Result<std::vector<SlurmArray>> arrays = slurm_arrays(folder);
    if (!arrays) {
        return arrays.error();
    }
    for (const SlurmArray& array : *arrays) {
        if (ArrayStatus status = status_of(array, open, asks); status.open > 0) {
            found.push_back(std::move(status));
        }
    }
    return found;
}

Json slurm_json(const std::vector<ArrayStatus>& arrays) {
    Json all = Json::array();
    for (const ArrayStatus& array : arrays) {
        Json one{{"job", array.job}, {"submission", array.number}, {"missing", array.open}};
        if (array.unknown) {
            one["unknown"] = array.unknown->message;
        } else {
            one["held"] = array.held;
            one["tasks"] = {{"pending", array.pending}, {"running", array.running}, {"ended", array.ended}};
        }
        all.push_back(std::move(one));
    }
    return all;
}

std::string slurm_text(const std::vector<ArrayStatus>& arrays) {
    std::string text;
    for (const ArrayStatus& array : arrays) {
        if (array.unknown) {
            text += fmt::format("array {}: {} points are missing, and Slurm cannot be asked\n", array.job,
                                array.open);
            continue;
        }
        const std::size_t lost = array.open - array.held;
        text += fmt::format("array {}: {} tasks running, {} waiting, {} ended; {} points to come{}\n",
                            array.job, array.running, array.pending, array.ended, array.held,
                            lost > 0 ? fmt::format(", {} without a task now", lost) : "");
    }
    return text;
}

}  // namespace astrolabe::study
