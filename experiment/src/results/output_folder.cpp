#include "folder_owner.hpp"
#include "output_error.hpp"

#include <cerrno>
#include <cstring>
#include <limits>
#include <random>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::experiment {
namespace {

constexpr std::size_t kBuffer = 64 * 1024;
constexpr mode_t kMode = 0644;

constexpr int kMostTries = 100;
constexpr int kMostLinks = 40;  // as Linux follows them

/// Opens a file that did not exist, whatever links there are in its place.
int create_new(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
}

/// A file that is to be written, before it has its name.
struct Opened {
    std::filesystem::path target;
    std::filesystem::path partial;
    int descriptor = -1;
    bool is_named = false;  ///< `partial` is there
    int error = 0;
};

/// Follows no link in the last component. What gets the name takes the place of nothing but a file or a link.
Opened open_partial(std::filesystem::path target) {
    Opened opened;
    std::error_code failed;
    const std::filesystem::file_status there = std::filesystem::symlink_status(target, failed);
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    opened.partial = folder / fmt::format(".{}-{}", target.filename().string(), ::getpid());
    opened.target = std::move(target);
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
        !std::filesystem::is_symlink(there)) {
        opened.error = std::filesystem::is_directory(there) ? EISDIR : EEXIST;
        return opened;
    }
    opened.descriptor = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
    if (opened.descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        ::unlink(opened.partial.c_str());  // of a process of the same number that was killed here
        opened.descriptor = create_new(opened.partial);
        opened.is_named = opened.descriptor >= 0;
    }
    opened.error = opened.descriptor < 0 ? errno : 0;
    return opened;
}

/// Whether a name leads to an open descriptor, as /dev/stdout does, or to what cannot be replaced by a file.
bool is_written_in_place(const std::filesystem::path& named) {
    std::error_code failed;
    const std::filesystem::file_status status = std::filesystem::status(named, failed);
    if (std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status)) {
        return true;
    }
    std::filesystem::path link = named;
    for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(link, failed); ++i) {
        const std::filesystem::path folder = std::filesystem::weakly_canonical(link.parent_path(), failed);
        if (folder == std::filesystem::canonical("/proc/self/fd", failed)) {
            return true;
        }
        link = folder / std::filesystem::read_symlink(link, failed);
    }
    return false;
}

/// A file that has no name, so that nothing is left behind by a process that is killed; where the file system
/// has none such, one whose name cannot be predicted and is removed at once. -1 and errno where none can be
/// made.
int open_probe(const std::filesystem::path& folder) {
    int file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) {
        return file;
    }
    std::random_device random;
    for (int i = 0; i < kMostTries && file < 0; ++i) {
        const std::filesystem::path probe = folder / fmt::format(".probe-{}-{:08x}", ::getpid(), random());
        file = create_new(probe);
        if (file >= 0) {
            ::unlink(probe.c_str());
        } else if (errno != EEXIST) {
            break;
        }
    }
    return file;
}

}  // namespace

/// A stream of zlib.
class OutputFile::Packer {
public:
    Packer() {
        constexpr int kWithGzipHeader = 15 + 16;
        constexpr int kMemory = 8;  // as zlib has it by default
        const int result = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWithGzipHeader, kMemory,
                                        Z_DEFAULT_STRATEGY);
        ASTROLABE_ASSERT(result == Z_OK, "zlib has memory for a stream");
    }
    ~Packer() { deflateEnd(&stream_); }
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;

    /// Calls take(piece) for what `bytes` add to the packed file, of the end what is left.
    template <class Take>
    void pack(std::string_view bytes, bool is_end, const Take& take) {
        ASTROLABE_ASSERT(bytes.size() <= std::numeric_limits<uInt>::max(), "zlib counts a piece in 32 bits");
        // zlib does not write to what it reads.
        stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
            stream_.avail_out = static_cast<uInt>(packed_.size());
            const int result = deflate(&stream_, is_end ? Z_FINISH : Z_NO_FLUSH);
            ASTROLABE_ASSERT(result != Z_STREAM_ERROR, "a stream of zlib is whole");
            take(std::string_view(packed_).substr(0, packed_.size() - stream_.avail_out));
        } while (stream_.avail_out == 0);
    }

private:
    z_stream stream_{};
    std::string packed_ = std::string(kBuffer, '\0');
};

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
      buffer_(std::move(other.buffer_)),
      packer_(std::move(other.packer_)),
      written_(other.written_),
      owner_(std::move(other.owner_)),
      own_name_(std::move(other.own_name_)) {}

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
    if (is_written_in_place(named)) {
        const int descriptor = ::open(named.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
        return descriptor < 0 ? Result<OutputFile>(output_error(named, errno))
                              : Result<OutputFile>(OutputFile(named, {}, descriptor));
    }
    // Who names a file means what its links lead to.
    std::error_code failed;
    const std::filesystem::path resolved = std::filesystem::weakly_canonical(named, failed);
    Opened opened = open_partial(failed ? named : resolved);
    if (opened.error != 0) {
        return output_error(opened.target, opened.error);
    }
    OutputFile file(std::move(opened.target), std::move(opened.partial), opened.descriptor);
    file.is_named_ = opened.is_named;
    return file;
}

void OutputFile::append(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > kBuffer) {
        write_out(buffer_);
        buffer_.clear();
    }
    if (bytes.size() > kBuffer) {
        write_out(bytes);
    } else {
        buffer_ += bytes;
    }
}

void OutputFile::write_out(std::string_view bytes) {
    if (packer_ == nullptr) {
        write(bytes);
    } else if (error_ == 0) {
        packer_->pack(bytes, false, [this](std::string_view packed) { write(packed); });
    }
}

