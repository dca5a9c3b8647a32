#include "point_claims.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <astrolabe/experiment/results/fingerprint.hpp>

namespace astrolabe::study {
namespace {

/// A byte of its own for every key, all but certainly; keys that share one wait for each other.
struct flock byte_of(const std::string& key, short type) {
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 62;
    experiment::Fingerprint print;
    print.add(key);
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(std::stoull(print.text(), nullptr, 16) % kBytes);
    lock.l_len = 1;
    return lock;
}

}  // namespace

// ResultStore::open has refused a link in its place, which is not followed.
PointClaims::PointClaims(const std::filesystem::path& file)
    : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644)) {}

PointClaims::~PointClaims() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

bool PointClaims::take(const std::string& key) {
    struct flock lock = byte_of(key, F_WRLCK);
    return ::fcntl(descriptor_, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN);
}

void PointClaims::release(const std::string& key) {
    struct flock lock = byte_of(key, F_UNLCK);
    static_cast<void>(::fcntl(descriptor_, F_SETLK, &lock));
}

}  // namespace astrolabe::study
