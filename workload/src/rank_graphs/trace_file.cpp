#include "trace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

namespace astrolabe::workload {

Diagnostic trace_error(std::string code, const std::string& file, std::string message, std::string hint,
                       int line) {
    const SourceRange where{std::make_shared<const SourceText>(SourceText{file, {}}), line, 0, 1};
    return {std::move(code), where, std::move(message), std::move(hint), {}};
}

void TraceFile::Close::operator()(gzFile_s* file) const {
    gzclose(file);
}

TraceFile::TraceFile(std::string name, std::unique_ptr<gzFile_s, Close> file)
    : name_(std::move(name)),
      file_(std::move(file)) {}

Result<TraceFile> TraceFile::open(const std::filesystem::path& path) {
    const auto refused = [&](std::string_view reason) {
        return trace_error("trace.file", path.string(), fmt::format("cannot read the trace: {}", reason));
    };
    std::error_code failure;
    const std::filesystem::file_status status = std::filesystem::status(path, failure);
    if (!std::filesystem::exists(status)) {
        return refused("no such file");
    }
    if (!std::filesystem::is_regular_file(status)) {
        return refused("not a file");
    }
    errno = 0;
    std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
    if (!file) {
        return refused(errno == 0 ? "out of memory" : std::strerror(errno));
    }
    constexpr unsigned kBuffer = 1U << 17U;
    gzbuffer(file.get(), kBuffer);
    return TraceFile(path.string(), std::move(file));
}

std::size_t TraceFile::read(char* into, std::size_t size) {
    std::size_t done = 0;
    while (done < size && failure_.empty()) {
        constexpr std::size_t kAtOnce = 1U << 30U;
        const int count =
            gzread(file_.get(), into + done, static_cast<unsigned>(std::min(size - done, kAtOnce)));
        int code = Z_OK;
        const char* text = gzerror(file_.get(), &code);
        // A gzip file that ends too soon gives what there is and sets Z_BUF_ERROR.
        if (count < 0 || code == Z_BUF_ERROR) {
            failure_ = code == Z_ERRNO       ? std::strerror(errno)
                       : code == Z_BUF_ERROR ? "the gzip file is cut off"
                                             : fmt::format("damaged gzip file ({})", text);
        }
        if (count <= 0) {
            break;
        }
        done += static_cast<std::size_t>(count);
    }
    position_ += done;
    return done;
}

Result<std::string> TraceFile::read_all(std::uint64_t limit) {
    std::string text;
    std::array<char, 1U << 16U> piece{};
    while (const std::size_t count = read(piece.data(), piece.size())) {
        if (text.size() + count > limit) {
            return trace_error("trace.file", name_, fmt::format("more than {} bytes", limit),
                               "this format is read as a whole");
        }
        text.append(piece.data(), count);
    }
    if (!failure_.empty()) {
        return trace_error("trace.file", name_, failure_);
    }
    return text;
}

}  // namespace astrolabe::workload
