#include "file_sets.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/core/limits.hpp>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

/// Of a file in the folder itself.
bool is_plain(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

std::optional<ListedFile> file_of(const std::string& line) {
    const auto json = parse_json<Json>(line);
    const auto is_text = [&json](const char* key) { return json.contains(key) && json[key].is_string(); };
    const auto is_count = [&json](const char* key, std::uint64_t most) {
        return json.contains(key) && json[key].is_number_unsigned() && json[key].get<std::uint64_t>() <= most;
    };
    if (!is_text("set") || !is_text("name") || !is_count("bytes", UINT64_MAX) ||
        !is_count("crc32", UINT32_MAX)) {
        return std::nullopt;
    }
    ListedFile file{.set = json["set"].get<std::string>(),
                    .name = json["name"].get<std::string>(),
                    .written = {.bytes = json["bytes"].get<std::uint64_t>(),
                                .crc32 = json["crc32"].get<std::uint32_t>()}};
    return is_plain(file.name) ? std::optional(std::move(file)) : std::nullopt;
}

/// Whether an open file has these bytes. Reads no more than a file of that size has.
bool has_bytes(int descriptor, const WrittenFile& written) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<std::uint64_t>(status.st_size) != written.bytes) {
        return false;
    }
    std::array<Bytef, 64 * 1024> piece{};
    WrittenFile read;
    while (read.bytes < written.bytes) {
        const ssize_t count = ::read(descriptor, piece.data(), piece.size());
        if (count > 0) {
            read.crc32 = static_cast<std::uint32_t>(
                crc32_z(read.crc32, piece.data(), static_cast<std::size_t>(count)));
            read.bytes += static_cast<std::uint64_t>(count);
        } else if (count == 0 || errno != EINTR) {
            return false;
        }
    }
    return read.bytes == written.bytes && read.crc32 == written.crc32;
}

}  // namespace

std::string line_of(const ListedFile& file) {
    const Json json{
        {"set", file.set}, {"name", file.name}, {"bytes", file.written.bytes}, {"crc32", file.written.crc32}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<ListedFile> files_of_sets_in(const std::filesystem::path& list) {
    std::vector<ListedFile> files;
    std::error_code failed;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(list, failed)) ||
        std::filesystem::file_size(list, failed) > limits::kFileBytes) {
        return files;
    }
    std::ifstream stream(list, std::ios::binary);
    for (std::string line; std::getline(stream, line);) {
        if (std::optional<ListedFile> file = file_of(line)) {
            files.push_back(*std::move(file));
        }
    }
    return files;
}

int remove_as_listed(const std::filesystem::path& folder, const ListedFile& file) {
    const std::filesystem::path path = folder / file.name;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return 0;  // gone, a link, or another's
    }
    const bool is_ours = has_bytes(descriptor, file.written);
    ::close(descriptor);
    return is_ours && ::unlink(path.c_str()) != 0 && errno != ENOENT ? errno : 0;
}

}  // namespace astrolabe::experiment
