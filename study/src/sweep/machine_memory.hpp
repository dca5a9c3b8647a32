/// How much memory there is (Linux).
#pragma once

#include <sys/types.h>

namespace astrolabe::study {

/// Bytes that programs can take without swapping: what the kernel estimates (proc(5), MemAvailable), or what
/// the control group leaves where that is less (cgroup v2, memory.max). Infinite where neither can be read.
[[nodiscard]] double available_memory();

/// Bytes of a process in memory; 0 of one that is gone.
[[nodiscard]] double resident_memory(pid_t process);

}  // namespace astrolabe::study
