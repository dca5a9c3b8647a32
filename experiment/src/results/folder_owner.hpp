/// The lock of a run on its folder, and what the folder has of this run and of the one before.
///
/// The lock is on the folder itself (flock(2)), so that it leaves nothing there. When the first file of a run
/// is about to get its name, the files of the run before move into `.astrolabe-earlier`, the summary first.
/// Each file of this run is listed in `.astrolabe-run` before it has its name; the summary is the last. Then
/// what moved aside is removed, and the list. A run that ends without its summary puts everything back; so
/// does the next one where it was killed. So of a folder without a summary of a run, what is listed goes and
/// what is aside comes back, and of one with it what is aside goes. Only names that runs use are ever
/// touched, whatever a summary or the list has.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::experiment {

class FolderOwner {
public:
    static constexpr const char* kListName = ".astrolabe-run";
    static constexpr const char* kAsideName = ".astrolabe-earlier";

    /// Waits up to `patience` for an owner that is about to end. `holds_run`: the files are a run's, and
    /// replace those of the run before; else none of it is touched. Precondition: the folder is there.
    [[nodiscard]] static Result<std::shared_ptr<FolderOwner>> take(const std::filesystem::path& folder,
                                                                   bool holds_run,
                                                                   std::chrono::milliseconds patience);
    FolderOwner(const FolderOwner&) = delete;
    FolderOwner& operator=(const FolderOwner&) = delete;
    ~FolderOwner();

    /// Before the first file has its name: the folder still is this run's, and the earlier run's files are
    /// aside.
    [[nodiscard]] std::optional<Diagnostic> begin();
    /// Of an owner that is no run: that none of these names is of a file of the run in the folder.
    [[nodiscard]] std::optional<Diagnostic> check_names(const std::vector<std::string>& names) const;
    /// Before each file has its name.
    [[nodiscard]] std::optional<Diagnostic> before_naming(const std::string& name);
    void named(const std::string& name, const WrittenFile& file) { files_.insert_or_assign(name, file); }
    /// All is there: of a run, what is aside goes; of others, the hidden names that killed processes had given
    /// to files of these names.
    void mark_whole();

    [[nodiscard]] const std::map<std::string, WrittenFile>& files() const { return files_; }
    [[nodiscard]] std::string warning() const;

private:
    FolderOwner(std::filesystem::path folder, int descriptor, bool holds_run)
        : folder_(std::move(folder)),
          descriptor_(descriptor),
          holds_run_(holds_run) {}

    /// That the folder has its name still: else it was removed or replaced.
    [[nodiscard]] std::optional<Diagnostic> check_is_there() const;
    /// Adds lines to the list.
    [[nodiscard]] std::optional<Diagnostic> note(const std::string& names) const;
    /// Whether there is a summary of a run, and the files that it lists, itself included.
    [[nodiscard]] std::optional<std::set<std::string>> summed_up_files() const;
    [[nodiscard]] std::set<std::string> listed_files() const;
    /// After a run that was killed, or did not become whole: one whole run, or none.
    [[nodiscard]] std::optional<Diagnostic> recover() const;
    [[nodiscard]] std::optional<Diagnostic> move_aside(const std::set<std::string>& names) const;

    std::filesystem::path folder_;
    int descriptor_;  ///< of the folder
    bool holds_run_;
    bool is_locked_ = true;
    bool is_begun_ = false;
    bool is_open_ = false;        ///< files have moved aside or have names, and the run is not whole
    pid_t process_ = ::getpid();  ///< a copy in a child is no owner
    std::map<std::string, WrittenFile> files_;
};

}  // namespace astrolabe::experiment
