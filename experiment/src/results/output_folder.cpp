#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::experiment {
namespace {

constexpr std::size_t kBuffer = 64 * 1024;
constexpr mode_t kMode = 0644;

Diagnostic output_error(const std::filesystem::path& path, int error) {
    return {"output.write",
            {},
            fmt::format("cannot write '{}': {}", path.string(), std::strerror(error)),
            "check that the folder exists, is writable and has room, or choose another",
            {}};
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path target, std::filesystem::path partial, int descriptor)
    : target_(std::move(target)),
      partial_(std::move(partial)),
      is_named_(false),
      descriptor_(descriptor) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : target_(std::move(other.target_)),
      partial_(std::move(other.partial_)),
      is_named_(std::exchange(other.is_named_, false)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
    discard();
}

void OutputFile::discard() {
    if (descriptor_ >= 0) {
        ::close(std::exchange(descriptor_, -1));
    }
    if (std::exchange(is_named_, false)) {
        ::unlink(partial_.c_str());
    }
}

Result<OutputFile> OutputFile::create(const std::filesystem::path& named) {
    // A file takes the place of what its links lead to, and of nothing but a file.
    std::error_code failed;
    const std::filesystem::path resolved = std::filesystem::weakly_canonical(named, failed);
    const std::filesystem::path target = failed ? named : resolved;
    if (std::filesystem::exists(target, failed) && !std::filesystem::is_regular_file(target, failed)) {
        return output_error(target, std::filesystem::is_directory(target, failed) ? EISDIR : EEXIST);
    }
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    OutputFile file(target, folder / fmt::format(".{}-{}", target.filename().string(), ::getpid()),
                    ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode));
    if (file.descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        file.descriptor_ = ::open(file.partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
        file.is_named_ = file.descriptor_ >= 0;
    }
    if (file.descriptor_ < 0) {
        return output_error(target, errno);
    }
    return file;
}

void OutputFile::append(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > kBuffer) {
        write(buffer_);
        buffer_.clear();
    }
    if (bytes.size() > kBuffer) {
        write(bytes);
    } else {
        buffer_ += bytes;
    }
}

void OutputFile::write(std::string_view bytes) {
    while (error_ == 0 && !bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            error_ = errno;
            discard();
        }
    }
}

int OutputFile::give_name() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL) {
        return errno;
    }
    if (!is_named_) {
        // The target may exist, and only a rename replaces it at once.
        const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
        ::unlink(partial_.c_str());  // of a process of the same number that was killed here
        if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, partial_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
            return errno;
        }
        is_named_ = true;
    }
    if (::rename(partial_.c_str(), target_.c_str()) != 0) {
        return errno;
    }
    is_named_ = false;
    return ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
}

std::optional<Diagnostic> OutputFile::finish() {
    write(buffer_);
    buffer_.clear();
    if (error_ == 0) {
        error_ = give_name();
        discard();
    }
    return error_ == 0 ? std::nullopt : std::optional(output_error(target_, error_));
}

Result<OutputFolder> OutputFolder::open(const std::filesystem::path& path) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure) {
        return output_error(path, failure.value());
    }
    const std::filesystem::path probe = path / fmt::format(".probe-{}", ::getpid());
    const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    if (file < 0) {
        return output_error(path, errno);
    }
    ::unlink(probe.c_str());
    const int error = ::write(file, "x", 1) == 1 && ::fsync(file) == 0 ? 0 : errno;
    ::close(file);
    if (error != 0 && error != EINVAL) {
        return output_error(path, error);
    }
    return OutputFolder(path);
}

Result<OutputFile> OutputFolder::create(const std::string& name) const {
    return OutputFile::create(path_ / name);
}

std::optional<Diagnostic> OutputFolder::write(const std::string& name, std::string_view content) const {
    Result<OutputFile> file = create(name);
    if (!file) {
        return file.error().front();
    }
    file->append(content);
    return file->finish();
}

}  // namespace astrolabe::experiment
