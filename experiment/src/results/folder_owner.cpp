#include "folder_owner.hpp"

#include "file_sets.hpp"
#include "output_error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/core/limits.hpp>

namespace astrolabe::experiment {
namespace {

constexpr std::chrono::milliseconds kPauseForLock{10};
constexpr std::string_view kSummaryName = "summary.json";

/// All that runs and searches call their files.
constexpr std::array<std::string_view, 19> kFilesOfRuns{
    kSummaryName,       "resolved.yaml",  "operations.csv",     "critical_path.csv",
    "links.csv",        "jobs.csv",       "traffic_matrix.csv", "traffic_by_switch.csv",
    "flows.csv",        "throughput.csv", "carried.csv",        "traffic_by_server.csv",
    "queues.csv",       "timeline.json",  "timeline.json.gz",   "iterations.csv",
    "interference.csv", "best.yaml",      "trace.csv"};

/// A file in the folder itself, or in that of a job: jobs/NAME/FILE.
bool is_of_runs(const std::string& name) {
    const std::filesystem::path path(name);
    std::vector<std::string> parts;
    for (const std::filesystem::path& part : path) {
        parts.push_back(part.string());
    }
    const bool is_of_job = parts.size() == 3 && parts[0] == "jobs" && parts[1] != ".." && parts[1] != ".";
    return (parts.size() == 1 || is_of_job) &&
           std::find(kFilesOfRuns.begin(), kFilesOfRuns.end(), parts.back()) != kFilesOfRuns.end();
}

bool is_all_of(std::string_view text, std::string_view letters) {
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

/// The hidden name that a file has before its own, ".links.csv-123".
struct HiddenName {
    std::string file;
    std::string process;
};

std::optional<HiddenName> hidden_name(const std::string& name) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos || !name.starts_with('.') ||
        !is_all_of(std::string_view(name).substr(dash + 1), "0123456789")) {
        return std::nullopt;
    }
    return HiddenName{name.substr(1, dash - 1), name.substr(dash + 1)};
}

/// A try to write: ".probe-123-89abcdef".
bool is_probe(const std::string& name) {
    constexpr std::string_view kProbe = ".probe-";
    const std::size_t dash = name.rfind('-');
    return name.starts_with(kProbe) && dash > kProbe.size() &&
           is_all_of(std::string_view(name).substr(kProbe.size(), dash - kProbe.size()), "0123456789") &&
           name.size() - dash == 9 && is_all_of(std::string_view(name).substr(dash + 1), "0123456789abcdef");
}

/// What a process that was killed left of a file of a run, or of a try to write; not what this process has.
bool is_left_over(const std::string& name) {
    if (is_probe(name)) {
        return true;
    }
    const std::optional<HiddenName> hidden = hidden_name(name);
    return hidden && is_of_runs(hidden->file) && hidden->process != std::to_string(::getpid());
}

/// Removes the files and links in a folder whose names are such.
template <class Predicate>
void remove_files(const std::filesystem::path& folder, const Predicate& is_such) {
    std::error_code failed;
    std::vector<std::filesystem::path> found;
    for (std::filesystem::directory_iterator entries(folder, failed);
         !failed && entries != std::filesystem::directory_iterator(); entries.increment(failed)) {
        if (is_such(entries->path().filename().string())) {
            found.push_back(entries->path());
        }
    }
    for (const std::filesystem::path& file : found) {
        ::unlink(file.c_str());
    }
}

void remove_left_overs(const std::filesystem::path& folder) {
    remove_files(folder, is_left_over);
}

/// Whether a process of this machine has that number.
bool is_alive(const std::string& digits) {
    pid_t process = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), process);
    return error == std::errc() && process > 0 && (::kill(process, 0) == 0 || errno != ESRCH);
}

bool is_real_folder(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(std::filesystem::symlink_status(path, ignored));
}

/// Whether all folders between `folder` and the file are folders, and no links to others.
bool has_real_parents(const std::filesystem::path& folder, const std::string& name) {
    std::filesystem::path parent = folder;
    for (const std::filesystem::path& part : std::filesystem::path(name).parent_path()) {
        parent /= part;
        if (!is_real_folder(parent)) {
            return false;
        }
    }
    return true;
}

/// The folders of a job that are empty.
void remove_empty_parents(const std::filesystem::path& folder, const std::string& name) {
    std::filesystem::path parent = (folder / name).parent_path();
    for (; parent != folder && ::rmdir(parent.c_str()) == 0; parent = parent.parent_path()) {
    }
}

