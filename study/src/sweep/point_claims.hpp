/// Who computes a point, among processes that share a store: locks on bytes of a file beside it (fcntl(2),
/// F_SETLK). The kernel drops what a process holds when it ends, however it ends.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace astrolabe::study {

/// The file within a folder of results.
inline constexpr std::string_view kLockName = "results.lock";

class PointClaims {
public:
    /// Where the file cannot be made, or the file system knows no locks, everything can be had.
    explicit PointClaims(const std::filesystem::path& file);
    PointClaims(const PointClaims&) = delete;
    PointClaims& operator=(const PointClaims&) = delete;
    ~PointClaims();

    /// False: another process has it.
    [[nodiscard]] bool take(const std::string& key);
    void release(const std::string& key);

private:
    int descriptor_;
};

}  // namespace astrolabe::study
