/// Result files that appear whole or not at all.
///
/// A file has no name until it is complete and on disk (Linux, open(2), O_TMPFILE); then it replaces what has
/// its name. A run that is killed leaves nothing behind, whatever it had written. On file systems without
/// nameless files it goes by a hidden name beside its own, which only a kill leaves there. No link in the
/// last component of a name is followed: a file takes the place of a link, not of what the link leads to.
///
/// A folder is owned by one run at a time, which holds a lock on it (flock(2), so that the kernel releases
/// it with the last process that has it). The run removes what an earlier one left
/// before it names its first file, and writes its summary last, with size and CRC-32 of every file
/// (run_files.hpp): who finds a summary finds a whole run, and who finds other bytes than it names knows that
/// they are not its.
///
/// A gzipped file (RFC 1952) has neither time nor name in its header: what it is made of decides its bytes,
/// and the version of zlib.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe::experiment {

class FolderOwner;

/// What is known of a file that is whole.
struct WrittenFile {
    std::uint64_t bytes = 0;
    std::uint32_t crc32 = 0;  ///< of ISO 3309, as zlib has it
};

/// A file that is written piece by piece, through 64 KiB of memory.
class OutputFile {
public:
    /// A regular file, or a link to one, is replaced by `finish` at once. What is no file (a pipe, a
    /// terminal, a device, an open descriptor such as /dev/stdout) is written piece by piece. An error names
    /// the file and the system's reason.
    [[nodiscard]] static Result<OutputFile> create(const std::filesystem::path& target);
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    /// What was not finished is gone.
    ~OutputFile();

    /// What goes wrong is kept for `finish`; nothing is written after it, and the room that the file took is
    /// there for others.
    void append(std::string_view bytes);

    /// Gives the file its name. Nothing, or why it could not be written. To be called once, last.
    [[nodiscard]] std::optional<Diagnostic> finish();

private:
    friend class OutputFolder;
    class Packer;

    OutputFile(std::filesystem::path target, std::filesystem::path partial, int descriptor);
    /// What the buffer holds, packed where that is wanted.
    void write_out(std::string_view bytes);
    void write(std::string_view bytes);
    /// Nothing is left of a file that was not finished.
    void discard();
    /// 0, or the error number.
    [[nodiscard]] int give_name();

    std::filesystem::path target_;
    std::filesystem::path
        partial_;  ///< the name it has, or will have for a moment, before its own; empty: none
    bool is_named_;
    int descriptor_;
    int error_ = 0;
    std::string buffer_;
    std::unique_ptr<Packer> packer_;  ///< null: bytes are written as they are
    WrittenFile written_;
    std::shared_ptr<FolderOwner> owner_;  ///< null: no run owns the folder
    std::string own_name_;                ///< in the owner's folder
};

/// A folder for results.
class OutputFolder {
public:
    /// Makes the folder if need be and tries to write in it; an error names the folder and the system's
    /// reason. Several processes may have it open.
    [[nodiscard]] static Result<OutputFolder> open(const std::filesystem::path& path);
    /// The same for one process, which owns the folder until it has no copy of the object left: an error
    /// ("output.in-use") names the process that owns it now. The earlier run's files stay until the first of
    /// this one is finished.
    [[nodiscard]] static Result<OutputFolder> open_for_run(const std::filesystem::path& path);
    /// Owned likewise, for files that are no run, such as a report's or traces: those of a run stay beside
    /// them. Waits for the owner up to `patience`.
    [[nodiscard]] static Result<OutputFolder> open_beside_run(
        const std::filesystem::path& path, std::chrono::milliseconds patience = std::chrono::seconds(1));

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// A folder in this one and of the same owner. A link in its place, or in that of a folder between the
    /// two, is an error ("output.linked-folder"): what it leads to is not the owner's. Precondition: this one
    /// is owned.
    [[nodiscard]] Result<OutputFolder> folder(const std::string& name) const;
    [[nodiscard]] bool is_owned() const { return owner_ != nullptr; }
    /// What has been written here and in folders below, by name; empty of a folder that is not owned.
    [[nodiscard]] std::map<std::string, WrittenFile> files() const;
    /// The file system has no locks: what the user should know then. Empty: it has.
    [[nodiscard]] std::string warning() const;
    /// Of files that are no run: nothing, or that one of them ("output.of-run") would replace one of the run
    /// in the folder, as it is refused when it is written. To be asked before the first of several files.
    [[nodiscard]] std::optional<Diagnostic> check_names(const std::vector<std::string>& names) const;
    /// Of files that are no run, before the first: all that come are of one set, such as "report", of which
    /// the folder keeps a list. Precondition: this one is owned, and below no other.
    void begin_set(const std::string& set) const;
    /// After the last: removes the files of this set that an earlier owner wrote and this one did not, as far
    /// as they have the bytes that it wrote. Nothing, or why that could not be done.
    [[nodiscard]] std::optional<Diagnostic> end_set() const;
    [[nodiscard]] Result<OutputFile> create(const std::string& name) const;
    /// What is appended goes into the file packed.
    [[nodiscard]] Result<OutputFile> create_gzipped(const std::string& name) const;
    /// Nothing, or why the file could not be written.
    [[nodiscard]] std::optional<Diagnostic> write(const std::string& name, std::string_view content) const;
    /// Of the folder of a run: that all of the run is there. What a run leaves that does not come so far is
    /// removed by the next.
    void mark_whole() const;

private:
    [[nodiscard]] static Result<OutputFolder> open_owned(const std::filesystem::path& path, bool holds_run,
                                                         std::chrono::milliseconds patience);
    explicit OutputFolder(std::filesystem::path path)
        : path_(std::move(path)) {}
    [[nodiscard]] Result<OutputFile> owned(const std::string& name, Result<OutputFile> file) const;

    std::filesystem::path path_;
    std::shared_ptr<FolderOwner> owner_;  ///< null: no run owns the folder
    std::string prefix_;                  ///< of names, in the owner's folder
};

}  // namespace astrolabe::experiment
