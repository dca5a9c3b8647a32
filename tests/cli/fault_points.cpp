// A library to be preloaded (LD_PRELOAD): it counts the calls by which a program changes files, and at one of
// them ends the program or refuses the call.
//
// ASTROLABE_FAULT is KIND:N. Of kind `count`, N is a file that the number of calls is written to when the
// program ends. Else the N-th call, from 1, is the point: `before` and `after` send SIGKILL there; `EIO`
// refuses that call and `ENOSPC` refuses it and all later ones. Calls are counted in the process that starts
// with the variable, not in its children, and on regular files and folders only.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

enum class Kind { kNone, kCount, kBefore, kAfter, kOnce, kFromThenOn };

struct Plan {
    Kind kind = Kind::kNone;
    long at = 0;
    long calls = 0;
    int error = 0;
    std::string file;
    pid_t process = 0;
};

Plan& plan() {
    static Plan the_plan;
    return the_plan;
}

__attribute__((constructor)) void read_plan() {
    const char* text = std::getenv("ASTROLABE_FAULT");
    if (text == nullptr) {
        return;
    }
    const std::string words = text;
    const std::string kind = words.substr(0, words.find(':'));
    const std::string value = words.substr(words.find(':') + 1);
    plan().process = ::getpid();
    plan().at = std::strtol(value.c_str(), nullptr, 10);
    plan().error = kind == "EIO" ? EIO : ENOSPC;
    plan().kind = kind == "count"    ? Kind::kCount
                  : kind == "before" ? Kind::kBefore
                  : kind == "after"  ? Kind::kAfter
                  : kind == "EIO"    ? Kind::kOnce
                                     : Kind::kFromThenOn;
    plan().file = value;
    ::unsetenv("ASTROLABE_FAULT");
    ::unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) void write_count() {
    if (plan().kind == Kind::kCount && plan().process == ::getpid()) {
        std::FILE* file = std::fopen(plan().file.c_str(), "w");
        std::fprintf(file, "%ld\n", plan().calls);
        plan().kind = Kind::kNone;
        std::fclose(file);
    }
}

bool is_in_files(int descriptor) {
    struct stat status {};
    return descriptor > 2 && ::fstat(descriptor, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

/// What `call` gives, or -1 where it is refused.
template <class Call>
auto at_a_point(bool counts, const Call& call) -> decltype(call()) {
    Plan& the = plan();
    if (!counts || the.kind == Kind::kNone || the.process != ::getpid()) {
        return call();
    }
    ++the.calls;
    if (the.kind == Kind::kBefore && the.calls == the.at) {
        ::raise(SIGKILL);
    }
    if ((the.kind == Kind::kOnce && the.calls == the.at) ||
        (the.kind == Kind::kFromThenOn && the.calls >= the.at)) {
        errno = the.error;
        return -1;
    }
    const auto result = call();
    if (the.kind == Kind::kAfter && the.calls == the.at) {
        ::raise(SIGKILL);
    }
    return result;
}

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
    static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
    return at_a_point(is_in_files(descriptor), [&] { return real(descriptor, bytes, size); });
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t place) {
    static auto* const real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
    return at_a_point(is_in_files(descriptor), [&] { return real(descriptor, bytes, size, place); });
}
ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t place) {
    static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
    return at_a_point(is_in_files(descriptor), [&] { return real(descriptor, bytes, size, place); });
}
int ftruncate64(int descriptor, off64_t size) {
    static auto* const real = next<int(int, off64_t)>("ftruncate64");
    return at_a_point(is_in_files(descriptor), [&] { return real(descriptor, size); });
}
int ftruncate(int descriptor, off_t size) {
    static auto* const real = next<int(int, off_t)>("ftruncate");
    return at_a_point(is_in_files(descriptor), [&] { return real(descriptor, size); });
}
int fsync(int descriptor) {
    static auto* const real = next<int(int)>("fsync");
    return at_a_point(is_in_files(descriptor), [&] { return real(descriptor); });
}
int fdatasync(int descriptor) {
    static auto* const real = next<int(int)>("fdatasync");
    return at_a_point(is_in_files(descriptor), [&] { return real(descriptor); });
}
int rename(const char* from, const char* to) {
    static auto* const real = next<int(const char*, const char*)>("rename");
    return at_a_point(true, [&] { return real(from, to); });
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    static auto* const real = next<int(int, const char*, int, const char*, int)>("linkat");
    return at_a_point(true, [&] { return real(from_folder, from, to_folder, to, flags); });
}
int mkdir(const char* path, mode_t mode) {
    static auto* const real = next<int(const char*, mode_t)>("mkdir");
    return at_a_point(true, [&] { return real(path, mode); });
}
int unlink(const char* path) {
    static auto* const real = next<int(const char*)>("unlink");
    return at_a_point(true, [&] { return real(path); });
}
int unlinkat(int folder, const char* path, int flags) {
    static auto* const real = next<int(int, const char*, int)>("unlinkat");
    return at_a_point(true, [&] { return real(folder, path, flags); });
}
}