/// Removes a file or a link. 0, or the error number.
int remove_of_run(const std::filesystem::path& folder, const std::string& name) {
    if (!has_real_parents(folder, name)) {
        return 0;
    }
    const std::filesystem::path file = folder / name;
    if (file.parent_path() != folder) {
        remove_left_overs(file.parent_path());
    }
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
        return errno;
    }
    remove_empty_parents(folder, name);
    return 0;
}

/// Moves a file or a link to the same name below another folder, where it replaces one. 0, or the error
/// number.
int move_of_run(const std::filesystem::path& from, const std::filesystem::path& to, const std::string& name) {
    if (!has_real_parents(from, name)) {
        return 0;
    }
    std::error_code failed;
    std::filesystem::create_directories((to / name).parent_path(), failed);
    if (!has_real_parents(to, name)) {
        return failed ? failed.value() : ENOTDIR;
    }
    if (::rename((from / name).c_str(), (to / name).c_str()) != 0 && errno != ENOENT) {
        return errno;
    }
    remove_empty_parents(from, name);
    return 0;
}

/// Files of runs in a folder and in those of its jobs.
std::set<std::string> files_of_runs_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator entries(folder, failed);
         !failed && entries != std::filesystem::recursive_directory_iterator(); entries.increment(failed)) {
        const std::string name = entries->path().lexically_relative(folder).string();
        if (is_of_runs(name)) {
            names.insert(name);
        }
    }
    return names;
}

/// On network file systems a folder cannot be locked, or nothing can.
bool has_no_locks(int error) {
    return error == EBADF || error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

/// "process 123", of this machine, that holds a lock on this file; "another run" where the system does not
/// say.
std::string holder_of(int descriptor) {
    struct stat status {};
    std::ifstream locks("/proc/locks");
    if (::fstat(descriptor, &status) == 0) {
        // "1: FLOCK  ADVISORY  WRITE 123 08:01:4711 0 EOF"
        const std::string inode = fmt::format(":{}", status.st_ino);
        for (std::string line; std::getline(locks, line);) {
            std::istringstream words(line);
            std::string number;
            std::string kind;
            std::string advice;
            std::string access;
            std::string process;
            std::string file;
            words >> number >> kind >> advice >> access >> process >> file;
            if (kind == "FLOCK" && file.ends_with(inode)) {
                return "process " + process;
            }
        }
    }
    return "another run";
}

Diagnostic in_use(const std::filesystem::path& folder, int descriptor) {
    return {"output.in-use",
            {},
            fmt::format("'{}' is being written by {}", folder.string(), holder_of(descriptor)),
            "choose another folder, or wait for that run to end",
            {}};
}

}  // namespace

Result<std::shared_ptr<FolderOwner>> FolderOwner::take(const std::filesystem::path& folder, bool holds_run,
                                                       std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return output_error(folder, errno);
    }
    std::shared_ptr<FolderOwner> owner(new FolderOwner(folder, descriptor, holds_run));
    while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;
        if (has_no_locks(error)) {
            owner->is_locked_ = false;
            break;
        }
        if (error != EWOULDBLOCK && error != EINTR) {
            return output_error(folder, error);
        }
        if (std::chrono::steady_clock::now() >= end) {
            return in_use(folder, descriptor);
        }
        std::this_thread::sleep_for(kPauseForLock);
    }
    if (std::optional<Diagnostic> gone = owner->check_is_there()) {
        return *std::move(gone);
    }
    return owner;
}

FolderOwner::~FolderOwner() {
    if (is_open_ && process_ == ::getpid() && !check_is_there()) {
        static_cast<void>(recover());  // else the next run does
    }
    ::close(descriptor_);
}

std::optional<Diagnostic> FolderOwner::check_is_there() const {
    struct stat open {};
    struct stat named {};
    if (::fstat(descriptor_, &open) == 0 && ::stat(folder_.c_str(), &named) == 0 &&
        open.st_dev == named.st_dev && open.st_ino == named.st_ino) {
        return std::nullopt;
    }
    return Diagnostic{"output.gone",
                      {},
                      fmt::format("'{}' was removed or replaced while the run went on", folder_.string()),
                      "run again, and leave its folder where it is until then",
                      {}};
}

