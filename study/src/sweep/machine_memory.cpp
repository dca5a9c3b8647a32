#include "machine_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace astrolabe::study {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The number after `key` in a file of lines "key number"; `otherwise` if there is none.
double number_after(const char* path, const std::string& key, double otherwise) {
    std::ifstream file(path);
    std::string word;
    double number = 0;
    while (file >> word) {
        if (word == key && file >> number) {
            return number;
        }
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return otherwise;
}

double first_number(const char* path, double otherwise) {
    std::ifstream file(path);
    double number = 0;
    return file >> number ? number : otherwise;  // "max" is no number
}

}  // namespace

double available_memory() {
    const double machine = 1024 * number_after("/proc/meminfo", "MemAvailable:", kInfinite);
    const double limit = first_number("/sys/fs/cgroup/memory.max", kInfinite);
    const double used = first_number("/sys/fs/cgroup/memory.current", 0) -
                        number_after("/sys/fs/cgroup/memory.stat", "inactive_file", 0);
    return std::min(machine, std::max(0.0, limit - used));
}

double resident_memory(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/statm", process));
    double all = 0;
    double resident = 0;
    return file >> all >> resident ? resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace astrolabe::study
