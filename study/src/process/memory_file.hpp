/// What programs that are run by others read and write.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace astrolabe::study {

/// A file without a name, in memory: unlike a pipe it never fills.
class MemoryFile {
public:
    explicit MemoryFile(const char* name)
        : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {}
    MemoryFile(MemoryFile&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)) {}
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    MemoryFile& operator=(MemoryFile&&) = delete;
    ~MemoryFile() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    [[nodiscard]] int descriptor() const { return descriptor_; }

    /// Puts a text in it, to be read from its begin. False: there is no room, errno says why.
    [[nodiscard]] bool fill(std::string_view text) {
        while (!text.empty()) {
            const ssize_t count = ::write(descriptor_, text.data(), text.size());
            if (count < 0) {
                return false;
            }
            text.remove_prefix(static_cast<std::size_t>(count));
        }
        return ::lseek(descriptor_, 0, SEEK_SET) == 0;
    }

    /// All that was written to it.
    [[nodiscard]] std::string text() const {
        std::string text;
        std::array<char, 1 << 16> block;
        for (off_t at = 0;;) {
            const ssize_t count = ::pread(descriptor_, block.data(), block.size(), at);
            if (count <= 0) {
                return text;
            }
            text.append(block.data(), static_cast<std::size_t>(count));
            at += count;
        }
    }

private:
    int descriptor_;
};

}  // namespace astrolabe::study