std::optional<Diagnostic> FolderOwner::note(const char* list_name, const std::string& lines) const {
    constexpr int kToAppend = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const std::filesystem::path file = folder_ / list_name;
    std::string text;
    int list = ::openat(descriptor_, list_name, kToAppend, 0644);
    if (list < 0 && errno == EACCES && std::string_view(list_name) == kSetsName) {
        // Another user's, of an earlier report: replaced, as all files in a folder of several users are.
        for (const ListedFile& earlier : files_of_sets_in(file)) {
            text += line_of(earlier);
        }
        if (::unlinkat(descriptor_, list_name, 0) == 0) {
            list = ::openat(descriptor_, list_name, kToAppend | O_EXCL, 0644);
        }
    }
    if (list < 0) {
        return output_error(file, errno);
    }
    text += lines;
    const ssize_t count = ::write(list, text.data(), text.size());
    const int error = count < 0 ? errno : count == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
    ::close(list);
    return error == 0 ? std::nullopt : std::optional(output_error(file, error));
}

Result<std::string> FolderOwner::end_set() const {
    std::string list;
    for (const ListedFile& file : files_of_sets_in(folder_ / kSetsName)) {
        if (files_.contains(file.name)) {
            continue;  // written anew, whoever had it
        }
        if (file.set != set_) {
            list += line_of(file);
        } else if (const int error = remove_as_listed(folder_, file); error != 0) {
            return output_error(folder_ / file.name, error);
        }
    }
    for (const auto& [name, written] : files_) {
        list += line_of({.set = set_, .name = name, .written = written});
    }
    return list;
}

void FolderOwner::mark_whole() {
    if (holds_run_) {
        is_open_ = false;
        static_cast<void>(recover());  // with a summary of a run in its place; else the next run does
        return;
    }
    // What a process that was killed left of these files: only their owner knows what they are called.
    remove_files(folder_, [this](const std::string& name) {
        const std::optional<HiddenName> hidden = hidden_name(name);
        return hidden && (files_.contains(hidden->file) || hidden->file == kSetsName) &&
               !is_alive(hidden->process);
    });
}

std::optional<Diagnostic> FolderOwner::check_summary_size() const {
    const std::filesystem::path file = folder_ / kSummaryName;
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(file, failed);
    if (failed || size <= limits::kTotalBytes) {
        return std::nullopt;
    }
    return Diagnostic{
        "output.summary",
        {},
        fmt::format("'{}' has {} bytes, expected at most {}", file.string(), size, limits::kTotalBytes),
        "choose another folder, or move that run elsewhere",
        {}};
}

std::optional<std::set<std::string>> FolderOwner::summed_up_files() const {
    const std::filesystem::path file = folder_ / kSummaryName;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, ignored))) {
        return std::nullopt;
    }
    std::ifstream stream(file, std::ios::binary);
    const auto summary = parse_json<nlohmann::json>(std::string(std::istreambuf_iterator<char>(stream), {}));
    const bool lists = summary.is_object() && summary.contains("files") && summary["files"].is_object();
    // That of an earlier release lists no files.
    if (!lists && !(summary.is_object() && summary.contains("fingerprint"))) {
        return std::nullopt;
    }
    std::set<std::string> names{std::string(kSummaryName)};
    if (lists) {
        for (const auto& [name, unused] : summary["files"].items()) {
            names.insert(name);
        }
    }
    std::erase_if(names, [](const std::string& name) { return !is_of_runs(name); });
    return names;
}

Result<std::set<std::string>> FolderOwner::listed_files() const {
    std::set<std::string> names;
    const std::filesystem::path file = folder_ / kListName;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(std::filesystem::symlink_status(file, ignored))) {
        const std::uintmax_t size = std::filesystem::file_size(file, ignored);
        if (size > limits::kFileBytes) {
            return Diagnostic{"output.list",
                              {},
                              fmt::format("'{}' has {} bytes, expected at most {}", file.string(), size,
                                          limits::kFileBytes),
                              "no run lists so many files: delete it, and what is left of its run",
                              {}};
        }
        std::ifstream list(file, std::ios::binary);
        for (std::string line; std::getline(list, line);) {
            if (is_of_runs(line)) {
                names.insert(line);
            }
        }
    }
    return names;
}

std::optional<Diagnostic> FolderOwner::recover() const {
    const std::filesystem::path aside = folder_ / kAsideName;
    // This owner knows of its own summary without reading it.
    const bool is_own = !is_open_ && files_.contains(std::string(kSummaryName));
    if (std::optional<Diagnostic> refused = is_own ? std::nullopt : check_summary_size()) {
        return refused;
    }
    const bool is_whole = is_own || summed_up_files().has_value();
    if (!is_whole) {
        const Result<std::set<std::string>> listed = listed_files();
        if (!listed) {
            return listed.error().front();
        }
        for (const std::string& name : *listed) {
            if (const int error = remove_of_run(folder_, name); error != 0) {
                return output_error(folder_ / name, error);
            }
        }
    }
    if (is_real_folder(aside)) {
        const std::set<std::string> names = files_of_runs_in(aside);
        if (!is_whole) {
            ::unlinkat(descriptor_, kListName, 0);  // what comes back is not this list's
        }
        // The summary last: with it the run is whole.
        for (const bool is_summary : {false, true}) {
            for (const std::string& name : names) {
                if ((name == kSummaryName) == is_summary) {
                    const int error =
                        is_whole ? remove_of_run(aside, name) : move_of_run(aside, folder_, name);
                    if (error != 0) {
                        return output_error(folder_ / name, error);
                    }
                }
            }
        }
        ::rmdir(aside.c_str());
    }
    ::unlinkat(descriptor_, kListName, 0);
    return std::nullopt;
}