void OutputFile::write(std::string_view bytes) {
    while (error_ == 0 && !bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
        if (count >= 0) {
            const auto* piece = reinterpret_cast<const Bytef*>(bytes.data());
            written_.crc32 =
                static_cast<std::uint32_t>(crc32_z(written_.crc32, piece, static_cast<std::size_t>(count)));
            written_.bytes += static_cast<std::uint64_t>(count);
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
    if (partial_.empty()) {
        return ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
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
    write_out(buffer_);
    buffer_.clear();
    if (packer_ != nullptr && error_ == 0) {
        packer_->pack({}, true, [this](std::string_view packed) { write(packed); });
    }
    if (error_ == 0 && owner_ != nullptr) {
        if (std::optional<Diagnostic> refused = owner_->before_naming(own_name_, written_)) {
            discard();
            return refused;
        }
    }
    if (error_ == 0) {
        error_ = give_name();
        discard();
    }
    if (error_ == 0 && owner_ != nullptr) {
        owner_->named(own_name_, written_);
    }
    // Whoever read a pipe has left: as head, which has seen enough.
    const bool is_done = error_ == 0 || error_ == EPIPE;
    return is_done ? std::nullopt : std::optional(output_error(target_, error_));
}

Result<OutputFolder> OutputFolder::open(const std::filesystem::path& path) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure) {
        return output_error(path, failure.value());
    }
    const int file = open_probe(path);
    if (file < 0) {
        return output_error(path, errno);
    }
    const int error = ::write(file, "x", 1) == 1 && ::fsync(file) == 0 ? 0 : errno;
    ::close(file);
    if (error != 0 && error != EINVAL) {
        return output_error(path, error);
    }
    return OutputFolder(path);
}

Result<OutputFolder> OutputFolder::open_owned(const std::filesystem::path& path, bool holds_run,
                                              std::chrono::milliseconds patience) {
    Result<OutputFolder> opened = open(path);
    if (!opened) {
        return opened;
    }
    Result<std::shared_ptr<FolderOwner>> owner = FolderOwner::take(path, holds_run, patience);
    if (!owner) {
        return owner.error();
    }
    opened->owner_ = *std::move(owner);
    return opened;
}

Result<OutputFolder> OutputFolder::open_for_run(const std::filesystem::path& path) {
    return open_owned(path, true, std::chrono::seconds(1));
}

Result<OutputFolder> OutputFolder::open_beside_run(const std::filesystem::path& path,
                                                   std::chrono::milliseconds patience) {
    return open_owned(path, false, patience);
}

Result<OutputFolder> OutputFolder::folder(const std::string& name) const {
    ASTROLABE_ASSERT(owner_ != nullptr, "a folder in a folder is of a run");
    if (std::optional<Diagnostic> refused = owner_->begin()) {
        return *std::move(refused);
    }
    const std::string prefix = prefix_ + name + "/";
    if (std::optional<Diagnostic> refused = owner_->check_parents(prefix)) {
        return *std::move(refused);
    }
    Result<OutputFolder> opened = open(path_ / name);
    if (opened) {
        opened->owner_ = owner_;
        opened->prefix_ = prefix;
    }
    return opened;
}

std::map<std::string, WrittenFile> OutputFolder::files() const {
    std::map<std::string, WrittenFile> here;
    if (owner_ != nullptr) {
        for (const auto& [name, file] : owner_->files()) {
            if (name.starts_with(prefix_)) {
                here.emplace(name.substr(prefix_.size()), file);
            }
        }
    }
    return here;
}

std::string OutputFolder::warning() const {
    return owner_ == nullptr ? "" : owner_->warning();
}

std::optional<Diagnostic> OutputFolder::check_names(const std::vector<std::string>& names) const {
    if (owner_ == nullptr) {
        return std::nullopt;
    }
    std::vector<std::string> below_owner;
    for (const std::string& name : names) {
        below_owner.push_back(prefix_ + name);
    }
    return owner_->check_names(below_owner);
}

void OutputFolder::begin_set(const std::string& set) const {
    ASTROLABE_ASSERT(owner_ != nullptr && prefix_.empty(), "a set of files is of an owner's folder");
    owner_->begin_set(set);
}

std::optional<Diagnostic> OutputFolder::end_set() const {
    ASTROLABE_ASSERT(owner_ != nullptr && prefix_.empty(), "a set of files is of an owner's folder");
    if (std::optional<Diagnostic> gone = owner_->begin()) {
        return gone;
    }
    const Result<std::string> list = owner_->end_set();
    return list ? OutputFolder(path_).write(FolderOwner::kSetsName, *list)
                : std::optional(list.error().front());
}

void OutputFolder::mark_whole() const {
    if (owner_ != nullptr && prefix_.empty()) {
        owner_->mark_whole();
    }
}

Result<OutputFile> OutputFolder::owned(const std::string& name, Result<OutputFile> file) const {
    if (file) {
        file->owner_ = owner_;
        file->own_name_ = prefix_ + name;
    }
    return file;
}

Result<OutputFile> OutputFolder::create(const std::string& name) const {
    // Nobody named this file: a link in its place leads where it leads without its user's will.
    Opened opened = open_partial(path_ / name);
    if (opened.error != 0) {
        return output_error(opened.target, opened.error);
    }
    OutputFile file(std::move(opened.target), std::move(opened.partial), opened.descriptor);
    file.is_named_ = opened.is_named;
    return owned(name, std::move(file));
}

Result<OutputFile> OutputFolder::create_gzipped(const std::string& name) const {
    Result<OutputFile> file = create(name);
    if (file) {
        file->packer_ = std::make_unique<OutputFile::Packer>();
    }
    return file;
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
