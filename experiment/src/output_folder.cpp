#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <astrolabe/experiment/results.hpp>

namespace astrolabe::experiment {
namespace {

Diagnostic output_error(const std::filesystem::path& path, const std::string& reason) {
    return {"output.write",
            {},
            fmt::format("cannot write '{}': {}", path.string(), reason),
            "check that the folder exists, is writable and has room, or choose another with --out",
            {}};
}

/// Writes and flushes to disk; 0, or the error number.
int write_file(const std::filesystem::path& path, const std::string& content) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
        return errno;
    }
    int error = 0;
    std::size_t written = 0;
    while (error == 0 && written < content.size()) {
        const ssize_t count = ::write(file, content.data() + written, content.size() - written);
        if (count < 0 && errno != EINTR) {
            error = errno;
        }
        written += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    if (error == 0 && ::fsync(file) != 0 && errno != EINVAL) {
        error = errno;
    }
    if (::close(file) != 0 && error == 0) {
        error = errno;
    }
    return error;
}

}  // namespace

Result<OutputFolder> OutputFolder::open(const std::filesystem::path& path) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure) {
        return output_error(path, failure.message());
    }
    const std::filesystem::path probe = path / fmt::format(".probe-{}", ::getpid());
    const int error = write_file(probe, "x");
    ::unlink(probe.c_str());
    if (error != 0) {
        return output_error(path, std::strerror(error));
    }
    return OutputFolder(path);
}

std::optional<Diagnostic> OutputFolder::write(const std::string& name, const std::string& content) const {
    const std::filesystem::path target = path_ / name;
    const std::filesystem::path partial = path_ / fmt::format(".{}-{}", name, ::getpid());
    int error = write_file(partial, content);
    if (error == 0 && ::rename(partial.c_str(), target.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(partial.c_str());
        return output_error(target, std::strerror(error));
    }
    return std::nullopt;
}

}  // namespace astrolabe::experiment
