/// Result files that appear whole or not at all.
///
/// A file has no name until it is complete and on disk (Linux, open(2), O_TMPFILE); then it replaces what has
/// its name. A run that is killed leaves nothing behind, whatever it had written. On file systems without
/// nameless files it goes by a hidden name beside its own, which only a kill leaves there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe::experiment {

/// A file that is written piece by piece, through 64 KiB of memory.
class OutputFile {
public:
    /// An error names the file and the system's reason.
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
    OutputFile(std::filesystem::path target, std::filesystem::path partial, int descriptor);
    void write(std::string_view bytes);
    /// Nothing is left of a file that was not finished.
    void discard();
    /// 0, or the error number.
    [[nodiscard]] int give_name();

    std::filesystem::path target_;
    std::filesystem::path partial_;  ///< the name it has, or will have for a moment, before its own
    bool is_named_;
    int descriptor_;
    int error_ = 0;
    std::string buffer_;
};

/// A folder for results.
class OutputFolder {
public:
    /// Makes the folder if need be and tries to write in it; an error names the folder and the system's
    /// reason.
    [[nodiscard]] static Result<OutputFolder> open(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] Result<OutputFile> create(const std::string& name) const;
    /// Nothing, or why the file could not be written.
    [[nodiscard]] std::optional<Diagnostic> write(const std::string& name, std::string_view content) const;

private:
    explicit OutputFolder(std::filesystem::path path)
        : path_(std::move(path)) {}

    std::filesystem::path path_;
};

}  // namespace astrolabe::experiment
