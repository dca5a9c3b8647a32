/// An sbatch and an squeue that a test puts in front of PATH. Arrays are folders with a file for each task
/// that waits or runs; tasks run in the background, one after the other, or when the test says so.
#pragma once

#include "process.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace astrolabe::testing {

class FakeSlurm {
    static constexpr const char* kSbatch = R"sh(#!/bin/bash
state=$(dirname "$0")
if [ -e "$state/refuse" ]; then
    echo 'sbatch: error: invalid account' >&2
    exit 1
fi
for word; do
    case $word in
        --array=1-*) tasks=${word#--array=1-} ;;
        --chdir=*) cd "${word#--chdir=}" || exit 1 ;;
    esac
done
script=${!#}
id=$(($(cat "$state/last" 2>/dev/null || echo 100) + 1))
echo $id >"$state/last"
mkdir "$state/$id"
for ((i = 1; i <= tasks; ++i)); do echo PENDING >"$state/$id/$i"; done
if [ ! -e "$state/hold" ]; then
    for ((i = 1; i <= tasks; ++i)); do
        echo RUNNING >"$state/$id/$i"
        SLURM_ARRAY_TASK_ID=$i sh "$script" >"task-$i.log" 2>&1
        rm "$state/$id/$i"
    done </dev/null >/dev/null 2>&1 &
fi
if [ -e "$state/block" ]; then mkdir job.json; fi
if [ -e "$state/silent" ]; then touch "$state/down"; fi
if [ -e "$state/cluster" ]; then echo "$id;far"; else echo $id; fi
)sh";
    static constexpr const char* kSqueue = R"sh(#!/bin/bash
state=$(dirname "$0")
if [ -e "$state/down" ]; then
    echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2
    exit 1
fi
if [ "$SQUEUE_STATES$SQUEUE_USERS$SQUEUE_PARTITION" ]; then exit 0; fi  # none of the kind
for word; do
    case $word in
        --jobs=*) id=${word#--jobs=} ;;
        --clusters=far) cluster=far ;;
    esac
done
if [ -e "$state/cluster" ]; then
    echo 'CLUSTER: far'
    [ "$cluster" ] || id=none
fi
if [ ! -d "$state/$id" ]; then
    echo 'slurm_load_jobs error: Invalid job id specified' >&2
    exit 1
fi
for task in "$state/$id"/*; do
    if [ -e "$task" ]; then echo "$(basename "$task") $(cat "$task")"; fi
done
)sh";

public:
    explicit FakeSlurm(const std::filesystem::path& folder)
        : folder_(folder / "slurm commands"),
          path_before_(std::getenv("PATH")) {
        std::filesystem::create_directories(folder_);
        write("sbatch", kSbatch);
        write("squeue", kSqueue);
        ::setenv("PATH", (folder_.string() + ":" + path_before_).c_str(), 1);
    }
    ~FakeSlurm() { ::setenv("PATH", path_before_.c_str(), 1); }
    FakeSlurm(const FakeSlurm&) = delete;
    FakeSlurm& operator=(const FakeSlurm&) = delete;

    /// "hold": tasks wait until the test runs them; "refuse": sbatch does; "down": squeue cannot ask;
    /// "silent": not once there is an array; "block": an array cannot be noted; "cluster": arrays are on
    /// another one.
    void set(const char* name) const { std::ofstream(folder_ / name) << ""; }
    void clear(const char* name) const { std::filesystem::remove(folder_ / name); }

    /// The task has ended, as far as squeue knows.
    void end(int job, int task) const {
        std::filesystem::remove(folder_ / std::to_string(job) / std::to_string(task));
    }
    /// How many arrays were submitted.
    [[nodiscard]] int arrays() const {
        const std::string last = read_file(folder_ / "last");
        return last.empty() ? 0 : std::stoi(last) - 100;
    }

private:
    void write(const char* name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
    }

    std::filesystem::path folder_;
    std::string path_before_;
};

}  // namespace astrolabe::testing
