/// The lock of a run on its folder, and what the folder has of this run and of the one before.
///
/// The lock is on the folder itself (flock(2)), so that it leaves nothing there. When the first file of a run
/// is about to get its name, the files of the run before move into `.astrolabe-earlier`, the summary first.
/// Each file of this run is listed in `.astrolabe-run` before it has its name; the summary is the last. Then
/// what moved aside is removed, and the list. A run that ends without its summary puts everything back; so
/// does the next one where it was killed. So of a folder without a summary of a run, what is listed goes and
/// what is aside comes back, and of one with it what is aside goes. Only names that runs use are ever
/// touched, whatever a summary or the list has. Of files that are no run, another list (file_sets.hpp) has
/// what the next of their set removes.
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
    /// Of files that are no run: file_sets.hpp.
    static constexpr const char* kSetsName = ".astrolabe-files";

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
    /// That no folder between this one and a file of that name is a link to another folder.
    [[nodiscard]] std::optional<Diagnostic> check_parents(const std::string& name) const;
    /// Before each file has its name.
    [[nodiscard]] std::optional<Diagnostic> before_naming(const std::string& name, const WrittenFile& file);
    void named(const std::string& name, const WrittenFile& file) { files_.insert_or_assign(name, file); }
    /// Of an owner that is no run: its files are of that set.
    void begin_set(std::string set) { set_ = std::move(set); }
    /// All files of the set are there: removes those that an earlier owner wrote of it, and this one did not.
    /// What the list of sets is to have from now on, or which file could not be removed.
    [[nodiscard]] Result<std::string> end_set() const;
    /// All is there: of a run, what is aside goes; of others, the hidden names that killed processes had
    /// given to files of these names.
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
    /// Adds lines to a list in the folder.
    [[nodiscard]] std::optional<Diagnostic> note(const char* list_name, const std::string& lines) const;
    /// That a summary, whoever wrote it, has no more bytes than are read.
    [[nodiscard]] std::optional<Diagnostic> check_summary_size() const;
    /// Whether there is a summary of a run, and the files that it lists, itself included. Precondition:
    /// check_summary_size.
    [[nodiscard]] std::optional<std::set<std::string>> summed_up_files() const;
    /// Of the list of a run that is not whole; an error where it is larger than any that a run writes.
    [[nodiscard]] Result<std::set<std::string>> listed_files() const;
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
    std::string set_;  ///< of the files, where they are no run; empty: none
};

}  // namespace astrolabe::experiment