std::optional<Diagnostic> FolderOwner::move_aside(const std::set<std::string>& names) const {
    const std::filesystem::path aside = folder_ / kAsideName;
    if (::mkdir(aside.c_str(), 0755) != 0 && !(errno == EEXIST && is_real_folder(aside))) {
        return output_error(aside, errno);
    }
    // The summary first: without it nobody takes the others for a run.
    for (const bool is_summary : {true, false}) {
        for (const std::string& name : names) {
            if ((name == kSummaryName) == is_summary) {
                if (const int error = move_of_run(folder_, aside, name); error != 0) {
                    return output_error(folder_ / name, error);
                }
            }
        }
    }
    return std::nullopt;
}

std::optional<Diagnostic> FolderOwner::begin() {
    if (std::optional<Diagnostic> gone = check_is_there(); gone || is_begun_ || !holds_run_) {
        return gone;
    }
    if (std::optional<Diagnostic> error = recover()) {
        return error;
    }
    remove_left_overs(folder_);
    is_open_ = true;
    if (const std::optional<std::set<std::string>> names = summed_up_files()) {
        if (std::optional<Diagnostic> error = move_aside(*names)) {
            return error;
        }
    }
    is_begun_ = true;
    return std::nullopt;
}

std::optional<Diagnostic> FolderOwner::check_names(const std::vector<std::string>& names) const {
    if (holds_run_ || std::none_of(names.begin(), names.end(), is_of_runs)) {
        return std::nullopt;
    }
    if (std::optional<Diagnostic> refused = check_summary_size()) {
        return refused;
    }
    if (const std::optional<std::set<std::string>> of_run = summed_up_files()) {
        for (const std::string& name : names) {
            if (of_run->contains(name)) {
                return Diagnostic{"output.of-run",
                                  {},
                                  fmt::format("'{}' is a file of the run in that folder, which is kept",
                                              (folder_ / name).string()),
                                  "choose another folder, such as one below it",
                                  {}};
            }
        }
    }
    return std::nullopt;
}

std::optional<Diagnostic> FolderOwner::check_parents(const std::string& name) const {
    std::filesystem::path parent = folder_;
    for (const std::filesystem::path& part : std::filesystem::path(name).parent_path()) {
        parent /= part;
        std::error_code ignored;
        if (std::filesystem::is_symlink(std::filesystem::symlink_status(parent, ignored))) {
            return Diagnostic{"output.linked-folder",
                              {},
                              fmt::format("'{}' is a link, and what it leads to is not of this folder: "
                                          "expected a folder, or nothing",
                                          parent.string()),
                              "remove the link, or choose another folder",
                              {}};
        }
    }
    return std::nullopt;
}

std::optional<Diagnostic> FolderOwner::before_naming(const std::string& name, const WrittenFile& file) {
    if (std::optional<Diagnostic> refused = begin()) {
        return refused;
    }
    if (std::optional<Diagnostic> refused = check_parents(name)) {
        return refused;
    }
    if (!holds_run_) {
        std::optional<Diagnostic> refused = check_names({name});
        return refused || set_.empty()
                   ? refused
                   : note(kSetsName, line_of({.set = set_, .name = name, .written = file}));
    }
    if (!is_of_runs(name)) {
        return std::nullopt;
    }
    // What no summary of a run had, such as a file of the user's, comes back likewise where this run fails.
    struct stat status {};
    if (files_.count(name) == 0 && ::lstat((folder_ / name).c_str(), &status) == 0) {
        if (std::optional<Diagnostic> error = move_aside({name})) {
            return error;
        }
    }
    return note(kListName, name + "\n");
}

std::string FolderOwner::warning() const {
    return is_locked_
               ? ""
               : fmt::format(
                     "the file system of '{}' does not lock folders: see that no other run writes there",
                     folder_.string());
}

}  // namespace astrolabe::experiment
