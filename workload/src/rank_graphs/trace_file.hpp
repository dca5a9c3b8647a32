/// A file of a trace, read from its beginning to its end, unpacked where it is gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>

struct gzFile_s;

namespace astrolabe::workload {

/// A diagnostic about a file as a whole, or a line of it; binary files say the place in the message.
[[nodiscard]] Diagnostic trace_error(std::string code, const std::string& file, std::string message,
                                     std::string hint = {}, int line = 0);

/// Bytes that a reader of records holds of a trace at a time. The largest record known is the list of process
/// groups, some megabytes in a job of 16,384 ranks; what is made of the bytes may take ten times as many.
inline constexpr std::uint64_t kMostHeldBytes = std::uint64_t{16} << 20U;

class TraceFile {
public:
    /// An error names the file and the system's reason; folders and devices are refused.
    [[nodiscard]] static Result<TraceFile> open(const std::filesystem::path& path);

    /// Up to `size` bytes; fewer only at the end of the file or where reading failed (`failure`).
    std::size_t read(char* into, std::size_t size);
    /// Bytes read so far, unpacked.
    [[nodiscard]] std::uint64_t position() const { return position_; }
    /// What went wrong, if anything did: damaged or cut off gzip, an error of the device. Empty else.
    [[nodiscard]] const std::string& failure() const { return failure_; }
    [[nodiscard]] const std::string& name() const { return name_; }

    /// All that is left. An error where reading failed or there are more than `limit` bytes.
    [[nodiscard]] Result<std::string> read_all(std::uint64_t limit);

private:
    struct Close {
        void operator()(gzFile_s* file) const;
    };

    TraceFile(std::string name, std::unique_ptr<gzFile_s, Close> file);

    std::string name_;
    std::unique_ptr<gzFile_s, Close> file_;
    std::uint64_t position_ = 0;
    std::string failure_;
};

}  // namespace astrolabe::workload
